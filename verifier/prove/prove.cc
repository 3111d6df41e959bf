#include "verifier/prove/prove.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "verifier/check/names.h"

namespace orrery {

namespace {

/// It counts how often each (rank, operand element) is in one result element.
using Counts = std::map<std::pair<uint32_t, int64_t>, uint32_t>;

/// Returns the first step that reduces by an operation other than the definition's.
std::optional<StepRef> foreign_reduction(const ProvenanceRun& run, Combine combine) {
  std::optional<StepRef> first;
  for (const auto& [used, step] : run.combines)
    if (used != combine && (!first || step < *first))
      first = step;
  return first;
}

/// Returns a failed proof with a sentence on the first contribution in which element `element` of
/// `rank` differs from the definition. `have` is empty if nothing was written.
Proof differs(Rank rank, int64_t element, const std::optional<Counts>& have,
              const Counts& expected) {
  std::string wrong;
  if (!have) {
    wrong = "is never written";
  } else {
    for (const auto& [from, times] : expected) {
      if (have->find(from) == have->end()) {
        wrong = fmt::format("lacks element {} of rank {}", from.second, from.first);
        break;
      }
    }
    for (auto it = have->begin(); it != have->end() && wrong.empty(); ++it) {
      const auto& [from, times] = *it;
      if (expected.find(from) == expected.end())
        wrong = fmt::format("has element {} of rank {}, which does not belong there", from.second,
                            from.first);
      else if (times != 1)
        wrong = fmt::format("has {} times element {} of rank {}", times, from.second, from.first);
    }
  }
  return {false,
          fmt::format("element {} of rank {} {}", element, rank.index(), wrong),
          {{"rank", std::to_string(rank.index())},
           {"element", std::to_string(element)},
           {"contribution", wrong}}};
}

Proof over_budget() {
  Proof proof;
  proof.holds = false;
  proof.over_budget = true;
  proof.why_not = "it takes more work than the budget";
  return proof;
}

/// Returns the smallest offset in the tensor of canonical elements [first, first + count).
int64_t lowest_offset(const View& view, int64_t first, int64_t count) {
  int64_t lowest = view.offset(first);
  view.for_each_run(first, count,
                    [&](int64_t, int64_t offset, int64_t) { lowest = std::min(lowest, offset); });
  return lowest;
}

/// Compares one rank's pieces, at canonical offsets, with its definition, at offsets of the
/// tensors.
class RankComparison {
 public:
  RankComparison(const FoldTable& folds, const Views& views, const View& from_result,
                 const View& from_operand, uint64_t budget)
      : folds_(folds),
        views_(views),
        from_result_(from_result),
        from_operand_(from_operand),
        budget_(budget) {}

  /// Returns whether more was compared than the budget allows. The comparison then stops.
  bool over_budget() const { return compared_ > budget_; }

  std::optional<Proof> first_difference(Rank rank, const Pieces& made,
                                        const Definition& definition) {
    if (const auto sizes = wrong_sizes(rank, definition))
      return sizes;
    std::optional<Difference> lowest;
    std::vector<Covered> defined;
    for (const Part& part : definition.parts) {
      if (over_budget())
        return std::nullopt;
      for_each_moved(part, from_result_, from_operand_, [&](const Part& placed) {
        placed.for_each_run([&](int64_t first, int64_t source, int64_t count) {
          defined.push_back({first, count});
          compare(made, {first, count, source, part.rank, part.ranks}, lowest);
          return !over_budget();
        });
        return !over_budget();
      });
    }
    if (!follow_on_each_other(defined))
      return Proof{false,
                   fmt::format("the definition of rank {} does not say once what each of its {} "
                               "elements is",
                               rank.index(), views_.output.elements()),
                   {}};
    if (!lowest)
      return std::nullopt;
    return differs(rank, lowest->element, lowest->have, lowest->expected);
  }

 private:
  /// Canonical result elements [first, first + count). Each is the fold of one canonical operand
  /// element of each of the ranks, from `source` on.
  struct Run {
    int64_t first;
    int64_t count;
    int64_t source;
    Rank rank;
    uint32_t ranks;
  };

  /// Canonical result elements that the definition covers.
  struct Covered {
    int64_t first;
    int64_t count;
  };

  static bool follow_on_each_other(std::vector<Covered>& covered) {
    const auto before = [](const Covered& a, const Covered& b) { return a.first < b.first; };
    if (!std::is_sorted(covered.begin(), covered.end(), before))
      std::sort(covered.begin(), covered.end(), before);
    int64_t end = 0;
    for (const Covered& each : covered) {
      if (each.first != end)
        return false;
      end += each.count;
    }
    return true;
  }

  struct Difference {
    int64_t element;  // in the tensor
    std::optional<Counts> have;
    Counts expected;
  };

  /// Returns a failed proof if the definition is of tensors of other sizes than the views'.
  std::optional<Proof> wrong_sizes(Rank rank, const Definition& definition) const {
    const int64_t result = views_.output.elements();
    const int64_t operand = views_.input.elements();
    int64_t defined = 0;
    int64_t used = 0;
    for (const Part& part : definition.parts) {
      defined += part.elements();
      if (part.ranks > 0)
        used = std::max(used, part.last_source() + 1);
    }
    if (defined > result)
      return differs(rank, result, std::nullopt, {});
    if (defined < result)
      return Proof{false,
                   fmt::format("the result of rank {} has {} elements and its definition {}",
                               rank.index(), result, defined),
                   {}};
    if (used > operand)
      return Proof{false,
                   fmt::format("the definition of rank {} uses element {} of operands of {}",
                               rank.index(), used - 1, operand),
                   {}};
    return std::nullopt;
  }

  void compare(const Pieces& made, const Run& run, std::optional<Difference>& lowest) {
    auto piece = std::upper_bound(made.begin(), made.end(), run.first,
                                  [](int64_t first, const Piece& p) { return first < p.first; });
    if (piece != made.begin())
      --piece;
    for (int64_t at = run.first; at < run.first + run.count;) {
      ++compared_;
      const bool there = piece != made.end() && at < piece->first + piece->count;
      int64_t end = run.first + run.count;
      if (there)
        end = std::min(end, piece->first + piece->count);
      if (!there || !as_defined(*piece, at - piece->first, run, at - run.first))
        note(there ? &*piece : nullptr, run, at, end - at, lowest);
      at = end;
      if (there)
        ++piece;
    }
  }

  bool as_defined(const Piece& piece, int64_t in_piece, const Run& run, int64_t in_run) const {
    const std::span<const Contribution> made_of = folds_.contributions(piece.made.fold);
    if (piece.undefined() || made_of.size() != (run.ranks == 0 ? 0U : 1U))
      return false;
    return run.ranks == 0 ||
           made_of.front() == Contribution{run.rank, run.ranks,
                                           run.source + in_run - in_piece - piece.made.origin, 1};
  }

  /// Keeps the lowest wrong element of the tensor. `piece` is null if no piece is there.
  void note(const Piece* piece, const Run& run, int64_t first, int64_t count,
            std::optional<Difference>& lowest) const {
    const int64_t element = lowest_offset(views_.output, first, count);
    if (lowest && lowest->element <= element)
      return;
    const int64_t canonical = from_result_.offset(element);
    lowest = Difference{element, std::nullopt, {}};
    const int64_t source = run.source + canonical - run.first;
    for (uint32_t r = 0; r < run.ranks; ++r)
      lowest->expected[{run.rank.index() + r, views_.input.offset(source)}] = 1;
    if (piece == nullptr || piece->undefined())
      return;
    Counts& have = lowest->have.emplace();
    for (const Contribution& part :
         folds_.contributions(piece->made.moved(canonical - piece->first)))
      for (uint32_t r = 0; r < part.ranks; ++r)
        have[{part.rank.index() + r, views_.input.offset(part.source)}] += part.times;
  }

  const FoldTable& folds_;
  const Views& views_;
  const View& from_result_;
  const View& from_operand_;
  uint64_t budget_;
  uint64_t compared_ = 0;
};

}  // namespace

Traced trace(const Schedule& schedule, const Buffers& buffers, uint64_t budget) {
  return trace(schedule, buffers, step_races(schedule), budget);
}

Traced trace(const Schedule& schedule, const Buffers& buffers, StepRaces races, uint64_t budget,
             const std::vector<OrderedHalf>* order) {
  const CollectiveId id(0);
  const Bytes itemsize(1);
  Traced traced{provenance(schedule, buffers, id, itemsize, budget, order), {}, std::move(races)};
  Digest moves;
  add_all(traced.expected.halves, &moves, id, schedule, itemsize);
  traced.expected.moves = moves;
  return traced;
}

Proof prove(const Traced& traced, const Views& views, FunctionRef<Definition(Rank)> definition,
            uint64_t budget) {
  const ProvenanceRun& run = traced.run;
  if (run.over_budget || run.pieces > budget || traced.races.over_budget)
    return over_budget();
  if (!run.stuck.empty())
    return {false, fmt::format("it does not end (see {})", info(CheckKind::DeadlockFree).name), {}};
  if (run.misread)
    return {false, run.misread->text, {{"step", run.misread->text}}};
  if (run.digest != traced.expected)
    return {false, "the walk did not run each step of the schedule once", {}};
  if (traced.races.first)
    return {false,
            traced.races.first->text(),
            {{"first", step_text(traced.races.first->first.step)},
             {"second", step_text(traced.races.first->second.step)}}};
  const Combine combine = definition(Rank(0)).combine;
  if (const std::optional<StepRef> step = foreign_reduction(run, combine))
    return {false, step_text(*step) + " reduces by another operation than the definition's", {}};
  const std::optional<View> from_result = inverse(views.output);
  const std::optional<View> from_operand = inverse(views.input);
  if (!from_result || !from_operand)
    return {false,
            fmt::format("the view of the {} does not map its {} elements to as many offsets",
                        from_result ? "operand" : "result",
                        (from_result ? views.input : views.output).elements()),
            {}};
  RankComparison comparison(run.folds, views, *from_result, *from_operand, budget - run.pieces);
  for (size_t r = 0; r < run.outputs.size(); ++r) {
    auto proof = comparison.first_difference(Rank(r), run.outputs[r], definition(Rank(r)));
    if (comparison.over_budget())
      return over_budget();
    if (proof)
      return std::move(*proof);
  }
  return {};
}

}  // namespace orrery
