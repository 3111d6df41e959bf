#pragma once

// Bruck's all-gather and all-to-all (Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms
// for all-to-all communications in multiport message-passing systems", 1997). They take ceil(log2
// n) rounds for any number of ranks n, so they suit small messages.
//
// Times have a closed form if messages are not cut and have links of their own, and copies take no
// time. Let t be the transfer of a part. Both end after ceil(log2 n) latencies and the transfers:
//  - all-gather: (n-1) t, since in round k a message has min(2^k, n - 2^k) parts
//  - all-to-all: in round k, t for each distance below n whose bit k is set, so at most (n/2) t

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "simulator/algorithm/rounds.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// The ranks have parts of `part` elements. Part i of a rank's scratch area belongs to the rank i
/// further, so a rank's parts are rotated by its number.
///
///  - all-gather: in round k, rank r gets the parts from 2^k on. They are the parts from 0 on of
///    rank r + 2^k. At the end it copies all to their places in the output.
///  - all-to-all: a part that goes i ranks further makes a hop of 2^k in round k for each bit k
///    that is set in i. Before a round a rank copies the parts that hop into one message, from its
///    input or from where they arrived last. Each round has a place of its own for what arrives, in
///    scratch behind that of the message. At the end a rank copies all parts to the output.
class BruckSchedule final : public ShiftedRounds {
 public:
  enum class Form : uint8_t { AllGather, AllToAll };

  BruckSchedule(Form form, uint32_t nodes, int64_t part, Transport transport)
      : ShiftedRounds(nodes, part, parts(form, nodes), shifts(form, nodes), nodes, Combine::None,
                      transport),
        form_(form) {}

  Step step(StepRef ref) const override {
    const At at = place_of(ref);
    if (at.does != Does::Copy)
      return message_step(ref, at);
    Step step;
    const bool at_end = at.round == rounds();
    if (form_ == Form::AllGather) {
      const uint32_t owner = ahead(ref.node, at.number).index();
      step.source = at_end && nodes() > 1 ? in_scratch(ref.channel, at.number)
                                          : in_area(Area::Input, ref.channel, 0);
      step.target =
          at_end ? in_area(Area::Output, ref.channel, owner) : in_scratch(ref.channel, at.number);
      return step;
    }
    if (at_end) {
      const uint32_t owner = behind(ref.node, at.number).index();
      step.source = arrived(ref, at.number);
      step.target = in_area(Area::Output, ref.channel, owner);
      return step;
    }
    const uint32_t distance = hopping(at.round, at.number);
    step.source = arrived(ref, distance & ((1U << at.round) - 1), distance);
    step.target = in_scratch(ref.channel, at.number);
    return step;
  }

 private:
  static uint32_t rounds_of(uint32_t nodes) {
    return static_cast<uint32_t>(std::bit_width(nodes - 1));
  }

  // The next functions are for an all-to-all.

  /// Returns how many distances below n have bit k set.
  static uint32_t count_hopping(uint32_t nodes, uint32_t k) {
    const uint32_t rest = nodes & ((2U << k) - 1);
    return (nodes >> (k + 1) << k) + (rest > (1U << k) ? rest - (1U << k) : 0);
  }
  /// Returns the distance of that number in round k; place() is the inverse.
  static uint32_t hopping(uint32_t k, uint32_t number) {
    return (number >> k << (k + 1)) | 1U << k | (number & ((1U << k) - 1));
  }
  static uint32_t place(uint32_t k, uint32_t distance) {
    return (distance >> (k + 1) << k) | (distance & ((1U << k) - 1));
  }
  /// Returns where in scratch begins what arrives in round k, in parts: behind the message, which
  /// has the most parts in round 0.
  static uint32_t arrivals(uint32_t nodes, uint32_t k) {
    uint32_t first = count_hopping(nodes, 0);
    for (uint32_t before = 0; before < k; ++before)
      first += count_hopping(nodes, before);
    return first;
  }
  /// Returns where the part of a distance is after the hops of the bits in `hops`.
  Slice arrived(StepRef ref, uint32_t hops, uint32_t distance) const {
    if (hops == 0)
      return in_area(Area::Input, ref.channel, ahead(ref.node, distance).index());
    const auto last = static_cast<uint32_t>(std::bit_width(hops)) - 1;
    return in_scratch(ref.channel, arrivals(nodes(), last) + place(last, distance));
  }
  Slice arrived(StepRef ref, uint32_t distance) const { return arrived(ref, distance, distance); }

  static Parts parts(Form form, uint32_t nodes) {
    if (form == Form::AllGather)
      return {1, nodes, nodes > 1 ? nodes : 0};
    return {nodes, nodes, nodes > 1 ? arrivals(nodes, rounds_of(nodes)) : 0};
  }

  static std::vector<Shift> shifts(Form form, uint32_t nodes) {
    std::vector<Shift> shifts;
    for (uint32_t k = 0; k < rounds_of(nodes); ++k) {
      const uint32_t hop = 1U << k;
      if (form == Form::AllGather) {
        shifts.push_back({nodes - hop, {{0, hop, std::min(hop, nodes - hop)}}, k == 0 ? 1U : 0U});
      } else {
        const uint32_t count = count_hopping(nodes, k);
        shifts.push_back({hop, {{0, arrivals(nodes, k), count}}, count});
      }
    }
    return shifts;
  }

  Form form_;
};

}  // namespace orrery
