#include "models/base/diagnostics.h"

#include <array>

#include <doctest/doctest.h>

#include "models/base/check.h"

namespace orrery {

TEST_CASE("diagnostics: all errors are thrown at once, in the order of their positions") {
  Diagnostics diagnostics("ring8.json");
  diagnostics.add({"/links/3/bandwidth", TextPosition{12, 20}},
                  "expected a rate such as \"50 GB/s\", got \"50G\"");
  diagnostics.add({"/name", TextPosition{2, 11}}, "expected text, got 8");
  diagnostics.add({"/links/3", TextPosition{12, 5}},
                  "unknown key \"lateny\", did you mean \"latency\"?");
  diagnostics.add({"", TextPosition{1, 1}}, "expected \"version\"");
  REQUIRE(diagnostics.size() == 4);
  CHECK_THROWS_WITH_AS(
      diagnostics.throw_if_any(),
      "ring8.json:1:1: expected \"version\"\n"
      "ring8.json:2:11: /name: expected text, got 8\n"
      "ring8.json:12:5: /links/3: unknown key \"lateny\", did you mean \"latency\"?\n"
      "ring8.json:12:20: /links/3/bandwidth: expected a rate such as \"50 GB/s\", "
      "got \"50G\"",
      InputError);
}

TEST_CASE("diagnostics: errors at one position keep the order in which they were added") {
  Diagnostics diagnostics("a.json");
  diagnostics.add({"/x", TextPosition{3, 4}}, "second in the alphabet, first added");
  diagnostics.add({"/x", TextPosition{3, 4}}, "another");
  CHECK_THROWS_WITH(diagnostics.throw_if_any(),
                    "a.json:3:4: /x: second in the alphabet, first added\n"
                    "a.json:3:4: /x: another");
}

TEST_CASE("diagnostics: errors without a position come first, and print no line") {
  Diagnostics diagnostics("a.json");
  diagnostics.add({"/x", TextPosition{1, 1}}, "wrong");
  diagnostics.add({"/mesh", {}}, "too large");
  diagnostics.add("cannot be read");
  CHECK_THROWS_WITH(diagnostics.throw_if_any(),
                    "a.json: /mesh: too large\n"
                    "a.json: cannot be read\n"
                    "a.json:1:1: /x: wrong");
}

TEST_CASE("diagnostics: an error that is added twice is reported once") {
  Diagnostics diagnostics("a.json");
  diagnostics.add({"/x", TextPosition{3, 4}}, "wrong");
  diagnostics.add({"/y", TextPosition{2, 4}}, "wrong");
  diagnostics.add({"/x", TextPosition{3, 4}}, "wrong");
  CHECK_THROWS_WITH(diagnostics.throw_if_any(), "a.json:2:4: /y: wrong\na.json:3:4: /x: wrong");
}

TEST_CASE("diagnostics: an error of many iterations is reported once, with their number") {
  Diagnostics diagnostics("a.json");
  for (int i = 0; i < 1'000; ++i) {
    const Diagnostics::Note note(diagnostics, " (in l[" + std::to_string(i) + "])");
    diagnostics.add({"/x", TextPosition{3, 4}}, "wrong");
  }
  CHECK(diagnostics.size() == 1'000);
  CHECK_THROWS_WITH(diagnostics.throw_if_any(),
                    "a.json:3:4: /x: wrong (in l[0]), and 999 times more");
}

TEST_CASE("diagnostics: the 200th error ends the reading") {
  Diagnostics diagnostics("a.json");
  for (uint32_t line = 1; line < 200; ++line)
    diagnostics.add({"", TextPosition{line, 1}}, "wrong");
  try {
    diagnostics.add({"", TextPosition{200, 1}}, "wrong");
    FAIL("it went on");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().size() == 201);
    CHECK(error.diagnostics().back().message == "200 errors so far: there may be more");
  }
}

TEST_CASE("text lines: line and column of a byte, and of the end") {
  const TextLines lines("ab\n\nc");
  CHECK(lines.at(0) == TextPosition{1, 1});
  CHECK(lines.at(2) == TextPosition{1, 3});  // the line break ends its line
  CHECK(lines.at(3) == TextPosition{2, 1});
  CHECK(lines.at(4) == TextPosition{3, 1});
  CHECK(lines.at(5) == TextPosition{3, 2});
}

TEST_CASE("diagnostics: without errors nothing is thrown") {
  const Diagnostics diagnostics("a.json");
  CHECK(diagnostics.empty());
  CHECK_NOTHROW(diagnostics.throw_if_any());
}

TEST_CASE("diagnostics: an input error keeps its errors") {
  const InputError error("a.json", {{{"/x", TextPosition{3, 4}}, "wrong"}});
  REQUIRE(error.diagnostics().size() == 1);
  CHECK(error.diagnostics()[0].origin.pointer == "/x");
  CHECK(error.diagnostics()[0].message == "wrong");
}

TEST_CASE("near_miss: the candidate at most two edits, and fewer than half the letters, away") {
  const std::vector<std::string_view> keys = {"latency", "bandwidth", "links", "link", "to", "ll"};
  struct Row {
    std::string_view word, nearest;
  };
  const std::array<Row, 16> rows = {{
      {"latency", "latency"},   // 0 edits
      {"lateny", "latency"},    // 1: a letter missing
      {"latencyy", "latency"},  // 1: a letter too many
      {"letancy", "latency"},   // 2: two letters changed
      {"letanci", ""},          // 3
      {"Bandwidth", "bandwidth"},
      {"lins", "links"},  // 1 from "links" and from "link": the earlier
      {"lin", "link"},    // 1 from "link", 2 from "links"
      {"line", "link"},   // 1 from "link"
      {"likn", "link"},   // 1: two neighbours swapped
      {"lo", ""},         // 1 from "to", but that is half of its letters
      {"LL", "ll"},       // letters of the other case are no edits
      {"LATNCY", "latency"},
      {"tO", "to"},
      {"", ""},
      {"velocity", ""},
  }};
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CHECK(near_miss(row.word, keys) == row.nearest);
  }
  // At equal edits, the name with fewer letters of the other case wins.
  CHECK(near_miss("Ab1", {"ab2", "Ab2"}) == "Ab2");
  CHECK(near_miss("word", {}).empty());
  CHECK(near_miss(std::string(65, 'a'), {"a"}).empty());
}

TEST_CASE("check: what was relied on is in the message, and what holds passes") {
  const int two = 2;
  CHECK_NOTHROW(ORRERY_CHECK(two == 2, "two is two"));
  try {
    ORRERY_CHECK(two == 3, "two is three");
    FAIL("the check let it pass");
  } catch (const InternalError& error) {
    const std::string text = error.what();
    CHECK(text.find("diagnostics_test.cc:") != std::string::npos);
    CHECK(text.substr(text.find(": ")) == ": relied on \"two is three\", but not (two == 3)");
  }
}

}  // namespace orrery
