// Tests which check catches which planted error. The digest compares the steps that a walker ran
// with the schedule. Provenance compares the schedule with the definition of the collective. Values
// catch both kinds of errors, but for one input only.

#include <utility>

#include <doctest/doctest.h>

#include "simulator/values/host_executor.h"
#include "simulator/values/host_visitor.h"
#include "simulator/values/provenance.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/simulator/values/made_pieces.h"
#include "tests/simulator/values/mutants.h"

namespace orrery::test {

namespace {

/// A `Sum` is a psum of s32[8] over 4 ranks. Element e of rank r is 100 (r + 1) + e, so all
/// elements differ.
class Sum : public HostRig {
 public:
  Sum() : HostRig({{"x", 4}}) {
    std::vector<Tensor> tensors;
    for (double rank = 0; rank < 4; ++rank) {
      Numbers numbers;
      for (double e = 0; e < 8; ++e)
        numbers.push_back(100 * (rank + 1) + e);
      tensors.push_back(tensor(Dtype::S32, {8}, numbers));
    }
    argument("a", std::move(tensors));
    op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
    lower();
  }

  /// Returns whether every rank has the result 1000 + 4e.
  bool right(const DeviceValues& values) const {
    for (uint32_t d = 0; d < 4; ++d)
      if (numbers(values.at(value("s"), LogicalId(d)).value()) !=
          Numbers{1000, 1004, 1008, 1012, 1016, 1020, 1024, 1028})
        return false;
    return true;
  }
};

/// `Caught` says which checks fail.
struct Caught {
  bool by_digest = false;
  bool by_provenance = false;
  bool by_values = false;
  friend bool operator==(const Caught&, const Caught&) = default;
};

/// Runs `mutant` by the host executor, while the other executors have the right ring.
Caught caught(const StoredSchedule& mutant) {
  Sum rig;
  const Digest of_the_others = rig.digest().halves;
  rig.lowered.collectives[0].schedule = &mutant;
  const HostRun run = rig.run();
  REQUIRE(run.stop.finished());

  const ProvenanceRun proof =
      provenance(mutant, whole_areas(mutant.extent()), CollectiveId(0), kItem);
  bool proved =
      !proof.misread && proof.combines.size() == 1 && proof.combines.begin()->first == Combine::Add;
  for (const Pieces& pieces : proof.outputs)
    proved = proved && made(proof.folds, pieces) == MadePieces{{0, 8, false, {{Rank(0), 4, 0, 1}}}};
  return {!(run.digest.halves == of_the_others), !proved, !rig.right(run.values)};
}

TEST_CASE("planted schedule: the ring without errors passes every check") {
  CHECK(caught(right_ring()) == Caught{false, false, false});
}

TEST_CASE(
    "planted schedule: the in-place ring passes every check and leaves the operand unchanged") {
  CHECK(caught(ring_in_place()) == Caught{false, false, false});
  Sum rig;
  const StoredSchedule in_place = ring_in_place();
  rig.lowered.collectives[0].schedule = &in_place;
  CHECK(rig.values(rig.run(), "a")[1] == Numbers{200, 201, 202, 203, 204, 205, 206, 207});
}

TEST_CASE("planted schedule: a dropped contribution is caught by provenance and values") {
  CHECK(caught(dropped_contribution()) == Caught{false, true, true});
}

TEST_CASE("planted schedule: a dropped message is caught by all") {
  CHECK(caught(dropped_message()) == Caught{true, true, true});
}

TEST_CASE("planted schedule: a repeated contribution is caught by all") {
  CHECK(caught(repeated_contribution()) == Caught{true, true, true});
}

TEST_CASE("planted schedule: a shifted source is caught by provenance and values") {
  CHECK(caught(shifted_source()) == Caught{false, true, true});
}

TEST_CASE("planted schedule: a wrong peer is caught by provenance and values") {
  CHECK(caught(wrong_peer()) == Caught{false, true, true});
}

TEST_CASE("planted schedule: a wrong reduction is caught by provenance and values") {
  CHECK(caught(wrong_reduction()) == Caught{false, true, true});
}

TEST_CASE("planted schedule: equal inputs hide a shift from the values, but not from the proof") {
  Sum rig;
  const StoredSchedule mutant = shifted_source();
  rig.lowered.collectives[0].schedule = &mutant;
  for (uint32_t d = 0; d < 4; ++d)
    rig.arguments.at(rig.value("a"), LogicalId(d)) = tensor(Dtype::S32, {8}, Numbers(8, 1));
  const HostRun run = rig.run();
  CHECK(rig.values(run, "s").front() == Numbers(8, 4));
  const ProvenanceRun proof =
      provenance(mutant, whole_areas(mutant.extent()), CollectiveId(0), kItem);
  CHECK(made(proof.folds, proof.outputs.front()) !=
        MadePieces{{0, 8, false, {{Rank(0), 4, 0, 1}}}});
}

/// A `Planted` is an executor with a planted error. `Error` is called for every half instead of
/// running the half.
template <class Error>
class Planted {
 public:
  Planted(HostVisitor& right, Error error) : right_(right), error_(std::move(error)) {}

  void local(OpRun run, LogicalId device) { right_.local(run, device); }
  void issue(CollectiveRun run, Node node, OpRun by) { right_.issue(run, node, by); }
  void done(OpRun run, LogicalId device) { right_.done(run, device); }
  void enter(CollectiveRun run, Node node, OpRun by) { right_.enter(run, node, by); }
  void exit(CollectiveRun run, Node node, OpRun by) { right_.exit(run, node, by); }
  void receive(CollectiveRun run, StepRef ref, const Step& step) {
    error_(ref, Half::Receive, step,
           [&](StepRef at, const Step& does) { right_.receive(run, at, does); });
  }
  void send(CollectiveRun run, StepRef ref, const Step& step) {
    error_(ref, Half::Send, step,
           [&](StepRef at, const Step& does) { right_.send(run, at, does); });
  }

 private:
  HostVisitor& right_;
  Error error_;
};

struct Outcome {
  bool digest_agrees;
  bool values_right;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class Error>
Outcome with_executor(Error error) {
  Sum rig;
  HostVisitor right(rig.program, rig.lowered, rig.arguments);
  Planted<Error> visitor(right, std::move(error));
  REQUIRE(walk(rig.program, rig.lowered, visitor).finished());
  return {right.digest() == rig.digest(), rig.right(std::move(right).finish())};
}

TEST_CASE("planted executor: one that does every half passes") {
  CHECK(with_executor([](StepRef ref, Half, const Step& step, auto go_on) { go_on(ref, step); }) ==
        Outcome{true, true});
}

TEST_CASE("planted executor: one that skips a step is caught by the digest") {
  // It skips the last step of rank 1, which stores chunk 3.
  const auto skip = [](StepRef ref, Half, const Step& step, auto go_on) {
    if (!(ref.node == Node(1) && ref.index == 6))
      go_on(ref, step);
  };
  CHECK(with_executor(skip) == Outcome{false, false});
}

TEST_CASE("planted executor: one that repeats a send is caught by the digest, not by the values") {
  const auto repeat = [](StepRef ref, Half half, const Step& step, auto go_on) {
    go_on(ref, step);
    if (ref.node == Node(2) && ref.index == 0 && half == Half::Send)
      go_on(ref, step);
  };
  CHECK(with_executor(repeat) == Outcome{false, true});
}

/// Returns an executor that changes a step of rank 1 before it runs.
template <class Change>
auto changed(uint32_t index, Change change) {
  return [=](StepRef ref, Half, Step step, auto go_on) {
    if (ref.node == Node(1) && ref.index == index)
      change(step);
    go_on(ref, step);
  };
}

TEST_CASE("planted executor: one that takes a message without storing it is caught") {
  CHECK(with_executor(changed(6, [](Step& step) { step.target.reset(); })) ==
        Outcome{false, false});
}

TEST_CASE("planted executor: one that stores to another chunk is caught") {
  // The step stores to chunk 0 instead of chunk 3. Its send half would then send the old contents.
  CHECK(with_executor(changed(6, [](Step& step) { step.target->first = 0; })) ==
        Outcome{false, false});
}

TEST_CASE(
    "planted executor: one that reads elsewhere is caught by the digest alone where the "
    "elements are equal") {
  Sum rig;
  for (uint32_t d = 0; d < 4; ++d)
    rig.arguments.at(rig.value("a"), LogicalId(d)) = tensor(Dtype::S32, {8}, Numbers(8, 1));
  HostVisitor right(rig.program, rig.lowered, rig.arguments);
  Planted visitor(right, changed(1, [](Step& step) { step.source->first += 1; }));
  REQUIRE(walk(rig.program, rig.lowered, visitor).finished());
  CHECK(right.digest().halves == rig.digest().halves);
  CHECK_FALSE(right.digest() == rig.digest());
  CHECK(numbers(std::move(right).finish().at(rig.value("s"), LogicalId(0)).value()) ==
        Numbers(8, 4));
}

/// A `Forgetful` is an executor that runs every half, and then flips a bit of a result.
class Forgetful : public HostVisitor {
 public:
  explicit Forgetful(Sum& rig) : HostVisitor(rig.program, rig.lowered, rig.arguments), rig_(rig) {}

  DeviceValues finish() && {
    DeviceValues values = std::move(*this).HostVisitor::finish();
    values.at(rig_.value("s"), LogicalId(2))->bytes()[4] ^= std::byte{1};
    return values;
  }

 private:
  Sum& rig_;
};

TEST_CASE("planted executor: one whose digest is right, but not its result, is caught by values") {
  Sum rig;
  Forgetful visitor(rig);
  REQUIRE(walk(rig.program, rig.lowered, visitor).finished());
  CHECK(visitor.digest() == rig.digest());
  CHECK_FALSE(rig.right(std::move(visitor).finish()));
}

}  // namespace

}  // namespace orrery::test
