// Shows what a reshard takes with each threshold that groups its arrays differently.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/scenario/quantity_text.h"
#include "tools/report/sharding_text.h"

namespace orrery {

namespace {

std::string time_of(const ThresholdRow& row, const Style& style) {
  return row.time ? time_text(*row.time, style.ascii()) : "";
}

/// Draws points in a frame, by their peak and their time.
class Chart {
 public:
  explicit Chart(const std::vector<ThresholdRow>& rows) {
    for (const ThresholdRow& row : rows)
      if (row.time)
        rows_.push_back(&row);
    ORRERY_CHECK(!rows_.empty(), "some threshold can be taken");
    for (const ThresholdRow* row : rows_) {
      least_peak_ = std::min(least_peak_, row->peak);
      most_peak_ = std::max(most_peak_, row->peak);
      least_time_ = std::min(least_time_, *row->time);
      most_time_ = std::max(most_time_, *row->time);
    }
  }

  std::string text(const std::string& title) {
    svg_.append_attribute("xmlns").set_value("http://www.w3.org/2000/svg");
    svg_.append_attribute("width").set_value(kWidth);
    svg_.append_attribute("height").set_value(kHeight);
    svg_.append_attribute("font-family").set_value("monospace");
    svg_.append_attribute("font-size").set_value(12);
    box(0, 0, kWidth, kHeight, "white");
    box(kLeft, kTop, kRight - kLeft, kBottom - kTop, "none");
    svg_.append_child("title").text().set(title.c_str());
    label(kLeft, 20, title, "start");
    label((kLeft + kRight) / 2, kHeight - 10, "peak of a device", "middle");
    label(kLeft, kTop - 8, "time", "middle");
    label(kLeft, kBottom + 18, size_text(least_peak_), "start");
    label(kRight, kBottom + 18, size_text(most_peak_), "end");
    label(kLeft - 6, kBottom, time_text(least_time_, true), "end");
    label(kLeft - 6, kTop + 10, time_text(most_time_, true), "end");
    for (const bool is_taken : {false, true})  // the one that is taken lies over others
      for (const ThresholdRow* row : rows_)
        if (row->is_taken == is_taken)
          point(*row);
    std::ostringstream out;
    document_.save(out, " ");
    return out.str();
  }

 private:
  static constexpr int kWidth = 720;
  static constexpr int kHeight = 420;
  static constexpr int kLeft = 96;
  static constexpr int kRight = 690;
  static constexpr int kTop = 50;
  static constexpr int kBottom = 360;

  /// Returns the place of a number between two others. One place is for all if they are equal.
  static int place(int64_t number, int64_t least, int64_t most, int from, int to) {
    if (least == most)
      return (from + to) / 2;
    const double share = static_cast<double>(number - least) / static_cast<double>(most - least);
    return from + static_cast<int>(share * (to - from));
  }

  void box(int x, int y, int width, int height, const char* fill) {
    pugi::xml_node node = svg_.append_child("rect");
    node.append_attribute("x").set_value(x);
    node.append_attribute("y").set_value(y);
    node.append_attribute("width").set_value(width);
    node.append_attribute("height").set_value(height);
    node.append_attribute("fill").set_value(fill);
    node.append_attribute("stroke").set_value("#888");
  }

  void label(int x, int y, const std::string& text, const char* anchor) {
    pugi::xml_node node = svg_.append_child("text");
    node.append_attribute("x").set_value(x);
    node.append_attribute("y").set_value(y);
    node.append_attribute("text-anchor").set_value(anchor);
    node.text().set(text.c_str());
  }

  void point(const ThresholdRow& row) {
    const int x =
        place(row.peak.count(), least_peak_.count(), most_peak_.count(), kLeft + 12, kRight - 12);
    const int y =
        place(row.time->count(), least_time_.count(), most_time_.count(), kBottom - 12, kTop + 12);
    pugi::xml_node node = svg_.append_child("circle");
    node.append_attribute("cx").set_value(x);
    node.append_attribute("cy").set_value(y);
    node.append_attribute("r").set_value(row.is_taken ? 7 : 4);
    node.append_attribute("fill").set_value(row.is_taken ? "#c0392b" : "#2c6fbb");
    node.append_child("title").text().set(
        fmt::format("threshold {}: {} transfer groups, {}, peak {}", quantity_text(row.threshold),
                    row.groups, time_text(*row.time, true), size_text(row.peak))
            .c_str());
  }

  std::vector<const ThresholdRow*> rows_;
  Bytes least_peak_{std::numeric_limits<int64_t>::max()};
  Bytes most_peak_;
  Duration least_time_{std::numeric_limits<int64_t>::max()};
  Duration most_time_;
  pugi::xml_document document_;
  pugi::xml_node svg_ = document_.append_child("svg");
};

}  // namespace

std::string thresholds_text(const std::vector<ThresholdRow>& rows, const Style& style) {
  using Align = Table::Align;
  Table table({Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right});
  table.row({"", "threshold", "groups", "largest", "time", "peak"});
  for (const ThresholdRow& row : rows) {
    table.row({row.is_taken ? "*" : "", quantity_text(row.threshold), std::to_string(row.groups),
               size_text(row.largest), time_of(row, style), row.time ? size_text(row.peak) : ""});
    if (!row.time)
      table.note(style.dim("  " + row.why_not));
  }
  return table.text(style, 0);
}

std::string thresholds_svg(const std::vector<ThresholdRow>& rows, const std::string& title) {
  return Chart(rows).text(title);
}

}  // namespace orrery
