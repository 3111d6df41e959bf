#pragma once

// PAT, parallel aggregated trees, the all-gather and reduce-scatter of NCCL 2.23 (Jeaugey, "PAT: a
// new algorithm for all-gather and reduce-scatter operations at scale", 2025): Bruck's rounds in
// the reverse order of distances. Each part goes along a binomial tree, and in a round the parts of
// all trees that go the same way are sent together. The furthest ranks exchange the fewest bytes:
// one part, while neighbours exchange half of all parts.
//
// Let K be ceil(log2 n).
//  - all-gather: the rounds have the distances 2^(K-1), ..., 2, 1
//  - reduce-scatter: they have the distances 1, 2, ..., 2^(K-1), and partial sums are sent
//
// Times have a closed form if messages are not cut and have links of their own, copies and
// reductions take no time, and there are two slots or more. Let t be the transfer of a part. Both
// end after K latencies and n-1 times t, since the round of distance d moves ceil(n/d) - ceil(n/2d)
// parts.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/array/combine.h"
#include "simulator/algorithm/rounds.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// This is the logarithmic form of PAT, whose rounds aggregate all parts. NCCL's also bounds the
/// buffers: where parts are large it aggregates fewer, and walks the trees depth first, so that
/// log2 n buffers suffice. Here a rank has a place in scratch for each of the n parts, and copies
/// the result from there, or the operand to there.
///
/// Part d of rank r is that of rank r - d in an all-gather, and what it has of the sum for rank
/// r + d in a reduce-scatter. In the round of distance D, parts d and d + D meet, where d is a
/// multiple of 2D and d + D < n. Parts lie in scratch in the order in which an all-gather gets
/// them. So those that have arrived before the round of D are the first ones, and those that arrive
/// in it follow. Only the last multiple of 2D below n may have no partner. It divides the others
/// into two runs, so a round may have two messages.
class PatSchedule final : public ShiftedRounds {
 public:
  /// A rank has a part of `part` elements, of the operand if `combine` is None (an all-gather),
  /// else of the result.
  PatSchedule(uint32_t nodes, int64_t part, Combine combine, Transport transport)
      : PatSchedule(nodes, part, combine, transport, plan(nodes, combine)) {}

  Step step(StepRef ref) const override {
    const At at = place_of(ref);
    const bool reduces = combine() != Combine::None;
    Step step;
    if (at.does != Does::Copy) {
      step = message_step(ref, at);
      if (reduces && at.does == Does::Receive && at.round + 1 == rounds())
        step.target = message_of(in_area(Area::Output, ref.channel, 0), largest(), at.number);
      return step;
    }
    if (nodes() == 1) {
      step.source = in_area(Area::Input, ref.channel, 0);
      step.target = in_area(Area::Output, ref.channel, 0);
    } else if (reduces) {
      const uint32_t owner = ahead(ref.node, order_[at.number]).index();
      step.source = in_area(Area::Input, ref.channel, owner);
      step.target = in_scratch(ref.channel, at.number);
    } else if (at.round == 0) {
      step.source = in_area(Area::Input, ref.channel, 0);
      step.target = in_scratch(ref.channel, 0);
    } else {
      const uint32_t owner = behind(ref.node, order_[at.number]).index();
      step.source = in_scratch(ref.channel, at.number);
      step.target = in_area(Area::Output, ref.channel, owner);
    }
    return step;
  }

 private:
  struct Plan {
    std::vector<Shift> shifts;
    std::vector<uint32_t> order;  // the parts, by their places in scratch
  };

  PatSchedule(uint32_t nodes, int64_t part, Combine combine, Transport transport, Plan plan)
      : ShiftedRounds(nodes, part, parts(nodes, combine), std::move(plan.shifts),
                      nodes == 1 || combine == Combine::None ? nodes : 0, combine, transport),
        order_(std::move(plan.order)) {}

  static Parts parts(uint32_t nodes, Combine combine) {
    const bool reduces = combine != Combine::None;
    return {reduces ? nodes : 1, reduces ? 1 : nodes, nodes > 1 ? nodes : 0};
  }

  /// Returns the rounds in their order, with the runs that they send and where these arrive.
  static Plan plan(uint32_t nodes, Combine combine) {
    Plan plan;
    plan.order.push_back(0);
    for (uint32_t distance = std::bit_ceil(nodes) / 2; distance > 0; distance /= 2) {
      Shift shift{distance, {}, 0};
      const auto held = static_cast<uint32_t>(plan.order.size());
      uint32_t first = 0;  // of the run
      for (uint32_t place = 0; place <= held; ++place) {
        const bool goes = place < held && plan.order[place] + distance < nodes;
        if (goes) {
          plan.order.push_back(plan.order[place] + distance);
          continue;
        }
        if (const uint32_t count = place - first; count > 0)
          shift.runs.push_back({first, static_cast<uint32_t>(plan.order.size()) - count, count});
        first = place + 1;
      }
      plan.shifts.push_back(std::move(shift));
    }
    if (combine != Combine::None) {
      std::reverse(plan.shifts.begin(), plan.shifts.end());
      for (Shift& shift : plan.shifts)
        for (Run& run : shift.runs)
          std::swap(run.sent, run.taken);
    }
    if (!plan.shifts.empty())
      plan.shifts.front().copies = combine == Combine::None ? 1 : nodes;
    return plan;
  }

  std::vector<uint32_t> order_;
};

}  // namespace orrery
