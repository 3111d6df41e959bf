#include "simulator/values/fold_values.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/check.h"

namespace orrery {

namespace {

/// A WantedPiece is a piece of a node's result.
struct WantedPiece {
  Piece piece;
  Rank node;

  /// Pieces of one origin and length are computed together, since their folds may share parts.
  auto together() const { return std::pair(piece.made.origin, piece.count); }
  auto order() const {
    return std::tuple(piece.made.origin, piece.count, piece.made.fold, node, piece.first);
  }
};

/// A FoldPlan has the folds that some pieces need. Each fold comes after its sides.
struct FoldPlan {
  struct Entry {
    FoldAt made;  // the pieces' origin counts as 0
    /// For a Combine, these are the entries of its sides, and the buffer that it is computed in.
    uint32_t left = 0;
    uint32_t right = 0;
    uint32_t buffer = 0;
  };
  std::vector<Entry> entries;
  size_t buffers = 0;
};

class FoldPlanner {
 public:
  explicit FoldPlanner(const FoldTable& folds) : folds_(folds), numbers_(folds.size()) {}

  /// Returns the plan for pieces of one origin, valid until the next plan is made.
  const FoldPlan& make(std::span<const WantedPiece> wanted);

 private:
  using Entry = FoldPlan::Entry;

  /// A Number is the entry of a fold at the first offset asked for; nearly always it is the only
  /// one.
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
  FoldPlan made_;
  uint64_t plan_ = 0;
  std::vector<Number> numbers_;                            // by fold
  std::map<std::pair<FoldId, int64_t>, uint32_t> others_;  // entries at further offsets
};

const FoldPlan& FoldPlanner::make(std::span<const WantedPiece> wanted) {
  ++plan_;
  made_.entries.clear();
  others_.clear();
  for (const WantedPiece& each : wanted)
    number_of({each.piece.made.fold, 0});
  add_sides();
  sort_by_fold();
  assign_buffers();
  return made_;
}

uint32_t FoldPlanner::number_of(FoldAt made) {
  const auto next = static_cast<uint32_t>(made_.entries.size());
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
  made_.entries.push_back({made});
  return next;
}

void FoldPlanner::add_sides() {
  for (size_t i = 0; i < made_.entries.size(); ++i) {
    const FoldAt made = made_.entries[i].made;
    const Fold& fold = folds_.fold(made.fold);
    ORRERY_CHECK(fold.kind != Fold::Kind::Undefined, "only what was written has a value");
    if (fold.kind != Fold::Kind::Combine)
      continue;
    // An origin is the position of the leftmost input, and a shift leads from the left side's
    // origin to the right side's.
    const uint32_t left = number_of(FoldAt{fold.left}.moved(made.origin));
    const uint32_t right = number_of(FoldAt{fold.right}.moved(made.origin + fold.shift));
    made_.entries[i].left = left;
    made_.entries[i].right = right;
  }
}

/// Sorts the entries by fold: the sides of a fold have lower numbers than the fold.
void FoldPlanner::sort_by_fold() {
  std::vector<uint32_t> order(made_.entries.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(made_.entries[a].made.fold, a) < std::pair(made_.entries[b].made.fold, b);
  });
  std::vector<uint32_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    position[order[i]] = static_cast<uint32_t>(i);
  std::vector<Entry> sorted;
  sorted.reserve(made_.entries.size());
  for (const uint32_t from : order) {
    Entry entry = made_.entries[from];
    entry.left = position[entry.left];
    entry.right = position[entry.right];
    sorted.push_back(entry);
  }
  made_.entries = std::move(sorted);
}

/// Gives each sum a buffer. The last sum that reads a buffer may itself be computed in it.
void FoldPlanner::assign_buffers() {
  std::vector<size_t> last_use(made_.entries.size(), 0);
  for (size_t i = 0; i < made_.entries.size(); ++i)
    if (is_sum(made_.entries[i]))
      last_use[made_.entries[i].left] = last_use[made_.entries[i].right] = i;
  made_.buffers = 0;
  std::vector<uint32_t> free;
  const auto free_after = [&](uint32_t side, size_t i) {
    if (is_sum(made_.entries[side]) && last_use[side] == i)
      free.push_back(made_.entries[side].buffer);
  };
  for (size_t i = 0; i < made_.entries.size(); ++i) {
    Entry& entry = made_.entries[i];
    if (!is_sum(entry))
      continue;
    free_after(entry.left, i);
    if (entry.right != entry.left)
      free_after(entry.right, i);
    if (free.empty())
      free.push_back(static_cast<uint32_t>(made_.buffers++));
    entry.buffer = free.back();
    free.pop_back();
    if (last_use[i] == 0)
      free.push_back(entry.buffer);  // no sum reads it
  }
}

/// Runs plans on the data, block by block, so that the buffers stay in the cache.
class Evaluation {
 public:
  Evaluation(const FoldTable& folds, const Folding& folding)
      : folds_(folds), folding_(folding), item_(itemsize(folding.held).count()) {}

  void run(const FoldPlan& plan, std::span<const WantedPiece> wanted,
           std::span<const std::byte* const> operands, VisitFoldValues visit) {
    operands_ = operands;
    const auto [origin, count] = wanted.front().together();
    const int64_t block = block_of(plan, count);
    memory_.resize(plan.buffers * static_cast<size_t>(block * item_));
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

  int64_t block_of(const FoldPlan& plan, int64_t count) const {
    constexpr int64_t kCached = int64_t{256} << 10;  // bytes of all buffers
    constexpr int64_t kLeast = 64;
    const auto buffers = static_cast<int64_t>(plan.buffers);
    return std::min(count, std::max(kLeast, kCached / (item_ * std::max<int64_t>(buffers, 1))));
  }

  void run_block(const FoldPlan& plan, std::span<const WantedPiece> wanted, const Block& block,
                 VisitFoldValues visit) {
    at_.resize(plan.entries.size());
    auto next = wanted.begin();
    for (size_t i = 0; i < plan.entries.size(); ++i) {
      const FoldPlan::Entry& entry = plan.entries[i];
      at_[i] = compute(entry, block);
      if (entry.made.origin != 0)
        continue;  // only folds at the origin are wanted
      for (; next != wanted.end() && next->piece.made.fold == entry.made.fold; ++next)
        visit(next->node, next->piece.first + block.first, at_[i], block.count);
    }
  }

  const std::byte* compute(const FoldPlan::Entry& entry, const Block& block) {
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

/// Returns the pieces in an order in which pieces that are computed together follow each other.
std::vector<WantedPiece> wanted_of(std::span<const Pieces> results) {
  std::vector<WantedPiece> wanted;
  for (size_t node = 0; node < results.size(); ++node)
    for (const Piece& piece : results[node])
      wanted.push_back({piece, Rank(node)});
  std::sort(wanted.begin(), wanted.end(),
            [](const WantedPiece& a, const WantedPiece& b) { return a.order() < b.order(); });
  return wanted;
}

template <class Visit>
void for_each_together(std::span<const WantedPiece> wanted, Visit&& visit) {
  while (!wanted.empty()) {
    const auto end = std::find_if(wanted.begin(), wanted.end(), [&](const WantedPiece& each) {
      return each.together() != wanted.front().together();
    });
    const auto count = static_cast<size_t>(end - wanted.begin());
    visit(wanted.first(count));
    wanted = wanted.subspan(count);
  }
}

}  // namespace

void for_each_fold_value(const FoldTable& folds, std::span<const Pieces> results,
                         const Folding& folding, std::span<const std::byte* const> operands,
                         VisitFoldValues visit) {
  FoldPlanner planner(folds);
  Evaluation evaluation(folds, folding);
  for_each_together(wanted_of(results), [&](std::span<const WantedPiece> together) {
    evaluation.run(planner.make(together), together, operands, visit);
  });
}

struct FoldValues::Plans {
  struct Together {
    std::span<const WantedPiece> wanted;
    FoldPlan plan;
  };
  std::vector<WantedPiece> wanted;
  std::vector<Together> plans;
  Evaluation evaluation;
};

FoldValues::FoldValues(const FoldTable& folds, std::span<const Pieces> results,
                       const Folding& folding)
    : plans_(std::make_unique<Plans>(Plans{wanted_of(results), {}, Evaluation(folds, folding)})) {
  FoldPlanner planner(folds);
  for_each_together(plans_->wanted, [&](std::span<const WantedPiece> together) {
    plans_->plans.push_back({together, planner.make(together)});
  });
}

FoldValues::~FoldValues() = default;

void FoldValues::for_each(std::span<const std::byte* const> operands, VisitFoldValues visit) {
  for (const Plans::Together& each : plans_->plans)
    plans_->evaluation.run(each.plan, each.wanted, operands, visit);
}

}  // namespace orrery
