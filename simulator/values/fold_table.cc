#include "simulator/values/fold_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "models/base/hash.h"

namespace orrery {
namespace {

/// A Change says that from rank `rank` on, input element `source` counts `times` more.
struct Change {
  int64_t source;
  uint64_t rank;
  int64_t times;
};

/// Most sums have few parts.
using Changes = boost::container::small_vector<Change, 8>;

void add_changes(Changes& changes, std::span<const Contribution> contributions, int64_t shift) {
  for (const Contribution& c : contributions) {
    changes.push_back({c.source + shift, c.rank.index(), int64_t{c.times}});
    changes.push_back({c.source + shift, uint64_t{c.rank.index()} + c.ranks, -int64_t{c.times}});
  }
}

uint32_t held(int64_t times) {
  return static_cast<uint32_t>(std::min<int64_t>(times, std::numeric_limits<uint32_t>::max()));
}

/// Appends the sum of `a` and `b`, which may be in `to`. The sources of `b` are moved by `shift`.
void append_sum(std::span<const Contribution> a, std::span<const Contribution> b, int64_t shift,
                Contributions& to) {
  Changes changes;
  add_changes(changes, a, 0);
  add_changes(changes, b, shift);
  std::sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) {
    return x.source != y.source ? x.source < y.source : x.rank < y.rank;
  });

  // The changes of each source add up to 0, so `times` is 0 at the border between two sources.
  const auto begin = static_cast<ptrdiff_t>(to.size());
  int64_t times = 0;
  uint64_t since = 0;
  for (size_t i = 0; i < changes.size();) {
    const Change at = changes[i];
    int64_t next = times;
    for (; i < changes.size() && changes[i].source == at.source && changes[i].rank == at.rank; ++i)
      next += changes[i].times;
    if (held(next) != held(times)) {
      if (times != 0)
        to.push_back({Rank(since), static_cast<uint32_t>(at.rank - since), at.source, held(times)});
      since = at.rank;
    }
    times = next;
  }
  std::sort(to.begin() + begin, to.end());
}

uint64_t hash(const Fold& fold) {
  const uint64_t what = static_cast<uint64_t>(fold.kind) << 8U | static_cast<uint64_t>(fold.op);
  const uint64_t sides = uint64_t{fold.left.index()} << 32U | fold.right.index();
  return mix(mix(mix(what << 32U | fold.rank.index()) ^ sides) ^ static_cast<uint64_t>(fold.shift));
}

}  // namespace

Contributions sum(const Contributions& a, const Contributions& b) {
  Contributions result;
  append_sum(a, b, 0, result);
  return result;
}

FoldTable::FoldTable() : known_(64, 0) {
  add({});
  Fold zero;
  zero.kind = Fold::Kind::Zero;
  add(zero);
}

FoldAt FoldTable::input(Rank rank, int64_t element) {
  Fold fold;
  fold.kind = Fold::Kind::Input;
  fold.rank = rank;
  return {intern(fold), element};
}

FoldAt FoldTable::combine(Combine op, FoldAt left, FoldAt right) {
  if (left == undefined() || right == undefined())
    return undefined();
  if (left == zero() && right == zero())
    return zero();
  Fold fold;
  fold.kind = Fold::Kind::Combine;
  fold.op = op;
  fold.left = left.fold;
  fold.right = right.fold;
  if (left.has_inputs() && right.has_inputs())
    fold.shift = right.origin - left.origin;
  return {intern(fold), left.has_inputs() ? left.origin : right.origin};
}

std::span<const Contribution> FoldTable::contributions(FoldId id) const {
  const uint64_t begin = id.index() == 0 ? 0 : ends_[id.index() - 1];
  return std::span(contributions_).subspan(begin, ends_[id.index()] - begin);
}

Contributions FoldTable::contributions(FoldAt at) const {
  const std::span<const Contribution> relative = contributions(at.fold);
  Contributions result(relative.begin(), relative.end());
  for (Contribution& c : result)
    c.source += at.origin;
  return result;
}

FoldId FoldTable::intern(const Fold& fold) {
  const size_t slot = slot_of(fold);
  if (known_[slot] != 0)
    return FoldId(known_[slot]);
  const FoldId id(folds_.size());
  add(fold);
  known_[slot] = id.index();
  if (2 * folds_.size() > known_.size())
    grow();
  return id;
}

size_t FoldTable::slot_of(const Fold& fold) const {
  // Most folds extend one that was made recently. So the search starts near the entry of that one,
  // and a table of millions is read almost in order. If the first entry is taken, the search goes
  // on in steps that depend on the fold.
  const size_t mask = known_.size() - 1;
  size_t slot = (fold.kind == Fold::Kind::Input ? fold.rank.index() : fold.left.index()) & mask;
  if (known_[slot] == 0 || folds_[known_[slot]] == fold)
    return slot;
  const size_t step = hash(fold) | 1U;
  while (known_[slot] != 0 && folds_[known_[slot]] != fold)
    slot = (slot + step) & mask;
  return slot;
}

void FoldTable::add(const Fold& fold) {
  if (fold.kind == Fold::Kind::Input) {
    contributions_.push_back({fold.rank, 1, 0, 1});
  } else if (fold.kind == Fold::Kind::Combine) {
    append_sum(contributions(fold.left), contributions(fold.right), fold.shift, contributions_);
  }
  folds_.push_back(fold);
  ends_.push_back(contributions_.size());
}

void FoldTable::grow() {
  known_.assign(2 * known_.size(), 0);
  for (uint32_t i = FoldAt::kWithoutInputs; i < folds_.size(); ++i)
    known_[slot_of(folds_[i])] = i;
}

}  // namespace orrery
