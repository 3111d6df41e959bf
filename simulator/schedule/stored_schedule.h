#pragma once

// A StoredSchedule is stored step by step. It serves imported algorithms, mutants and tests, and in
// place of schedules whose steps take long to work out.

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/schedule/actions.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// StoredSteps has the steps per node and channel.
using StoredSteps = std::vector<std::vector<std::vector<Step>>>;

/// A PackedStep is a step in 56 bytes without optional members. Members of parts that the step
/// lacks (their flag is not set) are 0. Areas and the reduction are enumerators of Area and Combine
/// as numbers.
struct PackedStep {
  static constexpr uint8_t kFrom = 1;
  static constexpr uint8_t kTo = 2;
  static constexpr uint8_t kSource = 4;
  static constexpr uint8_t kTarget = 8;
  static constexpr uint8_t kAfter = 16;

  int64_t source_first = 0;  // elements from the start of the area
  int64_t source_count = 0;
  int64_t target_first = 0;
  int64_t target_count = 0;
  uint32_t from = 0;  // nodes
  uint32_t to = 0;
  uint32_t after_channel = 0;  // of the same node
  uint32_t after_index = 0;
  uint8_t parts = 0;  // the flags above
  uint8_t combine = 0;
  uint8_t source_area = 0;
  uint8_t target_area = 0;

  friend bool operator==(const PackedStep&, const PackedStep&) = default;
  constexpr bool has(uint8_t part) const { return (parts & part) != 0; }
  constexpr StepForm form() const {
    return {has(kFrom), has(kTo), has(kSource), has(kTarget), combine != 0};
  }
};

PackedStep pack(const Step& step);
/// Returns the step. `node` is the node of the step, and so of the channel that `after` names.
Step unpack(const PackedStep& packed, Node node);

class StoredSchedule final : public Schedule {
 public:
  /// A Message names the step that sends it and the step that receives it.
  struct Message {
    StepRef send;
    StepRef receive;
  };

  /// `messages` has every sending step once and every receiving step once. Messages of one
  /// connection (a sending and a receiving channel) are in the order of their sends. Nodes,
  /// channels and window of `extent` are filled in from the steps; lockstep is off.
  StoredSchedule(Extent extent, const StoredSteps& steps, const std::vector<Message>& messages);
  /// Stores another schedule.
  explicit StoredSchedule(const Schedule& schedule);

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override;
  Step step(StepRef ref) const override;
  StepRef peer(StepRef ref, Half half) const override;
  std::optional<StepRef> takes_slot_of(StepRef ref) const override;
  int64_t largest_message() const override { return largest_message_; }

 private:
  struct Stored {
    PackedStep step;
    std::optional<StepRef> sender;     // of the message it receives
    std::optional<StepRef> receiver;   // of the message it sends
    std::optional<StepRef> slot_user;  // whose slot its message takes
  };
  Stored& at(StepRef ref) { return steps_[number_of(ref)]; }
  const Stored& at(StepRef ref) const { return steps_[number_of(ref)]; }
  size_t number_of(StepRef ref) const {
    return begins_[extent_.number_of(ref.node, ref.channel)] + ref.index;
  }
  void add(const Step& step);

  Extent extent_;
  std::vector<size_t> begins_ = {0};  // of the channels in `steps_`, and the end
  std::vector<Stored> steps_;         // by node, channel and index
  int64_t largest_message_ = 0;
};

}  // namespace orrery
