#pragma once

// An Outline is what a report says, as data: sections of lines, bars and tables. It is written as
// text, or as sections of an HtmlPage.
//
// A page is one file that loads nothing: its looks, its scripts and the library that draws its
// charts (Chart.js) are in it. Everything that a chart shows is in the page as text too.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

struct Outline {
  struct Line {
    std::string label;  // often ""
    std::string text;
  };
  struct Bar {
    std::string label;
    std::string amount;
    int64_t part = 0;
    int64_t whole = 0;
  };
  struct Paragraph {
    std::string text;
  };
  using Item = std::variant<Line, Bar, Table, Paragraph>;

  struct Section {
    std::string id;     // of the page's section that it is in
    std::string title;  // "" for the first one, which follows the report's title
    std::string note;   // beside the title
    std::vector<Item> items;
  };

  std::string title;
  std::vector<Section> sections;
};

std::string outline_text(const Outline& outline, const Style& style);

/// This is the style of texts that go to a page, where their colours become elements.
inline const Style kPageStyle(Colours::Ansi, Letters::Unicode);

/// Returns a text as HTML. Bytes that are not UTF-8 become U+FFFD.
std::string html_text(std::string_view text);
/// Returns a text of kPageStyle as HTML.
std::string html_of(std::string_view text);
/// Returns the items of all sections with this id.
enum class Titles : uint8_t { Shown, LeftOut };
std::string html_of(const Outline& outline, std::string_view id, Titles titles = Titles::Shown);

/// Returns a chart that charts.js draws. `kind` says how: "front", "timeline" or "memory". `about`
/// says what it shows to those who cannot see it. `data` is JSON.
std::string chart_html(std::string_view kind, std::string_view about, std::string_view data);

class HtmlPage {
 public:
  explicit HtmlPage(std::string title) : title_(std::move(title)) {}

  /// Adds a section, which a link at the top of the page leads to. `content` is HTML.
  void section(std::string_view id, std::string_view title, std::string_view content);

  std::string text() const;

 private:
  std::string title_;
  std::string links_;
  std::string sections_;
};

/// Adds what a page says of a run: when its devices did what, what they held, what its links
/// carried, and its ops, each with the reasons for its time. `allowed` is the memory that a device
/// may take, besides what it has.
void add_run(HtmlPage& page, const Report& report, std::optional<Bytes> allowed = {});
/// Adds how far the scenario's cluster was from measured times, or that this is not known.
void add_accuracy(HtmlPage& page, const Scenario& scenario);
/// Adds the sections of a run that was not made, with the reason.
void add_no_run(HtmlPage& page, std::string_view why);
/// Adds what was assumed.
void add_assumptions(HtmlPage& page, const std::vector<std::string>& labels);

/// Returns the report of a run as a page.
std::string run_html(const Report& report);

/// Files that a page takes its parts from, which the program contains.
struct PageFile {
  std::string_view name;  // up to the first dot
  std::string_view text;
};
std::span<const PageFile> page_files();

}  // namespace orrery
