#include "tests/verifier/collective_cases.h"

#include <algorithm>
#include <cstdlib>

#include "models/array/kernels.h"
#include "models/base/hash.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/program/lists.h"
#include "tests/simulator/slot_protocol.h"

namespace orrery::test {

namespace {

int64_t least_factor(int64_t n) {
  int64_t factor = 2;
  while (n % factor != 0)
    ++factor;
  return factor;
}

/// Returns whether the op has the parameter `tiled`.
bool has_tiled(OpKind kind) {
  return kind == OpKind::AllGather || kind == OpKind::PsumScatter || kind == OpKind::AllToAll;
}

bool mesh_order_only(OpKind kind) {
  return kind == OpKind::Ppermute || kind == OpKind::Pshuffle;
}

/// Returns 0..count-1 in random order.
std::vector<int64_t> shuffled(int64_t count, Random& random) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

Parameters group_parameters(const Case& c, Random& random) {
  switch (c.grouping) {
    case Grouping::OneAxis:
    case Grouping::Strided:
      return {{"axis_name", Names{"x"}}};
    case Grouping::TwoAxes:
      return {{"axis_name", mesh_order_only(c.kind) ? Names{"x", "y"} : Names{"y", "x"}}};
    case Grouping::Groups:
    case Grouping::UnequalGroups: {
      const std::vector<int64_t> order = shuffled(axes_of(c).front().size, random);
      const auto cut = order.begin() + static_cast<ptrdiff_t>(c.n);
      return {{"axis_name", Names{"x"}},
              {"axis_index_groups",
               std::vector<std::vector<int64_t>>{{order.begin(), cut}, {cut, order.end()}}}};
    }
  }
  return {};
}

/// Returns a partial permutation: every rank sends with even odds.
std::vector<std::vector<int64_t>> permutation(int64_t n, Random& random) {
  const std::vector<int64_t> to = shuffled(n, random);
  std::vector<std::vector<int64_t>> pairs;
  for (int64_t q = 0; q < n; ++q)
    if (random.below(2) == 0)
      pairs.push_back({q, to[static_cast<size_t>(q)]});
  return pairs;
}

}  // namespace

const char* name_of(Grouping grouping) {
  switch (grouping) {
    case Grouping::OneAxis:
      return "one axis";
    case Grouping::Strided:
      return "an outer axis";
    case Grouping::TwoAxes:
      return "two axes";
    case Grouping::Groups:
      return "groups";
    case Grouping::UnequalGroups:
      return "unequal groups";
  }
  return "";
}

std::vector<OpKind> collectives() {
  std::vector<OpKind> kinds;
  for (const OpRules& rules : all_rules())
    if (rules.family == Family::Collective && !rules.exchanges_as && !rules.form.by_tables &&
        rules.form.side == Side::Both)
      kinds.push_back(rules.kind);
  return kinds;
}

std::optional<std::string> refused(OpKind kind, Dtype dtype, Grouping grouping) {
  if (grouping == Grouping::UnequalGroups && rules(kind).group_sizes == GroupSizes::Equal)
    return "what has a part or an operand for each member wants groups of one size";
  if (grouping == Grouping::TwoAxes && (kind == OpKind::Pargmax || kind == OpKind::Pargmin))
    return "an index is along one axis";
  if (dtype == Dtype::Pred && kind == OpKind::PsumScatter)
    return "pred has no sum to scatter";
  const Combine combine = rules(kind).form.combine;
  if (is_complex(dtype) && (combine == Combine::Max || combine == Combine::Min))
    return "complex numbers have no order";
  return std::nullopt;
}

std::vector<Axis> axes_of(const Case& c) {
  switch (c.grouping) {
    case Grouping::OneAxis:
      return {{"x", c.n}};
    case Grouping::Strided:
      return {{"x", c.n}, {"y", 2}};
    case Grouping::TwoAxes:
      return {{"x", least_factor(c.n)}, {"y", c.n / least_factor(c.n)}};
    case Grouping::Groups:
      return {{"x", 2 * c.n}};
    case Grouping::UnequalGroups:
      return {{"x", c.n + 1}};
  }
  return {};
}

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

std::vector<Case> cases_of(OpKind kind, int64_t most_ranks) {
  std::vector<Case> cases;
  for (int64_t n = 2; n <= most_ranks; ++n)
    for (const Grouping grouping : kGroupings)
      if (!(grouping == Grouping::TwoAxes && least_factor(n) == n) &&
          !refused(kind, Dtype::F32, grouping))
        for (const bool tiled : {false, true})
          if (!tiled || has_tiled(kind))
            for (int64_t rank = 1; rank <= 4; ++rank)
              if (n <= 17 || rank == 1 + n % 4)
                cases.push_back({kind, n, grouping, tiled, rank});
  return cases;
}

/// Sync and started trials alternate, and so do the algorithms, so that each dtype meets each of
/// them.
std::vector<Trial> trials_of(const Case& c) {
  static const bool every_dtype = std::getenv("ORRERY_EVERY_DTYPE") != nullptr;
  std::vector<std::string> algorithms;
  for (const Algorithm* algorithm : algorithms_for(c.kind))
    if (algorithm->is_for_topology == nullptr)
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
  return mix((((static_cast<uint64_t>(c.kind) * 64 + static_cast<uint64_t>(c.n)) * 8 +
               static_cast<uint64_t>(c.grouping)) *
                  2 +
              (c.tiled ? 1 : 0)) *
                 8 +
             static_cast<uint64_t>(c.rank));
}

void add_trials(const Case& c, HostRig& rig) {
  Random random(seed(c));
  rig.in_switch = true;  // every algorithm can use it
  if (c.n % 2 == 0)
    rig.transport = slot_protocol(kSmallestSlot);
  const uint32_t devices = Mesh(axes_of(c)).devices();
  const Call call = random_call(c, random);
  const std::string op(rules(c.kind).name);
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
  }
}

}  // namespace orrery::test
