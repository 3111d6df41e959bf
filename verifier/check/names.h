#pragma once

// The table of the checks that a run can make, and what makes a Check (verdict.h) of each kind. A
// check is a function that returns passed(), failed() or undecided(). Its name in reports, such as
// DEADLOCK.FREE, is hierarchical, and its promise is the property that it states. The functions are
// in the other files of this folder, in prove/, ragged/, gpus/ and expect/.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/base/quantity.h"
#include "models/program/op.h"
#include "verifier/verdict.h"

namespace orrery {

enum class CheckKind : uint8_t {
  DeadlockFree,
  SendsUnbuffered,
  SendsBuffered,
  OrderAgreed,
  RouteLeft,
  TablesAgreed,
  RaceFree,
  DonationUse,
  LeakFree,
  FutureDoneOnce,
  FutureUse,
  MemoryCapacity,
  MemoryArena,
  MemoryGuards,
  ScheduleDigest,
  ScheduleProved,
  RuntimeLimits,
  ValuesGpus,
  ValuesOracle,
  ValuesEqual,
  ValuesClose,
  ValuesLiteral,
  TimeMakespan,
  MemoryPeak,
  PropertyHolds,
};

struct CheckInfo {
  CheckKind kind;
  std::string_view name;      // "DEADLOCK.FREE"
  std::string_view promises;  // one sentence
};

/// The table, in the order of CheckKind.
std::span<const CheckInfo> all_checks();
const CheckInfo& info(CheckKind kind);

using Witness = std::vector<std::pair<std::string, std::string>>;

/// How many of a cycle's `count` rows a witness shows: all up to eight, else the first seven.
size_t rows_shown(size_t count);
/// Adds a row that says how many rows are not shown, if any.
void add_row_of_rest(Witness& witness, size_t count);

/// A check that holds. By default, its message is the property that it states.
Check passed(CheckKind kind, std::string of, std::string message = {}, std::string caveat = {});
Check failed(CheckKind kind, std::string of, std::string message, Witness witness = {});
/// A check that cannot be decided; `message` says why.
Check undecided(CheckKind kind, std::string of, std::string message, Witness witness = {});

/// The position of an op in its document: its JSON pointer, or its quoted name if it was not read
/// from one. An op of a backward pass has both, since its pointer is that of another op.
std::string pointer_of(const Op& op);

/// The name in double quotes.
std::string quoted(std::string_view name);

/// An amount and the limit that it exceeds, as texts. They have all digits if the rounded texts
/// would be equal.
std::pair<std::string, std::string> told_apart(Bytes amount, Bytes limit);
std::pair<std::string, std::string> told_apart(Duration amount, Duration limit);

}  // namespace orrery
