#include <algorithm>

#include <fmt/format.h>

#include "tools/report/text_parts.h"

namespace orrery {
namespace {

class ChecksText {
 public:
  ChecksText(const std::vector<Check>& checks, const Style& style)
      : checks_(checks), style_(style) {
    for (const Check& check : checks)
      name_width_ = std::max(name_width_, columns(check.name));
  }

  std::string all() const {
    const size_t width = of_width([](const Check&) { return true; });
    std::string text;
    for (const Check& check : checks_)
      text += in_full(check, width);
    return text;
  }

  std::string not_holding() const {
    const size_t width = of_width([](const Check& check) { return !check.holds(); });
    std::string text;
    for (const Check& check : checks_)
      if (!check.holds())
        text += in_full(check, width);
    return text;
  }

  std::string holding() const {
    const size_t width = of_width([](const Check& check) { return check.holds(); });
    std::string text;
    for (const Check& check : checks_)
      if (check.holds())
        text += in_full(check, width);
    return text;
  }

  /// Returns one line per name, in the order in which the names first come.
  std::string holding_counted() const {
    std::string text;
    std::vector<std::string_view> names;
    for (const Check& first : checks_) {
      if (std::find(names.begin(), names.end(), first.name) != names.end())
        continue;
      names.push_back(first.name);
      size_t count = 0;
      std::vector<const Check*> held;
      for (const Check& check : checks_) {
        if (check.name != first.name)
          continue;
        ++count;
        if (check.holds())
          held.push_back(&check);
      }
      if (!held.empty())
        text += count == 1 ? one_line(*held.front(), held.front()->message, caveats(held))
                           : one_line(*held.front(), count_text(held.size(), count), caveats(held));
    }
    return text;
  }

 private:
  static std::string count_text(size_t holding, size_t count) {
    return holding == count ? fmt::format("{} hold", count)
                            : fmt::format("{} of {} hold", holding, count);
  }

  template <class Wanted>
  size_t of_width(Wanted wanted) const {
    size_t width = 0;
    for (const Check& check : checks_)
      if (wanted(check))
        width = std::max(width, columns(check.of));
    return width;
  }

  std::string padded_name(const Check& check) const {
    return fmt::format("  {} {}{}  ", style_.mark(check.verdict),
                       check.holds() ? check.name : style_.coloured(check.verdict, check.name),
                       std::string(name_width_ - columns(check.name), ' '));
  }

  /// Returns the caveats of the checks, in the order in which they first come. If not all checks
  /// have a caveat, it says how many do.
  static std::vector<std::string> caveats(const std::vector<const Check*>& checks) {
    std::vector<std::string> said;
    std::vector<size_t> counts;
    for (const Check* check : checks) {
      const auto at =
          static_cast<size_t>(std::find(said.begin(), said.end(), check->caveat) - said.begin());
      if (check->caveat.empty())
        continue;
      if (at == said.size()) {
        said.push_back(check->caveat);
        counts.push_back(0);
      }
      ++counts[at];
    }
    for (size_t i = 0; i < said.size(); ++i)
      if (counts[i] < checks.size())
        said[i] = fmt::format("{} of them: {}", counts[i], said[i]);
    return said;
  }

  /// Returns a check on one line. If the line is too long, only `said` is cut.
  std::string one_line(const Check& check, const std::string& said,
                       const std::vector<std::string>& caveats) const {
    const size_t indent = name_width_ + 6;
    const size_t width = kReportColumns - std::min(indent, kReportColumns / 2);
    std::string text = padded_name(check) + shortened(said, width, style_);
    for (const std::string& caveat : caveats)
      text += "\n" + std::string(indent, ' ') + wrapped_words(words_of(caveat), width, indent);
    return text + "\n";
  }

  std::string in_full(const Check& check, size_t of_width) const {
    const std::string head =
        fmt::format("{}{}{}{}", padded_name(check), style_.dim(check.of),
                    std::string(of_width - columns(check.of), ' '), of_width > 0 ? "  " : "");
    const size_t indent = name_width_ + 6 + of_width + (of_width > 0 ? 2 : 0);
    std::string text =
        head +
        wrapped_words(words_of(check.said()), kReportColumns - std::min(indent, kReportColumns / 2),
                      indent) +
        "\n";
    if (check.holds())
      return text;
    for (const auto& [key, value] : check.witness)
      text += fmt::format("      {}: {}\n", style_.dim(key), value);
    return text;
  }

  const std::vector<Check>& checks_;
  const Style& style_;
  size_t name_width_ = 0;
};

}  // namespace

std::string checks_text(const std::vector<Check>& checks, const Style& style) {
  return ChecksText(checks, style).all();
}

std::string checks_that_do_not_hold(const std::vector<Check>& checks, const Style& style) {
  return ChecksText(checks, style).not_holding();
}

std::string checks_that_hold(const std::vector<Check>& checks, const Style& style,
                             ShownChecks shown) {
  const ChecksText text(checks, style);
  return shown == ShownChecks::All ? text.holding() : text.holding_counted();
}

}  // namespace orrery
