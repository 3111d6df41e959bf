// Tests how runtimes cut and carry messages, and their limits.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "tests/tools/import/proof_parts.h"
#include "tests/tools/import/xml.h"
#include "tools/import/judged_sizes.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {
TEST_CASE("runtimes: the slots that RCCL's and MSCCL's headers give") {
  const Runtime& rccl = *runtime_named("rccl");
  const Runtime& msccl = *runtime_named("msccl");
  // Simple has 4 MiB in 8 steps, four per message.
  CHECK(rccl.figures(Protocol::Simple).slot == Bytes(2 << 20));
  CHECK(msccl.figures(Protocol::Simple).slot == Bytes(2 << 20));
  // LL has 8 lines of 16 B per thread, half of them data, for 256 threads in RCCL and 512 in MSCCL.
  CHECK(rccl.figures(Protocol::LL).slot == Bytes(16 << 10));
  CHECK(msccl.figures(Protocol::LL).slot == Bytes(32 << 10));
  // LL128 has 28 words of 8 B for 256 threads, 7 of 8 data, in RCCL; 120 for 640 threads, 15 of 16
  // data, in MSCCL.
  CHECK(rccl.figures(Protocol::LL128).slot == Bytes(50'176));
  CHECK(msccl.figures(Protocol::LL128).slot == Bytes(576'000));
  CHECK(runtime_named("nccl") == nullptr);
}

TEST_CASE("runtimes: a message has the chunks that fit a slot, or a slot of one chunk") {
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");  // LL
  const auto cut = [&](int64_t chunk_bytes) {
    return msccl_cut(algorithm, *runtime_named("rccl"), chunk_bytes / 4, Bytes(4));
  };
  CHECK(cut(16 << 10).chunks == 1);  // just one slot
  CHECK(cut(16 << 10).elements == 4096);
  CHECK(cut((16 << 10) + 4).chunks == 1);
  CHECK(cut((16 << 10) + 4).elements == 4096);  // and one element in a second iteration
  CHECK(cut(8 << 10).chunks == 2);
  CHECK(cut((8 << 10) + 4).chunks == 1);
  CHECK(cut((8 << 10) + 4).elements == 2049);
  CHECK(cut(4).chunks == 71);  // MSCCL_MAX_COUNT - 1
  CHECK(msccl_cut(algorithm, *runtime_named("none"), 1 << 20, Bytes(4)).elements == 1 << 20);
}

TEST_CASE("runtimes: a message of several slots needs as many where both sides send first") {
  const MscclAlgorithm algorithm = read_msccl(exchange_at_once(4).text(), "a.xml");
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
  const MscclAlgorithm algorithm = read_msccl(exchange_at_once(4).text(), "a.xml");
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 13)}),
                 "a message has at most 2 chunks of 8 KiB"));
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 20)}),
                 "a chunk of 1 MiB is cut, and all steps run 64 times"));
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 12)}),
                 "LL in rccl: a slot holds 16 KiB of data"));
}

TEST_CASE("runtimes: messages of any number of chunks do not take memory for each piece") {
  AlgoText algo = exchange_at_once(4);
  algo.chunks = algo.output = 2'000'000'000;
  for (std::string& gpu : algo.gpus)
    for (const char* const count : {"cnt=\"4\"", "cnt=\"4\""})
      gpu.replace(gpu.find(count), 7, "cnt=\"1000000000\"");
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK_THROWS_WITH_AS(
      prove_algorithm(algorithm, {}),
      "a.xml: /algo: expected at most 2097152 steps with messages of at most 1 chunk, got "
      "4000000000 (--size SIZE judges one size)",
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
  // The size has two chunks of whole f32 elements. The requested size is inside the file's range,
  // though the size that is judged is not.
  const AlgorithmProof rounded = prove_algorithm(algorithm, {2, Bytes(4097)});
  CHECK(has_note(rounded, "4097 B is rounded up to 4104 B: 2 chunks of whole f32 elements"));
  CHECK_FALSE(has_note(rounded, "than the file is for"));
  algo.sizes = " minBytes=\"65\" maxBytes=\"65\"";
  CHECK(has_note(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}),
                 "no size from 65 B to 65 B divides into 2 chunks"));
  algo.sizes = " minBytes=\"2097152\" maxBytes=\"0\"";
  CHECK(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}).size == Bytes(2 << 20));
  CHECK(prove_algorithm(read_msccl(two_gather().text(), "a.xml"), {}).size == Bytes(1 << 20));
}

TEST_CASE("runtimes: LL takes twice as long on a link as Simple, and LL128 8/7 as long in RCCL") {
  // 7,000 B at 7 GB/s take 1 us. The other half of the buffer goes the other way.
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
  // There are three iterations of 1,000 B each way, 1 us each, and 10 us of latency. A gpu sends in
  // an iteration only after it has received in the one before.
  const Cluster cluster{
      "ring of 2", ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration(10'000'000)}), {}};
  Runtime small = *runtime_named("none");
  small.limits = runtime_named("rccl")->limits;
  for (RuntimeSlots& figures : small.by_protocol)
    figures.slot = Bytes(1000);
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

}  // namespace
}  // namespace orrery::test
