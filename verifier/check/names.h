#pragma once

// This folder has the checks of a program and its run: does it end, do threads agree, are there
// races, does memory suffice, are values right. To read it, begin here.
//  - A check is a function that returns a Check (verdict.h), made by passed(), failed() or
//    undecided(). A check that fails has a witness: the smallest example, as rows of text.
//  - This file has the table of all kinds of checks. A kind has a name, such as DEADLOCK.FREE, and
//    a promise: the property that it states. Reports, expectations and documentation use the names.
//  - checks.h has the checks that need no values. Some need only the program: the order of
//    collectives, futures and donated storage, the inside of an mpmd_map. Some walk the lowered
//    schedules without time: deadlock, lost routes, sends that must be buffered. Others judge the
//    memory and the digests of a run.
//  - values.h compares the values of collectives with the definitions of definition/.
//  - step_races.h looks for races inside one schedule. prove/ uses it.
// More checks are in prove/, ragged/, gpus/ and expect/. run.cc calls them; only tools/import makes
// RUNTIME.LIMITS. To add a check, add a kind here, its row in names.cc, and a call in run.cc.

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
  StreamsOrdered,
  RouteLeft,
  TablesAgreed,
  RaceFree,
  DonationUse,
  LeakFree,
  FutureDoneOnce,
  FutureUse,
  MemoryCapacity,
  SpaceCapacity,
  MemoryArena,
  MemoryGuards,
  ScheduleDigest,
  ScheduleProved,
  RuntimeLimits,
  ValuesGpus,
  ValuesOracle,
  MpmdReplicas,
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

/// Returns the table, in the order of CheckKind.
std::span<const CheckInfo> all_checks();
const CheckInfo& info(CheckKind kind);

using Witness = std::vector<std::pair<std::string, std::string>>;

/// Returns how many of a cycle's `count` rows a witness shows: all up to eight, else the first
/// seven.
size_t rows_shown(size_t count);
/// Adds a row that says how many rows are not shown, if any.
void add_row_of_rest(Witness& witness, size_t count);

/// Returns a check that holds. By default, its message is the property that it states.
Check passed(CheckKind kind, std::string of, std::string message = {}, std::string caveat = {});
Check failed(CheckKind kind, std::string of, std::string message, Witness witness = {});
/// Returns a check that cannot be decided; `message` says why.
Check undecided(CheckKind kind, std::string of, std::string message, Witness witness = {});

/// Returns the position of an op in its document: its JSON pointer, or its quoted name if it was
/// not read from a document. An op of a backward pass has both, since its pointer is that of
/// another op.
std::string pointer_of(const Op& op);

/// Returns the name in double quotes.
std::string quoted(std::string_view name);
inline std::string quoted_name(const Op& op) {
  return quoted(given_name(op));
}

/// Returns an amount and the limit that it exceeds, as texts. The texts have all digits if the
/// rounded ones would be equal.
std::pair<std::string, std::string> told_apart(Bytes amount, Bytes limit);
std::pair<std::string, std::string> told_apart(Duration amount, Duration limit);

}  // namespace orrery
