// replay_corpus DISAGREE ABORTED CORPUS... replays corpora that tools/oracle wrote. It prints a
// table of the ops of the programs without a transform. For each corpus, it prints how many
// programs ran, how many disagree, and on how many XLA aborts. The programs on which XLA aborts are
// files in the folder of ABORTED that is named like the corpus. Each program with a result that
// disagrees with JAX's is written to such a folder in DISAGREE, as a scenario that expects JAX's
// result; the exit status is then 1.

#include <algorithm>
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

namespace fs = std::filesystem;

/// `Figures` are the counts of one corpus.
struct Figures {
  size_t ran = 0;
  size_t disagree = 0;
  Compared compared;
};

class Corpora {
 public:
  explicit Corpora(fs::path disagree) : disagree_(std::move(disagree)) {}

  Figures replay_all(const fs::path& corpus) {
    const std::vector<std::string> lines = lines_of(corpus.string());
    Figures figures{lines.size(), 0, {}};
    for (size_t i = 0; i < lines.size(); ++i) {
      bool agrees = true;
      for (const Numerics numerics : numerics_of(lines[i])) {
        const bool xla = numerics == Numerics::XlaCpu;
        const std::string name = fmt::format("program-{}{}.json", i, xla ? "-xla-cpu" : "");
        const fs::path file = disagree_ / corpus.stem() / name;
        agrees = replay_one(read_case(lines[i], i, numerics), file, figures.compared) && agrees;
      }
      figures.disagree += agrees ? 0 : 1;
    }
    return figures;
  }

  /// Returns the coverage by programs without a transform.
  const Coverage& coverage() const { return coverage_; }

 private:
  /// Returns whether the program agrees with JAX. If not, writes its scenario to `file`.
  bool replay_one(const Case& made, const fs::path& file, Compared& compared) {
    const auto disagrees = [&](const std::string& scenario, const std::string& what) {
      fs::create_directories(file.parent_path());
      std::ofstream(file) << scenario;
      fmt::print("{}: {}\n", file.string(), what);
      return false;
    };
    try {
      const Replay found = replay(made);
      if (made.numerics == Numerics::XlaCpu && !made.transformed)
        coverage_.add(found.report.scenario->program);
      compared.add(found.compared);
      if (found.disagreements.empty())
        return true;
      const Disagreement& first = found.disagreements.front();
      return disagrees(
          first.expected == nullptr ? made.scenario : with_expectation(made, *first.expected),
          first.what);
    } catch (const InputError& error) {
      return disagrees(made.scenario, error.what());
    }
  }

  fs::path disagree_;
  Coverage coverage_;
};

/// Returns how many programs tools/oracle wrote to the folder. Beside each is the message of XLA.
size_t programs_in(const fs::path& folder) {
  if (!fs::exists(folder))
    return 0;
  return static_cast<size_t>(
      std::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
                    [](const auto& entry) { return entry.path().extension() == ".json"; }));
}

int replay_corpora(const fs::path& disagree, const fs::path& aborted,
                   const std::vector<fs::path>& files) {
  Corpora corpora(disagree);
  std::string lines;
  bool all_agree = true;
  for (const fs::path& corpus : files) {
    const Figures figures = corpora.replay_all(corpus);
    const Compared& compared = figures.compared;
    all_agree = all_agree && figures.disagree == 0;
    lines += fmt::format(
        "{}: {} ran, {} disagree, XLA aborts on {} more. Types: {} compared. Elements: {} equal, "
        "{} "
        "within bounds, {} undecided (their bounds are as large as they are).\n",
        corpus.stem().string(), figures.ran, figures.disagree, programs_in(aborted / corpus.stem()),
        compared.types, compared.by_bits, compared.within_bounds, compared.undecided);
  }
  if (corpora.coverage().cells() > 0)
    fmt::print("{}", corpora.coverage().table());
  fmt::print("{}", lines);
  return all_agree ? 0 : 1;
}

}  // namespace
}  // namespace orrery::test

int main(int count, char** arguments) {
  if (count < 4) {
    fmt::print(stderr, "usage: replay_corpus DISAGREE ABORTED CORPUS...\n");
    return 2;
  }
  try {
    return orrery::test::replay_corpora(arguments[1], arguments[2],
                                        {arguments + 3, arguments + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "replay_corpus: {}\n", error.what());
    return 3;
  }
}
