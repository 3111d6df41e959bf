// The big differential: every collective x dtype x algorithm x kind of group x tiled or not x sync
// or started x 2..17 ranks, on random shapes and data. The host executor's results are those of the
// definitions, every walk runs every step, and every schedule is proved.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/base/hash.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/values/host_rig.h"
#include "verifier/check/values.h"
#include "verifier/prove/prove.h"

using namespace orrery;
using orrery::test::HostRig;

namespace {

enum class Grouping : uint8_t { OneAxis, Strided, TwoAxes, Lists, UnequalLists };

struct Case {
  OpKind kind;
  int64_t n;
  Grouping grouping;
  bool tiled;
  uint64_t draw;  // of shapes, groups and data
};

constexpr uint64_t kDraws = 4;

using Parameters = std::vector<std::pair<std::string, Attribute>>;

int64_t least_factor(int64_t n) {
  int64_t factor = 2;
  while (n % factor != 0)
    ++factor;
  return factor;
}

bool reduces_to_all(OpKind kind) {
  return kind == OpKind::Psum || kind == OpKind::Pmax || kind == OpKind::Pmin;
}

/// Only these have a `tiled`.
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
  for (int64_t rank = random.between(1, 3); rank > 0; --rank)
    dims.push_back(random.below(16) == 0 ? 0 : random.between(1, 5));
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

std::vector<std::string> algorithms_of(const Case& c) {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms_for(c.kind))
    if (algorithm->fits(static_cast<uint32_t>(c.n), 3).holds &&
        (c.grouping != Grouping::UnequalLists || algorithm->fits(1, 3).holds))
      names.emplace_back(algorithm->name);
  return names;
}

std::string text(const Case& c) {
  return fmt::format("{} over {} ranks, grouping {}, {}, draw {}", rules(c.kind).name, c.n,
                     static_cast<int>(c.grouping), c.tiled ? "tiled" : "untiled", c.draw);
}

/// Every other dtype, the others in the next draw; and f32, which is proved.
bool takes_part(Dtype dtype, uint64_t draw) {
  return dtype == Dtype::F32 || (static_cast<uint64_t>(dtype) + draw) % 2 == 0;
}

/// Runs the case with its dtypes and every algorithm, sync and started. Returns how many
/// collectives were compared, and adds those proved to `proved`.
size_t check_case(const Case& c, size_t& proved) {
  Random random(mix(c.draw * 10'000 + static_cast<uint64_t>(c.kind) * 1000 +
                    static_cast<uint64_t>(c.n) * 20 + static_cast<uint64_t>(c.grouping) * 2 +
                    (c.tiled ? 1 : 0)));
  HostRig rig(axes_of(c));
  const uint32_t devices = Mesh(axes_of(c)).devices();
  const Call call = random_call(c, random);
  std::vector<std::string> to_prove;
  for (const Dtype dtype : all_dtypes()) {
    if (!takes_part(dtype, c.draw) || (dtype == Dtype::Pred && c.kind == OpKind::PsumScatter))
      continue;
    const std::string operand = "a." + std::string(name(dtype));
    std::vector<Tensor> data;
    for (uint32_t d = 0; d < devices; ++d)
      data.push_back(random_normalish(dtype, call.operand, random));
    rig.argument(operand, std::move(data));
    for (const std::string& algorithm : algorithms_of(c)) {
      Parameters parameters = call.parameters;
      parameters.emplace_back("algorithm", algorithm);
      const std::string id = std::string(name(dtype)) + "." + algorithm;
      const std::string op(rules(c.kind).name);
      rig.op(op, id, {operand}, parameters);
      rig.op(op + "_start", id + ".start", {operand}, parameters);
      rig.op("done", id + ".done", {id + ".start"});
      if (dtype == Dtype::F32)
        to_prove.push_back(id);
    }
  }
  const HostRun run = rig.run();
  INFO(text(c));
  REQUIRE(run.stop.finished());
  CHECK(run.digest == rig.digest());

  size_t compared = 0;
  Prover prover(rig.program, rig.lowered);
  for (size_t s = 0; s < rig.program.sites.size(); ++s) {
    const SiteId site(s);
    const auto values = values_match_definition(rig.program, rig.lowered, site, run.values);
    REQUIRE(values);
    if (!values->holds)
      FAIL_CHECK(values->message);
    ++compared;
    const Op& op = rig.program.op(rig.program.site(site).ops.front());
    if (std::find(to_prove.begin(), to_prove.end(), op.name) == to_prove.end())
      continue;  // the views and steps of other dtypes are the same
    const Check proof = prover.prove_site(site);
    if (!proof.holds)
      FAIL_CHECK(proof.message);
    ++proved;
  }
  return compared;
}

void check_all(OpKind kind) {
  size_t compared = 0;
  size_t proved = 0;
  for (int64_t n = 2; n <= 17; ++n) {
    std::vector<Grouping> groupings = {Grouping::OneAxis, Grouping::Strided, Grouping::Lists};
    if (least_factor(n) < n)
      groupings.push_back(Grouping::TwoAxes);
    if (reduces_to_all(kind))
      groupings.push_back(Grouping::UnequalLists);
    for (const Grouping grouping : groupings) {
      for (uint64_t draw = 0; draw < kDraws; ++draw) {
        compared += check_case({kind, n, grouping, true, draw}, proved);
        if (has_tiled(kind))
          compared += check_case({kind, n, grouping, false, draw}, proved);
      }
    }
  }
  // 16 sizes, of which 4, 6, 8, 9, 10, 12, 14, 15 and 16 have two factors: 57 groupings of equal
  // sizes, and 16 unequal ones. At least one algorithm; in a pair of draws 15 dtypes that are not
  // pred, f32 being in both; sync and started.
  const size_t cases =
      (57U + (reduces_to_all(kind) ? 16U : 0U)) * (has_tiled(kind) ? 2U : 1U) * kDraws;
  CHECK(compared >= cases * 15);
  CHECK(proved >= cases);
}

}  // namespace

TEST_CASE("psum: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::Psum);
}

TEST_CASE("pmax: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::Pmax);
}

TEST_CASE("pmin: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::Pmin);
}

TEST_CASE("all_gather: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::AllGather);
}

TEST_CASE("psum_scatter: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::PsumScatter);
}

TEST_CASE("all_to_all: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::AllToAll);
}

TEST_CASE("pswapaxes: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::Pswapaxes);
}

TEST_CASE("ppermute: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::Ppermute);
}

TEST_CASE("pshuffle: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::Pshuffle);
}

TEST_CASE("pbroadcast: every dtype, algorithm and grouping gives the definition's values") {
  check_all(OpKind::Pbroadcast);
}
