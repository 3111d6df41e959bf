#include "simulator/values/fold_values.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/check.h"

namespace orrery {

namespace {

/// A piece of a node's result.
struct Wanted {
  Piece piece;
  Rank node;

  /// Pieces of one origin and length are computed together: their folds may share parts.
  auto together() const { return std::pair(piece.made.origin, piece.count); }
  auto order() const {
    return std::tuple(piece.made.origin, piece.count, piece.made.fold, node, piece.first);
  }
};

/// The folds that some pieces need, in an order in which each comes after its sides.
class Plan {
 public:
  explicit Plan(const FoldTable& folds) : folds_(folds), numbers_(folds.size()) {}

  struct Entry {
    FoldAt made;  // the pieces' origin counts as 0
    /// Of a Combine: the entries of its sides, and the buffer that it is computed in.
    uint32_t left = 0;
    uint32_t right = 0;
    uint32_t buffer = 0;
  };

  /// Makes the plan for pieces of one origin.
  void make(std::span<const Wanted> wanted);

  const std::vector<Entry>& entries() const { return entries_; }
  size_t buffers() const { return buffers_; }

 private:
  /// The entry of a fold at the first offset that was asked for; nearly always there is only one.
  struct Number {
    uint64_t plan = 0;  // counts for this plan alone
    int64_t offset = 0;
    uint32_t entry = 0;
  };

  uint32_t number_of(FoldAt made);
  void add_sides();
  void sort_by_fold();
  void assign_buffers();
  bool is_sum(const Entry& entry) const {
    return folds_.fold(entry.made.fold).kind == Fold::Kind::Combine;
  }

  const FoldTable& folds_;
  std::vector<Entry> entries_;
  size_t buffers_ = 0;
  uint64_t plan_ = 0;
  std::vector<Number> numbers_;                            // by fold
  std::map<std::pair<FoldId, int64_t>, uint32_t> others_;  // entries at further offsets
};

void Plan::make(std::span<const Wanted> wanted) {
  ++plan_;
  entries_.clear();
  others_.clear();
  for (const Wanted& each : wanted)
    number_of({each.piece.made.fold, 0});
  add_sides();
  sort_by_fold();
  assign_buffers();
}

uint32_t Plan::number_of(FoldAt made) {
  const auto next = static_cast<uint32_t>(entries_.size());
  Number& known = numbers_[made.fold.index()];
  if (known.plan == plan_ && known.offset == made.origin)
    return known.entry;
  if (known.plan != plan_) {
    known = {plan_, made.origin, next};
  } else {
    const auto [other, added] = others_.emplace(std::pair(made.fold, made.origin), next);
    if (!added)
      return other->second;
  }
  entries_.push_back({made});
  return next;
}

void Plan::add_sides() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const FoldAt made = entries_[i].made;
    const Fold& fold = folds_.fold(made.fold);
    ORRERY_CHECK(fold.kind != Fold::Kind::Undefined, "only what was written has a value");
    if (fold.kind != Fold::Kind::Combine)
      continue;
    // An origin is that of the leftmost input, and a shift leads from side to side.
    const uint32_t left = number_of(FoldAt{fold.left}.moved(made.origin));
    const uint32_t right = number_of(FoldAt{fold.right}.moved(made.origin + fold.shift));
    entries_[i].left = left;
    entries_[i].right = right;
  }
}

/// A fold's sides have lower numbers than the fold.
void Plan::sort_by_fold() {
  std::vector<uint32_t> order(entries_.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(entries_[a].made.fold, a) < std::pair(entries_[b].made.fold, b);
  });
  std::vector<uint32_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    position[order[i]] = static_cast<uint32_t>(i);
  std::vector<Entry> sorted;
  sorted.reserve(entries_.size());
  for (const uint32_t from : order) {
    Entry entry = entries_[from];
    entry.left = position[entry.left];
    entry.right = position[entry.right];
    sorted.push_back(entry);
  }
  entries_ = std::move(sorted);
}

/// The last sum that reads a buffer may be computed in it.
void Plan::assign_buffers() {
  std::vector<size_t> last_use(entries_.size(), 0);
  for (size_t i = 0; i < entries_.size(); ++i)
    if (is_sum(entries_[i]))
      last_use[entries_[i].left] = last_use[entries_[i].right] = i;
  buffers_ = 0;
  std::vector<uint32_t> free;
  const auto free_after = [&](uint32_t side, size_t i) {
    if (is_sum(entries_[side]) && last_use[side] == i)
      free.push_back(entries_[side].buffer);
  };
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!is_sum(entry))
      continue;
    free_after(entry.left, i);
    if (entry.right != entry.left)
      free_after(entry.right, i);
    if (free.empty())
      free.push_back(static_cast<uint32_t>(buffers_++));
    entry.buffer = free.back();
    free.pop_back();
    if (last_use[i] == 0)
      free.push_back(entry.buffer);  // no sum reads it
  }
}

/// Runs plans on the data, block by block: the buffers stay in the cache.
class Evaluation {
 public:
  Evaluation(const FoldTable& folds, const Folding& folding,
             std::span<const std::byte* const> operands)
      : folds_(folds),
        folding_(folding),
        item_(itemsize(folding.held).count()),
        operands_(operands) {}

  void run(const Plan& plan, std::span<const Wanted> wanted, VisitFoldValues visit) {
    const auto [origin, count] = wanted.front().together();
    const int64_t block = block_of(plan, count);
    memory_.resize(plan.buffers() * static_cast<size_t>(block * item_));
    for (int64_t done = 0; done < count; done += block)
      run_block(plan, wanted, {origin + done, done, std::min(block, count - done), block}, visit);
  }

 private:
  struct Block {
    int64_t origin;  // of the folds
    int64_t first;   // in the pieces
    int64_t count;
    int64_t most;  // of any block
  };

  int64_t block_of(const Plan& plan, int64_t count) const {
    constexpr int64_t kCached = int64_t{256} << 10;  // bytes of all buffers
    constexpr int64_t kLeast = 64;
    const auto buffers = static_cast<int64_t>(plan.buffers());
    return std::min(count, std::max(kLeast, kCached / (item_ * std::max<int64_t>(buffers, 1))));
  }

  void run_block(const Plan& plan, std::span<const Wanted> wanted, const Block& block,
                 VisitFoldValues visit) {
    at_.resize(plan.entries().size());
    auto next = wanted.begin();
    for (size_t i = 0; i < plan.entries().size(); ++i) {
      const Plan::Entry& entry = plan.entries()[i];
      at_[i] = compute(entry, block);
      if (entry.made.origin != 0)
        continue;  // wanted are those at the origin
      for (; next != wanted.end() && next->piece.made.fold == entry.made.fold; ++next)
        visit(next->node, next->piece.first + block.first, at_[i], block.count);
    }
  }

  const std::byte* compute(const Plan::Entry& entry, const Block& block) {
    const Fold& fold = folds_.fold(entry.made.fold);
    if (fold.kind == Fold::Kind::Input)
      return operands_[fold.rank.index()] + (block.origin + entry.made.origin) * item_;
    if (fold.kind == Fold::Kind::Zero) {
      zeros_.resize(std::max(zeros_.size(), static_cast<size_t>(block.count * item_)));
      return zeros_.data();
    }
    std::byte* const target = memory_.data() + entry.buffer * (block.most * item_);
    combine_into(folding_, fold.op, target, at_[entry.left], at_[entry.right], block.count);
    return target;
  }

  const FoldTable& folds_;
  const Folding folding_;
  const int64_t item_;
  std::span<const std::byte* const> operands_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> zeros_;
  std::vector<const std::byte*> at_;  // per entry of the plan
};

}  // namespace

void for_each_fold_value(const FoldTable& folds, std::span<const Pieces> results,
                         const Folding& folding, std::span<const std::byte* const> operands,
                         VisitFoldValues visit) {
  std::vector<Wanted> wanted;
  for (size_t node = 0; node < results.size(); ++node)
    for (const Piece& piece : results[node])
      wanted.push_back({piece, Rank(node)});
  std::sort(wanted.begin(), wanted.end(),
            [](const Wanted& a, const Wanted& b) { return a.order() < b.order(); });
  Plan plan(folds);
  Evaluation evaluation(folds, folding, operands);
  for (auto first = wanted.begin(); first != wanted.end();) {
    const auto end = std::find_if(first, wanted.end(), [&](const Wanted& each) {
      return each.together() != first->together();
    });
    const std::span<const Wanted> alike(first, end);
    plan.make(alike);
    evaluation.run(plan, alike, visit);
    first = end;
  }
}

}  // namespace orrery
