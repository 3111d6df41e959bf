#pragma once

// In-switch reduction and multicast (NVLink SHARP, NCCL's algorithm NVLS: src/device/all_reduce.h,
// all_gather.h and reduce_scatter.h, src/transport/nvls.cc): each rank owns a chunk. A
// multimem.ld_reduce makes the switch read the owner's chunk from all ranks and return the fold to
// the owner, and a multimem.st makes it write a copy to each rank.
//
// Here the ranks send instead of being read, so that a message crosses each link once and in the
// same direction. The request and the ranks' agreement that they are ready are not modelled.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Behind the ranks is a part of the switch for each owner: node n + j works for owner j, beside
/// the others. With one node the input is copied to the output, without a switch.
///
///  - all-reduce: each rank sends its input of chunk j to part j, which folds them in the order of
///    the ranks, (x[0] + x[1]) + x[2] + ..., and sends the result to owner j. The owner stores it
///    and sends it back, and part j sends a copy to each other rank.
///  - reduce-scatter: the first half; the owner keeps its chunk.
///  - all-gather, broadcast: the second half. Each rank, or the source alone, is an owner.
///
/// A part takes what is sent to it on one channel, and hands a copy to a channel for each receiver
/// (a message to itself, over no link). So the copies are sent at once, and the part takes no more
/// than a slot holds before each of them is on its way.
///
/// (A part adds what it has to what arrives: x + y and y + x have the same bits.)
class InSwitchSchedule final : public Schedule {
 public:
  static constexpr FusedStep kFused = FusedStep::StoreAndForward;

  enum class Form : uint8_t { AllReduce, ReduceScatter, AllGather, Broadcast };

  /// `count` canonical elements: in an all-reduce and in a broadcast the input and the output, in a
  /// reduce-scatter the input, in an all-gather the output. `combine` is None exactly where nothing
  /// is reduced; `source` is that of a broadcast. Each of the transport's channels takes its share
  /// of each chunk.
  InSwitchSchedule(Form form, uint32_t nodes, int64_t count, Combine combine, Node source,
                   Transport transport)
      : form_(form),
        ranks_(nodes),
        owners_(form == Form::Broadcast ? 1 : nodes),
        source_(source),
        folds_(form == Form::AllReduce || form == Form::ReduceScatter),
        casts_(form != Form::ReduceScatter),
        combine_(combine),
        channels_(transport.channels),
        chunks_(count, owners_) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    ORRERY_CHECK((combine == Combine::None) == !folds_, "only a reduction reduces");
    extent_.switch_nodes = nodes == 1 ? 0 : owners_;
    extent_.nodes = nodes + extent_.switch_nodes;
    const uint32_t of_rank = kinds_up() + (casts_ ? owners_ : 1);
    const uint32_t of_switch = kinds_fold() + (casts_ ? nodes : 0);
    extent_.channels = channels_ * (nodes == 1 ? 1 : std::max(of_rank, of_switch));
    extent_.slots = transport.slots;
    extent_.window = std::max(1U, nodes - 1);  // the messages of all ranks to a fold
    extent_.lookback = 1;
    extent_.entry = transport.entry;
    extent_.fused = kFused;
    extent_.input = form == Form::AllGather ? chunks_.largest() : count;
    extent_.output = form == Form::ReduceScatter ? chunks_.largest() : count;
    extent_.switch_scratch =
        extent_.switch_nodes == 0 ? 0 : chunks_.largest() * (folds_ && casts_ ? 2 : 1);
    extent_.copies = nodes == 1 || !folds_;  // the owner's own part
    // Each element is sent before its result, which comes from it, is stored.
    extent_.works_in_place = form == Form::AllReduce || form == Form::Broadcast;
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel channel) const override {
    const uint32_t kind = channel.index() / channels_;
    if (ranks_ == 1)
      return 1;
    if (!extent_.is_rank(node)) {
      if (kind < kinds_fold())
        return ranks_;
      if (!casts_ || kind - kinds_fold() >= ranks_)
        return 0;
      return kind == kinds_fold() ? ranks_ - 1 : 1;
    }
    if (kind < kinds_up())
      return 1;
    if (casts_)
      return kind - kinds_up() < owners_ ? 1 : 0;
    return kind == kinds_up() ? 1 : 0;
  }

  Step step(StepRef ref) const override {
    if (ranks_ == 1)
      return copy(ref.channel);
    return extent_.is_rank(ref.node) ? rank_step(ref) : switch_step(ref);
  }

  StepRef peer(StepRef ref, Half half) const override {
    const uint32_t kind = ref.channel.index() / channels_;
    const uint32_t share = ref.channel.index() % channels_;
    const auto at = [&](Node node, uint32_t of_kind, uint32_t index) {
      return StepRef{node, Channel(of_kind * channels_ + share), index};
    };
    if (extent_.is_rank(ref.node)) {
      if (kind < kinds_up())
        return at(part(kind), 0, ref.node.index());
      const uint32_t owner = owner_of_home(ref.node, kind);
      if (half == Half::Send)
        return at(part(owner), kinds_fold(), 0);
      if (owner_rank(owner) == ref.node)
        return at(part(owner), 0, ranks_ - 1);
      return at(part(owner), kinds_fold() + 1 + receiver_number(owner, ref.node), 0);
    }
    const uint32_t owner = ref.node.index() - ranks_;
    if (kind < kinds_fold())
      return half == Half::Receive ? at(Node(ref.index), owner, 0)
                                   : at(owner_rank(owner), kind_of_home(owner), 0);
    const uint32_t port = kind - kinds_fold();
    if (port == 0)
      return half == Half::Receive ? at(owner_rank(owner), kind_of_home(owner), 0)
                                   : at(ref.node, kinds_fold() + 1 + ref.index, 0);
    return half == Half::Receive ? at(ref.node, kinds_fold(), port - 1)
                                 : at(receiver(owner, port - 1), kind_of_home(owner), 0);
  }

  int64_t largest_message() const override {
    return ranks_ == 1 ? 0 : Split(chunks_.largest(), channels_).largest();
  }

  bool one_message_a_connection() const override { return true; }
  std::optional<StepRef> takes_slot_of(StepRef /*ref*/) const override { return std::nullopt; }

 private:
  // Each kind of channel has channels_ channels, numbered kind by kind. Those of a rank: one for
  // each owner, on which it sends its input of that chunk up to the switch, and one for each owner
  // on which it gets the result home; without casts only its own. Those of a part of the switch:
  // one that folds, one that takes what is cast, and a port for each receiver.
  uint32_t kinds_up() const { return folds_ ? owners_ : 0; }
  uint32_t kinds_fold() const { return folds_ ? 1 : 0; }
  uint32_t kind_of_home(uint32_t owner) const { return kinds_up() + (casts_ ? owner : 0); }
  uint32_t owner_of_home(Node rank, uint32_t kind) const {
    return casts_ ? kind - kinds_up() : rank.index();
  }

  Node part(uint32_t owner) const { return Node(ranks_ + owner); }
  Node owner_rank(uint32_t owner) const { return form_ == Form::Broadcast ? source_ : Node(owner); }
  /// The receivers of an owner's copies are the ranks behind it, round the group.
  Node receiver(uint32_t owner, uint32_t number) const {
    return Node((owner_rank(owner).index() + 1 + number) % ranks_);
  }
  uint32_t receiver_number(uint32_t owner, Node rank) const {
    return (rank.index() + ranks_ - owner_rank(owner).index() - 1) % ranks_;
  }

  /// The channel's share of an owner's chunk, which begins at `first` of the area.
  Slice share(Area area, int64_t first, uint32_t owner, Channel channel) const {
    const Split split(chunks_.count(owner), channels_);
    const uint32_t number = channel.index() % channels_;
    return {area, first + split.first(number), split.count(number)};
  }
  Slice input(uint32_t owner, Channel channel) const {
    return share(Area::Input, form_ == Form::AllGather ? 0 : chunks_.first(owner), owner, channel);
  }
  Slice output(uint32_t owner, Channel channel) const {
    return share(Area::Output, form_ == Form::ReduceScatter ? 0 : chunks_.first(owner), owner,
                 channel);
  }

  Step copy(Channel channel) const {
    Step step;
    step.source = input(0, channel);
    step.target = output(0, channel);
    return step;
  }

  Step rank_step(StepRef ref) const {
    const uint32_t kind = ref.channel.index() / channels_;
    Step step;
    if (kind < kinds_up()) {
      step.source = input(kind, ref.channel);
      step.to = part(kind);
      return step;
    }
    const uint32_t owner = owner_of_home(ref.node, kind);
    const bool own = owner_rank(owner) == ref.node;
    step.target = output(owner, ref.channel);
    if (own && !folds_)
      step.source = input(owner, ref.channel);
    else
      step.from = part(owner);
    if (own && casts_)
      step.to = part(owner);
    return step;
  }

  Step switch_step(StepRef ref) const {
    const uint32_t kind = ref.channel.index() / channels_;
    const uint32_t owner = ref.node.index() - ranks_;
    Step step;
    if (kind < kinds_fold()) {
      const Slice folded = share(Area::Scratch, 0, owner, ref.channel);
      step.from = Node(ref.index);
      if (ref.index > 0) {
        step.source = folded;
        step.combine = combine_;
      }
      if (ref.index + 1 < ranks_)
        step.target = folded;
      else
        step.to = owner_rank(owner);
      return step;
    }
    const uint32_t port = kind - kinds_fold();
    const Slice taken = share(Area::Scratch, folds_ ? chunks_.largest() : 0, owner, ref.channel);
    if (port > 0) {
      step.from = ref.node;
      step.source = taken;  // not read: it passes on what it gets, and this says how much that is
      step.to = receiver(owner, port - 1);
      return step;
    }
    step.to = ref.node;
    if (ref.index == 0) {
      step.from = owner_rank(owner);
      step.target = taken;
    } else {
      step.source = taken;
    }
    return step;
  }

  Form form_;
  uint32_t ranks_;
  uint32_t owners_;
  Node source_;
  bool folds_;
  bool casts_;
  Combine combine_;
  uint32_t channels_;  // of each kind
  Split chunks_;       // per owner
  Extent extent_;
};

}  // namespace orrery
