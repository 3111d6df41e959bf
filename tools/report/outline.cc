#include "tools/report/outline.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "tools/report/figures.h"

namespace orrery {
namespace {

constexpr size_t kFirstLabels = 18;  // columns of the labels of a section without a title
constexpr size_t kLabels = 32;
constexpr size_t kBarLabels = 28;
constexpr size_t kBarAmounts = 12;
constexpr size_t kBar = 24;

/// Returns whether HTML does not allow the character.
bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

double share(const Outline::Bar& bar) {
  return bar.whole == 0 ? 0 : static_cast<double>(bar.part) / static_cast<double>(bar.whole);
}

/// Writes the items of a section as text.
class ItemText {
 public:
  ItemText(const Outline::Section& section, const Style& style)
      : indent_(section.title.empty() ? 2 : 4), style_(style) {}

  std::string operator()(const Outline::Line& line) const {
    if (indent_ > 2)
      return fmt::format("{:{}}{:<{}}{}\n", "", indent_, line.label, kLabels, line.text);
    if (line.label.empty() && line.text.empty())
      return "\n";
    return fmt::format("  {}{}\n", style_.dim(fmt::format("{:<{}}", line.label, kFirstLabels)),
                       line.text);
  }
  std::string operator()(const Outline::Bar& bar) const {
    return fmt::format("{:{}}{:<{}}{:>{}}  {:>7}  {}\n", "", indent_, bar.label, kBarLabels,
                       bar.amount, kBarAmounts, share_text(share(bar)),
                       bar.whole == 0 ? "" : style_.bar(bar.part, bar.whole, kBar));
  }
  std::string operator()(const Table& table) const { return table.text(style_, indent_); }
  std::string operator()(const Outline::Paragraph& paragraph) const {
    const std::string words = wrapped_words(words_of(paragraph.text), kReportColumns - indent_,
                                            indent_ > 2 ? indent_ + 2 : indent_);
    return fmt::format("{:{}}{}\n", "", indent_, words);
  }

 private:
  const size_t indent_;
  const Style& style_;
};

/// Writes the items of a section as HTML. Lines and bars are rows of a table.
class ItemHtml {
 public:
  std::string operator()(const Outline::Line& line) {
    return rows("lines", fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", html_of(line.label),
                                     html_of(line.text)));
  }
  std::string operator()(const Outline::Bar& bar) {
    const std::string percent = share_text(share(bar));
    return rows("bars", fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td class=\"bar\">"
                                    "<meter max=\"100\" value=\"{:.1f}\">{}</meter></td></tr>\n",
                                    html_of(bar.label), html_of(bar.amount), percent,
                                    share(bar) * 100, percent));
  }
  std::string operator()(const Table& table) { return end() + table.html(); }
  std::string operator()(const Outline::Paragraph& paragraph) {
    return end() + fmt::format("<p>{}</p>\n", html_of(paragraph.text));
  }

  /// Ends the table that is begun.
  std::string end() {
    const bool ends = !open_.empty();
    open_ = "";
    return ends ? "</tbody></table></div>\n" : "";
  }

 private:
  std::string rows(std::string_view kind, const std::string& row) {
    if (open_ == kind)
      return row;
    std::string text = end();
    open_ = kind;
    return text + fmt::format("<div class=\"wide\"><table class=\"{}\"><tbody>\n", kind) + row;
  }

  std::string_view open_;
};

}  // namespace

std::string outline_text(const Outline& outline, const Style& style) {
  std::string text = style.bold(outline.title) + "\n";
  for (const Outline::Section& section : outline.sections) {
    text += "\n";
    if (!section.title.empty())
      text +=
          fmt::format("  {}{}\n", style.bold(section.title),
                      section.note.empty() ? "" : style.dim(fmt::format(" ({})", section.note)));
    const ItemText writer(section, style);
    for (const Outline::Item& item : section.items)
      text += std::visit(writer, item);
  }
  return text;
}

std::string html_text(std::string_view text) {
  constexpr std::string_view kUnknownByte = "\xef\xbf\xbd";  // U+FFFD
  std::string html;
  while (!text.empty()) {
    const size_t whole = not_utf8_at(text).value_or(text.size());
    for (const char c : text.substr(0, whole)) {
      switch (c) {
        case '&':
          html += "&amp;";
          break;
        case '<':
          html += "&lt;";
          break;
        case '>':
          html += "&gt;";
          break;
        case '"':
          html += "&quot;";
          break;
        default:
          html += is_control(c) ? ' ' : c;
      }
    }
    text.remove_prefix(whole);
    if (!text.empty()) {
      html += kUnknownByte;
      text.remove_prefix(1);
    }
  }
  return html;
}

std::string html_of(std::string_view text) {
  struct Colour {
    std::string_view code;
    std::string_view name;
  };
  static constexpr std::array<Colour, 6> kColours = {{{"\033[32m", "good"},
                                                      {"\033[1;31m", "bad"},
                                                      {"\033[2m", "dim"},
                                                      {"\033[1m", "bold"},
                                                      {"\033[33m", "open"},
                                                      {"\033[0m", ""}}};
  std::string html;
  size_t begun = 0;  // elements; names of files may have codes of their own
  while (!text.empty()) {
    const size_t code = std::min(text.find('\033'), text.size());
    html += html_text(text.substr(0, code));
    text.remove_prefix(code);
    if (text.empty())
      break;
    const auto* const colour = std::ranges::find_if(
        kColours, [&](const Colour& each) { return text.starts_with(each.code); });
    text.remove_prefix(colour == kColours.end() ? 1 : colour->code.size());
    if (colour == kColours.end())
      continue;
    if (!colour->name.empty()) {
      html += fmt::format("<span class=\"{}\">", colour->name);
      ++begun;
    } else if (begun > 0) {
      html += "</span>";
      --begun;
    }
  }
  for (; begun > 0; --begun)
    html += "</span>";
  return html;
}

std::string Table::html() const {
  if (rows_.size() < 2)
    return "<p>None.</p>\n";
  bool has_notes = false;
  for (const Row& row : rows_)
    has_notes = has_notes || !row.note.empty();
  std::string html =
      fmt::format("<div class=\"wide\"><table{}>", has_notes ? "" : " class=\"sortable\"");
  for (size_t r = 0; r < rows_.size(); ++r) {
    html += r == 0 ? "<thead><tr>" : "<tr>";
    const char* const kind = r == 0 ? "th" : "td";
    for (size_t c = 0; c < rows_[r].cells.size(); ++c)
      if (!left_out_[c])
        html +=
            fmt::format("<{0}{1}>{2}</{0}>", kind, align_[c] == Align::Right ? " class=\"n\"" : "",
                        html_of(rows_[r].cells[c]));
    if (!rows_[r].note.empty())
      html += fmt::format("<td colspan=\"{}\">{}</td>", align_.size(), html_of(rows_[r].note));
    html += r == 0 ? "</tr></thead><tbody>\n" : "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string html_of(const Outline& outline, std::string_view id, Titles titles) {
  std::string html;
  for (const Outline::Section& section : outline.sections) {
    if (section.id != id)
      continue;
    if (!section.title.empty() && titles == Titles::Shown)
      html += fmt::format("<h3>{}</h3>\n", html_of(section.title));
    if (!section.note.empty())
      html += fmt::format("<p class=\"dim\">{}</p>\n", html_of(section.note));
    ItemHtml writer;
    for (const Outline::Item& item : section.items)
      html += std::visit(writer, item);
    html += writer.end();
  }
  return html;
}

}  // namespace orrery
