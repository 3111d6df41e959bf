#include "tools/calibrate/accuracy.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "models/scenario/cluster_json.h"
#include "tools/nccl_tests/call.h"
#include "verifier/stages.h"

namespace orrery::test {
namespace {

AccuracyRow row_of(const std::string& file, double mean) {
  return {
      file, "a cluster", "held out", "all_reduce", 8, size_bands()[2].name, {4, mean, -mean, mean}};
}

Accuracy of(std::vector<AccuracyRow> rows) {
  return {std::move(rows), {}};
}

std::vector<std::string> grown(const Accuracy& now, const std::string& before) {
  return accuracy_grown(now, before, "before.json", Limits());
}

TEST_CASE("accuracy: an error may grow by a tenth, and not by more") {
  const std::string before = accuracy_json(of({row_of("t.json", 0.05)}));  // 500 of 10,000
  CHECK(grown(of({row_of("t.json", 0.05)}), before) == std::vector<std::string>{});
  CHECK(grown(of({row_of("t.json", 0.055)}), before) == std::vector<std::string>{});
  CHECK(grown(of({row_of("t.json", 0.0551)}), before) ==
        std::vector<std::string>{"t.json, all_reduce of 8 ranks, 1 to 64 MiB: the mean error was "
                                 "5.00 % and is 5.51 %"});
}

TEST_CASE("accuracy: a row that is new or gone is told") {
  const std::string before = accuracy_json(of({row_of("a.json", 0.05)}));
  CHECK(grown(of({row_of("b.json", 0.05)}), before) ==
        std::vector<std::string>{
            "b.json, all_reduce of 8 ranks, 1 to 64 MiB: not in before.json",
            "a.json, all_reduce of 8 ranks, 1 to 64 MiB: in before.json, but no times are of it"});
}

TEST_CASE("accuracy: what is no file of mean errors is refused") {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      grown(of({}), text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refused("[]").find("expected an object with mean errors, got a list") != std::string::npos);
  CHECK(refused("{}").find("missing key \"mean_error_per_10000\"") != std::string::npos);
  CHECK(refused(R"({"mean_error_per_10000": {"a": -1}})")
            .find("expected a mean error in parts of 10,000 of at least 0, got -1") !=
        std::string::npos);
}

TEST_CASE("accuracy: totals are weighted by the number of times") {
  AccuracyRow many = row_of("t.json", 0.5);
  many.errors = {3, 0.5, 0.25, 0.75};
  AccuracyRow one = row_of("t.json", 0.0);
  one.errors = {1, 0.0, -0.25, -1.0};
  const ErrorSummary sum = total(std::vector{many, one});
  CHECK(sum.times == 4);
  CHECK(sum.mean == 0.375);
  CHECK(sum.bias == 0.125);
  CHECK(sum.worst == -1.0);
}

TEST_CASE("accuracy: a row for each kind of single ops and band of bytes") {
  MeasuredFile file{"ops.json", "held out", Cluster{"one", switch_fabric(1, {}), {}}, {}};
  file.cluster->device.flops[Dtype::BF16] = FlopsPerSecond(1'000'000'000'000'000);
  // 2 GFLOP of 6 MB take 2 us, and 16 GFLOP of 24 MB take 16 us.
  const auto product = [](int64_t n, int64_t microseconds) {
    return MeasuredOp{
        MeasuredKind::Product, Dtype::BF16, {n, n, n}, Duration(microseconds * 1'000'000)};
  };
  file.ops = {product(1000, 4), product(1000, 1), product(2000, 16)};
  file.ops.push_back({MeasuredKind::Attention, Dtype::BF16, {1, 1, 1, 1, 1}, Duration(1)});
  const Accuracy made = accuracy(std::vector{file}, Limits());
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].work == "attention bf16");
  CHECK(made.rows[0].size == "below 64 KiB");
  CHECK(made.rows[1].work == "matmul bf16");
  CHECK(made.rows[1].ranks == 1);
  CHECK(made.rows[1].size == "1 to 64 MiB");
  CHECK(made.rows[1].errors.times == 3);
  CHECK(made.rows[1].errors.worst == doctest::Approx(1));
}

/// A plan of n devices that each compute for one microsecond for each of the rows.
const std::string kPlan = R"({"orrery": 1, "sweep": {"n": [1, 2], "rows": [3], "rate": [1, 2]},
 "where": "n != 3",
 "mesh": {"x": "${n}"}, "arrays": {},
 "program": [{"id": "c", "op": "compute", "flops": "${rows} MFLOP", "bytes": 0, "dtype": "f32", "shape": [1]}],
 "cluster": {"devices": "${n}", "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
  "flops": {"f32": "${rate} TFLOP/s"}}})";

std::vector<MeasuredStep> steps_of(const std::string& text) {
  return read_steps("steps.json", text, "plan.json", kPlan, Limits());
}

TEST_CASE("accuracy: a row for each work of steps and number of devices") {
  MeasuredFile file{"steps.json", "held out", std::nullopt, {}};
  // A run takes 3 us, and the second step is four runs of 6 us.
  file.steps = steps_of(R"({"plan": "plan.json", "let": {"rate": 1}, "about": "", "steps": [
    {"work": "s", "let": {"n": 2}, "time": "6 us"},
    {"work": "s", "let": {"n": 2, "rows": 6}, "runs": 4, "time_us": 24},
    {"work": "s", "let": {"n": 1}, "time": "3 us"}]})");
  const Accuracy made = accuracy(std::vector{file}, Limits());
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].ranks == 1);
  CHECK(made.rows[0].errors.mean == 0);
  CHECK(made.rows[1].ranks == 2);
  CHECK(made.rows[1].errors.times == 2);
  CHECK(made.rows[1].errors.bias == -0.25);
  CHECK(accuracy_markdown(made).find("| steps.json | s | 2 | on ") != std::string::npos);
  CHECK(accuracy_markdown(made).find(" | 2 | 25.0 % | -25.0 % | -50.0 % |") != std::string::npos);
  CHECK(accuracy_json(made).find("\"steps.json, s of 2 ranks, on ") != std::string::npos);
  CHECK(accuracy_json(made).find(": 2500") != std::string::npos);
}

TEST_CASE("accuracy: tables of steps that are wrong") {
  const auto refused = [](const std::string& keys) -> std::string {
    try {
      steps_of(R"({"plan": "plan.json", )" + keys + "}");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refused(R"("steps": [])") ==
        "steps.json:1:32: /steps: expected a list \"steps\" with at least one step, got a list");
  CHECK(
      refused(R"("let": {"rates": 1}, "steps": [1])") ==
      "steps.json:1:31: /let/rates: unknown key \"rates\"; did you mean \"rate\"?\n"
      "steps.json:1:54: /steps/0: expected a step: {\"work\", \"let\", \"runs\", \"time\"}, got 1");
  CHECK(refused(R"("steps": [{"work": "s", "runs": 0, "time": "0 s"},
{"work": "s", "let": {"n": 1}, "time": "1 s"},
{"work": "s", "let": {"n": 3, "rate": 1}, "time": "1 s"},
{"work": "s", "let": {"n": "two", "rate": 1}, "time": "1 s"}], "lets": {})") ==
        "steps.json:1:55: /steps/0/runs: expected a number of runs from 1 to 1000000, got 0\n"
        "steps.json:1:66: /steps/0/time: expected at least 1 ps, got \"0 s\"\n"
        "steps.json:2:1: /steps/1: expected a value of \"rate\" in \"let\", got none\n"
        "steps.json:3:1: /steps/2: expected values that meet the plan's \"where\"\n"
        "steps.json:4:1: /steps/3: expected a point of the plan, which says plan.json:2:11: "
        "/where: \"n != 3\": !=: expected two values of one kind, got \"two\" and 3 (with n = "
        "\"two\", "
        "rows = 3, rate = 1)\n"
        "steps.json:4:64: /lets: unknown key \"lets\"; did you mean \"let\"?");
  CHECK(is_step_table(R"({"plan": 1})", Limits()));
  CHECK_FALSE(is_step_table("# nccl-tests", Limits()));
  CHECK(plan_of_steps("f", R"({"plan": "a.json"})", Limits()) == "a.json");
  CHECK_THROWS_WITH(plan_of_steps("f", R"({"plan": 1})", Limits()),
                    "f:1:10: /plan: expected the file of a plan under \"plan\", got 1");
}

TEST_CASE("accuracy: a step that would not fit is told, and timed") {
  const std::string plan = kPlan.substr(0, kPlan.size() - 2) + R"(, "memory": "1 kB"}})";
  MeasuredFile file{"steps.json", "", std::nullopt, {}};
  std::string held = plan;
  held.replace(held.find(R"("shape": [1])"), 12, R"("shape": [1000])");
  file.steps = read_steps("steps.json", R"({"plan": "p", "steps": [
    {"work": "s", "let": {"n": 1, "rate": 1}, "time": "3 us"}]})",
                          "p", held, Limits());
  const Accuracy made = accuracy(std::vector{file}, Limits());
  REQUIRE(made.rows.size() == 1);
  REQUIRE(made.notes.size() == 1);
  CHECK(made.notes[0] ==
        "steps.json: s in 3 µs: the model holds 4 KiB of 1000 B on a device, so it would not "
        "fit");
}

TEST_CASE("accuracy: a row for each collective, number of ranks and band") {
  const auto table = [](uint32_t ranks, std::vector<std::pair<int64_t, int64_t>> sizes) {
    NcclTable made;
    made.ranks = ranks;
    made.file = "t.json";
    for (const auto& [bytes, time] : sizes) {
      NcclRow row;
      row.size = Bytes(bytes);
      row.out_of_place = NcclFigures{Duration(time), {}, {}, {}};
      made.rows.push_back(row);
    }
    return made;
  };
  // Without latency, a ring of two takes 2 x 512 ns for 1 KiB at 1 GB/s.
  const Cluster cluster{"two", ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration()}), {}};
  const MeasuredFile file{
      "t.json",
      "held out",
      cluster,
      {table(2, {{1024, 1'024'000}, {2048, 4'096'000}, {1 << 20, 1}}), table(3, {{1024, 1}})}};
  const Accuracy made = accuracy(std::vector{file}, Limits());
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].ranks == 2);
  CHECK(made.rows[0].size == "below 64 KiB");
  CHECK(made.rows[0].errors.times == 2);
  CHECK(made.rows[0].errors.mean == 0.25);  // 0 and one half
  CHECK(made.rows[0].errors.bias == -0.25);
  CHECK(made.rows[1].size == "1 to 64 MiB");
  REQUIRE(made.left_out.size() == 1);
  const std::string text = accuracy_markdown(made);
  CHECK(text.find("| t.json | all_reduce | 2 | below 64 KiB | 2 | 25.0 % | -25.0 % | -50.0 % |") !=
        std::string::npos);
  CHECK(text.find(made.left_out.front()) != std::string::npos);
  Accuracy barred = made;
  barred.rows[0].file = "a|b.json";
  CHECK(accuracy_markdown(barred).find("| a\\|b.json | all_reduce | 2 |") != std::string::npos);
}

constexpr int64_t kGiB = int64_t{1} << 30;

/// Returns the picoseconds of a call of f32 on all devices of the cluster.
int64_t time_of(NcclCollective collective, int64_t bytes, const Cluster& cluster) {
  NcclCall call;
  call.collective = collective;
  call.ranks = cluster.fabric.devices();
  call.counts = nccl_counts(collective, bytes / 4, Bytes(4), call.ranks);
  return call_time(call, program_of(call).program, 1, cluster, Limits()).out_of_place.count();
}

TEST_CASE("accuracy: the time of a call is that of its program, whether or not it was known") {
  // A call takes the time that was found when its method was chosen, where there is one. With a
  // part of an element for each rank and odd sizes, operands are packed and results unpacked.
  constexpr std::array kCollectives = {NcclCollective::AllReduce,     NcclCollective::AllGather,
                                       NcclCollective::ReduceScatter, NcclCollective::Alltoall,
                                       NcclCollective::Broadcast,     NcclCollective::SendRecv};
  for (const CatalogFile& entry : catalog()) {
    Cluster cluster = *catalog_cluster(entry.name);
    if (!cluster.transport)
      continue;
    cluster.transport->host_launch.clear();  // which hides the time of small calls
    for (const NcclCollective collective : kCollectives)
      for (const int64_t bytes : {int64_t{0x3004}, int64_t{0x300040}, int64_t{0x3000400}}) {
        NcclCall call;
        call.collective = collective;
        call.ranks = cluster.fabric.devices();
        call.counts = nccl_counts(collective, bytes / 4, Bytes(4), call.ranks);
        call.redop = collective == NcclCollective::AllReduce ? NcclRedop::Avg : NcclRedop::Sum;
        const Program program = program_of(call).program;
        CAPTURE(entry.name);
        CAPTURE(program_name(collective));
        CAPTURE(bytes);
        Diagnostics diagnostics("call");
        CHECK(call_time(call, program, 1, cluster, Limits()).out_of_place ==
              time_and_memory(program, cluster, diagnostics).makespan);
      }
  }
}

/// Returns a size from which on all channels of direct exchanges have their first channel_bytes of
/// each message. Before that, more bytes take more channels.
int64_t all_channels_from(const Cluster& cluster) {
  for (const ProtocolFigures& protocol : cluster.transport->protocols)
    if (protocol.name.ends_with("p2p"))
      return *protocol.channels * protocol.channel_bytes->count() * cluster.fabric.devices();
  return 0;
}

TEST_CASE("accuracy: from 64 MiB on, the catalog's further bytes take the time of the last ones") {
  // A rate that binds beyond the measured sizes alone was never fitted, so there must be none. Two
  // things make the time of further bytes uneven:
  //  - A ring cuts messages to slots, and a number of iterations is whole. Each iteration adds the
  //    latency of at most 2(n-1) messages.
  //  - Where a channel has a constant number of pieces, they grow, and so does the time until the
  //    first is through. In the switch 3 of 64 pieces are on the way, which is less than a
  //    twentieth.
  for (const CatalogFile& entry : catalog()) {
    const Cluster cluster = *catalog_cluster(entry.name);
    // gb200-nvl72 has the protocols of b200-sxm-8, and 72 ranks take long.
    if (!cluster.transport || cluster.fabric.devices() > 8)
      continue;
    Duration latency;
    for (const ProtocolFigures& protocol : cluster.transport->protocols)
      latency = std::max(latency, *protocol.latency);
    const int64_t iteration = latency.count() * 2 * (int64_t{cluster.fabric.devices()} - 1);
    for (const NcclCollective collective :
         {NcclCollective::AllReduce, NcclCollective::AllGather, NcclCollective::ReduceScatter,
          NcclCollective::Broadcast, NcclCollective::Alltoall, NcclCollective::SendRecv}) {
      const int64_t last = time_of(collective, 16 * kGiB, cluster);
      const int64_t of_8_gib = last - time_of(collective, 8 * kGiB, cluster);
      int64_t size = kGiB / 16;
      while (collective == NcclCollective::Alltoall && size < all_channels_from(cluster))
        size *= 2;
      int64_t before = time_of(collective, size, cluster);
      for (; size < 8 * kGiB; size *= 2) {
        const int64_t now = time_of(collective, 2 * size, cluster);
        const int64_t expected = of_8_gib / (8 * kGiB / size);
        CAPTURE(entry.name);
        CAPTURE(name(collective));
        CAPTURE(size);
        CHECK(now > before);
        CHECK(std::abs(now - before - expected) <= expected / 20 + iteration);
        before = now;
      }
    }
  }
}

}  // namespace
}  // namespace orrery::test
