#include "tools/report/op_entries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/characters.h"
#include "models/program/loops.h"
#include "models/program/rules.h"
#include "models/scenario/program_reader.h"
#include "verifier/expect/expect.h"

namespace orrery {
namespace {

/// Returns, per value, whether the scenario's outputs or expectations name it.
std::vector<bool> named_values(const Scenario& scenario) {
  const Program& program = scenario.program;
  std::vector<bool> named(program.values.size(), false);
  for (const ValueId output : program.outputs)
    named[output.index()] = true;
  std::set<std::string> names;
  for (const Expectation& expectation : scenario.expectations)
    for (ComparedValue& value : compared_values(expectation))
      names.insert(std::move(value.name));
  for (size_t v = 0; v < named.size() && !names.empty(); ++v)
    if (names.count(program.values[v].name) > 0)
      named[v] = true;
  return named;
}

void find_named(const Scenario& scenario, std::vector<OpEntry>& entries) {
  const std::vector<bool> named = named_values(scenario);
  for (OpEntry& entry : entries)
    for (size_t run = 1; run + 1 < entry.runs.size(); ++run) {
      const std::vector<ValueId>& results = scenario.program.op(entry.runs[run]->op).results;
      if (std::any_of(results.begin(), results.end(),
                      [&](ValueId value) { return named[value.index()]; }))
        entry.named.push_back(entry.runs[run]);
    }
}

constexpr size_t kLongestBlock = 256;
constexpr size_t kLeastTimes = 3;
constexpr size_t kLeastSaved = 8;

/// Says whether ids of ops that are shown together differ in numbers only.
enum class Ids : uint8_t { DifferInNumbers, Differ };

/// Returns a text that is the same for ops that may be shown together.
std::string likeness(const OpEntry& entry, const Program& program, Ids ids) {
  // Each iteration of a loop is shown once already.
  if (!entry.loop.empty())
    return "loop " + entry.id;
  const OpReport& run = entry.first();
  const Op& op = program.op(run.op);
  std::string text = fmt::format("{} {} {} {} ", op_name(op.kind, op.issue), run.bytes.count(),
                                 run.choice ? run.choice->method() : "", entry.messages);
  if (op.reshard)
    text += fmt::format("of {} ", *op.reshard);
  if (ids == Ids::DifferInNumbers)
    for (const std::string_view part : shape_of(entry.id))
      text += part;
  return text;
}

/// Finds blocks among the entries [begin, end).
class Blocks {
 public:
  Blocks(std::span<const OpEntry> entries, const Program& program)
      : entries_(entries), program_(program) {}

  /// Returns all blocks, in order. Blocks whose ids differ in numbers only are chosen first. Other
  /// blocks are then looked for in the gaps between them.
  std::vector<RepeatedBlock> find() const {
    std::vector<RepeatedBlock> blocks;
    size_t next = 0;
    const auto add_others = [&](size_t end) {
      for (const RepeatedBlock& block : alike(next, end, Ids::Differ))
        if (have_common_ends(block))
          blocks.push_back(block);
    };
    for (const RepeatedBlock& block : alike(0, entries_.size(), Ids::DifferInNumbers)) {
      add_others(block.begin);
      blocks.push_back(block);
      next = block.end();
    }
    add_others(entries_.size());
    return blocks;
  }

 private:
  std::vector<RepeatedBlock> alike(size_t begin, size_t end, Ids ids) const {
    std::map<std::string, uint32_t> numbers;
    std::vector<uint32_t> items;
    for (size_t e = begin; e < end; ++e) {
      const auto number = static_cast<uint32_t>(numbers.size());
      items.push_back(numbers.emplace(likeness(entries_[e], program_, ids), number).first->second);
    }
    std::vector<RepeatedBlock> blocks = repeated_blocks(items);
    for (RepeatedBlock& block : blocks)
      block.begin += begin;
    return blocks;
  }

  bool have_common_ends(const RepeatedBlock& block) const {
    for (size_t k = 0; k < block.length; ++k) {
      std::vector<std::string_view> ids;
      for (size_t time = 0; time < block.times; ++time)
        ids.push_back(entries_[block.begin + time * block.length + k].id);
      if (common_id(ids) == "*")
        return false;
    }
    return true;
  }

  std::span<const OpEntry> entries_;
  const Program& program_;
};

}  // namespace

std::optional<uint32_t> reshard_of(const OpEntry& entry, const Report& report) {
  return report.scenario->program.op(entry.first().op).reshard;
}

std::string_view op_name(Reshard::To to) {
  return to == Reshard::To::Groups ? kToGroupsOp : kToMeshOp;
}

std::string reshard_text(const Report& report, const ReshardReport& of) {
  constexpr size_t kMostGroups = 8;
  const Reshard& reshard = report.scenario->program.reshards[of.reshard];
  std::string text;
  for (size_t t = 0; t < std::min(reshard.transfers.size(), kMostGroups); ++t) {
    std::vector<std::string> names;
    for (const size_t array : reshard.transfers[t])
      names.push_back(reshard.arrays[array].to);
    text += fmt::format("{}[{}]", text.empty() ? "moves " : ", then ", fmt::join(names, ", "));
  }
  if (reshard.transfers.size() > kMostGroups)
    text += fmt::format(" and {} more", reshard.transfers.size() - kMostGroups);
  if (reshard.threshold)
    text += fmt::format("; threshold {} of {}s", size_text(*reshard.threshold),
                        reshard.counts_targets ? "target" : "source");
  const Bytes scratch = *std::max_element(of.scratch.begin(), of.scratch.end());
  text += fmt::format("; peak {}", size_text(of.peak));
  return scratch == Bytes() ? text : text + fmt::format("; scratch up to {}", size_text(scratch));
}

std::vector<OpEntry> op_entries(const Report& report) {
  const Program& program = report.scenario->program;
  const std::vector<NameInLoops> in_loops = names_in_loops(program);
  const std::vector<uint64_t> times = repetitions(program);
  std::vector<OpEntry> entries;
  entries.reserve(report.ops.size());
  std::map<std::string_view, size_t> entry_of;  // of ops of loops, by id
  size_t next = 0;  // the report's ops are those of the threads in order
  for (size_t t = 0; t < program.threads.size(); ++t) {
    for (size_t i = 0; i < program.threads[t].issue_order.size(); ++i, ++next) {
      const OpReport& op = report.ops[next];
      const auto& [loop, name] = in_loops[op.op.index()];
      if (const auto known = entry_of.find(name); !name.empty() && known != entry_of.end()) {
        OpEntry& entry = entries[known->second];
        entry.iterations += times[op.op.index()];
        entry.messages += op.messages;
        if (report.completion)
          entry.period = op.start - entry.last().start;
        entry.runs.push_back(&op);
        continue;
      }
      if (!name.empty())
        entry_of.emplace(name, entries.size());
      entries.push_back({name.empty() ? program.op(op.op).name : name,
                         ThreadId(t),
                         {&op},
                         loop,
                         times[op.op.index()],
                         std::nullopt,
                         op.messages});
    }
  }
  find_named(*report.scenario, entries);
  return entries;
}

std::vector<RepeatedBlock> repeated_blocks(std::span<const uint32_t> items) {
  const size_t count = items.size();
  std::vector<RepeatedBlock> best(count);  // the best block that begins at each item
  std::vector<size_t> alike(count + 1);  // how many items from here on equal the one a block later
  for (size_t length = 1; length <= std::min(kLongestBlock, count / kLeastTimes); ++length) {
    std::fill(alike.begin(), alike.end(), 0);
    for (size_t i = count - length; i-- > 0;) {
      alike[i] = items[i] == items[i + length] ? alike[i + 1] + 1 : 0;
      const RepeatedBlock block{i, length, alike[i] / length + 1};
      if (block.times >= kLeastTimes && length * (block.times - 1) >= kLeastSaved &&
          block.end() > best[i].end())
        best[i] = block;
    }
  }
  std::vector<RepeatedBlock> blocks;
  for (size_t i = 0; i < count;) {
    if (best[i].times > 0)
      blocks.push_back(best[i]);
    i = best[i].times > 0 ? best[i].end() : i + 1;
  }
  return blocks;
}

GroupedEntries grouped_entries(std::vector<OpEntry> entries, const Report& report) {
  GroupedEntries grouped;
  size_t next = 0;
  const auto copy_until = [&](size_t end) {
    for (; next < end; ++next)
      grouped.entries.push_back(std::move(entries[next]));
  };
  for (const RepeatedBlock& block : Blocks(entries, report.scenario->program).find()) {
    copy_until(block.begin);
    grouped.blocks.push_back({grouped.entries.size(), block.length, block.times});
    for (size_t k = 0; k < block.length; ++k) {
      OpEntry together = entries[block.begin + k];
      std::vector<std::string_view> ids;
      for (size_t time = 0; time < block.times; ++time) {
        const OpEntry& each = entries[block.begin + time * block.length + k];
        ids.push_back(each.id);
        if (time == 0)
          continue;
        together.messages += each.messages;
        together.runs.insert(together.runs.end(), each.runs.begin(), each.runs.end());
      }
      together.id = common_id(ids);
      grouped.entries.push_back(std::move(together));
    }
    next = block.end();
  }
  copy_until(entries.size());
  return grouped;
}

GroupedEntries single_entries(const Report& report) {
  const Program& program = report.scenario->program;
  GroupedEntries single;
  size_t next = 0;  // the report's ops are those of the threads in order
  for (size_t t = 0; t < program.threads.size(); ++t)
    for (size_t i = 0; i < program.threads[t].issue_order.size(); ++i, ++next) {
      const OpReport& op = report.ops[next];
      single.entries.push_back({.id = program.op(op.op).name,
                                .thread = ThreadId(t),
                                .runs = {&op},
                                .loop = {},
                                .period = std::nullopt,
                                .messages = op.messages});
    }
  return single;
}

}  // namespace orrery
