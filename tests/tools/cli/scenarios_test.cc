// Tests that the expectations of the project's scenarios hold.

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Returns whether the file's first line says that it fails on purpose.
bool fails_on_purpose(const std::string& file) {
  return text_of(file).find("// Fails on purpose: ") == 0;
}

TEST_CASE("run: every scenario of the project holds, but for those that fail on purpose") {
  size_t failing = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(in_tree("scenarios"))) {
    const std::string file = entry.path().string();
    if (entry.path().extension() != ".json" || file.find(".schema.json") != std::string::npos)
      continue;
    const bool fails = fails_on_purpose(file);
    failing += fails ? 1 : 0;
    const Ran run = ran({"run", file});
    INFO(file << "\n" << run.out << run.err);
    CHECK(run.outcome == (fails ? Outcome::Fails : Outcome::Holds));
  }
  CHECK(failing > 0);
}

}  // namespace
}  // namespace orrery::test
