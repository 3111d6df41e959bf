// Tests that folders are the architecture: the order of subdir() in the meson.build files says
// which folder may include which.

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/structure/source_tree.h"

namespace orrery::test {
namespace {

struct Include {
  std::string by;     // "simulator/time/sweep.cc"
  std::string what;   // "models/base/id.h" or "vector"
  bool ours = false;  // in quotes
};

std::vector<Include> read_includes() {
  const std::regex line("(^|\n)#include ([\"<])([^\">]*)[\">]");
  std::vector<Include> found;
  std::vector<SourceFile> files = source_files({".h", ".cc"});
  files.push_back({"orrery.h", text_of(std::string(ORRERY_SOURCE_ROOT) + "/orrery.h")});
  for (const SourceFile& file : files)
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), line), end; it != end; ++it)
      found.push_back({file.path, (*it)[3], (*it)[2] == "\""});
  return found;
}

const std::vector<Include>& includes() {
  static const std::vector<Include> all = read_includes();
  return all;
}

/// Returns the first `levels` folders of a path: "simulator/time" of "simulator/time/sweep.cc" for
/// 2.
std::string folder(const std::string& path, size_t levels) {
  size_t at = 0;
  for (size_t l = 0; l < levels; ++l) {
    const size_t slash = path.find('/', at);
    if (slash == std::string::npos)
      return path.substr(0, at == 0 ? 0 : at - 1);
    at = slash + 1;
  }
  return path.substr(0, at - 1);
}

/// Returns the position of each folder in the order in which the build enters them.
std::map<std::string, size_t> ranks(const std::string& prefix, const std::string& meson) {
  std::map<std::string, size_t> rank;
  for (const std::string& name : subdirs(meson))
    rank.emplace(prefix + name, rank.size());
  return rank;
}

/// Returns the includes that point up, as "a.cc includes b.h".
std::string pointing_up(const std::map<std::string, size_t>& rank, size_t levels) {
  std::string wrong;
  for (const Include& include : includes()) {
    const auto by = rank.find(folder(include.by, levels));
    const auto what = rank.find(folder(include.what, levels));
    if (include.ours && by != rank.end() && what != rank.end() && what->second > by->second)
      wrong += include.by + " includes " + include.what + "\n";
  }
  return wrong;
}

/// Returns the files outside `allowed` (path prefixes) that include a header that begins with
/// `header`.
std::string included_elsewhere(const std::string& header, const std::vector<std::string>& allowed) {
  std::string wrong;
  for (const Include& include : includes()) {
    const bool may = std::any_of(allowed.begin(), allowed.end(), [&](const std::string& prefix) {
      return include.by.compare(0, prefix.size(), prefix) == 0;
    });
    if (include.what.compare(0, header.size(), header) == 0 && !may)
      wrong += include.by + " includes " + include.what + "\n";
  }
  return wrong;
}

TEST_CASE("include arrows: the scan finds the tree") {
  // This guards the tests below: a scan that finds nothing would let everything pass.
  CHECK(includes().size() > 300);
  const std::vector<std::string> top = subdirs("meson.build");
  CHECK(top == std::vector<std::string>{"models", "simulator", "verifier", "tools", "tests"});
  CHECK(folder("simulator/time/sweep.cc", 1) == "simulator");
  CHECK(folder("simulator/time/sweep.cc", 2) == "simulator/time");
}

TEST_CASE("include arrows: models <- simulator <- verifier <- tools <- tests") {
  CHECK(pointing_up(ranks("", "meson.build"), 1) == "");
}

TEST_CASE("include arrows: inside models, a folder sees those declared before it") {
  CHECK(pointing_up(ranks("models/", "models/meson.build"), 2) == "");
}

TEST_CASE("include arrows: inside simulator, a folder sees those declared before it") {
  CHECK(pointing_up(ranks("simulator/", "simulator/meson.build"), 2) == "");
}

TEST_CASE("include arrows: our headers are named from the root") {
  std::string wrong;
  for (const Include& include : includes())
    if (include.ours && !exists(include.what))
      wrong += include.by + " includes " + include.what + "\n";
  CHECK(wrong == "");
}

TEST_CASE("include arrows: users of the front door need no header of CUDA") {
  std::set<std::string> reached = {"orrery.h"};
  std::vector<std::string> next(reached.begin(), reached.end());
  while (!next.empty()) {
    const std::string by = next.back();
    next.pop_back();
    for (const Include& include : includes())
      if (include.ours && include.by == by && reached.insert(include.what).second)
        next.push_back(include.what);
  }
  CHECK(reached.contains("verifier/run.h"));
  std::string wrong;
  for (const std::string& header : reached)
    if (header.starts_with("simulator/values/cuda/"))
      wrong += header + "\n";
  CHECK(wrong == "");
}

TEST_CASE("include arrows: CUDA is seen in its folder only") {
  CHECK(included_elsewhere("cuda", {"simulator/values/cuda/"}) == "");
}

TEST_CASE("include arrows: each library is included only by the part that it serves") {
  CHECK(included_elsewhere("CLI/", {"tools/cli/options.h"}) == "");
  CHECK(included_elsewhere("nlohmann/", {"models/scenario/", "tools/reference/", "tools/report/",
                                         "tests/"}) == "");
  CHECK(included_elsewhere(
            "pugixml", {"tools/import/", "tools/report/junit.cc", "tools/report/sharding_svg.cc",
                        "tools/report/thresholds.cc", "tests/tools/report/junit_test.cc",
                        "tests/tools/report/sharding_text_test.cc"}) == "");
}

}  // namespace
}  // namespace orrery::test
