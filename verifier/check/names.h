#pragma once

// Every check that a run can make: its hierarchical name in the report, and the property that it
// states.

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
/// Where not all are shown, the row after them: how many more there are.
void add_row_of_rest(Witness& witness, size_t count);

/// A check that holds, with `message`, or by default the property that it states.
Check passed(CheckKind kind, std::string of, std::string message = {}, std::string caveat = {});
Check failed(CheckKind kind, std::string of, std::string message, Witness witness = {});
/// `message` says why.
Check undecided(CheckKind kind, std::string of, std::string message, Witness witness = {});

/// The position of an op in its document: its JSON pointer, or its quoted name if it was not read
/// from one. Of an op of a backward pass, whose position another op has, both.
std::string pointer_of(const Op& op);

/// The name in double quotes.
std::string quoted(std::string_view name);

/// An amount and the limit that it exceeds, as text; with all digits if the rounded texts would be
/// equal.
std::pair<std::string, std::string> told_apart(Bytes amount, Bytes limit);
std::pair<std::string, std::string> told_apart(Duration amount, Duration limit);

}  // namespace orrery
