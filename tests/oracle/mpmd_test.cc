// Compares the answers to queries about MPMD meshes and arrays with JaxPP's
// (tests/data/mpmd/README.md).

#include <map>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/scenario/queries.h"
#include "tests/oracle/corpus.h"

namespace orrery::test {
namespace {

/// Returns the answer with true in the place of each error's text.
nlohmann::json without_texts(nlohmann::json answer) {
  if (answer.is_object() && answer.contains("error")) {
    CHECK(answer["error"].is_string());
    answer["error"] = true;
  }
  for (nlohmann::json& inner : answer)
    if (inner.is_structured())
      inner = without_texts(std::move(inner));
  return answer;
}

TEST_CASE("MPMD: 2,200 answers are JaxPP's") {
  std::map<std::string, int> kinds;  // of queries with an answer, and with an error
  std::string differing;
  int differ = 0;
  for (const std::string& line :
       lines_of(std::string(ORRERY_SOURCE_ROOT) + "/tests/data/mpmd/queries.jsonl.gz")) {
    const nlohmann::json both = nlohmann::json::parse(line);
    const std::string query = both["query"].dump();
    const nlohmann::json& theirs = both["answer"];
    const QueryAnswer answer = answer_mpmd_query(query, {});
    const nlohmann::json ours = without_texts(nlohmann::json::parse(answer.line));
    ++kinds[both["query"]["kind"].get<std::string>() + (theirs.contains("error") ? " error" : "")];
    constexpr int kMostShown = 5;
    if ((ours != theirs || !answer.is_query) && ++differ <= kMostShown)
      differing += query + "\n  ours:   " + answer.line + "\n  theirs: " + theirs.dump() + "\n";
  }
  CHECK_MESSAGE(differ == 0, differ << " answers differ, as of\n" << differing);
  CHECK(kinds == std::map<std::string, int>{{"array", 464},
                                            {"array error", 136},
                                            {"group_by_size", 200},
                                            {"interleaved_order", 200},
                                            {"mesh", 300},
                                            {"ops", 357},
                                            {"ops error", 43},
                                            {"sharding", 337},
                                            {"sharding error", 63},
                                            {"threshold", 100}});
}

}  // namespace
}  // namespace orrery::test
