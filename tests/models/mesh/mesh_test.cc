#include "models/mesh/mesh.h"

#include <algorithm>
#include <numeric>

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

/// One to four axes of one to four devices.
rc::Gen<Mesh> any_mesh() {
  const auto sizes = rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 5));
  return rc::gen::map(sizes, [](std::vector<int64_t> some) {
    some.resize(std::clamp<size_t>(some.size(), 1, 4), 2);
    std::vector<Axis> axes;
    for (size_t a = 0; a < some.size(); ++a)
      axes.push_back({std::string(1, static_cast<char>('a' + a)), some[a]});
    return Mesh(std::move(axes));
  });
}

/// Some axes of the mesh in some order.
std::vector<size_t> some_axes(const Mesh& mesh) {
  std::vector<size_t> axes(mesh.axes().size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  for (size_t a = axes.size(); a > 1; --a)
    std::swap(axes[a - 1], axes[*rc::gen::inRange<size_t>(0, a)]);
  axes.resize(*rc::gen::inRange<size_t>(0, axes.size() + 1));
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

// On the mesh {i: 4, j: 2} device d stands at (d / 2, d % 2).
TEST_CASE("groups: over the major axis they are strided") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(ids(groups(mesh, std::vector<size_t>{0})) == Ids{{0, 2, 4, 6}, {1, 3, 5, 7}});
}

TEST_CASE("groups: over the minor axis they are contiguous") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(ids(groups(mesh, std::vector<size_t>{1})) == Ids{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
}

TEST_CASE("groups: over all axes there is one, in the order in which the axes are given") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  CHECK(ids(groups(mesh, std::vector<size_t>{0, 1})) == Ids{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK(ids(groups(mesh, std::vector<size_t>{1, 0})) == Ids{{0, 2, 4, 6, 1, 3, 5, 7}});
}

TEST_CASE("groups: over no axes each device is alone") {
  const Mesh mesh({{"i", 2}, {"j", 2}});
  CHECK(ids(groups(mesh, {})) == Ids{{0}, {1}, {2}, {3}});
}

TEST_CASE("groups: a device's rank is its index over the axes") {
  test::holds_for_all("rank is index", [] {
    const Mesh mesh = *any_mesh();
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
    const Mesh mesh = *any_mesh();
    const std::vector<size_t> axes = some_axes(mesh);
    const size_t first = *rc::gen::inRange<size_t>(0, axes.size() + 1);
    const std::span<const size_t> all(axes);
    const auto major = all.first(first);
    const auto minor = all.subspan(first);
    for (uint32_t d = 0; d < mesh.devices(); ++d)
      RC_ASSERT(mesh.index(LogicalId(d), axes) ==
                mesh.index(LogicalId(d), major) * mesh.size(minor) +
                    mesh.index(LogicalId(d), minor));
  });
}

TEST_CASE("split: ranks are places in the group, and their order is kept") {
  const Mesh mesh({{"i", 4}, {"j", 2}});
  const std::vector<Group> whole = groups(mesh, std::vector<size_t>{0});
  const std::vector<std::vector<int64_t>> lists = {{3, 0}, {1, 2}};
  // Groups (0 2 4 6) and (1 3 5 7), each by ranks 3, 0 and by ranks 1, 2.
  CHECK(ids(split(whole, lists)) == Ids{{6, 0}, {2, 4}, {7, 1}, {3, 5}});
}

TEST_CASE("split: contiguous groups of an axis are the inner axis of a finer mesh") {
  const Mesh coarse({{"i", 6}});
  const Mesh fine({{"a", 2}, {"b", 3}});
  const std::vector<std::vector<int64_t>> lists = {{0, 1, 2}, {3, 4, 5}};
  CHECK(split(groups(coarse, std::vector<size_t>{0}), lists) ==
        groups(fine, std::vector<size_t>{1}));
}

TEST_CASE("split: strided groups of an axis are the outer axis of a finer mesh") {
  const Mesh coarse({{"i", 6}});
  const Mesh fine({{"a", 2}, {"b", 3}});
  const std::vector<std::vector<int64_t>> lists = {{0, 3}, {1, 4}, {2, 5}};
  CHECK(split(groups(coarse, std::vector<size_t>{0}), lists) ==
        groups(fine, std::vector<size_t>{0}));
}

}  // namespace
}  // namespace orrery
