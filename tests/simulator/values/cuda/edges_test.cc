// Tests that every cause is an edge of the graph. With one cause left out, some order of the ready
// nodes must give other values than the host's.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "simulator/values/host_executor.h"
#include "tests/models/array/random_tensors.h"
#include "tests/simulator/values/cuda/mock_rig.h"
#include "tests/simulator/values/host_rig.h"

namespace orrery::test {

namespace {

constexpr uint64_t kOrders = 100;  // within which an omission must be found

void give_operand(HostRig& rig, int64_t elements, size_t devices) {
  Random random(7);
  std::vector<Tensor> tensors;
  for (size_t d = 0; d < devices; ++d)
    tensors.push_back(random_normalish(Dtype::S32, Shape{elements}, random));
  rig.argument("a", std::move(tensors));
}

/// `Found` is the number of causes of a kind, and the numbers of those whose omission no order
/// shows.
struct Found {
  uint64_t causes = 0;
  std::vector<uint64_t> not_found;
};

Found omit_each(HostRig& rig, cuda::EdgeKind kind) {
  rig.lower();
  const OnGpus run{rig.program, rig.lowered, rig.arguments};
  REQUIRE(wrong_on_mock(run, 3) == "");
  const HostRun host = execute(rig.program, rig.lowered, rig.arguments);
  Found found;
  found.causes = run_on_mock(run, 1).causes[static_cast<size_t>(kind)];
  for (uint64_t number = 0; number < found.causes; ++number) {
    bool differs = false;
    for (uint64_t order = 1; order <= kOrders && !differs; ++order) {
      cuda::ExecutorOptions options;
      options.omitted_cause = cuda::OmittedCause{kind, number};
      differs = !first_difference(rig.program, host.values, run_on_mock(run, order, options).values)
                     .empty();
    }
    if (!differs)
      found.not_found.push_back(number);
  }
  return found;
}

TEST_CASE("GPUs: a message that is not waited for is found") {
  HostRig rig({{"x", 3}});
  give_operand(rig, 3, 3);
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  // In a ring of n ranks, each rank sends 2(n - 1) messages: 12 in all.
  const Found found = omit_each(rig, cuda::EdgeKind::Message);
  CHECK(found.causes == 12);
  CHECK(found.not_found == std::vector<uint64_t>());
}

TEST_CASE("GPUs: an op that does not wait for the one before it on its list is found") {
  HostRig rig({{"x", 1}});
  give_operand(rig, 4, 1);
  // Each op reads the result of the one before.
  rig.op("neg", "b", {"a"});
  rig.op("add", "c", {"b", "a"});
  rig.op("mul", "d", {"c", "b"});
  const Found found = omit_each(rig, cuda::EdgeKind::List);
  CHECK(found.causes == 2);
  CHECK(found.not_found == std::vector<uint64_t>());
}

TEST_CASE("GPUs: an op that does not wait for the end of a started collective is found") {
  HostRig rig({{"x", 2}});
  give_operand(rig, 4, 2);
  rig.op("psum_start", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  rig.op("done", "t", {"s"});
  rig.op("neg", "u", {"t"});
  // On each device there are four causes: the start is entered after it is reached; the done comes
  // after the start and waits for the end; neg comes after the done.
  const Found found = omit_each(rig, cuda::EdgeKind::List);
  CHECK(found.causes == 2 * 4);
  // Nothing comes before the start, so the causes that name it have no nodes: two per device. The
  // others are the end and the passing of the done.
  CHECK(found.not_found.size() == 2 * 2);
}

TEST_CASE("GPUs: a message into a slot that is not free yet is found") {
  HostRig rig({{"x", 3}});
  give_operand(rig, 3, 3);
  rig.op("psum", "s", {"a"},
         {{"axis_name", Names{"x"}}, {"slots", int64_t{2}}, {"algorithm", std::string("ring")}});
  // Each rank gets 4 messages; all but the first two wait for a slot.
  const Found found = omit_each(rig, cuda::EdgeKind::Credit);
  CHECK(found.causes == 6);
  CHECK(found.not_found == std::vector<uint64_t>());
}

TEST_CASE("GPUs: a step that does not wait for its own rank's entry is found") {
  HostRig rig({{"x", 3}});
  give_operand(rig, 3, 3);
  rig.op("neg", "b", {"a"});
  rig.op("psum", "s", {"b"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  // The first step of each rank sends the result of neg.
  const Found found = omit_each(rig, cuda::EdgeKind::Enter);
  CHECK(found.causes == 3);
  CHECK(found.not_found == std::vector<uint64_t>());
}

TEST_CASE("GPUs: what follows a collective and does not wait for its last steps is found") {
  HostRig rig({{"x", 3}});
  give_operand(rig, 3, 3);
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  rig.op("neg", "t", {"s"});
  // The end of each rank has two causes: its entry, then the last half of its only channel. The
  // first cause is redundant, since the rank's steps have waited for its entry.
  const Found found = omit_each(rig, cuda::EdgeKind::End);
  CHECK(found.causes == 3 * 2);
  CHECK(found.not_found == std::vector<uint64_t>{0, 2, 4});
}

TEST_CASE("GPUs: a step that does not wait for the one before it in its channel is found") {
  HostRig rig({{"x", 3}});
  give_operand(rig, 3, 3);
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  const Found found = omit_each(rig, cuda::EdgeKind::Order);
  // A rank has 5 steps of 10 halves, with 9 causes between them. Three causes say that a step sends
  // what it has received, and one that it has everything when the last step ends. The others order
  // accesses that may be to different memory.
  CHECK(found.causes == 3 * 9);
  CHECK(found.causes - found.not_found.size() >= 3 * 4);
}

TEST_CASE("GPUs: a step that does not wait for a step of another channel is found") {
  HostRig rig({{"x", 3}});
  give_operand(rig, 3, 3);
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("one_shot")}});
  const Found found = omit_each(rig, cuda::EdgeKind::After);
  // Each rank folds the messages from each of the two other ranks.
  CHECK(found.causes == 3 * 2);
  CHECK(found.not_found == std::vector<uint64_t>());
}

}  // namespace

}  // namespace orrery::test
