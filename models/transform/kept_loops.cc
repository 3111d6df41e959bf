// This is the part of backward_pass.h that says which loops go back as loops.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/base/compiler.h"
#include "models/program/loops.h"
#include "models/program/written_iterations.h"
#include "models/transform/backward_pass.h"
#include "models/transform/gradients.h"

namespace orrery {

namespace {

/// With "recompute", loops of no more iterations are written out: an array of all iterations is
/// held longer than what is in it, and each value lies in it beside itself.
constexpr int64_t kFewIterations = 8;
/// Iterations are only written out to save memory if the program then has no more ops, those of its
/// backward pass not counted.
constexpr int64_t kMostOps = 8192;

/// Returns for each value whether one of `of` depends on it.
std::vector<bool> needed_by(const Program& program, const std::vector<ValueId>& of) {
  std::vector<bool> needed(program.values.size(), false);
  bool grew = true;
  const auto need = [&](ValueId value, bool is) {
    grew = grew || (is && !needed[value.index()]);
    needed[value.index()] = needed[value.index()] || is;
  };
  for (const ValueId value : of)
    need(value, true);
  while (grew) {
    grew = false;
    for (auto op = program.ops.rbegin(); op != program.ops.rend(); ++op)
      for (const ValueId operand : op->operands)
        need(operand, std::any_of(op->results.begin(), op->results.end(),
                                  [&](ValueId result) { return needed[result.index()]; }));
    for (const Loop& loop : program.loops) {
      for (const Carry& carry : loop.carries) {
        const bool is = needed[carry.result.index()] || needed[carry.param.index()];
        need(carry.initial, is);
        need(carry.yielded, is);
      }
      for (const Exit& exit : loop.exits)
        need(exit.inside, needed[exit.outside.index()]);
    }
  }
  return needed;
}

/// GoingBack follows which values get a cotangent, iteration by iteration. A value is wanted if it
/// depends, in any iteration, on an argument whose gradient is asked for.
class GoingBack {
 public:
  GoingBack(const Program& program, const VjpRequest& request)
      : program_(program),
        wanted_(program.values.size(), false),
        body_(bodies_of_values(program)),
        has_(program.values.size(), false),
        carried_back_(program.values.size(), false) {
    Diagnostics errors("");
    wanted_ = dependents(
        program, named_arguments(program, request.with_respect_to, Differentiated::Inexact, errors),
        Differentiated::Inexact);
    list_places();
    for (const ValueId value : named_results(program, request.of, Differentiated::Inexact, errors))
      has_[value.index()] = true;
    go_back(0, places_.size());
  }

  /// Returns whether the iterations of each loop begin alike and save alike, and all but the last
  /// one pass cotangents to the same carries. The last one goes back first, so it may have fewer.
  bool is_alike() const {
    const std::vector<Recurrence> repeating = recurrences(program_);
    for (size_t l = 0; l < program_.loops.size(); ++l)
      if (repeating[l].period != 1 || !saves_alike(l))
        return false;
    return carries_alike_;
  }

  /// Returns whether each carry that gets a cotangent is wanted in all iterations of its loop.
  /// Requires is_alike().
  bool is_wanted_alike() const {
    return std::ranges::all_of(program_.loops, [&](const Loop& loop) {
      return std::ranges::all_of(loop.carries, [&](const Carry& carry) {
        return !carried_back_[carry.param.index()] ||
               (wanted_[carry.initial.index()] && wanted_[carry.yielded.index()]);
      });
    });
  }

 private:
  /// A Place has an op, or is the begin or the end of a loop. An end has the place of the begin.
  struct Place {
    std::optional<OpId> op;
    size_t loop;
    std::optional<size_t> begin;
  };

  void list_places() {
    std::vector<size_t> open;
    for_each_part(program_, ThreadId(0),
                  {[&](OpId op) {
                     places_.push_back({op, 0, {}});
                     return true;
                   },
                   [&](size_t loop) {
                     open.push_back(places_.size());
                     places_.push_back({{}, loop, {}});
                     return true;
                   },
                   [&](size_t loop) {
                     places_.push_back({{}, loop, open.back()});
                     open.pop_back();
                     return true;
                   }});
  }

  bool has_any(const std::vector<ValueId>& values, const std::vector<bool>& which) const {
    return std::ranges::any_of(values, [&](ValueId value) { return which[value.index()]; });
  }

  /// Returns whether no array of all iterations holds a value a second time. It does if, after the
  /// first iteration, a carry has the value of another carry, or one from outside of the loop. It
  /// also does if the loop is in another one: each iteration of that saves the first values again.
  bool saves_alike(size_t l) const {
    const std::vector<Carry>& carries = program_.loops[l].carries;
    return !program_.loops[l].around && std::ranges::all_of(carries, [&](const Carry& carry) {
      return carry.yielded == carry.initial ||
             (body_[carry.yielded.index()] == l &&
              std::ranges::all_of(carries, [&](const Carry& other) {
                return other.yielded != carry.yielded || other.initial == carry.initial;
              }));
    });
  }

  void go_back(size_t begin, size_t end) {
    for (size_t p = end; p-- > begin;)
      if (places_[p].op) {
        const Op& op = program_.op(*places_[p].op);
        if (has_any(op.results, has_))
          for (const ValueId operand : op.operands)
            give(operand);
      } else {
        const size_t first = *places_[p].begin;
        go_back_through(program_.loops[places_[p].loop], first + 1, p);
        p = first;
      }
  }

  void give(ValueId value) { has_[value.index()] = has_[value.index()] || wanted_[value.index()]; }

  /// After two iterations nothing changes any more where iterations are alike.
  void go_back_through(const Loop& loop, size_t begin, size_t end) {
    std::vector<bool> reached;
    for (const Carry& carry : loop.carries)
      reached.push_back(has_[carry.result.index()]);
    if (std::ranges::count(reached, true) == 0)
      return;
    for (int64_t k = 0; k < std::min<int64_t>(loop.upper - loop.lower, 2); ++k) {
      for (size_t c = 0; c < reached.size(); ++c)
        if (reached[c])
          give(loop.carries[c].yielded);
      go_back(begin, end);
      std::vector<bool> before;
      for (const Carry& carry : loop.carries) {
        before.push_back(has_[carry.param.index()]);
        if (before.back())
          carried_back_[carry.param.index()] = true;
      }
      for (size_t c = 0; c < reached.size() && k + 1 < loop.upper - loop.lower; ++c)
        carries_alike_ = carries_alike_ && (before[c] == reached[c] || (k == 0 && before[c]));
      reached = std::move(before);
      forget(begin, end);
      for (const Carry& carry : loop.carries)
        has_[carry.param.index()] = false;
    }
    for (size_t c = 0; c < reached.size(); ++c)
      if (reached[c])
        give(loop.carries[c].initial);
  }

  /// Makes the values of a body have no cotangents, as in the iteration before.
  void forget(size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p)
      if (places_[p].op)
        for (const ValueId result : program_.op(*places_[p].op).results)
          has_[result.index()] = false;
      else
        for (const Carry& carry : program_.loops[places_[p].loop].carries)
          has_[carry.param.index()] = has_[carry.result.index()] = false;
  }

  const Program& program_;
  std::vector<bool> wanted_;                       // by value
  const std::vector<std::optional<size_t>> body_;  // by value
  std::vector<Place> places_;
  std::vector<bool> has_;           // by value
  std::vector<bool> carried_back_;  // by value: whether it is a param that had a cotangent
  bool carries_alike_ = true;
};

/// Returns the program with the ends of its loops written out, or nothing if all iterations are
/// better written out. If it would have too many ops so, it is returned as it is.
std::optional<Program> with_written_ends(const Program& program, Checks checks,
                                         const VjpRequest& request, bool may_be_written_out) {
  // Some carries depend on the arguments only from a later iteration on.
  constexpr int64_t kMostMoreFirst = 4;
  WrittenEnds ends;
  while (true) {
    Program some = peeled(program, checks, ends);
    if (static_cast<int64_t>(some.ops.size()) > kMostOps) {
      if (ends.has_few_last)
        return ends.more_first == 0 ? std::optional(program) : std::nullopt;
      ends.has_few_last = true;
      continue;
    }
    if (!may_be_written_out)
      return some;
    const GoingBack back(some, request);
    if (!back.is_alike())
      return std::nullopt;
    if (back.is_wanted_alike())
      return some;
    if (++ends.more_first > kMostMoreFirst)
      return std::nullopt;
  }
}

/// Returns how many ops all iterations have.
Int128 ops_of(const Program& program) {
  Int128 ops = 0;
  for (const uint64_t times : repetitions(program))
    ops += times;
  return ops;
}

}  // namespace

std::optional<Program> with_loops(const Program& program, Checks checks,
                                  const VjpRequest& request) {
  Diagnostics errors("");
  const std::vector<ValueId> of =
      named_results(program, request.of, Differentiated::Inexact, errors);
  const std::vector<ValueId> arguments =
      named_arguments(program, request.with_respect_to, Differentiated::Inexact, errors);
  static_cast<void>(recomputed_ops(program, request.recompute, errors));
  if (program.loops.empty() || !is_one_program(program, request.origin, errors) || !errors.empty())
    return std::nullopt;
  const std::vector<std::optional<size_t>> bodies = bodies_of_values(program);
  const std::vector<bool> needed = needed_by(program, of);
  const std::vector<bool> wanted = dependents(program, arguments, Differentiated::Inexact);
  for (const Loop& loop : program.loops) {
    if (loop.around && request.recompute_all)
      return std::nullopt;
    for (const Exit& exit : loop.exits)
      if (wanted[exit.outside.index()] && needed[exit.outside.index()])
        return std::nullopt;
  }
  if (std::ranges::any_of(of, [&](ValueId value) { return bodies[value.index()].has_value(); }))
    return std::nullopt;
  if (request.keep_loops || request.recompute_all || request.prefetch > 0)
    return program;
  const bool writes_out = ops_of(program) <= std::min(kMostOps, request.most_ops);
  if (!request.recompute.empty()) {
    const bool are_few = std::ranges::all_of(
        program.loops, [](const Loop& loop) { return loop.upper - loop.lower <= kFewIterations; });
    if (writes_out && (are_few || !GoingBack(program, request).is_alike()))
      return std::nullopt;
    return program;
  }
  return with_written_ends(program, checks, request, writes_out);
}

}  // namespace orrery
