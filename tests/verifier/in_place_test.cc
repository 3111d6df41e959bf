// Tests which schedules may have their result in the operand's memory: those for which the same
// steps, with the input area for the output area, are proved.

#include <memory>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/algorithm/cut_made.h"
#include "tests/simulator/algorithm/some_op.h"
#include "tests/support/tries.h"
#include "verifier/prove/prove.h"

namespace orrery {
namespace {

/// An `InPlace` has the steps of another schedule, which must outlive it, in place.
class InPlace final : public Schedule {
 public:
  explicit InPlace(const Schedule& of) : of_(of), extent_(of.extent()) {
    extent_.in_place = true;
    extent_.output = 0;
  }

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override { return of_.steps(node, channel); }
  Step step(StepRef ref) const override { return of_.step(ref); }
  StepRef peer(StepRef ref, Half half) const override { return of_.peer(ref, half); }
  std::optional<StepRef> takes_slot_of(StepRef ref) const override {
    return of_.takes_slot_of(ref);
  }

 private:
  const Schedule& of_;
  Extent extent_;
};

TEST_CASE(
    "in place: all-reduces and broadcasts say so exactly where they are proved with one area") {
  size_t in_place = 0;
  uint64_t seed = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const OpKind kind : algorithm.kinds) {
      const std::vector<ValueType> one(1);
      if (rules(kind).memory(Attributes(), {}, one).results[0].alias != Alias::DyingOperand)
        continue;
      const uint32_t most = algorithm.is_for_topology != nullptr ? 10 : 17;  // stages take long
      for (uint32_t nodes = 1; nodes <= most; ++nodes) {
        for (uint32_t channels = 1; channels <= 3; ++channels) {
          if (!test::is_tried(++seed))
            continue;
          const Op op = test::some_op(kind, nodes);
          const int64_t elements = int64_t{nodes} * 4;
          Transport transport;
          transport.channels = channels;
          ScheduleRequest request = schedule_request(op, nodes, elements, transport);
          if (channels > 1)
            request.layout = test::some_layout(nodes);
          const std::unique_ptr<const Schedule> schedule =
              nodes % 2 == 0 ? test::cut_made(algorithm, request, 3) : algorithm.make(request);
          const View whole = View::whole(elements);
          const InPlace same(*schedule);
          const Proof proof = prove(trace(same, whole_areas(same.extent())), {whole, whole},
                                    [&](Rank rank) { return define(op, {elements}, nodes, rank); });
          INFO(fmt::format("{} for {} over {} ranks, {} channels: {}", algorithm.name,
                           rules(kind).name, nodes, channels, proof.why_not));
          CHECK(schedule->extent().works_in_place == proof.holds);
          in_place += proof.holds ? 1 : 0;
        }
      }
    }
  }
  CHECK(in_place > (test::is_all_tried() ? 100 : 1));
}

}  // namespace
}  // namespace orrery
