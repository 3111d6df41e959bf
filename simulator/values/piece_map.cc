#include "simulator/values/piece_map.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"

namespace orrery {

namespace {

/// What the element `distance` further on is made of, in the same piece.
Contributions shifted(Contributions made_of, int64_t distance) {
  for (Contribution& c : made_of)
    c.source += distance;
  return made_of;
}

/// Whether `later`, `distance` elements further on, carries on what `earlier` begins.
bool carries_on(const Contributions& earlier, const Contributions& later, int64_t distance) {
  return std::equal(earlier.begin(), earlier.end(), later.begin(), later.end(),
                    [&](Contribution a, const Contribution& b) {
                      a.source += distance;
                      return a == b;
                    });
}

}  // namespace

Pieces combined(const Pieces& left, const Pieces& right) {
  Pieces result;
  size_t l = 0;
  size_t r = 0;
  int64_t at = 0;
  while (l < left.size() && r < right.size()) {
    const Piece& a = left[l];
    const Piece& b = right[r];
    const int64_t end = std::min(a.first + a.count, b.first + b.count);
    Piece& piece = result.emplace_back();
    piece.first = at;
    piece.count = end - at;
    piece.undefined = a.undefined || b.undefined;
    if (!piece.undefined)
      piece.made_of = sum(shifted(a.made_of, at - a.first), shifted(b.made_of, at - b.first));
    at = end;
    l += end == a.first + a.count ? 1U : 0U;
    r += end == b.first + b.count ? 1U : 0U;
  }
  ORRERY_CHECK(l == left.size() && r == right.size(), "what is combined is equally long");
  return result;
}

PieceMap::PieceMap(int64_t size, bool undefined, Contributions made_of) : size_(size) {
  if (size > 0)
    map_.emplace(0, Make{undefined, std::move(made_of)});
}

Pieces PieceMap::read(int64_t first, int64_t count) const {
  ORRERY_CHECK(first >= 0 && count >= 0 && first <= size_ - count, "a slice lies in its area");
  Pieces result;
  if (count == 0)
    return result;
  for (auto it = std::prev(map_.upper_bound(first)); it != map_.end() && it->first < first + count;
       ++it) {
    const auto next = std::next(it);
    const int64_t begin = std::max(it->first, first);
    const int64_t end = std::min(next == map_.end() ? size_ : next->first, first + count);
    result.push_back({begin - first, end - begin, it->second.undefined,
                      shifted(it->second.made_of, begin - it->first)});
  }
  return result;
}

void PieceMap::write(int64_t first, const Pieces& pieces) {
  if (pieces.empty())
    return;
  const int64_t end = first + pieces.back().first + pieces.back().count;
  ORRERY_CHECK(first >= 0 && end <= size_, "a slice lies in its area");
  const Map::iterator after = cut(end);
  map_.erase(cut(first), after);
  for (const Piece& piece : pieces)
    join(map_.emplace_hint(after, first + piece.first, Make{piece.undefined, piece.made_of}));
  if (after != map_.end())
    join(after);
}

PieceMap::Map::iterator PieceMap::cut(int64_t first) {
  if (first == size_)
    return map_.end();
  const auto it = std::prev(map_.upper_bound(first));
  if (it->first == first)
    return it;
  Make make{it->second.undefined, shifted(it->second.made_of, first - it->first)};
  return map_.emplace_hint(std::next(it), first, std::move(make));
}

void PieceMap::join(Map::iterator at) {
  if (at == map_.begin())
    return;
  const auto before = std::prev(at);
  if (before->second.undefined == at->second.undefined &&
      carries_on(before->second.made_of, at->second.made_of, at->first - before->first))
    map_.erase(at);
}

}  // namespace orrery
