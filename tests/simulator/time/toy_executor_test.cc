// This is a whole executor in a few lines: it counts the bytes that each link carries. It is told
// when a half runs and what the half does, and states no rule of its own. The test compares the
// count with the demand that is worked out from the schedules alone.

#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/schedule/walk.h"
#include "tests/simulator/time/random_sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

class BytesPerLink : public NoVisitor {
 public:
  BytesPerLink(const Lowered& lowered, Paths& paths)
      : lowered_(lowered), paths_(paths), bytes_(paths.fabric().count_links()) {}

  void receive(CollectiveRun of, StepRef ref, const Step& step) {
    run(of.collective, ref, Half::Receive, step);
  }
  void send(CollectiveRun of, StepRef ref, const Step& step) {
    run(of.collective, ref, Half::Send, step);
  }

  const std::vector<Bytes>& bytes() const { return bytes_; }

 private:
  void run(CollectiveId id, StepRef ref, Half half, const Step& step) {
    for_each_action(step.form(), half, [&](Action action) {
      if (action.kind == ActionKind::Emit)
        count(lowered_.collective(id), ref, *step.to, step.count());
    });
  }

  void count(const Collective& collective, StepRef from, Node to, int64_t elements) {
    const Path& path = paths_.between(collective.vertices[from.node.index()],
                                      collective.vertices[to.index()], from.channel.index());
    for (const LinkId link : path.links)
      bytes_[link.index()] += itemsize(collective.work) * elements;
  }

  const Lowered& lowered_;
  Paths& paths_;
  std::vector<Bytes> bytes_;
};

TEST_CASE("a toy executor counts the bytes of each link of 200 random programs") {
  Random random(11);
  for (uint64_t compared = 0; compared < tries(200);) {
    const RandomSketch program = random_sketch(random, {});
    if (!ends(program.sketch))
      continue;
    Paths paths(program.fabric);
    BytesPerLink toy(program.sketch.lowered, paths);
    REQUIRE(walk(program.sketch.program, program.sketch.lowered, toy).finished());
    const Demands asked = demands(program.sketch.lowered, paths);
    for (size_t l = 0; l < toy.bytes().size(); ++l)
      REQUIRE(Int128{toy.bytes()[l].count()} == asked.links[l].bytes);
    ++compared;
  }
}

}  // namespace
}  // namespace orrery::test
