// The big differential: every collective x dtype x kind of group x tiled or not x rank 1 to 4
// x 2..17 members, by each algorithm, waited for and started, on random shapes and data. The host
// executor's results are those of the definitions, every walk runs every step, and every schedule
// is proved. Over an even number of members, messages are cut to slots of 64 B.
//
// A case takes every third dtype, each dtype in its turn; with ORRERY_EVERY_DTYPE set, all of them.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/base/hash.h"
#include "models/program/groups.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/models/array/random_tensors.h"
#include "tests/simulator/slot_protocol.h"
#include "tests/simulator/values/host_rig.h"
#include "verifier/check/values.h"
#include "verifier/prove/prover.h"

using namespace orrery;
using orrery::test::HostRig;

namespace {

using orrery::test::random_normalish;

enum class Grouping : uint8_t { OneAxis, Strided, TwoAxes, Lists, UnequalLists };
constexpr std::array kGroupings = {Grouping::OneAxis, Grouping::Strided, Grouping::TwoAxes,
                                   Grouping::Lists, Grouping::UnequalLists};

const char* name_of(Grouping grouping) {
  switch (grouping) {
    case Grouping::OneAxis:
      return "one axis";
    case Grouping::Strided:
      return "an outer axis";
    case Grouping::TwoAxes:
      return "two axes";
    case Grouping::Lists:
      return "groups";
    case Grouping::UnequalLists:
      return "unequal groups";
  }
  return "";
}

struct Case {
  OpKind kind;
  int64_t n;  // members
  Grouping grouping;
  bool tiled;
  int64_t rank;  // of the operand
};

using Parameters = std::vector<std::pair<std::string, Attribute>>;

/// Without those that exchange as another does, and differ in the states that they take and give,
/// and without transfers, of which each member enters by two ops (transfers_test.cc).
std::vector<OpKind> collectives() {
  std::vector<OpKind> kinds;
  for (const OpRules& rules : all_rules())
    if (rules.family == Family::Collective && !rules.exchanges_as && rules.form.side == Side::Both)
      kinds.push_back(rules.kind);
  return kinds;
}

int64_t least_factor(int64_t n) {
  int64_t factor = 2;
  while (n % factor != 0)
    ++factor;
  return factor;
}

/// Why such a collective does not exist, where it does not.
std::optional<std::string> refused(OpKind kind, Dtype dtype, Grouping grouping) {
  if (grouping == Grouping::UnequalLists && rules(kind).group_sizes == GroupSizes::Equal)
    return "what has a part or an operand for each member wants groups of one size";
  if (grouping == Grouping::TwoAxes && (kind == OpKind::Pargmax || kind == OpKind::Pargmin))
    return "an index is along one axis";
  if (dtype == Dtype::Pred && kind == OpKind::PsumScatter)
    return "pred has no sum to scatter";
  return std::nullopt;
}

/// Only these have the parameter `tiled`.
bool has_tiled(OpKind kind) {
  return kind == OpKind::AllGather || kind == OpKind::PsumScatter || kind == OpKind::AllToAll;
}

bool mesh_order_only(OpKind kind) {
  return kind == OpKind::Ppermute || kind == OpKind::Pshuffle;
}

std::vector<Axis> axes_of(const Case& c) {
  switch (c.grouping) {
    case Grouping::OneAxis:
      return {{"x", c.n}};
    case Grouping::Strided:
      return {{"x", c.n}, {"y", 2}};
    case Grouping::TwoAxes:
      return {{"x", least_factor(c.n)}, {"y", c.n / least_factor(c.n)}};
    case Grouping::Lists:
      return {{"x", 2 * c.n}};
    case Grouping::UnequalLists:
      return {{"x", c.n + 1}};
  }
  return {};
}

/// 0..count-1 in random order.
std::vector<int64_t> shuffled(int64_t count, Random& random) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

Parameters group_parameters(const Case& c, Random& random) {
  using Names = std::vector<std::string>;
  switch (c.grouping) {
    case Grouping::OneAxis:
    case Grouping::Strided:
      return {{"axis_name", Names{"x"}}};
    case Grouping::TwoAxes:
      return {{"axis_name", mesh_order_only(c.kind) ? Names{"x", "y"} : Names{"y", "x"}}};
    case Grouping::Lists:
    case Grouping::UnequalLists: {
      const std::vector<int64_t> order = shuffled(axes_of(c).front().size, random);
      const auto cut = order.begin() + static_cast<ptrdiff_t>(c.n);
      return {{"axis_name", Names{"x"}},
              {"axis_index_groups",
               std::vector<std::vector<int64_t>>{{order.begin(), cut}, {cut, order.end()}}}};
    }
  }
  return {};
}

/// A partial permutation: every rank sends with even odds.
std::vector<std::vector<int64_t>> permutation(int64_t n, Random& random) {
  const std::vector<int64_t> to = shuffled(n, random);
  std::vector<std::vector<int64_t>> pairs;
  for (int64_t q = 0; q < n; ++q)
    if (random.below(2) == 0)
      pairs.push_back({q, to[static_cast<size_t>(q)]});
  return pairs;
}

struct Call {
  Shape operand;
  Parameters parameters;
};

Call random_call(const Case& c, Random& random) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < c.rank; ++d)
    dims.push_back(random.below(16) == 0 ? 0 : random.between(1, c.rank < 3 ? 5 : 3));
  const auto any_dimension = [&] { return static_cast<int64_t>(random.below(dims.size())); };
  Call call{Shape(), group_parameters(c, random)};
  call.parameters.emplace_back("channels", random.between(1, 3));
  const auto add = [&](std::string name, Attribute value) {
    call.parameters.emplace_back(std::move(name), std::move(value));
  };
  if (has_tiled(c.kind))
    add("tiled", c.tiled);
  if (c.kind == OpKind::AllGather) {
    add("axis", any_dimension());
  } else if (c.kind == OpKind::PsumScatter || c.kind == OpKind::AllToAll) {
    const int64_t split = any_dimension();
    int64_t& extent = dims[static_cast<size_t>(split)];
    extent = c.tiled ? extent * c.n : c.n;
    add(c.kind == OpKind::AllToAll ? "split_axis" : "scatter_dimension", split);
    if (c.kind == OpKind::AllToAll)
      add("concat_axis", any_dimension());
  } else if (c.kind == OpKind::Pswapaxes) {
    const int64_t axis = any_dimension();
    dims[static_cast<size_t>(axis)] = c.n;
    add("axis", axis);
  } else if (c.kind == OpKind::Pshuffle) {
    add("perm", shuffled(c.n, random));
  } else if (c.kind == OpKind::Ppermute) {
    add("perm", permutation(c.n, random));
  } else if (c.kind == OpKind::Pbroadcast) {
    add("source", random.between(0, c.n - 1));
  }
  call.operand = Shape(dims);
  return call;
}

std::vector<Case> cases_of(OpKind kind) {
  std::vector<Case> cases;
  for (int64_t n = 2; n <= 17; ++n)
    for (const Grouping grouping : kGroupings)
      if (!(grouping == Grouping::TwoAxes && least_factor(n) == n) &&
          !refused(kind, Dtype::F32, grouping))
        for (const bool tiled : {false, true})
          if (!tiled || has_tiled(kind))
            for (int64_t rank = 1; rank <= 4; ++rank)
              cases.push_back({kind, n, grouping, tiled, rank});
  return cases;
}

/// One collective of a case.
struct Trial {
  Dtype dtype;
  Issue issue;
  std::string algorithm;
};

/// Sync and started alternate, and so do the algorithms, so that each dtype meets each of them.
std::vector<Trial> trials_of(const Case& c) {
  static const bool every_dtype = std::getenv("ORRERY_EVERY_DTYPE") != nullptr;
  std::vector<std::string> algorithms;
  for (const Algorithm* algorithm : algorithms_for(c.kind))
    algorithms.emplace_back(algorithm->name);
  std::vector<Trial> trials;
  for (size_t d = 0; d < all_dtypes().size(); ++d) {
    const Dtype dtype = all_dtypes()[d];
    const size_t turn = d + static_cast<size_t>(c.n + c.rank);
    if (refused(c.kind, dtype, c.grouping) || (!every_dtype && turn % 3 != 0))
      continue;
    trials.push_back({dtype, turn / 3 % 2 == 0 ? Issue::Sync : Issue::Start,
                      algorithms[turn / 6 % algorithms.size()]});
  }
  return trials;
}

uint64_t seed(const Case& c) {
  return mix((((static_cast<uint64_t>(c.kind) * 20 + static_cast<uint64_t>(c.n)) * 8 +
               static_cast<uint64_t>(c.grouping)) *
                  2 +
              (c.tiled ? 1 : 0)) *
                 8 +
             static_cast<uint64_t>(c.rank));
}

/// Runs, compares and proves the trials of the case. Returns their number.
size_t check_case(const Case& c) {
  Random random(seed(c));
  HostRig rig(axes_of(c));
  rig.in_switch = true;  // which every algorithm can use
  if (c.n % 2 == 0)
    rig.transport = test::slot_protocol(kSmallestSlot);
  const uint32_t devices = Mesh(axes_of(c)).devices();
  const Call call = random_call(c, random);
  const std::string op(rules(c.kind).name);
  std::set<std::string> proofs;  // by algorithm: the views and steps of all dtypes are the same
  std::set<std::string> to_prove;
  for (const Trial& trial : trials_of(c)) {
    const std::string id(name(trial.dtype));
    std::vector<Tensor> data;
    for (uint32_t d = 0; d < devices; ++d)
      data.push_back(random_normalish(trial.dtype, call.operand, random));
    rig.argument("a." + id, std::move(data));
    Parameters parameters = call.parameters;
    parameters.emplace_back("algorithm", trial.algorithm);
    if (trial.issue == Issue::Sync) {
      rig.op(op, id, {"a." + id}, parameters);
    } else {
      rig.op(op + "_start", id, {"a." + id}, parameters);
      rig.op("done", id + ".done", {id});
    }
    if (proofs.insert(trial.algorithm).second)
      to_prove.insert(id);
  }
  const HostRun run = rig.run();
  INFO(fmt::format("{} over {} members, {}, {}, rank {}", op, c.n, name_of(c.grouping),
                   c.tiled ? "tiled" : "untiled", c.rank));
  REQUIRE(run.stop.finished());
  CHECK(run.digest == rig.digest());

  Prover prover(rig.program, rig.lowered);
  for (size_t s = 0; s < rig.program.sites.size(); ++s) {
    const SiteId site(s);
    const auto values = ValuesAgainstDefinitions(rig.program, rig.lowered, run.values)
                            .check(site, [&](const Op& op_of, const Collective& collective) {
                              return prover.folds(op_of, collective);
                            });
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

/// Whether the rules refuse the collective of a case.
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

/// How many collectives the differential compares, of an op x groups x dtype: sync and started.
struct Count {
  size_t sync = 0;
  size_t started = 0;
};
using Coverage = std::map<std::tuple<OpKind, Grouping, Dtype>, Count>;

Coverage coverage() {
  Coverage counts;
  for (const OpKind kind : collectives()) {
    for (const Case& c : cases_of(kind)) {
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
      for (const Case& c : cases_of(kind))
        CHECK(check_case(c) == trials_of(c).size());
    }
  }
}

// The table of what the differential above covers. Each cell is op x groups x dtype: the
// collectives that are waited for + those that are started, or the letter of the reason for which
// there are none.
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
