#include "tools/report/sharding_text.h"

#include <map>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include "tests/support/property.h"

namespace orrery {
namespace {

/// Returns the text but for its title and the texts of XLA and Shardy.
std::string drawing(const ShownSharding& shown) {
  const std::string text = sharding_text(shown, Style());
  const size_t begin = text.find("\n\n") + 2;
  return text.substr(begin, text.find("hlo") - begin);
}

ShownSharding shown(const DeviceMesh& mesh, const PartitionSpec& spec, const Shape& shape) {
  return {NamedSharding({mesh, spec}), shape};
}

const DeviceMesh kFour({{"x", 2}, {"y", 2}});

TEST_CASE("sharding text: bytes, copies, a drawing of two dimensions, and the other texts") {
  CHECK(sharding_text(shown(kFour, {{{"x"}, {"y"}}}, {4, 6}), Style()) ==
        R"(P('x', 'y') on Mesh('x': 2, 'y': 2, axis_types=(Auto, Auto))
f32[4,6], 96 B in 4 parts, f32[2,3], 24 B on each device;
each element on 1 device

dim 0 \ dim 1  0:3  3:6
0:2            0    1
2:4            2    3

hlo           {devices=[2,2]<=[4]}
hlo v1        {devices=[2,2]0,1,2,3}
sdy           SdyArray([{'x'}, {'y'}])
sdy by types  SdyArray([{'x', ?}, {'y', ?}])
)");
}

TEST_CASE("sharding text: one dimension is a column of parts, with the devices of copies") {
  CHECK(drawing(shown(kFour, {{{}, {"y"}}}, {3, 2})) == R"(dim 1  devices
0      0 2
1      1 3

)");
}

TEST_CASE("sharding text: nothing is cut") {
  CHECK(drawing(shown(kFour, {}, {3})) == "the whole array on devices 0 1 2 3\n\n");
  CHECK(drawing(shown(DeviceMesh({{"x", 12}}), {}, {3})) ==
        "the whole array on devices 0 1 2 3 ... 11 (12 in all)\n\n");
}

TEST_CASE("sharding text: three dimensions are a row per device") {
  const DeviceMesh eight({{"x", 2}, {"y", 2}, {"z", 1}, {"w", 2}}, {},
                         {.order = {{7, 6, 5, 4, 3, 2, 1, 0}}});
  CHECK(drawing(shown(eight, {{{"x"}, {"y"}, {"w"}}}, {2, 4, 2})) == R"(device  part         copy
     7  [0, 0:2, 0]     0
     6  [0, 0:2, 1]     0
     5  [0, 2:4, 0]     0
     4  [0, 2:4, 1]     0
     3  [1, 0:2, 0]     0
     2  [1, 0:2, 1]     0
     1  [1, 2:4, 0]     0
     0  [1, 2:4, 1]     0

)");
}

TEST_CASE("sharding text: what does not fit 80 columns is a row per device, of the first 64") {
  const std::string text =
      drawing(shown(DeviceMesh({{"x", 1}, {"y", 66}}), {{{}, {"y"}}}, {3, 66}));
  CHECK(text.find("device  part       copy\n     0  [0:3, 0]      0\n") == 0);
  CHECK(text.ends_with("    63  [0:3, 63]     0\nand 2 devices more\n\n"));
}

/// Returns a line of the text, the first being 0.
std::string line_of(const ShownSharding& shown, int line) {
  const std::string text = sharding_text(shown, Style());
  size_t begin = 0;
  for (int i = 0; i < line; ++i)
    begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_CASE("sharding text: an array without elements has none on any device") {
  CHECK(line_of(shown(kFour, {{{"x", "y"}}}, {0, 6}), 1) ==
        "f32[0,6], 0 B, f32[0,6], 0 B on each device; no elements");
  CHECK(line_of(shown(kFour, {{{}, {"x"}}}, {0, 6}), 1) ==
        "f32[0,6], 0 B, f32[0,3], 0 B on each device; no elements");
}

TEST_CASE("sharding text: a long head is cut to 80 columns, and a long shape to 40") {
  std::vector<Axis> axes;
  for (int a = 0; a < 20; ++a)
    axes.push_back({"a" + std::to_string(a), 1});
  const Shape ones(std::vector<int64_t>(30, 1));
  const ShownSharding long_mesh = shown(DeviceMesh(axes), {{{"a0"}}}, ones);
  // An ellipsis of one column has three bytes.
  const std::string ellipsis = "\u2026";
  CHECK(line_of(long_mesh, 0) ==
        "P('a0',) on Mesh('a0': 1, 'a1': 1, 'a2': 1, 'a3': 1, 'a4': 1, 'a5': 1, 'a6': 1," +
            ellipsis);
  const std::string ones_text = "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1," + ellipsis + ", 4 B";
  CHECK(line_of(long_mesh, 1) == ones_text + " in 1 part,");
  CHECK(line_of(long_mesh, 2) == ones_text + " on each device;");
  CHECK(line_of(long_mesh, 3) == "each element on 1 device");
  const PartitionSpec long_spec = {std::vector<std::vector<std::string>>(30)};
  CHECK(line_of(shown(kFour, long_spec, ones), 0) ==
        "P(None, None, None, None, None, None, None, None, None, None, None, None, None," +
            ellipsis);
}

TEST_CASE("sharding text: a long part in a row is cut") {
  const DeviceMesh eight({{"x", 2}, {"y", 2}, {"z", 2}});
  std::vector<int64_t> extents(40, 1);
  extents[0] = extents[1] = extents[2] = 2;
  const std::string text = drawing(shown(eight, {{{"x"}, {"y"}, {"z"}}}, Shape(extents)));
  const std::string first = text.substr(0, text.find("     1  "));
  CHECK(first.ends_with(
      "     0  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\u2026"
      "     0\n"));
}

TEST_CASE("sharding text: addends along unreduced axes are no copies") {
  const DeviceMesh typed({{"x", 2}, {"y", 2}, {"z", 2}},
                         {{AxisType::Explicit, AxisType::Auto, AxisType::Auto}});
  const std::string text = sharding_text(shown(typed, {{{"y"}}, {}, {"x"}}, {4}), Style());
  CHECK(text.find(";\neach element on 2 devices, for each of 2 addends of it\n") !=
        std::string::npos);
}

TEST_CASE("sharding text: only the devices that have the array") {
  ShownSharding some = shown(kFour, {{{"y"}}}, {4});
  some.on = {{LogicalId(0), LogicalId(1)}};
  CHECK(drawing(some) == "dim 0  devices\n0:2    0\n2:4    1\n\n");
  some.on = {{LogicalId(0), LogicalId(1), LogicalId(2)}};
  CHECK(sharding_text(some, Style()).find(";\neach element on 1 to 2 devices\n") !=
        std::string::npos);
}

/// Returns any sharding with a shape, and perhaps of some devices.
ShownSharding any_shown() {
  std::vector<Axis> axes;
  std::vector<AxisType> types;
  const auto count = test::in_range<size_t>(0, 5);
  for (size_t a = 0; a < count; ++a) {
    axes.push_back({std::string(test::in_range<size_t>(0, 30), '\'') + std::to_string(a),
                    test::in_range<int64_t>(1, 6)});
    types.push_back(AxisType::Explicit);
  }
  PartitionSpec spec;
  const auto rank = test::in_range<size_t>(0, 5);
  std::vector<int64_t> extents;
  for (size_t d = 0; d < rank; ++d)
    extents.push_back(test::in_range<int64_t>(0, 5000));
  spec.dims.resize(rank);
  size_t whole = axes.size();  // an axis that copies the array
  for (size_t a = 0; a < axes.size(); ++a) {
    const auto place = test::in_range<size_t>(0, rank + 2);
    if (place < rank) {
      spec.dims[place].push_back(axes[a].name);
      extents[place] *= axes[a].size;
    } else if (place == rank) {
      spec.unreduced.insert(axes[a].name);
    } else {
      whole = a;
    }
  }
  int64_t devices = 1;
  for (const Axis& axis : axes)
    devices *= axis.size;
  std::vector<int64_t> order(static_cast<size_t>(devices));
  const int64_t first = test::one_of<int64_t>(0, 1'000'000, 1'000'000'000'000'000'000);
  std::iota(order.begin(), order.end(), first);
  const DeviceMesh mesh(axes, types, {.order = order});
  ShownSharding shown{NamedSharding({mesh, spec}), Shape(extents),
                      test::one_of(Dtype::F32, Dtype::F8E4M3FN, Dtype::C128)};
  if (whole < axes.size() && test::any_bool()) {
    shown.on.emplace();
    for (const LogicalId id : all_devices(mesh.axes()))
      if (mesh.axes().index(id, std::span(&whole, 1)) == 0)
        shown.on->push_back(id);
  }
  return shown;
}

TEST_CASE("sharding text: no line is wider than 80 columns") {
  test::holds_for_all("lines", [] {
    const Style style(Colours::Plain, test::any_bool() ? Letters::Ascii : Letters::Unicode);
    std::istringstream text(sharding_text(any_shown(), style));
    for (std::string line; std::getline(text, line);)
      RC_ASSERT(columns(line) <= 80U);
  });
}

TEST_CASE("sharding text: long numbers of devices leave less room for a part") {
  const int64_t first = 1'000'000'000'000'000'000;
  const DeviceMesh eight({{"x", 2}, {"y", 2}, {"z", 2}}, {},
                         {.order = {{first, 1, 2, 3, 4, 5, 6, 7}}});
  std::vector<int64_t> extents(40, 1);
  extents[0] = extents[1] = extents[2] = 2;
  const std::string text = drawing(shown(eight, {{{"x"}, {"y"}, {"z"}}}, Shape(extents)));
  CHECK(text.find("\n1000000000000000000  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
                  "\u2026     0\n") != std::string::npos);
}

TEST_CASE("sharding text: many devices of an array that is not cut are on several lines") {
  const int64_t first = 1'000'000'000'000'000'000;
  const DeviceMesh four({{"x", 4}}, {}, {.order = {{first, first + 1, first + 2, first + 3}}});
  CHECK(drawing(shown(four, {}, {3})) ==
        "the whole array on devices 1000000000000000000 1000000000000000001\n"
        "1000000000000000002 1000000000000000003\n\n");
}

/// Returns the place and the tooltip of each cell of the image.
std::map<std::pair<int, int>, std::string> cells(const std::string& svg) {
  pugi::xml_document document;
  REQUIRE(document.load_string(svg.c_str()));
  std::map<std::pair<int, int>, std::string> cells;
  for (const pugi::xml_node box : document.child("svg").children("rect"))
    if (box.child("title"))
      CHECK(cells
                .emplace(std::pair(box.attribute("y").as_int(), box.attribute("x").as_int()),
                         box.child_value("title"))
                .second);
  return cells;
}

/// Returns the tooltips, row by row.
std::vector<std::string> tooltips(const ShownSharding& shown) {
  std::vector<std::string> texts;
  for (const auto& [place, text] : cells(sharding_svg(shown)))
    texts.push_back(text);
  return texts;
}

TEST_CASE("sharding image: a cell per part, at its place, with its slice and all its devices") {
  CHECK(tooltips(
            shown(DeviceMesh({{"x", 2}, {"y", 2}, {"z", 2}}), {{{"z"}, {}, {"x"}}}, {4, 1, 2})) ==
        std::vector<std::string>{"[0:2, 0, 0] on devices 0 2", "[0:2, 0, 1] on devices 4 6",
                                 "[2:4, 0, 0] on devices 1 3", "[2:4, 0, 1] on devices 5 7"});
  CHECK(tooltips(shown(DeviceMesh({{"x", 6}}), {}, {0})) ==
        std::vector<std::string>{"[0:0] on devices 0 1 2 3 4 5"});
}

TEST_CASE("sharding image: a third dimension is several grids, one below the other") {
  CHECK(tooltips(shown(DeviceMesh({{"x", 2}, {"y", 1}, {"w", 2}, {"z", 2}}),
                       {{{"x"}, {"w"}, {"z"}}}, {2, 2, 2})) ==
        std::vector<std::string>{"[0, 0, 0] on device 0", "[0, 1, 0] on device 2",
                                 "[1, 0, 0] on device 4", "[1, 1, 0] on device 6",
                                 "[0, 0, 1] on device 1", "[0, 1, 1] on device 3",
                                 "[1, 0, 1] on device 5", "[1, 1, 1] on device 7"});
}

TEST_CASE("sharding image: names of axes are texts of XML") {
  const std::string svg = sharding_svg(shown(DeviceMesh({{"<&>", 2}}), {{{"<&>"}}}, {2}));
  CHECK(cells(svg).size() == 2);
  CHECK(svg.find("P('&lt;&amp;&gt;',)") != std::string::npos);
}

}  // namespace
}  // namespace orrery
