#pragma once

// The words and figures that reports share: names of enumerators and types; shares, counts and
// ranges of times as people read them. Doubles are only for display. models/base/amount_text.h has
// the texts of single quantities.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/base/amount_text.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/time/completion.h"
#include "verifier/check/names.h"
#include "verifier/report.h"
#include "verifier/verdict.h"

namespace orrery {

/// This is the device whose compute stream waits longest for collectives, the lowest id on a tie.
struct Exposed {
  LogicalId device;
  Duration exposed;
  size_t lists = 1;  // how many lists with ops the device runs; `exposed` is the sum over them
  double share = 0;  // exposed / (makespan * lists)
};

/// Returns the device that waits longest. The result is empty without times, or with a makespan of
/// 0.
std::optional<Exposed> most_exposed(const Report& report);

/// Returns the bytes that the link carried divided by those that it could carry in the makespan.
/// The result is empty without times, or with a makespan of 0.
std::optional<double> utilization(const Report& report, const LinkReport& link);

/// Returns `part` of `whole` in percent, one decimal: "12.5 %". Requires whole > 0.
std::string percent_text(Bytes part, Bytes whole);

/// Returns a fraction in percent: "12.5 %" for 0.125.
std::string share_text(double share);

/// Returns a number with commas between groups of three digits: "1,048,576".
std::string grouped(uint64_t number);

/// The least and the most of several times.
class Spread {
 public:
  /// Times are numbered from 0, in the order in which they are added.
  void add(Duration time);

  /// Returns whether the times differ as time_text() shows them.
  bool differs() const;
  /// Returns "3 us", or "3 us to 5 us" if they differ. Requires at least one time.
  std::string text(bool ascii) const;
  /// Returns the number of the longest time, the first on a tie.
  size_t longest() const { return longest_; }

 private:
  std::optional<Duration> least_;
  Duration most_;
  size_t longest_ = 0;
  size_t count_ = 0;
};

std::string_view name(HeldAs kind);  // "argument", "output", "temporary", "in_flight", "scratch"
std::string_view name(TimedBy timed_by);  // "sweep", "engine"
std::string_view name(Verdict verdict);   // "holds", "undecided", "fails"

/// Returns the verdict after a noun: "holds", "is undecided", "does not hold".
std::string_view in_words(Verdict verdict);

/// Returns "does not end", or "may not end" if that is undecided. Requires a Report or a RunRecord
/// without times.
template <class Run>
std::string_view no_end(const Run& run) {
  for (const auto& check : run.checks)
    if (check.name == info(CheckKind::DeadlockFree).name && check.verdict == Verdict::Undecided)
      return "may not end";
  return "does not end";
}

/// Returns the types of the op's results, in parentheses if there are several: "f32[2,3]{V:x,
/// U:y}". States are shown only for programs with checked types.
std::string types_text(const Scenario& scenario, const Op& op);

std::string digest_text(uint64_t digest);  // 16 hexadecimal digits

/// Returns the version of CUDA that the driver counts as 13000: "13.0".
std::string cuda_version_text(int version);

}  // namespace orrery
