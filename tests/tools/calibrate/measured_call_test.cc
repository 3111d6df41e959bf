#include "tools/calibrate/measured_call.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

NcclRow row(int64_t bytes, int64_t out_of_place, int64_t in_place) {
  NcclRow made;
  made.size = Bytes(bytes);
  made.type = "float";
  made.redop = "sum";
  made.out_of_place = NcclFigures{Duration(out_of_place), {}, {}, {}};
  made.in_place = NcclFigures{Duration(in_place), {}, {}, {}};
  return made;
}

/// Returns the table of an all_reduce of 1 KiB on 4 ranks of one process.
NcclTable table_of(std::vector<NcclRow> rows) {
  NcclTable table;
  table.ranks = 4;
  table.settings = NcclSettings();
  table.settings->threads = 2;
  table.settings->gpus = 2;
  table.file = "t.txt";
  table.line = 7;
  table.rows = std::move(rows);
  return table;
}

Cluster switch_of(uint32_t devices) {
  return {"machine", switch_fabric(devices, {BytesPerSecond(1'000'000'000), Duration()}), {}};
}

std::vector<std::string> left_out(const NcclTable& table) {
  return measured_calls(std::vector{table}, switch_of(4)).left_out;
}

TEST_CASE("measured calls: a row has the times that were printed, on the GPUs of its process") {
  const MeasuredCalls made =
      measured_calls(std::vector{table_of({row(1024, 5000, 4000)})}, switch_of(4));
  CHECK(made.left_out == std::vector<std::string>{});
  REQUIRE(made.calls.size() == 1);
  const MeasuredCall& call = made.calls.front();
  CHECK(call.size == Bytes(1024));
  CHECK(call.call.counts.send == 256);  // floats
  CHECK(call.gpus_of_process == 4);     // 2 threads with 2 each
  CHECK(call.times == std::vector<MeasuredTime>{{Duration(5000), false}, {Duration(4000), true}});
  REQUIRE(call.program != nullptr);
  CHECK(call.program->mesh.devices() == 4);
}

TEST_CASE("measured calls: a placement without a time is not counted") {
  NcclRow one = row(1024, 5000, 0);
  CHECK(measured_calls(std::vector{table_of({one})}, switch_of(4)).calls.front().times ==
        std::vector<MeasuredTime>{{Duration(5000), false}});
  one.out_of_place.reset();
  CHECK(left_out(table_of({one})) ==
        std::vector<std::string>{
            "t.txt:7: all_reduce of 4 ranks: left out 1 row: no elements, or no time"});
}

TEST_CASE("measured calls: ranks of several hosts are the first devices, as orrery perf has them") {
  NcclTable hosts = table_of({row(1024, 1, 1)});
  hosts.hosts = 2;
  const MeasuredCalls made = measured_calls(std::vector{hosts}, switch_of(16));
  CHECK(made.left_out == std::vector<std::string>{});
  REQUIRE(made.calls.size() == 1);
  CHECK(made.calls.front().call.ranks == 4);
}

TEST_CASE("measured calls: ranks of several hosts must fill the nodes of a cluster that has some") {
  const LinkFigures link{BytesPerSecond(1'000'000'000), Duration()};
  Cluster cluster = switch_of(8);
  const auto inside = switch_fabric(4, link).shared_topology();
  const auto outside = switch_fabric(8, link).shared_topology();
  cluster.fabric =
      Fabric(std::make_shared<const Nodes>(NodesForm{2, inside, 4, outside, false, false, {}}));
  NcclTable hosts = table_of({row(1024, 1, 1)});
  hosts.hosts = 2;
  const std::vector<NcclTable> half = {hosts};
  CHECK(measured_calls(half, cluster).left_out ==
        std::vector<std::string>{"t.txt:7: all_reduce of 4 ranks: left out: it ran on 2 hosts, and "
                                 "a node of the cluster has 4 devices"});
  hosts.ranks = 8;
  const std::vector<NcclTable> whole = {hosts};
  CHECK(measured_calls(whole, cluster).left_out == std::vector<std::string>{});
  CHECK(measured_calls(whole, cluster).calls.size() == 1);
}

TEST_CASE("measured calls: tables that are left out") {
  NcclTable many = table_of({row(1024, 1, 1)});
  many.ranks = 5;
  CHECK(left_out(many) ==
        std::vector<std::string>{
            "t.txt:7: all_reduce of 5 ranks: left out: the cluster has 4 devices"});
  NcclTable alone = table_of({row(1024, 1, 1)});
  alone.ranks = 1;
  CHECK(left_out(alone) ==
        std::vector<std::string>{"t.txt:7: all_reduce of 1 rank: left out: nothing is exchanged"});
}

TEST_CASE("measured calls: rows that are left out") {
  CHECK(left_out(table_of({row(0, 1, 1), row(1024, 1, 1)})) ==
        std::vector<std::string>{
            "t.txt:7: all_reduce of 4 ranks: left out 1 row: no elements, or no time"});
  NcclRow product = row(1024, 1, 1);
  product.redop = "prod";
  CHECK(left_out(table_of({product, product})) ==
        std::vector<std::string>{"t.txt:7: all_reduce of 4 ranks: left out 2 rows: no collective "
                                 "of orrery multiplies"});
  NcclRow strange = row(1024, 1, 1);
  strange.type = "quad";
  CHECK(left_out(table_of({strange})) ==
        std::vector<std::string>{"t.txt:7: all_reduce of 4 ranks: left out 1 row: no type or "
                                 "operation of ours: quad sum"});
}

TEST_CASE("measured calls: each is timed as its cluster has it") {
  // Two ranks exchange all their data at once: 1 us per link, and 1 KiB at 1 GB/s.
  NcclTable table = table_of({row(1024, 1, 1)});
  table.ranks = 2;
  table.settings.reset();
  const MeasuredCalls made = measured_calls(std::vector{table}, switch_of(2));
  const Cluster cluster{
      "two", ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration(1'000'000)}), {}};
  const std::vector<CallTime> times = modelled_times(made.calls, cluster, Limits());
  REQUIRE(times.size() == 1);
  CHECK(times.front().out_of_place == Duration(1'000'000 + 1'024'000));
  CHECK(times.front().in_place == Duration(1'000'000 + 1'024'000));
}

}  // namespace
}  // namespace orrery::test
