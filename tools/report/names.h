#pragma once

// Text and JSON reports share these words.

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

/// Returns the verdict after a noun: "holds", "is undecided", "does not hold".
std::string_view in_words(Verdict verdict);

/// Returns the types of the op's results, in parentheses if there are several: "f32[2,3]{V:x,
/// U:y}". States are shown only for programs with checked types.
std::string types_text(const Scenario& scenario, const Op& op);

std::string digest_text(uint64_t digest);  // 16 hexadecimal digits

/// Returns the version of CUDA that the driver counts as 13000: "13.0".
std::string cuda_version_text(int version);

}  // namespace orrery
