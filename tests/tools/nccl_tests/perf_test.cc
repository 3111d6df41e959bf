// Tests the modelled tables of nccl-tests against times worked out by hand.

#include "tools/nccl_tests/perf.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "simulator/analyze/collective_figures.h"
#include "tools/nccl_tests/call.h"

namespace orrery::test {
namespace {

constexpr int64_t kLatency = 1'000'000;    // 1 us
constexpr int64_t kRate = 50'000'000'000;  // 50 GB/s: 20 ps a byte
constexpr int64_t kLaunch = 5'000'000;     // 5 us

/// Returns a cluster with a link each way between each pair, so that no messages share a link.
Cluster pairs(uint32_t devices) {
  DeviceFigures device;
  device.launch = Duration(kLaunch);
  return {"pairs", fully_connected_fabric(devices, {BytesPerSecond(kRate), Duration(kLatency)}),
          device};
}

PerfRequest request_of(NcclCollective collective, uint32_t ranks, int64_t bytes) {
  PerfRequest request;
  request.collective = collective;
  request.settings.gpus = ranks;
  request.settings.least = Bytes(bytes);
  request.settings.most = Bytes(bytes);
  request.kinds = {{{"float", Dtype::F32}, {"sum", NcclRedop::Sum}}};
  request.roots = {0};
  return request;
}

NcclRow row_of(NcclCollective collective, uint32_t ranks, int64_t bytes) {
  const PerfTable table = perf_table(request_of(collective, ranks, bytes), pairs(ranks));
  CHECK(table.wrong == std::vector<std::string>{});
  REQUIRE(table.table.rows.size() == 1);
  return table.table.rows.front();
}

std::string perf_refusal(const PerfRequest& request, const Cluster& cluster) {
  try {
    perf_table(request, cluster);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("perf: a launch, a latency, and the bytes at the rate of a link") {
  // A message of 4096 B takes 81.92 ns. Over 4 ranks, a part is 1024 B and takes 20.48 ns.
  const int64_t message = 4096 * 20;
  const int64_t part = 1024 * 20;
  const auto time = [](NcclCollective collective) {
    return row_of(collective, 4, 4096).out_of_place->time;
  };
  CHECK(time(NcclCollective::SendRecv) == Duration(kLaunch + kLatency + message));
  CHECK(time(NcclCollective::Broadcast) == Duration(kLaunch + kLatency + message));
  CHECK(time(NcclCollective::Alltoall) == Duration(kLaunch + kLatency + part));
  CHECK(time(NcclCollective::Gather) == Duration(kLaunch + kLatency + part));
  CHECK(time(NcclCollective::Scatter) == Duration(kLaunch + kLatency + part));
  // These take three steps of a ring, in which half of a part goes each way round.
  CHECK(time(NcclCollective::AllGather) == Duration(kLaunch + 3 * (kLatency + part / 2)));
  CHECK(time(NcclCollective::ReduceScatter) == Duration(kLaunch + 3 * (kLatency + part / 2)));
  // This takes an exchange of one part, launched by itself, and one of two parts.
  CHECK(time(NcclCollective::Hypercube) == Duration(2 * (kLaunch + kLatency) + 3 * part));
  // This takes two exchanges of everything.
  CHECK(time(NcclCollective::AllReduce) == Duration(kLaunch + 2 * (kLatency + message)));
}

/// These are the launches of the host, for one op or for each op.
using Launches = std::map<std::string, Duration, std::less<>>;

/// Returns the time of a call of 4096 B on four ranks, whose transport adds only the host's
/// launches.
Duration launched(const PerfRequest& request, Launches launches) {
  Cluster cluster = pairs(4);
  cluster.transport.emplace().protocols.emplace_back().name = "whole";
  cluster.transport->host_launch = std::move(launches);
  const PerfTable table = perf_table(request, cluster);
  REQUIRE(table.table.rows.size() == 1);
  return table.table.rows.front().out_of_place->time;
}
Duration launched(NcclCollective collective, Launches launches) {
  return launched(request_of(collective, 4, 4096), std::move(launches));
}

TEST_CASE("perf: the time is that of the device or of the host, whichever is longer") {
  // The device's time is as above. One process issues the call on its four GPUs one after the
  // other.
  const int64_t device = kLaunch + 2 * (kLatency + 4096 * 20);
  REQUIRE(device % 4 == 0);
  const auto time = [](int64_t launch) {
    return launched(NcclCollective::AllReduce, {{"psum", Duration(launch)}});
  };
  CHECK(time(device / 4 - 1) == Duration(device));
  CHECK(time(device / 4) == Duration(device));
  CHECK(time(device / 4 + 1) == Duration(device + 4));
}

TEST_CASE("perf: a process issues the call on its own GPUs, those of all its threads") {
  const auto time = [](uint32_t processes, uint32_t threads, uint32_t gpus) {
    PerfRequest request = request_of(NcclCollective::AllReduce, gpus, 4096);
    request.processes = processes;
    request.settings.threads = threads;
    return launched(request, {{"psum", Duration(10 * kLaunch)}});
  };
  CHECK(time(1, 1, 4) == Duration(4 * 10 * kLaunch));
  CHECK(time(1, 2, 2) == Duration(4 * 10 * kLaunch));
  CHECK(time(2, 1, 2) == Duration(2 * 10 * kLaunch));
  CHECK(time(2, 2, 1) == Duration(2 * 10 * kLaunch));
  CHECK(time(4, 1, 1) == Duration(10 * kLaunch));
}

TEST_CASE("perf: each collective takes the host's launch of its op, once for a group of sends") {
  // Each op has another launch, and each launch is longer than any time of the devices.
  const Launches launches = {
      {"psum", Duration(10 * kLaunch)},         {"all_gather", Duration(20 * kLaunch)},
      {"psum_scatter", Duration(30 * kLaunch)}, {"all_to_all", Duration(40 * kLaunch)},
      {"ppermute", Duration(50 * kLaunch)},     {"pbroadcast", Duration(60 * kLaunch)}};
  const auto time = [&](NcclCollective collective) { return launched(collective, launches); };
  // The process issues each launch for each of four GPUs.
  const auto issued = [](int64_t times) { return Duration(4 * times * kLaunch); };
  CHECK(time(NcclCollective::AllReduce) == issued(10));
  CHECK(time(NcclCollective::AllGather) == issued(20));
  CHECK(time(NcclCollective::ReduceScatter) == issued(30));
  CHECK(time(NcclCollective::Alltoall) == issued(40));
  CHECK(time(NcclCollective::SendRecv) == issued(50));
  CHECK(time(NcclCollective::Broadcast) == issued(60));
  // All sends of a call are one group.
  CHECK(time(NcclCollective::Gather) == issued(50));
  CHECK(time(NcclCollective::Scatter) == issued(50));
  // There are two exchanges, each launched by itself.
  CHECK(time(NcclCollective::Hypercube) == issued(2 * 50));
}

TEST_CASE("perf: any operation of an all_reduce takes the host's launch of psum") {
  PerfRequest request = request_of(NcclCollective::AllReduce, 4, 4096);
  request.kinds = {{{"float", Dtype::F32}, {"max", NcclRedop::Max}}};
  CHECK(launched(request, {{"psum", Duration(10 * kLaunch)}}) == Duration(4 * 10 * kLaunch));
}

TEST_CASE("perf: the host's launch of another op counts nothing") {
  const Duration device = launched(NcclCollective::AllGather, {});
  CHECK(device == row_of(NcclCollective::AllGather, 4, 4096).out_of_place->time);
  CHECK(launched(NcclCollective::AllGather, {{"psum", Duration(10 * kLaunch)}}) == device);
}

TEST_CASE("perf: a call without elements is not issued") {
  // 3 elements over 4 ranks are no elements per rank.
  CHECK(launched(request_of(NcclCollective::AllGather, 4, 12),
                 {{"all_gather", Duration(10 * kLaunch)}}) == Duration(0));
}

TEST_CASE("perf: in place, nothing of a rank's own part is copied") {
  Cluster cluster = pairs(4);
  cluster.device.copy_rate = BytesPerSecond(1'000'000'000);
  const auto times = [&](NcclCollective collective) {
    const NcclRow row = perf_table(request_of(collective, 4, 4096), cluster).table.rows.front();
    return std::pair(row.out_of_place->time, row.in_place->time);
  };
  // A rank's own 1024 B are copied at 1 ns per byte before they are sent, by two channels. Each
  // sends its half one way round the ring.
  const int64_t part = 1024 * 20;
  const Duration gather = Duration(kLaunch + 3 * (kLatency + part / 2));
  CHECK(times(NcclCollective::AllGather) == std::pair(gather + Duration(512'000), gather));
  // An alltoall copies while its messages go, for longer than they take.
  const auto all_to_all = times(NcclCollective::Alltoall);
  CHECK(all_to_all.second == Duration(kLaunch + kLatency + part));
  CHECK(all_to_all.first == Duration(kLaunch + 1'024'000));
  // An all_reduce copies nothing.
  const auto all_reduce = times(NcclCollective::AllReduce);
  CHECK(all_reduce.first == all_reduce.second);
}

TEST_CASE("perf: figures that were fitted or set are told with what times assume") {
  Cluster cluster = pairs(4);
  cluster.sources = {{"latency", "calibrated", "a table", "2026"},
                     {"launch", "data sheet", "a sheet", "2026"}};
  PerfRequest request = request_of(NcclCollective::AllReduce, 4, 4096);
  request.settings.most = Bytes(8192);
  request.settings.step = 4096;
  const PerfTable table = perf_table(request, cluster);
  CHECK(std::count(table.assumed.begin(), table.assumed.end(),
                   "latency: calibrated (a table, 2026)") == 1);
  CHECK(std::none_of(table.assumed.begin(), table.assumed.end(), [](const std::string& label) {
    return label.find("data sheet") != std::string::npos;
  }));
}

TEST_CASE("perf: the row that comes closest to its bound, and the links of the bound") {
  // Each of 4 ranks sends 1,000,000 B to each other one, over its own link: 20 us, and 6 us of
  // latency and launch. A tenth of that takes 2 us and 6 us.
  PerfRequest request = request_of(NcclCollective::Alltoall, 4, 400'000);
  request.settings.most = Bytes(4'000'000);
  request.settings.step_is_factor = true;
  request.settings.step = 10;
  const PerfTable table = perf_table(request, pairs(4));
  CHECK(table.bound ==
        "at 3.815 MiB 76.9 % of its bound: 2.861 MiB over 3 links (device 0 -> "
        "device 1, ...) take 20 us");
  // 20 / 26 is 76.9 %, and 2 / 8 is less. Several ops have no bound together.
  CHECK(!perf_table(request_of(NcclCollective::Gather, 4, 4000), pairs(4)).bound);
}

TEST_CASE("perf: columns of a row, its bandwidths as a report has them") {
  const NcclRow row = row_of(NcclCollective::ReduceScatter, 4, 4100);
  CHECK(row.size == Bytes(4096));  // of 1025 elements 256 a rank
  CHECK(row.count == 256);
  CHECK(row.type == "float");
  CHECK(row.redop == "sum");
  CHECK(!row.root);
  CHECK(row.out_of_place == row.in_place);
  CHECK(row.out_of_place->wrong == 0);
  const Bandwidths reported =
      bandwidths(OpKind::PsumScatter, Bytes(4096), 4, row.out_of_place->time);
  CHECK(static_cast<double>(row.out_of_place->algbw->count()) / 1e9 ==
        doctest::Approx(reported.algbw_GBps));
  CHECK(static_cast<double>(row.out_of_place->busbw->count()) / 1e9 ==
        doctest::Approx(reported.busbw_GBps));
  CHECK(row_of(NcclCollective::Broadcast, 4, 64).root == 0U);
  CHECK(row_of(NcclCollective::Broadcast, 4, 64).redop == "none");
  CHECK(row_of(NcclCollective::Hypercube, 4, 64).redop == "");
}

TEST_CASE("perf: what nccl-tests does not check in place is N/A there") {
  for (const NcclCollective collective : {NcclCollective::Alltoall, NcclCollective::SendRecv}) {
    const NcclRow row = row_of(collective, 4, 4096);
    CHECK(row.out_of_place->wrong == 0);
    CHECK(!row.in_place->wrong);
  }
}

TEST_CASE("perf: every type with every operation has right values") {
  PerfRequest request = request_of(NcclCollective::AllReduce, 3, 96);
  request.kinds.clear();
  for (const NcclType& type : nccl_types())
    for (const NcclRedopName& redop : nccl_redops())
      if (!not_modelled(NcclCollective::AllReduce, type.dtype, redop.redop))
        request.kinds.push_back({type, redop});
  // There are 12 types with sum, max and min, and the 6 types of floats with avg.
  CHECK(request.kinds.size() == 12 * 3 + 6);
  for (const NcclRow& row : perf_table(request, pairs(3)).table.rows) {
    CAPTURE(row.type);
    CAPTURE(row.redop);
    CHECK(row.out_of_place->wrong == 0);
  }
}

TEST_CASE("perf: values above the budget, or without a check, are not compared") {
  PerfRequest request = request_of(NcclCollective::AllReduce, 4, 4096);
  request.data_budget = Bytes(4 * 2 * 4096);  // bytes sent and received, on four ranks
  CHECK(perf_table(request, pairs(4)).table.rows.front().out_of_place->wrong == 0);
  request.data_budget = Bytes(4 * 2 * 4096 - 1);
  CHECK(!perf_table(request, pairs(4)).table.rows.front().out_of_place->wrong);
  request.data_budget = Bytes(1 << 20);
  request.settings.checks = 0;
  CHECK(!perf_table(request, pairs(4)).table.rows.front().out_of_place->wrong);
}

TEST_CASE("perf: a call without elements takes no time") {
  // 3 elements over 4 ranks are no elements per rank.
  const NcclRow row = row_of(NcclCollective::AllGather, 4, 12);
  CHECK(row.size == Bytes(0));
  CHECK(row.out_of_place == NcclFigures{Duration(0), BytesPerSecond(0), BytesPerSecond(0), 0});
}

TEST_CASE("perf: one rank moves nothing") {
  for (const NcclCollective collective : nccl_collectives())
    if (!not_modelled(collective, Dtype::F32, NcclRedop::Sum))
      CHECK_MESSAGE(row_of(collective, 1, 4096).out_of_place->time ==
                        Duration(collective == NcclCollective::Hypercube ? 0 : kLaunch),
                    name(collective));
}

TEST_CASE("perf: rows for each kind, root and size, in nccl-tests' order") {
  PerfRequest request = request_of(NcclCollective::Broadcast, 2, 8);
  request.settings.most = Bytes(40);
  request.settings.step = 2;
  request.settings.step_is_factor = true;
  request.kinds.push_back({{"half", Dtype::F16}, {"sum", NcclRedop::Sum}});
  request.roots = {0, 1};
  std::string order;
  for (const NcclRow& row : perf_table(request, pairs(2)).table.rows)
    order += fmt::format("{} {} {}, ", row.type, *row.root, row.size.count());
  CHECK(order ==
        "float 0 8, float 0 16, float 0 32, float 1 8, float 1 16, float 1 32, "
        "half 0 8, half 0 16, half 0 32, half 1 8, half 1 16, half 1 32, ");
  request.settings.step = 16;
  request.settings.step_is_factor = false;
  CHECK(perf_table(request, pairs(2)).table.rows.size() == 4 * 3);  // 8, 24, 40
}

TEST_CASE("perf: the largest size fits a device as nccl-tests has it") {
  // The device has 20 GiB. It keeps 1 GiB free for each 16 GiB or part of them, and 1 GiB more,
  // which leaves 17 GiB. The largest size is a third of that.
  Cluster cluster = pairs(2);
  cluster.device.memory = Bytes(int64_t{20} << 30);
  PerfRequest request = request_of(NcclCollective::SendRecv, 2, 8);
  request.settings.most = Bytes(int64_t{8} << 30);
  request.settings.step = 1 << 30;
  request.settings.step_is_factor = true;
  const int64_t third = (int64_t{17} << 30) / 3;
  CHECK(perf_table(request, cluster).reduced_most == Bytes(third));
  request.settings.most = Bytes(third);
  CHECK(!perf_table(request, cluster).reduced_most);
  request.settings.most = Bytes(third + 1);
  CHECK(perf_table(request, cluster).reduced_most == Bytes(third));
  request.settings.checks = 0;  // half of 17 GiB
  CHECK(!perf_table(request, cluster).reduced_most);
}

TEST_CASE("perf: what times assume, each once") {
  PerfRequest request = request_of(NcclCollective::AllReduce, 4, 4096);
  request.settings.most = Bytes(8192);
  request.settings.step = 4096;
  const PerfTable table = perf_table(request, pairs(4));
  CHECK(std::count(table.assumed.begin(), table.assumed.end(),
                   "reduce_rate: infinite (not given)") == 1);
}

TEST_CASE("perf: what is not modelled, and inputs that are refused") {
  CHECK(not_modelled(NcclCollective::Reduce, Dtype::F32, NcclRedop::Sum).has_value());
  CHECK(not_modelled(NcclCollective::Alltoallv, Dtype::F32, NcclRedop::Sum).has_value());
  CHECK(not_modelled(NcclCollective::AllReduce, Dtype::F32, NcclRedop::Prod).has_value());
  CHECK(not_modelled(NcclCollective::ReduceScatter, Dtype::F32, NcclRedop::Max).has_value());
  CHECK(!not_modelled(NcclCollective::SendRecv, Dtype::S8, NcclRedop::MulSum));

  CHECK(perf_refusal(request_of(NcclCollective::AllReduce, 5, 8), pairs(4)) ==
        "all_reduce_perf: expected at most 4 devices of cluster pairs, got 5 ranks (-t times -g "
        "times --np)");
  CHECK(perf_refusal(request_of(NcclCollective::Hypercube, 6, 8), pairs(6)) ==
        "hypercube_perf: expected a power of 2, got 6 ranks");
  Cluster large = pairs(2);
  large.fabric = switch_fabric(1025, {BytesPerSecond(kRate), Duration(kLatency)});
  CHECK(perf_refusal(request_of(NcclCollective::Scatter, 1025, 1 << 20), large) ==
        "scatter_perf: expected at most 1024 ranks, got 1025");
  PerfRequest many = request_of(NcclCollective::AllReduce, 2, 8);
  many.settings.most = Bytes(int64_t{1} << 30);
  many.settings.step = 1;
  CHECK(perf_refusal(many, pairs(2)) == "all_reduce_perf: expected at most 262144 rows, got more");
  many.settings.least = Bytes(0);
  many.settings.step = 2;
  many.settings.step_is_factor = true;  // 0 never grows
  CHECK(perf_refusal(many, pairs(2)) == "all_reduce_perf: expected at most 262144 rows, got more");
}

}  // namespace
}  // namespace orrery::test
