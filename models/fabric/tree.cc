#include <algorithm>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/hash.h"
#include "models/fabric/topology.h"

namespace orrery {

Tree::Tree(std::vector<TreeLevel> levels, uint32_t trees, bool spread)
    : given_(std::move(levels)), levels_(given_), trees_(trees), spread_(spread) {
  ORRERY_CHECK(!levels_.empty() && levels_.size() <= 3, "a tree has 1 to 3 levels");
  ORRERY_CHECK(trees > 0, "a fabric has devices");
  for (size_t l = 0; spread && l < levels_.size(); ++l) {
    TreeLevel& level = levels_[l];
    level.above = level.parallel = 1;
    level.figures.bandwidth = level.figures.bandwidth * links_as_one(given_, l);
  }
  uint32_t subtrees = trees;
  for (const TreeLevel& level : levels_) {
    ORRERY_CHECK(level.below > 0 && level.above > 0 && level.parallel > 0,
                 "each vertex of a tree is joined");
    subtrees *= level.below;
  }
  counts_.push_back(subtrees);
  tops_.push_back(1);
  first_.push_back(0);
  for (const TreeLevel& level : levels_) {
    first_links_.push_back(links_);
    links_ += 2 * counts_.back() * level.above * level.parallel;
    first_.push_back(first_.back() + counts_.back());
    subtrees /= level.below;
    tops_.push_back(tops_.back() * level.above);
    counts_.push_back(subtrees * tops_.back());
    switches_ += counts_.back();
  }
  first_links_.push_back(links_);
}

int64_t Tree::links_as_one(const std::vector<TreeLevel>& levels, size_t level) {
  int64_t lower = 1;  // so many vertices below are one
  for (size_t l = 0; l < level; ++l)
    lower *= levels[l].above;
  return lower * levels[level].above * levels[level].parallel;
}

Tree::Place Tree::place(VertexId id) const {
  if (id.index() < counts_[0])
    return {0, id.index(), 0};
  size_t level = 0;
  while (id.index() - first_[level] >= counts_[level])
    ++level;
  const uint32_t number = id.index() - first_[level];
  return {level, number / tops_[level], number % tops_[level]};
}

VertexId Tree::vertex(const Place& place) const {
  return VertexId(first_[place.level] + place.subtree * tops_[place.level] + place.top);
}

uint32_t Tree::subtree(const Place& place, size_t level) const {
  uint32_t subtree = place.subtree;
  for (size_t l = place.level; l < level; ++l)
    subtree /= levels_[l].below;
  return subtree;
}

LinkId Tree::link_up(const Place& lower, uint32_t above, uint32_t lane) const {
  const TreeLevel& level = levels_[lower.level];
  const uint32_t number = lower.subtree * tops_[lower.level] + lower.top;
  return LinkId(first_links_[lower.level] +
                2 * ((number * level.above + above) * level.parallel + lane));
}

/// Returns the level below the link, from 0 on.
size_t Tree::level_of(LinkId id) const {
  size_t l = 0;
  while (id.index() >= first_links_[l + 1])
    ++l;
  return l;
}

LinkFigures Tree::figures(LinkId id) const {
  return levels_[level_of(id)].figures;
}

Link Tree::link(LinkId id) const {
  const size_t l = level_of(id);
  const TreeLevel& level = levels_[l];
  const uint32_t number = (id.index() - first_links_[l]) / 2 / level.parallel;
  const uint32_t below = number / level.above;
  const Place lower{l, below / tops_[l], below % tops_[l]};
  const Place upper{l + 1, lower.subtree / level.below,
                    lower.top * level.above + number % level.above};
  const bool down = (id.index() - first_links_[l]) % 2 == 1;
  return {vertex(down ? upper : lower), vertex(down ? lower : upper), level.figures.bandwidth,
          level.figures.latency};
}

std::string Tree::switch_name(uint32_t index) const {
  if (switches_ == 1)
    return "switch";
  const Place at = place(VertexId(devices() + index));
  if (spread_ && at.level > 1 && counts_[at.level] == 1)
    return at.level == 2 ? "spines" : "cores";
  if (spread_ && at.level > 1)
    return fmt::format("spines {}", at.subtree);
  static constexpr const char* kNames[2][3] = {{"switch", "", ""}, {"leaf", "spine", "core"}};
  return fmt::format("{} {}", kNames[levels_.size() > 1 ? 1 : 0][at.level - 1],
                     devices() + index - first_[at.level]);
}

void Tree::for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const {
  const Place at = place(from);
  if (at.level > 0) {
    const TreeLevel& below = levels_[at.level - 1];
    for (uint32_t child = 0; child < below.below; ++child)
      for (uint32_t lane = 0; lane < below.parallel; ++lane) {
        const Place lower{at.level - 1, at.subtree * below.below + child, at.top / below.above};
        visit(LinkId(link_up(lower, at.top % below.above, lane).index() + 1));
      }
  }
  if (at.level < levels_.size()) {
    const TreeLevel& level = levels_[at.level];
    for (uint32_t above = 0; above < level.above; ++above)
      for (uint32_t lane = 0; lane < level.parallel; ++lane)
        visit(link_up(at, above, lane));
  }
}

uint64_t Tree::ways() const {
  uint64_t ways = tops_.back();
  for (const TreeLevel& level : levels_)
    ways *= level.parallel;
  return ways;
}

uint64_t Tree::placed(VertexId first, VertexId device) const {
  uint64_t placed = 0;
  uint32_t a = first.index();
  uint32_t b = device.index();
  for (const TreeLevel& level : levels_) {
    a /= level.below;
    b /= level.below;
    placed = mix(placed + b - a);  // wraps below the first
  }
  return placed;
}

bool Tree::append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                        Route& route) const {
  const TreeLevel& lowest = levels_.front();
  if (from.index() < counts_[0] && to.index() < counts_[0] && from != to && lowest.above == 1 &&
      lowest.parallel == 1 && from.index() / lowest.below == to.index() / lowest.below) {
    // Most messages go between two devices below one switch.
    route.emplace_back(2 * from.index());
    route.emplace_back(2 * to.index() + 1);
    return true;
  }
  Place at = place(from);
  const Place end = place(to);
  const uint64_t decides = number.value_or(to.index() - first_[end.level]);
  size_t top = std::max(at.level, end.level);
  while (subtree(at, top) != subtree(end, top))
    if (++top > levels_.size())
      return false;
  // Most levels have one vertex above each and no parallel links. Then nothing is divided.
  const auto choice = [&](size_t level, uint32_t of) {
    return of == 1 ? 0 : static_cast<uint32_t>(decides / tops_[level] % of);
  };
  // The vertex at the top is above both ends.
  if (at.level > 0 && end.level > 0) {
    const Place& higher = at.level < end.level ? end : at;
    const Place& lower = at.level < end.level ? at : end;
    uint32_t above = higher.top;
    for (size_t l = higher.level; l > lower.level; --l)
      above /= levels_[l - 1].above;
    if (above != lower.top)
      return false;
  }
  const auto lane = [&](size_t level) { return choice(level, levels_[level - 1].parallel); };
  while (at.level < top) {
    const size_t next = at.level + 1;
    const TreeLevel& level = levels_[at.level];
    uint32_t above = choice(at.level, level.above);
    if (next <= end.level) {  // the end is a switch: it is reached over what is below it
      above = end.top;
      for (size_t l = end.level; l > next; --l)
        above /= levels_[l - 1].above;
      above %= level.above;
    }
    route.push_back(link_up(at, above, lane(next)));
    at = {next, at.subtree / level.below, at.top * level.above + above};
  }
  while (at.level > end.level) {
    const TreeLevel& level = levels_[at.level - 1];
    const bool has_one = level.above == 1;
    const Place lower{at.level - 1, subtree(end, at.level - 1),
                      has_one ? at.top : at.top / level.above};
    const uint32_t above = has_one ? 0 : at.top % level.above;
    route.emplace_back(link_up(lower, above, lane(at.level)).index() + 1);
    at = lower;
  }
  return true;
}

}  // namespace orrery
