#pragma once

// The words that text and JSON reports share.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/id.h"
#include "simulator/memory/profile.h"
#include "simulator/time/completion.h"
#include "verifier/verdict.h"

namespace orrery {

std::string_view name(HeldAs kind);  // "argument", "output", "temporary", "in_flight", "scratch"
std::string_view name(TimedBy timed_by);  // "sweep", "engine"
std::string_view name(Verdict verdict);   // "holds", "undecided", "fails"

/// After a noun: "holds", "is undecided", "does not hold".
std::string_view in_words(Verdict verdict);

std::string digest_text(uint64_t digest);  // 16 hexadecimal digits

/// "0-3, 8": ascending ids as ranges.
std::string ranges_text(std::span<const LogicalId> ids);

}  // namespace orrery
