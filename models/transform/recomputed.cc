#include "models/transform/recomputed.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/program/did_you_mean.h"
#include "models/program/folded.h"
#include "models/program/iteration_name.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

/// Done is computed again from its start, as a sync op.
bool can_be_recomputed(const Op& op) {
  return !op.results.empty() && op.issue == Issue::Sync;
}

class Recomputed {
 public:
  explicit Recomputed(const Program& program)
      : program_(program), in_loops_(names_in_loops(program)) {
    for (size_t i = 0; i < program.ops.size(); ++i) {
      ops_[program.ops[i].name].push_back(OpId(i));
      if (!in_loops_[i].op.empty())
        ops_[in_loops_[i].op].push_back(OpId(i));
    }
    for (const Loop& loop : program.loops)
      loops_.insert(without_indices(loop.name));
  }

  /// The error in the name.
  std::optional<std::string> add(const std::string& name) {
    if (const auto found = ops_.find(name); found != ops_.end()) {
      for (const OpId op : found->second) {
        if (!can_be_recomputed(program_.op(op)))
          return error(name, program_.op(op).name);
        chosen_.insert(op);
      }
      return std::nullopt;
    }
    if (!loops_.contains(name))
      return error(name, name);
    add_loop(name);
    return std::nullopt;
  }

  std::vector<OpId> take() const { return {chosen_.begin(), chosen_.end()}; }

 private:
  std::string error(const std::string& name, const std::string& op) const {
    return fmt::format("expected the id of an op or of a loop, got \"{}\"{}", name, why(op));
  }

  /// Why the name is none of an op that can be computed again.
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

  /// The iteration of the loop that an op is in: "l[3]". Empty if it is in none.
  static std::string_view iteration(std::string_view op, std::string_view loop) {
    std::string_view found;
    for_each_iteration_in(op, [&](std::string_view name, int64_t index) {
      if (without_indices(name) == loop)
        found = op.substr(0, with_index(name, index).size());
    });
    return found;
  }

  void add_loop(const std::string& loop) {
    std::map<ValueId, std::string_view> made_in;
    for (const Op& op : program_.ops)
      for (const ValueId result : op.results)
        made_in[result] = iteration(op.name, loop);
    std::set<ValueId> leaving;
    for (const Op& op : program_.ops)
      for (const ValueId operand : op.operands)
        if (const auto made = made_in.find(operand);
            made != made_in.end() && made->second != iteration(op.name, loop))
          leaving.insert(operand);
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      bool leaves = false;
      for (const ValueId result : op.results)
        leaves = leaves || leaving.contains(result);
      if (!leaves && can_be_recomputed(op) && !iteration(op.name, loop).empty())
        chosen_.emplace(i);
    }
  }

  const Program& program_;
  const std::vector<NameInLoops> in_loops_;
  std::map<std::string, std::vector<OpId>> ops_;  // by their names, and "l[].y"
  std::set<std::string> loops_;
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
  std::vector<OpId> ops;
  for (size_t i = 0; i < program.ops.size(); ++i)
    if (can_be_recomputed(program.ops[i]))
      ops.emplace_back(i);
  return ops;
}

}  // namespace orrery
