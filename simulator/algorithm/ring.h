#pragma once

// In a ring every node sends only to the next rank, chunk by chunk (Patarasuk and Yuan, "Bandwidth
// optimal all-reduce algorithms for clusters of workstations", 2009). It works out of place,
// without scratch: partial sums stay in the messages and are not stored on the way.
//
// A node has these steps, in MSCCL's terms, and sends so many messages:
//  - all-reduce: s, rrs x (n-2), rrcs, rcs x (n-2), r; 2(n-1) messages
//  - reduce-scatter: s, rrs x (n-2), rrc; n-1 messages
//  - all-gather: s and copy, rcs x (n-2), r; n-1 messages
//
// A ring may go both ways round: half of each chunk then goes to the next rank, and half to the one
// before, at the same time.
//
// On an uncontended ring, with two slots or more and a reduction that takes no time, no message
// waits for a slot. It then ends after
//  - all-reduce: 2(n-1) (latency + transfer of the largest chunk)
//  - reduce-scatter, all-gather: (n-1) (latency + transfer of the largest chunk)
//  - both ways: the same, with the larger half of the largest chunk. If the two ways share their
//    links, as those of two ranks do, nothing is gained.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "models/base/compiler.h"
#include "models/base/shared_list.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// RankOrders has the orders in which the channels of a ring, or of a chain, go round the ranks:
/// the first rank of an order follows the last.
class RankOrders {
 public:
  /// Each order has each rank once (Layout::orders). If there are none, each channel goes by rank.
  /// Channel c has order c mod `onward`, mod the number of orders.
  RankOrders(uint32_t ranks, const SharedList<SharedList<uint32_t>>& orders, uint32_t channels,
             uint32_t onward)
      : ranks_(ranks) {
    for (const SharedList<uint32_t>& order : orders) {
      ORRERY_CHECK(order.size() == ranks, "an order has each rank");
      Order& made = orders_.emplace_back();
      made.places.resize(ranks);
      for (const uint32_t rank : order) {
        made.places[rank] = static_cast<uint32_t>(made.ranks.size());
        made.ranks.push_back(rank);
      }
    }
    for (uint32_t c = 0; c < channels && !orders_.empty(); ++c)
      order_of_.push_back(c % onward % orders_.size());
  }

  bool are_by_rank() const { return orders_.empty(); }
  ORRERY_ALWAYS_INLINE uint32_t place_of(Node rank, Channel channel) const {
    return orders_.empty() ? rank.index() : order(channel).places[rank.index()];
  }
  ORRERY_ALWAYS_INLINE Node rank_at(uint32_t place, Channel channel) const {
    return Node(orders_.empty() ? place : order(channel).ranks[place]);
  }
  ORRERY_ALWAYS_INLINE Node after(Node rank, Channel channel) const {
    const uint32_t place = place_of(rank, channel);
    return rank_at(place + 1 == ranks_ ? 0 : place + 1, channel);
  }
  ORRERY_ALWAYS_INLINE Node before(Node rank, Channel channel) const {
    const uint32_t place = place_of(rank, channel);
    return rank_at(place == 0 ? ranks_ - 1 : place - 1, channel);
  }

 private:
  struct Order {
    std::vector<uint32_t> ranks;
    std::vector<uint32_t> places;  // of each rank
  };
  const Order& order(Channel channel) const { return orders_[order_of_[channel.index()]]; }

  uint32_t ranks_;
  std::vector<Order> orders_;
  std::vector<size_t> order_of_;  // per channel, if there are orders
};

/// A RingSchedule splits `count` canonical elements into one chunk per rank, and each chunk into
/// one piece per channel. Every channel is a ring for its pieces. An all-reduce has `count`
/// elements in and out. A reduce-scatter has `count` in and the node's own chunk out, an all-gather
/// the reverse. With one node the input is copied to the output.
///
/// The fold of chunk c is ((x[c'] + x[c'+1]) + x[c'+2]) + ..., around the ring, from the rank that
/// sends it first: c' = c for an all-reduce, c + 1 for a reduce-scatter.
///
/// A ring that goes both ways has twice as many channels, and the second half of them goes back. To
/// go back is to go on in mirrored numbers: rank r and chunk r count as n-1-r. So the fold of a
/// chunk's second half is ((x[c'] + x[c'-1]) + x[c'-2]) + ..., where c' is c or c - 1.
///
/// With orders, channel c goes round the ranks in order c mod their number, and so does the channel
/// that goes back with it. Then r and c above are the places of the rank and of the chunk's rank in
/// that order.
class RingSchedule final : public Schedule {
 public:
  static constexpr FusedStep kFused = FusedStep::StoreAndForward;

  enum class Form : uint8_t { AllGather, ReduceScatter, AllReduce };
  enum class Ways : uint8_t { One, Both };

  /// `combine` is None exactly for an all-gather. Each of the `orders` has each rank once.
  RingSchedule(Form form, uint32_t nodes, int64_t count, Combine combine, Transport transport,
               Ways ways = Ways::One, const SharedList<SharedList<uint32_t>>& orders = {})
      : form_(form),
        nodes_(nodes),
        last_(form == Form::AllReduce ? 2 * (nodes - 1) : nodes - 1),
        reducing_(form == Form::AllGather ? 1 : nodes),
        first_chunk_(form == Form::ReduceScatter ? 1 : 0),
        onward_(transport.channels),
        combine_(combine),
        chunks_(count, nodes),
        orders_(nodes, orders, transport.channels * (ways == Ways::Both ? 2 : 1),
                transport.channels) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a ring has a node");
    ORRERY_CHECK((combine == Combine::None) == (form == Form::AllGather), "a gather only moves");
    extent_.channels = transport.channels * (ways == Ways::Both ? 2 : 1);
    for (uint32_t c = 0; c < extent_.channels; ++c) {
      const auto piece = [&](int64_t chunk) {
        const Split split(chunk, extent_.channels);
        return Piece{split.first(c), split.count(c)};
      };
      pieces_.push_back({piece(chunks_.smallest()), piece(chunks_.largest())});
    }
    extent_.nodes = nodes;
    extent_.slots = transport.slots;
    extent_.window = std::min(transport.slots, last_ + 1);
    extent_.lookback =
        std::max(1U, extent_.window - 1);  // back to a message's slot, or to the row before
    // A node that forwards without storing holds its slot until it has sent. With one slot the
    // nodes of a row would then wait for each other in a cycle.
    extent_.lockstep = transport.slots > 1 || reducing_ <= 2;
    extent_.entry = transport.entry;
    extent_.fused = kFused;
    extent_.input = form == Form::AllGather ? chunks_.largest() : count;
    extent_.output = form == Form::ReduceScatter ? chunks_.largest() : count;
    extent_.copies = reducing_ == 1;                   // the first step stores what it reads
    extent_.works_in_place = form == Form::AllReduce;  // each element is read before it is stored
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node /*node*/, Channel /*channel*/) const override { return last_ + 1; }

  ORRERY_ALWAYS_INLINE Step step(StepRef ref) const override {
    const bool reduces = ref.index < reducing_;
    const int64_t chunk = chunk_at(ref);
    const Piece piece = pieces_[ref.channel.index()][chunks_.is_larger(chunk) ? 1 : 0];
    const int64_t place = chunks_.first(chunk) + piece.first;
    Step step;
    if (ref.index > 0)
      step.from = previous(ref.node, ref.channel);
    if (ref.index < last_)
      step.to = next(ref.node, ref.channel);
    if (reduces) {
      step.source = Slice{Area::Input, form_ == Form::AllGather ? piece.first : place, piece.count};
      step.combine = ref.index > 0 ? combine_ : Combine::None;
    }
    if (ref.index + 1 >= reducing_) {
      step.target =
          Slice{Area::Output, form_ == Form::ReduceScatter ? piece.first : place, piece.count};
    }
    return step;
  }

  ORRERY_ALWAYS_INLINE StepRef peer(StepRef ref, Half half) const override {
    return half == Half::Send
               ? StepRef{next(ref.node, ref.channel), ref.channel, ref.index + 1}
               : StepRef{previous(ref.node, ref.channel), ref.channel, ref.index - 1};
  }

  ORRERY_ALWAYS_INLINE std::optional<StepRef> takes_slot_of(StepRef ref) const override {
    if (ref.index < extent_.slots)
      return std::nullopt;
    return StepRef{next(ref.node, ref.channel), ref.channel, ref.index - extent_.slots + 1};
  }

  /// A node sends every chunk once in n steps, except that the last steps send nothing.
  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    if (last_ == 0)
      return;
    const std::array<Piece, 2>& pieces = pieces_[channel.index()];
    const uint32_t turns = form_ == Form::AllReduce ? 2 : 1;
    const int64_t once =
        chunks_.larger() * pieces[1].count + (nodes_ - chunks_.larger()) * pieces[0].count;
    int64_t elements = checked_multiply(turns, once);
    for (uint32_t index = last_; index < turns * nodes_; ++index)
      elements -= pieces[chunks_.is_larger(chunk_at({node, channel, index})) ? 1 : 0].count;
    visit(Sent{next(node, channel), last_, elements});
  }

  int64_t largest_message() const override { return last_ == 0 ? 0 : pieces_[0][1].count; }

  /// Calls run(), which walks a row of a channel; all calls are identical. Nearly all rows are of
  /// two kinds, and most channels go from each rank to the next. In the branch of each kind the
  /// compiler knows the kind, and removes the code that such steps do not need. With g++ 12 a
  /// message takes 147 instructions, and 177 without the kinds of channels (4,096 ranks, callgrind,
  /// 2026-11-30). Without those of rows either it took 243 (1,024 ranks, 2026-11-22).
  template <class Run>
  ORRERY_ALWAYS_INLINE auto in_row(Channel channel, uint32_t row, Run&& run) const {
    const auto by_kind = [&]() ORRERY_ALWAYS_INLINE {
      const uint32_t freed = row - extent_.slots + 1;  // the step whose slot the row's sends take
      if (row > 0 && row < last_ && row >= extent_.slots && freed != row) {
        // These conditions are those of step(), for the row and for the row before.
        if (row < reducing_ && row + 1 < reducing_ && freed + 1 < reducing_ && freed < last_)
          return run();  // rrs
        if (row >= reducing_ && row + 1 >= reducing_ && freed + 1 >= reducing_)
          return run();  // rcs
      }
      return run();
    };
    if (orders_.are_by_rank() && !goes_back(channel))
      return by_kind();
    return by_kind();
  }

 private:
  struct Piece {  // of a chunk, for one channel
    int64_t first;
    int64_t count;
  };

  bool goes_back(Channel channel) const { return channel.index() >= onward_; }

  Node next(Node node, Channel channel) const {
    return goes_back(channel) ? orders_.before(node, channel) : orders_.after(node, channel);
  }
  Node previous(Node node, Channel channel) const {
    return goes_back(channel) ? orders_.after(node, channel) : orders_.before(node, channel);
  }

  /// A node gets its chunks in falling order: (place - first_chunk - index) mod n, where index <
  /// 2n.
  int64_t chunk_at(StepRef ref) const {
    const bool back = goes_back(ref.channel);
    int64_t chunk =
        mirrored_if(back, orders_.place_of(ref.node, ref.channel)) - first_chunk_ - ref.index;
    if (chunk < 0)
      chunk += nodes_;
    if (chunk < 0)
      chunk += nodes_;
    chunk = mirrored_if(back, chunk);
    return orders_.rank_at(static_cast<uint32_t>(chunk), ref.channel).index();
  }
  int64_t mirrored_if(bool back, int64_t number) const {
    return back ? nodes_ - 1 - number : number;
  }

  Form form_;
  uint32_t nodes_;
  uint32_t last_;         // the step that only receives
  uint32_t reducing_;     // steps that read the input; the last of them is the first to store
  uint32_t first_chunk_;  // the difference of a node's own chunk and the one it begins with
  uint32_t onward_;       // so many channels go on, and those after them go back
  Combine combine_;
  Split chunks_;
  std::vector<std::array<Piece, 2>> pieces_;  // per channel: of a smaller and of a larger chunk
  RankOrders orders_;
  Extent extent_;
};

}  // namespace orrery
