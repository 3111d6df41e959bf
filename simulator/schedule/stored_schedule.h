#pragma once

// A StoredSchedule is stored step by step. It serves imported algorithms, mutants and tests.

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

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override;
  Step step(StepRef ref) const override;
  StepRef peer(StepRef ref, Half half) const override;
  std::optional<StepRef> takes_slot_of(StepRef ref) const override;

 private:
  struct Ends {
    std::optional<StepRef> sender;     // of the message it receives
    std::optional<StepRef> receiver;   // of the message it sends
    std::optional<StepRef> slot_user;  // whose slot its message takes
  };

  Extent extent_;
  std::vector<std::vector<std::vector<PackedStep>>> steps_;
  std::vector<std::vector<std::vector<Ends>>> ends_;
};

}  // namespace orrery
