#include "tools/report/junit.h"

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include "tests/tools/cli/files.h"
#include "tests/tools/shell.h"

namespace orrery::test {
namespace {

/// Returns what xmllint says of the text, by the schema of tests/data/junit.
Launched validated(const std::string& text) {
  const TemporaryFolder folder;
  return shell("xmllint --nonet --noout --schema " ORRERY_SOURCE_ROOT
               "/tests/data/junit/junit.xsd " +
               folder.file("junit.xml", text) + " 2>&1 | sed 's/.*junit.xml/junit.xml/'");
}

/// Returns the message of the only case of a suite with this text in it, as a reader sees it.
std::string read_back(const std::string& text) {
  const std::string junit = junit_text({{text, {{text, text, JunitOutcome::Failed, text}}}});
  pugi::xml_document document;
  REQUIRE(document.load_string(junit.c_str(), pugi::parse_default & ~pugi::parse_wconv_attribute));
  return document.select_node("//failure/@message").attribute().value();
}

TEST_CASE("junit: every outcome, whole") {
  const std::string text = junit_text(
      {{"a.json",
        {{"A", "a", JunitOutcome::Passed},
         {"B", "a", JunitOutcome::Failed, "is late & < b", "  r: 1\n", "orrery run a.json"},
         {"C", "a", JunitOutcome::Undecided, "not \"known\""},
         {"D", "a", JunitOutcome::Allowed, "not known"}}},
       {"b.json", {{"E", "b", JunitOutcome::WrongInput, "wrong"}}},
       {"c.json", {}}});
  CHECK(text == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="orrery" tests="5" failures="2" errors="1">
  <testsuite name="a.json" tests="4" failures="2" errors="0" skipped="1">
    <testcase name="A" classname="a" />
    <testcase name="B" classname="a">
      <failure message="is late &amp; &lt; b" type="fails">is late &amp; &lt; b
  r: 1
Replay: orrery run a.json
</failure>
    </testcase>
    <testcase name="C" classname="a">
      <failure message="not &quot;known&quot;" type="undecided">not "known"
</failure>
    </testcase>
    <testcase name="D" classname="a">
      <skipped message="not known">not known
</skipped>
    </testcase>
  </testsuite>
  <testsuite name="b.json" tests="1" failures="0" errors="1" skipped="0">
    <testcase name="E" classname="b">
      <error message="wrong">wrong
</error>
    </testcase>
  </testsuite>
  <testsuite name="c.json" tests="0" failures="0" errors="0" skipped="0" />
</testsuites>
)");
  CHECK(validated(text) == Launched{0, "junit.xml validates\n"});
}

TEST_CASE("junit: the schema refuses a case without a name") {
  const std::string text =
      R"(<testsuites name="n" tests="1" failures="0" errors="0"><testsuite name="s" tests="1" failures="0" errors="0" skipped="0"><testcase classname="c"/></testsuite></testsuites>)";
  CHECK(validated(text).said.find("'name' is required but missing") != std::string::npos);
}

TEST_CASE("junit: what XML cannot hold becomes U+FFFD, and the rest comes back") {
  const std::string replaced = "\xef\xbf\xbd";
  CHECK(read_back("tab\t, line\n, <&>\"' \xc3\xa9 \xf0\x9f\x98\x80") ==
        "tab\t, line\n, <&>\"' \xc3\xa9 \xf0\x9f\x98\x80");
  CHECK(read_back("escape \x1b[1m, return \r") == "escape " + replaced + "[1m, return " + replaced);
  CHECK(read_back(std::string("nul \0.", 6)) == "nul " + replaced + ".");
  CHECK(read_back("\xef\xbf\xbe\xef\xbf\xbf") == replaced + replaced);
  // A surrogate in UTF-8 is three wrong bytes.
  CHECK(read_back("\xed\xa0\x80.") == replaced + replaced + replaced + ".");
}

TEST_CASE("junit: any bytes give XML that validates") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes += static_cast<char>(byte);
  for (int last = 0x80; last < 0xc0; ++last)
    bytes += std::string("\xef\xbf") + static_cast<char>(last);
  const std::string text =
      junit_text({{bytes, {{bytes, bytes, JunitOutcome::Failed, bytes, bytes, bytes}}}});
  CHECK(validated(text) == Launched{0, "junit.xml validates\n"});
}

TEST_CASE("junit: cases of a file's checks, each with a name of its own") {
  Check fails;
  fails.name = "RACE.FREE";
  fails.verdict = Verdict::Fails;
  fails.of = "/program/1";
  fails.message = "It races.";
  fails.witness = {{"step", "3"}, {"step", "4"}};
  Check holds = fails;
  holds.verdict = Verdict::Holds;
  const std::vector<JunitCase> cases =
      junit_cases("jobs/a.b.json", {holds, fails}, "orrery run jobs/a.b.json");
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].name == "RACE.FREE /program/1");
  CHECK(cases[0].outcome == JunitOutcome::Passed);
  CHECK(cases[1].name == "RACE.FREE /program/1 (2)");
  CHECK(cases[1].classname == "jobs/a.b");
  CHECK(cases[1].outcome == JunitOutcome::Failed);
  CHECK(cases[1].message == "It races.");
  CHECK(cases[1].details == "  step: 3\n  step: 4\n");
  CHECK(cases[1].replay == "orrery run jobs/a.b.json");
}

}  // namespace
}  // namespace orrery::test
