#pragma once

// The one rule of how much random tests try. Each states its usual number, and the environment's
// ORRERY_RANDOM_PERCENT scales all of them alike. A test that has seeds 0 to 999 takes the first
// tenth of them at 10, and seeds 0 to 9999 at 1000. CI takes a tenth under sanitizers, where a
// program runs ten times as long; one program of each kind shows what the sanitizers can find.
// Properties (property.h) try as many inputs as RC_PARAMS says, by the same percentage of it.

#include <cstdint>

namespace orrery::test {

/// How many random programs, inputs or orders to try where `usually` is the number without
/// ORRERY_RANDOM_PERCENT; rounded up, so at least one.
uint64_t tries(uint64_t usually);

/// Whether to try a case of an exhaustive list: always, or below 100 % a share of them, the same in
/// every run. `seed` is the case's own.
bool is_tried(uint64_t seed);

/// Whether is_tried() holds of every case, so that what they cover together can be counted.
bool is_all_tried();

}  // namespace orrery::test
