// Tests arrays that move from the whole mesh to groups of it and back: their values, where they
// are, and the memory of the moves.

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include "models/mesh/mpmd.h"
#include "models/program/holders.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/property.h"
#include "tests/verifier/scenario_rig.h"
#include "verifier/run.h"

namespace orrery {
namespace {

using Cuts = std::vector<std::vector<std::string>>;  // per dimension: the axes that cut it

std::string spec_json(const Cuts& cuts) {
  std::vector<std::string> entries;
  for (const std::vector<std::string>& axes : cuts)
    entries.push_back(axes.empty() ? "null" : fmt::format("[\"{}\"]", fmt::join(axes, "\", \"")));
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

/// A Moved is an array, how it is cut on the whole mesh before and after, and where it is between.
struct Moved {
  std::vector<int64_t> shape;
  Dtype dtype = Dtype::F32;
  Cuts before;
  Cuts on_groups;  // with the axis of groups, which is taken out
  Cuts after;
  std::vector<int64_t> groups;
};

struct Moves {
  std::vector<Axis> axes;
  std::string axis;  // of groups
  std::vector<Moved> arrays;
  std::string to_groups_keys;  // thresholds, with a comma before
  std::string to_mesh_keys;
  bool checked = true;
};

/// Cuts dimensions by some of the axes, in any order.
Cuts random_cuts(size_t rank, const std::vector<Axis>& axes) {
  Cuts cuts(rank);
  std::vector<std::string> left;
  for (const Axis& axis : axes)
    left.push_back(axis.name);
  while (!left.empty() && rank > 0) {
    const auto at = test::in_range<size_t>(0, left.size());
    const auto dimension = test::in_range<size_t>(0, rank + 1);
    if (dimension < rank)
      cuts[dimension].push_back(left[at]);
    left.erase(left.begin() + static_cast<ptrdiff_t>(at));
  }
  return cuts;
}

int64_t parts(const std::vector<std::string>& names, const std::vector<Axis>& axes) {
  int64_t parts = 1;
  for (const Axis& axis : axes)
    if (std::find(names.begin(), names.end(), axis.name) != names.end())
      parts *= axis.size;
  return parts;
}

std::string random_threshold(std::string_view counts) {
  const auto kind = test::in_range<int>(0, 4);
  if (kind == 0)
    return "";
  const int64_t bytes = kind == 1 ? 0 : test::in_range<int64_t>(1, 400);
  return fmt::format(R"(, "threshold": "{} B"{})", bytes, counts);
}

Moves random_moves() {
  Moves moves;
  moves.axes = {{"a", test::in_range<int64_t>(1, 4)}, {"b", test::in_range<int64_t>(1, 3)}};
  if (test::in_range<int>(0, 2) == 1)
    moves.axes.push_back({"c", test::in_range<int64_t>(1, 3)});
  const size_t axis = test::in_range<size_t>(0, moves.axes.size());
  moves.axis = moves.axes[axis].name;
  for (auto count = test::in_range<int>(1, 5); count > 0; --count) {
    Moved& moved = moves.arrays.emplace_back();
    const auto rank = test::in_range<size_t>(0, 4);
    moved.dtype = all_dtypes()[test::in_range<size_t>(0, all_dtypes().size())];
    moved.before = random_cuts(rank, moves.axes);
    moved.on_groups = random_cuts(rank, moves.axes);
    moved.after = random_cuts(rank, moves.axes);
    for (size_t d = 0; d < rank; ++d) {
      const int64_t least = std::lcm(
          parts(moved.before[d], moves.axes),
          std::lcm(parts(moved.on_groups[d], moves.axes), parts(moved.after[d], moves.axes)));
      moved.shape.push_back(least * test::in_range<int64_t>(1, 3));
    }
    for (int64_t group = 0; group < moves.axes[axis].size; ++group)
      if (test::in_range<int>(0, 2) == 1)
        moved.groups.push_back(group);
  }
  moves.to_groups_keys =
      random_threshold(test::in_range<int>(0, 2) == 1 ? R"(, "threshold_counts": "target")" : "");
  moves.to_mesh_keys = random_threshold("");
  moves.checked = test::in_range<int>(0, 4) > 0;
  return moves;
}

/// Returns the scenario that moves the arrays a0, .. to groups as p0, .., to the mesh as r0, ..,
/// and to the same groups as b0, ...
std::string text_of(const Moves& moves) {
  std::vector<std::string> axes;
  int64_t devices = 1;
  for (const Axis& axis : moves.axes) {
    axes.push_back(fmt::format("\"{}\": {}", axis.name, axis.size));
    devices *= axis.size;
  }
  std::vector<std::string> arrays;
  std::array<std::vector<std::string>, 4> names;
  std::vector<std::string> shardings;
  std::vector<std::string> specs;
  for (size_t i = 0; i < moves.arrays.size(); ++i) {
    const Moved& moved = moves.arrays[i];
    arrays.push_back(fmt::format(R"("a{}": {{"shape": [{}], "dtype": "{}", "spec": {}}})", i,
                                 fmt::join(moved.shape, ", "), name(moved.dtype),
                                 spec_json(moved.before)));
    for (size_t n = 0; n < 4; ++n)
      names[n].push_back(fmt::format("\"{}{}\"", "aprb"[n], i));
    shardings.push_back(fmt::format(R"({{"mesh_ids": [{}], "spec": {}}})",
                                    fmt::join(moved.groups, ", "), spec_json(moved.on_groups)));
    specs.push_back(spec_json(moved.after));
  }
  return fmt::format(
      R"({{"orrery": 1, "mesh": {{{}}}, "check_types": {},
 "cluster": {{"devices": {}, "topology": "fully_connected", "bandwidth": "1 GB/s", "latency": "1 us"}},
 "arrays": {{{}}},
 "program": [
  {{"id": [{}], "op": "spmd_to_mpmd_reshard", "of": [{}], "mpmd_axis": "{}", "shardings": [{}]{}}},
  {{"id": [{}], "op": "mpmd_to_spmd_reshard", "of": [{}], "mpmd_axis": "{}", "specs": [{}]{}}},
  {{"id": [{}], "op": "spmd_to_mpmd_reshard", "of": [{}], "mpmd_axis": "{}", "shardings": [{}]{}}}],
 "outputs": [{}]}})",
      fmt::join(axes, ", "), moves.checked, devices, fmt::join(arrays, ", "),
      fmt::join(names[1], ", "), fmt::join(names[0], ", "), moves.axis, fmt::join(shardings, ", "),
      moves.to_groups_keys, fmt::join(names[2], ", "), fmt::join(names[1], ", "), moves.axis,
      fmt::join(specs, ", "), moves.to_mesh_keys, fmt::join(names[3], ", "),
      fmt::join(names[2], ", "), moves.axis, fmt::join(shardings, ", "), moves.to_groups_keys,
      fmt::join(names[3], ", "));
}

PartitionSpec spec_of_cuts(const Cuts& cuts) {
  PartitionSpec spec;
  spec.dims = cuts;
  return spec;
}

/// A Whole has the elements of an array by their row-major index, as texts of bits.
using Whole = std::map<int64_t, uint64_t>;

/// Visits each element of a device's part with its index in the whole array, and its bytes.
template <class Visit>
void for_each_element(const Mesh& mesh, const PartitionSpec& spec, const Shape& shape,
                      LogicalId device, const Tensor& part, Visit visit) {
  const std::vector<int64_t> start = local_start(mesh, spec, shape, device);
  const auto item = static_cast<size_t>(itemsize(part.dtype()).count());
  for (int64_t i = 0; i < part.elements(); ++i) {
    int64_t rest = i;
    int64_t index = 0;
    int64_t stride = 1;
    for (size_t d = shape.rank(); d-- > 0;) {
      index += (start[d] + rest % part.shape()[d]) * stride;
      rest /= part.shape()[d];
      stride *= shape[d];
    }
    uint64_t bits = 0;
    std::memcpy(&bits, part.bytes().data() + static_cast<size_t>(i) * item,
                std::min<size_t>(item, 8));
    visit(index, bits);
  }
}

ValueId value_called(const Program& program, const std::string& name) {
  return values_by_name(program).at(name);
}

/// Checks the values and the places of what moves, and returns how many transfer groups there were.
size_t check_moves(const Moves& moves) {
  const std::string text = text_of(moves);
  const Scenario scenario = read_scenario("moves", text);
  RC_ASSERT(write_scenario(read_scenario("moves", write_scenario(scenario))) ==
            write_scenario(scenario));
  const Report report = run(scenario, {});
  RC_ASSERT(report.holds());
  const Program& program = report.scenario->program;
  const Mesh& mesh = program.mesh;
  const Holders holders(program);
  for (size_t i = 0; i < moves.arrays.size(); ++i) {
    const Moved& moved = moves.arrays[i];
    const Shape shape(moved.shape);
    Whole whole;
    const ValueId given = value_called(program, fmt::format("a{}", i));
    for (const LogicalId device : all_devices(mesh))
      for_each_element(mesh, spec_of_cuts(moved.before), shape, device,
                       *report.values->at(given, device),
                       [&](int64_t index, uint64_t bits) { whole[index] = bits; });
    RC_ASSERT(static_cast<int64_t>(whole.size()) == shape.elements());
    const auto check_part = [&](ValueId value, const PartitionSpec& spec, LogicalId device) {
      const Tensor& part = *report.values->at(value, device);
      RC_ASSERT(part.shape() == local_shape(mesh, spec, shape));
      for_each_element(mesh, spec, shape, device, part,
                       [&](int64_t index, uint64_t bits) { RC_ASSERT(whole.at(index) == bits); });
    };
    const std::set<int64_t> groups = target_groups({moved.groups.begin(), moved.groups.end()});
    for (const LogicalId device : all_devices(mesh)) {
      const bool in_group = groups.contains(mesh.coordinate(device, *mesh.axis(moves.axis)));
      for (const char* const name : {"p", "b"}) {
        const ValueId on_groups = value_called(program, fmt::format("{}{}", name, i));
        RC_ASSERT(holders.has(device, on_groups) == in_group);
        RC_ASSERT(report.values->at(on_groups, device).has_value() == in_group);
        if (in_group)
          check_part(on_groups, without_axis(spec_of_cuts(moved.on_groups), moves.axis), device);
      }
      check_part(value_called(program, fmt::format("r{}", i)), spec_of_cuts(moved.after), device);
    }
  }
  size_t transfers = 0;
  for (const ReshardReport& row : report.reshards) {
    const Reshard& reshard = program.reshards[row.reshard];
    for (const std::vector<size_t>& group : reshard.transfers) {
      Bytes bytes;
      for (const size_t array : group)
        bytes += reshard.arrays[array].size;
      RC_ASSERT(group.size() == 1 || !reshard.threshold || bytes <= *reshard.threshold);
    }
    transfers += reshard.transfers.size();
  }
  return transfers;
}

/// Law P05, and P03 of the transfer groups.
TEST_CASE("reshards: arrays are what they were, in groups, back and there again") {
  size_t several = 0;
  test::holds_for_all("reshards", [&] { several += check_moves(random_moves()) > 3 ? 1 : 0; });
  CHECK(several > 0);
}

/// Returns moves of arrays that the axis of groups cuts last along some dimension, and that need no
/// more than to be gathered over it.
Moves random_gathers() {
  Moves moves = random_moves();
  for (Moved& moved : moves.arrays) {
    if (moved.shape.empty()) {
      moved.shape = {1};
      moved.before.resize(1);
    }
    for (std::vector<std::string>& axes : moved.before)
      std::erase(axes, moves.axis);
    moved.on_groups = moved.before;
    moved.after = moved.before;
    moved.before[test::in_range<size_t>(0, moved.before.size())].push_back(moves.axis);
    for (size_t d = 0; d < moved.shape.size(); ++d)
      moved.shape[d] = parts(moved.before[d], moves.axes) * test::in_range<int64_t>(1, 3);
  }
  return moves;
}

TEST_CASE("reshards: a device holds the targets of a transfer group beside its own, and scratch") {
  test::holds_for_all("gathers", [] {
    const Moves moves = random_gathers();
    check_moves(moves);
    std::string text = text_of(moves);
    text.insert(text.rfind('}'), R"(, "memory": {"alignment": "1 B"})");
    const Report report = run(read_scenario("gathers", text), {});
    std::map<SiteId, Bytes> of_site;  // the scratch of a schedule
    for (const Collective& collective : report.lowered->collectives)
      of_site[collective.site] = std::max(of_site[collective.site], collective.scratch);
    Bytes of_schedules;
    for (const auto& [site, scratch] : of_site)
      of_schedules += scratch;
    for (const Bytes scratch : report.reshards.front().scratch)
      RC_ASSERT(scratch <= of_schedules);
    // Here each array is on one device of each place of the other axes.
    Bytes sources;
    Bytes targets;
    for (const Reshard::Array& array : report.scenario->program.reshards.front().arrays) {
      const Program& program = report.scenario->program;
      sources += program.value(value_called(program, array.from)).type.size();
      targets += program.value(value_called(program, array.to)).type.size();
    }
    RC_ASSERT(report.reshards.front().peak <= sources + targets + of_schedules);
  });
}

}  // namespace
}  // namespace orrery
