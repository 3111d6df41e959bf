// Tests that nothing in the code may break the promise that the same input gives the same bytes.

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/structure/source_tree.h"

namespace orrery::test {
namespace {

bool begins_with_any(const std::string& path, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
    return path.compare(0, prefix.size(), prefix) == 0;
  });
}

/// Returns the code of each file, without comments and literals.
const std::vector<SourceFile>& code_files() {
  static const std::vector<SourceFile> files = [] {
    std::vector<SourceFile> code = source_files({".h", ".cc"});
    for (SourceFile& file : code)
      file.text = code_only(file.text);
    return code;
  }();
  return files;
}

/// Returns the files with a match in their code (comments and literals excluded), each with the
/// match.
std::string uses(const std::string& pattern, const std::vector<std::string>& within,
                 const std::vector<std::string>& but = {}) {
  const std::regex regex(pattern);
  std::string found;
  for (const SourceFile& file : code_files()) {
    if (!begins_with_any(file.path, within) || begins_with_any(file.path, but))
      continue;
    std::smatch match;
    if (std::regex_search(file.text, match, regex))
      found += file.path + ": " + match.str() + "\n";
  }
  return found;
}

const std::vector<std::string> kEverywhere = {"models/", "simulator/", "verifier/", "tools/",
                                              "tests/"};
const std::vector<std::string> kProduct = {"models/", "simulator/", "verifier/", "tools/"};

TEST_CASE("banned words: the scan skips comments and literals, and nothing else") {
  CHECK(code_only("a // b\nc /* d */ e \"f\\\"g\" 'h' 1'000 i") == "a \nc  e   1'000 i");
  CHECK(code_only("a R\"x(b \" )\" )x\" c") == "a  c");
  CHECK(uses("TEST_CASE\\(", {"tests/tools/structure/banned_words_test.cc"}) != "");
}

TEST_CASE("banned words: randomness comes only from the seeded generator") {
  CHECK(uses("\\b(rand|srand|drand48)\\s*\\(|random_device|mt19937|std::shuffle|random_shuffle",
             kEverywhere) == "");
}

TEST_CASE("banned words: no clock is read") {
  // Benchmarks measure, which is their purpose. A fitted figure says on which day it was fitted. A
  // line of progress on a terminal has a rate.
  CHECK(uses("system_clock|steady_clock|high_resolution_clock|gettimeofday|clock_gettime|\\btime\\("
             "nullptr\\)",
             kProduct,
             {"tools/bench/", "tools/cli/calibrated_file.cc", "tools/cli/terminal.cc"}) == "");
}

TEST_CASE("banned words: no order depends on hashes") {
  CHECK(uses("unordered_(map|set|multimap|multiset)", kProduct) == "");
}

TEST_CASE("banned words: simulated time is whole numbers") {
  CHECK(uses("\\b(double|float)\\b",
             {"simulator/time/", "simulator/network/", "simulator/schedule/"}) == "");
}

TEST_CASE("banned words: only the terminal reads the environment") {
  CHECK(uses("\\bgetenv\\b", kProduct, {"tools/cli/terminal.cc"}) == "");
}

TEST_CASE("banned words: nothing below tools prints") {
  CHECK(uses("std::(cout|cerr|clog)|\\b(printf|puts|fputs|fprintf)\\b|fmt::print",
             {"models/", "simulator/", "verifier/"}) == "");
}

TEST_CASE("banned words: no postponed work") {
  // Such notes are in comments, so the whole text is searched.
  std::string found;
  const std::regex later(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X)\\b");
  for (const SourceFile& file : source_files({".h", ".cc"}))
    if (std::regex_search(file.text, later))
      found += file.path + "\n";
  CHECK(found == "");
}

}  // namespace
}  // namespace orrery::test
