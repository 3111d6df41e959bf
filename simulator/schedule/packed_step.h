#pragma once

// A step in 56 bytes without optional members, for tables and GPU kernels. Freestanding.

#include <stdint.h>

#include "simulator/schedule/actions.h"

namespace orrery {

/// Members of parts that the step lacks (their flag is not set) are 0. Areas and the reduction are
/// the numbers of the enumerators of Area and Combine.
struct PackedStep {
  static constexpr uint8_t kFrom = 1;
  static constexpr uint8_t kTo = 2;
  static constexpr uint8_t kSource = 4;
  static constexpr uint8_t kTarget = 8;
  static constexpr uint8_t kAfter = 16;

  int64_t source_first = 0;  // elements from the start of the area
  int64_t source_count = 0;
  int64_t target_first = 0;
  int64_t target_count = 0;
  uint32_t from = 0;  // nodes
  uint32_t to = 0;
  uint32_t after_channel = 0;  // of the same node
  uint32_t after_index = 0;
  uint8_t parts = 0;  // the flags above
  uint8_t combine = 0;
  uint8_t source_area = 0;
  uint8_t target_area = 0;

  ORRERY_HOST_DEVICE constexpr bool has(uint8_t part) const { return (parts & part) != 0; }
  ORRERY_HOST_DEVICE constexpr StepForm form() const {
    return {has(kFrom), has(kTo), has(kSource), has(kTarget), combine != 0};
  }
};

}  // namespace orrery
