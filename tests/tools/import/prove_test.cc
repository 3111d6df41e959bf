// Tests proofs of public MSCCL and RCCL algorithms, and of small files with planted errors.

#include "tools/import/prove.h"

#include <fstream>
#include <sstream>
#include <utility>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "tests/tools/import/proof_parts.h"
#include "tests/tools/import/xml.h"

namespace orrery::test {
namespace {

MscclAlgorithm read(const AlgoText& algo) {
  return read_msccl(algo.text(), "a.xml");
}

MscclAlgorithm public_algorithm(const std::string& name) {
  const std::string path = std::string(ORRERY_SOURCE_ROOT) + "/tests/data/msccl/" + name;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return read_msccl(text.str(), name);
}

TEST_CASE("public MSCCL algorithms: all are right and race-free, and end with one slot or two") {
  // This includes r48ll: only two chunks at a time go around its ring of eight, so a slot is always
  // free.
  for (const char* const name : {"a2a2ll.xml", "ag-1k-512k.xml", "ag_hier_4_LL.xml",
                                 "ar_hier_12_Simple.xml", "ar_tree_12_LL.xml", "r48ll.xml"}) {
    for (const uint32_t slots : {1U, 2U}) {
      CAPTURE(name);
      CAPTURE(slots);
      const AlgorithmProof proof = prove_algorithm(public_algorithm(name), {slots});
      CHECK(proof.holds);
      CHECK(proof.checks.size() == 4);
      CHECK(proof.least_slots == 1);
    }
  }
}

TEST_CASE("public RCCL algorithms: with a note, in place and out of place, a ring with two slots") {
  CHECK(prove_algorithm(public_algorithm("rccl-alltoall-8n-0-9kb.xml"), {1}).holds);
  // RCCL has no kernels for the ring's steps, and MSCCL refuses its minBytes above its maxBytes, 0.
  const MscclAlgorithm ring = public_algorithm("rccl-ring-one-channel.xml");
  const AlgorithmProof one = prove_algorithm(ring, {1});
  CHECK(one.least_slots == 2);
  CHECK_FALSE(named(one, "DEADLOCK.FREE").holds());
  const AlgorithmProof two = prove_algorithm(ring, {2});
  for (const Check& each : two.checks)
    CHECK(each.holds() == (each.name != "RUNTIME.LIMITS"));
  CHECK(two.checks.size() == 6);  // races and values for each of the two ways
  CHECK(two.notes.size() == 3);   // two attributes that are not read, and slots
}

TEST_CASE("RCCL's shape of an all-reduce among pairs: right, and a slot for each chunk at most") {
  for (const int gpus : {3, 8}) {
    for (const bool in_place : {true, false}) {
      CAPTURE(gpus);
      CAPTURE(in_place);
      AlgoText algo = pairs_all_reduce(gpus, 2, in_place);
      for (const uint32_t slots : {1U, 2U, 4U, 8U}) {
        const AlgorithmProof proof = prove_algorithm(read(algo), {slots});
        CHECK(named(proof, "RUNTIME.LIMITS").holds());
        CHECK(named(proof, "DEADLOCK.FREE").holds() == (slots >= static_cast<uint32_t>(gpus)));
        CHECK(named(proof, "RACE.FREE").holds());
        CHECK(named(proof, "SCHEDULE.PROVED").holds());
      }
      // At sizes at which a message fits in one slot, one slot is enough.
      algo.sizes = R"( minBytes="0" maxBytes="65536")";
      CHECK(prove_algorithm(read(algo), {1U}).holds);
    }
  }
}

TEST_CASE("RCCL's shape of an all-reduce among pairs: without the wait of a nop it races") {
  const AlgoText algo = pairs_all_reduce(4, 1, true);
  size_t nops = 0;
  for (size_t at = algo.gpus[1].find("\"nop\""); at != std::string::npos;
       at = algo.gpus[1].find("\"nop\"", at + 1)) {
    AlgoText without = algo;
    const size_t wait = without.gpus[1].find("depid=\"", at) + 7;
    const size_t end = without.gpus[1].find(" deps", wait);
    without.gpus[1].replace(wait, end - 1 - wait, "-1");
    CAPTURE(at);
    const AlgorithmProof proof = prove_algorithm(read(without), {8U});
    CHECK_FALSE(proof.holds);
    ++nops;
  }
  CHECK(nops == 2 + 3 * (1 + 2));
}

TEST_CASE("public MSCCL algorithms: leaving out a dependency between thread blocks gives a race") {
  // The reading step no longer waits for the step of another thread block that wrote. (Dependencies
  // that guard a write are often redundant: the message comes back only after the read.)
  MscclAlgorithm tree = public_algorithm("ar_tree_12_LL.xml");
  size_t left_out = 0;
  for (std::vector<std::vector<Step>>& gpu : tree.steps) {
    for (std::vector<Step>& block : gpu) {
      for (Step& step : block) {
        if (!step.after || !step.source)
          continue;
        const Step& before = gpu[step.after->channel.index()][step.after->index];
        if (before.target != step.source)
          continue;
        ++left_out;
        const std::optional<StepRef> kept = std::exchange(step.after, std::nullopt);
        CHECK(named(prove_algorithm(tree, {}), "RACE.FREE").verdict == Verdict::Fails);
        step.after = kept;
      }
    }
  }
  CHECK(left_out == 24);  // once a chunk, at the root of its tree
}

TEST_CASE("prove: an algorithm whose steps state other numbers is judged as without them") {
  const std::string ordered = pairs_all_reduce(3, 1, true).text();
  std::string text = ordered;
  for (size_t at = 0; (at = text.find("<step s=\"", at)) != std::string::npos; at += 9)
    text.replace(at + 9, text.find('"', at + 9) - at - 9, "5");
  for (const char* const runtime : {"rccl", "msccl", "none"}) {
    CAPTURE(runtime);
    ProofRequest request;
    request.runtime = runtime_named(runtime);
    const AlgorithmProof other = prove_algorithm(read_msccl(text, "a.xml"), request);
    const AlgorithmProof usual = prove_algorithm(read_msccl(ordered, "a.xml"), request);
    CHECK(usual.holds);
    CHECK(other.holds);
    CHECK(other.least_slots == usual.least_slots);
  }
}

TEST_CASE("prove: a full ring that adds without storing stalls with one slot, and needs two") {
  // Each gpu has received a chunk that keeps its only slot until it is sent on, and the next gpu's
  // slot is kept in the same way.
  const AlgorithmProof one = prove_algorithm(read(three_ring()), {1});
  CHECK_FALSE(one.holds);
  CHECK(named(one, "DEADLOCK.FREE").verdict == Verdict::Fails);
  CHECK(named(one, "DEADLOCK.FREE").message.find("it needs 2") != std::string::npos);
  CHECK(named(one, "SCHEDULE.PROVED").holds());
  CHECK(one.least_slots == 2);
  CHECK(prove_algorithm(read(three_ring()), {2}).holds);
}

TEST_CASE("prove: two gpus that send before they receive need one slot each way") {
  const AlgorithmProof proof = prove_algorithm(read(two_gather()), {1});
  CHECK(proof.holds);
  CHECK(proof.least_slots == 1);
  CHECK(proof.steps == 4);
}

TEST_CASE("prove: two gpus that both receive first hang with any number of slots") {
  AlgoText algo = two_gather();
  for (size_t g = 0; g < 2; ++g) {
    const std::string own = g == 0 ? "o0" : "o1";
    const std::string other = g == 0 ? "o1" : "o0";
    const int peer = g == 0 ? 1 : 0;
    algo.gpus[g] =
        BlockText{0,
                  peer,
                  peer,
                  {StepText{0, "r", other, other}.text(), StepText{1, "s", own, own}.text()}}
            .text();
  }
  const AlgorithmProof proof = prove_algorithm(read(algo), {});
  CHECK_FALSE(proof.holds);
  CHECK_FALSE(proof.least_slots.has_value());
  REQUIRE(proof.checks.size() == 2);
  CHECK(proof.checks[1].message.find("no number is enough") != std::string::npos);
}

TEST_CASE("prove: a chunk stored in the wrong place is named") {
  AlgoText algo = two_gather();
  // Gpu 0 stores gpu 1's chunk over its own.
  algo.gpus[0] =
      BlockText{0, 1, 1, {StepText{0, "s", "o0"}.text(), StepText{1, "r", "o0", "o0"}.text()}}
          .text();
  const AlgorithmProof proof = prove_algorithm(read(algo), {2, Bytes(8)});
  CHECK_FALSE(proof.holds);
  CHECK(named(proof, "SCHEDULE.PROVED").message ==
        "gpu 0, buffer o, chunk 0 (4 B) is chunk 0 of gpu 1; expected chunk 0 of gpu 0");
}

TEST_CASE("prove: a contribution that is added twice is named") {
  // Each of two gpus adds the chunk that the other sent; gpu 0 adds its own chunk a second time.
  AlgoText algo;
  algo.coll = "allreduce";
  algo.chunks = 1;
  algo.input = 1;
  algo.output = 0;
  const std::vector<std::string> exchange = {StepText{0, "s", "i0", "i0"}.text(),
                                             StepText{1, "rrc", "i0", "i0"}.text()};
  std::vector<std::string> twice = exchange;
  twice.push_back(StepText{2, "re", "i0", "i0"}.text());
  algo.gpus = {BlockText{0, 1, 1, exchange}.text(), BlockText{0, 0, 0, exchange}.text()};
  CHECK(prove_algorithm(read(algo), {}).holds);
  algo.gpus[0] = BlockText{0, 1, 1, twice}.text();
  const AlgorithmProof proof = prove_algorithm(read(algo), {2, Bytes(4)});
  CHECK(named(proof, "SCHEDULE.PROVED").message ==
        "gpu 0, buffer o, chunk 0 (4 B) is the sum of chunk 0 of gpus 0, 1 (2 times); expected the "
        "sum of chunk 0 of gpus 0, 1");
}

/// Proves a file in which one gpu sums chunks of its input into its output by two re steps, which
/// the runtimes join.
AlgorithmProof prove_chain(const std::string& first, const std::string& second, bool in_place) {
  AlgoText algo;
  algo.coll = "custom";
  algo.in_place = in_place;
  algo.chunks = algo.input = algo.output = 4;
  const std::string copy = StepText{0, "cpy", "i0", "o0", 2}.text();
  algo.gpus = {BlockText{0, -1, -1, {copy, first, second}}.text()};
  const MscclAlgorithm algorithm = read(algo);
  const ChunkDefinition definition =
      read_definition(R"({"outputs": [[0, 0, [[0, 0], [0, 2], [0, 3]]]]})", "d.json", algorithm);
  ProofRequest request;
  request.definition = &definition;
  return prove_algorithm(algorithm, request);
}

TEST_CASE("prove: re steps that the runtimes run as one have the last one's count") {
  const std::string two = StepText{1, "re", "i2", "o0", 2, -1, -1, false}.text();
  const std::string one = StepText{1, "re", "i2", "o0", 1, -1, -1, false}.text();
  const std::string last = StepText{2, "re", "i3", "o0", 1, -1, -1, false}.text();
  CHECK(named(prove_chain(one, last, false), "SCHEDULE.PROVED").holds());
  CHECK(named(prove_chain(two, last, false), "SCHEDULE.PROVED").message ==
        "gpu 0 tb 0 steps 1 and 2 (re, lines 5 and 6) run as one step, with the last cnt, 1, for "
        "both, and line 5 says 2");
  // A flag, a wait or another place divides the two steps.
  const std::string with_flag = StepText{1, "re", "i2", "o0", 2, -1, -1, true}.text();
  CHECK(named(prove_chain(with_flag, last, false), "SCHEDULE.PROVED").holds());
  const std::string waits = StepText{2, "re", "i3", "o0", 1, 0, 1, false}.text();
  CHECK(named(prove_chain(with_flag, waits, false), "SCHEDULE.PROVED").holds());
}

TEST_CASE("prove: a re that the runtimes join to the one before adds what its target held before") {
  const std::string first = StepText{1, "re", "o1", "o0", 1, -1, -1, false}.text();
  const std::string own = StepText{2, "re", "o0", "o0", 1, -1, -1, false}.text();
  CHECK(named(prove_chain(first, own, false), "SCHEDULE.PROVED").message ==
        "gpu 0 tb 0 steps 1 and 2 (re, lines 5 and 6) run as one step: line 6 adds what its target "
        "held before both");
  // In place, i and o are one buffer.
  const std::string from_input = StepText{1, "re", "i2", "o0", 1, -1, -1, false}.text();
  const std::string own_input = StepText{2, "re", "i0", "o0", 1, -1, -1, false}.text();
  CHECK(named(prove_chain(from_input, own_input, true), "SCHEDULE.PROVED")
            .message.find("line 6 adds what its target held") != std::string::npos);
  CHECK(named(prove_chain(from_input, own_input, false), "SCHEDULE.PROVED")
            .message.find("run as one") == std::string::npos);
}

TEST_CASE("prove: in place, a reduce-scatter must give each gpu only its own part") {
  // Gpu 0 keeps chunk 0 and sends chunk 1; gpu 1 does the opposite.
  AlgoText algo = two_reduce_scatter();
  CHECK(prove_algorithm(read(algo), {}).holds);
  // Reducing into the chunk that gpu 1 gave away leaves its own chunk without the other gpu's part.
  algo.gpus[1] =
      BlockText{0, 0, 0, {StepText{0, "s", "i0"}.text(), StepText{1, "rrc", "i1", "i0"}.text()}}
          .text();
  CHECK(named(prove_algorithm(read(algo), {}), "SCHEDULE.PROVED").verdict == Verdict::Fails);
}

TEST_CASE("prove: two unordered thread blocks that touch the same chunk are a race") {
  // Gpu 0's second block copies chunk 1 while its first block receives into that chunk.
  AlgoText algo = two_gather();
  algo.scratch = 1;
  const auto copy = [](int on_block, int on_step) {
    return BlockText{1, -1, -1, {StepText{0, "cpy", "o1", "s0", 1, on_block, on_step}.text()}}
        .text();
  };
  AlgoText ordered = algo;
  ordered.gpus[0] += copy(0, 1);
  CHECK(prove_algorithm(read(ordered), {}).holds);
  AlgoText racing = algo;
  racing.gpus[0] += copy(-1, -1);
  const AlgorithmProof proof = prove_algorithm(read(racing), {2, Bytes(8)});
  CHECK(named(proof, "RACE.FREE").message ==
        "gpu 0 tb 0 step 1 (r, line 5) writes and tb 1 step 0 (cpy, line 8) reads buffer o, chunk "
        "1 (4 B), and nothing orders the two");
}

TEST_CASE("prove: a step that writes chunks that it reads for others is a race") {
  AlgoText algo;
  algo.coll = "allreduce";
  algo.chunks = algo.input = 4;
  algo.output = 0;
  algo.gpus = {BlockText{0, -1, -1, {StepText{0, "cpy", "i0", "i1", 3}.text()}}.text()};
  const AlgorithmProof proof = prove_algorithm(read(algo), {2U, Bytes(16)});
  CHECK(named(proof, "RACE.FREE").message ==
        "gpu 0 tb 0 step 0 (cpy, line 4) reads buffer i, chunks 1 to 2 (4 B each) and writes them "
        "for other chunks, in no order");
  CHECK(named(proof, "SCHEDULE.PROVED").verdict == Verdict::Fails);
  // With messages of one chunk, the runtime copies chunk by chunk, in order.
  CHECK(named(prove_algorithm(read(algo), {2U, Bytes(4 * 16384)}), "RACE.FREE").holds());
  // Without a size, small sizes are judged too.
  CHECK_FALSE(named(prove_algorithm(read(algo), {}), "RACE.FREE").holds());
  // In place, input and output are one buffer.
  algo.gpus = {BlockText{0, -1, -1, {StepText{0, "cpy", "i0", "o1", 3}.text()}}.text()};
  CHECK(
      named(prove_algorithm(read(algo), {2U, Bytes(16)}), "RACE.FREE").message ==
      "gpu 0 tb 0 step 0 (cpy, line 4) reads buffer i, chunks 1 to 2 (4 B each) and writes buffer "
      "o, chunks 1 to 2 (4 B each), which in place is the same memory, for other chunks, in no "
      "order");
}

TEST_CASE("prove: steps that only a wait for a slot orders race, since there may be more slots") {
  // Gpu 1 copies chunk 0 before it takes the first of two messages. With one slot the second
  // message is sent after that, and then another thread block sends the message that overwrites the
  // chunk.
  AlgoText algo;
  algo.coll = "allreduce";
  algo.chunks = 4;
  algo.input = 4;
  algo.output = 0;
  algo.scratch = 1;
  const auto block = [](int id, int send, int recv, const char* chan,
                        std::vector<std::string> steps) {
    std::string text = BlockText{id, send, recv, std::move(steps)}.text();
    return text.replace(text.find("chan=\"0\""), 8, std::string("chan=\"") + chan + "\"");
  };
  algo.gpus = {
      block(0, 1, -1, "0", {StepText{0, "s", "i1"}.text(), StepText{1, "s", "i2"}.text()}) +
          block(1, 1, -1, "1", {StepText{0, "s", "i3", "i0", 1, 0, 1}.text()}),
      block(0, -1, 0, "0",
            {StepText{0, "cpy", "i0", "s0"}.text(), StepText{1, "r", "i1", "i1"}.text(),
             StepText{2, "r", "i2", "i2"}.text()}) +
          block(1, -1, 0, "1", {StepText{0, "r", "i0", "i0"}.text()})};
  std::string text = algo.text();
  text.replace(text.find("nchannels=\"1\""), 13, "nchannels=\"2\"");
  const MscclAlgorithm algorithm = read_msccl(text, "a.xml");
  const std::string race =
      "gpu 1 tb 0 step 0 (cpy, line 13) reads and tb 1 step 0 (r, line 18) writes buffer i, chunk "
      "0 "
      "(4 B), and nothing orders the two";
  const Check one = named(prove_algorithm(algorithm, {1, Bytes(16)}), "RACE.FREE");
  CHECK(one.verdict == Verdict::Fails);
  CHECK(one.message == race + " but the wait for one of 1 slot: with more they race");
  CHECK(named(prove_algorithm(algorithm, {2, Bytes(16)}), "RACE.FREE").message == race);
}

TEST_CASE("prove: the time on a cluster is that of the schedule") {
  // Half of 100,000 B goes over 50 GB/s, both ways at once: 1 us, and 1 us of latency.
  const Cluster cluster{
      "ring of 2", ring_fabric(2, {BytesPerSecond(50'000'000'000), Duration(1'000'000)}), {}};
  AlgoText algo = two_gather();
  algo.protocol = "Simple";
  const AlgorithmProof proof = prove_algorithm(read(algo), {2, Bytes(100'000), &cluster});
  REQUIRE(proof.time.has_value());
  CHECK(proof.size == Bytes(100'000));
  CHECK(proof.time->completion.makespan == Instant(2'000'000));
  REQUIRE(proof.time->bandwidths.has_value());
  CHECK(proof.time->bandwidths->algbw_GBps == 50.0);  // 100,000 B in 2 us
  CHECK(proof.time->bandwidths->busbw_GBps == 25.0);  // (n-1)/n of it
}

TEST_CASE("prove: the size is rounded up to whole elements a chunk") {
  CHECK(prove_algorithm(read(two_gather()), {2, Bytes(9)}).size == Bytes(16));
}

TEST_CASE("prove: a cluster with too few devices is refused") {
  const Cluster cluster{"one", switch_fabric(1, {BytesPerSecond(1), Duration(0)}), {}};
  CHECK_THROWS_WITH_AS(prove_algorithm(read(two_gather()), {2, Bytes(8), &cluster}),
                       "a.xml: /algo/ngpus: the algorithm is for 2 gpus, and cluster one has 1",
                       InputError);
}

}  // namespace
}  // namespace orrery::test
