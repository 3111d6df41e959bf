// replay_corpus CORPUS FOLDER: replays a corpus that tools/oracle wrote, and prints a table of what
// it covers. Each program of which a result disagrees with JAX's is written to FOLDER as a scenario
// that expects JAX's; then the exit status is 1.

#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "tests/oracle/coverage.h"
#include "tests/oracle/replay.h"

namespace orrery::test {
namespace {

int replay_corpus(const std::string& corpus, const std::filesystem::path& folder) {
  Coverage coverage;
  Compared compared;
  size_t disagreeing = 0;
  const std::vector<std::string> lines = lines_of(corpus);
  const auto replay_by = [&](size_t i, Numerics numerics) {
    const Case made = read_case(lines[i], i, numerics);
    const bool xla = numerics == Numerics::XlaCpu;
    const std::filesystem::path file =
        folder / fmt::format("program-{}{}.json", i, xla ? "-xla-cpu" : "");
    const auto disagrees = [&](const std::string& scenario, const std::string& what) {
      ++disagreeing;
      std::filesystem::create_directories(folder);
      std::ofstream(file) << scenario;
      fmt::print("{}: {}\n", file.string(), what);
    };
    try {
      const Replay found = replay(made);
      if (xla)
        coverage.add(found.report.scenario->program);
      compared.add(found.compared);
      if (!found.disagreements.empty()) {
        const Disagreement& first = found.disagreements.front();
        disagrees(
            first.expected == nullptr ? made.scenario : with_expectation(made, *first.expected),
            first.what);
      }
    } catch (const InputError& error) {
      disagrees(made.scenario, error.what());
    }
  };
  for (size_t i = 0; i < lines.size(); ++i)
    for (const Numerics numerics : numerics_of(lines[i]))
      replay_by(i, numerics);
  fmt::print("{}", coverage.table());
  fmt::print(
      "{} programs: {} disagree. Types: {} compared. Elements: {} equal, {} within bounds, {} "
      "undecided (their bounds are as large as they are).\n",
      lines.size(), disagreeing, compared.types, compared.by_bits, compared.within_bounds,
      compared.undecided);
  return disagreeing == 0 ? 0 : 1;
}

}  // namespace
}  // namespace orrery::test

int main(int count, char** arguments) {
  if (count != 3) {
    fmt::print(stderr, "usage: replay_corpus CORPUS FOLDER\n");
    return 2;
  }
  try {
    return orrery::test::replay_corpus(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "replay_corpus: {}\n", error.what());
    return 3;
  }
}
