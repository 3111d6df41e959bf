#include "tools/report/sharding_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"

namespace orrery {
namespace {

constexpr size_t kTerminalColumns = 80;
constexpr size_t kMostRows = 64;

using Align = Table::Align;

/// A ShownPart is a slice of the array with the devices that hold it, in the mesh's order.
using Parts = std::map<std::vector<int64_t>, std::vector<int64_t>>;

std::string slice_text(int64_t begin, int64_t extent) {
  return extent == 1 ? fmt::format("{}", begin) : fmt::format("{}:{}", begin, begin + extent);
}

/// Returns the devices, of which some in the middle are left out if they are many.
std::string holders_text(const std::vector<int64_t>& devices) {
  constexpr size_t kMostNamed = 8;
  if (devices.size() <= kMostNamed)
    return fmt::format("{}", fmt::join(devices, " "));
  return fmt::format("{} ... {} ({} in all)",
                     fmt::join(devices.begin(), devices.begin() + kMostNamed / 2, " "),
                     devices.back(), devices.size());
}

/// Returns a table whose rows and columns are the blocks of one or two dimensions.
Table drawn(const Parts& parts, std::span<const size_t> cut, const Shape& local) {
  std::vector<int64_t> columns;
  for (const auto& [begin, devices] : parts)
    if (cut.size() == 2)
      columns.push_back(begin[cut[1]]);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  Table table(std::vector<Align>(std::max<size_t>(columns.size(), 1) + 1, Align::Left));
  std::vector<std::string> head = {cut.size() == 2 ? fmt::format("dim {} \\ dim {}", cut[0], cut[1])
                                                   : fmt::format("dim {}", cut[0])};
  for (const int64_t begin : columns)
    head.push_back(slice_text(begin, local[cut[1]]));
  if (cut.size() == 1)
    head.emplace_back("devices");
  table.row(head);
  std::vector<std::string> row;
  for (const auto& [begin, devices] : parts) {
    // The parts are sorted by the first dimension that is cut.
    if (row.size() == head.size()) {
      table.row(std::move(row));
      row.clear();
    }
    if (row.empty())
      row.push_back(slice_text(begin[cut[0]], local[cut[0]]));
    row.push_back(holders_text(devices));
  }
  table.row(std::move(row));
  return table;
}

std::string listed(const std::vector<Shard>& shards, const Style& style) {
  Table table({Align::Right, Align::Left, Align::Right});
  table.row({"device", "part", "copy"});
  for (size_t i = 0; i < std::min(shards.size(), kMostRows); ++i) {
    std::string part;
    for (const Interval& each : shards[i].slice)
      part += fmt::format("{}{}", part.empty() ? "" : ", ",
                          slice_text(each.begin, each.end - each.begin));
    table.row({fmt::format("{}", shards[i].device), "[" + part + "]",
               fmt::format("{}", shards[i].replica)});
  }
  if (shards.size() > kMostRows)
    table.note(style.dim(fmt::format("and {} devices more", shards.size() - kMostRows)));
  return table.text(style, 0);
}

/// Returns the parts of the devices that have the array.
std::vector<Shard> held(const ShownSharding& shown) {
  std::vector<Shard> all = shown.sharding.shards(shown.shape);
  if (!shown.on)
    return all;
  std::vector<Shard> shards;
  for (const LogicalId device : *shown.on)
    shards.push_back(std::move(all[device.index()]));
  return shards;
}

/// Returns how many devices hold each element as a copy, and how many addends it is the sum of.
std::string copies_text(const ShownSharding& shown, size_t devices, size_t parts) {
  int64_t addends = 1;
  const Mesh& mesh = shown.sharding.parts().mesh.axes();
  for (const std::string& axis : shown.sharding.parts().spec.unreduced)
    addends *= mesh.axes()[*mesh.axis(axis)].size;
  const auto copies = static_cast<int64_t>(devices / parts) / addends;
  const std::string each =
      fmt::format("each element on {} device{}", copies, copies == 1 ? "" : "s");
  return addends == 1 ? each : fmt::format("{}, for each of {} addends of it", each, addends);
}

}  // namespace

std::string sharding_text(const ShownSharding& shown, const Style& style) {
  const Shape local = shown.sharding.shard_shape(shown.shape);
  const std::vector<Shard> shards = held(shown);
  Parts parts;
  std::vector<size_t> cut;
  for (size_t d = 0; d < local.rank(); ++d)
    if (local[d] != shown.shape[d])
      cut.push_back(d);
  for (const Shard& shard : shards) {
    std::vector<int64_t> begin;
    for (const Interval& each : shard.slice)
      begin.push_back(each.begin);
    parts[begin].push_back(shard.device);
  }
  const auto sized = [&](const Shape& shape) {
    return fmt::format("{}{}, {}", name(shown.dtype), shape.text(),
                       size_text(itemsize(shown.dtype) * shape.elements()));
  };
  std::string text = style.bold(shown.sharding.parts().spec.text()) + " on " +
                     shown.sharding.parts().mesh.text() + "\n";
  text += fmt::format("{} in {} part{}, {} on each device; {}\n\n", sized(shown.shape),
                      parts.size(), parts.size() == 1 ? "" : "s", sized(local),
                      copies_text(shown, shards.size(), parts.size()));
  if (cut.empty()) {
    std::vector<int64_t> devices;
    for (const Shard& shard : shards)
      devices.push_back(shard.device);
    text += fmt::format("the whole array on devices {}\n", holders_text(devices));
  } else if (cut.size() <= 2) {
    const Table table = drawn(parts, cut, local);
    const std::string drawing = table.text(style, 0);
    text += table.width() <= kTerminalColumns && lines_of(drawing) <= kMostRows
                ? drawing
                : listed(shards, style);
  } else {
    text += listed(shards, style);
  }
  const HloSharding hlo = shown.sharding.hlo_sharding(shown.shape.rank());
  Table texts({Align::Left, Align::Left});
  constexpr size_t kHeading = 14;
  const auto cell = [&](const std::string& value) {
    return shortened(value, kTerminalColumns - kHeading, style);
  };
  texts.row({"", ""});
  texts.row({"hlo", cell(hlo.text())});
  texts.row({"hlo v1", cell(hlo.text_v1())});
  texts.row({"sdy", cell(shown.sharding.sdy_sharding(shown.shape.rank()).text())});
  texts.row({"sdy by types", cell(shown.sharding.typed_sdy_sharding(shown.shape.rank()).text())});
  return text + texts.text(style, 0);
}

}  // namespace orrery
