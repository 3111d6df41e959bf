#pragma once

// A SlicedSchedule is another schedule with its messages cut to slots, as NCCL's loops cut them:
// all steps run once for each stretch of elements that fits a slot. One such pass is an iteration.
//
// Where a library cuts messages, it also divides them over channels, many of which do the same.
// Bundles finds these, and CountedChannels is a schedule that has the first of them only.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "models/base/compiler.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// SlicedSchedule has the part that is the same for every class of `whole`, the schedule that is
/// cut. SlicedOver has the steps.
class SlicedSchedule : public Schedule {
 public:
  /// Returns how many iterations the largest message needs; at least 1.
  static int64_t iterations_for(const Schedule& whole, int64_t stretch);

  const Extent& extent() const override { return extent_; }
  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override;
  int64_t largest_message() const override { return std::min(whole_->largest_message(), stretch_); }

  uint32_t iterations() const { return iterations_; }
  /// Returns how many iterations, from the first on, have messages and copies of the same sizes.
  uint32_t alike_iterations() const { return alike_; }
  /// Returns how many iterations back the causes of a step reach, at most.
  uint32_t iterations_back() const { return back_; }
  /// Returns whether some step is `after` one of another channel. That one is in the same
  /// iteration, but its channel may be any number of iterations ahead.
  bool waits_for_channels() const { return waits_for_channels_; }
  /// Returns the steps of the channel in one iteration.
  ORRERY_ALWAYS_INLINE uint32_t length(Node node, Channel channel) const {
    return lengths_.empty() ? longest_ : lengths_[extent_.number_of(node, channel)];
  }
  int64_t stretch() const { return stretch_; }
  const Schedule& whole() const { return *whole_; }
  /// Returns whether the slices of `whole` are as SlicedOver requires: those that share elements
  /// begin and end together, and the slices of a step and of its message have one length. Then
  /// iterations share no elements. Each has all causes that `whole` has, and more for slots that
  /// an earlier iteration used. So if `whole` has the right result and no races, this has both too.
  bool keeps_elements_together() const;

 protected:
  /// A SlotUser is the receiver that used a slot before, and how many iterations before.
  struct SlotUser {
    uint32_t iterations_before;
    StepRef receiver;
  };

  /// Visits all steps. Requires iterations_for() x steps of a channel < 2^31.
  SlicedSchedule(std::unique_ptr<const Schedule> whole, int64_t stretch);

  /// Returns the previous user of the slot that the message of step `within` takes. Requires one of
  /// the first `slots` messages of its connection in an iteration.
  SlotUser slot_user(StepRef within) const;

 private:
  /// A Connection has the messages of a connection in one iteration. There are none if each
  /// connection carries one message.
  struct Connection {
    uint32_t messages = 0;
    /// The receivers of the last `slots` messages; that of message m is at m % `slots`.
    std::vector<StepRef> receivers;
  };
  /// A First is one of the first `slots` messages of a connection in an iteration. Its slot was
  /// used in an earlier iteration.
  struct First {
    uint32_t step = 0;  // of its channel
    uint32_t connection = 0;
    uint32_t message = 0;
  };

  void find_lengths();
  void visit_steps();
  void remember(std::map<std::pair<Node, Channel>, uint32_t>& known, StepRef sender,
                StepRef receiver);
  void find_window();
  uint32_t find_lookback() const;

  std::unique_ptr<const Schedule> whole_;
  int64_t stretch_;
  uint32_t iterations_;
  uint32_t alike_ = 0;
  uint32_t back_ = 1;
  Extent extent_;
  uint32_t longest_ = 0;             // steps of a channel of `whole`
  std::vector<uint32_t> lengths_;    // the same by channel number; empty if all are equal
  bool waits_for_channels_ = false;  // some step is `after` one of another channel
  std::vector<Connection> connections_;
  std::vector<First> firsts_;         // by channel, then by step
  std::vector<size_t> first_begins_;  // per channel number, and one more
};

/// FusedStepOf has the kind of fused steps if the class of `whole` states it (causes.h).
template <class Whole>
struct FusedStepOf {};
template <class Whole>
requires requires {
  Whole::kFused;
}
struct FusedStepOf<Whole> {
  static constexpr FusedStep kFused = Whole::kFused;
};

/// If a channel of `whole` has n steps, step i of the channel here is step i % n in iteration i /
/// n. Iteration k does the k-th `stretch` elements of each slice of `whole`. SlicedOver is a
/// template over the class of `whole`, so that the sweep of a ring makes no virtual call per step.
///
/// Slices of `whole` that share elements must begin and end together, and no copy may be larger
/// than the largest message. Then each element is in the same iteration in all its steps, and
/// iterations share no elements. So a schedule that ends also ends when it is cut, with the same
/// folds. A step whose slice is done sends empty messages in the remaining iterations.
template <class Whole = Schedule>
class SlicedOver final : public SlicedSchedule, public FusedStepOf<Whole> {
 public:
  /// Visits all steps. Requires iterations_for() x steps of a channel < 2^31.
  SlicedOver(std::unique_ptr<const Whole> whole, int64_t stretch)
      : SlicedSchedule(std::move(whole), stretch),
        whole_(static_cast<const Whole&>(SlicedSchedule::whole())) {}

  ORRERY_ALWAYS_INLINE uint32_t steps(Node node, Channel channel) const override {
    return length(node, channel) * iterations();
  }

  ORRERY_ALWAYS_INLINE Step step(StepRef ref) const override {
    const At at = place_of(ref);
    Step step = whole_.step(at.within);
    cut(step.source, at.iteration);
    cut(step.target, at.iteration);
    if (step.after)
      step.after = later(at.iteration, *step.after);
    return step;
  }

  ORRERY_ALWAYS_INLINE StepRef peer(StepRef ref, Half half) const override {
    const At at = place_of(ref);
    return later(at.iteration, whole_.peer(at.within, half));
  }

  ORRERY_ALWAYS_INLINE std::optional<StepRef> takes_slot_of(StepRef ref) const override {
    const At at = place_of(ref);
    if (const std::optional<StepRef> slot = whole_.takes_slot_of(at.within))
      return later(at.iteration, *slot);
    const SlotUser user = slot_user(at.within);
    if (user.iterations_before > at.iteration)
      return std::nullopt;
    return later(at.iteration - user.iterations_before, user.receiver);
  }

  /// Does the same as in_row() of `whole`, if it has one. All channels of `whole` are equally long.
  template <class Run>
  requires requires(const Whole& whole, Run&& run) { whole.in_row(Channel(), 0U, run); }
  ORRERY_ALWAYS_INLINE auto in_row(Channel channel, uint32_t row, Run&& run) const {
    return whole_.in_row(channel, row % whole_.steps(Node(0), Channel(0)), run);
  }

 private:
  struct At {
    uint32_t iteration;
    StepRef within;  // the step of `whole` that it repeats
  };

  ORRERY_ALWAYS_INLINE At place_of(StepRef ref) const {
    const uint32_t steps = length(ref.node, ref.channel);
    return {ref.index / steps, {ref.node, ref.channel, ref.index % steps}};
  }
  ORRERY_ALWAYS_INLINE StepRef later(uint32_t iterations, StepRef ref) const {
    return {ref.node, ref.channel, iterations * length(ref.node, ref.channel) + ref.index};
  }
  ORRERY_ALWAYS_INLINE void cut(std::optional<Slice>& slice, uint32_t iteration) const {
    if (!slice)
      return;
    const int64_t begin = std::min(slice->count, iteration * stretch());
    slice->first += begin;
    slice->count = std::min(slice->count - begin, stretch());
  }

  const Whole& whole_;
};

/// ChannelSets puts channels in sets. A set is named by its first channel.
class ChannelSets {
 public:
  explicit ChannelSets(uint32_t channels);
  void join(Channel a, Channel b);
  uint32_t of(Channel channel) const;

 private:
  std::vector<uint32_t> joined_to_;  // per channel: one of its set that is not after it
};

/// Bundles has the bundles of a schedule: the fewest channels, in order, without a cause in others.
/// A bundle that does what an earlier one does, on the same nodes, does not count: the earlier one
/// stands for it.
///
/// A bundle has parts: the smallest sets of channels that exchange messages only with each other.
/// Steps of a part may be `after` those of another one, which need not wait for this one.
class Bundles {
 public:
  /// Says how large the messages of a bundle may be that does what an earlier one does. If they are
  /// at most as large, it is never later than that one, since times only grow with the sizes.
  enum class Messages : uint8_t { AtMostAsLarge, AsLarge };

  /// Visits all steps. `whole` must outlive this object.
  Bundles(const Schedule& whole, Messages messages);

  bool counts(Channel channel) const { return counts_[channel.index()]; }
  bool all_count() const { return std::ranges::find(counts_, false) == counts_.end(); }
  /// Returns the channels that do what a channel that counts does, itself first.
  std::span<const Channel> alike(Channel channel) const { return alike_[channel.index()]; }
  uint32_t part_of(Channel channel) const { return parts_.of(channel); }
  /// Returns pairs of parts (first, then): some steps of `then` wait for steps of `first`.
  const std::set<std::pair<uint32_t, uint32_t>>& followed() const { return followed_; }

 private:
  template <class Visit>
  void for_each_step(Visit&& visit) const;
  uint64_t key_of(uint32_t bundle) const;
  bool is_like(uint32_t bundle, uint32_t earlier) const;
  bool are_alike(Node node, Channel channel, Channel earlier) const;

  const Schedule& whole_;
  const Extent& extent_;
  const Messages messages_;
  ChannelSets bundles_;
  ChannelSets parts_;
  std::set<std::pair<uint32_t, uint32_t>> followed_;
  std::vector<bool> counts_;                 // per channel
  std::vector<std::vector<Channel>> alike_;  // per channel; empty if it does not count
};

/// CountedChannels is a schedule without the steps of channels that do not count.
class CountedChannels final : public Schedule {
 public:
  CountedChannels(const Schedule& whole, const Bundles& bundles)
      : whole_(whole), bundles_(bundles) {}
  const Extent& extent() const override { return whole_.extent(); }
  uint32_t steps(Node node, Channel channel) const override {
    return bundles_.counts(channel) ? whole_.steps(node, channel) : 0;
  }
  Step step(StepRef ref) const override { return whole_.step(ref); }
  StepRef peer(StepRef ref, Half half) const override { return whole_.peer(ref, half); }
  std::optional<StepRef> takes_slot_of(StepRef ref) const override {
    return whole_.takes_slot_of(ref);
  }
  int64_t largest_message() const override { return whole_.largest_message(); }

 private:
  const Schedule& whole_;
  const Bundles& bundles_;
};

}  // namespace orrery
