#pragma once

// A ring all-reduce (add) of 4 ranks and 8 elements, and variants with one error each. Chunk c is
// elements 2c and 2c + 1; chunk numbers are modulo 4.
// Rank r sends chunk r first (step 0). Steps 1 and 2 add to chunks r - 1 and r - 2 and pass them
// on. Step 3 completes chunk r - 3 = r + 1, stores it and passes it on. Steps 4 and 5 store and
// pass on chunks r and r - 1. Step 6 stores chunk r - 2.

#include "models/base/quantity.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery::test {

/// The size of one of their elements.
inline constexpr Bytes kItem(4);

/// The ring without errors.
StoredSchedule right_ring();
/// The same, with the input area for its output.
StoredSchedule ring_in_place();

/// Rank 1 passes chunk 0 on without adding its own part (step 1).
StoredSchedule dropped_contribution();
/// Rank 2 adds its own part of chunk 3 once more, between its last reduction and passing it on.
StoredSchedule repeated_contribution();
/// Rank 1 adds elements 1 and 2 to chunk 0 (step 1).
StoredSchedule shifted_source();
/// The first messages of ranks 0 and 2 go to ranks 3 and 1 instead of 1 and 3.
StoredSchedule wrong_peer();
/// The last message to rank 1, with chunk 3, is neither sent nor received.
StoredSchedule dropped_message();
/// Rank 1 takes the maximum instead of the sum (step 1).
StoredSchedule wrong_reduction();

}  // namespace orrery::test
