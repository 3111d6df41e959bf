// Feeds the fuzz targets the committed corpus, which has every input that fuzzing found to fail,
// under each build's compiler and sanitizers.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/fuzz/targets.h"

namespace orrery::test {
namespace {

/// Runs the target on each file of its corpus. Returns the number of files.
size_t feed(const std::string& corpus, void (*target)(std::string_view)) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ORRERY_SOURCE_ROOT) +
                                                               "/tests/fuzz/corpus/" + corpus))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    CAPTURE(path);
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    CHECK_NOTHROW(target(text.str()));
  }
  return paths.size();
}

TEST_CASE("corpus: scenarios are read, or refused with an error") {
  CHECK(feed("scenario", fuzz_scenario) > 0);
  CHECK(feed("run", fuzz_scenario) > 0);
}

TEST_CASE("corpus: laws are read and make scenarios, or are refused with an error") {
  CHECK(feed("law", fuzz_law) > 0);
}

TEST_CASE("corpus: HLO shardings are read and printed alike, or are refused with an error") {
  CHECK(feed("hlo_sharding", fuzz_hlo_sharding) > 0);
}

TEST_CASE("corpus: queries about shardings are answered") {
  CHECK(feed("sharding_query", fuzz_sharding_query) > 0);
}

TEST_CASE("corpus: queries about MPMD meshes and arrays are answered") {
  CHECK(feed("mpmd_query", fuzz_mpmd_query) > 0);
}

TEST_CASE("corpus: MSCCL algorithms are read, or refused with an error") {
  CHECK(feed("msccl", fuzz_msccl) > 0);
}

TEST_CASE("corpus: tables of nccl-tests are read, or refused with an error") {
  CHECK(feed("nccl_tests", fuzz_nccl_tests) > 0);
}

TEST_CASE("corpus: programs run as they promise, or are refused with an error") {
  CHECK(feed("run", fuzz_run) > 0);
}

}  // namespace
}  // namespace orrery::test
