#pragma once

// A schedule whose messages are cut to slots as NCCL's loops do it: all steps run once for each
// stretch of elements that fits a slot. One such pass is an iteration.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/schedule/schedule.h"

namespace orrery {

/// Step i of a channel is step i modulo its length, of iteration i divided by its length. Iteration
/// k does the k-th `stretch` elements of each slice of `whole`.
///
/// Slices of `whole` that share elements must begin and end together, and no copy may be larger
/// than the largest message. Then each element is in the same iteration in all its steps,
/// iterations share no elements, and a schedule that ends and is proved does so when it is cut,
/// with the same folds. A step whose slice is done sends empty messages in the iterations that are
/// left.
class SlicedSchedule final : public Schedule {
 public:
  /// Visits all steps. Requires iterations_for() x steps of a channel < 2^31.
  SlicedSchedule(std::unique_ptr<const Schedule> whole, int64_t stretch);

  /// How many iterations the largest message needs; at least 1.
  static int64_t iterations_for(const Schedule& whole, int64_t stretch);

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override {
    return whole_->steps(node, channel) * iterations_;
  }
  Step step(StepRef ref) const override;
  StepRef peer(StepRef ref, Half half) const override;
  std::optional<StepRef> takes_slot_of(StepRef ref) const override;
  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override;

  int64_t largest_message() const override { return std::min(whole_->largest_message(), stretch_); }

  uint32_t iterations() const { return iterations_; }
  int64_t stretch() const { return stretch_; }
  const Schedule& whole() const { return *whole_; }
  /// The step of `whole` that this one repeats.
  StepRef within_iteration(StepRef ref) const {
    return {ref.node, ref.channel, ref.index % whole_->steps(ref.node, ref.channel)};
  }

 private:
  /// The messages of a connection in one iteration. Not remembered where each has one.
  struct Connection {
    uint32_t messages = 0;
    /// The receivers of the last `slots` messages; that of message m is at m modulo `slots`.
    std::vector<StepRef> receivers;
  };
  /// One of the first `slots` messages of a connection: its slot was used in an earlier iteration.
  struct First {
    uint32_t step = 0;  // of its channel
    uint32_t connection = 0;
    uint32_t message = 0;
  };

  /// The receiver of the message whose slot it was, and how many iterations before.
  struct SlotUser {
    uint32_t iterations_before;
    StepRef receiver;
  };

  uint32_t iteration_of(StepRef ref) const {
    return ref.index / whole_->steps(ref.node, ref.channel);
  }
  StepRef in_iteration(uint32_t iteration, StepRef ref) const {
    return {ref.node, ref.channel, iteration * whole_->steps(ref.node, ref.channel) + ref.index};
  }
  void visit_steps();
  void remember(std::map<std::pair<Node, Channel>, uint32_t>& known, StepRef sender,
                StepRef receiver);
  void find_window();
  uint32_t find_lookback() const;
  /// Of a message that is among the first `slots` of its connection.
  SlotUser slot_user(StepRef within) const;
  void place(std::optional<Slice>& slice, uint32_t iteration) const;

  std::unique_ptr<const Schedule> whole_;
  int64_t stretch_;
  uint32_t iterations_;
  Extent extent_;
  uint64_t longest_ = 0;             // steps of a channel of `whole`
  bool waits_for_channels_ = false;  // some step is `after` one of another channel
  std::vector<Connection> connections_;
  std::vector<First> firsts_;         // by channel, then by step
  std::vector<size_t> first_begins_;  // per channel number, and one more
};

}  // namespace orrery
