#include "tools/report/repetitions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/base/ascii.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

constexpr size_t kLongestBlock = 256;
constexpr size_t kLeastTimes = 3;
constexpr size_t kLeastSaved = 8;

/// Takes the number, or the text up to the next number, off the front.
std::string_view take_part(std::string_view& text) {
  size_t size = 1;
  while (size < text.size() && is_digit(text[size]) == is_digit(text[0]))
    ++size;
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(size);
  return part;
}

/// What ops that may be shown together have in common.
std::string likeness(const OpEntry& entry, const Program& program) {
  const OpReport& run = entry.first();
  const Op& op = program.op(run.op);
  std::string text = fmt::format("{} {} {} {} ", op_name(op.kind, op.issue), run.bytes.count(),
                                 run.choice ? run.choice->algorithm : "", entry.messages);
  for (std::string_view rest = entry.id; !rest.empty();) {
    const std::string_view part = take_part(rest);
    text += is_digit(part[0]) ? std::string_view("0") : part;
  }
  return text;
}

}  // namespace

std::vector<RepeatedBlock> repeated_blocks(std::span<const uint32_t> items) {
  const size_t count = items.size();
  std::vector<RepeatedBlock> best(count);  // that begins at each item
  std::vector<size_t> alike(count + 1);  // items from here on, each equal to the one a block later
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

std::string common_id(std::string_view first, std::string_view last) {
  std::string id;
  while (!first.empty() && !last.empty()) {
    const std::string_view part = take_part(first);
    id += take_part(last) == part ? part : std::string_view("*");
  }
  return id;
}

FoldedEntries folded_entries(std::vector<OpEntry> entries, const Report& report) {
  std::map<std::string, uint32_t> numbers;
  std::vector<uint32_t> items;
  for (const OpEntry& entry : entries) {
    const auto next = static_cast<uint32_t>(numbers.size());
    // Each iteration of a loop is shown once already.
    const std::string like =
        entry.loop.empty() ? likeness(entry, report.scenario->program) : "loop " + entry.id;
    items.push_back(numbers.emplace(like, next).first->second);
  }
  FoldedEntries folded;
  size_t next = 0;
  const auto copy_until = [&](size_t end) {
    for (; next < end; ++next)
      folded.entries.push_back(std::move(entries[next]));
  };
  for (const RepeatedBlock& block : repeated_blocks(items)) {
    copy_until(block.begin);
    folded.blocks.push_back({folded.entries.size(), block.length, block.times});
    for (size_t k = 0; k < block.length; ++k) {
      OpEntry together = std::move(entries[block.begin + k]);
      for (size_t time = 1; time < block.times; ++time) {
        OpEntry& again = entries[block.begin + time * block.length + k];
        if (time + 1 == block.times)
          together.id = common_id(together.id, again.id);
        if (report.completion)
          together.period = again.first().start >= together.last().start
                                ? std::optional(again.first().start - together.last().start)
                                : std::nullopt;
        together.messages += again.messages;
        together.runs.insert(together.runs.end(), again.runs.begin(), again.runs.end());
      }
      folded.entries.push_back(std::move(together));
    }
    next = block.end();
  }
  copy_until(entries.size());
  return folded;
}

FoldedEntries single_entries(const Report& report) {
  const Program& program = report.scenario->program;
  FoldedEntries single;
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
