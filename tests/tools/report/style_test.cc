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

}  // namespace
}  // namespace orrery::test
