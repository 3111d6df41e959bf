#include "models/mesh/partition_spec.h"

#include <map>

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace orrery {
namespace {

const PartitionSpec kNone = {};

TEST_CASE("partition spec: its text is that of JAX's repr") {
  CHECK(PartitionSpec{{{"x"}, {}, {"y", "z"}}}.text() == "P('x', None, ('y', 'z'))");
  CHECK(kNone.text() == "P()");
  CHECK(PartitionSpec{{{}, {"x"}}, {0}}.text() == "P(UNCONSTRAINED, 'x')");
}

TEST_CASE("partition spec: a single entry has the comma of a tuple of one, unless sets follow") {
  CHECK(PartitionSpec{{{"x"}}}.text() == "P('x',)");
  CHECK(PartitionSpec{{{}}}.text() == "P(None,)");
  CHECK(PartitionSpec{{{"x"}}, {}, {"y"}}.text() == "P('x', unreduced={'y'})");
}

TEST_CASE("partition spec: sets are printed sorted, and alone where nothing is cut") {
  CHECK(PartitionSpec{{}, {}, {"z", "y"}}.text() == "P(unreduced={'y', 'z'})");
  CHECK(PartitionSpec{{{}, {"x"}}, {}, {"z"}, {"y"}}.text() ==
        "P(None, 'x', unreduced={'z'}, reduced={'y'})");
}

TEST_CASE("python text: quotes are those that Python chooses") {
  CHECK(python_text("x") == "'x'");
  CHECK(python_text("it's") == "\"it's\"");
  CHECK(python_text("'\"") == "'\\'\"'");
  CHECK(python_text("a\\b") == "'a\\\\b'");
}

TEST_CASE("partition spec: equal by entries and sets, so that a trailing None counts") {
  CHECK(PartitionSpec{{{"x"}}} == PartitionSpec{{{"x"}}});
  CHECK(PartitionSpec{{{"x"}}} != PartitionSpec{{{"x"}, {}}});
  CHECK(PartitionSpec{{{"x"}}} != PartitionSpec{{{"x"}}, {}, {"y"}});
  CHECK(PartitionSpec{{{}}} != PartitionSpec{{{}}, {0}});
}

TEST_CASE("partition spec: the cotangent's unreduced axes are the reduced ones, and back") {
  const PartitionSpec spec = {{{"x"}}, {}, {"y"}, {"z"}};
  CHECK(spec.cotangent() == PartitionSpec{{{"x"}}, {}, {"z"}, {"y"}});
  CHECK(spec.cotangent().cotangent() == spec);
}

/// Returns the message with which the spec is refused, or "".
std::string places_refused(const PartitionSpec& spec) {
  try {
    check_places(spec);
  } catch (const ShardingError& error) {
    CHECK(name(error.stage()) == "spec");
    return error.what();
  }
  return "";
}

TEST_CASE("partition spec: an axis is in one place") {
  const std::string again =
      ": expected each axis in one place of the array's spec and states, got \"x\" again";
  CHECK(places_refused({{{"y"}}, {}, {"x"}, {"x"}}) ==
        "P('y', unreduced={'x'}, reduced={'x'})" + again);
  CHECK(places_refused({{{"x"}}, {}, {"x"}}) == "P('x', unreduced={'x'})" + again);
  CHECK(places_refused({{{"y", "x"}}, {}, {}, {"x"}}) == "P(('y', 'x'), reduced={'x'})" + again);
  CHECK(places_refused({{{"x"}}, {}, {"y"}, {"z"}}) == "");
  // That entries name an axis twice is an error of the sharding.
  CHECK(places_refused({{{"x"}, {"x"}}}) == "");
}

TEST_CASE("array mapping: axes with their dimensions, in the order of the spec, and back") {
  const PartitionSpec spec = {{{"y"}, {}, {"z", "x"}}};
  const auto mapping = array_mapping(spec);
  CHECK(mapping == std::vector<std::pair<std::string, size_t>>{{"y", 0}, {"z", 2}, {"x", 2}});
  CHECK(spec_of(mapping) == spec);
  CHECK(spec_of({}) == PartitionSpec());
  // Entries that cut nothing at the end are lost.
  CHECK(spec_of(array_mapping({{{"x"}, {}}, {1}})) == PartitionSpec{{{"x"}}});
}

TEST_CASE("corrected: entries that the mesh or the shape do not admit are None") {
  const Mesh mesh({{"x", 4}, {"y", 2}});
  // 8 is divisible by 4 * 2, 6 is not divisible by 4, and the mesh has no z.
  CHECK(corrected({{{"x", "y"}, {"x"}, {"z", "y"}}}, {8, 6, 8}, mesh) ==
        PartitionSpec{{{"x", "y"}, {}, {}}});
}

TEST_CASE("corrected: why each entry with axes is None") {
  const Mesh mesh({{"x", 4}, {"y", 2}});
  using Sentences = std::vector<std::string>;
  CHECK(corrections({{{"x", "y"}, {"y", "x"}, {}, {"y", "z"}, {"x"}, {}}}, {8, 6, 8, 8}, mesh) ==
        Sentences{"dimension 1 is not cut, since 6 is not divisible by the size of \"y\", \"x\"",
                  "dimension 3 is not cut, since the mesh has no axis \"z\"; it has \"x\", \"y\"",
                  "dimension 4 is not cut, since the array has rank 4"});
  CHECK(corrections({{{"x"}, {}}}, {0, 3}, mesh).empty());
}

TEST_CASE("corrected: as long as the shape, or empty where nothing is cut") {
  const Mesh mesh({{"x", 4}});
  CHECK(corrected({{{"x"}}}, {4, 3}, mesh) == PartitionSpec{{{"x"}, {}}});
  CHECK(corrected({{{"x"}, {}, {"x"}}}, {4}, mesh) == PartitionSpec{{{"x"}}});
  CHECK(corrected({{{"x"}, {}}}, {3, 3}, mesh) == PartitionSpec());
  CHECK(corrected({{{}, {"x"}}}, {4}, mesh) == PartitionSpec());
}

TEST_CASE("corrected: nothing is open, and no axis is unreduced or reduced") {
  const Mesh mesh({{"x", 4}, {"y", 2}, {"z", 2}});
  CHECK(corrected({{{"x"}, {}}, {1}, {"y"}, {"z"}}, {4, 2}, mesh) == PartitionSpec{{{"x"}, {}}});
}

TEST_CASE("corrected: an empty dimension is divisible by everything, also beyond 63 bits") {
  const Mesh mesh({{"x", int64_t{1} << 31}});
  const std::vector<std::string> thrice = {"x", "x", "x"};
  CHECK(corrected({{thrice}}, {0}, mesh) == PartitionSpec{{thrice}});
  CHECK(corrected({{thrice}}, {int64_t{1} << 62}, mesh) == PartitionSpec());
}

TEST_CASE("local shape: each extent is divided by the axes that cut it") {
  const Mesh mesh({{"x", 2}, {"y", 3}, {"z", 5}});
  // The extents are 30 / (3 * 5) and 8 / 2; the last dimension is not cut.
  CHECK(local_shape(mesh, {{{"y", "z"}, {"x"}}}, {30, 8, 7}) == Shape{2, 4, 7});
  CHECK(local_shape(mesh, kNone, {30, 8, 7}) == Shape{30, 8, 7});
}

TEST_CASE("local start: the part of a device begins at its index over the cutting axes") {
  const Mesh mesh({{"x", 2}, {"y", 3}});
  // Device 4 is at x = 1, y = 1. Over (y, x) its index is 1 * 2 + 1 = 3, in parts of 2 elements.
  // Over (x, y) its index is 1 * 3 + 1 = 4.
  CHECK(local_start(mesh, {{{"y", "x"}}}, {12}, LogicalId(4)) == std::vector<int64_t>{6});
  CHECK(local_start(mesh, {{{"x", "y"}}}, {12}, LogicalId(4)) == std::vector<int64_t>{8});
}

TEST_CASE("local start: blocks follow the index over the axes, whatever their order") {
  const Mesh mesh({{"a", 3}, {"b", 4}});
  const std::vector<size_t> minor_first = {1, 0};
  for (uint32_t d = 0; d < mesh.devices(); ++d)
    CHECK(local_start(mesh, {{{"b", "a"}}}, {24}, LogicalId(d))[0] ==
          mesh.index(LogicalId(d), minor_first) * 2);
}

/// A `Cut` is a mesh of three axes, a spec of a matrix that uses some of the axes, and a shape that
/// they divide.
struct Cut {
  Mesh mesh;
  PartitionSpec spec;
  Shape global;
  int64_t parts = 1;
};

Cut any_cut() {
  Cut cut;
  std::vector<Axis> axes;
  for (const char* name : {"x", "y", "z"})
    axes.push_back({name, test::in_range<int64_t>(1, 5)});
  cut.mesh = Mesh(axes);
  cut.spec.dims.resize(2);
  std::vector<int64_t> dims = {test::in_range<int64_t>(1, 4), test::in_range<int64_t>(1, 4)};
  for (const Axis& axis : axes) {
    const auto dimension = test::in_range<size_t>(0, 3);
    if (dimension == 2)
      continue;  // this axis cuts nothing
    std::vector<std::string>& names = cut.spec.dims[dimension];
    names.insert(names.begin() + test::in_range<std::ptrdiff_t>(0, std::ssize(names) + 1),
                 axis.name);
    dims[dimension] *= axis.size;
    cut.parts *= axis.size;
  }
  cut.global = Shape(dims);
  return cut;
}

// The parts of all devices, each laid where it begins, give the whole array. Each element appears
// once for every device that the spec does not distinguish.
TEST_CASE("local parts: together they cover each element equally often") {
  test::holds_for_all("parts cover", [] {
    const Cut cut = any_cut();
    const Shape local = local_shape(cut.mesh, cut.spec, cut.global);
    std::map<std::pair<int64_t, int64_t>, int64_t> covered;
    for (uint32_t d = 0; d < cut.mesh.devices(); ++d) {
      const auto start = local_start(cut.mesh, cut.spec, cut.global, LogicalId(d));
      for (int64_t i = 0; i < local[0]; ++i)
        for (int64_t j = 0; j < local[1]; ++j)
          ++covered[{start[0] + i, start[1] + j}];
    }
    RC_ASSERT(static_cast<int64_t>(covered.size()) == cut.global.elements());
    for (const auto& [place, times] : covered) {
      RC_ASSERT(place.first < cut.global[0]);
      RC_ASSERT(place.second < cut.global[1]);
      RC_ASSERT(times == cut.mesh.devices() / cut.parts);
    }
  });
}

}  // namespace
}  // namespace orrery
