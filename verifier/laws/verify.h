#pragma once

// This folder verifies laws (models/scenario/law.h): scenarios with names that stand for values.
//  1. law_case.h draws a case: a value for each name, and what else the law leaves open. A case
//     follows from the law's text, the seed and its number alone.
//  2. verify.cc makes the scenario of the case and runs it. The case fails if a check fails.
//     Several threads take the numbers in turn. The verdict is that of the failing case with the
//     lowest number, so it does not depend on the threads.
//  3. shrink.cc makes that case small: it takes one drawn value after the other nearer to the
//     plainest one, and keeps what still fails with the same check.
//  4. The small case is written as a scenario, read again and run once more, so that the file
//     which a user gets fails as the case did.
// Nothing here knows files: tools/cli reads laws and writes counterexamples.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/callable.h"
#include "models/scenario/law.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/values/values.h"
#include "verifier/laws/law_case.h"
#include "verifier/verdict.h"

namespace orrery {

struct LawOptions {
  uint64_t cases = 100;
  uint64_t seed = 0;
  std::optional<uint64_t> only = {};  // the number of the only case that is run
  unsigned jobs = 1;                  // threads; the verdict does not depend on it
  Limits limits = {};
  /// These are as in RunOptions. With several jobs, several threads call `replace_schedule`.
  ReplaceSchedule replace_schedule = nullptr;
  HostKernels kernels = {};
  /// If it is given, it is told the number of cases that have run, from time to time, by one thread
  /// at a time.
  std::function<void(uint64_t cases)> progress = {};
  /// If it is given, a case for which it returns true is drawn but not run: it is known to hold.
  /// Several threads call it.
  std::function<bool(uint64_t number)> known_to_hold = {};
};

/// A Counterexample is a case in which a check fails.
struct Counterexample {
  uint64_t number = 0;  // of the case
  std::vector<TemplateValue> drawn;
  std::vector<TemplateValue> least;  // of the small case
  bool ended_early = false;          // a smaller case may fail too (Shrunk::ended_early)
  Check check;                       // as it fails in the small case
  /// The subject of that check where the small case is written as a scenario and read again. It
  /// is another one if it is an op and the law has a transform: the scenario has the program that
  /// transforms made, with a place for each op.
  std::string of_written;
  std::shared_ptr<const Scenario> scenario;  // of the small case
};

/// An UndecidedCase is a case in which no check fails, and one is undecided.
struct UndecidedCase {
  uint64_t number = 0;
  Check check;
};

/// DrawnValues sum up what was drawn for a name in all cases.
struct DrawnValues {
  // These are the least and the greatest number, or length of a list. A choice has none.
  std::optional<int64_t> least = {};
  std::optional<int64_t> most = {};
  std::vector<uint64_t> chosen = {};  // per choice: how often
};

struct LawVerdict {
  Verdict verdict = Verdict::Holds;
  uint64_t cases = 0;      // that ran; the last one is the one that failed
  uint64_t undecided = 0;  // of these
  std::optional<UndecidedCase> first_undecided = {};
  std::vector<DrawnValues> drawn = {};  // per name of the law
  std::optional<Counterexample> counterexample = {};
};

/// Runs the cases in order until one fails. Throws InputError if the law is wrong, or admits less
/// than one in ten of the values drawn, of which 2,000 are judged at least. It also throws if a
/// case is no scenario that can run; the message then has the drawn values.
LawVerdict verify(const Law& law, const LawOptions& options = {});

/// A law's cases are run in blocks by those who share the work: block B begins with case
/// B * kCasesOfBlock.
inline constexpr uint64_t kCasesOfBlock = 50;

/// A CaseBlock is what came of a block, as numbers of its cases. The others hold, up to the end.
struct CaseBlock {
  std::vector<uint64_t> undecided;
  /// The first case that fails, or is no scenario that can run. No case beyond it was run, since
  /// verify() does not go beyond it either.
  std::optional<uint64_t> end;
};

/// Runs blocks, of which the last of a law may have fewer cases. `blocks` ascends. Blocks beyond
/// one with an end may be left out. Tells `done` of each block, by one thread at a time; what it
/// throws is thrown.
void run_blocks(const Law& law, const LawOptions& options, const std::vector<uint64_t>& blocks,
                FunctionRef<void(uint64_t block, const CaseBlock& found)> done);

/// A BuiltinLaw is a law of scenarios/laws, as the executable has it.
struct BuiltinLaw {
  std::string_view id;  // "L01"
  std::string_view json;
};

/// Returns the built-in laws, by id.
std::span<const BuiltinLaw> builtin_laws();

// shrink.cc makes a failing case of a law small: numbers least, choices the first, lists short,
// permutations the identity, the cluster plain, and elements of arrays 0 or 1, as long as the same
// check fails at the same place. Where no value alone can be made simpler, two at once are tried.
// The search is greedy and draws nothing, so the same case gives the same result.

struct Shrunk {
  LawCase least;
  Scenario scenario;  // of that case; arrays with drawn elements are given per device
  Check check;        // as it fails there
  bool ended_early;   // not all were tried: the tries were spent, or elements are too many
};

/// Runs a scenario, and returns the check of that name and place if it fails.
using StillFails = FunctionRef<std::optional<Check>(const Scenario& scenario)>;

/// At most so many smaller cases are tried. A case with more than kBytesOfTry of data counts as
/// several. If all arrays together have more than kMostShrunk elements, these stay as drawn.
inline constexpr int64_t kMostTries = 2000;
inline constexpr int64_t kBytesOfTry = 1 << 18;
inline constexpr size_t kMostShrunk = 4096;

/// Returns the smallest case found. `check` is what fails in `failing`.
Shrunk shrunk(const Law& law, LawCase failing, Check check, StillFails still_fails);

}  // namespace orrery
