#pragma once

// An imported schedule with chunks of elements and with its messages cut to slots, computed from
// the steps in chunks. The interpreter runs all steps of all thread blocks once for each stretch
// of a chunk that fits a slot; one such pass is an iteration.

#include <vector>

#include "simulator/schedule/stored_schedule.h"

namespace orrery {

/// Step i of a channel is step i modulo its length, of iteration i divided by its length. Elements
/// of different iterations are different, in every area.
class CutSchedule final : public Schedule {
 public:
  using Message = StoredSchedule::Message;

  /// `steps` and `areas` are in chunks of `chunk` elements; an iteration covers `stretch` elements
  /// of each. Requires one iteration, or steps of one chunk, and less than 2^31 steps a channel.
  /// `messages` as for StoredSchedule. Throws Overflow where an area exceeds 64 bits.
  CutSchedule(Extent areas, const StoredSteps& steps, const std::vector<Message>& messages,
              int64_t chunk, int64_t stretch);

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override {
    return static_cast<uint32_t>(length(node, channel) * iterations_);
  }
  Step step(StepRef ref) const override;
  StepRef peer(StepRef ref, Half half) const override;
  std::optional<StepRef> takes_slot_of(StepRef ref) const override;
  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override;

  uint32_t iterations() const { return iterations_; }
  /// The step, in the first iteration, that this one repeats.
  StepRef within_iteration(StepRef ref) const {
    return {ref.node, ref.channel,
            static_cast<uint32_t>(ref.index % length(ref.node, ref.channel))};
  }

 private:
  struct Ends {
    StepRef sender;           // of the message it receives
    StepRef receiver;         // of the message it sends
    uint32_t connection = 0;  // on which it sends, and as which message of an iteration
    uint32_t order = 0;
  };

  uint64_t length(Node node, Channel channel) const {
    const auto& channels = steps_[node.index()];
    return channel.index() < channels.size() ? channels[channel.index()].size() : 0;
  }
  uint32_t iteration_of(StepRef ref) const {
    return static_cast<uint32_t>(ref.index / length(ref.node, ref.channel));
  }
  StepRef in_iteration(uint32_t iteration, StepRef ref) const {
    return {ref.node, ref.channel,
            static_cast<uint32_t>(iteration * length(ref.node, ref.channel) + ref.index)};
  }
  const Ends& ends(StepRef ref) const;
  void place(std::optional<Slice>& slice, uint32_t iteration) const;

  Extent extent_;
  std::vector<std::vector<std::vector<PackedStep>>> steps_;  // in chunks
  int64_t chunk_;
  int64_t stretch_;
  uint32_t iterations_ = 1;
  std::vector<std::vector<std::vector<Ends>>> ends_;
  std::vector<std::vector<StepRef>> received_;  // per connection: its messages' receivers, in order
};

}  // namespace orrery
