#include "tools/report/checks_text.h"

#include <algorithm>

#include <fmt/format.h>

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
    std::string text;
    for (const Check& check : checks_)
      text += in_full(check, of_width([](const Check&) { return true; }));
    return text;
  }

  /// In the order in which names first come.
  std::string counted() const {
    const size_t width = of_width([](const Check& check) { return !check.holds(); });
    std::string text;
    std::vector<std::string_view> names;
    for (const Check& first : checks_) {
      if (std::find(names.begin(), names.end(), first.name) != names.end())
        continue;
      names.push_back(first.name);
      size_t count = 0;
      const Check* held = nullptr;
      size_t holding = 0;
      for (const Check& check : checks_) {
        if (check.name != first.name)
          continue;
        ++count;
        if (check.holds()) {
          held = &check;
          ++holding;
        } else {
          text += in_full(check, width);
        }
      }
      if (holding > 0)
        text += one_line(*held, count > 1 ? count_text(holding, count) : held->message);
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

  std::string one_line(const Check& check, const std::string& said) const {
    const size_t indent = name_width_ + 6;
    return padded_name(check) +
           shortened(said, kReportColumns - std::min(indent, kReportColumns / 2), style_) + "\n";
  }

  std::string in_full(const Check& check, size_t of_width) const {
    const std::string head =
        fmt::format("{}{}{}{}", padded_name(check), style_.dim(check.of),
                    std::string(of_width - columns(check.of), ' '), of_width > 0 ? "  " : "");
    const size_t indent = name_width_ + 6 + of_width + (of_width > 0 ? 2 : 0);
    std::string text =
        head +
        wrapped_words(words_of(check.message),
                      kReportColumns - std::min(indent, kReportColumns / 2), indent) +
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

std::string checks_text(const std::vector<Check>& checks, const Style& style, ShownChecks shown) {
  const ChecksText text(checks, style);
  return shown == ShownChecks::All ? text.all() : text.counted();
}

}  // namespace orrery
