// Compares the answers to queries about shardings with JAX's (tests/data/shardings/README.md).

#include <map>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/scenario/sharding_query.h"
#include "tests/oracle/corpus.h"

namespace orrery::test {
namespace {

using nlohmann::json;

/// Returns our answer without the members that JAX's lacks, where the README names a rule by which
/// they differ, and with the stage alone of an error.
json comparable(json ours, const json& query, const json& theirs) {
  if (ours.contains("error"))
    ours["error"].erase("message");
  const bool unreduced = query.contains("unreduced") && !query["unreduced"].empty();
  if (unreduced && !theirs.contains("index")) {  // 12.5: JAX has no index map of unreduced arrays
    ours.erase("index");
    ours.erase("replica_ids");
  }
  return ours;
}

/// Compares each line of a file. Returns how many had an error of each stage ("" is none).
std::map<std::string, int> compared(const std::string& file) {
  std::map<std::string, int> stages;
  std::string differing;
  int differ = 0;
  for (const std::string& line :
       lines_of(std::string(ORRERY_SOURCE_ROOT) + "/tests/data/shardings/" + file)) {
    const json both = json::parse(line);
    const std::string query = both["query"].dump();
    const json& theirs = both["answer"];
    const json ours =
        comparable(json::parse(answer_sharding_query(query, {}).line), both["query"], theirs);
    ++stages[theirs.contains("error") ? theirs["error"]["stage"].get<std::string>() : ""];
    constexpr int kMostShown = 5;
    if (ours != theirs && ++differ <= kMostShown)
      differing += query + "\n  ours:   " + ours.dump() + "\n  theirs: " + theirs.dump() + "\n";
  }
  CHECK_MESSAGE(differ == 0, file << ": " << differ << " answers differ, as of\n" << differing);
  return stages;
}

TEST_CASE("shardings: 4,100 answers are JAX's") {
  const std::map<std::string, int> stages = compared("queries.jsonl.gz");
  CHECK(stages == std::map<std::string, int>{{"", 3159},
                                             {"hlo", 131},
                                             {"map", 266},
                                             {"mesh", 70},
                                             {"shape", 143},
                                             {"sharding", 172},
                                             {"spec", 159}});
}

TEST_CASE("shardings: 1,000 corrected specs are those of get_corrected_named_sharding") {
  const std::map<std::string, int> stages = compared("corrected.jsonl.gz");
  CHECK(stages == std::map<std::string, int>{{"", 990}, {"sharding", 10}});
}

}  // namespace
}  // namespace orrery::test
