#include "tools/report/path_text.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/report/names.h"
#include "tools/report/repetitions.h"
#include "tools/report/spread.h"
#include "tools/report/units.h"

namespace orrery {
namespace {

class PathText {
 public:
  PathText(const Report& report, std::span<const OpEntry> entries, const Style& style)
      : path_(report.critical_path),
        program_(report.scenario->program),
        entries_(entries),
        style_(style),
        entry_of_(program_.ops.size()) {
    for (uint32_t e = 0; e < entries_.size(); ++e)
      for (const OpReport* run : entries_[e].runs)
        entry_of_[run->op.index()] = e;
  }

  std::string text(PathBlocks shown) && {
    std::vector<uint32_t> items;
    for (const PathEntry& entry : path_)
      items.push_back(entry_of_[entry.op.index()]);
    std::vector<RepeatedBlock> blocks;
    if (shown == PathBlocks::Once)
      blocks = repeated_blocks(items);
    size_t next = 0;
    for (const RepeatedBlock& block : blocks) {
      for (; next < block.begin; ++next)
        add(single(next), "", program_.op(path_[next].op).name);
      add(block);
      next = block.end();
    }
    for (; next < path_.size(); ++next)
      add(single(next), "", program_.op(path_[next].op).name);
    return "  " + wrapped_words(words_, kReportColumns - 2, 2);
  }

 private:
  /// One entry of the path, or those that are shown together.
  struct Shown {
    std::set<LogicalId> devices;
    Spread took;
  };

  void add(Shown& shown, const PathEntry& entry) const {
    shown.devices.insert(entry.device);
    shown.took.add(entry.end - entry.start);
  }

  Shown single(size_t at) const {
    Shown shown;
    add(shown, path_[at]);
    return shown;
  }

  void add(const RepeatedBlock& block) {
    for (size_t k = 0; k < block.length; ++k) {
      Shown together;
      for (size_t at = block.begin + k; at < block.end(); at += block.length)
        add(together, path_[at]);
      add(together,
          k == 0 ? fmt::format("{} {} (", grouped(block.times), style_.times()) : std::string(),
          entries_[entry_of_[path_[block.begin + k].op.index()]].id);
    }
    const Duration all = path_[block.end() - 1].end - path_[block.begin].start;
    words_.back() +=
        fmt::format(") {}", style_.dim(fmt::format("= {}", time_text(all, style_.ascii()))));
  }

  void add(const Shown& shown, const std::string& before, const std::string& id) {
    std::string word = words_.empty() ? "" : fmt::format("{} ", style_.arrow());
    word += before;
    if (shown.devices != devices_) {
      const std::vector<LogicalId> ids(shown.devices.begin(), shown.devices.end());
      word += fmt::format("device{} {}: ", ids.size() == 1 ? "" : "s", ranges_text(ids));
      devices_ = shown.devices;
    }
    words_.push_back(word + id + " " + style_.dim(shown.took.text(style_.ascii())));
  }

  std::span<const PathEntry> path_;
  const Program& program_;
  std::span<const OpEntry> entries_;
  const Style& style_;
  std::vector<uint32_t> entry_of_;  // per op
  std::vector<std::string> words_;
  std::set<LogicalId> devices_;  // that the last word was of
};

}  // namespace

std::string path_text(const Report& report, std::span<const OpEntry> entries, PathBlocks blocks,
                      const Style& style) {
  return PathText(report, entries, style).text(blocks);
}

}  // namespace orrery
