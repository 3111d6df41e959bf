#include "simulator/values/fold_table.h"

#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "models/base/check.h"
#include "models/base/hash.h"

namespace orrery {

namespace {

uint64_t hash(const Fold& fold) {
  const uint64_t what = static_cast<uint64_t>(fold.kind) << 8U | static_cast<uint64_t>(fold.op);
  const uint64_t sides = uint64_t{fold.left.index()} << 32U | fold.right.index();
  return mix(mix(mix(what << 32U | fold.rank.index()) ^ sides) ^ static_cast<uint64_t>(fold.shift));
}

}  // namespace

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
  Fold fold;
  fold.kind = Fold::Kind::Combine;
  fold.op = op;
  fold.left = left.fold;
  fold.right = right.fold;
  if (left.origin && right.origin)
    fold.shift = *right.origin - *left.origin;
  return {intern(fold), left.origin ? left.origin : right.origin};
}

std::span<const Contribution> FoldTable::contributions(FoldId id) const {
  const uint64_t begin = id.index() == 0 ? 0 : ends_[id.index() - 1];
  return std::span(contributions_).subspan(begin, ends_[id.index()] - begin);
}

Contributions FoldTable::contributions(FoldAt at) const {
  const std::span<const Contribution> relative = contributions(at.fold);
  Contributions result(relative.begin(), relative.end());
  for (Contribution& c : result)
    c.source += at.origin.value_or(0);
  return result;
}

FoldId FoldTable::intern(const Fold& fold) {
  const size_t mask = known_.size() - 1;
  for (size_t slot = hash(fold) & mask;; slot = (slot + 1) & mask) {
    if (known_[slot] == 0) {
      const FoldId id(folds_.size());
      add(fold);
      known_[slot] = id.index() + 1;
      if (2 * folds_.size() > known_.size())
        grow();
      return id;
    }
    if (folds_[known_[slot] - 1] == fold)
      return FoldId(known_[slot] - 1);
  }
}

void FoldTable::add(const Fold& fold) {
  if (fold.kind == Fold::Kind::Input) {
    contributions_.push_back({fold.rank, 1, 0, 1});
  } else if (fold.kind == Fold::Kind::Combine) {
    const std::span<const Contribution> left = contributions(fold.left);
    const std::span<const Contribution> right = contributions(fold.right);
    Contributions moved(right.begin(), right.end());
    for (Contribution& c : moved)
      c.source += fold.shift;
    const Contributions both = sum({left.begin(), left.end()}, moved);
    contributions_.insert(contributions_.end(), both.begin(), both.end());
  }
  folds_.push_back(fold);
  ends_.push_back(contributions_.size());
}

void FoldTable::grow() {
  known_.assign(2 * known_.size(), 0);
  const size_t mask = known_.size() - 1;
  for (size_t i = 2; i < folds_.size(); ++i) {
    size_t slot = hash(folds_[i]) & mask;
    while (known_[slot] != 0)
      slot = (slot + 1) & mask;
    known_[slot] = static_cast<uint32_t>(i) + 1;
  }
}

Storage FoldTable::evaluate(FoldAt at, int64_t count, WorkType type,
                            std::span<const std::byte* const> operands) const {
  // Sides come before what they are combined in, so one pass down finds what is needed, and one
  // pass up works it out.
  using Needed = std::pair<FoldId, int64_t>;
  const auto sides = [&](Needed whole) {
    const Fold& parent = fold(whole.first);
    const bool placed = !contributions(parent.left).empty();
    return std::pair<Needed, Needed>{
        {parent.left, placed ? whole.second : 0},
        {parent.right, contributions(parent.right).empty() ? 0 : whole.second + parent.shift}};
  };
  std::set<Needed> needed{{at.fold, at.origin.value_or(0)}};
  for (auto next = needed.rbegin(); next != needed.rend(); ++next) {
    if (fold(next->first).kind != Fold::Kind::Combine)
      continue;
    const auto [left, right] = sides(*next);
    needed.insert(left);
    needed.insert(right);
  }

  const int64_t item = itemsize(type).count();
  std::map<Needed, Storage> made;
  for (const Needed& each : needed) {
    const Fold& how = fold(each.first);
    ORRERY_CHECK(how.kind != Fold::Kind::Undefined, "only what was written has a value");
    Storage& value = made.emplace(each, Storage(static_cast<size_t>(count * item))).first->second;
    if (count == 0)
      continue;
    if (how.kind == Fold::Kind::Input) {
      std::memcpy(value.data(), operands[how.rank.index()] + each.second * item, value.size());
    } else if (how.kind == Fold::Kind::Combine) {
      const auto [left, right] = sides(each);
      combine_into(type, how.op, value.data(), made.at(left).data(), made.at(right).data(), count);
    }
  }
  return std::move(made.at({at.fold, at.origin.value_or(0)}));
}

}  // namespace orrery
