#pragma once

// The words that text and JSON reports share.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/id.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/time/completion.h"
#include "verifier/verdict.h"

namespace orrery {

std::string_view name(HeldAs kind);  // "argument", "output", "temporary", "in_flight", "scratch"
std::string_view name(TimedBy timed_by);  // "sweep", "engine"
std::string_view name(Verdict verdict);   // "holds", "undecided", "fails"

/// After a noun: "holds", "is undecided", "does not hold".
std::string_view in_words(Verdict verdict);

/// The types of the op's results, in parentheses where there are several: "f32[2,3]{V:x, U:y}".
/// Without checked types no state is known.
std::string types_text(const Scenario& scenario, const Op& op);

std::string digest_text(uint64_t digest);  // 16 hexadecimal digits

/// "13.0" of 13000, as the driver counts.
std::string cuda_version_text(int version);

/// "0-3, 8": ascending ids as ranges.
std::string ranges_text(std::span<const LogicalId> ids);

}  // namespace orrery
