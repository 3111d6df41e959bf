// Tests meshes and groups by hand, and random groups against a slow definition.

#include "models/mesh/mesh.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace orrery {
namespace {

std::vector<std::vector<uint32_t>> ids(const std::vector<Group>& groups) {
  std::vector<std::vector<uint32_t>> result;
  for (const Group& group : groups) {
    result.emplace_back();
    for (const LogicalId id : group)
      result.back().push_back(id.index());
  }
  return result;
}

using Ids = std::vector<std::vector<uint32_t>>;

using Lists = std::vector<std::vector<int64_t>>;

/// Returns the groups over `axes` on the whole mesh.
std::vector<Group> groups(const Mesh& mesh, std::vector<size_t> axes, const Lists& lists = {}) {
  return groups_of(mesh, axes, lists, all_devices(mesh));
}

/// Returns a mesh of one to four axes of one to four devices.
Mesh any_mesh() {
  std::vector<Axis> axes(test::in_range<size_t>(1, 5));
  for (size_t a = 0; a < axes.size(); ++a)
    axes[a] = {std::string(1, static_cast<char>('a' + a)), test::in_range<int64_t>(1, 5)};
  return Mesh(std::move(axes));
}

/// Returns some axes of the mesh in any order.
std::vector<size_t> some_axes(const Mesh& mesh) {
  std::vector<size_t> axes(mesh.axes().size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  for (size_t a = axes.size(); a > 1; --a)
    std::swap(axes[a - 1], axes[test::in_range<size_t>(0, a)]);
  axes.resize(test::in_range<size_t>(0, axes.size() + 1));
  return axes;
}

TEST_CASE("mesh: logical ids are row-major over the axes") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(mesh.devices() == 8);
  // 5 = 2 * 2 + 1.
  CHECK(mesh.coordinate(LogicalId(5), 0) == 2);
  CHECK(mesh.coordinate(LogicalId(5), 1) == 1);
}

TEST_CASE("mesh: without axes it is one device") {
  CHECK(Mesh().devices() == 1);
  CHECK(ids(groups(Mesh(), {})) == Ids{{0}});
}

TEST_CASE("mesh: an axis is found by its name") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(mesh.axis("j") == 1);
  CHECK_FALSE(mesh.axis("k").has_value());
}

// On the mesh {i: 4, j: 2}, device d is at (d / 2, d % 2).
TEST_CASE("groups: over the major axis they are strided") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(ids(groups(mesh, {0})) == Ids{{0, 2, 4, 6}, {1, 3, 5, 7}});
}

TEST_CASE("groups: over the minor axis they are contiguous") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(ids(groups(mesh, {1})) == Ids{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
}

TEST_CASE("groups: over all axes there is one, in the order in which the axes are given") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(ids(groups(mesh, {0, 1})) == Ids{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK(ids(groups(mesh, {1, 0})) == Ids{{0, 2, 4, 6, 1, 3, 5, 7}});
}

TEST_CASE("groups: over no axes each device is alone") {
  const Mesh mesh({{"i", 2}, {"j", 2}});
  CHECK(ids(groups(mesh, {})) == Ids{{0}, {1}, {2}, {3}});
}

TEST_CASE("groups: a device's rank is its index over the axes") {
  test::holds_for_all("rank is index", [] {
    const Mesh mesh = any_mesh();
    const std::vector<size_t> axes = some_axes(mesh);
    std::vector<bool> seen(mesh.devices(), false);
    for (const Group& group : groups(mesh, axes)) {
      RC_ASSERT(static_cast<int64_t>(group.size()) == mesh.size(axes));
      for (size_t rank = 0; rank < group.size(); ++rank) {
        RC_ASSERT(mesh.index(group[rank], axes) == static_cast<int64_t>(rank));
        RC_ASSERT(!seen[group[rank].index()]);
        seen[group[rank].index()] = true;
      }
    }
    RC_ASSERT(std::all_of(seen.begin(), seen.end(), [](bool device) { return device; }));
  });
}

TEST_CASE("index: over (a, b) it is index(a) * |b| + index(b)") {
  test::holds_for_all("V02", [] {
    const Mesh mesh = any_mesh();
    const std::vector<size_t> axes = some_axes(mesh);
    const size_t first = test::in_range<size_t>(0, axes.size() + 1);
    const std::span<const size_t> all(axes);
    const auto major = all.first(first);
    const auto minor = all.subspan(first);
    for (uint32_t d = 0; d < mesh.devices(); ++d)
      RC_ASSERT(mesh.index(LogicalId(d), axes) ==
                mesh.index(LogicalId(d), major) * mesh.size(minor) +
                    mesh.index(LogicalId(d), minor));
  });
}

TEST_CASE("groups: lists split each group by positions in it, in the lists' order") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  // The groups (0 2 4 6) and (1 3 5 7) are each split into ranks 3, 0 and ranks 1, 2.
  CHECK(ids(groups(mesh, {0}, {{3, 0}, {1, 2}})) == Ids{{6, 0}, {2, 4}, {7, 1}, {3, 5}});
}

TEST_CASE("groups: contiguous lists of an axis are the inner axis of a finer mesh") {
  const Mesh coarse({{"i", 6}});
  const Mesh fine({{"a", 2}, {"b", 3}});
  CHECK(groups(coarse, {0}, {{0, 1, 2}, {3, 4, 5}}) == groups(fine, {1}));
}

TEST_CASE("groups: strided lists of an axis are the outer axis of a finer mesh") {
  const Mesh coarse({{"i", 6}});
  const Mesh fine({{"a", 2}, {"b", 3}});
  CHECK(groups(coarse, {0}, {{0, 3}, {1, 4}, {2, 5}}) == groups(fine, {0}));
}

/// This is the slow definition, which looks at every group of the mesh.
std::vector<Group> chosen(const std::vector<Group>& all, const std::vector<LogicalId>& devices) {
  std::vector<Group> kept;
  for (const Group& group : all)
    if (std::find_first_of(group.begin(), group.end(), devices.begin(), devices.end()) !=
        group.end())
      kept.push_back(group);
  return kept;
}

TEST_CASE("groups: those of some devices are the groups of the mesh that have one of them") {
  test::holds_for_all("chosen groups", [] {
    const Mesh mesh = any_mesh();
    const std::vector<size_t> axes = some_axes(mesh);
    Lists lists;
    if (test::any_bool()) {  // the ranks in some order, cut anywhere
      lists.emplace_back();
      std::vector<int64_t> ranks(static_cast<size_t>(mesh.size(axes)));
      std::iota(ranks.begin(), ranks.end(), int64_t{0});
      for (size_t i = ranks.size(); i > 0; --i) {
        std::swap(ranks[i - 1], ranks[test::in_range<size_t>(0, i)]);
        lists.back().push_back(ranks[i - 1]);
        if (i > 1 && test::in_range(0, 3) == 0)
          lists.emplace_back();
      }
    }
    const std::vector<Group> all = groups(mesh, axes, lists);
    // The devices are mostly whole groups, so that some choices split no group.
    std::vector<LogicalId> devices;
    for (const Group& group : all)
      if (test::any_bool())
        devices.insert(devices.end(), group.begin(), group.end());
    if (!devices.empty() && test::in_range(0, 3) == 0)
      devices.erase(devices.begin() + test::in_range<std::ptrdiff_t>(0, std::ssize(devices)));
    std::sort(devices.begin(), devices.end());
    const std::vector<Group> got = groups_of(mesh, axes, lists, devices);
    RC_ASSERT(got == chosen(all, devices));
    for (const Group& group : got) {
      std::optional<LogicalId> missing;  // the first member that is not among the devices
      for (size_t rank = group.size(); rank-- > 0;)
        if (std::find(devices.begin(), devices.end(), group[rank]) == devices.end())
          missing = group[rank];
      RC_ASSERT(missing_member(group, devices) == missing);
    }
  });
}

TEST_CASE("groups: takes time by the groups of the devices asked for, not by the mesh") {
  const Mesh mesh({{"i", int64_t{1} << 15}, {"j", int64_t{1} << 15}});
  const std::vector<LogicalId> devices = {LogicalId(6), LogicalId(7), LogicalId(1U << 29U)};
  const std::vector<size_t> none;
  CHECK(groups_of(mesh, none, {}, devices).size() == 3);
  const std::vector<size_t> inner = {1};
  const std::vector<Group> rows = groups_of(mesh, inner, {}, devices);
  REQUIRE(rows.size() == 2);  // the first two devices are in one row
  CHECK(rows[0].size() == size_t{1} << 15);
  CHECK(rows[1].front() == LogicalId(1U << 29U));
}

TEST_CASE("with_index: moves a device along some axes, and keeps its position on the others") {
  test::holds_for_all("with_index", [] {
    const Mesh mesh = any_mesh();
    const std::vector<size_t> axes = some_axes(mesh);
    const LogicalId from(test::in_range<uint32_t>(0, mesh.devices()));
    const int64_t index = test::in_range<int64_t>(0, mesh.size(axes));
    const LogicalId to = mesh.with_index(from, axes, index);
    RC_ASSERT(mesh.index(to, axes) == index);
    for (size_t a = 0; a < mesh.axes().size(); ++a)
      if (std::find(axes.begin(), axes.end(), a) == axes.end())
        RC_ASSERT(mesh.coordinate(to, a) == mesh.coordinate(from, a));
  });
}

TEST_CASE("devices_in: the devices whose positions lie in the intervals, ascending") {
  const Mesh mesh({{"i", 4}, {"j", 3}});
  // i is in {1, 2} and j in {0, 1}; the device is 3 i + j.
  const std::vector<Interval> box = {{1, 3}, {0, 2}};
  CHECK(ids({devices_in(mesh, box)}) == Ids{{3, 4, 6, 7}});
  CHECK(ids({devices_in(Mesh(), {})}) == Ids{{0}});
}

std::string ranges(const std::vector<uint32_t>& numbers) {
  std::vector<LogicalId> devices;
  for (const uint32_t number : numbers)
    devices.emplace_back(number);
  return ranges_text(devices);
}

TEST_CASE("ranges_text: ranges, strides of four or more, and eight parts at most") {
  CHECK(ranges({}).empty());
  CHECK(ranges({5}) == "5");
  CHECK(ranges({0, 1, 2, 3, 8}) == "0-3, 8");
  CHECK(ranges({0, 2, 4}) == "0, 2, 4");
  CHECK(ranges({0, 2, 4, 6}) == "0, 2, ..., 6");
  CHECK(ranges({0, 1, 3, 5, 7, 9, 20}) == "0-1, 3, 5, ..., 9, 20");
  CHECK(ranges({0, 3, 4, 5, 9}) == "0, 3-5, 9");
  std::vector<uint32_t> pairs;
  std::vector<uint32_t> even;
  for (uint32_t i = 0; i < 512; ++i) {
    even.push_back(2 * i);
    if (i < 8)
      pairs.insert(pairs.end(), {10 * i, 10 * i + 1});
  }
  CHECK(ranges(even) == "0, 2, ..., 1022");
  CHECK(ranges(pairs) == "0-1, 10-11, 20-21, 30-31, 40-41, 50-51, 60-61, 70-71");
  pairs.insert(pairs.end(), {80, 81});
  CHECK(ranges(pairs) == "0-1, 10-11, 20-21, 30-31, 40-41, 50-51, 60-61, ..., 80-81 (18 in all)");
}

TEST_CASE("index_among: in consecutive devices, in a list with gaps, in an empty list") {
  const std::vector<LogicalId> gaps = {LogicalId(3), LogicalId(4), LogicalId(9)};
  CHECK(index_among(gaps, LogicalId(4)) == 1);
  CHECK(index_among(gaps, LogicalId(9)) == 2);
  CHECK_FALSE(index_among(gaps, LogicalId(2)).has_value());
  CHECK_FALSE(index_among(gaps, LogicalId(5)).has_value());
  CHECK_FALSE(index_among(gaps, LogicalId(10)).has_value());
  CHECK_FALSE(index_among({}, LogicalId(0)).has_value());
}

}  // namespace
}  // namespace orrery
