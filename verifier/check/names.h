#pragma once

// Every check a run can make: its hierarchical name in the report, and what it promises.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/base/quantity.h"
#include "models/base/verdict.h"
#include "models/program/op.h"
#include "verifier/report.h"

namespace orrery {

enum class CheckKind : uint8_t {
  DeadlockFree,
  OrderAgreed,
  RouteLeft,
  RaceFree,
  DonationUse,
  LeakFree,
  FutureDoneOnce,
  FutureUse,
  MemoryCapacity,
  ScheduleDigest,
  ScheduleProved,
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

/// A check that holds, with `message`, or with its promise where there is none.
Check passed(CheckKind kind, std::string of, std::string message = {});
Check failed(CheckKind kind, std::string of, std::string message, Witness witness = {});

/// Where an op stands in its document: its JSON pointer, or its quoted name where it was not read
/// from one.
std::string pointer_of(const Op& op);

/// The name in double quotes.
std::string quoted(std::string_view name);

/// An amount and the limit that it breaks, as text; with all digits where the rounded texts would
/// be equal.
std::pair<std::string, std::string> told_apart(Bytes amount, Bytes limit);
std::pair<std::string, std::string> told_apart(Duration amount, Duration limit);

}  // namespace orrery
