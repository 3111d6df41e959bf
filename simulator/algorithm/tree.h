#pragma once

// The double binary tree (Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", 2009), as NCCL's Tree uses it (src/graph/trees.cc): half of the
// data is reduced up one binary tree and broadcast down the same tree, the other half over a second
// tree. No node is an inner one of both trees. So a node that folds and copies one half is a leaf
// for the other, and all links work.
//
// Here a node of a tree is a machine: `together` consecutive ranks, which form a chain. The first
// rank of the chain has the machine's edges of the tree.
//
// Times have a closed form if messages are not cut and have links of their own, machines have one
// rank, and n = 2^k - 1. Let t be the transfer of half of the data, and l the latency. The whole
// takes 2 (k-1) (t + l). If messages are cut to many pieces, it takes about as long as the link of
// a rank needs for twice the data, as in a ring. But the latency grows with log2 n, not with n.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A TreeSchedule has `count` elements in and out. They are divided over lanes: as many as the
/// transport has channels, rounded up to an even number. Even lanes have the first tree, and odd
/// lanes the second. The chains of a pair of lanes begin at a rank of their own in each machine, so
/// that pairs use different network cards.
///
/// A lane has one channel up, and one channel down for each child that a rank may have.
///  - Up, a rank receives from its children and folds: first from the next rank of the chain, then
///    from its children in the tree. A rank with several children keeps the partial result in its
///    output.
///  - Down, a rank receives on the channel that its parent has for it. Then its channels for the
///    children send, all at once. Those of the root send once its channel up has ended.
/// The last machine may have fewer ranks.
class TreeSchedule final : public Schedule {
 public:
  TreeSchedule(uint32_t nodes, int64_t count, Combine combine, uint32_t together,
               Transport transport)
      : nodes_(nodes),
        together_(together),
        machines_((nodes - 1) / together + 1),
        lanes_(transport.channels + transport.channels % 2),
        combine_(combine),
        parts_(count, lanes_) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    ORRERY_CHECK(together > 0 && combine != Combine::None, "an all-reduce reduces");
    extent_.nodes = nodes;
    extent_.channels = (1 + kMostChildren) * lanes_;
    extent_.slots = transport.slots;
    extent_.window = kMostChildren;
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.lockstep = nodes == 1;  // else messages arrive in the row that sends them
    extent_.entry = transport.entry;
    extent_.input = count;
    extent_.output = count;
    extent_.copies = nodes == 1;
    extent_.works_in_place = true;  // each element is read before it is stored
    // Executors ask for a place several times a message, so each is worked out once.
    const uint32_t unlike = nodes % together == 0 ? std::min(lanes_, 2 * together) : lanes_;
    places_.reserve(size_t{unlike} * nodes);
    for (uint32_t lane = 0; lane < unlike; ++lane)
      for (uint32_t node = 0; node < nodes; ++node)
        places_.push_back(find_place(Node(node), lane));
    for (uint32_t channel = 0; channel < extent_.channels; ++channel) {
      const uint32_t lane = channel % lanes_;
      uses_.push_back({lane, channel / lanes_, size_t{lane % unlike} * nodes});
    }
  }

  /// Returns how many channels a rank has, with so many channels of the transport.
  static constexpr uint64_t all_channels(uint32_t channels) {
    return (1 + kMostChildren) * (uint64_t{channels} + channels % 2);
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel channel) const override {
    const Place& place = place_of(node, channel);
    if (is_up(channel))
      return std::max(place.count, 1U);
    return (receives(place, channel) ? 1 : 0) + (child(channel) < place.count ? 1 : 0);
  }

  Step step(StepRef ref) const override {
    const Place& place = place_of(ref.node, ref.channel);
    return is_up(ref.channel) ? up(ref, place) : down(ref, place);
  }

  StepRef peer(StepRef ref, Half half) const override {
    const Place& place = place_of(ref.node, ref.channel);
    if (is_up(ref.channel)) {
      if (half == Half::Send)
        return {*place.parent, ref.channel, place.index};
      const Node from = place.children[ref.index];
      return {from, ref.channel, std::max(place_of(from, ref.channel).count, 1U) - 1};
    }
    if (half == Half::Send)
      return {place.children[child(ref.channel)], ref.channel, 0};
    return {*place.parent, ref.channel,
            receives(place_of(*place.parent, ref.channel), ref.channel) ? 1U : 0U};
  }

  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    const Place& place = place_of(node, channel);
    const int64_t count = parts_.count(lane(channel));
    if (is_up(channel)) {
      if (place.parent)
        visit({*place.parent, 1, count});
    } else if (child(channel) < place.count) {
      visit({place.children[child(channel)], 1, count});
    }
  }

  int64_t largest_message() const override { return nodes_ == 1 ? 0 : parts_.largest(); }

 private:
  static constexpr uint32_t kMostChildren = 3;

  /// A Place has the neighbours of a rank in a lane.
  struct Place {
    std::optional<Node> parent;
    uint32_t index = 0;  // among the parent's children
    std::array<Node, kMostChildren> children;
    uint32_t count = 0;  // of the children

    void add(Node node) { children[count++] = node; }
  };

  bool is_up(Channel channel) const { return channel.index() < lanes_; }
  uint32_t lane(Channel channel) const { return uses_[channel.index()].lane; }
  /// Returns for which child a channel down is.
  uint32_t child(Channel channel) const { return uses_[channel.index()].turn - 1; }
  bool receives(const Place& place, Channel channel) const {
    return place.parent && place.index == child(channel);
  }

  /// Returns the place of a machine in the lane's tree, from 1 on. In the order of these places, an
  /// inner node has an even one, and a leaf an odd one. The second tree is the first one mirrored,
  /// or shifted by one if the number of machines is odd. machine() is the inverse.
  uint32_t number(uint32_t machine, uint32_t lane) const {
    if (lane % 2 == 0)
      return machine + 1;
    if (machines_ % 2 == 0)
      return machines_ - machine;
    return machine == 0 ? machines_ : machine;
  }
  uint32_t machine(uint32_t number, uint32_t lane) const {
    if (lane % 2 == 0)
      return number - 1;
    if (machines_ % 2 == 0)
      return machines_ - number;
    return number % machines_;
  }

  uint32_t ranks_of(uint32_t machine) const {
    return std::min(together_, nodes_ - machine * together_);
  }
  /// Returns the rank at a place of a machine's chain.
  Node rank(uint32_t machine, uint32_t lane, uint32_t place) const {
    return Node(machine * together_ + (lane / 2 + place) % ranks_of(machine));
  }
  Node head(uint32_t number, uint32_t lane) const { return rank(machine(number, lane), lane, 0); }

  /// A Use says what a channel does. It is worked out once, without divisions for each message.
  struct Use {
    uint32_t lane = 0;
    uint32_t turn = 0;  // 0: up; else down, to the child before this number
    /// The place of rank 0 in the lane. If all machines have as many ranks, only the first 2 x
    /// together lanes differ: in these, each rank of a machine is once the first of its chain in
    /// both trees.
    size_t places = 0;
  };

  /// Returns the place of a rank in the lane of a channel.
  const Place& place_of(Node node, Channel channel) const {
    return places_[uses_[channel.index()].places + node.index()];
  }

  Place find_place(Node node, uint32_t lane) const {
    const uint32_t machine = node.index() / together_;
    const uint32_t ranks = ranks_of(machine);
    const uint32_t at = (node.index() % together_ + ranks - lane / 2 % ranks) % ranks;
    Place place;
    if (at + 1 < ranks)
      place.add(rank(machine, lane, at + 1));
    if (at > 0) {
      place.parent = rank(machine, lane, at - 1);  // as its first child
      return place;
    }
    // In a tree of 2^k - 1 nodes, the lowest bit of a number says how high it is, and the children
    // are half of it before and behind. In one with fewer nodes, the child behind is the highest
    // that there is.
    const uint32_t number = this->number(machine, lane);
    const uint32_t low = number & (~number + 1);
    if (number != std::bit_floor(machines_)) {
      const uint32_t next = (number ^ low) | (low << 1);
      const uint32_t above = next <= machines_ ? next : number ^ low;
      place.parent = head(above, lane);
      // It comes behind the next of the chain, and the child behind comes last.
      place.index = (ranks_of(this->machine(above, lane)) > 1 ? 1 : 0) + (number > above ? 1 : 0);
    }
    if (low > 1)
      place.add(head(number - low / 2, lane));
    for (uint32_t behind = low / 2; behind > 0; behind /= 2)
      if (number + behind <= machines_) {
        place.add(head(number + behind, lane));
        break;
      }
    return place;
  }

  Slice slice(Area area, Channel channel) const {
    return {area, parts_.first(lane(channel)), parts_.count(lane(channel))};
  }

  Step up(StepRef ref, const Place& place) const {
    Step step;
    step.source = slice(ref.index == 0 ? Area::Input : Area::Output, ref.channel);
    if (place.count > 0) {
      step.from = place.children[ref.index];
      step.combine = combine_;
    }
    if (place.parent && ref.index + 1 >= place.count)
      step.to = place.parent;
    else
      step.target = slice(Area::Output, ref.channel);
    return step;
  }

  Step down(StepRef ref, const Place& place) const {
    Step step;
    const Slice all = slice(Area::Output, ref.channel);
    if (receives(place, ref.channel) && ref.index == 0) {
      step.from = place.parent;
      step.target = all;
      return step;
    }
    step.to = place.children[child(ref.channel)];
    step.source = all;
    const uint32_t lane = this->lane(ref.channel);
    if (!place.parent)
      step.after = StepRef{ref.node, Channel(lane), place.count - 1};
    else if (ref.index == 0)
      step.after = StepRef{ref.node, Channel(lane + (1 + place.index) * lanes_), 0};
    return step;
  }

  uint32_t nodes_;
  uint32_t together_;
  uint32_t machines_;
  uint32_t lanes_;
  Combine combine_;
  Split parts_;                // per lane
  std::vector<Place> places_;  // lane by lane, of the lanes that differ; in each, by node
  std::vector<Use> uses_;      // per channel
  Extent extent_;
};

}  // namespace orrery
