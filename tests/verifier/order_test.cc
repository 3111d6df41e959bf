// Compares the order check with its definition: two devices of two threads with the same two
// collectives on one stream must enter them in the same order.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/tries.h"
#include "verifier/check/checks.h"

namespace orrery {
namespace {

using test::HostRig;

/// Returns the shared collectives that a device enters on a stream, in order.
std::vector<CollectiveId> entered(const HostRig& rig, size_t thread, LogicalId device,
                                  StreamId stream) {
  std::vector<CollectiveId> result;
  for (const Instruction& instruction : rig.lowered.tapes[thread].instructions())
    if (instruction.kind == Instruction::Kind::Enter && instruction.stream == stream)
      result.push_back(rig.lowered.member(rig.program, instruction.op, device).collective);
  return result;
}

bool same_order(const std::vector<CollectiveId>& a, const std::vector<CollectiveId>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i + 1; j < a.size(); ++j) {
      const auto first = std::find(b.begin(), b.end(), a[i]);
      const auto second = std::find(b.begin(), b.end(), a[j]);
      if (first != b.end() && second != b.end() && second < first)
        return false;
    }
  }
  return true;
}

bool agreed(const HostRig& rig) {
  const std::vector<Thread>& threads = rig.program.threads;
  for (size_t a = 0; a < threads.size(); ++a)
    for (size_t b = a + 1; b < threads.size(); ++b)
      for (const LogicalId left : threads[a].devices)
        for (const LogicalId right : threads[b].devices)
          for (const size_t stream : {size_t{0}, size_t{1}})
            if (!same_order(entered(rig, a, left, StreamId(stream)),
                            entered(rig, b, right, StreamId(stream))))
              return false;
  return true;
}

/// Makes three threads on the columns of {y: 2, x: 3}, with the same sites in mostly the same
/// order. Over x a group has a device of each thread; over y it is in one thread.
void three_threads(HostRig& rig, Random& random) {
  struct Meeting {
    const char* name;
    const char* axis;
    int64_t stream;
  };
  const std::vector<Meeting> meetings = {
      {"p", "x", 0}, {"q", "x", 0}, {"r", "x", 0}, {"s", "x", 1}, {"t", "y", 0}};
  rig.argument("a", std::vector<test::Numbers>(6, test::Numbers{1}));
  for (uint32_t t = 0; t < 3; ++t) {
    rig.thread("t" + std::to_string(t), {LogicalId(t), LogicalId(t + 3)});
    std::vector<Meeting> order = meetings;
    if (random.below(3) == 0)
      std::swap(order[random.below(order.size())], order[random.below(order.size())]);
    for (const Meeting& meeting : order)
      rig.op("psum_start", meeting.name + std::to_string(t), {"a"},
             {{"axis_name", std::vector<std::string>{meeting.axis}}, {"stream", meeting.stream}},
             meeting.name);
  }
  rig.lower();
}

TEST_CASE("order: holds where no two devices disagree") {
  uint64_t disagreeing = 0;
  for (uint64_t seed = 0; seed < tries(300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    HostRig rig({{"y", 2}, {"x", 3}});
    three_threads(rig, random);
    const bool want = agreed(rig);
    disagreeing += want ? 0 : 1;
    CHECK(order_agreed(rig.program, rig.lowered).holds() == want);
  }
  CHECK(disagreeing > tries(50));
  CHECK(disagreeing < 250);
}

}  // namespace
}  // namespace orrery
