#pragma once

// An `InSwitchSchedule` reduces and multicasts in the switch (NVLink SHARP, NCCL's algorithm NVLS:
// src/device/all_reduce.h, all_gather.h and reduce_scatter.h, src/transport/nvls.cc). Each rank
// owns a chunk. By multimem.ld_reduce the owner makes the switch read the chunk from all ranks and
// return the fold. By multimem.st it makes the switch write a copy of the chunk to each rank.
//
// In this model the ranks send their data instead of being read. So a message crosses each link
// once and in the same direction as in the hardware. The read request, and the barrier that tells
// the ranks that all are ready, are not modelled.
//
// A switch of a network (InfiniBand's SHARP) has no owners: it casts what it folded by itself.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// The nodes are the n ranks, and then a switch node for each owner: node n + j works for owner j.
/// All switch nodes work at the same time. With one rank the input is copied to the output, without
/// a switch.
///
///  - all-reduce: each rank sends its input of chunk j to switch node j. The switch node folds the
///    inputs in rank order, (x[0] + x[1]) + x[2] + ..., and sends the result to owner j. The owner
///    stores the result and sends it back, and the switch node sends a copy to each other rank.
///  - reduce-scatter: only the first half; each owner keeps its chunk.
///  - all-gather, broadcast: only the second half. In a broadcast the source is the only owner.
///  - fold and cast: there is one chunk. The only switch node folds the inputs in rank order and
///    sends a copy of the result to each rank.
///
/// A switch node has one channel that takes the message that is cast, the owner's or its own fold,
/// and one channel for each receiver, a port. The first channel hands a copy to each port, as a
/// message to the node itself over no link. So the ports send the copies at the same time, and the
/// node takes no more than the slots of its ports hold.
///
/// (A fold computes y + x for an arriving y, where the order says x + y: both have the same bits.)
class InSwitchSchedule final : public Schedule {
 public:
  enum class Form : uint8_t { AllReduce, ReduceScatter, AllGather, Broadcast, FoldAndCast };

  /// The input and the output have `count` canonical elements, but in a reduce-scatter only the
  /// input has them, and in an all-gather only the output. `combine` is None
  /// exactly if nothing is reduced. `source` is the source of a broadcast. Each of the transport's
  /// channels takes its share of each chunk.
  InSwitchSchedule(Form form, uint32_t ranks, int64_t count, Combine combine, Node source,
                   Transport transport)
      : form_(form),
        ranks_(ranks),
        owners_(form == Form::Broadcast || form == Form::FoldAndCast ? 1 : ranks),
        source_(source),
        folds_(form != Form::AllGather && form != Form::Broadcast),
        casts_(form != Form::ReduceScatter),
        combine_(combine),
        kinds_(ranks == 1
                   ? 1
                   : std::max(up() + (casts_ ? owners_ : 1), fold() + (casts_ ? 1 + ports() : 0))),
        shares_(transport.channels),
        chunks_(count, owners_) {
    ORRERY_CHECK(ranks > 0 && transport.channels > 0 && transport.slots > 0, "a group has a rank");
    ORRERY_CHECK((combine == Combine::None) == !folds_, "only a reduction reduces");
    extent_.switch_nodes = ranks == 1 ? 0 : owners_;
    extent_.nodes = ranks + extent_.switch_nodes;
    extent_.channels = shares_ * kinds_;
    extent_.slots = transport.slots;
    extent_.window = std::max(1U, ranks - 1);  // the messages of all ranks to a fold
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.entry = transport.entry;
    extent_.input = form == Form::AllGather ? chunks_.largest() : count;
    extent_.output = form == Form::ReduceScatter ? chunks_.largest() : count;
    extent_.switch_scratch =
        extent_.switch_nodes == 0 ? 0 : chunks_.largest() * (folds_ && casts_ ? 2 : 1);
    extent_.copies = ranks == 1 || !folds_;  // the owner's own part
    // Each element is sent before its result, which comes from it, is stored.
    extent_.works_in_place = form != Form::ReduceScatter && form != Form::AllGather;
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel channel) const override {
    const uint32_t kind = kind_of(channel);
    if (ranks_ == 1)
      return 1;
    if (extent_.is_rank(node))
      return kind < up() + (casts_ ? owners_ : 1) ? 1 : 0;
    if (kind < fold())
      return ranks_;
    if (!casts_ || kind > fold() + ports())
      return 0;
    return kind == fold() ? ports() : 1;
  }

  Step step(StepRef ref) const override {
    if (ranks_ == 1)
      return copy(ref.channel);
    return extent_.is_rank(ref.node) ? rank_step(ref) : switch_step(ref);
  }

  StepRef peer(StepRef ref, Half half) const override {
    const uint32_t kind = kind_of(ref.channel);
    const auto at = [&](Node node, uint32_t of_kind, uint32_t index) {
      return StepRef{node, Channel(ref.channel.index() - kind + of_kind), index};
    };
    if (extent_.is_rank(ref.node)) {
      if (kind < up())
        return at(switch_node(kind), 0, ref.node.index());
      const uint32_t owner = owner_of_home(ref.node, kind);
      if (half == Half::Send)
        return at(switch_node(owner), fold(), 0);
      if (is_owner(ref.node, owner))
        return at(switch_node(owner), 0, ranks_ - 1);
      return at(switch_node(owner), fold() + 1 + port_to(ref.node, owner), 0);
    }
    const uint32_t owner = ref.node.index() - ranks_;
    if (kind < fold()) {
      if (half == Half::Receive)
        return at(Node(ref.index), owner, 0);
      return has_owners() ? at(rank_of(owner), home(owner), 0) : at(ref.node, fold(), 0);
    }
    if (kind == fold()) {
      if (half == Half::Send)
        return at(ref.node, fold() + 1 + ref.index, 0);
      return has_owners() ? at(rank_of(owner), home(owner), 0) : at(ref.node, 0, ranks_ - 1);
    }
    const uint32_t port = kind - fold() - 1;
    return half == Half::Receive ? at(ref.node, fold(), port)
                                 : at(receiver(owner, port), home(owner), 0);
  }

  int64_t largest_message() const override {
    return ranks_ == 1 ? 0 : Split(chunks_.largest(), shares_).largest();
  }

 private:
  // The channels are numbered share by share: each of the transport's channels has one channel of
  // each kind. The kinds of a rank are: one per owner, on which the rank sends its input of that
  // chunk up to the switch; then one per owner, on which the result comes home. Without casts only
  // the rank's own result comes home. The kinds of a switch node are: one that folds, one that
  // takes the message that is cast, and one for each port.
  uint32_t kind_of(Channel channel) const { return channel.index() % kinds_; }
  uint32_t up() const { return folds_ ? owners_ : 0; }  // the number of kinds that send up
  uint32_t fold() const { return folds_ ? 1 : 0; }      // the number of kinds that fold
  uint32_t home(uint32_t owner) const { return up() + (casts_ ? owner : 0); }
  uint32_t owner_of_home(Node rank, uint32_t kind) const {
    return casts_ ? kind - up() : rank.index();
  }

  Node switch_node(uint32_t owner) const { return Node(ranks_ + owner); }
  bool has_owners() const { return form_ != Form::FoldAndCast; }
  Node rank_of(uint32_t owner) const { return form_ == Form::Broadcast ? source_ : Node(owner); }
  bool is_owner(Node rank, uint32_t owner) const { return has_owners() && rank_of(owner) == rank; }
  uint32_t ports() const { return has_owners() ? ranks_ - 1 : ranks_; }
  /// Returns a receiver of copies: a rank after the owner, round the group. Without owners these
  /// are the ranks from rank 1 on.
  Node receiver(uint32_t owner, uint32_t port) const {
    return Node((rank_of(owner).index() + 1 + port) % ranks_);
  }
  uint32_t port_to(Node rank, uint32_t owner) const {
    return (rank.index() + ranks_ - rank_of(owner).index() - 1) % ranks_;
  }

  /// Returns the channel's share of an owner's chunk, which begins at `first` of the area.
  Slice share(Area area, int64_t first, uint32_t owner, Channel channel) const {
    const Split split(chunks_.count(owner), shares_);
    const uint32_t number = channel.index() / kinds_;
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
    const uint32_t kind = kind_of(ref.channel);
    Step step;
    if (kind < up()) {
      step.source = input(kind, ref.channel);
      step.to = switch_node(kind);
      return step;
    }
    const uint32_t owner = owner_of_home(ref.node, kind);
    const bool own = is_owner(ref.node, owner);
    step.target = output(owner, ref.channel);
    if (own && !folds_)
      step.source = input(owner, ref.channel);
    else
      step.from = switch_node(owner);
    if (own && casts_)
      step.to = switch_node(owner);
    return step;
  }

  Step switch_step(StepRef ref) const {
    const uint32_t kind = kind_of(ref.channel);
    const uint32_t owner = ref.node.index() - ranks_;
    return kind < fold() ? folding_step(ref, owner) : casting_step(ref, owner, kind - fold());
  }

  Step folding_step(StepRef ref, uint32_t owner) const {
    const Slice folded = share(Area::Scratch, 0, owner, ref.channel);
    Step step;
    step.from = Node(ref.index);
    if (ref.index > 0) {
      step.source = folded;
      step.combine = combine_;
    }
    if (ref.index + 1 < ranks_)
      step.target = folded;
    else
      step.to = has_owners() ? rank_of(owner) : ref.node;
    return step;
  }

  Step casting_step(StepRef ref, uint32_t owner, uint32_t kind) const {
    const Slice taken = share(Area::Scratch, folds_ ? chunks_.largest() : 0, owner, ref.channel);
    Step step;
    if (kind > 0) {
      step.from = ref.node;
      step.source = taken;  // not read, since the step passes its message on; it states the number
                            // of elements
      step.to = receiver(owner, kind - 1);
      return step;
    }
    step.to = ref.node;
    if (ref.index == 0) {
      step.from = has_owners() ? rank_of(owner) : ref.node;
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
  uint32_t kinds_;   // of channels
  uint32_t shares_;  // of each chunk, one for each of the transport's channels
  Split chunks_;     // per owner
  Extent extent_;
};

}  // namespace orrery
