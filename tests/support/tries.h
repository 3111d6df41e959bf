#pragma once

// This is the one rule that says how much random tests try. Each test states its usual number, and
// ORRERY_RANDOM_PERCENT in the environment scales all these numbers alike. A test with seeds 0 to
// 999 takes the first tenth of the seeds at 10, and seeds 0 to 9999 at 1000. CI takes a tenth in
// both of its builds. With sanitizers a program runs ten times as long, and one program of each
// kind shows what they can find. So lists that a change must pass whole, as that of all scenarios,
// are whole without sanitizers, and a share of them is tried with sanitizers. Properties
// (property.h) try the number of inputs in RC_PARAMS, scaled by the same percentage.

#include <cstdint>

namespace orrery::test {

/// Returns how many random programs, inputs or orders to try, where `usually` is the number without
/// ORRERY_RANDOM_PERCENT. It rounds up, so the result is at least one.
uint64_t tries(uint64_t usually);

/// Returns whether to try a case of an exhaustive list. At 100 % or more it tries every case, below
/// that a share of them, the same in every run. `seed` identifies the case.
bool is_tried(uint64_t seed);

/// Returns whether is_tried() holds for every case, so that a test can count the coverage of all.
bool is_all_tried();

/// Returns whether this is a build with the address sanitizer. It takes several times as much
/// memory and time.
bool is_sanitized();

/// Returns whether to try a case of a list that CI must try whole in one of its builds: every case
/// without sanitizers, and with them a share, as is_tried() says.
bool is_tried_sanitized(uint64_t seed);

}  // namespace orrery::test
