#pragma once

// Recursive halving and recursive doubling (Rabenseifner, "Optimization of collective reduction
// operations", 2004; Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", 2005). In a round of the halving, a rank and its partner share a range of
// parts. Each sends the half that the other keeps, and folds what it gets into its own half. The
// doubling goes the other way: each sends the range that it has, and then both have both.
//
//  - reduce-scatter: halving, the furthest partner first, so that parts stay in rank order
//  - all-gather: doubling, the nearest partner first
//  - all-reduce: halving with the nearest partner first, then doubling with the nearest last. So
//    the largest messages go to the nearest ranks.
//
// Let p be the largest power of two not above n, and s = n - p. If s > 0, the ranks are folded as
// in MPICH (Thakur et al., section 4.5): each odd rank below 2s leaves its work to the rank before
// it. That rank gets its input first, and sends it the result at the end.
//
// Times have a closed form if messages are not cut and have links of their own, reductions and
// copies take no time, and parts have one size. Let S be the bytes of the largest operand or
// result.
//  - Reduce-scatter and all-gather, s = 0: log2 p latencies, and the transfers of S/2, S/4, ...,
//    S/p.
//  - All-reduce, s = 0: twice that.
// If s > 0, a folded rank first sends its operand, and gets its result at the end. The rounds of an
// all-reduce stay the same. In those of the others, a rank that has folded counts two parts.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/algorithm/rounds.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// An all-reduce has `count` elements in and out. Each channel divides them over p parts.
///
/// A reduce-scatter has `count` elements in, and the rank's own part out. An all-gather has the
/// reverse. The ranks divide `count` evenly. A rank sends the part of the rank that is folded into
/// it together with its own.
///
/// A channel takes its share of each rank's part. A message has several parts, and its elements
/// must lie together. So with several channels, a reduce-scatter first copies its input to scratch,
/// and an all-gather its result from there, where each channel's elements lie together.
///
/// Steps of a channel: copies; the message of the fold; the rounds, whose sends and receives are in
/// the order of Round; the result for the folded rank; copies.
class HalvingDoublingSchedule final : public Schedule {
 public:
  enum class Form : uint8_t { AllGather, ReduceScatter, AllReduce };

  /// `combine` is None exactly for an all-gather.
  HalvingDoublingSchedule(Form form, uint32_t nodes, int64_t count, Combine combine,
                          Transport transport)
      : form_(form),
        nodes_(nodes),
        core_(std::bit_floor(nodes)),
        surplus_(nodes - core_),
        levels_(static_cast<uint32_t>(std::bit_width(core_)) - 1),
        packed_(form != Form::AllReduce && transport.channels > 1 && nodes > 1),
        part_(count / nodes),
        largest_(transport.largest),
        combine_(combine) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    ORRERY_CHECK((combine == Combine::None) == (form == Form::AllGather), "a gather only moves");
    extent_.nodes = nodes;
    extent_.channels = transport.channels;
    extent_.slots = transport.slots;
    extent_.one_message_a_connection = true;  // unless a lane below has more
    extent_.lockstep = surplus_ == 0;  // else ranks with a folded one have more steps before rounds
    extent_.entry = transport.entry;
    extent_.input = form == Form::AllGather ? part_ : count;
    extent_.output = form == Form::ReduceScatter ? part_ : count;
    extent_.copies = nodes == 1 || packed_ || form == Form::AllGather ||
                     (form == Form::ReduceScatter && surplus_ > 0);
    extent_.works_in_place = form == Form::AllReduce;  // each element is read before it is stored
    if (packed_ || (form == Form::ReduceScatter && surplus_ > 0))
      extent_.scratch = count;
    else if (form == Form::ReduceScatter && nodes > 2)
      extent_.scratch = count / 2;  // the half that the rank keeps in the first round
    for (uint32_t c = 0; c < transport.channels; ++c)
      add_lane(c, count, transport);
    extent_.lookback = 1;
    for (const Lane& lane : lanes_) {
      extent_.window = std::max(extent_.window, length(lane, Node(0)));  // no rank has more steps
      for (const Round& round : lane.rounds)
        extent_.lookback = std::max(extent_.lookback, round.lookback());
    }
    if (form == Form::AllReduce)
      extent_.lookback = extent_.window;  // the doubling uses slots that the halving has used
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel channel) const override {
    return length(lanes_[channel.index()], node);
  }

  Step step(StepRef ref) const override {
    const Lane& lane = lanes_[ref.channel.index()];
    const At at = place_of(ref);
    switch (at.stage) {
      case Stage::Before:
        return copy_before(lane, ref.node, at.number);
      case Stage::Fold:
        return fold_step(lane, ref.node, at.number);
      case Stage::Rounds:
        return round_step(lane, ref.node, at);
      case Stage::Unfold:
        return unfold_step(lane, ref.node, at.number);
      case Stage::After:
        break;
    }
    return copy_after(lane, ref.node, at.number);
  }

  StepRef peer(StepRef ref, Half half) const override {
    const Lane& lane = lanes_[ref.channel.index()];
    const At at = place_of(ref);
    if (at.stage != Stage::Rounds) {
      const Node other = folded_with(ref.node);
      return {other, ref.channel, begin(lane, other, at.stage) + at.number};
    }
    const Node other = partner(ref.node, at.round);
    const Round& round = lane.rounds[at.round];
    return {other, ref.channel,
            begin(lane, other, Stage::Rounds) +
                (half == Half::Send ? round.receive(at.number) : round.send(at.number))};
  }

  std::optional<StepRef> takes_slot_of(StepRef ref) const override {
    const Lane& lane = lanes_[ref.channel.index()];
    const At at = place_of(ref);
    if (at.stage != Stage::Rounds) {
      if (at.number < extent_.slots)
        return std::nullopt;
      const Node other = folded_with(ref.node);
      return StepRef{other, ref.channel, begin(lane, other, at.stage) + at.number - extent_.slots};
    }
    // An all-reduce has two rounds with each partner, with as many messages.
    const uint32_t messages = lane.rounds[at.round].messages();
    const bool second = form_ == Form::AllReduce && at.round >= levels_;
    uint32_t number = at.number + (second ? messages : 0);
    if (number < extent_.slots)
      return std::nullopt;
    number -= extent_.slots;
    const uint32_t round = second && number < messages ? level(at.round) : at.round;
    const Node other = partner(ref.node, at.round);
    return StepRef{
        other, ref.channel,
        begin(lane, other, Stage::Rounds) + lane.rounds[round].receive(number % messages)};
  }

  int64_t largest_message() const override {
    if (nodes_ == 1)
      return 0;
    const Lane& lane = lanes_.front();  // no channel has more
    const int64_t most = surplus_ > 0 ? elements(lane) : edge(lane, core_ / 2) - edge(lane, 0);
    return largest_ == 0 ? most : std::min(most, largest_);
  }

 private:
  /// The stages of a channel's steps, in order.
  enum class Stage : uint8_t { Before, Fold, Rounds, Unfold, After };
  struct At {
    Stage stage = Stage::Before;
    uint32_t number = 0;  // of a copy or a message in the stage, or of a message in the round
    uint32_t round = 0;
    bool sends = false;  // in a round
  };

  /// A Lane has what is the same for all ranks on one channel.
  struct Lane {
    Split parts;         // an all-reduce's
    int64_t part_first;  // the channel's share of a rank's part: where it begins there
    int64_t part_count;
    int64_t first;              // where the channel's elements begin
    uint32_t fold;              // messages of the fold
    uint32_t unfold;            // messages of the result for a folded rank
    std::vector<Round> rounds;  // the first step of the first round is step 0
  };

  /// A Range is a range of parts: [first, first + count).
  struct Range {
    uint32_t first;
    uint32_t count;
  };

  void add_lane(uint32_t channel, int64_t count, Transport transport) {
    const bool whole = form_ == Form::AllReduce;
    const Split shares(whole ? count : part_, transport.channels);
    const int64_t first = shares.first(channel);
    Lane lane{Split(whole ? shares.count(channel) : 0, core_),
              first,
              shares.count(channel),
              whole ? first : nodes_ * first,
              0,
              0,
              {}};
    const int64_t all = elements(lane);
    lane.fold = messages_of(form_ == Form::AllGather ? lane.part_count : all, largest_);
    lane.unfold = messages_of(form_ == Form::ReduceScatter ? lane.part_count : all, largest_);
    extent_.one_message_a_connection &= surplus_ == 0 || (lane.fold == 1 && lane.unfold == 1);
    const uint32_t rounds = form_ == Form::AllReduce ? 2 * levels_ : levels_;
    for (uint32_t r = 0; r < rounds; ++r) {
      // Among the ranges that are exchanged in a round, the first has the most elements.
      const uint32_t width = core_ >> (level(r) + 1);
      const Round round(lane.rounds.empty() ? 0 : lane.rounds.back().end(),
                        messages_of(edge(lane, width) - edge(lane, 0), largest_), transport.slots);
      extent_.one_message_a_connection &= form_ != Form::AllReduce && round.messages() == 1;
      lane.rounds.push_back(round);
    }
    lanes_.push_back(std::move(lane));
  }

  // The ranks and their parts.

  bool is_surplus(Node node) const { return node.index() < 2 * surplus_ && node.index() % 2 == 1; }
  bool has_surplus(Node node) const { return node.index() < 2 * surplus_ && node.index() % 2 == 0; }
  /// Returns the other rank of a folded pair.
  static Node folded_with(Node node) { return Node(node.index() ^ 1U); }

  /// Returns the number of a rank that is not folded, from 0 to p - 1.
  uint32_t core_of(Node node) const {
    return node.index() < 2 * surplus_ ? node.index() / 2 : node.index() - surplus_;
  }
  /// Returns the rank of a core number. The parts of the ranks from there on, up to those of the
  /// next core number, are the core number's.
  uint32_t rank_of(uint32_t core) const { return core < surplus_ ? 2 * core : core + surplus_; }

  int64_t edge(const Lane& lane, uint32_t part) const {
    return lane.first +
           (form_ == Form::AllReduce ? lane.parts.first(part) : rank_of(part) * lane.part_count);
  }
  /// Returns how many elements the channel has.
  int64_t elements(const Lane& lane) const { return edge(lane, core_) - edge(lane, 0); }

  // The rounds.

  bool halves(uint32_t round) const { return form_ != Form::AllGather && round < levels_; }
  /// Returns how many halvings come before the range that is halved in the round, or doubled to.
  uint32_t level(uint32_t round) const {
    if (halves(round))
      return round;
    return (form_ == Form::AllReduce ? 2 * levels_ : levels_) - 1 - round;
  }
  /// Returns in which bit the core numbers of partners differ that halve a range of the level.
  uint32_t bit(uint32_t level) const {
    return form_ == Form::AllReduce ? level : levels_ - 1 - level;
  }
  Node partner(Node node, uint32_t round) const {
    return Node(rank_of(core_of(node) ^ (1U << bit(level(round)))));
  }
  /// Returns the range that a core number has after so many halvings.
  Range range(uint32_t core, uint32_t halvings) const {
    Range range{0, core_};
    for (uint32_t h = 0; h < halvings; ++h) {
      range.count /= 2;
      if ((core >> bit(h) & 1U) != 0)
        range.first += range.count;
    }
    return range;
  }

  // The stages.

  uint32_t copies_before(Node node) const {
    if (nodes_ == 1)
      return 1;
    if (form_ == Form::AllGather)
      return is_surplus(node) ? 0 : 1;
    return packed_ ? nodes_ : 0;
  }
  uint32_t copies_after(Node node) const {
    if (form_ == Form::AllGather)
      return packed_ ? nodes_ : 0;
    return form_ == Form::ReduceScatter && has_surplus(node) ? 1 : 0;
  }
  static uint32_t rounds_end(const Lane& lane) {
    return lane.rounds.empty() ? 0 : lane.rounds.back().end();
  }
  /// Returns the first step of a rank's stage.
  uint32_t begin(const Lane& lane, Node node, Stage stage) const {
    const bool folds = is_surplus(node) || has_surplus(node);
    uint32_t first = 0;
    if (stage > Stage::Before)
      first += copies_before(node);
    if (stage > Stage::Fold)
      first += folds ? lane.fold : 0;
    if (stage > Stage::Rounds)
      first += is_surplus(node) ? 0 : rounds_end(lane);
    if (stage > Stage::Unfold)
      first += folds ? lane.unfold : 0;
    return first;
  }
  uint32_t length(const Lane& lane, Node node) const {
    return begin(lane, node, Stage::After) + copies_after(node);
  }

  At place_of(StepRef ref) const {
    const Lane& lane = lanes_[ref.channel.index()];
    for (const Stage stage : {Stage::After, Stage::Unfold, Stage::Rounds, Stage::Fold}) {
      const uint32_t first = begin(lane, ref.node, stage);
      if (ref.index < first)
        continue;
      if (stage != Stage::Rounds)
        return {stage, ref.index - first};
      const uint32_t step = ref.index - first;
      const auto round =
          std::partition_point(lane.rounds.begin(), lane.rounds.end(),
                               [&](const Round& each) { return each.end() <= step; });
      const Round::Turn turn = round->turn(step);
      return {stage, turn.message, static_cast<uint32_t>(round - lane.rounds.begin()), turn.sends};
    }
    return {Stage::Before, ref.index};
  }

  // The slices.

  /// Returns where elements of the operand are that rounds read.
  Slice operand(int64_t first, int64_t count) const {
    return {packed_ ? Area::Scratch : Area::Input, first, count};
  }
  /// Returns where a rank keeps such elements of its partial result, or of what it has gathered.
  Slice kept(const Lane& lane, Node node, int64_t first, int64_t count) const {
    if (packed_)
      return {Area::Scratch, first, count};
    if (form_ != Form::ReduceScatter)
      return {Area::Output, first, count};
    const int64_t base = surplus_ > 0 ? 0 : edge(lane, range(core_of(node), 1).first);
    return {Area::Scratch, first - base, count};
  }
  /// Returns the channel's share of the part of rank `rank`, in the order of the operand.
  Slice share(Area area, const Lane& lane, uint32_t rank) const {
    return {area, rank * part_ + lane.part_first, lane.part_count};
  }
  /// Returns the channel's share of a rank's own part, in an area that has only that.
  static Slice own(Area area, const Lane& lane) { return {area, lane.part_first, lane.part_count}; }
  /// Returns where the channel's share of the part of `rank` begins in the lane.
  int64_t place(const Lane& lane, uint32_t rank) const {
    return lane.first + rank * lane.part_count;
  }

  Step copy_before(const Lane& lane, Node node, uint32_t number) const {
    Step step;
    if (nodes_ == 1) {
      step.source = own(Area::Input, lane);
      step.target = own(Area::Output, lane);
    } else if (form_ == Form::AllGather) {
      step.source = own(Area::Input, lane);
      step.target = kept(lane, node, place(lane, node.index()), lane.part_count);
    } else {
      step.source = share(Area::Input, lane, number);
      step.target = kept(lane, node, place(lane, number), lane.part_count);
    }
    return step;
  }

  Step copy_after(const Lane& lane, Node node, uint32_t number) const {
    Step step;
    if (form_ == Form::AllGather) {
      step.source = kept(lane, node, place(lane, number), lane.part_count);
      step.target = share(Area::Output, lane, number);
    } else {
      step.source = kept(lane, node, place(lane, node.index()), lane.part_count);
      step.target = own(Area::Output, lane);
    }
    return step;
  }

  Step fold_step(const Lane& lane, Node node, uint32_t number) const {
    const bool gathers = form_ == Form::AllGather;
    const auto part = [&](Slice run) { return message_of(run, largest_, number); };
    Step step;
    if (is_surplus(node)) {
      step.to = folded_with(node);
      step.source = part(gathers ? own(Area::Input, lane) : operand(lane.first, elements(lane)));
      return step;
    }
    step.from = folded_with(node);
    if (gathers) {
      step.target = part(kept(lane, node, place(lane, step.from->index()), lane.part_count));
    } else {
      step.source = part(operand(lane.first, elements(lane)));
      step.target = part(kept(lane, node, lane.first, elements(lane)));
      step.combine = combine_;
    }
    return step;
  }

  Step unfold_step(const Lane& lane, Node node, uint32_t number) const {
    const bool scatters = form_ == Form::ReduceScatter;
    Slice run;
    if (!scatters)
      run = kept(lane, node, lane.first, elements(lane));
    else if (is_surplus(node))
      run = own(Area::Output, lane);
    else
      run = kept(lane, node, place(lane, folded_with(node).index()), lane.part_count);
    Step step;
    if (is_surplus(node)) {
      step.from = folded_with(node);
      step.target = message_of(run, largest_, number);
    } else {
      step.to = folded_with(node);
      step.source = message_of(run, largest_, number);
    }
    return step;
  }

  Step round_step(const Lane& lane, Node node, const At& at) const {
    const uint32_t level = this->level(at.round);
    const Range mine = range(core_of(node), level + 1);
    const Range both = range(core_of(node), level);
    const Range theirs{2 * both.first + mine.count - mine.first, mine.count};
    const bool halving = halves(at.round);
    // A halving sends the partner's half and receives for its own, and a doubling the reverse.
    const Range& moved = at.sends == halving ? theirs : mine;
    const int64_t first = edge(lane, moved.first);
    const int64_t count = edge(lane, moved.first + moved.count) - first;
    const auto part = [&](Slice run) { return message_of(run, largest_, at.number); };
    const bool fresh = halving && level == 0 && !has_surplus(node);
    const Slice held = part(fresh ? operand(first, count) : kept(lane, node, first, count));
    Step step;
    if (at.sends) {
      step.to = partner(node, at.round);
      step.source = held;
      return step;
    }
    step.from = partner(node, at.round);
    if (halving) {
      step.source = held;
      step.combine = combine_;
    }
    const bool is_result =
        form_ == Form::ReduceScatter && level + 1 == levels_ && !has_surplus(node);
    step.target = part(is_result ? own(Area::Output, lane) : kept(lane, node, first, count));
    return step;
  }

  Form form_;
  uint32_t nodes_;
  uint32_t core_;     // p
  uint32_t surplus_;  // s
  uint32_t levels_;   // log2 p
  bool packed_;       // messages are made of copies in scratch
  int64_t part_;      // elements of a rank's part, where ranks have parts
  int64_t largest_;   // elements of a message; 0: no limit
  Combine combine_;
  std::vector<Lane> lanes_;  // per channel
  Extent extent_;
};

}  // namespace orrery
