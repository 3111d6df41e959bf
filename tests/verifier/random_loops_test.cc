// Tests random bodies of loops: with iterations left out, a program must have the times, the
// memory, the values and the verdicts that it has with all iterations.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "models/program/holders.h"
#include "models/program/loops.h"
#include "tests/support/tries.h"
#include "tests/verifier/long_loops_rig.h"
#include "verifier/definition/bounds.h"
#include "verifier/long_loops.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// A `Round` has carries that change places, one after the other, and the values that the body may
/// read.
struct Round {
  std::string before;  // ops that make their initial values
  std::string carry;
  std::string yield;
  std::string after;

  /// Begins with `places` different values, or with as many started collectives, for which the
  /// program waits after the loop.
  Round(const std::string& name, uint64_t places, bool futures) {
    for (uint64_t c = 0; c < places; ++c) {
      const std::string id = fmt::format("{}{}", name, c);
      before +=
          fmt::format(R"({{"id": "{}0", "of": "a", "op": {}}}, )", id,
                      futures ? R"("psum_start", "axis_name": "y", "stream": 1)" : R"("neg")");
      carry += fmt::format(R"(, "{0}": "{0}0")", id);
      yield += fmt::format(R"(, "{}": "{}{}")", id, name, (c + 1) % places);
      if (futures)
        after += fmt::format(R"(, {{"id": "{0}9", "op": "done", "of": "l.{0}"}})", id);
    }
  }
};

/// Random bodies have sync and started collectives over both axes and on two streams, local ops,
/// carries of depth one and two, and, in half of the bodies, carries that change places.
struct Wanted {
  bool leaks = false;  // nothing waits for some of the collectives that are started
  bool names = false;  // some iterations' values are outputs, or done after the loop
};
std::string random_program(Random& random, Wanted wanted = {}) {
  std::vector<std::string> body;
  std::string last = "h";
  std::vector<std::string> futures;
  const auto axis = [&] {
    return std::array{R"("x")", R"("y")", R"(["x", "y"])"}[random.below(3)];
  };
  // A circle of one carry is a value that stays the same.
  const Round values("p", random.below(2) == 0 ? 1 : 2 + random.below(2), false);
  const Round started("s", random.below(4) == 0 ? 1 + random.below(3) : 0, true);
  const size_t ops = 2 + random.below(4);
  for (size_t i = 0; i < ops; ++i) {
    const std::string id = fmt::format("o{}", i);
    switch (random.below(4)) {
      case 0:
        body.push_back(fmt::format(R"({{"id": "{}", "op": "psum", "of": "{}", "axis_name": {}}})",
                                   id, last, axis()));
        last = id;
        break;
      case 1:
        body.push_back(fmt::format(
            R"({{"id": "{}", "op": "psum_start", "of": "{}", "axis_name": {}, "stream": {}}})", id,
            last, axis(), random.below(2)));
        futures.push_back(id);
        break;
      case 2:
        body.push_back(fmt::format(
            R"({{"id": "{}", "op": "all_to_all", "of": "{}", "axis_name": "x", "split_axis": 0,
                 "concat_axis": 0, "tiled": true}})",
            id, last));
        last = id;
        break;
      default:
        body.push_back(fmt::format(R"({{"id": "{}", "op": "add", "of": ["{}", "{}"]}})", id, last,
                                   random.below(2) == 0 ? "g" : "p0"));
        last = id;
    }
  }
  // One future may be carried; the others are done at the end of the body.
  std::string carry = R"("h": "a", "g": "a")" + values.carry + started.carry;
  std::string yield = fmt::format(R"("h": "{}", "g": "h")", last) + values.yield + started.yield;
  std::string before = values.before + started.before;
  std::string after = started.after;
  // After the named iterations there are more than the carries need to come round.
  const int64_t trips = (wanted.names ? 80 : 10) + static_cast<int64_t>(random.below(80));
  for (size_t f = 0; f < futures.size(); ++f) {
    if (wanted.leaks && random.below(2) == 0) {
      const auto later = static_cast<int64_t>(random.below(6));
      const int64_t one = random.below(2) == 0 ? later : trips - 1 - later;
      if (wanted.names && random.below(2) == 0)
        after +=
            fmt::format(R"(, {{"id": "e{}", "op": "done", "of": "l[{}].{}"}})", f, one, futures[f]);
      continue;
    }
    const bool carried = f == 0 && random.below(2) == 0;
    if (!carried) {
      body.push_back(fmt::format(R"({{"id": "d{}", "op": "done", "of": "{}"}})", f, futures[f]));
      continue;
    }
    before += R"({"id": "f0", "op": "psum_start", "of": "a", "axis_name": "x"},)";
    carry += R"(, "f": "f0")";
    yield += fmt::format(R"(, "f": "{}")", futures[f]);
    body.insert(body.begin() + static_cast<ptrdiff_t>(random.below(2)),
                R"({"id": "df", "op": "done", "of": "f"})");
    after += R"(, {"id": "zf", "op": "done", "of": "l.f"})";
  }
  std::string outputs;
  for (uint64_t n = wanted.names && last != "h" ? 1 + random.below(3) : 0; n-- > 0;)
    outputs += fmt::format(R"(, "l[{}].{}")", n * 11 + random.below(9), last);
  return R"("program": [)" + before +
         loop("l", trips, carry, fmt::format("{}", fmt::join(body, ",")), yield) + after +
         R"(, {"id": "z", "op": "psum", "of": "l.h", "axis_name": "x"}], "outputs": ["z")" +
         outputs + "]";
}

TEST_CASE("random loops: bodies, where links are shared too") {
  Random random(20261122);
  size_t left_out = 0;
  size_t by_engine = 0;
  size_t added = 0;
  size_t in_periods = 0;
  const size_t random_programs = tries(150);
  for (size_t i = 0; i < random_programs; ++i) {
    const std::string program = random_program(random);
    std::vector<Fault> faults;
    if (random.below(3) == 0)
      faults.push_back(slow(static_cast<uint32_t>(random.below(4)), 5, 2));
    const Outcome outcome =
        check_same(scenario_text(random.below(2) == 0 ? kSwitch : kRing, program), faults);
    left_out += outcome.left_out ? 1 : 0;
    by_engine += outcome.by == TimedBy::Engine ? 1 : 0;
    added += outcome.added > 0 ? 1 : 0;
    in_periods += outcome.left_out_period > 1 ? 1 : 0;
  }
  MESSAGE("of " << random_programs << " programs, " << left_out << " left out iterations, "
                << in_periods << " in periods of several, " << added << " added some up, "
                << by_engine << " were run by the engine");
  CHECK(left_out > random_programs / 2);
  CHECK(added > random_programs / 8);
  CHECK(by_engine > tries(5));
  CHECK(in_periods > random_programs / 8);
}

/// Returns an expectation that two random values are equal or close. Each is a value of one
/// iteration of the body, or a value after the loop.
std::string random_expectation(Random& random, const Program& program) {
  const Loop& loop = program.loops.front();
  std::vector<std::string> names;
  for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
    for (const ValueId result : program.ops[op].results)
      if (!program.value(result).type.future)
        names.push_back(program.value(result).name.substr(std::string_view("l[].").size()));
  std::vector<std::string> compared;
  while (compared.size() < 2) {
    const auto trips = static_cast<uint64_t>(loop.upper - loop.lower);
    const uint64_t iteration = random.below(random.below(2) == 0 ? 4 : trips - 1);
    std::string name = random.below(4) == 0
                           ? std::string(random.below(2) == 0 ? "z" : "l.h")
                           : fmt::format("l[{}].{}", iteration, names[random.below(names.size())]);
    if (compared.empty() || compared.front() != name)
      compared.push_back(std::move(name));
  }
  return fmt::format(R"({{"{}": ["{}"]}})", random.below(2) == 0 ? "equal" : "close",
                     fmt::join(compared, R"(", ")"));
}

TEST_CASE("random loops: bodies have the values, and the verdicts on them, of all iterations") {
  Random random(20261126);
  size_t by_first = 0;  // verdicts
  size_t by_all = 0;
  const size_t random_programs = tries(200);
  for (size_t i = 0; i < random_programs; ++i) {
    std::string text = scenario_text(kSwitch, random_program(random));
    const Program program = read_scenario("f", text).program;
    std::vector<std::string> expectations;
    for (int e = 0; e < 3; ++e)
      expectations.push_back(random_expectation(random, program));
    text.back() = ',';
    text += fmt::format(R"("expect": [{}]}})", fmt::join(expectations, ", "));
    CAPTURE(text);
    RunOptions options;
    options.data = Data::On;
    const uint64_t budget = device_ops_with_all_iterations(program) / 2;
    options.most_ops_shown = budget;
    const std::optional<FirstIterations> first =
        first_iterations(read_scenario("f", text), budget, options.limits);
    const Report few = run(read_scenario("f", text), options);
    options.most_ops_shown.reset();
    const Report all = run(read_scenario("f", text), options);
    if (!leaves_out_iterations(few.scenario->program))
      continue;
    const std::vector<ValueId>& outputs = few.scenario->program.outputs;
    for (size_t o = 0; o < outputs.size(); ++o)
      for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
        const std::optional<Tensor>& ours = few.values->at(outputs[o], LogicalId(d));
        const std::optional<Tensor>& theirs =
            all.values->at(all.scenario->program.outputs[o], LogicalId(d));
        REQUIRE(ours.has_value() == theirs.has_value());
        if (ours)
          REQUIRE(same_bits(*ours, *theirs));
      }
    CHECK(few.fingerprint == all.fingerprint);
    for (const Check& ours : few.checks)
      if (ours.name == "VALUES.ORACLE" || ours.name == "SCHEDULE.DIGEST")
        CHECK(ours.holds());
    for (size_t e = 0; e < expectations.size(); ++e) {
      const Check& ours = few.checks[few.checks.size() - expectations.size() + e];
      const Check& theirs = all.checks[all.checks.size() - expectations.size() + e];
      REQUIRE(ours.of == theirs.of);
      const bool in_first = first && std::ranges::find(first->decided, e) != first->decided.end();
      ++(in_first ? by_first : by_all);
      CHECK(ours.verdict == theirs.verdict);
      CHECK(ours.message == theirs.message);
    }
  }
  MESSAGE("of " << random_programs << " programs, the first iterations gave " << by_first
                << " verdicts, all of them " << by_all);
  CHECK(by_first > random_programs / 8);
  CHECK(by_all > random_programs / 4);
}

/// Returns the error bounds of the outputs, per output and device.
std::vector<std::vector<std::optional<Tensor>>> output_bounds(Timed& timed) {
  const Program& program = timed.stages.program_to_run();
  DeviceValues arguments(program);
  const Holders holders(program);
  for (size_t a = 0; a < timed.scenario.arrays.size(); ++a)
    for (const LogicalId device : holders.of(program.arguments[a].value))
      arguments.at(program.arguments[a].value, device) =
          initial_value(timed.scenario, timed.scenario.arrays[a], device, 0);
  const DeviceValues bounds =
      error_bounds_of_run(program, timed.stages.lowered_to_run(), std::move(arguments));
  std::vector<std::vector<std::optional<Tensor>>> of_outputs;
  for (const ValueId output : program.outputs) {
    of_outputs.emplace_back();
    for (uint32_t d = 0; d < program.mesh.devices(); ++d)
      of_outputs.back().push_back(bounds.at(output, LogicalId(d)));
  }
  return of_outputs;
}

TEST_CASE("random loops: bodies have the error bounds of all iterations") {
  Random random(20261130);
  size_t rounded = 0;
  const size_t random_programs = tries(60);
  for (size_t i = 0; i < random_programs; ++i) {
    const std::string text = scenario_text(kSwitch, random_program(random));
    CAPTURE(text);
    Timed few(text, LongLoops::LeftOut, {});
    Timed all(text, LongLoops::WrittenOut, {});
    const auto ours = output_bounds(few);
    const auto theirs = output_bounds(all);
    REQUIRE(ours.size() == theirs.size());
    for (size_t o = 0; o < ours.size(); ++o)
      for (size_t d = 0; d < ours[o].size(); ++d) {
        REQUIRE(ours[o][d].has_value() == theirs[o][d].has_value());
        if (!ours[o][d])
          continue;
        CHECK(same_bits(*ours[o][d], *theirs[o][d]));
        rounded += ours[o][d]->as<double>()[0] > 0 ? 1 : 0;
      }
  }
  CHECK(rounded > random_programs);  // of four devices
}

std::string replaced(std::string text, std::string_view old, std::string_view now) {
  for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size()))
    text.replace(at, old.size(), now);
  return text;
}

TEST_CASE("random loops: bodies of groups that drift apart, each with a period of its own") {
  Random random(10);
  size_t added = 0;
  const size_t random_programs = tries(60);
  for (size_t i = 0; i < random_programs; ++i) {
    std::string program = random_program(random);
    for (const std::string_view axes : {R"("axis_name": ["x", "y"])", R"("axis_name": "x")"})
      program = replaced(program, axes, R"("axis_name": "y")");
    program = replaced(program, R"("op": "psum)", R"("algorithm": "ring", "op": "psum)");
    program =
        replaced(program, R"("op": "all_to_all)", R"("algorithm": "pairwise", "op": "all_to_all)");
    const auto slowness = 11 + static_cast<int64_t>(random.below(9));
    const std::vector<Fault> faults = {slow(static_cast<uint32_t>(random.below(4)), slowness, 10)};
    added += check_same(scenario_text(kSwitch, program), faults).added > 0 ? 1 : 0;
  }
  MESSAGE("of " << random_programs << " programs, " << added << " added some iterations");
  if (is_all_tried())
    CHECK(added > random_programs / 2);
}

TEST_CASE("random loops: bodies, some of whose collectives nothing waits for") {
  Random random(7);
  for (size_t i = 0; i < tries(60); ++i)
    check_same(scenario_text(kSwitch, random_program(random, {.leaks = true})));
}

TEST_CASE("random loops: bodies, of whose collectives single iterations are done after the loop") {
  Random random(9);
  for (size_t i = 0; i < tries(120); ++i)
    check_same(scenario_text(kSwitch, random_program(random, {.leaks = true, .names = true})));
}

TEST_CASE("random loops: bodies, single iterations of which are outputs") {
  Random random(8);
  for (size_t i = 0; i < tries(60); ++i) {
    const std::string& cluster = random.below(2) == 0 ? kSwitch : kRing;
    CHECK(check_same(scenario_text(cluster, random_program(random, {.names = true}))).left_out);
  }
}

}  // namespace
}  // namespace orrery::test
