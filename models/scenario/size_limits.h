#pragma once

// These limits bound the size of a scenario. Each is checked as soon as the number that it limits
// is known: most of them before time or memory is spent, `state` and `runs` during the run.
// Exceeding one is an error of the input that names the limit. The table in size_limits.cc states
// how much memory a run takes at most for each unit of a limit.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// The limits that the user may set (--limit NAME=VALUE); all_limits() has the names.
struct Limits {
  int64_t file = int64_t{64} << 20;    // bytes of a file
  int64_t nesting = 64;                // of lists and objects
  int64_t values = int64_t{8} << 20;   // JSON values, or XML elements, in a file
  int64_t text = int64_t{1} << 10;     // bytes of a key, a name, any other text in a file
  int64_t devices = int64_t{1} << 20;  // of a cluster
  int64_t links = int64_t{1} << 22;    // of a cluster
  int64_t ops = int64_t{1} << 18;      // over all programs of a scenario, and iterations of loops
  int64_t device_ops = int64_t{1} << 25;  // ops times their devices: their times and replica groups
  /// This limits the steps of all schedules, each counted once. It also limits the steps that are
  /// run, in all iterations that are timed or computed one by one.
  int64_t steps = int64_t{1} << 32;
  int64_t state = int64_t{2} << 30;   // bytes of memory for what runs at the same time
  int64_t runs = int64_t{1} << 28;    // of ops in iterations that are timed or computed one by one
  int64_t data = int64_t{4} << 30;    // bytes of all values on all devices, where data is moved
  int64_t blocks = int64_t{1} << 20;  // of an MSCCL algorithm: its gpus times the most of one
  int64_t clocks = int64_t{1} << 28;  // its thread blocks times its steps: what finds its races
  int64_t points = 100'000;           // of a plan, "where" not yet regarded
};

/// Slack and proofs look at single steps only if a program has at most this many.
inline constexpr int64_t kStepsLookedAt = 1'000'000;

/// It is remembered when so many runs of ops in loops happened. If more are timed one by one, there
/// is no critical path.
inline constexpr int64_t kRunsRemembered = int64_t{1} << 21;

struct LimitInfo {
  std::string_view name;
  int64_t Limits::*value;
  std::string_view of;  // as in "at most 64 ...": "levels of nesting"
  bool bytes = false;   // whether it counts bytes
  int64_t memory = 0;   // bytes that a run without data takes at most for each that it counts
  int64_t most = 0;     // what it may be set to: what our ids and offsets can number
};

/// Returns every limit, in the order of Limits.
std::span<const LimitInfo> all_limits();

/// Returns the most bytes of memory of a run without data whose input reaches all these limits.
int64_t most_memory(const Limits& limits);

/// Returns the limit as a user writes it: "64 MiB", "1048576".
std::string limit_text(const LimitInfo& limit, const Limits& limits);

/// Returns "expected at most 64 levels of nesting, got GOT (--limit nesting=N allows more)".
std::string beyond(const Limits& limits, int64_t Limits::*limit, std::string_view got);
std::string beyond(const Limits& limits, int64_t Limits::*limit, int64_t got);

// No option raises these limits, since the simulator's types depend on them.

inline constexpr int64_t kMostMeshAxes = 64;

// Links share in units of 1/27,720 B/s, so 63 bits hold this many whole bytes per second.
inline constexpr int64_t kMostBandwidth = std::numeric_limits<int64_t>::max() / 27'720;

}  // namespace orrery
