// Tests that the built-in laws find wrong algorithms and wrong kernels within 100 cases. A wrong
// algorithm makes other schedules than ours (RunOptions::replace_schedule). A wrong kernel computes
// other elements (RunOptions::kernels). Exactly the laws that use the op of the fault fail. That
// all laws hold without a fault is tested beside the command ("built-in laws hold").

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "tests/simulator/schedule/stored_copy.h"
#include "tests/support/tries.h"
#include "verifier/laws/verify.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// Changes the steps of a schedule if it is one of those to be changed. Returns whether it did.
using Plant = bool (*)(const Algorithm& algorithm, const ScheduleRequest& request,
                       StoredSteps& steps);

/// Returns whether the algorithm of this name carries out the kind for the request, in a group of
/// `least` ranks or more that exchange elements.
bool is(std::string_view name, OpKind kind, uint32_t least, const Algorithm& algorithm,
        const ScheduleRequest& request) {
  return algorithm.name == name && request.kind == kind && request.nodes >= least &&
         request.elements > 0;
}

/// In this ring all-gather, a rank stores the chunks as if they came in rising order. They come in
/// falling order, which is the same for two ranks.
bool stores_in_rising_order(const Algorithm& algorithm, const ScheduleRequest& request,
                            StoredSteps& steps) {
  if (!is("ring", OpKind::AllGather, 3, algorithm, request))
    return false;
  for (uint32_t n = 0; n < request.nodes; ++n)
    for (uint32_t i = 0; i < request.nodes; ++i)
      steps[n][0][i].target->first = (n + i) % request.nodes * request.elements;
  return true;
}

/// In this ring reduce-scatter, the last rank passes on the first sum that it gets without its own
/// addend.
bool leaves_out_an_addend(const Algorithm& algorithm, const ScheduleRequest& request,
                          StoredSteps& steps) {
  if (!is("ring", OpKind::PsumScatter, 2, algorithm, request))
    return false;
  steps.back()[0][1].combine = Combine::None;
  return true;
}

/// In this one-shot all-reduce, a rank folds what others send without waiting for it.
bool folds_without_waiting(const Algorithm& algorithm, const ScheduleRequest& request,
                           StoredSteps& steps) {
  if (!is("one_shot", OpKind::Psum, 2, algorithm, request))
    return false;
  for (auto& channels : steps)
    for (std::vector<Step>& channel : channels)
      for (Step& step : channel)
        step.after.reset();
  return true;
}

/// In this all-to-all, each rank receives before it sends.
bool receives_before_it_sends(const Algorithm& algorithm, const ScheduleRequest& request,
                              StoredSteps& steps) {
  if (!is("direct", OpKind::AllToAll, 2, algorithm, request))
    return false;
  for (auto& channels : steps)
    for (std::vector<Step>& channel : channels)
      std::reverse(channel.begin(), channel.end());
  return true;
}

/// Has the built-in laws that fail, each with the checks that fail in the small
/// case.
using Found = std::map<std::string, std::set<std::string>>;

/// Calls `visit` with each built-in law.
template <class Visit>
void for_each_law(Visit&& visit) {
  uint64_t number = 0;
  for (const BuiltinLaw& law : builtin_laws())
    if (is_tried(number++))
      visit(std::string(law.id), std::string(law.json));
}

/// Returns whether the law has an op of these names, a regular expression, started or not.
bool has_op(const std::string& json, const std::string& names) {
  return std::regex_search(json, std::regex("[\"'](" + names + ")(_start)?[\"']"));
}

/// Returns the ids of the laws with an op of these names.
std::string with_op(const std::string& names) {
  std::string laws;
  for_each_law([&](const std::string& id, const std::string& json) {
    if (has_op(json, names))
      laws += id + " ";
  });
  return laws;
}

/// Runs the laws with an op of these names on 300 cases, in which they must fail: each algorithm is
/// drawn in a part of them. The others run on the first 10, since the fault cannot reach them.
Found found(const std::string& names, const RunOptions& faulty) {
  Found found;
  for_each_law([&](const std::string& id, const std::string& json) {
    const LawVerdict verdict = verify(Law(id, json), {.cases = has_op(json, names) ? 300U : 10U,
                                                      .replace_schedule = faulty.replace_schedule,
                                                      .kernels = faulty.kernels});
    if (!verdict.counterexample)
      return;
    const std::vector<Check> checks = run(verdict.counterexample->scenario, faulty).checks;
    for (const Check& check : checks)
      if (check.verdict == Verdict::Fails)
        found[id].insert(check.name);
    CHECK(found[id].contains(verdict.counterexample->check.name));
  });
  return found;
}

/// Runs the schedules of `plant` in the place of ours.
Found found(const std::string& names, Plant plant) {
  RunOptions faulty;
  faulty.replace_schedule = [plant](const Algorithm& algorithm, const ScheduleRequest& request,
                                    std::shared_ptr<const Schedule> made) {
    StoredSteps steps = stored_steps(*made);
    if (plant(algorithm, request, steps))
      made = std::make_shared<StoredSchedule>(made->extent(), steps, match_by_channel(steps));
    return made;
  };
  return found(names, faulty);
}

Found found(const std::string& names, const HostKernels& kernels) {
  RunOptions faulty;
  faulty.kernels = kernels;
  return found(names, faulty);
}

/// Returns the ids of the laws that fail: "A01 L10 ".
std::string all(const Found& found) {
  std::string laws;
  for (const auto& [law, checks] : found)
    laws += law + " ";
  return laws;
}

/// Returns the ids of the laws in which this check fails.
std::string by(const std::string& check, const Found& found) {
  std::string laws;
  for (const auto& [law, checks] : found)
    if (checks.contains(check))
      laws += law + " ";
  return laws;
}

TEST_CASE("planted algorithm: a ring all-gather that stores chunks in another order") {
  const std::string ops = "all_gather|all_gather_invariant|all_gather_reduced";
  const Found laws = found(ops, stores_in_rising_order);
  CHECK(all(laws) == with_op(ops));
  CHECK(by("SCHEDULE.PROVED", laws) == all(laws));
  CHECK(by("VALUES.ORACLE", laws) == all(laws));
}

TEST_CASE("planted algorithm: a ring reduce-scatter that leaves out an addend") {
  const std::string ops = "psum_scatter";
  const Found laws = found(ops, leaves_out_an_addend);
  CHECK(all(laws) == with_op(ops));
  // The values are right where that addend is 0.
  CHECK(by("SCHEDULE.PROVED", laws) == all(laws));
}

TEST_CASE("planted algorithm: an all-reduce that does not wait for messages") {
  const std::string ops = "psum|unreduced_psum";
  const Found laws = found(ops, folds_without_waiting);
  CHECK(all(laws) == with_op(ops));
  CHECK(by("RACE.FREE", laws) == all(laws));
  CHECK(by("SCHEDULE.PROVED", laws) == all(laws));
}

TEST_CASE("planted algorithm: an all-to-all in which each rank receives before it sends") {
  const std::string ops = "all_to_all";
  const Found laws = found(ops, receives_before_it_sends);
  CHECK(all(laws) == with_op(ops));
  CHECK(by("DEADLOCK.FREE", laws) == all(laws));
}

/// Folds two elements at a time, and leaves out the last one of an odd number.
void fold_pairs(const Folding& folding, Combine combine, std::byte* target, const std::byte* left,
                const std::byte* right, int64_t count) {
  const int64_t pairs = count / 2 * 2;
  combine_into(folding, combine, target, left, right, pairs);
  if (count == pairs)
    return;
  const auto item = static_cast<size_t>(itemsize(folding.held).count());
  const size_t done = item * static_cast<size_t>(pairs);
  std::memmove(target + done, left + done, item);
}

TEST_CASE("planted kernel: a fold that leaves out the last of an odd number of elements") {
  const std::string ops = "(unreduced_)?psum(_scatter)?|pmean|pmax|pmin|pargmax|pargmin";
  const Found laws = found(ops, HostKernels{.fold = fold_pairs});
  CHECK(all(laws) == with_op(ops));
  CHECK(by("VALUES.ORACLE", laws) == all(laws));
  CHECK(by("SCHEDULE.PROVED", laws).empty());  // the schedule is right
}

/// Begins a maximum with 0 instead of the least element.
std::vector<Tensor> largest_from_zero(const Program& program, const Op& op,
                                      std::span<const Tensor* const> operands, LogicalId device) {
  std::vector<Tensor> results = evaluate_local(program, op, operands, device);
  if (op.kind == OpKind::ReduceMax)
    results[0] = elementwise(Binary::Max, results[0], full(results[0].dtype(), Shape(), 0.0));
  return results;
}

TEST_CASE("planted kernel: a local maximum that is not below 0") {
  // A local op is its own definition. So only expectations find the fault: these laws compare the
  // maximum with that of a collective.
  const std::string ops = "reduce_max";
  const Found laws = found(ops, HostKernels{.local = largest_from_zero});
  CHECK(all(laws) == with_op(ops));
  CHECK(by("VALUES.EQUAL", laws) == all(laws));
  CHECK(by("VALUES.ORACLE", laws).empty());
  CHECK(by("SCHEDULE.PROVED", laws).empty());
}

}  // namespace
}  // namespace orrery::test
