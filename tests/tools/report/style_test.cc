#include "tools/report/style.h"

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

const Style kPlain;
const Style kAscii(Colours::Plain, Letters::Ascii);
const Style kColoured(Colours::Ansi, Letters::Unicode);

TEST_CASE("columns: a letter outside ASCII counts one, a colour code none") {
  CHECK(columns("µs") == 2);
  CHECK(columns(kColoured.good("✓")) == 1);
}

TEST_CASE("style: colours only where they were asked for") {
  CHECK(kPlain.bad("x") == "x");
  CHECK(kColoured.bad("x") == "\033[1;31mx\033[0m");
}

TEST_CASE("bar: full columns are rounded down, but a value above zero shows something") {
  CHECK(kAscii.bar(0, 100, 4) == "....");
  CHECK(kAscii.bar(1, 100, 4) == "#...");
  CHECK(kAscii.bar(74, 100, 4) == "##..");
  CHECK(kAscii.bar(75, 100, 4) == "###.");
  CHECK(kAscii.bar(101, 100, 4) == "####");
  CHECK(kPlain.bar(1, 2, 4) == "██░░");
}

TEST_CASE("table: columns as wide as their widest cell, notes across them") {
  Table table({Table::Align::Left, Table::Align::Right});
  table.row({"id", "end"});
  table.row({"long", "1 µs"});
  table.note("- a note that is longer than the row");
  CHECK(table.text(kPlain, 1) ==
        " id     end\n"
        " long  1 µs\n"
        " - a note that is longer than the row\n");
}

TEST_CASE("shortened: cut to the width, ellipsis included") {
  CHECK(shortened("abcdef", 6, kPlain) == "abcdef");
  CHECK(shortened("abcdefg", 6, kPlain) == "abcde…");
  CHECK(shortened("µµµµµµµ", 6, kAscii) == "µµµ...");
}

TEST_CASE("wrapped words: no line is wider than asked, except for a longer word") {
  CHECK(wrapped_words({"aa", "bb", "cccccc"}, 5, 2) == "aa bb\n  cccccc");
}

TEST_CASE("table: a column that is left out takes no room") {
  using Align = Table::Align;
  Table table({Align::Left, Align::Right, Align::Right});
  table.row({"id", "a", "b"});
  table.row({"x", "1234", "5"});
  CHECK(table.width() == 2 + 2 + 4 + 2 + 1);
  table.leave_out(1);
  CHECK(table.width() == 2 + 2 + 1);
  CHECK(table.text(Style(), 0) == "id  b\nx   5\n");
}

TEST_CASE("units: messages have the letters of the style, and words that end in us stay") {
  const std::string message =
      "It takes 10.05 us, or 3\n    us; 4 usual buses and \"us\" stay: 5 us";
  CHECK(with_units(message, Style()) ==
        "It takes 10.05 µs, or 3\n    µs; 4 usual buses and \"us\" stay: 5 µs");
  CHECK(with_units(message, Style(Colours::Plain, Letters::Ascii)) == message);
  CHECK(with_units("us", Style()) == "us");
}

std::string lines(const std::string& letter, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += letter + "\n";
  return text;
}

TEST_CASE("fitted sections: the longest are cut to equally many lines") {
  const std::vector<std::string> sections = {lines("a", 5), lines("b", 20), lines("c", 30)};
  CHECK(fitted(sections, 55, "all", Style()) == lines("a", 5) + lines("b", 20) + lines("c", 30));
  // 5 lines stay, and 18 of each of the others make 41; of 18 lines, one says what is left out.
  CHECK(fitted(sections, 42, "all", Style()) == lines("a", 5) + lines("b", 17) +
                                                    "  and 3 more lines (all)\n" + lines("c", 17) +
                                                    "  and 13 more lines (all)\n");
  CHECK(fitted({}, 10, "all", Style()).empty());
  CHECK(lines_each(sections, 55) == 30);
  CHECK(lines_each(sections, 42) == 18);
  CHECK(lines_each(sections, 1) == 4);
}

}  // namespace
}  // namespace orrery::test
