#include "verifier/laws/verify.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "verifier/laws/law_case.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// Runs scenarios one after the other, whose equal schedules are made and proved once.
class Checker {
 public:
  explicit Checker(const LawOptions& options) {
    options_.limits = options.limits;
    options_.replace_schedule = options.replace_schedule;
    options_.kernels = options.kernels;
    options_.data = Data::On;
    options_.wanted = Wanted::Checks;
    options_.shared = shared_work();
  }

  std::vector<Check> checks_of(Scenario scenario) const {
    return run(std::move(scenario), options_).checks;
  }

 private:
  RunOptions options_;
};

/// Returns the first check with the worst verdict; nothing if all hold.
std::optional<Check> worst(const std::vector<Check>& checks) {
  const auto found =
      std::max_element(checks.begin(), checks.end(),
                       [](const Check& a, const Check& b) { return a.verdict < b.verdict; });
  return found == checks.end() || found->holds() ? std::nullopt : std::optional(*found);
}

/// Refuses a law that admits less than 1 of 10 draws, of which those of the cases are judged. If
/// these are few, more are drawn.
void check_refused(const Law& law, uint64_t refused, uint64_t cases, uint64_t seed) {
  constexpr uint64_t kMostOfTen = 9;
  constexpr uint64_t kFewestJudged = 2000;
  const auto many_refused = [&] { return refused * 10 > (refused + cases) * kMostOfTen; };
  if (const uint64_t all = refused + cases; many_refused() && all < kFewestJudged) {
    const uint64_t more = kFewestJudged - all;
    const uint64_t admitted = admitted_draws(law, seed, more);
    cases += admitted;
    refused += more - admitted;
  }
  if (const uint64_t all = refused + cases; many_refused())
    throw InputError(
        law.file(), {{law.where_origin(), fmt::format("expected at least 1 of 10 draws to meet it, "
                                                      "got {} of {}",
                                                      cases, all)}});
}

/// Runs a case. Returns its first check with the worst verdict; nothing if all hold.
std::optional<Check> check_of_case(const Law& law, const LawCase& drawn, const Checker& checker,
                                   DrawnClusters& clusters) {
  try {
    return worst(checker.checks_of(scenario_of(law, drawn, clusters)));
  } catch (const InputError& error) {
    throw with_values_told(law, drawn.values, error);
  } catch (const std::bad_alloc&) {
    throw with_values_told(
        law, drawn.values,
        InputError(law.file(), {{{}, "a case needs more memory than there is"}}));
  }
}

/// Runs the cases of a block in order.
CaseBlock run_block(const Law& law, const LawOptions& options, uint64_t block,
                    const Checker& checker, DrawnClusters& clusters) {
  CaseBlock found;
  const uint64_t first = block * kCasesOfBlock;
  for (uint64_t number = first; number < std::min(first + kCasesOfBlock, options.cases); ++number) {
    std::optional<Check> check;
    try {
      uint64_t refused = 0;
      check = check_of_case(law, drawn_case(law, options.seed, number, refused), checker, clusters);
    } catch (...) {
      found.end = number;  // verify() runs the case again, and throws what this is
      return found;
    }
    if (!check)
      continue;
    if (check->verdict == Verdict::Fails) {
      found.end = number;
      return found;
    }
    found.undecided.push_back(number);
  }
  return found;
}

/// Runs cases in several threads, up to the first in order that fails or is no scenario.
class CaseRunner {
 public:
  CaseRunner(const Law& law, const LawOptions& options)
      : law_(law),
        options_(options),
        first_(options.only.value_or(0)),
        results_(options.only ? 1 : options.cases),
        last_(results_.size()) {}

  void run() {
    run_in_threads(static_cast<unsigned>(std::min<size_t>(options_.jobs, results_.size())),
                   [this] { work(); });
    if (error_)
      std::rethrow_exception(error_);
    uint64_t refused = 0;
    for (const Result& result : results_)
      refused += result.refused;
    if (last_ == results_.size() && !options_.only)
      check_refused(law_, refused, results_.size(), options_.seed);
  }

  /// Returns the verdict without a counterexample.
  LawVerdict verdict() const {
    LawVerdict made;
    made.cases = std::min<uint64_t>(last_ + 1, results_.size());
    made.drawn.resize(law_.names().size());
    for (uint64_t c = 0; c < made.cases; ++c) {
      add_drawn(made.drawn, draw(c).values);
      const std::unique_ptr<const Check>& check = results_[c].worst;
      if (!check)
        continue;
      made.verdict = both(made.verdict, check->verdict);
      if (check->verdict == Verdict::Undecided && ++made.undecided == 1)
        made.first_undecided = {number(c), *check};
    }
    return made;
  }

  /// Returns the number of the case that failed, if one did, and the check that fails there.
  std::optional<uint64_t> failed() const {
    return last_ < results_.size() ? std::optional(number(last_)) : std::nullopt;
  }
  const Check& failing_check() const { return *results_[last_].worst; }

 private:
  struct Result {
    std::unique_ptr<const Check> worst;  // null if all hold
    uint64_t refused = 0;                // draws
  };

  uint64_t number(uint64_t c) const { return first_ + c; }
  LawCase draw(uint64_t c) const {
    uint64_t refused = 0;
    return drawn_case(law_, options_.seed, number(c), refused);
  }

  void add_drawn(std::vector<DrawnValues>& drawn, const std::vector<TemplateValue>& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::vector<TemplateValue>& choices = law_.draws()[i].choices();
      if (!choices.empty()) {
        drawn[i].chosen.resize(choices.size());
        const auto choice = std::find(choices.begin(), choices.end(), values[i]);
        ++drawn[i].chosen[static_cast<size_t>(choice - choices.begin())];
        continue;
      }
      const auto* number = std::get_if<int64_t>(&values[i].is);
      const int64_t measure =
          number != nullptr
              ? *number
              : static_cast<int64_t>(std::get<TemplateValue::List>(values[i].is).size());
      drawn[i].least = std::min(drawn[i].least.value_or(measure), measure);
      drawn[i].most = std::max(drawn[i].most.value_or(measure), measure);
    }
  }

  void work() {
    const Checker checker(options_);
    DrawnClusters clusters;
    for (size_t c = next_++; c < last_; c = next_++) {
      std::exception_ptr error;
      Result& result = results_[c];
      try {
        const LawCase drawn = drawn_case(law_, options_.seed, number(c), result.refused);
        const bool holds = options_.known_to_hold && options_.known_to_hold(number(c));
        if (std::optional<Check> check =
                holds ? std::nullopt : check_of_case(law_, drawn, checker, clusters))
          result.worst = std::make_unique<const Check>(std::move(*check));
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      ++ran_;
      if ((error || (result.worst && result.worst->verdict == Verdict::Fails)) && c < last_) {
        last_ = c;
        error_ = error;
      }
      if (options_.progress)
        options_.progress(ran_);
    }
  }

  const Law& law_;
  const LawOptions& options_;
  const uint64_t first_;  // the number of the first case
  std::vector<Result> results_;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> last_;
  std::mutex mutex_;
  uint64_t ran_ = 0;
  std::exception_ptr error_;
};

/// Returns the subject of the check in the scenario as it is written and read again.
std::string of_written(const Checker& checker, const Scenario& scenario, const Check& check,
                       const Limits& limits) {
  std::optional<std::string> same_name;
  try {
    for (const Check& each :
         checker.checks_of(read_scenario(scenario.file, write_scenario(scenario), limits))) {
      if (each.verdict != Verdict::Fails || each.name != check.name)
        continue;
      if (each.of == check.of)
        return check.of;
      same_name = same_name.value_or(each.of);
    }
  } catch (const InputError&) {
    // The written scenario may exceed limits that the law's cases keep.
  }
  return same_name.value_or(check.of);
}

Counterexample counterexample(const Law& law, uint64_t number, const LawCase& failing,
                              const Check& check, const LawOptions& options) {
  const Checker checker(options);
  Shrunk small = shrunk(law, failing, check, [&](const Scenario& scenario) {
    std::optional<Check> fails;
    for (Check& each : checker.checks_of(scenario))
      if (each.verdict == Verdict::Fails && each.name == check.name && each.of == check.of)
        fails = std::move(each);
    return fails;
  });
  std::string written = of_written(checker, small.scenario, small.check, options.limits);
  return {number,
          failing.values,
          std::move(small.least.values),
          small.ended_early,
          std::move(small.check),
          std::move(written),
          std::make_shared<const Scenario>(std::move(small.scenario))};
}

}  // namespace

LawVerdict verify(const Law& law, const LawOptions& options) {
  CaseRunner runner(law, options);
  runner.run();
  LawVerdict made = runner.verdict();
  if (const std::optional<uint64_t> failed = runner.failed()) {
    uint64_t refused = 0;
    made.counterexample =
        counterexample(law, *failed, drawn_case(law, options.seed, *failed, refused),
                       runner.failing_check(), options);
  }
  return made;
}

void run_blocks(const Law& law, const LawOptions& options, const std::vector<uint64_t>& blocks,
                FunctionRef<void(uint64_t block, const CaseBlock& found)> done) {
  std::atomic<size_t> next = 0;
  std::atomic<size_t> last = blocks.size();
  std::mutex mutex;
  std::exception_ptr error;
  run_in_threads(static_cast<unsigned>(std::min<size_t>(options.jobs, blocks.size())), [&] {
    const Checker checker(options);
    DrawnClusters clusters;
    for (size_t b = next++; b < last; b = next++) {
      const CaseBlock found = run_block(law, options, blocks[b], checker, clusters);
      const std::lock_guard lock(mutex);
      if (found.end)
        last = std::min<size_t>(last, b + 1);
      try {
        if (!error)
          done(blocks[b], found);
      } catch (...) {
        error = std::current_exception();
        last = 0;
      }
    }
  });
  if (error)
    std::rethrow_exception(error);
}

}  // namespace orrery
