#include "tools/report/sharding_text.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"

namespace orrery {
namespace {

constexpr size_t kTerminalColumns = 80;
constexpr size_t kMostRows = 64;

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
Table drawn(const HeldParts& held) {
  const std::vector<size_t>& cut = held.cut;
  const std::vector<int64_t> columns =
      cut.size() == 2 ? held.begins(cut[1]) : std::vector<int64_t>();
  Table table(
      std::vector<Table::Align>(std::max<size_t>(columns.size(), 1) + 1, Table::Align::Left));
  std::vector<std::string> head = {cut.size() == 2 ? fmt::format("dim {} \\ dim {}", cut[0], cut[1])
                                                   : fmt::format("dim {}", cut[0])};
  for (const int64_t begin : columns)
    head.push_back(slice_text(begin, held.local[cut[1]]));
  if (cut.size() == 1)
    head.emplace_back("devices");
  table.row(head);
  std::vector<std::string> row;
  for (const auto& [begin, devices] : held.devices) {
    // The parts are sorted by the first dimension that is cut.
    if (row.size() == head.size()) {
      table.row(std::move(row));
      row.clear();
    }
    if (row.empty())
      row.push_back(slice_text(begin[cut[0]], held.local[cut[0]]));
    row.push_back(holders_text(devices));
  }
  table.row(std::move(row));
  return table;
}

std::string listed(const std::vector<Shard>& shards, const Style& style) {
  Table table({Table::Align::Right, Table::Align::Left, Table::Align::Right});
  const std::vector<std::string> head = {"device", "part", "copy"};
  table.row(head);
  const std::span<const Shard> shown(shards.data(), std::min(shards.size(), kMostRows));
  size_t device = head[0].size();
  size_t copy = head[2].size();
  for (const Shard& shard : shown) {
    device = std::max(device, fmt::formatted_size("{}", shard.device));
    copy = std::max(copy, fmt::formatted_size("{}", shard.replica));
  }
  constexpr size_t kBetween = 4;  // spaces between the three columns
  for (const Shard& shard : shown) {
    std::string part;
    for (const Interval& each : shard.slice)
      part += fmt::format("{}{}", part.empty() ? "" : ", ",
                          slice_text(each.begin, each.end - each.begin));
    table.row({fmt::format("{}", shard.device),
               shortened("[" + part + "]", kTerminalColumns - device - copy - kBetween, style),
               fmt::format("{}", shard.replica)});
  }
  if (shards.size() > kMostRows)
    table.note(style.dim(fmt::format("and {} devices more", shards.size() - kMostRows)));
  return table.text(style, 0);
}

/// Returns the parts of the devices that have the array.
std::vector<Shard> shards_of(const ShownSharding& shown) {
  std::vector<Shard> all = shown.sharding.shards(shown.shape);
  if (!shown.on)
    return all;
  std::vector<Shard> shards;
  for (const LogicalId device : *shown.on)
    shards.push_back(std::move(all[device.index()]));
  return shards;
}

/// Returns how many devices hold each element as a copy, and how many addends it is the sum of.
std::string copies_text(const ShownSharding& shown, const HeldParts& held) {
  size_t addends = 1;
  const Mesh& mesh = shown.sharding.parts().mesh.axes();
  for (const std::string& axis : shown.sharding.parts().spec.unreduced)
    addends *= static_cast<size_t>(mesh.axes()[*mesh.axis(axis)].size);
  const auto [least, most] = std::minmax_element(
      held.devices.begin(), held.devices.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const size_t fewest = least->second.size() / addends;
  ORRERY_CHECK(fewest > 0, "each addend of a part is on some device");
  const size_t copies = most->second.size() / addends;
  const std::string each = fmt::format("each element on {}{} device{}",
                                       fewest == copies ? "" : fmt::format("{} to ", fewest),
                                       copies, copies == 1 ? "" : "s");
  return addends == 1 ? each : fmt::format("{}, for each of {} addends of it", each, addends);
}

}  // namespace

std::string slice_text(int64_t begin, int64_t extent) {
  return extent == 1 ? fmt::format("{}", begin) : fmt::format("{}:{}", begin, begin + extent);
}

std::vector<int64_t> HeldParts::begins(size_t dimension) const {
  std::set<int64_t> found;
  for (const auto& [begin, holders] : devices)
    found.insert(begin[dimension]);
  return {found.begin(), found.end()};
}

HeldParts held_parts(const ShownSharding& shown) {
  HeldParts held{shards_of(shown), shown.sharding.shard_shape(shown.shape), {}, {}};
  for (size_t d = 0; d < held.local.rank(); ++d)
    if (held.local[d] != shown.shape[d])
      held.cut.push_back(d);
  for (const Shard& shard : held.shards) {
    std::vector<int64_t> begin;
    for (const Interval& each : shard.slice)
      begin.push_back(each.begin);
    held.devices[begin].push_back(shard.device);
  }
  return held;
}

std::string spec_on_mesh(const ShownSharding& shown) {
  const ShardingParts& parts = shown.sharding.parts();
  return fmt::format("{} on {}", parts.spec.text(), parts.mesh.text());
}

std::vector<std::string> sizes_and_copies(const ShownSharding& shown, const HeldParts& held,
                                          const Style& style) {
  const auto sized = [&](const Shape& shape, const std::string& after) {
    constexpr size_t kMostOfShape = 40;
    const std::string size =
        fmt::format(", {}{}", size_text(itemsize(shown.dtype) * shape.elements()), after);
    const size_t room = kTerminalColumns - name(shown.dtype).size() - size.size();
    return fmt::format("{}{}{}", name(shown.dtype),
                       shortened(shape.text(), std::min(room, kMostOfShape), style), size);
  };
  const std::string on_each = sized(held.local, " on each device;");
  if (shown.shape.elements() == 0)
    return {sized(shown.shape, ","), on_each, "no elements"};
  const size_t parts = held.devices.size();
  return {sized(shown.shape, fmt::format(" in {} part{},", parts, parts == 1 ? "" : "s")), on_each,
          copies_text(shown, held)};
}

std::string sharding_text(const ShownSharding& shown, const Style& style) {
  const HeldParts held = held_parts(shown);
  const std::string spec = shown.sharding.parts().spec.text();
  const std::string head = shortened(spec_on_mesh(shown), kTerminalColumns, style);
  std::string text =
      head.starts_with(spec) ? style.bold(spec) + head.substr(spec.size()) : style.bold(head);
  text += "\n" + wrapped_words(sizes_and_copies(shown, held, style), kTerminalColumns, 0) + "\n\n";
  if (held.cut.empty()) {
    const std::vector<std::string> words =
        words_of("the whole array on devices " + holders_text(held.devices.begin()->second));
    text += wrapped_words(words, kTerminalColumns, 0) + "\n";
  } else if (held.cut.size() <= 2) {
    const Table table = drawn(held);
    const std::string drawing = table.text(style, 0);
    text += table.width() <= kTerminalColumns && lines_of(drawing) <= kMostRows
                ? drawing
                : listed(held.shards, style);
  } else {
    text += listed(held.shards, style);
  }
  const HloSharding hlo = shown.sharding.hlo_sharding(shown.shape.rank());
  Table texts({Table::Align::Left, Table::Align::Left});
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
