// Tests for which sizes an imported algorithm is judged, and how messages are cut at these sizes.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/property.h"
#include "tests/tools/import/proof_parts.h"
#include "tests/tools/import/xml.h"
#include "tools/import/judged_sizes.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {

std::string notes(const AlgorithmProof& proof) {
  std::string text;
  for (const std::string& note : proof.notes)
    text += note + "\n";
  return text;
}

AlgoText three_at_once(const std::string& protocol) {
  AlgoText algo = exchange_at_once(3);
  algo.protocol = protocol;
  return algo;
}

AlgorithmProof prove(const AlgoText& algo, const ProofRequest& request = {}) {
  return prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
}

TEST_CASE("sizes: a hang at large sizes alone is found without a size, and is said of those") {
  // Three chunks take three slots once two chunks no longer fit in one slot: chunks above 1 MiB.
  const AlgoText algo = three_at_once("Simple");
  const AlgorithmProof all = prove(algo);
  CHECK_FALSE(all.holds);
  CHECK(all.least_slots == 3);
  CHECK(named(all, "DEADLOCK.FREE").message ==
        "hangs with 2 slots a connection at sizes above 6 MiB; it needs 3");
  const AlgorithmProof just = prove(algo, {{}, Bytes(6 << 20)});
  CHECK(named(just, "DEADLOCK.FREE").message ==
        "ends with 2 slots a connection at 6 MiB; it needs 2");
  CHECK_FALSE(prove(algo, {{}, Bytes((6 << 20) + 24)}).holds);
  CHECK(named(prove(algo, {3U}), "DEADLOCK.FREE").message ==
        "ends with 3 slots a connection at every size; it needs 3");
  // The size is six chunks of a third of 2 MiB, rounded down.
  CHECK(named(prove(algo, {1U}), "DEADLOCK.FREE").message ==
        "hangs with 1 slot a connection at sizes above 4194300 B; it needs 3");
}

TEST_CASE("sizes: the worst is the largest that the file is for") {
  AlgoText algo = three_at_once("Simple");
  const auto judged = [&](const std::string& sizes) {
    algo.sizes = sizes;
    return named(prove(algo), "DEADLOCK.FREE").message;
  };
  CHECK(judged(R"( minBytes="0" maxBytes="6291456")") ==
        "ends with 2 slots a connection at every size up to 6 MiB; it needs 2");
  // 6 MiB + 6 B have a chunk of 1 MiB + 1 B, of elements of one byte.
  CHECK(judged(R"( minBytes="0" maxBytes="6291462")") ==
        "hangs with 2 slots a connection at sizes above 6 MiB; it needs 3");
  CHECK(judged(R"( minBytes="64" maxBytes="4194304")") ==
        "ends with 2 slots a connection at every size from 64 B to 4 MiB; it needs 1");
  CHECK(judged(R"( minBytes="6291457" maxBytes="0")") ==
        "hangs with 2 slots a connection at every size from 6291457 B on; it needs 3");
}

TEST_CASE("sizes: without slots of a size, all sizes are alike") {
  ProofRequest request;
  request.runtime = runtime_named("none");
  const AlgorithmProof proof = prove(three_at_once("Simple"), request);
  CHECK(proof.least_slots == 1);
  CHECK(named(proof, "DEADLOCK.FREE").message ==
        "ends with 2 slots a connection at every size; it needs 1");
}

TEST_CASE("sizes: without --slots, the slots are the runtime's for the protocol, and are named") {
  for (const auto& [protocol, slots] :
       {std::pair("Simple", "2"), std::pair("LL", "8"), std::pair("LL128", "8")}) {
    AlgoText algo = two_gather();
    algo.protocol = protocol;
    const AlgorithmProof proof = prove(algo);
    CHECK(named(proof, "DEADLOCK.FREE").message.find(std::string("with ") + slots + " slots") !=
          std::string::npos);
    CHECK(notes(proof).find(std::string(slots) + " slots a connection, the default of rccl for " +
                            protocol) != std::string::npos);
    CHECK(notes(prove(algo, {4U})).find("the default") == std::string::npos);
  }
}

TEST_CASE("sizes: a reduce and a broadcast count the chunks of a Simple message by 512 KiB") {
  MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");
  const Runtime& rccl = *runtime_named("rccl");
  const auto chunks = [&](MscclCollective collective, Protocol protocol, int64_t chunk) {
    algorithm.collective = collective;
    algorithm.protocol = protocol;
    return chunks_of_message(algorithm, rccl, Bytes(chunk));
  };
  CHECK(chunks(MscclCollective::AllReduce, Protocol::Simple, 1 << 18) == 8);
  CHECK(chunks(MscclCollective::Reduce, Protocol::Simple, 1 << 18) == 2);
  CHECK(chunks(MscclCollective::Broadcast, Protocol::Simple, 1 << 18) == 2);
  CHECK(chunks(MscclCollective::Broadcast, Protocol::LL, 1 << 12) == 4);
  // A piece of a larger chunk fills a slot too.
  algorithm.protocol = Protocol::Simple;
  CHECK(msccl_cut(algorithm, rccl, 1 << 19, Bytes(4)).elements == 1 << 19);
  CHECK(msccl_cut(algorithm, rccl, 1 << 19, Bytes(4)).chunks == 1);
}

/// Returns a request with RCCL's slots. RCCL refuses to run the fused steps of the files here.
ProofRequest slots_of_rccl() {
  ProofRequest request;
  request.runtime = runtime_named("rccl");
  return request;
}

/// Returns gpus around a ring that send messages of several chunks to the next gpu. The k-th
/// messages of all gpus have the same chunks. Each gpu sends and takes them in its own order, some
/// fused.
AlgoText random_exchange() {
  const int gpus = in_range(2, 4);
  const int messages = in_range(1, 5);
  std::vector<int> counts;
  std::vector<int> first = {0};
  for (int m = 0; m < messages; ++m) {
    counts.push_back(in_range(1, 6));
    first.push_back(first.back() + counts.back());
  }
  AlgoText algo;
  algo.coll = "allreduce";
  algo.protocol = "LL";
  algo.chunks = first.back();
  algo.input = first.back();
  algo.output = 0;
  for (int g = 0; g < gpus; ++g) {
    std::vector<std::string> steps;
    const auto add = [&](const char* type, int message) {
      const std::string at = "i" + std::to_string(first[static_cast<size_t>(message)]);
      steps.push_back(StepText{static_cast<int>(steps.size()), type, at, at,
                               counts[static_cast<size_t>(message)]}
                          .text());
    };
    int sent = 0;
    int taken = 0;
    while (sent < messages || taken < messages) {
      const bool fuses = any_bool() && sent == taken;
      const bool sends = taken == messages || (any_bool() && sent < messages);
      if (fuses)
        add("rcs", (++taken, sent++));
      else if (sends)
        add("s", sent++);
      else
        add("r", taken++);
    }
    algo.gpus.push_back(BlockText{0, (g + 1) % gpus, (g + gpus - 1) % gpus, steps}.text());
  }
  return algo;
}

TEST_CASE("sizes: larger sizes need as many slots or more, and every size at most the worst") {
  holds_for_all("exchanges around rings", [] {
    const AlgoText algo = random_exchange();
    const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
    const std::optional<uint32_t> worst = prove_algorithm(algorithm, slots_of_rccl()).least_slots;
    std::optional<uint32_t> smaller = 1;
    for (int64_t chunks = 6; chunks >= 1; --chunks) {
      ProofRequest request = slots_of_rccl();
      request.size = Bytes(algo.chunks * (16384 / chunks / 4 * 4));
      const auto at_size = prove_algorithm(algorithm, request).least_slots;
      RC_ASSERT(at_size.has_value() == worst.has_value());
      if (!worst)
        continue;
      RC_ASSERT(*at_size >= *smaller);
      RC_ASSERT(*at_size <= *worst);
      smaller = at_size;
    }
    RC_ASSERT(!worst || smaller == worst);  // messages of one chunk
  });
}

TEST_CASE(
    "sizes: those of a gather's file are of one gpu's part, and --size is of the whole buffer") {
  AlgoText algo = two_gather();
  algo.coll = "gather";
  algo.chunks = algo.input = 1;
  algo.sizes = R"( minBytes="8" maxBytes="12")";
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK(algorithm.whole() == 2);
  CHECK(algorithm.least_size == Bytes(16));
  CHECK(algorithm.most_size == Bytes(24));
  CHECK(notes(prove_algorithm(algorithm, {{}, Bytes(32)}))
            .find("32 B is more than the file is for: from 16 B to 24 B") != std::string::npos);
}

TEST_CASE("sizes: steps that race at one size may not at a smaller one") {
  // Gpu 1 sends each message back as it comes. Gpu 0 stores it two chunks further on. Unless all
  // chunks go in one message, gpu 0 may not have sent from there yet.
  AlgoText algo;
  algo.coll = "allreduce";
  algo.chunks = algo.input = 6;
  algo.output = 0;
  algo.scratch = 4;
  algo.gpus = {BlockText{0, 1, -1, {StepText{0, "s", "i0", "i0", 4}.text()}}.text() +
                   BlockText{1, -1, 1, {StepText{0, "r", "i2", "i2", 4}.text()}}.text(),
               BlockText{0, 0, 0, {StepText{0, "rcs", "s0", "s0", 4}.text()}}.text()};
  const auto judged = [&](const char* most) {
    algo.sizes = std::string(" minBytes=\"0\" maxBytes=\"") + most + "\"";
    return named(prove(algo, slots_of_rccl()), "RACE.FREE").message;
  };
  // Four chunks of 4 KiB fit in a slot.
  CHECK(judged("24576") ==
        "any two steps that touch the same elements are ordered at every size up to 24 KiB, with "
        "any number of slots");
  CHECK(judged("24582").find("and nothing orders the two (where a message has at most 3 chunks)") !=
        std::string::npos);
  CHECK(judged("0").find("and nothing orders the two (where a message has at most 1 chunk)") !=
        std::string::npos);
}

}  // namespace
}  // namespace orrery::test
