// How runtimes cut and carry messages, and their limits.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "tests/tools/import/xml.h"
#include "tools/import/message_cut.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {

const Check& named(const AlgorithmProof& proof, const std::string& name) {
  for (const Check& each : proof.checks)
    if (each.name == name)
      return each;
  FAIL("no check " << name);
  return proof.checks.front();
}

bool has_note(const AlgorithmProof& proof, const std::string& text) {
  return std::any_of(proof.notes.begin(), proof.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST_CASE("runtimes: the slots that RCCL's and MSCCL's headers give") {
  const Runtime& rccl = *runtime_named("rccl");
  const Runtime& msccl = *runtime_named("msccl");
  // Simple: 4 MiB in 8 steps, four a message.
  CHECK(rccl.form(MscclProtocol::Simple).slot == Bytes(2 << 20));
  CHECK(msccl.form(MscclProtocol::Simple).slot == Bytes(2 << 20));
  // LL: 8 lines of 16 B a thread, half of which are data; 256 threads in RCCL, 512 in MSCCL.
  CHECK(rccl.form(MscclProtocol::LL).slot == Bytes(16 << 10));
  CHECK(msccl.form(MscclProtocol::LL).slot == Bytes(32 << 10));
  // LL128: 28 words of 8 B for 256 threads, 7 of 8 data; 120 for 640 threads, 15 of 16 data.
  CHECK(rccl.form(MscclProtocol::LL128).slot == Bytes(50'176));
  CHECK(msccl.form(MscclProtocol::LL128).slot == Bytes(576'000));
  CHECK(runtime_named("nccl") == nullptr);
}

TEST_CASE("runtimes: a message has the chunks that fit a slot, or a slot of one chunk") {
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");  // LL
  const auto cut = [&](int64_t chunk_bytes) {
    return message_cut(algorithm, *runtime_named("rccl"), chunk_bytes / 4, Bytes(4));
  };
  CHECK(cut(16 << 10).chunks == 1);  // just one slot
  CHECK(cut(16 << 10).elements == 4096);
  CHECK(cut((16 << 10) + 4).chunks == 1);
  CHECK(cut((16 << 10) + 4).elements == 4096);  // and one element in a second iteration
  CHECK(cut(8 << 10).chunks == 2);
  CHECK(cut((8 << 10) + 4).chunks == 1);
  CHECK(cut((8 << 10) + 4).elements == 2049);
  CHECK(cut(4).chunks == 71);  // MSCCL_MAX_COUNT - 1
  CHECK(message_cut(algorithm, *runtime_named("none"), 1 << 20, Bytes(4)).elements == 1 << 20);
}

/// Two gpus exchange four chunks each, in one message.
AlgoText four_at_once() {
  AlgoText algo;
  algo.chunks = 8;
  algo.output = 8;
  algo.gpus = {
      BlockText{
          0, 1, 1, {StepText{0, "s", "o0", "o0", 4}.text(), StepText{1, "r", "o4", "o4", 4}.text()}}
          .text(),
      BlockText{
          0, 0, 0, {StepText{0, "s", "o4", "o4", 4}.text(), StepText{1, "r", "o0", "o0", 4}.text()}}
          .text()};
  return algo;
}

TEST_CASE("runtimes: a message of several slots needs as many where both sides send first") {
  const MscclAlgorithm algorithm = read_msccl(four_at_once().text(), "a.xml");
  ProofRequest request;
  const auto least = [&](int64_t chunk_bytes) {
    request.size = Bytes(8 * chunk_bytes);
    return prove_algorithm(algorithm, request).least_slots;
  };
  CHECK(least(4 << 10) == 1);   // four chunks fit a slot of 16 KiB
  CHECK(least(8 << 10) == 2);   // two do
  CHECK(least(16 << 10) == 4);  // one does
  CHECK(least(1 << 20) == 4);   // 64 iterations: each ends before it waits for the next one
  request.runtime = runtime_named("none");
  CHECK(least(1 << 20) == 1);
}

TEST_CASE("runtimes: how messages are cut is said") {
  const MscclAlgorithm algorithm = read_msccl(four_at_once().text(), "a.xml");
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 13)}),
                 "a message has at most 2 chunks of 8 KiB"));
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 20)}),
                 "a chunk of 1 MiB is cut, and all steps run 64 times"));
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 12)}),
                 "LL in rccl: a slot holds 16 KiB of data"));
}

TEST_CASE("runtimes: messages of any number of chunks do not take memory for each piece") {
  AlgoText algo = four_at_once();
  algo.chunks = algo.output = 2'000'000'000;
  for (std::string& gpu : algo.gpus)
    for (const char* const count : {"cnt=\"4\"", "cnt=\"4\""})
      gpu.replace(gpu.find(count), 7, "cnt=\"1000000000\"");
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK_THROWS_WITH_AS(
      prove_algorithm(algorithm, {}),
      "a.xml: /algo: expected at most 2097152 steps with messages of at most 1 chunk, got "
      "4000000000",
      InputError);
  ProofRequest request;
  request.runtime = runtime_named("none");
  CHECK(prove_algorithm(algorithm, request).least_slots == 1);
}

TEST_CASE("runtimes: a size outside the file's is said, and the default is inside") {
  AlgoText algo = two_gather();
  algo.sizes = " minBytes=\"64\" maxBytes=\"4100\"";
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK(has_note(prove_algorithm(algorithm, {2, Bytes(8192)}),
                 "8 KiB is more than the file is for: from 64 B to 4100 B"));
  CHECK(has_note(prove_algorithm(algorithm, {2, Bytes(8)}), "8 B is less than the file is for"));
  CHECK_FALSE(has_note(prove_algorithm(algorithm, {2, Bytes(64)}), "than the file is for"));
  CHECK(prove_algorithm(algorithm, {}).size == Bytes(4096));  // whole elements of 8 B
  algo.sizes = " minBytes=\"2097152\" maxBytes=\"0\"";
  CHECK(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}).size == Bytes(2 << 20));
  CHECK(prove_algorithm(read_msccl(two_gather().text(), "a.xml"), {}).size == Bytes(1 << 20));
}

TEST_CASE("runtimes: LL takes twice as long on a link as Simple, and LL128 8/7 as long in RCCL") {
  // 7,000 B at 7 GB/s: 1 us. The other half of the buffer goes the other way.
  const Cluster cluster{
      "ring of 2", ring_fabric(2, {BytesPerSecond(7'000'000'000), Duration(0)}), {}};
  const auto took = [&](const std::string& protocol, const char* runtime) {
    AlgoText algo = two_gather();
    algo.protocol = protocol;
    ProofRequest request{2, Bytes(14'000), &cluster, runtime_named(runtime)};
    const AlgorithmProof proof = prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
    REQUIRE(proof.time.has_value());
    return (proof.time->completion.makespan - Instant()).count();
  };
  CHECK(took("Simple", "rccl") == 1'000'000);
  CHECK(took("LL", "rccl") == 2'000'000);
  CHECK(took("LL128", "rccl") == 1'142'858);  // 7,000 B at 6.125 GB/s, rounded up
  CHECK(took("LL", "none") == 1'000'000);
}

TEST_CASE("runtimes: the iterations of cut messages come one after another") {
  // Three iterations of 1,000 B each way, 1 us each, and 10 us of latency. A gpu sends in an
  // iteration only after it has received in the one before.
  const Cluster cluster{
      "ring of 2", ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration(10'000'000)}), {}};
  Runtime small = *runtime_named("none");
  small.limits = runtime_named("rccl")->limits;
  for (MessageForm& form : small.forms)
    form.slot = Bytes(1000);
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");
  const auto took = [&](uint32_t slots, const Runtime& runtime) {
    const AlgorithmProof proof =
        prove_algorithm(algorithm, {slots, Bytes(6000), &cluster, &runtime});
    REQUIRE(proof.time.has_value());
    return (proof.time->completion.makespan - Instant()).count();
  };
  CHECK(took(2, small) == 33'000'000);
  CHECK(took(2, *runtime_named("none")) == 13'000'000);
}

TEST_CASE("runtimes: what is beyond a limit is named, and --runtime none asks for no limits") {
  AlgoText algo = two_gather();
  algo.scratch = 1;
  std::vector<std::string> steps;
  for (int s = 0; s < 65; ++s)
    steps.push_back(StepText{s, "cpy", "o0", "s0"}.text());
  const auto proof = [&](const char* runtime, size_t count) {
    AlgoText with = algo;
    with.gpus[0] +=
        BlockText{1, -1, -1, {steps.begin(), steps.begin() + static_cast<int>(count)}}.text();
    ProofRequest request;
    request.runtime = runtime_named(runtime);
    return prove_algorithm(read_msccl(with.text(), "a.xml"), request);
  };
  CHECK(proof("rccl", 64).holds);
  CHECK(proof("msccl", 65).holds);
  CHECK(proof("none", 65).holds);
  CHECK(proof("none", 65).checks.size() == 3);
  const AlgorithmProof beyond = proof("rccl", 65);
  CHECK_FALSE(beyond.holds);
  const Check& check = named(beyond, "RUNTIME.LIMITS");
  REQUIRE(check.witness.size() == 1);
  CHECK(check.witness[0] ==
        std::pair<std::string, std::string>("steps", "gpu 0 tb 1 has 65, at most 64"));
  CHECK(named(beyond, "DEADLOCK.FREE").holds());
}

TEST_CASE("runtimes: counts and ids of thread blocks have limits too") {
  AlgoText algo = two_gather();
  algo.scratch = 72;
  algo.chunks = 144;
  algo.output = 144;
  algo.gpus[0] += BlockText{5, -1, -1, {StepText{0, "cpy", "i0", "s0", 72}.text()}}.text();
  const Check check =
      named(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}), "RUNTIME.LIMITS");
  REQUIRE(check.witness.size() == 2);
  CHECK(check.witness[0].second == "gpu 0 has 2 and an id 5: expected 0 to 1");
  CHECK(check.witness[1].second == "gpu 0 tb 5 step 0 (line 8) has 72 chunks, at most 71");
}

}  // namespace
}  // namespace orrery::test
