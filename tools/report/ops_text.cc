#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/schedule/lowered.h"
#include "tools/report/figures.h"
#include "tools/report/op_entries.h"
#include "tools/report/text_parts.h"

namespace orrery {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kAlgbw = 5;  // the column
constexpr size_t kHidden = 8;

/// Says what a row shows that stands for several ops.
constexpr std::string_view kWhose = "start of the first, messages of all, the rest of the last";

class OpTable {
 public:
  OpTable(const Report& report, const GroupedEntries& grouped, size_t most, ShownBounds bounds,
          const Style& style)
      : report_(report),
        program_(report.scenario->program),
        grouped_(grouped),
        most_(most),
        bounds_(bounds),
        style_(style) {}

  std::string text() const { return loops() + blocks() + left_out() + table_text(); }

 private:
  std::string time(Duration duration) const { return time_text(duration, style_.ascii()); }
  std::string time(Instant instant) const { return time(instant - Instant()); }

  /// Returns one line for each loop. Its ops are shown from the first start to the last end, with
  /// the times of the last iteration. Iterations that the scenario names have a line of their own.
  std::string loops() const {
    std::string text;
    std::string_view before;
    for (const OpEntry& entry : grouped_.entries) {
      if (entry.loop.empty() || entry.loop == before)
        continue;
      before = entry.loop;
      const std::string period =
          entry.period
              ? fmt::format(", the last {} after the one before; {}", time(*entry.period), kWhose)
              : std::string();
      text += "  " +
              style_.dim(fmt::format("{}: {} iteration{}{}", entry.loop, grouped(entry.iterations),
                                     entry.iterations == 1 ? "" : "s", period)) +
              "\n";
    }
    return text;
  }

  std::string left_out() const {
    if (grouped_.entries.size() <= most_)
      return "";
    return "  " +
           style_.dim(
               fmt::format("the {} of {} ops that matter most: on the critical path, then by "
                           "their time (all: --verbose)",
                           most_, grouped_.entries.size())) +
           "\n";
  }

  /// Returns which entries are shown: all, or as many as may be. Those on the critical path come
  /// first, and those that take longest.
  std::vector<bool> shown() const {
    const std::vector<OpEntry>& entries = grouped_.entries;
    if (entries.size() <= most_)
      return std::vector<bool>(entries.size(), true);
    std::set<OpId> on_path;
    for (const OnPath& on : report_.critical_path)
      on_path.insert(on.entry.op);
    struct Candidate {
      size_t entry;
      bool off_path = true;
      Duration takes = {};
    };
    std::vector<Candidate> order;  // the first ones are shown
    for (size_t e = 0; e < entries.size(); ++e) {
      Candidate& of = order.emplace_back(Candidate{e});
      for (const OpReport* run : entries[e].runs) {
        of.off_path = of.off_path && !on_path.contains(run->op);
        of.takes = std::max(of.takes, longest(*run));
      }
    }
    std::stable_sort(order.begin(), order.end(), [](const Candidate& a, const Candidate& b) {
      return a.off_path != b.off_path ? !a.off_path : a.takes > b.takes;
    });
    std::vector<bool> shown(entries.size());
    for (size_t i = 0; i < most_; ++i)
      shown[order[i].entry] = true;
    return shown;
  }

  /// Returns one line for each block of ops that comes several times in a row.
  std::string blocks() const {
    std::string text;
    for (const GroupedEntries::Block& block : grouped_.blocks) {
      const OpEntry& first = grouped_.entries[block.begin];
      const OpEntry& last = grouped_.entries[block.begin + block.length - 1];
      const std::string ops =
          block.length == 1 ? first.id
                            : fmt::format("{} to {} ({} ops)", first.id, last.id, block.length);
      const std::string line = fmt::format("{}: {} times in a row{}; {} (all: --ops all)", ops,
                                           grouped(block.times), periods(first), kWhose);
      text += "  " + style_.dim(wrapped_words(words_of(line), kReportColumns - 2, 4)) + "\n";
    }
    return text;
  }

  /// Returns how much later each run began than the one before, on each device. The text is ""
  /// unless all began in this order.
  std::string periods(const OpEntry& entry) const {
    if (!report_.completion)
      return "";
    Spread spread;
    for (size_t i = 1; i < entry.runs.size(); ++i) {
      const std::span<const OpSpan> before =
          report_.completion->spans[entry.runs[i - 1]->op.index()];
      const std::span<const OpSpan> spans = report_.completion->spans[entry.runs[i]->op.index()];
      if (spans.size() != before.size())
        return "";
      for (size_t device = 0; device < spans.size(); ++device) {
        if (spans[device].start < before[device].start)
          return "";
        spread.add(spans[device].start - before[device].start);
      }
    }
    return fmt::format(", each {} after the one before", spread.text(style_.ascii()));
  }

  /// Returns the op's time on the device where it takes longest.
  Duration longest(const OpReport& run) const {
    Duration longest;
    if (report_.completion)
      for (const OpSpan& span : report_.completion->spans[run.op.index()])
        longest = std::max(longest, span.end - span.start);
    return longest;
  }

  /// Returns the figures in which ops that are shown together differ, with the op of the largest.
  std::string differing(const OpEntry& entry) const {
    std::vector<std::string> words;
    const auto figure = [&](std::string_view name, auto of) {
      Spread spread;
      for (const OpReport* run : entry.runs)
        spread.add(of(*run));
      if (spread.differs())
        words.push_back(fmt::format("{} {} ({})", name, spread.text(style_.ascii()),
                                    program_.op(entry.runs[spread.longest()]->op).name));
    };
    figure("takes", [&](const OpReport& run) { return longest(run); });
    figure("exposed", [](const OpReport& run) { return run.exposed; });
    figure("hidden", [](const OpReport& run) { return run.hidden; });
    figure("slack", [](const OpReport& run) { return run.slack.value_or(Duration()); });
    for (size_t w = 0; w + 1 < words.size(); ++w)
      words[w] += ",";
    return wrapped_words(words, kReportColumns - kIndent - 2, kIndent + 2);
  }

  /// Returns the work of an mpmd_map's bodies, what its author expects, and what it holds.
  static std::string cores_text(const CoreReport& of) {
    const CoreMap& map = *of.cores.map;
    std::string text =
        fmt::format("{} instance{}; {} and {} in the device's memory", of.cores.instances.size(),
                    of.cores.instances.size() == 1 ? "" : "s", quantity_text(of.work.flops),
                    size_text(of.work.bytes));
    if (map.estimate)
      text += fmt::format(", estimated {} and {}", quantity_text(Flops(map.estimate->flops)),
                          size_text(Bytes(map.estimate->bytes_accessed)));
    for (const SpaceUse& use : of.spaces)
      text +=
          fmt::format("; {}{} of {}{}", size_text(use.peak),
                      use.size ? fmt::format(" of {}", size_text(*use.size)) : "", name(use.space),
                      use.function ? fmt::format(" on each core of {}",
                                                 in_quotes(map.functions[*use.function].mesh.name))
                                   : "");
    return text;
  }

  /// Returns the share of its bound that a collective reached, and what limits it.
  std::string bound_text(const ReachedBound& reached) const {
    const Fabric& fabric = report_.fabric();
    const std::string whose =
        reached.groups == 1 ? "its bound" : "the bound of one group by itself";
    std::string text = fmt::format("{} of {}: {}", share_text(reached.share()), whose,
                                   orrery::text(reached.bound, fabric, style_.ascii()));
    if (reached.is_missed_by_links())
      text += fmt::format("; {} alone takes {} for its {}", fabric.link_text(reached.busiest->link),
                          time(reached.busiest->takes), size_text(reached.busiest->bytes));
    return text;
  }

  /// Returns the table. If it is too wide for a report, and would fit without the columns algbw and
  /// hidden, they are left out. The JSON report has them.
  std::string table_text() const {
    Table table = this->table();
    for (const size_t column : {kAlgbw, kHidden})
      if (table.width() + kIndent > kReportColumns)
        table.leave_out(column);
    return table.text(style_, kIndent);
  }

  Table table() const {
    using Align = Table::Align;
    Table table({Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right, Align::Right, Align::Right, Align::Right});
    table.row(
        {"id", "op", "start", "end", "bytes", "algbw", "busbw", "exposed", "hidden", "slack"});
    const bool timed = report_.completion.has_value();
    const auto row = [&](const std::string& id, Instant start, const OpReport& run) {
      const Op& op = program_.op(run.op);
      const auto rate = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.1f}", *value) : std::string();
      };
      table.row({shortened(id, kNameWidth, style_), op_name(op.kind, op.issue),
                 timed ? time(start) : "", timed ? time(run.end) : "",
                 run.bytes.count() > 0 ? size_text(run.bytes) : "", rate(run.algbw_GBps),
                 rate(run.busbw_GBps), timed && run.exposed.count() > 0 ? time(run.exposed) : "",
                 timed && run.hidden.count() > 0 ? time(run.hidden) : "",
                 run.slack ? time(*run.slack) : ""});
    };
    const auto note = [&](const std::string& said) {
      table.note(style_.dim(wrapped_words(words_of(fmt::format("{} {}", style_.corner(), said)),
                                          kReportColumns - 2, 4)));
    };
    const std::vector<bool> shown = this->shown();
    std::optional<uint32_t> reshard;  // of the entry before
    for (size_t e = 0; e < shown.size(); ++e) {
      const OpEntry& entry = grouped_.entries[e];
      const bool first_part = std::exchange(reshard, reshard_of(entry, report_)) != reshard;
      if (reshard && first_part) {
        const ReshardReport& of = report_.reshards[*reshard];
        const Reshard& moved = program_.reshards[*reshard];
        table.row({shortened(moved.name(), kNameWidth, style_), std::string(op_name(moved.to)),
                   timed ? time(of.start) : "", timed ? time(of.end) : "", size_text(of.bytes), "",
                   "", "", "", ""});
        note(reshard_text(report_, of));
      }
      if (!shown[e])
        continue;
      const OpReport& last = entry.last();
      row(reshard ? "  " + entry.id : entry.id, entry.first().start, last);
      if (last.choice)
        note(fmt::format("{}: {}; {} message{}", last.choice->method(), last.choice->because,
                         grouped(entry.messages), entry.messages == 1 ? "" : "s"));
      if (const CoreReport* const cores = report_.cores_of(last.op))
        note(cores_text(*cores));
      if (last.reached && (bounds_ == ShownBounds::All || last.reached->is_missed_by_links()))
        note(bound_text(*last.reached));
      // The times of left-out iterations are not known here.
      const bool complete = entry.loop.empty() || entry.iterations == entry.runs.size();
      if (const std::string said = differing(entry); complete && !said.empty())
        note(said);
      for (const OpReport* run : entry.named)
        row(program_.op(run->op).name, run->start, *run);
    }
    return table;
  }

  const Report& report_;
  const Program& program_;
  const GroupedEntries& grouped_;
  const size_t most_;  // entries
  const ShownBounds bounds_;
  const Style& style_;
};

class PathText {
 public:
  PathText(const Report& report, std::span<const OpEntry> entries, const Style& style)
      : path_(report.critical_path),
        entries_(entries),
        style_(style),
        entry_of_(report.scenario->program.ops.size()) {
    for (uint32_t e = 0; e < entries_.size(); ++e)
      for (const OpReport* run : entries_[e].runs)
        entry_of_[run->op.index()] = e;
  }

  std::string text(PathBlocks shown) && {
    std::vector<uint32_t> items;
    for (const OnPath& on : path_)
      items.push_back(entry_of_[on.entry.op.index()]);
    add_range(items, 0, path_.size(), 0, shown);
    return "  " + wrapped_words(words_, kReportColumns - 2, 2);
  }

 private:
  /// This is one entry of the path, or several that are shown together.
  struct Shown {
    std::set<LogicalId> devices;
    Spread took;
  };

  /// These are entries of which some stand for many rounds.
  struct Periods {
    RepeatedBlock block;
    uint64_t times = 0;  // with all rounds
  };

  /// Returns the round that an entry has inside of `depth` others; null if it has none there.
  static const PathEntry::Round* round_at(const PathEntry& entry, size_t depth) {
    return entry.rounds.size() > depth ? &entry.rounds[entry.rounds.size() - 1 - depth] : nullptr;
  }

  /// Adds entries that are in the same `depth` rounds.
  void add_range(std::span<const uint32_t> items, size_t begin, size_t end, size_t depth,
                 PathBlocks shown) {
    size_t next = begin;
    for (size_t at = begin; at < end;) {
      const size_t round_end = end_of_round(at, end, depth);
      if (round_end == at) {
        ++at;
      } else if (std::any_of(path_.begin() + static_cast<ptrdiff_t>(at),
                             path_.begin() + static_cast<ptrdiff_t>(round_end),
                             [&](const OnPath& on) { return round_at(on.entry, depth + 1); })) {
        add_between(items, next, at, shown);
        const PathEntry::Round& round = *round_at(path_[at].entry, depth);
        before_ += fmt::format("{} {} (", grouped(round.times), style_.times());
        add_range(items, at, round_end, depth + 1, shown);
        close(round.every * static_cast<int64_t>(round.times));
        next = at = round_end;
      } else {
        const Periods periods = periods_around(items.subspan(0, end), next, at, round_end, depth);
        add_between(items, next, periods.block.begin, shown);
        add(periods.block, periods.times, depth);
        next = at = periods.block.end();
      }
    }
    add_between(items, next, end, shown);
  }

  /// Returns where the entries of the round end that this one begins; `begin` if it has none.
  size_t end_of_round(size_t begin, size_t end, size_t depth) const {
    const PathEntry::Round* const round = round_at(path_[begin].entry, depth);
    size_t next = begin;
    const auto belongs = [&](const PathEntry& entry) {
      const PathEntry::Round* const own = round_at(entry, depth);
      if (round == nullptr || own == nullptr || *own != *round)
        return false;
      if (next == begin)
        return true;
      // It follows the first time of a round inside that the one before ends, or the last time.
      const PathEntry& before = path_[next - 1].entry;
      for (size_t inner = 0; inner + depth < before.rounds.size(); ++inner)
        if (entry.start == before.last_end(inner))
          return true;
      return false;
    };
    while (next < end && belongs(path_[next].entry))
      ++next;
    return next;
  }

  /// Returns the rounds of these entries with those that are written before and after them, from
  /// entry `first` on.
  Periods periods_around(std::span<const uint32_t> items, size_t first, size_t begin, size_t end,
                         size_t depth) const {
    const size_t length = shortest_period(items.subspan(begin, end - begin));
    size_t before = 0;
    while (begin - before > first && items[begin - before - 1] == items[end - 1 - before % length])
      ++before;
    size_t after = 0;
    while (end + after < items.size() && round_at(path_[end + after].entry, depth) == nullptr &&
           items[end + after] == items[begin + after % length])
      ++after;
    const size_t rest = (before + after) % length;
    before -= rest - std::min(rest, after);
    after -= std::min(rest, after);
    const uint64_t in_round = (end - begin) / length;
    const size_t around = (before + after) / length;
    return {{begin - before, length, in_round + around},
            in_round * round_at(path_[begin].entry, depth)->times + around};
  }

  /// Returns the length of the shortest row of items that gives all of them, if it is repeated.
  static size_t shortest_period(std::span<const uint32_t> items) {
    size_t length = 1;
    while (items.size() % length != 0 ||
           !std::equal(items.begin() + static_cast<ptrdiff_t>(length), items.end(), items.begin()))
      ++length;
    return length;
  }

  /// Adds entries of which each stands for itself.
  void add_between(std::span<const uint32_t> items, size_t begin, size_t end, PathBlocks shown) {
    std::vector<RepeatedBlock> blocks;
    if (shown == PathBlocks::Once)
      blocks = repeated_blocks(items.subspan(begin, end - begin));
    size_t next = begin;
    for (RepeatedBlock& block : blocks) {
      block.begin += begin;
      for (; next < block.begin; ++next)
        add(single(next), "", id_of(next));
      add(block, block.times, path_[block.begin].entry.rounds.size());
      next = block.end();
    }
    for (; next < end; ++next)
      add(single(next), "", id_of(next));
  }

  const OpEntry& entry_at(size_t at) const {
    return entries_[entry_of_[path_[at].entry.op.index()]];
  }

  /// Returns the name of the run, or in a round, where it stands for many, the op's id.
  const std::string& id_of(size_t at) const {
    return path_[at].entry.rounds.empty() ? path_[at].name : entry_at(at).id;
  }

  void add(Shown& shown, const PathEntry& entry) const {
    shown.devices.insert(entry.device);
    shown.took.add(entry.end - entry.start);
  }

  Shown single(size_t at) const {
    Shown shown;
    add(shown, path_[at].entry);
    return shown;
  }

  /// Adds entries that come several times in a row, inside of `depth` rounds.
  void add(const RepeatedBlock& block, uint64_t times, size_t depth) {
    for (size_t k = 0; k < block.length; ++k) {
      Shown together;
      for (size_t at = block.begin + k; at < block.end(); at += block.length)
        add(together, path_[at].entry);
      add(together, k == 0 ? fmt::format("{} {} (", grouped(times), style_.times()) : std::string(),
          entry_at(block.begin + k).id);
    }
    const PathEntry& last = path_[block.end() - 1].entry;
    close(last.last_end(last.rounds.size() - depth) - path_[block.begin].entry.start);
  }

  void close(Duration all) {
    words_.back() +=
        fmt::format(") {}", style_.dim(fmt::format("= {}", time_text(all, style_.ascii()))));
  }

  void add(const Shown& shown, const std::string& before, const std::string& id) {
    std::string word = words_.empty() ? "" : fmt::format("{} ", style_.arrow());
    word += std::exchange(before_, "") + before;
    if (shown.devices != devices_) {
      const std::vector<LogicalId> ids(shown.devices.begin(), shown.devices.end());
      word += devices_text(ids) + ": ";
      devices_ = shown.devices;
    }
    words_.push_back(word + id + " " + style_.dim(shown.took.text(style_.ascii())));
  }

  std::span<const OnPath> path_;
  std::span<const OpEntry> entries_;
  const Style& style_;
  std::vector<uint32_t> entry_of_;  // per op
  std::string before_;              // rounds that the next word begins
  std::vector<std::string> words_;
  std::set<LogicalId> devices_;  // the devices of the last word
};

std::string path_table(const Report& report, const Style& style) {
  const Program& program = report.scenario->program;
  const auto time = [&](Duration duration) { return time_text(duration, style.ascii()); };
  const auto makespan = static_cast<double>(report.completion->makespan.picoseconds());
  using Align = Table::Align;
  Table table({Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left,
               Align::Left});
  table.row({"from", "to", "takes", "share", "device", "id", "op"});
  for (const auto& [entry, name] : report.critical_path) {
    const Op& op = program.op(entry.op);
    const std::string each = time(entry.end - entry.start);
    table.row({time(entry.start - Instant()), time(entry.last_end() - Instant()),
               entry.rounds.empty()
                   ? each
                   : fmt::format("{} {} {}", grouped(entry.times()), style.times(), each),
               share_text(static_cast<double>(entry.takes().count()) / makespan),
               std::to_string(entry.device.index()), name,
               op.site ? fmt::format("{} by {}", op_name(op.kind, op.issue),
                                     report.lowered->choices[op.site->index()].method())
                       : op_name(op.kind, op.issue)});
  }
  return table.text(style, 2);
}

std::string slack_table(const Report& report, const Style& style) {
  const Program& program = report.scenario->program;
  std::vector<const OpReport*> off;
  for (const OpReport& entry : report.ops)
    if (entry.slack && *entry.slack > Duration())
      off.push_back(&entry);
  if (off.empty())
    return "";
  std::stable_sort(off.begin(), off.end(),
                   [](const OpReport* a, const OpReport* b) { return *a->slack < *b->slack; });
  using Align = Table::Align;
  Table table({Align::Right, Align::Left, Align::Left});
  table.row({"slack", "id", "op"});
  for (const OpReport* entry : off) {
    const Op& op = program.op(entry->op);
    table.row({time_text(*entry->slack, style.ascii()), op.name, op_name(op.kind, op.issue)});
  }
  return "\n" + style.bold("OFF THE PATH") + "  how much longer an op could last\n" +
         table.text(style, 2);
}

}  // namespace

std::string op_table(const Report& report, const GroupedEntries& grouped, size_t most,
                     ShownBounds bounds, const Style& style) {
  return OpTable(report, grouped, most, bounds, style).text();
}

std::string path_text(const Report& report, std::span<const OpEntry> entries, PathBlocks blocks,
                      const Style& style) {
  return PathText(report, entries, style).text(blocks);
}

std::string critical_path_text(const Report& report, const Style& style) {
  std::string text = style.bold("CRITICAL PATH") + "  " +
                     time_text(report.completion->makespan - Instant(), style.ascii()) + " by " +
                     (report.completion->by == TimedBy::Sweep ? "sweep" : "engine") + "\n";
  if (!report.no_critical_path.empty())
    return text + "  not computed: " + report.no_critical_path + "\n";
  if (report.critical_path.empty())
    return text + "  nothing takes time\n";
  text += path_table(report, style) + slack_table(report, style);
  if (const std::optional<Exposed> most = most_exposed(report))
    text += fmt::format("\ncommunication exposed for {} on device {}, {} of the makespan\n",
                        time_text(most->exposed, style.ascii()), most->device.index(),
                        share_text(most->share));
  return text;
}

}  // namespace orrery
