#include "simulator/values/piece_map.h"

#include <algorithm>

#include "models/base/check.h"

namespace orrery {

int64_t length(const Pieces& pieces) {
  return pieces.empty() ? 0 : pieces.back().first + pieces.back().count;
}

Pieces combined(FoldTable& folds, Combine op, const Pieces& left, const Pieces& right) {
  Pieces result;
  size_t l = 0;
  size_t r = 0;
  int64_t at = 0;
  while (l < left.size() && r < right.size()) {
    const Piece& a = left[l];
    const Piece& b = right[r];
    const int64_t end = std::min(a.first + a.count, b.first + b.count);
    result.push_back(
        {at, end - at, folds.combine(op, a.made.moved(at - a.first), b.made.moved(at - b.first))});
    at = end;
    l += end == a.first + a.count ? 1U : 0U;
    r += end == b.first + b.count ? 1U : 0U;
  }
  ORRERY_CHECK(l == left.size() && r == right.size(), "what is combined is equally long");
  return result;
}

PieceMap::PieceMap(int64_t size, FoldAt made) : size_(size) {
  if (size > 0)
    map_.emplace(0, made);
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
    result.push_back({begin - first, end - begin, it->second.moved(begin - it->first)});
  }
  return result;
}

void PieceMap::write(int64_t first, const Pieces& pieces) {
  if (pieces.empty())
    return;
  const int64_t end = first + length(pieces);
  ORRERY_CHECK(first >= 0 && end <= size_, "a slice lies in its area");
  const Map::iterator after = cut(end);
  map_.erase(cut(first), after);
  for (const Piece& piece : pieces)
    join(map_.emplace_hint(after, first + piece.first, piece.made));
  if (after != map_.end())
    join(after);
}

PieceMap::Map::iterator PieceMap::cut(int64_t first) {
  if (first == size_)
    return map_.end();
  const auto it = std::prev(map_.upper_bound(first));
  if (it->first == first)
    return it;
  return map_.emplace_hint(std::next(it), first, it->second.moved(first - it->first));
}

void PieceMap::join(Map::iterator at) {
  if (at == map_.begin())
    return;
  const auto before = std::prev(at);
  if (before->second.moved(at->first - before->first) == at->second)
    map_.erase(at);
}

}  // namespace orrery
