#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/program/program.h"
#include "simulator/memory/lifetimes.h"
#include "verifier/report/describe.h"

namespace orrery {

namespace {

/// Returns, per transfer group, the bytes of its results on a device. All are there at once before
/// copies are freed.
std::vector<Bytes> target_bytes(const Reshard& reshard, const Program& program,
                                const std::map<std::string_view, ValueId>& values,
                                Bytes alignment = Bytes(1)) {
  std::vector<Bytes> targets;
  for (const std::vector<size_t>& group : reshard.transfers) {
    Bytes& bytes = targets.emplace_back();
    for (const size_t array : group)
      bytes += align_up(program.value(values.at(reshard.arrays[array].to)).type.size(), alignment);
  }
  return targets;
}

/// Adds what the devices of a list hold while the reshard runs. `targets` are those of the row,
/// with each array rounded up to the alignment.
void add_memory(const Program& program, const ListMemory& list,
                const std::vector<Lifetime>& lifetimes, Bytes reserved,
                const std::vector<Bytes>& targets, ReshardReport& row) {
  const Reshard& reshard = program.reshards[row.reshard];
  const std::vector<OpId>& ops = program.thread(reshard.thread).issue_order;
  size_t at = 0;
  while (program.op(ops[at]).reshard != row.reshard)
    ++at;
  for (size_t t = 0; t < reshard.transfers.size(); ++t) {
    Bytes before;
    for (const Lifetime& lifetime : lifetimes)
      if (lifetime.held.from < static_cast<int64_t>(at) &&
          lifetime.held.to >= static_cast<int64_t>(at))
        before += lifetime.size;
    // Each array ends in a held_on.
    for (size_t left = reshard.transfers[t].size(); left > 0; ++at) {
      row.peak = std::max(row.peak, list.live[at] + reserved);
      row.scratch[t] = std::max(row.scratch[t], list.live[at] - before - targets[t]);
      if (program.op(ops[at]).kind == OpKind::HeldOn)
        --left;
    }
  }
}

}  // namespace

std::vector<ReshardReport> reshard_rows(const Scenario& scenario, const Lowered& lowered,
                                        const Report& report) {
  const Program& program = scenario.program;
  if (program.reshards.empty())
    return {};
  const std::map<std::string_view, ValueId> values = values_by_name(program);
  std::vector<ReshardReport> rows(program.reshards.size());
  std::vector<bool> begun(rows.size(), false);
  for (const OpReport& op : report.ops) {
    const std::optional<uint32_t> number = program.op(op.op).reshard;
    if (!number)
      continue;
    ReshardReport& row = rows[*number];
    row.start = begun[*number] ? std::min(row.start, op.start) : op.start;
    row.end = std::max(row.end, op.end);
    begun[*number] = true;
  }
  const Lifetimes lifetimes(program, lowered, scenario.memory);
  for (size_t r = 0; r < rows.size(); ++r) {
    const Reshard& reshard = program.reshards[r];
    rows[r].reshard = r;
    rows[r].targets = target_bytes(reshard, program, values);
    rows[r].scratch.resize(rows[r].targets.size());
    const std::vector<Bytes> aligned =
        target_bytes(reshard, program, values, scenario.memory.alignment);
    for (const Reshard::Array& array : reshard.arrays)
      rows[r].bytes += array.size;
    for (const DeviceMemory& kind : report.memory.kinds)
      for (const size_t l : kind.lists)
        if (const ListMemory& list = report.memory.lists[l]; list.thread == reshard.thread)
          add_memory(program, list, lifetimes.of(list), kind.reserved, aligned, rows[r]);
  }
  return rows;
}

std::vector<std::string> labels_of_reshards(const Program& program) {
  std::vector<std::string> labels;
  if (program.reshards.empty())
    return labels;
  const std::map<std::string_view, ValueId> values = values_by_name(program);
  for (size_t r = 0; r < program.reshards.size(); ++r) {
    const Reshard& reshard = program.reshards[r];
    if (met_before(program, r))
      continue;
    const auto label = [&](const std::string& text) {
      labels.push_back(fmt::format("reshard \"{}\": {}", reshard.name(), text));
    };
    if (!reshard.threshold) {
      label("all its arrays move at once (neither a threshold nor the devices' memory is given)");
      continue;
    }
    if (reshard.found_threshold)
      label(
          fmt::format("threshold {}, a third of the least that a device's memory is above its "
                      "peak so far (not given)",
                      size_text(*reshard.threshold)));
    const std::vector<Bytes> targets = target_bytes(reshard, program, values);
    const auto largest = std::max_element(targets.begin(), targets.end());
    if (*largest > *reshard.threshold)
      label(fmt::format("transfer group {} puts {} on each device, more than the threshold of {}",
                        largest - targets.begin() + 1, size_text(*largest),
                        size_text(*reshard.threshold)));
  }
  return labels;
}

}  // namespace orrery
