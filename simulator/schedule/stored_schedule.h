#pragma once

// A schedule stored step by step: for imported algorithms, mutants and tests.

#include <vector>

#include "simulator/schedule/schedule.h"

namespace orrery {

/// Steps per node and channel.
using StoredSteps = std::vector<std::vector<std::vector<Step>>>;

class StoredSchedule final : public Schedule {
 public:
  /// One message: the step that sends it and the step that receives it.
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
