// Tests checks as text: in full, and one line per name.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tools/report/text_parts.h"

namespace orrery {
namespace {

Check held(const std::string& message, const std::string& caveat = "") {
  return {"VALUES.EQUAL", Verdict::Holds, "/expect/0", message, {}, caveat};
}

std::string counted(const std::vector<Check>& checks) {
  return checks_that_hold(checks, Style(), ShownChecks::Counted);
}

const std::string kLong =
    "\"a\" and \"b\" are bitwise equal on 8 devices, 8192 elements each, and this goes on and on.";

TEST_CASE("checks: one that holds is one line, and its caveat is not cut") {
  CHECK(counted({held(kLong)}) ==
        "  ✓ VALUES.EQUAL  \"a\" and \"b\" are bitwise equal on 8 devices, 8192 elements each, and "
        "this goes on …\n");
  CHECK(counted({held("They are equal.", "They sum whole numbers.")}) ==
        "  ✓ VALUES.EQUAL  They are equal.\n"
        "                  They sum whole numbers.\n");
  CHECK(counted({held(kLong,
                      "They sum whole numbers, which is exact in any order; sums of "
                      "fractions may differ.")}) ==
        "  ✓ VALUES.EQUAL  \"a\" and \"b\" are bitwise equal on 8 devices, 8192 elements each, and "
        "this goes on …\n"
        "                  They sum whole numbers, which is exact in any order; sums of fractions "
        "may differ.\n");
}

TEST_CASE("checks: of several that are counted, each caveat is said with how many have it") {
  const std::string whole = "They sum whole numbers.";
  const std::string other = "Nothing orders them.";
  CHECK(counted({held("1", whole), held("2"), held("3", other), held("4", whole)}) ==
        "  ✓ VALUES.EQUAL  4 hold\n"
        "                  2 of them: They sum whole numbers.\n"
        "                  1 of them: Nothing orders them.\n");
  CHECK(counted({held("1", whole), held("2", whole)}) ==
        "  ✓ VALUES.EQUAL  2 hold\n"
        "                  They sum whole numbers.\n");
}

TEST_CASE("checks: in full, the caveat comes after the message") {
  CHECK(checks_text({held("They are equal.", "They sum whole numbers.")}, Style()) ==
        "  ✓ VALUES.EQUAL  /expect/0  They are equal. They sum whole numbers.\n");
}

TEST_CASE("checks: those that do not hold are apart from those that hold, and count with these") {
  const std::vector<Check> checks = {
      held("1"),
      {"VALUES.EQUAL", Verdict::Fails, "/expect/1", "They differ.", {{"device", "1"}}},
      {"LEAK.FREE", Verdict::Undecided, "", "It is not known.", {}},
      held("2")};
  CHECK(checks_that_do_not_hold(checks, Style()) ==
        "  ✗ VALUES.EQUAL  /expect/1  They differ.\n"
        "      device: 1\n"
        "  ? LEAK.FREE                It is not known.\n");
  CHECK(counted(checks) == "  ✓ VALUES.EQUAL  2 of 3 hold\n");
  CHECK(checks_that_hold(checks, Style(), ShownChecks::All) ==
        "  ✓ VALUES.EQUAL  /expect/0  1\n"
        "  ✓ VALUES.EQUAL  /expect/0  2\n");
}

}  // namespace
}  // namespace orrery
