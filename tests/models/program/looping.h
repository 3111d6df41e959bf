#pragma once

// Builds programs with loops as regions, by hand or at random.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "models/program/iterations.h"
#include "models/program/rules.h"
#include "tests/models/program/build.h"

namespace orrery::test {

/// A `Looping` is a builder that makes loops as the reader of a scenario does.
class Looping : public Building {
 public:
  explicit Looping(Checks checks = Checks::States) : Building(Mesh({{"x", 4}}), checks) {
    thread("main", devices(0, 4));
  }

  /// Each pair is a carry's name and a value. In begin(), {"h", "a"} means that "l[].h" in the body
  /// is `a` in the first iteration.
  using Carries = std::vector<std::pair<std::string, std::string>>;

  Looping& begin(const std::string& name, int64_t lower, int64_t upper, const Carries& carries) {
    builder.begin_loop(name, lower, upper, std::nullopt);
    open_.push_back(name);
    for (const auto& [carry, initial] : carries)
      builder.carry(name + "[]." + carry, value(initial), {});
    return *this;
  }

  /// Ends the innermost loop. In `yields`, {"h", "y"} means that carry "h" yields `y` and that its
  /// result after the loop is "l.h".
  Looping& end(const Carries& yields) {
    std::vector<ValueId> yielded;
    std::vector<std::string> results;
    for (const auto& [carry, yield] : yields) {
      yielded.push_back(value(yield));
      results.push_back(open_.back() + "." + carry);
    }
    builder.end_loop(yielded, results);
    open_.pop_back();
    return *this;
  }

  Looping& with(OpRequest request) {
    builder.op(std::move(request));
    return *this;
  }

 private:
  ValueId value(const std::string& name) { return builder.value_of(name, {}).value(); }

  std::vector<std::string> open_;
};

/// Returns "name = op(operands)" for each op.
inline Lines listing(const Program& program) {
  Lines lines;
  for (const Op& op : program.ops) {
    std::vector<std::string> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(program.value(operand).name);
    lines.lines.push_back(
        fmt::format("{} = {}({})", op.name, op_name(op.kind, op.issue), fmt::join(operands, ", ")));
  }
  return lines;
}

/// `Runs` holds all runs of a program's only thread, in order.
class Runs {
 public:
  explicit Runs(const Program& program) : program_(program) {
    add({0, static_cast<uint32_t>(program.ops.size())}, std::nullopt, 0);
  }

  const std::vector<OpRun>& all() const { return runs_; }

 private:
  void add(IdRange ops, std::optional<size_t> around, uint64_t iteration) {
    uint32_t op = ops.begin;
    const auto add_ops = [&](uint32_t end) {
      for (; op < end; ++op)
        runs_.push_back({OpId(op), iteration});
    };
    for (size_t l = 0; l < program_.loops.size(); ++l) {
      const Loop& loop = program_.loops[l];
      if (loop.around != around)
        continue;
      add_ops(loop.ops.begin);
      const auto trips = static_cast<uint64_t>(loop.upper - loop.lower);
      for (uint64_t i = 0; i < trips; ++i)
        add(loop.ops, l, iteration * trips + i);
      op = loop.ops.end;
    }
    add_ops(ops.end);
  }

  const Program& program_;
  std::vector<OpRun> runs_;
};

/// A `RandomLoops` makes random ops and loops. An op may read values of all bodies around it, and
/// values of single iterations of earlier loops.
class RandomLoops {
 public:
  enum class Ops : uint8_t {
    Local,
    All,  // also collectives, over all devices or in two groups, sync and started
  };

  explicit RandomLoops(uint64_t seed, Ops ops = Ops::Local)
      : ops_(ops), random_(seed), looping_(ops == Ops::All ? Checks::Shapes : Checks::States) {}

  Program make() {
    body("", {{"a"}, {}}, 2);
    looping_.with(op("end", "neg", {"a"}));
    return looping_.finish();
  }

 private:
  /// `Known` are the names that may be read.
  struct Known {
    Names values;
    Names futures;
  };

  const std::string& any(const Names& names) { return names[random_.below(names.size())]; }

  OpRequest collective(const std::string& name, const Known& known, const std::string& start) {
    const std::string kind = any({"psum", "pmax", "pmean"}) + start;
    OpRequest request = op(name, kind, {any(known.values)}, {{"axis_name", Names{"x"}}});
    if (random_.below(2) == 0)
      request.attributes.set("axis_index_groups", Lists{{0, 3}, {2, 1}});
    return request;
  }

  void add_op(const std::string& prefix, uint64_t n, Known& known) {
    const std::string name = fmt::format("{}y{}", prefix, n);
    const uint64_t which = ops_ == Ops::All ? random_.below(6) : 5;
    if (which < 2) {
      known.futures.push_back(fmt::format("{}f{}", prefix, n));
      looping_.with(collective(known.futures.back(), known, "_start"));
      return;
    }
    if (which == 2)
      looping_.with(collective(name, known, ""));
    else if (which < 5 && !known.futures.empty())
      looping_.with(op(name, "done", {any(known.futures)}));
    else
      looping_.with(
          op(name, random_.below(2) == 0 ? "add" : "sub", {any(known.values), any(known.values)}));
    known.values.push_back(name);
  }

  /// Adds random ops and loops. Returns the names that are known at the body's end.
  Known body(const std::string& prefix, Known known, int depth) {
    for (uint64_t n = 1 + random_.below(ops_ == Ops::All ? 5 : 3); n-- > 0;) {
      if (depth == 0 || random_.below(2) == 0)
        add_op(prefix, n, known);
      else
        loop(fmt::format("{}l{}", prefix, n), known, depth);
    }
    return known;
  }

  void loop(const std::string& name, Known& known, int depth) {
    const auto lower = static_cast<int64_t>(random_.below(3)) - 1;
    const int64_t trips = std::vector<int64_t>{0, 1, 2, 3, 7, 12, 20}[random_.below(7)];
    Looping::Carries carries;
    std::vector<bool> is_future;
    Known inside = known;
    for (uint64_t c = random_.below(4); c-- > 0;) {
      is_future.push_back(!known.futures.empty() && random_.below(2) == 0);
      carries.emplace_back(fmt::format("c{}", c), any(of(known, is_future.back())));
      of(inside, is_future.back()).push_back(fmt::format("{}[].c{}", name, c));
    }
    looping_.begin(name, lower, lower + trips, carries);
    if (trips > 0)
      inside = body(name + "[].", inside, depth - 1);
    const bool round = random_.below(3) == 0;  // each carry yields the next of its kind
    for (size_t c = 0; c < carries.size(); ++c) {
      const size_t from = round ? (c + 1) % carries.size() : c;
      carries[c].second = trips == 0 || (round && is_future[c] == is_future[from])
                              ? fmt::format("{}[].{}", name, carries[from].first)
                              : any(of(inside, is_future[c]));
    }
    looping_.end(carries);
    for (size_t c = 0; c < carries.size(); ++c)
      of(known, is_future[c]).push_back(fmt::format("{}.{}", name, carries[c].first));
    // Values of a loop inside a loop have no name in the outer body.
    if (trips > 0 && name.find('[') == name.npos)
      for (const std::string& each : inside.values)
        if (each.starts_with(name + "[].y"))
          known.values.push_back(
              fmt::format("{}[{}]{}", name,
                          lower + static_cast<int64_t>(random_.below(static_cast<uint64_t>(trips))),
                          each.substr(name.size() + 2)));
  }

  static Names& of(Known& known, bool futures) { return futures ? known.futures : known.values; }

  const Ops ops_;
  Random random_;
  Looping looping_;
};

}  // namespace orrery::test
