// Tests that what public bug reports describe gets its right answer. Each right answer is worked
// out by hand or stands in the report (tests/data/reports).

#include <cstdint>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tests/support/tries.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

constexpr int64_t kMicrosecond = 1'000'000;  // in ps
constexpr int64_t kMillisecond = 1'000 * kMicrosecond;
constexpr int64_t kMiB = int64_t{1} << 20;

/// A `Figure` is a number of a JSON report, or its difference from another one, with its bounds.
struct Figure {
  std::string at;
  int64_t least = 0;
  int64_t most = 0;
  std::string from = {};
};

/// A `Row` is one command on one file, and what it must answer.
struct Row {
  std::string file;
  Outcome outcome = Outcome::Holds;
  std::vector<std::string> says = {};  // in this order
  std::vector<Figure> figures = {};
  std::vector<std::string> says_not = {};
  std::vector<std::string> options = {};
};

const std::string kMakespan = "/time/makespan_ps";

std::string start_of(int op) {
  return fmt::format("/ops/{}/start_ps", op);
}
std::string end_of(int op) {
  return fmt::format("/ops/{}/end_ps", op);
}

const std::vector<Row>& value_rows() {
  using enum Outcome;
  static const std::vector<Row> rows = {
      // The derivative of the sum of (w^2 + 1) d for d = 0, 1 is 2 w (0 + 1) = 2.
      {"01a-grad-of-psum-typed.json", Holds, {"VALUES.LITERAL 2 hold"}},
      // By the transpose of a 2 x 2 x 2 array.
      {"02-all-to-all-groups.json", Holds, {"VALUES.LITERAL 2 hold"}},
      // The loss is the sum of squares of a permutation of a, so its gradient is 2 a.
      {"04-grad-of-all-to-all.json", Holds, {"VALUES.LITERAL 3 hold"}},
      {"07a-unreduced-half-reduced.json",
       WrongInput,
       {"expected an output that is invarying over dp", "psum over dp makes it invarying"}},
      // Row i of the product of iota[4, 8] and iota[8, 2] is [280 + 448 i, 308 + 512 i].
      {"07b-unreduced-both.json", Holds, {R"("d" has the values given)"}},
      // By the arithmetic of indices.
      {"12a-one-rank-sends-nothing.json", Holds, {R"("r" has the values given)"}},
      {"12b-nobody-sends.json", Holds, {R"("r" has the values given)"}},
      {"12c-empty-operand.json", Holds, {R"("r" has the values given)"}},
      {"12d-empty-output.json", Holds, {R"("r" has the values given)"}},
      {"12h-one-device.json", Holds, {R"("r" has the values given)"}},
      {"12e-recv-lies.json",
       Fails,
       {"✗ TABLES.AGREED",
        "has 2 rows by send_sizes of device 0, and 1 by recv_sizes of device 1"}},
      {"12j-out-of-range.json",
       Fails,
       {"✗ TABLES.AGREED", "is 2 rows from row 2 on of an operand of 3"}},
      // JAX refuses it, too.
      {"26a-carry.json",
       WrongInput,
       {R"(expected "acc" not to vary over dp)", "pvary its initial value over dp"}},
      {"26b-carry-pvary.json", Holds, {R"("l" has the values given)"}},
  };
  return rows;
}

const std::vector<Row>& hang_rows() {
  using enum Outcome;
  const std::string by_buffering =
      "The program is safe only by buffering: a device must be able to have 1 message under way "
      "that nobody receives yet.";
  static const std::vector<Row> rows = {
      // 1 KiB fits a slot of 512 KiB, 128 MiB do not fit eight of them.
      {"08-send-send-256.json", Fails, {"✗ SENDS.UNBUFFERED", by_buffering, "✓ DEADLOCK.FREE"}},
      {"08-send-send-33554432.json",
       Fails,
       {"✗ DEADLOCK.FREE", "in a cycle of 2. device 0: waits in \"s0\" for device 1",
        "device 1: waits in \"s1\" for device 0"},
       {},
       {"safe only by buffering"}},
      {"09-fixed-eager-4.json", Fails, {"✗ SENDS.UNBUFFERED", by_buffering, "✓ DEADLOCK.FREE"}},
      {"09-parity-eager-4.json", Holds},
      {"09-parity-rendezvous-4.json", Holds},
      {"31-skip-batched.json",
       Fails,
       {"✗ DEADLOCK.FREE", "in a cycle of 3. The messages of a group begin together.",
        R"(device 0: waits in "ds02" for device 2, whose group "both" has not begun)",
        R"(device 2: waits in "dr12" for device 1 to enter "ds12")",
        R"(device 1: waits in "dr01" for device 0, whose group "send" has not begun)"}},
      {"10a-expert-grads-skipped.json",
       Fails,
       {"✗ DEADLOCK.FREE",
        R"(psum "b" on devices 0-1 needs devices 2-3, none of which issues an op at site "expert_b")",
        R"(devices 0-1: wait in "b" for devices 2-3 devices 2-3: waiting in "a2")"}},
      {"10b-shapes-differ.json",
       WrongInput,
       {R"(expected an operand of bf16[256] at site "call 2373", as "n" has, got bf16[2048])"}},
      {"10d-dtypes-differ.json",
       WrongInput,
       {R"(expected an operand of bf16[256] at site "s", as "n" has, got f32[128])"}},
      // Rank 0 has batches 0 to 4, and rank 1 has batches 0 to 3.
      {"10e-uneven-loops.json",
       Fails,
       {"✗ DEADLOCK.FREE",
        R"(psum "l[4].n" on device 0 needs device 1, which issues no op at site "s[4]")",
        R"(device 1: at the end of "four", after "k[3].m")"}},
      {"10f-even-loops.json", Holds},
      // Rank 0 has batches 0 to 99,999, and rank 1 has batch 0 alone.
      {"10i-uneven-100000.json",
       Fails,
       {R"(psum "l[1].n" on device 0 needs device 1, which issues no op at site "s[1]")"}},
      {"10l-uneven-p2p.json",
       Fails,
       {R"("l[4].n" sends from device 0 to device 1, where no precv takes it)"}},
      {"11-two-communicators-opposite.json",
       Fails,
       {"✗ STREAMS.ORDERED", "r0: p0 before q0 r1: q1 before p1", "deadlock_free does not hold"}},
  };
  return rows;
}

const std::vector<Row>& memory_rows() {
  using enum Outcome;
  const std::string peak = "/devices/0/peak_bytes";
  static const std::vector<Row> rows = {
      // 24 shards of 16 MiB and 24 gathered weights of 128 MiB; of x and two y of 8 MiB each, two
      // are held together with all weights.
      {"14-fsdp-all.json", Holds, {}, {{peak, 3472 * kMiB, 3472 * kMiB}}},
      // One gathered weight at a time, with x and two y.
      {"14-fsdp-1.json", Holds, {}, {{peak, 536 * kMiB, 536 * kMiB}}},
      // 16 copies of 1,092,616,192 elements of bf16; the report has 32.55 G.
      {"15-replicated-check.json",
       Fails,
       {"✗ MEMORY.CAPACITY", "over its 31.25 GiB"},
       {{"/devices/0/live_at_peak/0/bytes", 34'963'718'144, 34'963'718'144}}},
      // The report has 3.28 GB at the first call, for 32 channels to each of 7 peers.
      {"30-a2a-buffers.json",
       Holds,
       {"transport buffers"},
       {{"/devices/0/transport_bytes", 2'000'000'000, 3'300'000'000}}},
  };
  return rows;
}

const std::vector<Row>& time_rows() {
  using enum Outcome;
  static const std::vector<Row> rows = {
      // Without latency 1 GB takes 10 ms over a link. A switch that reduces passes (1 + 1/8) of it
      // on for an all-reduce, and all of it for a reduce-scatter and a broadcast. A chain passes a
      // broadcast on in pieces. Pieces cost less than 3 %.
      {"18-in-network-bounds.json",
       Holds,
       {},
       {{end_of(1), 11'250 * kMicrosecond, 11'500 * kMicrosecond, start_of(1)},
        {end_of(3), 10 * kMillisecond, 10'300 * kMicrosecond, start_of(3)},
        {end_of(6), 10 * kMillisecond, 10'300 * kMicrosecond, start_of(6)},
        {end_of(7), 10 * kMillisecond, 10'300 * kMicrosecond, start_of(7)}}},
      // 2 x 15/16 of 1 GB over 200 GB/s, and 16 steps of 1 us.
      {"19-torus-2x8.json", Holds, {}, {{end_of(2), 9'391 * kMicrosecond, 9'391 * kMicrosecond}}},
      // 256 MiB over 50 GB/s take 5.37 ms. A scatter and an all-gather would take
      // 2 x 7/8 of that, and their latencies; a chain takes less.
      {"23b-broadcast-8.json",
       Holds,
       {"ring"},
       {{kMakespan, 5'368'709'120, 10'800 * kMicrosecond}},
       {"the only algorithm for pbroadcast"}},
      // Seven steps of 400 KB over 200 GB/s and 1 us. A 64th of a chunk is no whole number of
      // elements, so those channels overlap by some ns.
      {"24-chunks.json",
       Holds,
       {},
       {{end_of(0), 21 * kMicrosecond, 21 * kMicrosecond},
        {end_of(1), 21 * kMicrosecond, 21 * kMicrosecond, end_of(0)},
        {end_of(2), 21 * kMicrosecond, 21 * kMicrosecond, end_of(1)},
        {end_of(3), 21 * kMicrosecond, 21 * kMicrosecond, end_of(2)},
        {end_of(4), 21 * kMicrosecond, 21 * kMicrosecond, end_of(3)},
        {end_of(5), 20'980'000, 21 * kMicrosecond, end_of(4)}}},
      // Six steps of 25 MB over 50 GB/s. Each message crosses two links of 1 us, or four from one
      // leaf to the other, by turns.
      {"25-one-job.json", Holds, {}, {{kMakespan, 3'018 * kMicrosecond, 3'018 * kMicrosecond}}},
      // (8 + 4 - 1) x 3 ms; on the way are at most all 48 messages, of 2.01 us.
      {"28-1f1b-4-8.json", Holds, {}, {{kMakespan, 33 * kMillisecond, 33'100 * kMicrosecond}}},
      // The gather takes 3 x (512 KiB over 50 GB/s and 1 us), the product of 1024 x 512 x 256 takes
      // 268.4 us at 1 TFLOP/s. Each of four iterations has a quarter of the product, writes 2 MiB
      // at 1 TB/s, and takes some ps for scalars; its message is hidden.
      {"29-collective-matmul.json",
       Holds,
       {R"("plain" and "l.o" are bitwise equal)"},
       {{end_of(0), 34'457'280, 34'457'280},
        {end_of(1), 268'435'456, 268'435'456, end_of(0)},
        {kMakespan, 4 * 69'206'016, 4 * 69'206'116, start_of(7)}}},
      // Half of 7/8 GB goes each way round, at 100 GB/s.
      {"ring-both-ways.json", Holds, {}, {{kMakespan, 4'375 * kMicrosecond, 4'375 * kMicrosecond}}},
      // NCCL drops a call without elements.
      {"zero-psum.json", Holds, {}, {{kMakespan, 0, 0}}},
  };
  return rows;
}

const std::vector<Row>& algorithm_rows() {
  using enum Outcome;
  const std::vector<std::string> custom = {
      "--definition", in_tree("tests/data/reports/20e.def.json"), "--runtime", "none"};
  // RCCL's parser reads s for its bounds alone, and takes the steps in the order of the file.
  const std::vector<std::string> proved = {"✓ RUNTIME.LIMITS", "✓ DEADLOCK.FREE", "✓ RACE.FREE",
                                           "✓ SCHEDULE.PROVED"};
  static const std::vector<Row> rows = {
      {"20a-chained-own.xml", Holds, proved},
      {"20a-chained-unordered.xml", Holds, proved},
      {"20a-chained-unordered.xml", Holds, proved, {}, {}, {"--runtime", "msccl"}},
      {"20a-chained-unordered.xml", Holds, {"✓ SCHEDULE.PROVED"}, {}, {}, {"--runtime", "none"}},
      // The last wait of several must be that of the step itself.
      {"20a-chained-nops.xml",
       Fails,
       {"✗ RUNTIME.LIMITS",
        "gpu 0 tb 3 step 3 (line 19) has no wait, and the nop on line 16 before it waits"}},
      {"20b-allpairs-3.xml", Holds, proved},
      {"20d-cpy-probe.xml",
       Fails,
       {"✗ SCHEDULE.PROVED", "is chunk 0 of gpu 0; expected the sum of chunk 0 of gpus 0, 1"}},
      {"20d-re-probe.xml", WrongInput, {"/algo/gpu/0/i_chunks: expected 8", "got 16"}},
      {"20g-old-format.xml",
       WrongInput,
       {R"(attribute "ngpus" is missing)", R"(attribute "inplace" is missing)",
        R"(attribute "coll" is missing)"}},
      // The messages to a peer and back order the two steps of 20e. Nothing orders those of 20f.
      {"20e-order-through-peer.xml", Holds, {"✓ RACE.FREE", "✓ SCHEDULE.PROVED"}, {}, {}, custom},
      {"20f-no-order.xml",
       Fails,
       {"✗ RACE.FREE", "nothing orders the two", "✗ SCHEDULE.PROVED"},
       {},
       {},
       custom},
  };
  return rows;
}

/// Returns the text with one space for each run of spaces and line ends.
std::string words_of(const std::string& text) {
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;)
    joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::vector<std::string> command(const std::string& name, const Row& row) {
  std::vector<std::string> arguments = {name, in_tree("tests/data/reports/" + row.file)};
  arguments.insert(arguments.end(), row.options.begin(), row.options.end());
  return arguments;
}

void check_text(const std::string& name, const Row& row) {
  const Ran run = ran(command(name, row));
  const std::string words = words_of(run.out + run.err);
  CAPTURE(row.file);
  CAPTURE(words);
  CHECK(run.outcome == row.outcome);
  size_t at = 0;
  for (const std::string& said : row.says) {
    CAPTURE(said);
    at = words.find(said, at);
    CHECK(at != std::string::npos);
  }
  for (const std::string& said : row.says_not) {
    CAPTURE(said);
    CHECK(words.find(said) == std::string::npos);
  }
}

void check_figures(const Row& row) {
  if (row.figures.empty())
    return;
  using Json = nlohmann::json;
  std::vector<std::string> arguments = command("run", row);
  arguments.insert(arguments.end(), {"--format", "json"});
  const Json report = Json::parse(ran(arguments).out);
  const auto number = [&](const std::string& at) {
    return report.at(Json::json_pointer(at)).get<int64_t>();
  };
  for (const Figure& figure : row.figures) {
    CAPTURE(row.file);
    CAPTURE(figure.at);
    const int64_t value = number(figure.at) - (figure.from.empty() ? 0 : number(figure.from));
    CHECK(value >= figure.least);
    CHECK(value <= figure.most);
  }
}

TEST_CASE("reports: scenarios of public reports have their right answers") {
  uint64_t seed = 0;
  for (const std::vector<Row>& rows : {value_rows(), hang_rows(), memory_rows(), time_rows()})
    for (const Row& row : rows) {
      if (!is_tried_sanitized(++seed))
        continue;
      check_text("run", row);
      check_figures(row);
    }
}

TEST_CASE("reports: algorithms of public reports have their right answers") {
  for (const Row& row : algorithm_rows())
    check_text("prove", row);
}

/// Returns the time of the algorithm on a100-sxm-8, in us.
double modelled_us(const std::string& file, const std::string& size) {
  const Ran proof = ran(
      {"prove", in_tree("tests/data/reports/" + file), "--cluster", "a100-sxm-8", "--size", size});
  std::smatch time;
  const std::string text = proof.out;
  REQUIRE(std::regex_search(text, time, std::regex("TIME on .* in ([0-9.]+) µs,")));
  return std::stod(time[1]);
}

TEST_CASE("reports: an algorithm's time has the cluster's launch and latencies") {
  const std::string file = "20c-nop-allreduce-8.xml";
  // NCCL's all_reduce on such a machine takes 23.3 us at 1.5 KB and 36.6 us at 48 KiB
  // (tools/calibrate/measured/a100-nvswitch.json).
  const double small = modelled_us(file, "1 KiB");
  CHECK(small >= 10);
  CHECK(small <= 25);
  const double medium = modelled_us(file, "64 KiB");
  CHECK(medium >= 20);
  CHECK(medium <= 40);
  // One launch of the cluster's ll takes 6.35 us, and the latency of a message 0.718 us.
  CHECK(modelled_us(file, "1 MiB") >= 6.35 + 2 * 0.718);
}

/// Returns a scenario of stages that exchange shapes with both neighbours. Each stage first sends,
/// by rendezvous.
std::string shapes_of_stages(int stages) {
  const auto pair = [](int stage, int other, const std::string& which) {
    return fmt::format(
        R"({{"id": "send_{0}{1}", "op": "psend", "of": "shape", "axis_name": "pp", "perm": [[{1}, {2}]], "site": "{1}to{2}", "entry": "rendezvous"}}, {{"id": "recv_{0}{1}", "op": "precv", "shape": [3], "dtype": "s32", "axis_name": "pp", "perm": [[{2}, {1}]], "site": "{2}to{1}"}})",
        which, stage, other);
  };
  std::vector<std::string> programs;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<std::string> ops;
    if (stage > 0)
      ops.push_back(pair(stage, stage - 1, "prev"));
    if (stage + 1 < stages)
      ops.push_back(pair(stage, stage + 1, "next"));
    programs.push_back(fmt::format(R"({{"name": "stage{0}", "on": {{"pp": {0}}}, "do": [{1}]}})",
                                   stage, fmt::join(ops, ", ")));
  }
  return fmt::format(R"({{"orrery": 1, "mesh": {{"pp": {0}}}, "check_types": false,
    "cluster": {{"devices": {0}, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"}},
    "arrays": {{"shape": {{"shape": [{1}], "dtype": "s32", "spec": ["pp"]}}}},
    "programs": [{2}]}})",
                     stages, 3 * stages, fmt::join(programs, ",\n"));
}

TEST_CASE("reports: of 512 stages that hang, the cycle is among the first ten lines") {
  const TemporaryFolder folder;
  const Ran run = ran({"run", folder.file("512.json", shapes_of_stages(512))});
  CHECK(run.outcome == Outcome::Fails);
  size_t end = 0;
  for (int line = 0; line < 10; ++line)
    end = run.out.find('\n', end) + 1;
  const std::string first = words_of(run.out.substr(0, end));
  CAPTURE(first);
  CHECK(
      first.find("in a cycle of 2. device 0: waits in \"send_next0\" for device 1 to enter "
                 "\"recv_prev1\", which \"stage1\" issues after \"send_prev1\" device 1: waits in "
                 "\"send_prev1\" for device 0 to enter \"recv_next0\", which \"stage0\" issues "
                 "after \"send_next0\"") != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
