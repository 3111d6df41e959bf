#include "simulator/analyze/fabric_bounds.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/program/ragged.h"
#include "models/program/rules.h"

namespace orrery {
namespace {

using Form = ExchangedData::Form;
using Send = ExchangedData::Send;

constexpr int64_t kMostInt = std::numeric_limits<int64_t>::max();

/// The searches of an exchange look at so many vertices and links, and then at no more sources.
constexpr size_t kMostWork = size_t{1} << 16U;

/// So many latencies are remembered: 8 MiB.
constexpr size_t kMostReached = size_t{1} << 20U;

/// Returns the sends of a group that exchanges by tables. A unit is a row.
std::vector<Send> sends_of(const RaggedGroup& tables) {
  std::vector<Send> sends;
  for (uint32_t from = 0; from < tables.ranks.size(); ++from)
    for (uint32_t to = 0; to < tables.ranks.size(); ++to) {
      Send send{from, to, 0};
      for (size_t slice = 0; slice < tables.slices_for_each(); ++slice)
        send.units += tables.ranks[from].send_sizes[tables.entry(to, slice)];
      if (from != to && send.units > 0)
        sends.push_back(send);
    }
  return sends;
}

/// Returns the time to move so many bytes at a rate in parts of 1 / `parts`, rounded up. The
/// product of bytes and picoseconds may leave 128 bits.
Duration time_at(Int128 bytes, int64_t rate, int64_t parts) {
  const Int128 second = Int128{kPicosecondsPerSecond} * parts;
  const Int128 whole = bytes / rate;
  if (whole > kMostInt / kPicosecondsPerSecond)
    throw_overflow("a time leaves the 64-bit range");
  return Duration(
      checked_narrow(whole * second + ceil_divide(bytes % rate * second, Int128{rate})));
}

/// Counts the units that must cross the borders of a division's blocks.
class Crossings {
 public:
  Crossings(const ExchangedData& exchange, std::span<const VertexId> ranks,
            const Division& division)
      : exchange_(exchange),
        ranks_(ranks),
        division_(division),
        held_(division.out.size()),
        leave(division.out.size()),
        enter(division.out.size()) {
    for (const VertexId rank : ranks)
      if (const uint32_t block = block_of(rank); block != Division::kNone)
        ++held_[block];
      else
        all_placed = false;
    if (exchange.form == Form::Sends)
      count_sends();
    else
      count_blocks();
  }

  /// Returns the units that the links out of all blocks together must carry, and those into them.
  /// Requires that all ranks are in blocks. Where no switch between blocks reduces, what leaves a
  /// block enters another one.
  std::pair<Int128, Int128> together() const {
    Int128 left = 0;
    Int128 entered = 0;
    for (size_t b = 0; b < leave.size(); ++b) {
      left += leave[b];
      entered += enter[b];
    }
    if (!division_.folds_outside)
      left = entered = std::max(left, entered);
    if (!division_.folds_outside && exchange_.form == Form::Reduction) {
      const auto blocks = std::ranges::count_if(held_, [](int64_t held) { return held > 0; });
      left = entered = 2 * (Int128{blocks} - 1);
    }
    return {left, entered};
  }

  bool holds_ranks(size_t block) const { return held_[block] > 0; }

 private:
  uint32_t block_of(VertexId rank) const { return division_.block[rank.index()]; }

  void count_blocks() {
    const auto n = static_cast<int64_t>(ranks_.size());
    for (size_t b = 0; b < held_.size(); ++b) {
      const int64_t k = held_[b];
      if (k == 0 || k == n)
        continue;
      switch (exchange_.form) {
        case Form::Reduction:
          leave[b] = enter[b] = 1;
          break;
        case Form::ScatteredReduction:
          leave[b] = n - k;
          enter[b] = k;
          break;
        case Form::Gather:
          leave[b] = k;
          enter[b] = n - k;
          break;
        case Form::AllToAll:
          leave[b] = enter[b] = k * (n - k);
          break;
        case Form::Sends:
          break;
      }
    }
  }

  /// If a rank sends copies of its data, one copy leaves its block, and one enters each other
  /// block. The sends of a rank follow each other.
  void count_sends() {
    std::vector<uint32_t> entered(held_.size(), Division::kNone);  // the last rank, per block
    uint32_t left = Division::kNone;  // the last rank whose data left its block
    for (const Send& send : exchange_.sends) {
      const uint32_t from = block_of(ranks_[send.from]);
      const uint32_t to = block_of(ranks_[send.to]);
      if (from == to)
        continue;
      if (from != Division::kNone && !(exchange_.copies && left == send.from))
        leave[from] += send.units;
      left = send.from;
      if (to == Division::kNone)
        continue;
      if (!(exchange_.copies && entered[to] == send.from))
        enter[to] += send.units;
      entered[to] = send.from;
    }
  }

  const ExchangedData& exchange_;
  std::span<const VertexId> ranks_;
  const Division& division_;
  std::vector<int64_t> held_;  // ranks, per block

 public:
  std::vector<int64_t> leave, enter;  // units, per block
  bool all_placed = true;             // each rank is in a block
};

/// Keeps the cut with the most units for its bandwidth; of equal ones, the first.
class TightestCut {
 public:
  void consider(const ExchangedData& exchange, std::span<const VertexId> ranks,
                const Division& division) {
    const Crossings crossings(exchange, ranks, division);
    Int128 out = 0;
    Int128 in = 0;
    for (uint32_t b = 0; b < division.out.size(); ++b) {
      consider(crossings.leave[b], division.out[b], {&division, b, true});
      consider(crossings.enter[b], division.in[b], {&division, b, false});
      if (crossings.holds_ranks(b)) {
        out += division.out[b];
        in += division.in[b];
      }
    }
    if (!crossings.all_placed || division.out.size() < 2)
      return;
    const auto [left, entered] = crossings.together();
    consider(left, out, {&division, Division::kNone, true, ranks});
    consider(entered, in, {&division, Division::kNone, false, ranks});
  }

  int64_t units() const { return units_; }
  int64_t bandwidth() const { return bandwidth_; }

  /// Returns the links of the cut, ascending.
  std::vector<LinkId> links(const OpenLinks& all) const {
    std::vector<LinkId> crossing;
    if (cut_.division == nullptr)
      return crossing;
    const Blocks& block = cut_.division->block;
    std::vector<bool> counts(cut_.division->out.size());
    for (const VertexId rank : cut_.ranks)
      counts[block[rank.index()]] = true;
    if (cut_.block != Division::kNone)
      counts[cut_.block] = true;
    for (const OpenLinks::Open& open : all.links) {
      const uint32_t from = block[open.link.from.index()];
      const uint32_t to = block[open.link.to.index()];
      const uint32_t own = cut_.leaves ? from : to;
      if (from != to && own != Division::kNone && counts[own])
        crossing.push_back(open.id);
    }
    std::ranges::sort(crossing);
    return crossing;
  }

 private:
  using Blocks = std::vector<uint32_t>;
  struct Cut {
    const Division* division = nullptr;
    uint32_t block = Division::kNone;      // kNone: all that hold ranks, together
    bool leaves = true;                    // or enters
    std::span<const VertexId> ranks = {};  // of all together
  };

  void consider(Int128 units, Int128 bandwidth, const Cut& cut) {
    if (units == 0 || bandwidth == 0 || units > kMostInt || bandwidth > kMostInt ||
        units * bandwidth_ <= units_ * bandwidth)
      return;
    units_ = static_cast<int64_t>(units);
    bandwidth_ = static_cast<int64_t>(bandwidth);
    cut_ = cut;
  }

  int64_t units_ = 0;
  int64_t bandwidth_ = 1;
  Cut cut_;
};

/// Finds the vertex that is farthest from another one by latency (Dijkstra 1959).
class Farthest {
 public:
  struct Reached {
    Duration after;
    uint32_t vertex = 0;
    bool operator>(const Reached& other) const {
      return std::pair(after, vertex) > std::pair(other.after, other.vertex);
    }
  };

  Farthest(const Fabric& fabric, const OpenLinks& links)
      : links_(links), least_(fabric.vertices()), wanted_(fabric.vertices()) {}

  /// Returns the farthest of the targets, with the least latency to it. The search ends after so
  /// many links. Then the result is the vertex that would come next: targets that were not reached
  /// are at least as far.
  Reached from(VertexId from, std::span<const VertexId> targets) {
    constexpr size_t kMostLinks = size_t{1} << 18U;
    std::ranges::fill(least_, kMostInt);
    std::fill(wanted_.begin(), wanted_.end(), false);
    size_t left = 0;
    for (const VertexId target : targets)
      if (target != from && !wanted_[target.index()]) {
        wanted_[target.index()] = true;
        ++left;
      }
    Reached last{Duration(), from.index()};
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> next;
    next.push(last);
    least_[from.index()] = 0;
    const size_t end = work_ + least_.size() + kMostLinks;
    work_ += least_.size();
    while (!next.empty() && left > 0 && work_ < end) {
      const Reached at = next.top();
      next.pop();
      if (least_[at.vertex] < at.after.count())
        continue;
      if (wanted_[at.vertex]) {
        wanted_[at.vertex] = false;
        --left;
        last = at;
      }
      for (uint32_t l = links_.first[at.vertex]; l < links_.first[at.vertex + size_t{1}]; ++l) {
        ++work_;
        const Link& link = links_.links[l].link;
        const Int128 after = Int128{at.after.count()} + link.latency.count();
        if (after >= least_[link.to.index()])
          continue;
        least_[link.to.index()] = static_cast<int64_t>(after);
        next.push({Duration(static_cast<int64_t>(after)), link.to.index()});
      }
    }
    return left > 0 && !next.empty() ? next.top() : last;
  }

  /// Returns the least latency to each vertex; kMostInt if there is no way. Requires that the
  /// search may look at all links.
  std::vector<int64_t> all_from(VertexId vertex) {
    std::vector<VertexId> all;
    for (uint32_t v = 0; v < least_.size(); ++v)
      all.emplace_back(v);
    static_cast<void>(from(vertex, all));
    return least_;
  }

  /// Returns how many vertices and links all searches have looked at.
  size_t work() const { return work_; }

 private:
  const OpenLinks& links_;
  std::vector<int64_t> least_;  // latency, per vertex
  std::vector<bool> wanted_;    // per vertex: a target that is not reached yet
  size_t work_ = 0;
};

}  // namespace

ExchangedData exchanged_data(const Op& op, uint32_t ranks, WorkType work, int64_t elements,
                             const RaggedGroup* tables) {
  const CollectiveForm& form = rules(op.kind).form;
  const Bytes item = itemsize(work);
  ExchangedData exchange;
  exchange.unit = item * elements;
  if (tables != nullptr) {
    exchange.form = Form::Sends;
    exchange.sends = sends_of(*tables);
    exchange.unit = tables->operand_rows == 0 ? Bytes() : item * (elements / tables->operand_rows);
  } else if (form.side != Side::Both) {
    exchange.form = Form::Sends;
    if (ranks == 2)  // a source with its destination
      exchange.sends = {{0, 1}};
  } else if (form.source != nullptr) {
    exchange.form = Form::Sends;
    for (uint32_t to = 0; to < ranks; ++to)
      if (const std::optional<Rank> from = form.source(op.attributes, Rank(to));
          from && from->index() != to)
        exchange.sends.push_back({from->index(), to});
    exchange.copies = true;
    std::ranges::sort(exchange.sends);
  } else if (form.combine != Combine::None) {
    exchange.form = form.operand_parts == nullptr ? Form::Reduction : Form::ScatteredReduction;
  } else {
    exchange.form = form.operand_parts == nullptr ? Form::Gather : Form::AllToAll;
  }
  if (form.operand_parts != nullptr)
    exchange.unit = item * (elements / ranks);
  return exchange;
}

std::string text(const FabricBound& bound, const Fabric& fabric, bool ascii) {
  if (bound.cut < bound.latency || bound.links.empty())
    return time_text(bound.latency, ascii) + " of latency";
  const std::string first = fabric.link_text(bound.links.front());
  const std::string links = bound.links.size() == 1
                                ? first
                                : fmt::format("{} links ({}, ...)", bound.links.size(), first);
  return fmt::format("{} over {} take {}", size_text(bound.crossing), links,
                     time_text(bound.cut, ascii));
}

std::optional<FabricBound> FabricBounds::of(const ExchangedData& exchange,
                                            std::span<const VertexId> ranks) {
  const bool sends_nothing = exchange.form == Form::Sends && exchange.sends.empty();
  if (exchange.unit <= Bytes() || ranks.size() < 2 || sends_nothing ||
      fabric_.count_links() > kMostLinks)
    return std::nullopt;
  Asked asked{exchange.form, exchange.copies, exchange.sends, {ranks.begin(), ranks.end()}};
  auto known = known_.find(asked);
  if (known == known_.end() && known_.size() == kMostExchanges)
    return std::nullopt;
  if (known == known_.end())
    known = known_.emplace(std::move(asked), tightest(exchange, ranks)).first;
  const Tightest& found = known->second;
  const Int128 bytes = Int128{found.units} * exchange.unit.count();
  FabricBound bound;
  bound.latency = found.latency;
  bound.cut = time_at(bytes, found.bandwidth, fabric_.rate_parts());
  bound.crossing = Bytes(static_cast<int64_t>(std::min(bytes, Int128{kMostInt})));
  bound.links = found.links;
  return bound;
}

FabricBounds::Links FabricBounds::links_of(const std::optional<std::vector<LinkId>>& only) const {
  Links links{OpenLinks(fabric_, only), {}};
  if (links.open.bandwidth <= kMostInt)
    links.divisions = divisions(fabric_, links.open);
  return links;
}

FabricBounds::Tightest FabricBounds::tightest(const ExchangedData& exchange,
                                              std::span<const VertexId> ranks) {
  std::optional<Links> own;
  if (const auto only = links_among(fabric_, ranks))
    own.emplace(links_of(only));
  else if (!all_)
    all_.emplace(links_of(std::nullopt));
  const OpenLinks& links = (own ? own : all_)->open;
  TightestCut tightest;
  for (const Division& division : (own ? own : all_)->divisions)
    tightest.consider(exchange, ranks, division);
  if (!has_one_way(fabric_.topology()) && links.links.size() <= kMostFlowLinks &&
      links.bandwidth <= kMostInt) {
    const size_t work_of_flow = links.links.size() + fabric_.vertices();
    const auto add = [&](FlowEnds ends) {
      const size_t flows = std::min(kMostFlowWork, flow_work_left_) / work_of_flow;
      const size_t each = ends == FlowEnds::Pairs ? 2 : 1;  // both ways
      flow_work_left_ -=
          std::min(flow_work_left_, std::min(flows, ranks.size()) * each * work_of_flow);
      for (const Division& cut : proposed(links, ranks, ends, flows))
        tightest.consider(exchange, ranks, cut);
    };
    if (exchange.form == Form::Gather || exchange.form == Form::AllToAll)
      add(FlowEnds::FromAll);
    if (exchange.form == Form::ScatteredReduction || exchange.form == Form::AllToAll)
      add(FlowEnds::ToAll);
    if (exchange.form == Form::Reduction || exchange.form == Form::Sends)
      add(FlowEnds::Pairs);
  }
  return {latency(exchange, ranks, links), tightest.units(), tightest.bandwidth(),
          tightest.links(links)};
}

const std::vector<Division>& FabricBounds::proposed(const OpenLinks& links,
                                                    std::span<const VertexId> ranks, FlowEnds ends,
                                                    size_t flows) {
  Proposed& last = proposed_[ends];
  if (last.flows != flows || !std::ranges::equal(last.ranks, ranks))
    last = {{ranks.begin(), ranks.end()}, flows, flow_cuts(fabric_, links, ranks, ends, flows)};
  return last.divisions;
}

Duration FabricBounds::latency_of_sends(const ExchangedData& exchange,
                                        std::span<const VertexId> ranks, const OpenLinks& links) {
  Farthest search(fabric_, links);
  Duration longest;
  // Exchanges over the same links share the searches if each of them may look at all links.
  const bool are_shared =
      all_ && &links == &all_->open &&
      exchange.sends.size() <= kMostWork / (links.links.size() + fabric_.vertices());
  for (size_t s = 0; s < exchange.sends.size() && search.work() < kMostWork;) {
    const uint32_t from = exchange.sends[s].from;
    std::vector<VertexId> targets;
    for (; s < exchange.sends.size() && exchange.sends[s].from == from; ++s)
      targets.push_back(ranks[exchange.sends[s].to]);
    if (!are_shared) {
      longest = std::max(longest, search.from(ranks[from], targets).after);
      continue;
    }
    if (reached_.size() * fabric_.vertices() > kMostReached)
      reached_.clear();
    const auto [reached, is_new] = reached_.try_emplace(ranks[from]);
    if (is_new)
      reached->second = search.all_from(ranks[from]);
    for (const VertexId target : targets)
      if (const int64_t after = reached->second[target.index()]; after != kMostInt)
        longest = std::max(longest, Duration(after));
  }
  return longest;
}

Duration FabricBounds::latency(const ExchangedData& exchange, std::span<const VertexId> ranks,
                               const OpenLinks& links) {
  if (exchange.form == Form::Sends)
    return latency_of_sends(exchange, ranks, links);
  Farthest search(fabric_, links);
  Duration longest;
  // From the first rank, from the one that is farthest from it, and from others in order.
  VertexId from = ranks.front();
  for (size_t r = 0; r < 2 + ranks.size() && (r < 2 || search.work() < kMostWork); ++r) {
    const Farthest::Reached found = search.from(r < 2 ? from : ranks[r - 2], ranks);
    longest = std::max(longest, found.after);
    from = VertexId(found.vertex);
  }
  return longest;
}

BusiestLinks::BusiestLinks(const Lowered& lowered, const Demands& demands, Paths& paths)
    : demands_(demands), paths_(paths) {
  int64_t runs = 0;
  for (const Collective& collective : lowered.collectives) {
    if (Sending(collective) != Sending(lowered.collectives.front()))
      return;
    runs += static_cast<int64_t>(collective.times);
  }
  equal_runs_ = runs;
}

std::optional<BusiestLink> BusiestLinks::of(const Collective& collective) {
  const auto [known, added] = known_.try_emplace(Sending(collective));
  if (added)
    known->second = equal_runs_ ? from_demands() : from_routes(collective);
  return known->second;
}

void BusiestLinks::consider(std::optional<BusiestLink>& most, LinkId link, Int128 bytes) const {
  const Fabric& fabric = paths_.fabric();
  const Duration takes =
      time_at(bytes, fabric.figures(link).bandwidth.count(), fabric.rate_parts());
  if (!most || takes > most->takes)
    most = {link, Bytes(checked_narrow(bytes)), takes};
}

std::optional<BusiestLink> BusiestLinks::from_demands() const {
  std::optional<BusiestLink> most;
  for (size_t l = 0; l < demands_.links.size(); ++l)
    if (const Int128 bytes = demands_.links[l].bytes; bytes > 0)
      consider(most, LinkId(l), bytes / *equal_runs_);
  return most;
}

std::optional<BusiestLink> BusiestLinks::from_routes(const Collective& collective) {
  loads_.resize(paths_.fabric().count_links());
  std::vector<LinkId> used;
  const Int128 item = itemsize(collective.work).count();
  const Extent& extent = collective.schedule->extent();
  for (uint32_t n = 0; n < extent.nodes; ++n)
    for (uint32_t c = 0; c < extent.channels; ++c)
      collective.schedule->for_each_receiver(Node(n), Channel(c), [&](const Sent& sent) {
        if (sent.elements == 0)
          return;
        const Path& path =
            paths_.between(collective.vertices[n], collective.vertices[sent.to.index()], c);
        for (const LinkId link : path.links) {
          Int128& load = loads_[link.index()];
          if (load == 0)
            used.push_back(link);
          load += item * sent.elements;
        }
      });
  std::ranges::sort(used);
  std::optional<BusiestLink> most;
  for (const LinkId link : used)
    consider(most, link, std::exchange(loads_[link.index()], 0));
  return most;
}

}  // namespace orrery
