// Tests the definitions of the outputs of imported algorithms: rooted collectives, and files.

#include <string>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "tests/tools/import/xml.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {

const Check& proved(const AlgorithmProof& proof) {
  for (const Check& each : proof.checks)
    if (each.name == "SCHEDULE.PROVED")
      return each;
  FAIL("no proof");
  return proof.checks.front();
}

AlgorithmProof prove_with_root(const AlgoText& algo, uint32_t root) {
  ProofRequest request;
  request.root = root;
  return prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
}

/// Returns an out-of-place file without gpus; a test adds the thread blocks of each gpu.
AlgoText rooted(const std::string& coll, int chunks, int input, int output) {
  AlgoText algo;
  algo.coll = coll;
  algo.in_place = false;
  algo.chunks = chunks;
  algo.input = input;
  algo.output = output;
  return algo;
}

std::string sends(int block, int to, const std::string& chunk, const std::string& there) {
  return BlockText{block, to, -1, {StepText{0, "s", chunk, there}.text()}}.text();
}
std::string receives(int block, int from, const std::string& chunk, const char* type = "r") {
  return BlockText{block, -1, from, {StepText{0, type, chunk, chunk}.text()}}.text();
}
std::string copies(int block, const std::string& from, const std::string& to) {
  return BlockText{block, -1, -1, {StepText{0, "cpy", from, to}.text()}}.text();
}

TEST_CASE("definitions: a broadcast gives every gpu the root's input") {
  AlgoText algo = rooted("broadcast", 1, 1, 1);
  algo.gpus = {receives(0, 1, "o0"),
               sends(0, 0, "i0", "o0") + sends(1, 2, "i0", "o0") + copies(2, "i0", "o0"),
               receives(0, 1, "o0")};
  CHECK(prove_with_root(algo, 1).holds);
  CHECK(proved(prove_with_root(algo, 1)).message ==
        "for all values, every gpu ends with the broadcast of 1 chunk over 3 gpus, root 1");
  CHECK(proved(prove_with_root(algo, 0)).message ==
        "gpu 0, buffer o, chunk 0 (1 MiB) is chunk 0 of gpu 1; expected chunk 0 of gpu 0 "
        "(root 0; --root names another)");
}

TEST_CASE("definitions: a reduce gives the root the sum, and others anything") {
  AlgoText algo = rooted("reduce", 1, 1, 1);
  algo.gpus = {BlockText{0, -1, -1, {StepText{0, "cpy", "i0", "o0"}.text()}}.text() +
                   BlockText{1, -1, 1, {StepText{0, "rrc", "o0", "o0", 1, 0, 0}.text()}}.text() +
                   BlockText{2, -1, 2, {StepText{0, "rrc", "o0", "o0", 1, 1, 0}.text()}}.text(),
               sends(0, 0, "i0", "o0"), sends(0, 0, "i0", "o0")};
  CHECK(prove_with_root(algo, 0).holds);
  CHECK(proved(prove_with_root(algo, 2)).message ==
        "gpu 2, buffer o, chunk 0 (1 MiB) is never written; expected the sum of chunk 0 of gpus 0 "
        "to 2 (root 2; --root names another)");
}

TEST_CASE("definitions: a gather collects the parts at the root, whose gpus alone has an output") {
  AlgoText algo = rooted("gather", 1, 1, 3);
  algo.gpus = {sends(0, 2, "i0", "o0"), sends(0, 2, "i0", "o1"),
               receives(0, 0, "o0") + receives(1, 1, "o1") + copies(2, "i0", "o2")};
  std::string text = algo.text();
  for (int other = 0; other < 2; ++other)
    text.replace(text.find("o_chunks=\"3\""), 12, "o_chunks=\"0\"");
  const MscclAlgorithm algorithm = read_msccl(text, "a.xml");
  ProofRequest request;
  request.root = 2;
  CHECK(prove_algorithm(algorithm, request).holds);
  request.root = 1;
  CHECK_FALSE(prove_algorithm(algorithm, request).holds);
}

TEST_CASE("definitions: a scatter gives each gpu its part of the root's input") {
  AlgoText algo = rooted("scatter", 1, 3, 1);
  algo.gpus = {sends(0, 1, "i1", "o0") + sends(1, 2, "i2", "o0") + copies(2, "i0", "o0"),
               receives(0, 0, "o0"), receives(0, 0, "o0")};
  CHECK(prove_with_root(algo, 0).holds);
  CHECK_FALSE(prove_with_root(algo, 1).holds);
}

TEST_CASE("definitions: rooted collectives are timed, and a root is a gpu") {
  const Cluster cluster{
      "switch of 3", switch_fabric(3, {BytesPerSecond(1'000'000'000), Duration(0)}), {}};
  AlgoText algo = rooted("scatter", 1, 3, 1);
  algo.protocol = "Simple";
  algo.gpus = {sends(0, 1, "i1", "o0") + sends(1, 2, "i2", "o0") + copies(2, "i0", "o0"),
               receives(0, 0, "o0"), receives(0, 0, "o0")};
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  const AlgorithmProof proof = prove_algorithm(algorithm, {2U, Bytes(3'000), &cluster});
  REQUIRE(proof.time.has_value());
  CHECK(proof.time->completion.makespan == Instant(2'000'000));  // 2,000 B leave the root
  CHECK(proof.time->bandwidths->algbw_GBps == 1.5);
  CHECK(proof.time->bandwidths->busbw_GBps == 1.0);  // (n-1)/n of it
  ProofRequest request;
  request.root = 3;
  CHECK_THROWS_WITH_AS(prove_algorithm(algorithm, request),
                       "--root: expected a gpu from 0 to 2, got 3", InputError);
  request.root = 0;
  CHECK_THROWS_WITH_AS(prove_algorithm(read_msccl(two_gather().text(), "a.xml"), request),
                       "--root: expected none, as allgather has no root", InputError);
  const ChunkDefinition definition =
      read_definition(R"({"outputs": [[0, 0, [[0, 0]]]]})", "d.json", algorithm);
  request.definition = &definition;
  CHECK_THROWS_WITH_AS(prove_algorithm(algorithm, request),
                       "--root: expected none with --definition, which says what each output is",
                       InputError);
}

/// Returns a file in which gpu 0's output is the sum of both inputs, and gpu 1's is the input of
/// gpu 0.
AlgoText custom() {
  AlgoText algo = rooted("custom", 1, 1, 1);
  algo.gpus = {
      BlockText{0, 1, -1, {StepText{0, "s", "i0", "o0"}.text()}}.text() +
          BlockText{1,
                    -1,
                    1,
                    {StepText{0, "cpy", "i0", "o0"}.text(), StepText{1, "rrc", "o0", "o0"}.text()}}
              .text(),
      BlockText{0, 0, 0, {StepText{0, "s", "i0", "o0"}.text(), StepText{1, "r", "o0", "o0"}.text()}}
          .text()};
  return algo;
}

AlgorithmProof prove_custom(const std::string& outputs) {
  const MscclAlgorithm algorithm = read_msccl(custom().text(), "a.xml");
  const ChunkDefinition definition = read_definition(outputs, "d.json", algorithm);
  ProofRequest request;
  request.definition = &definition;
  return prove_algorithm(algorithm, request);
}

TEST_CASE("definitions: a custom collective is what its file says") {
  const AlgorithmProof proof =
      prove_custom(R"({"outputs": [[0, 0, [[1, 0], [0, 0]]], [1, 0, [[0, 0]]]]})");
  CHECK(proof.holds);
  CHECK(proved(proof).message ==
        "for all values, every gpu ends with the 2 output chunks that d.json defines");
  CHECK(prove_custom(R"({"outputs": [[1, 0, [[0, 0]]]]})").holds);  // the other may hold anything
  CHECK(proved(prove_custom(R"({"outputs": [[0, 0, [[0, 0]]]]})")).message ==
        "gpu 0, buffer o, chunk 0 (1 MiB) is the sum of chunk 0 of gpus 0, 1; expected chunk 0 of "
        "gpu 0");
}

TEST_CASE("definitions: a custom collective without one says what it needs") {
  CHECK_THROWS_WITH_AS(
      prove_algorithm(read_msccl(custom().text(), "a.xml"), {}),
      "a.xml: /algo/coll: a custom collective needs a definition: --definition FILE with "
      "{\"outputs\": [[gpu, chunk, [[gpu, chunk], ..]], ..]}",
      InputError);
}

TEST_CASE("definitions: errors of a definition have their positions") {
  const auto error = [](const std::string& text) -> std::string {
    try {
      prove_custom(text);
    } catch (const InputError& refused) {
      return refused.what();
    }
    return "none";
  };
  CHECK(error("{}").starts_with("d.json:1:1: "));
  CHECK(error(R"({"outputs": []})") ==
        "d.json:1:13: /outputs: expected at least one output, got an empty list");
  CHECK(error(R"({"outputs": [[0, 0]]})") ==
        "d.json:1:14: /outputs/0: expected an output, [gpu, chunk, [[gpu, chunk], ..]], got a list "
        "of 2");
  CHECK(error(R"({"outputs": [[2, 0, [[0, 0]]]]})") ==
        "d.json:1:15: /outputs/0/0: expected a gpu from 0 to 1, got 2");
  CHECK(error(R"({"outputs": [[0, 1, [[0, 0]]]]})") ==
        "d.json:1:18: /outputs/0/1: expected an output chunk of gpu 0 from 0 to 0, got 1");
  CHECK(error(R"({"outputs": [[0, 0, []]]})")
            .starts_with("d.json:1:21: /outputs/0/2: expected at least one input chunk"));
  CHECK(error(R"({"outputs": [[0, 0, [[0, 0], [0, 0]]]]})") ==
        "d.json:1:30: /outputs/0/2/1: chunk 0 of gpu 0 is in this sum already");
  CHECK(error(R"({"outputs": [[0, 0, [[0, 0]]], [0, 0, [[1, 0]]]]})") ==
        "d.json:1:32: /outputs/1: chunk 0 of gpu 0 has a definition above");
}

}  // namespace
}  // namespace orrery::test
