#include "simulator/values/piece_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

PieceMap::PieceMap(int64_t size, FoldAt made) : size_(size), whole_(made) {}

Pieces PieceMap::read(int64_t first, int64_t count) const {
  ORRERY_CHECK(first >= 0 && count >= 0 && first <= size_ - count, "a slice lies in its area");
  Pieces result;
  if (count == 0)
    return result;
  if (blocks_.empty()) {
    result.push_back({0, count, whole_.moved(first)});
    return result;
  }
  const int64_t end = first + count;
  Position position = find(first);
  for (const Start* start = at(position); start != nullptr && start->first < end;) {
    const int64_t begin = std::max(start->first, first);
    position = next(position);
    const Start* const after = at(position);
    const int64_t piece_end = std::min(after == nullptr ? size_ : after->first, end);
    result.push_back({begin - first, piece_end - begin, start->made.moved(begin - start->first)});
    start = after;
  }
  return result;
}

void PieceMap::write(int64_t first, const Pieces& pieces) {
  if (pieces.empty())
    return;
  const int64_t end = first + length(pieces);
  ORRERY_CHECK(first >= 0 && end <= size_, "a slice lies in its area");
  if (blocks_.empty() && pieces.size() == 1 && end - first == size_) {
    whole_ = pieces.front().made;
    return;
  }
  if (blocks_.empty())
    blocks_.emplace_back().starts.push_back({0, whole_});
  const Position begin = find(first);
  const Start* left = at(begin);  // the part before `first`, if any
  const Start* const second = at(next(begin));
  Position to = second == nullptr || end <= second->first ? begin : find(end - 1);
  Position from = begin;
  if (left->first < first)
    from = next(from);
  else
    left = before(from);

  Fresh fresh;
  const auto add = [&](Start start) {
    const Start* const last = fresh.empty() ? left : &fresh.back();
    if (last == nullptr || last->made.moved(start.first - last->first) != start.made)
      fresh.push_back(start);
  };
  for (const Piece& piece : pieces)
    add({first + piece.first, piece.made});
  const Start cut = *at(to);
  to = next(to);
  const Start* const after = at(to);
  if (end < (after == nullptr ? size_ : after->first)) {
    add({end, cut.made.moved(end - cut.first)});
  } else if (after != nullptr) {
    add(*after);  // unless it continues what is written
    to = next(to);
  }
  replace(from, to, fresh);
}

PieceMap::Position PieceMap::find(int64_t element) const {
  const auto block = std::prev(
      std::upper_bound(blocks_.begin(), blocks_.end(), element,
                       [](int64_t e, const Block& candidate) { return e < candidate.first; }));
  const auto start = std::prev(
      std::upper_bound(block->starts.begin(), block->starts.end(), element,
                       [](int64_t e, const Start& candidate) { return e < candidate.first; }));
  return {static_cast<size_t>(block - blocks_.begin()),
          static_cast<size_t>(start - block->starts.begin())};
}

const PieceMap::Start* PieceMap::before(Position position) const {
  if (position.start > 0)
    return &blocks_[position.block].starts[position.start - 1];
  return position.block > 0 ? &blocks_[position.block - 1].starts.back() : nullptr;
}

const PieceMap::Start* PieceMap::at(Position position) const {
  return position.block < blocks_.size() ? &blocks_[position.block].starts[position.start]
                                         : nullptr;
}

PieceMap::Position PieceMap::next(Position position) const {
  if (position.start + 1 < blocks_[position.block].starts.size())
    return {position.block, position.start + 1};
  return {position.block + 1, 0};
}

void PieceMap::replace(Position from, Position to, const Fresh& fresh) {
  // Between two blocks, both positions are the end of the first.
  for (Position* const position : {&from, &to})
    if (position->start == 0 && position->block > 0)
      *position = {position->block - 1, blocks_[position->block - 1].starts.size()};
  std::vector<Start>& starts = blocks_[from.block].starts;
  if (from.block < to.block) {
    const std::vector<Start>& last = blocks_[to.block].starts;
    starts.resize(from.start);
    starts.insert(starts.end(), last.begin() + static_cast<ptrdiff_t>(to.start), last.end());
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(from.block) + 1,
                  blocks_.begin() + static_cast<ptrdiff_t>(to.block) + 1);
    to = from;
  }
  const size_t replaced = std::min(to.start - from.start, fresh.size());
  const auto begin = starts.begin() + static_cast<ptrdiff_t>(from.start);
  const auto rest = std::copy_n(fresh.begin(), replaced, begin);
  if (replaced < fresh.size())
    starts.insert(rest, fresh.begin() + static_cast<ptrdiff_t>(replaced), fresh.end());
  else
    starts.erase(rest, starts.begin() + static_cast<ptrdiff_t>(to.start));
  if (starts.size() > kMostInBlock)
    split(from.block);
}

void PieceMap::split(size_t block) {
  const std::vector<Start> starts = std::move(blocks_[block].starts);
  std::vector<Block> halves;
  for (size_t i = 0; i < starts.size(); i += kMostInBlock / 2) {
    const auto begin = starts.begin() + static_cast<ptrdiff_t>(i);
    const auto count = std::min(kMostInBlock / 2, starts.size() - i);
    halves.push_back({begin->first, {begin, begin + static_cast<ptrdiff_t>(count)}});
  }
  const auto at = blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(block));
  blocks_.insert(at, std::make_move_iterator(halves.begin()),
                 std::make_move_iterator(halves.end()));
}

}  // namespace orrery
