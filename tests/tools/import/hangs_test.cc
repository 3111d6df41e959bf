// Tests hangs of imported algorithms, by the rules of the runtimes, and the messages.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/tools/import/xml.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {

AlgorithmProof prove_in_slots(const AlgoText& algo, uint32_t slots = 2) {
  return prove_algorithm(read_msccl(algo.text(), "a.xml"), {slots});
}

AlgorithmProof prove_without_runtime(const AlgoText& algo) {
  ProofRequest request;
  request.runtime = runtime_named("none");
  return prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
}

Check hang_check(const AlgorithmProof& proof) {
  const auto found = std::find_if(proof.checks.begin(), proof.checks.end(),
                                  [](const Check& each) { return each.name == "DEADLOCK.FREE"; });
  REQUIRE(found != proof.checks.end());
  return *found;
}

std::string witness(const Check& check) {
  std::string text;
  for (const auto& [key, value] : check.witness)
    text += key + ": " + value + "\n";
  return text;
}

TEST_CASE("hangs: a ring all-gather of two chunks a gpu hangs with two slots, and needs three") {
  const AlgorithmProof proof = prove_in_slots(ring_gather(3, 2), 2);
  CHECK_FALSE(proof.holds);
  CHECK(proof.least_slots == 3);
  const Check check = hang_check(proof);
  CHECK(check.message == "hangs with 2 slots a connection at every size; it needs 3");
  CHECK(witness(check) ==
        "gpu 0 tb 0 chan 0 step 2 rcs line  6: waits for a slot that is held until gpu 1 tb 0 step "
        "2 (rcs, line 21) ends\n"
        "gpu 1 tb 0 chan 0 step 2 rcs line 21: waits for a slot that is held until gpu 2 tb 0 step "
        "2 (rcs, line 36) ends\n"
        "gpu 2 tb 0 chan 0 step 2 rcs line 36: waits for a slot that is held until gpu 0 tb 0 step "
        "2 (rcs, line 6) ends\n");
  CHECK(prove_in_slots(ring_gather(3, 2), 3).holds);
}

TEST_CASE("hangs: ring all-gathers need a slot more than a gpu has chunks") {
  for (int gpus = 3; gpus <= 5; ++gpus)
    for (int own = 1; own <= 4; ++own)
      CHECK(prove_in_slots(ring_gather(gpus, own)).least_slots == static_cast<uint32_t>(own) + 1);
}

TEST_CASE("hangs: a long cycle has eight rows, the last of which counts the others") {
  const Check check = hang_check(prove_in_slots(ring_gather(12, 1), 1));
  REQUIRE(check.witness.size() == 8);
  CHECK(check.witness[7] == std::pair<std::string, std::string>("...", "5 more"));
  CHECK(hang_check(prove_in_slots(ring_gather(8, 1), 1)).witness.size() == 8);
}

/// Returns a file in which gpu 0's block 1 waits for its block 0, which has the given steps.
AlgoText waiting(const std::vector<std::string>& steps, int on_step,
                 const std::vector<std::string>& before = {}) {
  AlgoText algo;
  algo.coll = "allreduce";
  algo.chunks = 1;
  algo.input = 1;
  algo.output = 0;
  algo.scratch = 4;
  std::vector<std::string> waits = before;
  waits.push_back(
      StepText{static_cast<int>(before.size()), "cpy", "s0", "s1", 1, 0, on_step}.text());
  algo.gpus = {BlockText{0, -1, -1, steps}.text() + BlockText{1, -1, -1, waits}.text()};
  return algo;
}

std::string copy(int number, bool sets_flag) {
  return StepText{number, "cpy", "i0", "s0", 1, -1, -1, sets_flag}.text();
}

std::optional<StepRef> ends_wait(const AlgoText& algo) {
  return read_msccl(algo.text(), "a.xml").steps[0][1].back().after;
}

TEST_CASE("hangs: a wait ends at the first step from the named one on that sets a flag") {
  const StepRef first{Node(0), Channel(0), 0};
  const StepRef last{Node(0), Channel(0), 2};
  CHECK(ends_wait(waiting({copy(0, true), copy(1, false), copy(2, true)}, 0)) == first);
  CHECK(ends_wait(waiting({copy(0, true), copy(1, false), copy(2, true)}, 1)) == last);
  CHECK(ends_wait(waiting({copy(0, false), copy(1, false), copy(2, true)}, 0)) == last);
  CHECK(prove_in_slots(waiting({copy(0, false), copy(1, true)}, 0)).holds);
}

TEST_CASE("hangs: a wait for a step that sets no flag, with none after it, is for ever") {
  const AlgorithmProof proof = prove_in_slots(waiting({copy(0, true), copy(1, false)}, 1));
  CHECK_FALSE(proof.holds);
  CHECK_FALSE(proof.least_slots.has_value());
  CHECK(hang_check(proof).message ==
        "gpu 0 tb 1 step 0 (line 8) waits for tb 0 step 1 (line 5) for ever: neither that step nor "
        "a later one of its thread block sets a flag (hasdep=\"1\").");
}

TEST_CASE("hangs: a nop sets no flag, whatever its hasdep, and has a number only if it waits") {
  const std::string nop = StepText{1, "nop", "i0", "i0", 0}.text();
  // The nop waits for nothing: the last step has the number 1, and no step has the number 2.
  CHECK_FALSE(ends_wait(waiting({copy(0, true), nop, copy(2, true)}, 2)).has_value());
  CHECK(ends_wait(waiting({copy(0, true), nop, copy(2, true)}, 1)) ==
        StepRef{Node(0), Channel(0), 2});
  CHECK_FALSE(ends_wait(waiting({copy(0, true), nop}, 1)).has_value());
}

TEST_CASE("hangs: a wait for a step whose number or flag is another for a nop says so") {
  const std::string nop = StepText{1, "nop", "i0", "i0", 0}.text();
  CHECK(hang_check(prove_in_slots(waiting({copy(0, true), nop, copy(2, true)}, 2))).message ==
        "gpu 0 tb 1 step 0 (line 9) waits for tb 0 step 2 (line 6) for ever: step 2 (line 6) sets "
        "the flag 1: nops are counted where their waits are made, so not without one.");
  CHECK(hang_check(prove_in_slots(waiting({copy(0, true), nop}, 1))).message ==
        "gpu 0 tb 1 step 0 (line 8) waits for tb 0 step 1 (line 5) for ever: neither that step nor "
        "a later one of its thread block sets a flag (hasdep=\"1\"; a nop sets none).");
}

TEST_CASE("hangs: a row of a cycle names the step that ends a wait, and why it is another") {
  // Block 0 waits for block 1, which waits for number 1 of block 0. That is its step 2, after a
  // nop.
  AlgoText algo = waiting({}, 0);
  algo.gpus[0] = BlockText{0,
                           -1,
                           -1,
                           {StepText{0, "cpy", "i0", "s0", 1, 1, 0}.text(),
                            StepText{1, "nop", "i0", "i0", 0}.text(), copy(2, true)}}
                     .text() +
                 BlockText{1, -1, -1, {StepText{0, "cpy", "s0", "s1", 1, 0, 1}.text()}}.text();
  const Check check = hang_check(prove_in_slots(algo));
  REQUIRE(check.witness.size() == 2);
  CHECK(check.witness[0] ==
        std::pair<std::string, std::string>("gpu 0 tb 0 chan 0 step 0 cpy line 4",
                                            "waits for tb 1 step 0 (cpy, line 9)"));
  CHECK(check.witness[1].second ==
        "waits for tb 0 step 2 (cpy, line 6), the first that sets the flag 1 or more: it sets 1, "
        "as nops are counted where their waits are made; that thread block is at step 0");
}

TEST_CASE("hangs: a wait within a thread block needs a flag between the two") {
  const auto own = [](int on, bool first_sets) {
    AlgoText algo = waiting({copy(0, true)}, 0);
    algo.gpus[0] =
        BlockText{0, -1, -1, {copy(0, first_sets), StepText{1, "cpy", "i0", "s0", 1, 0, on}.text()}}
            .text();
    return algo;
  };
  CHECK(prove_in_slots(own(0, true)).holds);
  CHECK(hang_check(prove_in_slots(own(0, false))).message ==
        "gpu 0 tb 0 step 1 (line 5) waits for tb 0 step 0 (line 4) for ever: no step between the "
        "two sets a flag (hasdep=\"1\").");
  CHECK(hang_check(prove_in_slots(own(1, true))).message ==
        "gpu 0 tb 0 step 1 (line 5) waits for tb 0 step 1 (line 5) for ever: it is in the same "
        "thread block, and no earlier.");
}

TEST_CASE("hangs: the waits of nops are taken over by the next step, which must wait itself") {
  const auto nop = [](int number) { return StepText{number, "nop", "i0", "i0", 0, 0, 0}.text(); };
  // There are two waits, and the copy's own wait closes the second.
  CHECK(prove_in_slots(waiting({copy(0, true)}, 0, {nop(0), nop(1)})).holds);
  AlgoText open = waiting({copy(0, true)}, 0);
  open.gpus[0] = BlockText{0, -1, -1, {copy(0, true)}}.text() +
                 BlockText{1, -1, -1, {nop(0), copy(1, true)}}.text();
  const AlgorithmProof refused = prove_in_slots(open);
  CHECK(refused.checks[0].name == "RUNTIME.LIMITS");
  CHECK(witness(refused.checks[0]) ==
        "depid: gpu 0 tb 1 step 1 (line 8) has no wait, and the nop on line 7 before it waits\n");
  CHECK(hang_check(refused).holds());
}

TEST_CASE("hangs: without a runtime a nop waits where it is, whatever follows it") {
  const std::string nop = StepText{0, "nop", "i0", "i0", 0, 0, 1}.text();
  // Both thread blocks write chunk 0 of s; the nop orders them.
  const std::string second = StepText{1, "cpy", "i0", "s0"}.text();
  AlgoText open = waiting({copy(0, true), copy(1, true)}, 0);
  open.gpus[0] = BlockText{0, -1, -1, {copy(0, true), copy(1, true)}}.text() +
                 BlockText{1, -1, -1, {nop, second}}.text();
  CHECK(prove_without_runtime(open).holds);
  // Now the nop waits for a flag that no step sets.
  open.gpus[0] = BlockText{0, -1, -1, {copy(0, true), copy(1, false)}}.text() +
                 BlockText{1, -1, -1, {nop, second}}.text();
  CHECK(hang_check(prove_without_runtime(open)).message ==
        "gpu 0 tb 1 step 0 (line 8) waits for tb 0 step 1 (line 5) for ever: neither that step nor "
        "a later one of its thread block sets a flag (hasdep=\"1\").");
}

/// Returns thread blocks that end with a nop that waits for a step of the other block.
AlgoText last_nops(bool sets_flags) {
  AlgoText algo = waiting({}, 0);
  const auto block = [&](int id) {
    return BlockText{
        id,
        -1,
        -1,
        {StepText{0, "cpy", "i0", "s" + std::to_string(id), 1, -1, -1, sets_flags}.text(),
         StepText{1, "nop", "i0", "i0", 0, 1 - id, 0, false}.text()}}
        .text();
  };
  algo.gpus[0] = block(0) + block(1);
  return algo;
}

TEST_CASE("hangs: the wait of a last nop is made without a runtime") {
  CHECK(prove_without_runtime(last_nops(true)).holds);
  const AlgorithmProof proof = prove_without_runtime(last_nops(false));
  CHECK_FALSE(proof.holds);
  CHECK(std::count_if(proof.checks.begin(), proof.checks.end(),
                      [](const Check& each) { return !each.holds(); }) == 2);
  CHECK(hang_check(proof).message ==
        "gpu 0 tb 0 step 1 (line 5) waits for tb 1 step 0 (line 8) for ever: neither that step nor "
        "a later one of its thread block sets a flag (hasdep=\"1\").");
  CHECK(proof.notes.size() == 2);  // uncut messages, and the slots
}

TEST_CASE("hangs: runtimes do not make the wait of a last nop, which is said") {
  const AlgorithmProof proof = prove_in_slots(last_nops(false));
  CHECK(hang_check(proof).holds());
  CHECK(
      std::count(proof.notes.begin(), proof.notes.end(),
                 "gpu 0 tb 0 step 1 (nop, line 5) waits, and no step of its thread block follows: "
                 "rccl does not make its wait; so with 1 other nop") == 1);
}

TEST_CASE("hangs: a nop within a chain of re waits after the chain, with the next step") {
  const auto re = [](int number, const char* source, bool sets_flag) {
    return StepText{number, "re", source, "s0", 1, -1, -1, sets_flag}.text();
  };
  const std::string waits = StepText{1, "nop", "i0", "i0", 0, 1, 0}.text();
  // Block 1 waits for the chain. If the nop's wait came before the end of the chain, both would
  // wait.
  AlgoText algo = waiting({}, 0);
  algo.chunks = algo.input = 2;
  const std::string other =
      BlockText{1, -1, -1, {StepText{0, "cpy", "s0", "s1", 1, 0, 1}.text()}}.text();
  const std::string last = StepText{3, "cpy", "i0", "s2", 1, 1, 0}.text();
  algo.gpus[0] =
      BlockText{0, -1, -1, {re(0, "i0", false), waits, re(2, "i1", true), last}}.text() + other;
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK(algorithm.hangs.empty());
  CHECK(algorithm.text({Node(0), Channel(0), 1}).number == 2);
  CHECK(algorithm.text({Node(0), Channel(0), 2}).type == "nop");
  CHECK(algorithm.steps[0][1][0].after == StepRef{Node(0), Channel(0), 1});
  CHECK(hang_check(prove_in_slots(algo)).holds());
  // Nothing takes over the nop's wait if the next step has no wait.
  algo.gpus[0] =
      BlockText{0, -1, -1, {re(0, "i0", false), waits, re(2, "i1", true), copy(3, true)}}.text() +
      other;
  CHECK(witness(prove_in_slots(algo).checks[0]) ==
        "depid: gpu 0 tb 0 step 3 (line 7) has no wait, and the nop on line 5 before it waits\n");
}

TEST_CASE("hangs: a receive that is gone is a hang, with both counts and the side that differs") {
  // Gpu 1 no longer takes its last message.
  AlgoText algo = ring_gather(4, 1);
  const std::string last = StepText{3, "r", "o2", "o2"}.text() + "\n";
  algo.gpus[1].erase(algo.gpus[1].find(last), last.size());
  const AlgorithmProof proof = prove_in_slots(algo);
  CHECK_FALSE(proof.holds);
  const Check check = hang_check(proof);
  CHECK(check.message ==
        "On channel 0, gpu 0 tb 0 sends 3 messages to gpu 1, and gpu 1 tb 0 receives 2: what gpu 0 "
        "tb 0 step 2 (rcs, line 6) sends is never taken, and a later collective would take it for "
        "its own.");
  CHECK(witness(check) ==
        "connection: gpu 0 to gpu 1 on channel 0\n"
        "sends: 3 by gpu 0 tb 0\n"
        "receives: 2 by gpu 1 tb 0\n"
        "first without its other end: gpu 0 tb 0 step 2 (rcs, line 6)\n"
        "probably edited: gpu 1 tb 0: 3 of the other connections have 3 messages at both ends\n");
}

TEST_CASE("hangs: a send that is gone leaves its receiver waiting") {
  AlgoText algo = ring_gather(4, 1);
  const std::string first = StepText{0, "s", "i0", "o3"}.text();
  algo.gpus[3].replace(algo.gpus[3].find(first), first.size(),
                       StepText{0, "nop", "i0", "i0", 0}.text());
  const Check check = hang_check(prove_in_slots(algo));
  CHECK(check.message ==
        "On channel 0, gpu 3 tb 0 sends 2 messages to gpu 0, and gpu 0 tb 0 receives 3: gpu 0 tb 0 "
        "step 3 (r, line 7) waits for ever.");
  CHECK(check.witness.back().second.starts_with("gpu 3 tb 0: 3 of the other connections"));
}

TEST_CASE("hangs: the side that lost its only step is named by its thread block") {
  AlgoText algo = two_gather();
  algo.gpus[1] = BlockText{3, 0, 0, {StepText{0, "r", "o0", "o0"}.text()}}.text();
  const Check check = hang_check(prove_in_slots(algo));
  CHECK(check.message ==
        "On channel 0, gpu 1 tb 3 sends 0 messages to gpu 0, and gpu 0 tb 0 receives 1: gpu 0 tb 0 "
        "step 1 (r, line 5) waits for ever.");
}

TEST_CASE("hangs: without other connections to compare with, no side is named") {
  AlgoText algo = two_gather();
  algo.gpus[0] = BlockText{0, 1, 1, {StepText{0, "s", "o0"}.text()}}.text();
  algo.gpus[1] = BlockText{0, 0, 0, {}}.text();
  CHECK(hang_check(prove_in_slots(algo)).witness.back().first == "first without its other end");
}

}  // namespace
}  // namespace orrery::test
