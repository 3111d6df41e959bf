#include "verifier/laws/verify.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "verifier/laws/shrink.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// Runs scenarios one after the other, whose equal schedules are made and proved once.
class Checker {
 public:
  explicit Checker(const Limits& limits) {
    options_.limits = limits;
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

/// Says with which values a case is no scenario.
[[noreturn]] void refuse(const Law& law, const LawCase& drawn, const InputError& error) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  for (Diagnostic& each : diagnostics)
    each.message += fmt::format(" (with {})", values_text(law, drawn.values));
  throw InputError(law.file(), std::move(diagnostics));
}

/// Draws the cases that are asked for.
std::vector<LawCase> drawn_cases(const Law& law, const LawOptions& options) {
  uint64_t refused = 0;
  if (options.only)
    return {drawn_case(law, options.seed, *options.only, refused)};
  std::vector<LawCase> cases;
  for (uint64_t c = 0; c < options.cases; ++c)
    cases.push_back(drawn_case(law, options.seed, c, refused));
  // The corners say little of how often random values are refused.
  constexpr uint64_t kOfTen = 9;
  if (const uint64_t all = refused + options.cases; refused * 10 > all * kOfTen)
    throw InputError(law.file(),
                     {{{"/where", {}},
                       fmt::format("expected to meet at least 1 of 10 draws, got {} of {}",
                                   options.cases, all)}});
  return cases;
}

/// Runs cases in several threads, up to the first in order that fails or is no scenario.
class CaseRunner {
 public:
  CaseRunner(const Law& law, const LawOptions& options, const std::vector<LawCase>& cases)
      : law_(law), options_(options), cases_(cases), worst_(cases.size()), last_(cases.size()) {}

  void run() {
    std::vector<std::thread> threads;
    try {
      for (unsigned t = 1; t < options_.jobs && t < cases_.size(); ++t)
        threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // If the system has no more threads, fewer do the work.
    }
    work();
    for (std::thread& thread : threads)
      thread.join();
    if (error_)
      std::rethrow_exception(error_);
  }

  /// The first case that failed; the number of cases if none did.
  size_t first_failed() const { return last_; }
  const std::optional<Check>& worst(size_t c) const { return worst_[c]; }

 private:
  void work() {
    const Checker checker(options_.limits);
    for (size_t c = next_++; c < last_; c = next_++) {
      std::exception_ptr error;
      try {
        worst_[c] = run_case(checker, cases_[c]);
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      ++ran_;
      if ((error || (worst_[c] && worst_[c]->verdict == Verdict::Fails)) && c < last_) {
        last_ = c;
        error_ = error;
      }
      if (options_.progress)
        options_.progress(ran_);
    }
  }

  std::optional<Check> run_case(const Checker& checker, const LawCase& drawn) const {
    try {
      return orrery::worst(checker.checks_of(scenario_of(law_, drawn)));
    } catch (const InputError& error) {
      refuse(law_, drawn, error);
    }
  }

  const Law& law_;
  const LawOptions& options_;
  const std::vector<LawCase>& cases_;
  std::vector<std::optional<Check>> worst_;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> last_;
  std::mutex mutex_;
  uint64_t ran_ = 0;
  std::exception_ptr error_;
};

Counterexample counterexample(const Law& law, uint64_t number, const LawCase& failing,
                              const Check& check, const Limits& limits) {
  const Checker checker(limits);
  Shrunk small = shrunk(law, failing, check, [&](const Scenario& scenario) {
    std::optional<Check> fails;
    for (Check& each : checker.checks_of(scenario))
      if (each.verdict == Verdict::Fails && each.name == check.name && each.of == check.of)
        fails = std::move(each);
    return fails;
  });
  return {number, failing.values, std::move(small.least.values), std::move(small.check),
          std::make_shared<const Scenario>(std::move(small.scenario))};
}

}  // namespace

LawVerdict verify(const Law& law, const LawOptions& options) {
  const std::vector<LawCase> cases = drawn_cases(law, options);
  CaseRunner runner(law, options, cases);
  runner.run();
  LawVerdict made;
  const size_t failed = runner.first_failed();
  made.cases = std::min(failed + 1, cases.size());
  for (size_t c = 0; c < made.cases; ++c) {
    made.drawn.push_back(cases[c].values);
    const std::optional<Check>& check = runner.worst(c);
    if (!check)
      continue;
    made.verdict = both(made.verdict, check->verdict);
    if (check->verdict == Verdict::Undecided && ++made.undecided == 1)
      made.first_undecided = check;
  }
  if (failed < cases.size())
    made.counterexample = counterexample(law, options.only.value_or(failed), cases[failed],
                                         *runner.worst(failed), options.limits);
  return made;
}

}  // namespace orrery
