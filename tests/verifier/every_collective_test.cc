// Runs every case of collective_cases.h. The host executor's results must be those of the
// definitions, every walk must run every step, and every schedule must be proved.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/groups.h"
#include "tests/support/tries.h"
#include "tests/verifier/collective_cases.h"
#include "verifier/check/values.h"
#include "verifier/prove/prover.h"

namespace orrery::test {

namespace {

/// Runs, compares and proves the trials of the case. Returns their number.
size_t check_case(const Case& c) {
  HostRig rig(axes_of(c));
  add_trials(c, rig);
  std::set<std::string> proofs;  // by algorithm: the views and steps of all dtypes are the same
  std::set<std::string> to_prove;
  for (const Trial& trial : trials_of(c))
    if (proofs.insert(trial.algorithm).second)
      to_prove.insert(std::string(name(trial.dtype)));
  const HostRun run = rig.run();
  INFO(fmt::format("{} over {} members, {}, {}, rank {}", rules(c.kind).name, c.n,
                   name_of(c.grouping), c.tiled ? "tiled" : "untiled", c.rank));
  REQUIRE(run.stop.finished());
  CHECK(run.digest == rig.digest());

  Prover prover(rig.program, rig.lowered);
  ValuesAgainstDefinitions definitions(rig.program, rig.lowered,
                                       [&](const Op& op_of, const Collective& collective) {
                                         return prover.folds(op_of, collective);
                                       });
  definitions.add(run.values);
  for (size_t s = 0; s < rig.program.sites.size(); ++s) {
    const SiteId site(s);
    const auto values = definitions.check(site);
    REQUIRE(values);
    if (!values->holds())
      FAIL_CHECK(values->message);
    if (to_prove.count(rig.program.op(rig.program.site(site).ops.front()).name) == 0)
      continue;
    const Check proof = std::get<Check>(prover.prove_site(site));
    if (!proof.holds())
      FAIL_CHECK(proof.message);
  }
  return rig.program.sites.size();
}

constexpr int64_t kMostRanks = 33;

/// Returns whether the rules refuse the collective of a case.
bool refuses(const Case& c, Dtype dtype) {
  Random random(seed(c));
  const Mesh mesh(axes_of(c));
  const Call call = random_call(c, random);
  Attributes attributes;
  for (const auto& [name, value] : call.parameters)
    attributes.set(name, value);
  if (groups_error(mesh, attributes, rules(c.kind).group_sizes))
    return true;
  const std::vector<ValueType> operands = {
      {dtype, call.operand, AxisStates(mesh.axes().size(), AxisState::Varying), false}};
  const int64_t size = group_size(mesh, attributes);
  return std::holds_alternative<TypeError>(
      rules(c.kind).type({mesh, Checks::States, attributes, operands, size}));
}

/// A `Count` is the number of compared collectives of an op x groups x dtype.
struct Count {
  size_t sync = 0;
  size_t started = 0;
};
using Coverage = std::map<std::tuple<OpKind, Grouping, Dtype>, Count>;

Coverage coverage() {
  Coverage counts;
  for (const OpKind kind : collectives()) {
    for (const Case& c : cases_of(kind, kMostRanks)) {
      for (const Trial& trial : trials_of(c)) {
        Count& count = counts[{kind, c.grouping, trial.dtype}];
        ++(trial.issue == Issue::Sync ? count.sync : count.started);
      }
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("every collective gives the values of its definition, and is proved") {
  for (const OpKind kind : collectives()) {
    SUBCASE(std::string(rules(kind).name).c_str()) {
      for (const Case& c : cases_of(kind, kMostRanks))
        if (is_tried(seed(c)))
          CHECK(check_case(c) == trials_of(c).size());
    }
  }
}

// Prints a table of the coverage of the test above. Each cell is op x groups x dtype: the number of
// sync collectives + started collectives, or the letter of the reason why there are none.
TEST_CASE(
    "every collective x groups x dtype x sync or started is compared, or refused for a reason") {
  const Coverage counts = coverage();
  std::vector<std::string> reasons;
  std::string table = fmt::format("\n{:<13} {:<15}", "op", "groups");
  for (const Dtype dtype : all_dtypes())
    table += fmt::format(" {:>8}", name(dtype));
  for (const OpKind kind : collectives()) {
    for (const Grouping grouping : kGroupings) {
      table += fmt::format("\n{:<13} {:<15}", rules(kind).name, name_of(grouping));
      for (const Dtype dtype : all_dtypes()) {
        INFO(fmt::format("{} over {} of {}", rules(kind).name, name_of(grouping), name(dtype)));
        const auto found = counts.find({kind, grouping, dtype});
        if (const auto reason = refused(kind, dtype, grouping)) {
          CHECK(refuses({kind, 4, grouping, true, 2}, dtype));
          auto known = std::find(reasons.begin(), reasons.end(), *reason);
          if (known == reasons.end())
            known = reasons.insert(known, *reason);
          table += fmt::format(" {:>8}", static_cast<char>('a' + (known - reasons.begin())));
          continue;
        }
        const Count count = found == counts.end() ? Count() : found->second;
        CHECK(count.sync > 0);
        CHECK(count.started > 0);
        table += fmt::format(" {:>8}", fmt::format("{}+{}", count.sync, count.started));
      }
    }
  }
  for (size_t r = 0; r < reasons.size(); ++r)
    table += fmt::format("\n{}: {}", static_cast<char>('a' + r), reasons[r]);
  MESSAGE(table);
}

}  // namespace orrery::test
