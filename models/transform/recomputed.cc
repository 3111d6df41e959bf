#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/rules.h"
#include "models/transform/backward_pass.h"

namespace orrery {

namespace {

/// Returns whether an op can be computed again. A done is computed again from its start, as sync.
/// In a loop the start may be in another iteration. Then the done is kept.
bool can_be_recomputed(const Program& program, const Op& op) {
  const auto starts = [&](const Op& other) {
    return !other.results.empty() && other.results.front() == op.operands.front();
  };
  return !op.results.empty() && op.issue == Issue::Sync &&
         (op.kind != OpKind::Done || program.loops.empty() ||
          std::any_of(program.ops.begin(), program.ops.end(), starts));
}

/// Returns the ops of a region whose results stay in their iteration, and can be computed again.
std::vector<OpId> ops_that_stay(const Program& program, const Loop& loop) {
  std::set<ValueId> leaving;
  for (const Carry& carry : loop.carries)
    leaving.insert(carry.yielded);
  for (const Exit& exit : loop.exits)
    leaving.insert(exit.inside);
  std::vector<OpId> ops;
  for (uint32_t i = loop.ops.begin; i < loop.ops.end; ++i) {
    const Op& op = program.ops[i];
    if (OpId(i) != loop.index && can_be_recomputed(program, op) &&
        std::none_of(op.results.begin(), op.results.end(),
                     [&](ValueId result) { return leaving.contains(result); }))
      ops.emplace_back(i);
  }
  return ops;
}

/// The meaning of a name for an op that is in loops. An index that the name leaves out, or has as
/// "[]", is any.
struct Meaning {
  bool op = false;             // the op
  std::string_view iteration;  // "l[3]", if the name is that of loop "l" that the op is in; else ""
};

/// Returns what `name` means for an op named `op`, which is `in_loops` without indices.
Meaning meaning(std::string_view name, std::string_view op, std::string_view in_loops) {
  size_t at = 0;  // in `op`
  while (!in_loops.empty()) {
    const bool index = in_loops.starts_with(kAnyIndex) && !op.substr(at).starts_with(kAnyIndex);
    if (!index) {
      if (name.empty() || name.front() != in_loops.front())
        return {};
      name.remove_prefix(1);
      in_loops.remove_prefix(1);
      ++at;
      continue;
    }
    const std::string_view own = op.substr(at, op.find(']', at) + 1 - at);
    at += own.size();
    if (name.empty())
      return {false, op.substr(0, at)};
    in_loops.remove_prefix(kAnyIndex.size());
    if (name.starts_with(own) || name.starts_with(kAnyIndex))
      name.remove_prefix(name.starts_with(own) ? own.size() : kAnyIndex.size());
  }
  return {name.empty(), {}};
}

class Recomputed {
 public:
  explicit Recomputed(const Program& program)
      : program_(program), in_loops_(names_in_loops(program)) {
    for (size_t i = 0; i < program.ops.size(); ++i)
      ops_.emplace(program.ops[i].name, OpId(i));
    for (const std::string& loop : program.empty_loops)
      empty_loops_.insert(without_indices(loop));
    for (const Loop& loop : program.loops)
      if (loop.lower == loop.upper)
        empty_loops_.insert(without_indices(loop.name));
  }

  /// Chooses the ops that the name means. Returns the error in the name, if there is one.
  std::optional<std::string> add(const std::string& name) {
    if (const auto found = ops_.find(name); found != ops_.end())
      return add_ops(name, {found->second});
    if (is_in_empty_loop(name))
      return std::nullopt;
    if (!program_.loops.empty())
      return add_of_region(name);
    std::vector<OpId> ops;
    std::vector<std::string_view> iterations(program_.ops.size());  // that each op is in
    bool loop = empty_loops_.contains(without_indices(name));
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (in_loops_[i].op.empty())
        continue;
      const Meaning meant = meaning(name, program_.ops[i].name, in_loops_[i].op);
      iterations[i] = meant.iteration;
      loop = loop || !meant.iteration.empty();
      if (meant.op)
        ops.emplace_back(i);
    }
    if (!ops.empty())
      return add_ops(name, ops);
    if (!loop)
      return error(name, name);
    add_loop(iterations);
    return std::nullopt;
  }

  /// Returns whether the name is one in a loop without iterations, whose ops are not known.
  bool is_in_empty_loop(const std::string& name) const {
    const std::string own = without_indices(name);
    return std::any_of(empty_loops_.begin(), empty_loops_.end(),
                       [&](const std::string& loop) { return own.starts_with(loop + "."); });
  }

  /// Does the same for an op of a region, or for a region that has no other in it.
  std::optional<std::string> add_of_region(const std::string& name) {
    const std::string own = without_indices(name);
    bool single = false;  // whether the name is of a single iteration
    for_each_iteration_in(name, [&](std::string_view, int64_t) { single = true; });
    for (size_t i = 0; i < program_.ops.size() && !single; ++i)
      if (without_indices(program_.ops[i].name) == own)
        return add_ops(name, {OpId(i)});
    for (size_t l = 0; l < program_.loops.size() && !single; ++l)
      if (without_indices(program_.loops[l].name) == own &&
          std::none_of(program_.loops.begin(), program_.loops.end(),
                       [&](const Loop& other) { return other.around == l; })) {
        const std::vector<OpId> ops = ops_that_stay(program_, program_.loops[l]);
        chosen_.insert(ops.begin(), ops.end());
        return std::nullopt;
      }
    return error(name, name);
  }

  std::vector<OpId> take() const { return {chosen_.begin(), chosen_.end()}; }

 private:
  std::string error(const std::string& name, const std::string& op) const {
    return fmt::format("expected the id of an op or of a loop, got \"{}\"{}", name, why(op));
  }

  /// Returns why the name does not mean an op that can be computed again.
  std::string why(const std::string& name) const {
    std::vector<std::string_view> ids;
    for (const Op& op : program_.ops) {
      ids.push_back(op.name);
      if (op.name == name)
        return op.results.empty() ? ", which has no result"
                                  : ", a start; name its done, whose value is needed";
      for (size_t r = 1; r < op.results.size(); ++r)
        if (program_.value(op.results[r]).name == name)
          return fmt::format(
              ", a result of \"{0}\"; name \"{0}\", which makes all its results again", op.name);
    }
    for (const Argument& argument : program_.arguments)
      if (program_.value(argument.value).name == name)
        return ", an array";
    return did_you_mean(name, ids);
  }

  std::optional<std::string> add_ops(const std::string& name, const std::vector<OpId>& ops) {
    for (const OpId op : ops) {
      if (!can_be_recomputed(program_, program_.op(op)))
        return error(name, program_.op(op).name);
      chosen_.insert(op);
    }
    return std::nullopt;
  }

  /// Chooses the ops of a loop. `iterations` has for each op the iteration of the loop that it is
  /// in, or "".
  void add_loop(const std::vector<std::string_view>& iterations) {
    std::map<ValueId, std::string_view> made_in;
    for (size_t i = 0; i < program_.ops.size(); ++i)
      for (const ValueId result : program_.ops[i].results)
        made_in[result] = iterations[i];
    std::set<ValueId> leaving;
    for (size_t i = 0; i < program_.ops.size(); ++i)
      for (const ValueId operand : program_.ops[i].operands)
        if (const auto made = made_in.find(operand);
            made != made_in.end() && made->second != iterations[i])
          leaving.insert(operand);
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      bool leaves = false;
      for (const ValueId result : op.results)
        leaves = leaves || leaving.contains(result);
      if (!leaves && can_be_recomputed(program_, op) && !iterations[i].empty())
        chosen_.emplace(i);
    }
  }

  const Program& program_;
  const std::vector<NameInLoops> in_loops_;
  std::map<std::string_view, OpId> ops_;  // by their names
  std::set<std::string> empty_loops_;     // by their names without indices
  std::set<OpId> chosen_;
};

}  // namespace

std::vector<OpId> recomputed_ops(const Program& program, const std::vector<NamedAt>& names,
                                 Diagnostics& diagnostics) {
  Recomputed recomputed(program);
  for (const NamedAt& each : names)
    if (const auto error = recomputed.add(each.name))
      diagnostics.add(each.origin, *error);
  return recomputed.take();
}

std::vector<OpId> all_recomputed_ops(const Program& program) {
  std::set<OpId> ops;
  std::vector<bool> in_loop(program.ops.size(), false);
  for (const Loop& loop : program.loops) {
    std::fill(in_loop.begin() + loop.ops.begin, in_loop.begin() + loop.ops.end, true);
    const std::vector<OpId> stay = ops_that_stay(program, loop);
    ops.insert(stay.begin(), stay.end());
  }
  for (size_t i = 0; i < program.ops.size(); ++i)
    if (!in_loop[i] && can_be_recomputed(program, program.ops[i]))
      ops.emplace(i);
  return {ops.begin(), ops.end()};
}

}  // namespace orrery
