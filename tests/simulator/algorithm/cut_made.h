#pragma once

// Makes a schedule whose messages are cut, by the algorithm itself or in iterations.

#include <cstdint>
#include <memory>

#include "simulator/algorithm/algorithms.h"

namespace orrery::test {

/// Returns the schedule with messages of at most `largest` elements.
inline std::unique_ptr<const Schedule> cut_made(const Algorithm& algorithm, ScheduleRequest request,
                                                int64_t largest) {
  if (algorithm.cutting == Cutting::InIterations)
    return cut(algorithm.make(request), largest);
  request.transport.largest = largest;
  return algorithm.make(request);
}

}  // namespace orrery::test
