#include "models/mesh/hlo_sharding.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/property.h"

namespace orrery::test {
namespace {

using Sizes = std::vector<int64_t>;

Mesh mesh_of(const Sizes& sizes) {
  std::vector<Axis> axes;
  for (size_t a = 0; a < sizes.size(); ++a)
    axes.push_back({std::string(1, static_cast<char>('a' + a)), sizes[a]});
  return Mesh(axes);
}

std::string text_of(const Sizes& mesh, const AxisCut& cut) {
  return HloSharding(mesh_of(mesh), cut).text();
}

std::string canonical(const std::string& text) {
  return HloSharding::parse(text).text();
}

TEST_CASE("HLO sharding: a cut gives the sizes of its axes, and their transposition") {
  // Axes b and c follow each other in the mesh and in the cut, so that they are one dimension of 4.
  const HloSharding worked(mesh_of({2, 2, 2, 2}), {{{}, {3, 1}, {2}, {}}, {}, {}});
  CHECK(worked.text() == "{devices=[1,4,2,1,2]<=[2,4,2]T(2,1,0) last_tile_dim_replicate}");
  // Along d the ids grow by 1, along b by 4, along c by 2, and along a by 8.
  CHECK(worked.text_v1() ==
        "{devices=[1,4,2,1,2]0,8,2,10,4,12,6,14,1,9,3,11,5,13,7,15 last_tile_dim_replicate}");

  CHECK(text_of({2, 4}, {{{0}, {1}}, {}, {}}) == "{devices=[2,4]<=[8]}");
  CHECK(text_of({2, 4}, {{{1}, {0}}, {}, {}}) == "{devices=[4,2]<=[2,4]T(1,0)}");
  CHECK(text_of({2, 4}, {{{1, 0}}, {}, {}}) == "{devices=[8]<=[2,4]T(1,0)}");
  CHECK(text_of({2, 4}, {{{0}}, {}, {}}) == "{devices=[2,4]<=[8] last_tile_dim_replicate}");
}

TEST_CASE("HLO sharding: subgroups are manual, unreduced and replicated, in this order") {
  CHECK(text_of({2, 3, 5, 7}, {{{3}}, {0}, {1}}) ==
        "{devices=[7,3,2,5]<=[2,3,5,7]T(3,1,0,2) last_tile_dims={manual, unreduced, replicated}}");
  // The order in which unreduced axes are named says nothing.
  CHECK(text_of({2, 3, 5}, {{{1}}, {2, 0}, {}}) ==
        "{devices=[3,10]<=[2,3,5]T(1,0,2) last_tile_dims={unreduced}}");
  CHECK(text_of({2, 3}, {{}, {}, {1}}) ==
        "{devices=[3,2]<=[2,3]T(1,0) last_tile_dims={manual, replicated}}");
}

TEST_CASE("HLO sharding: it is a name where nothing is cut and all axes do the same") {
  CHECK(text_of({2, 4}, {{{}, {}}, {}, {}}) == "{replicated}");
  CHECK(text_of({2, 4}, {{{}, {}}, {0, 1}, {}}) == "{unreduced}");
  CHECK(text_of({2, 4}, {{{}, {}}, {}, {1, 0}}) == "{manual}");
  CHECK(HloSharding(mesh_of({2, 4}), {{{}}, {0, 1}, {}}).text_v1() == "{unreduced}");
}

TEST_CASE("HLO sharding: axes of size 1 count for nothing") {
  CHECK(text_of({1, 8}, {{{0}, {}}, {}, {}}) == "{replicated}");
  CHECK(text_of({1, 1}, {{{0}}, {}, {1}}) == "{replicated}");
  CHECK(text_of({}, {{{}, {}}, {}, {}}) == "{replicated}");
  CHECK(text_of({2, 1, 4}, {{{2, 1}, {0}}, {}, {}}) == "{devices=[4,2]<=[2,4]T(1,0)}");
  CHECK(text_of({4, 1}, {{{}}, {0}, {1}}) == "{unreduced}");
}

TEST_CASE("HLO sharding: logical ids are listed, ascending where they replicate a tile") {
  const std::vector<LogicalId> ids = {LogicalId(3), LogicalId(1), LogicalId(2), LogicalId(0)};
  // Devices 0 and 1 of the mesh have the first block. In their places stand 3 and 1.
  CHECK(HloSharding(mesh_of({2, 2}), {{{0}}, {}, {}}, ids).text() ==
        "{devices=[2,2]1,3,0,2 last_tile_dim_replicate}");
  CHECK(HloSharding(mesh_of({2, 2}), {{{1}}, {0}, {}}, ids).text() ==
        "{devices=[2,2]3,2,1,0 last_tile_dims={unreduced}}");
  CHECK(HloSharding(mesh_of({2, 2}), {{{}}, {}, {}}, ids).text() == "{replicated}");
}

TEST_CASE("HLO sharding: a text is read into the one that XLA prints for it") {
  struct Row {
    const char *read, *printed;
  };
  const Row rows[] = {
      {"{manual}", "{manual}"},
      {" { replicated } ", "{replicated}"},
      {"{devices=[2, 4] <= [2,1,4] T(2,1,0)}", "{devices=[2,4]<=[2,4]T(1,0)}"},
      {"{devices=[2,4]<=[2,4]T(0,1)}", "{devices=[2,4]<=[8]}"},
      {"{devices=[2,4,1]<=[8] last_tile_dim_replicate}", "{devices=[2,4]<=[8]}"},
      {"{devices=[1,8]<=[2,4]T(1,0) last_tile_dims={replicated}}", "{replicated}"},
      {"{devices=[1,2,4]<=[8] last_tile_dims={unreduced,unreduced}}", "{unreduced}"},
      // Subgroups of one kind are joined, and put into their order.
      {"{devices=[2,2,2]<=[8] last_tile_dims={manual, manual}}",
       "{devices=[2,4]<=[8] last_tile_dims={manual}}"},
      {"{devices=[2,2,2]<=[8] last_tile_dims={replicated, manual}}",
       "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}"},
      {"{devices=[2,2,2]0,2,1,3,7,6,5,4 last_tile_dims={replicated, unreduced}}",
       "{devices=[2,2,2]0,1,2,3,5,7,4,6 last_tile_dims={unreduced, replicated}}"},
      // Devices that replicate a tile are ascending; those of a shape stay so if they can.
      {"{devices=[2,4]<=[2,2,2]T(0,2,1) last_tile_dim_replicate}",
       "{devices=[2,4]<=[8] last_tile_dim_replicate}"},
      {"{devices=[3,4]<=[2,6]T(1,0) last_tile_dim_replicate}",
       "{devices=[3,4]<=[2,3,2]T(1,0,2) last_tile_dim_replicate}"},
      {"{devices=[3,4]<=[6,2]T(1,0) last_tile_dim_replicate}",
       "{devices=[3,4]0,2,4,6,1,3,8,10,5,7,9,11 last_tile_dim_replicate}"},
      {"{devices=[1,4,3]<=[2,6]T(1,0) last_tile_dims={replicated, manual}}",
       "{devices=[1,3,4]0,3,7,10,2,5,6,9,1,4,8,11 last_tile_dims={manual, replicated}}"},
  };
  for (const Row& row : rows)
    CHECK(canonical(row.read) == row.printed);
}

TEST_CASE("HLO sharding: one device holds the whole array, however it is written") {
  CHECK(canonical("{devices=[1,1]<=[1]}") == "{replicated}");
  CHECK(canonical("{devices=[1]0 last_tile_dims={unreduced}}") == "{replicated}");
}

TEST_CASE("HLO sharding: devices of a shape are not stored") {
  const HloSharding huge = HloSharding::parse("{devices=[65536,65535]<=[65535,65536]T(1,0)}");
  CHECK(huge.text() == "{devices=[65536,65535]<=[65535,65536]T(1,0)}");
  CHECK(huge.devices() == 4'294'901'760);
}

TEST_CASE("HLO sharding: what is no text is refused with the place in it") {
  struct Row {
    std::string text, error;
  };
  const std::string name =
      "expected \"devices\", \"manual\", \"unreduced\" or \"replicated\", got ";
  const std::string number = "expected a number of 0 to 4294967295, got ";
  const Row rows[] = {
      {"", "column 1: expected \"{\", got the end"},
      {"{", "column 2: " + name + "the end"},
      {"{maximal device=3}", "column 2: " + name + "\"maximal\""},
      {"{{replicated}}", "column 2: " + name + "\"{\""},
      {"{\xc3\xa9}", "column 2: " + name + "\"\xc3\xa9\""},
      {"{manual} x", "column 10: expected the end, got \"x\""},
      {"{devices[2]}", "column 9: expected \"=\", got \"[\""},
      {"{devices=[]}", "column 11: " + number + "\"]\""},
      {"{devices=[-2]}", "column 11: " + number + "\"-\""},
      {"{devices=[4294967296]}", "column 11: " + number + "\"4294967296\""},
      {"{devices=[2,0]}", "column 13: expected a size of at least 1, got 0"},
      {"{devices=[65536,65536]<=[1]}",
       "column 17: expected sizes of at most 4294967295 devices, got 65536 times 65536"},
      {"{devices=[2,4]0,1,2}", "column 15: expected 8 devices, got 3"},
      {"{devices=[4294967295]0}", "column 22: expected 4294967295 devices, got 1"},
      {"{devices=[2]0,2}", "column 15: expected each of 0 to 1 once, got 2"},
      {"{devices=[2]1,1}", "column 15: expected each of 0 to 1 once, got 1"},
      {"{devices=[2,4]<=[9]}", "column 17: expected a shape of 8 devices, got 9"},
      {"{devices=[2,4]<=[2,4]}", "column 22: expected \"T\", got \"}\""},
      {"{devices=[8]<=[2,4]T(0)}", "column 22: expected 2 dimensions, got 1"},
      {"{devices=[8]<=[2,4]T(0,0)}", "column 24: expected each of 0 to 1 once, got 0"},
      {"{devices=[2]<=[2] metadata={}}", "column 19: expected \"}\", got \"metadata\""},
      {"{devices=[2]<=[2] last_tile_dims={maximal}}",
       "column 35: expected \"manual\", \"unreduced\" or \"replicated\", got \"maximal\""},
      {"{devices=[2]<=[2] last_tile_dims={manual,manual}}",
       "column 34: expected at most 1 subgroups, got 2"},
      {"{devices=[2]<=[2] last_tile_dim_replicate last_tile_dims={manual}}",
       "column 43: expected \"}\", got \"last_tile_dims\""},
      // Groups of 4 would be divided over 6 rows, which takes a list.
      {"{devices=[30000,4]<=[6,20000]T(1,0) last_tile_dim_replicate}",
       "expected at most 65536 devices where a subgroup divides no dimension of the iota, got "
       "120000"},
  };
  for (const Row& row : rows)
    CHECK_THROWS_WITH_AS(HloSharding::parse(row.text), row.error.c_str(), HloShardingError);
}

AxisCut cut_of(const Sizes& mesh, const std::string& text) {
  return HloSharding::parse(text).cut_over(mesh_of(mesh));
}

TEST_CASE("HLO sharding: a cut is found by the axes along which the tile changes") {
  CHECK(cut_of({2, 4}, "{devices=[1,8]<=[2,4]T(1,0)}") == AxisCut{{{}, {1, 0}}, {}, {}});
  CHECK(cut_of({2, 4}, "{devices=[1,8]0,4,1,5,2,6,3,7}") == AxisCut{{{}, {1, 0}}, {}, {}});
  CHECK(
      cut_of({2, 2, 2}, "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={unreduced, replicated}}") ==
      AxisCut{{{1}}, {2}, {}});
  CHECK(cut_of({2, 1}, "{replicated}") == AxisCut{});
  CHECK(cut_of({2, 3}, "{devices=[1,6]<=[6] last_tile_dim_replicate}") == AxisCut{});
  CHECK(cut_of({2, 3}, "{devices=[6]<=[6] last_tile_dims={unreduced}}") == AxisCut{{}, {0, 1}, {}});
  CHECK(cut_of({2, 1, 4}, "{unreduced}") == AxisCut{{}, {0, 2}, {}});
}

TEST_CASE("HLO sharding: what no axes of the mesh give is refused") {
  struct Row {
    Sizes mesh;
    const char *text, *error;
  };
  const Row rows[] = {
      {{2, 4}, "{manual}", "expected a sharding without manual devices, got \"{manual}\""},
      {{2, 4},
       "{devices=[2,4]<=[8] last_tile_dims={manual}}",
       "expected a sharding without manual devices, got \"{devices=[2,4]<=[8] "
       "last_tile_dims={manual}}\""},
      {{2, 4},
       "{devices=[4]<=[4]}",
       "expected a sharding of 8 devices, got \"{devices=[4]<=[4]}\" of 4"},
      // They cut nothing, and are of other devices all the same.
      {{8},
       "{devices=[1,1,4]<=[4] last_tile_dim_replicate}",
       "expected a sharding of 8 devices, got \"{devices=[1,1,4]<=[4] last_tile_dim_replicate}\" "
       "of 4"},
      {{2, 4},
       "{devices=[4]3,2,1,0 last_tile_dims={unreduced}}",
       "expected a sharding of 8 devices, got \"{devices=[4]3,2,1,0 last_tile_dims={unreduced}}\" "
       "of 4"},
      {{2},
       "{devices=[1]<=[1]}",
       "expected a sharding of 2 devices, got \"{devices=[1]<=[1]}\" of 1"},
      // The axes of 2 and 4 cut in 2 first.
      {{2, 4},
       "{devices=[4,2]<=[8]}",
       "expected tiles that axes of the mesh cut, got \"{devices=[4,2]<=[8]}\""},
      // An axis of 8 is not divided.
      {{8},
       "{devices=[2,4]<=[8]}",
       "expected tiles that axes of the mesh cut, got \"{devices=[2,4]<=[8]}\""},
      // Unreduced axes are in the order of the mesh.
      {{2, 2, 2},
       "{devices=[2,4]<=[2,2,2]T(1,2,0) last_tile_dims={unreduced}}",
       "expected tiles that axes of the mesh cut, got \"{devices=[2,4]<=[2,4]T(1,0) "
       "last_tile_dims={unreduced}}\""},
  };
  for (const Row& row : rows)
    CHECK_THROWS_WITH_AS(cut_of(row.mesh, row.text), row.error, HloShardingError);
}

TEST_CASE("HLO sharding: shardings are equal if each device holds the same tile") {
  const auto equal = [](const char* a, const char* b) {
    return HloSharding::parse(a) == HloSharding::parse(b);
  };
  CHECK(equal("{devices=[4,2]<=[2,4]T(1,0)}", "{devices=[4,2]0,4,1,5,2,6,3,7}"));
  CHECK(equal("{devices=[2,2]1,0,3,2 last_tile_dim_replicate}",
              "{devices=[2,2]<=[4] last_tile_dim_replicate}"));
  CHECK(equal("{devices=[1,1,4]<=[4] last_tile_dim_replicate}", "{replicated}"));
  CHECK(equal("{devices=[1,1]<=[1]}", "{replicated}"));
  CHECK_FALSE(equal("{devices=[4,2]<=[2,4]T(1,0)}", "{devices=[4,2]0,4,1,5,2,6,7,3}"));
  CHECK_FALSE(equal("{devices=[4,2]<=[8]}", "{devices=[8,1]<=[8]}"));
  CHECK_FALSE(equal("{devices=[8]<=[8]}", "{devices=[8,1]<=[8]}"));
  CHECK_FALSE(equal("{manual}", "{replicated}"));
  // Unreduced devices have an order.
  CHECK_FALSE(equal("{devices=[2,2]1,0,3,2 last_tile_dims={unreduced}}",
                    "{devices=[2,2]<=[4] last_tile_dims={unreduced}}"));
}

// The oracle below says for each device what it holds, and lists the devices by that. It is slow,
// and uses no strides.

/// A Holding is a device's tile in row-major order, and its index among the devices that hold it.
struct Holding {
  int64_t tile = 0;
  int64_t manual = 0;
  int64_t unreduced = 0;
  friend auto operator<=>(const Holding&, const Holding&) = default;
};

/// A Tiles is a sharding as each device sees it.
struct Tiles {
  Sizes dims;
  std::array<int64_t, 3> copies = {1, 1, 1};  // manual, unreduced, replicated
  std::vector<Holding> held;                  // by device

  std::string listed() const;
};

std::string Tiles::listed() const {
  const std::array<const char*, 3> names = {"manual", "unreduced", "replicated"};
  std::string sizes = fmt::format("{}", fmt::join(dims, ","));
  std::vector<std::string> subgroups;
  for (size_t i = 0; i < 3; ++i)
    if (copies[i] > 1) {
      sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", copies[i]);
      subgroups.emplace_back(names[i]);
    }
  if (subgroups.size() <= 1 && std::all_of(dims.begin(), dims.end(), [](auto n) { return n == 1; }))
    return fmt::format("{{{}}}", subgroups.empty() ? "replicated" : subgroups[0]);
  std::vector<size_t> devices(held.size());
  std::iota(devices.begin(), devices.end(), size_t{0});
  std::stable_sort(devices.begin(), devices.end(),
                   [&](size_t a, size_t b) { return held[a] < held[b]; });
  std::string last;
  if (subgroups == std::vector<std::string>{"replicated"})
    last = " last_tile_dim_replicate";
  else if (!subgroups.empty())
    last = fmt::format(" last_tile_dims={{{}}}", fmt::join(subgroups, ", "));
  return fmt::format("{{devices=[{}]{}{}}}", sizes, fmt::join(devices, ","), last);
}

/// A CutMesh is a mesh of 1 to 4 axes, and what they do to an array of rank 0 to 4.
struct CutMesh {
  Mesh mesh;
  AxisCut cut;
};

CutMesh any_cut_mesh(bool with_manual) {
  CutMesh made;
  Sizes sizes(in_range<size_t>(1, 5));
  for (int64_t& size : sizes)
    size = any_bool() ? in_range<int64_t>(1, 3) : in_range<int64_t>(1, 9);
  made.mesh = mesh_of(sizes);
  made.cut.dims.resize(in_range<size_t>(0, 5));
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    const int64_t what = evenly_below(5);
    if (what == 0)
      made.cut.unreduced.insert(made.cut.unreduced.begin(), axis);
    else if (what == 1 && with_manual)
      made.cut.manual.insert(made.cut.manual.begin(), axis);
    else if (what > 2 && !made.cut.dims.empty()) {
      std::vector<size_t>& dim = made.cut.dims[in_range<size_t>(0, made.cut.dims.size())];
      dim.insert(dim.begin() + in_range<std::ptrdiff_t>(0, std::ssize(dim) + 1), axis);
    }
  }
  return made;
}

std::vector<LogicalId> any_order(uint32_t devices) {
  std::vector<LogicalId> ids;
  for (uint32_t d = 0; d < devices; ++d)
    ids.insert(ids.begin() + in_range<std::ptrdiff_t>(0, std::ssize(ids) + 1), LogicalId(d));
  return ids;
}

/// Returns what each device holds, by its index over the axes. Device ids[d] stands at place d.
Tiles tiles_of(const CutMesh& given, const std::vector<LogicalId>& ids) {
  const auto& [mesh, cut] = given;
  Tiles tiles;
  const auto in_order = [](std::vector<size_t> axes) {
    std::sort(axes.begin(), axes.end());
    return axes;
  };
  std::vector<size_t> tiled;
  for (const std::vector<size_t>& dim : cut.dims) {
    tiles.dims.push_back(mesh.size(dim));
    tiled.insert(tiled.end(), dim.begin(), dim.end());
  }
  tiles.copies = {mesh.size(cut.manual), mesh.size(cut.unreduced), 0};
  tiles.copies[2] = mesh.devices() / mesh.size(tiled) / tiles.copies[0] / tiles.copies[1];
  tiles.held.resize(mesh.devices());
  for (uint32_t d = 0; d < mesh.devices(); ++d)
    tiles.held[ids[d].index()] = {mesh.index(LogicalId(d), tiled),
                                  mesh.index(LogicalId(d), in_order(cut.manual)),
                                  mesh.index(LogicalId(d), in_order(cut.unreduced))};
  return tiles;
}

TEST_CASE("HLO sharding: its devices are those that the cut gives the tiles to") {
  holds_for_all("devices of a cut", [] {
    const CutMesh given = any_cut_mesh(true);
    const Tiles tiles = tiles_of(given, all_devices(given.mesh));
    const HloSharding made(given.mesh, given.cut);
    RC_ASSERT(made.text_v1() == tiles.listed());
    RC_ASSERT(HloSharding::parse(made.text()).text_v1() == tiles.listed());
  });
}

TEST_CASE("HLO sharding: devices with logical ids stand where the cut puts them") {
  holds_for_all("devices with ids", [] {
    const CutMesh given = any_cut_mesh(true);
    if (given.mesh.devices() > 64)
      return;
    const std::vector<LogicalId> ids = any_order(given.mesh.devices());
    RC_ASSERT(HloSharding(given.mesh, given.cut, ids).text() == tiles_of(given, ids).listed());
  });
}

TEST_CASE("HLO sharding: what is printed is read as it was, in both versions") {
  holds_for_all("round trip", [] {
    const CutMesh given = any_cut_mesh(true);
    const HloSharding made(given.mesh, given.cut);
    const HloSharding v2 = HloSharding::parse(made.text());
    const HloSharding v1 = HloSharding::parse(made.text_v1());
    RC_ASSERT(v2 == made);
    RC_ASSERT(v2.text() == made.text());
    RC_ASSERT(v1 == made);
    RC_ASSERT(v1.text() == made.text_v1());
  });
}

TEST_CASE("HLO sharding: its cut over the mesh is the one it was made from, less axes of size 1") {
  holds_for_all("cut of a cut", [] {
    CutMesh given = any_cut_mesh(false);
    const HloSharding made(given.mesh, given.cut);
    const auto drop = [&](std::vector<size_t>& axes) {
      std::erase_if(axes, [&](size_t axis) { return given.mesh.axes()[axis].size == 1; });
    };
    for (std::vector<size_t>& dim : given.cut.dims)
      drop(dim);
    drop(given.cut.unreduced);
    std::sort(given.cut.unreduced.begin(), given.cut.unreduced.end());
    if (!made.devices())
      given.cut.dims.clear();  // a name has no rank
    RC_ASSERT(made.cut_over(given.mesh) == given.cut);
    RC_ASSERT(HloSharding::parse(made.text_v1()).cut_over(given.mesh) == given.cut);
  });
}

/// Returns sizes with this product, some of them 1.
Sizes any_sizes(int64_t devices) {
  Sizes sizes(in_range<size_t>(1, 5), 1);
  for (int64_t prime = 2; devices > 1;) {
    if (devices % prime != 0) {
      ++prime;
      continue;
    }
    devices /= prime;
    sizes[in_range<size_t>(0, sizes.size())] *= prime;
  }
  return sizes;
}

/// Returns the coordinates of an element of an array with these sizes.
Sizes coordinates(int64_t element, const Sizes& sizes) {
  Sizes at(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; element /= sizes[i])
    at[i] = element % sizes[i];
  return at;
}

/// An AnyText is a text with subgroups in any order, and what it means.
struct AnyText {
  std::string text;
  Tiles tiles;
};

AnyText any_text(int64_t devices) {
  const Sizes dims = any_sizes(devices);
  const Sizes shape = any_sizes(devices);
  Sizes order;
  for (int64_t i = 0; i < std::ssize(shape); ++i)
    order.insert(order.begin() + in_range<std::ptrdiff_t>(0, std::ssize(order) + 1), i);
  std::vector<size_t> subgroups(in_range<size_t>(0, dims.size() + 1));
  for (size_t& subgroup : subgroups)
    subgroup = static_cast<size_t>(evenly_below(3));
  const size_t rank = dims.size() - subgroups.size();

  AnyText made;
  made.tiles.dims.assign(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(rank));
  for (size_t i = 0; i < subgroups.size(); ++i)
    made.tiles.copies[subgroups[i]] *= dims[rank + i];
  Sizes transposed;
  for (const int64_t i : order)
    transposed.push_back(shape[static_cast<size_t>(i)]);
  Sizes ids;
  made.tiles.held.resize(static_cast<size_t>(devices));
  for (int64_t p = 0; p < devices; ++p) {
    const Sizes at = coordinates(p, transposed);
    Sizes from(shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      from[static_cast<size_t>(order[i])] = at[i];
    int64_t id = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      id = id * shape[i] + from[i];
    ids.push_back(id);
    const Sizes place = coordinates(p, dims);
    std::array<int64_t, 3> among = {};
    Holding& held = made.tiles.held[static_cast<size_t>(id)];
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& index = i < rank ? held.tile : among[subgroups[i - rank]];
      index = index * dims[i] + place[i];
    }
    held.manual = among[0];
    held.unreduced = among[1];
  }

  made.text = fmt::format("{{devices=[{}]", fmt::join(dims, ","));
  if (any_bool())
    made.text += fmt::format("{}", fmt::join(ids, ","));
  else
    made.text += fmt::format("<=[{}]", fmt::join(shape, ",")) +
                 (shape.size() > 1 ? fmt::format("T({})", fmt::join(order, ",")) : "");
  const std::array<const char*, 3> names = {"manual", "unreduced", "replicated"};
  const char* before = " last_tile_dims={";
  for (const size_t subgroup : subgroups)
    made.text += fmt::format("{}{}", std::exchange(before, ", "), names[subgroup]);
  made.text += subgroups.empty() ? "}" : "}}";
  return made;
}

TEST_CASE("HLO sharding: a text with subgroups in any order keeps its meaning") {
  holds_for_all("any text", [] {
    const AnyText any = any_text(one_of<int64_t>(1, 4, 12, 24, 36));
    const HloSharding read = HloSharding::parse(any.text);
    RC_ASSERT(read.text_v1() == any.tiles.listed());
    RC_ASSERT(canonical(read.text()) == read.text());
    RC_ASSERT(HloSharding::parse(read.text()) == read);
  });
}

TEST_CASE("HLO sharding: two texts are equal exactly if they have the same list") {
  holds_for_all("equality", [] {
    const int64_t devices = one_of<int64_t>(1, 2, 4, 6);
    const AnyText a = any_text(devices);
    const AnyText b = any_text(devices);
    RC_ASSERT((HloSharding::parse(a.text) == HloSharding::parse(b.text)) ==
              (a.tiles.listed() == b.tiles.listed()));
  });
}

}  // namespace
}  // namespace orrery::test
