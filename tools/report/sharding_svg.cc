// Draws a sharding as an SVG image.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pugixml.hpp>

#include "models/base/check.h"
#include "tools/report/sharding_text.h"

namespace orrery {
namespace {

// All are pixels, of a font of 12 whose characters are about 7.3 wide.
constexpr size_t kLetter = 8;
constexpr size_t kLine = 20;
constexpr size_t kCellHeight = 28;
constexpr size_t kMargin = 16;

std::string cell_text(const std::vector<int64_t>& devices) {
  constexpr size_t kMostNamed = 4;
  if (devices.size() <= kMostNamed)
    return fmt::format("{}", fmt::join(devices, " "));
  return fmt::format("{} .. {} ({})", devices.front(), devices.back(), devices.size());
}

/// These are a part's first index, and the devices that hold it.
using Holders = std::pair<const std::vector<int64_t>, std::vector<int64_t>>;

class Drawing {
 public:
  explicit Drawing(const ShownSharding& shown) : shown_(shown), held_(held_parts(shown)) {
    ORRERY_CHECK(held_.devices.size() <= kMostDrawnParts, "the parts can be drawn");
    for (size_t c = 0; c < 2; ++c)
      if (c < held_.cut.size())
        begins_[c] = held_.begins(held_.cut[c]);
    size_t letters = 4;
    for (const auto& [begin, devices] : held_.devices)
      letters = std::max(letters, cell_text(devices).size());
    for (const int64_t begin : begins_[1])
      letters = std::max(letters, slice(1, begin).size());
    cell_width_ = kLetter * (letters + 2);
    size_t heading = corner().size();
    for (const int64_t begin : begins_[0])
      heading = std::max(heading, slice(0, begin).size());
    row_heading_ = kLetter * (heading + 2);
  }

  std::string text() {
    svg_.append_attribute("xmlns").set_value("http://www.w3.org/2000/svg");
    svg_.append_attribute("font-family").set_value("monospace");
    svg_.append_attribute("font-size").set_value(12);
    pugi::xml_node paper = svg_.append_child("rect");
    paper.append_attribute("width").set_value("100%");
    paper.append_attribute("height").set_value("100%");
    paper.append_attribute("fill").set_value("white");
    svg_.append_child("title").text().set(spec_on_mesh(shown_).c_str());
    line(spec_on_mesh(shown_)).append_attribute("font-weight").set_value("bold");
    line(fmt::format("{}", fmt::join(sizes_and_copies(shown_, held_, Style()), " ")));
    draw_grids();
    const HloSharding hlo = shown_.sharding.hlo_sharding(shown_.shape.rank());
    y_ += kLine;
    line("hlo " + hlo.text());
    line("sdy " + shown_.sharding.sdy_sharding(shown_.shape.rank()).text());
    svg_.append_attribute("width").set_value(width_ + kMargin);
    svg_.append_attribute("height").set_value(y_ + kMargin);
    std::ostringstream out;
    document_.save(out, " ");
    return out.str();
  }

 private:
  std::string slice(size_t cut, int64_t begin) const {
    return slice_text(begin, held_.local[held_.cut[cut]]);
  }

  /// Returns what the row and column headings are indices of.
  std::string corner() const {
    if (held_.cut.empty())
      return "";
    return held_.cut.size() == 1 ? fmt::format("dim {}", held_.cut[0])
                                 : fmt::format("dim {} \\ dim {}", held_.cut[0], held_.cut[1]);
  }

  pugi::xml_node label(size_t x, size_t y, const std::string& text) {
    pugi::xml_node node = svg_.append_child("text");
    node.append_attribute("x").set_value(x);
    node.append_attribute("y").set_value(y);
    node.text().set(text.c_str());
    width_ = std::max(width_, x + kLetter * text.size());
    return node;
  }

  pugi::xml_node line(const std::string& text) {
    y_ += kLine;
    return label(kMargin, y_, text);
  }

  /// Draws a grid for each part of the dimensions that are neither its rows nor its columns.
  void draw_grids() {
    std::map<std::vector<int64_t>, std::vector<const Holders*>> grids;
    for (const Holders& each : held_.devices) {
      std::vector<int64_t> further;
      for (size_t c = 2; c < held_.cut.size(); ++c)
        further.push_back(each.first[held_.cut[c]]);
      grids[further].push_back(&each);
    }
    for (const auto& [further, cells] : grids) {
      y_ += kLine;
      std::vector<std::string> heading;
      for (size_t c = 2; c < held_.cut.size(); ++c)
        heading.push_back(fmt::format("dim {} = {}", held_.cut[c], slice(c, further[c - 2])));
      if (!heading.empty())
        line(fmt::format("{}", fmt::join(heading, ", ")));
      draw_grid(cells);
    }
  }

  void draw_grid(const std::vector<const Holders*>& cells) {
    if (!held_.cut.empty())
      line(corner());
    for (size_t i = 0; i < begins_[1].size(); ++i)
      label(column(i) + kLetter, y_, slice(1, begins_[1][i]));
    const size_t top = y_ + kLetter;
    for (size_t i = 0; i < begins_[0].size(); ++i)
      label(kMargin, top + i * kCellHeight + kCellHeight * 2 / 3, slice(0, begins_[0][i]));
    for (const Holders* const cell : cells)
      draw_cell(*cell, top);
    y_ = top + std::max<size_t>(begins_[0].size(), 1) * kCellHeight;
  }

  size_t column(size_t i) const { return kMargin + row_heading_ + i * cell_width_; }

  /// Returns the row or column of a part.
  size_t place(const Holders& cell, size_t cut) const {
    if (cut >= held_.cut.size())
      return 0;
    const auto found =
        std::lower_bound(begins_[cut].begin(), begins_[cut].end(), cell.first[held_.cut[cut]]);
    return static_cast<size_t>(found - begins_[cut].begin());
  }

  void draw_cell(const Holders& cell, size_t top) {
    const size_t x = column(place(cell, 1));
    const size_t y = top + place(cell, 0) * kCellHeight;
    pugi::xml_node box = svg_.append_child("rect");
    box.append_attribute("x").set_value(x);
    box.append_attribute("y").set_value(y);
    box.append_attribute("width").set_value(cell_width_);
    box.append_attribute("height").set_value(kCellHeight);
    constexpr uint64_t kTurn = 47;  // degrees of hue from a device to the next
    box.append_attribute("fill").set_value(
        fmt::format("hsl({},60%,86%)", static_cast<uint64_t>(cell.second.front()) * kTurn % 360)
            .c_str());
    box.append_attribute("stroke").set_value("#666");
    std::vector<std::string> slices;
    for (size_t d = 0; d < cell.first.size(); ++d)
      slices.push_back(slice_text(cell.first[d], held_.local[d]));
    box.append_child("title").text().set(fmt::format("[{}] on {} {}", fmt::join(slices, ", "),
                                                     cell.second.size() == 1 ? "device" : "devices",
                                                     fmt::join(cell.second, " "))
                                             .c_str());
    label(x + kLetter, y + kCellHeight * 2 / 3, cell_text(cell.second))
        .append_attribute("pointer-events")
        .set_value("none");
    width_ = std::max(width_, x + cell_width_);
  }

  const ShownSharding& shown_;
  const HeldParts held_;
  std::array<std::vector<int64_t>, 2> begins_;  // of the rows and the columns
  size_t row_heading_ = 0;                      // its width
  size_t cell_width_ = 0;
  size_t y_ = 0;      // of the last line
  size_t width_ = 0;  // of all so far
  pugi::xml_document document_;
  pugi::xml_node svg_ = document_.append_child("svg");
};

}  // namespace

std::string sharding_svg(const ShownSharding& shown) {
  return Drawing(shown).text();
}

}  // namespace orrery
