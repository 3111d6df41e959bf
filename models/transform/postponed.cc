// This is the part of vjp that lets collectives of a backward loop run into the next iteration.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "models/base/callable.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/rules.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// Postponed finds the ops of a body that can be left to the next iteration: those that only add to
/// what the loop carries, and read nothing else of their iteration than futures and scalars. The
/// dones that they wait for come just before the start of the next iteration's collective, so that
/// the operands of two are not there at once. The other ops come at the end of the next iteration,
/// where they hide collectives. The first iteration has none before it, so its ops stand before the
/// loop. Those of the last iteration come after the loop.
class Postponed {
 public:
  Postponed(LoopParts loop, UnusedNames& names) : loop_(std::move(loop)), names_(names) {
    find_scalars();
    note_readers();
    find_movable();
    find_useful();
  }

  bool any() const { return !moved_.empty() && loop_.begin.upper - loop_.begin.lower > 1; }
  LoopParts take_loop() { return std::move(loop_); }

  void append_to(std::vector<ProgramPart>& made) {
    const std::string prefix = names_.take_prefix(loop_.begin.name + ".first");
    add_first(prefix, made);
    std::map<std::string, std::string> before;  // what the iteration before made, in the loop
    std::map<std::string, std::string> after;   // and what the last one made, after the loop
    LoopParts main = loop_;
    ++main.begin.lower;
    if (main.begin.index)
      main.begin.index->attributes = index_attributes(main.begin.lower);
    const auto carry = [&](size_t c, const std::string& value) {
      const std::string_view own = own_name(any_iteration(loop_.begin.name), value);
      before[value] = main.begin.carries[c].param =
          take_carry(names_, loop_.begin.name, std::string(own) + ".before");
      after[value] = main.end.results[c] = outside(loop_, before[value]);
      main.begin.carries[c].initial = in_first(prefix, value);
    };
    for (size_t c = 0; c < loop_.end.yielded.size(); ++c) {
      const std::string& yielded = loop_.end.yielded[c];
      if (moved_makes_.contains(yielded))
        carry(c, loop_.begin.carries[c].param);
      else
        main.begin.carries[c].initial = in_first(prefix, yielded);
    }
    for (const std::string& value : handed_over_) {
      main.begin.carries.emplace_back();
      main.end.yielded.push_back(value);
      main.end.results.emplace_back();
      carry(main.begin.carries.size() - 1, value);
    }
    main.parts = ordered(before);
    append(std::move(main), made);
    add_last(std::move(after), made);
  }

 private:
  static std::string at(const std::map<std::string, std::string>& names, const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  /// Returns a name of the body as the first iteration has it, which stands before the loop.
  std::string in_first(const std::string& prefix, const std::string& name) const {
    for (const LoopBegin::Carried& carried : loop_.begin.carries)
      if (carried.param == name)
        return carried.initial;
    const std::string iteration = any_iteration(loop_.begin.name);
    return name.starts_with(iteration) ? name_in(prefix, own_name(iteration, name)) : name;
  }

  const OpRequest* op_at(size_t part) const {
    return is_direct_[part] ? std::get_if<OpRequest>(&loop_.parts[part]) : nullptr;
  }

  /// Finds the ops that are directly in the body, and scalars: the index, and its sums and
  /// differences. A backward pass computes its position so. If one were an array, it would be
  /// handed over all the same.
  void find_scalars() {
    size_t depth = 0;
    for (const ProgramPart& part : loop_.parts) {
      depth -= std::holds_alternative<LoopEnd>(part) ? 1 : 0;
      is_direct_.push_back(depth == 0);
      depth += std::holds_alternative<LoopBegin>(part) ? 1 : 0;
    }
    if (loop_.begin.index)
      scalars_.insert(loop_.begin.index->name);
    for (size_t i = 0; i < loop_.parts.size(); ++i)
      if (const OpRequest* op = op_at(i);
          op != nullptr && (op->kind == OpKind::Add || op->kind == OpKind::Sub) &&
          std::any_of(op->operands.begin(), op->operands.end(),
                      [&](const std::string& operand) { return scalars_.contains(operand); }))
        scalars_.insert(op->name);
  }

  void note_readers() {
    for (size_t i = 0; i < loop_.parts.size(); ++i) {
      for_each_read(loop_.parts[i], [&](const std::string& name) { readers_[name].push_back(i); });
      if (const OpRequest* op = op_at(i))
        for (size_t r = 0; r <= op->other_results.size(); ++r)
          makers_.emplace(op->result_name(r), i);
      else if (const auto* end = std::get_if<LoopEnd>(&loop_.parts[i]))
        for (const std::string& result : end->results)
          makers_.emplace(result, i);
    }
  }

  bool only_movable_read(const std::string& name) const {
    const auto found = readers_.find(name);
    return found == readers_.end() || std::all_of(found->second.begin(), found->second.end(),
                                                  [&](size_t reader) { return movable_[reader]; });
  }

  /// Returns whether the op may still move, as far as it is known which others may.
  bool can_move(size_t i) const {
    const OpRequest* op = op_at(i);
    if (op == nullptr || op->issue == Issue::Start || scalars_.contains(op->name) ||
        (op->kind != OpKind::Done && rules(op->kind).family != Family::Local))
      return false;
    for (const std::string& operand : op->operands) {
      const auto maker = makers_.find(operand);
      if (maker != makers_.end() && !movable_[maker->second] && op->kind != OpKind::Done &&
          !scalars_.contains(operand))
        return false;
      if (op->kind == OpKind::Done && (maker == makers_.end() || op_at(maker->second) == nullptr))
        return false;
    }
    for (size_t r = 0; r <= op->other_results.size(); ++r) {
      const std::string& made = op->result_name(r);
      if (!only_movable_read(made) ||
          std::count(loop_.end.yielded.begin(), loop_.end.yielded.end(), made) > 1)
        return false;
    }
    return true;
  }

  /// Returns whether what the iteration carries allows it: a carry is moved as a whole.
  bool carries_can_move(size_t i) const {
    const OpRequest& op = *op_at(i);
    for (size_t c = 0; c < loop_.end.yielded.size(); ++c) {
      const std::string& param = loop_.begin.carries[c].param;
      const auto maker = makers_.find(loop_.end.yielded[c]);
      const bool is_moved = maker != makers_.end() && movable_[maker->second];
      const bool reads = std::count(op.operands.begin(), op.operands.end(), param) > 0;
      if (reads && !is_moved)
        return false;
      if (maker != makers_.end() && maker->second == i &&
          (!only_movable_read(param) ||
           std::count(loop_.end.yielded.begin(), loop_.end.yielded.end(), param) > 0))
        return false;
    }
    return true;
  }

  void find_movable() {
    movable_.assign(loop_.parts.size(), true);
    for (bool shrank = true; shrank;) {
      shrank = false;
      for (size_t i = loop_.parts.size(); i-- > 0;)
        if (movable_[i] && !(can_move(i) && carries_can_move(i))) {
          movable_[i] = false;
          shrank = true;
        }
    }
  }

  /// Moves what is joined to a done, by values or by what is carried. A done moves to the first
  /// start of those that it is joined to.
  void find_useful() {
    std::vector<size_t> joined(loop_.parts.size());  // with an earlier op, or itself
    for (size_t i = 0; i < joined.size(); ++i)
      joined[i] = i;
    const auto root = [&](size_t i) {
      while (joined[i] != i)
        i = joined[i];
      return i;
    };
    std::map<std::string, std::string> yielded;  // by the param
    for (size_t c = 0; c < loop_.end.yielded.size(); ++c)
      yielded.emplace(loop_.begin.carries[c].param, loop_.end.yielded[c]);
    for (size_t i = 0; i < loop_.parts.size(); ++i)
      if (movable_[i])
        for (const std::string& operand : op_at(i)->operands)
          if (const auto maker = makers_.find(at(yielded, operand));
              maker != makers_.end() && movable_[maker->second])
            joined[root(maker->second)] = root(i);
    std::map<size_t, size_t> starts;  // the first, by root
    for (size_t i = 0; i < loop_.parts.size(); ++i)
      if (movable_[i] && op_at(i)->kind == OpKind::Done) {
        const size_t start = makers_.at(op_at(i)->operands.front());
        const size_t first = starts.emplace(root(i), start).first->second;
        starts[root(i)] = std::min(first, start);
      }
    for (size_t i = 0; i < loop_.parts.size(); ++i) {
      const auto start = movable_[i] ? starts.find(root(i)) : starts.end();
      if (start == starts.end())
        continue;
      moved_.insert(i);
      if (op_at(i)->kind == OpKind::Done)
        dones_[start->second].push_back(i);
      for (size_t r = 0; r <= op_at(i)->other_results.size(); ++r)
        moved_makes_.insert(op_at(i)->result_name(r));
    }
    for (const size_t i : moved_)
      for (const std::string& operand : op_at(i)->operands)
        if (scalars_.contains(operand) ||
            (makers_.contains(operand) && !moved_.contains(makers_.at(operand))))
          handed_over_.insert(operand);
  }

  /// Returns the op with these names in place of those that it reads.
  static OpRequest renamed(OpRequest op, const std::map<std::string, std::string>& names) {
    for (std::vector<std::string>* list : {&op.operands, &op.donated})
      for (std::string& name : *list)
        name = at(names, name);
    return op;
  }

  /// Adds the first iteration, without what moves.
  void add_first(const std::string& prefix, std::vector<ProgramPart>& made) const {
    const auto add = [&](ProgramPart part) {
      for_each_name(part, [&](std::string& name) { name = in_first(prefix, name); });
      made.push_back(std::move(part));
    };
    if (loop_.begin.index)
      add(*loop_.begin.index);
    for (size_t i = 0; i < loop_.parts.size(); ++i)
      if (!moved_.contains(i))
        add(loop_.parts[i]);
  }

  /// Returns the body, with what the iteration before left where it now belongs.
  std::vector<ProgramPart> ordered(const std::map<std::string, std::string>& before) const {
    std::vector<ProgramPart> parts;
    for (size_t i = 0; i < loop_.parts.size(); ++i) {
      if (const auto found = dones_.find(i); found != dones_.end())
        for (const size_t done : found->second)
          parts.emplace_back(renamed(*op_at(done), before));
      if (!moved_.contains(i))
        parts.push_back(loop_.parts[i]);
    }
    for (const size_t i : moved_)
      if (op_at(i)->kind != OpKind::Done)
        parts.emplace_back(renamed(*op_at(i), before));
    return parts;
  }

  /// Adds what the last iteration left, which makes the results of the loop.
  void add_last(std::map<std::string, std::string> names, std::vector<ProgramPart>& made) {
    const std::string prefix = names_.take_prefix(loop_.begin.name + ".last");
    const std::string iteration = any_iteration(loop_.begin.name);
    for (const size_t i : moved_) {
      OpRequest op = renamed(*op_at(i), names);
      const auto rename = [&](std::string& name) {
        const auto yielded = std::find(loop_.end.yielded.begin(), loop_.end.yielded.end(), name);
        const std::string here =
            yielded == loop_.end.yielded.end()
                ? name_in(prefix, own_name(iteration, name))
                : loop_.end.results[static_cast<size_t>(yielded - loop_.end.yielded.begin())];
        names[name] = here;
        name = here;
      };
      rename(op.name);
      std::for_each(op.other_results.begin(), op.other_results.end(), rename);
      made.emplace_back(std::move(op));
    }
  }

  LoopParts loop_;
  UnusedNames& names_;
  std::vector<bool> is_direct_;  // by part: it is not in a loop of the body
  std::set<std::string> scalars_;
  std::map<std::string, std::vector<size_t>> readers_;  // parts, by name
  std::map<std::string, size_t> makers_;
  std::vector<bool> movable_;  // by part
  std::set<size_t> moved_;
  std::map<size_t, std::vector<size_t>> dones_;  // that move, by the start that they come before
  std::set<std::string> moved_makes_;
  std::set<std::string> handed_over_;  // values that go to the next iteration for what moves
};

}  // namespace

bool append_postponed(LoopParts loop, UnusedNames& names, std::vector<ProgramPart>& parts) {
  Postponed postponed(std::move(loop), names);
  const bool any = postponed.any();
  if (any)
    postponed.append_to(parts);
  else
    append(postponed.take_loop(), parts);
  return any;
}

}  // namespace orrery
