#pragma once

// Makes a ring all-reduce (add) of 4 ranks and 8 elements, and variants with one error each. Chunk
// c has elements 2c and 2c + 1; chunk numbers are modulo 4.
// Rank r sends chunk r first (step 0). Steps 1 and 2 add to chunks r - 1 and r - 2 and pass them
// on. Step 3 completes chunk r - 3 = r + 1, stores it and passes it on. Steps 4 and 5 store and
// pass on chunks r and r - 1. Step 6 stores chunk r - 2.

#include "models/base/quantity.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery::test {

/// This is the size of one element.
inline constexpr Bytes kItem(4);

/// Returns the ring without errors.
StoredSchedule right_ring();
/// Returns the same ring, where the input area is also the output.
StoredSchedule ring_in_place();

/// In this ring, rank 1 passes chunk 0 on without adding its own part (step 1).
StoredSchedule dropped_contribution();
/// In this ring, rank 2 adds its part of chunk 3 again, between its last reduction and its send.
StoredSchedule repeated_contribution();
/// In this ring, rank 1 adds elements 1 and 2 to chunk 0 (step 1).
StoredSchedule shifted_source();
/// In this ring, the first messages of ranks 0 and 2 go to ranks 3 and 1 instead of 1 and 3.
StoredSchedule wrong_peer();
/// In this ring, the last message to rank 1, with chunk 3, is neither sent nor received.
StoredSchedule dropped_message();
/// In this ring, rank 1 takes the maximum instead of the sum (step 1).
StoredSchedule wrong_reduction();

}  // namespace orrery::test
