#pragma once

// Addresses that kernels are given. Freestanding.

#include <stdint.h>

#include "models/array/host_device.h"

namespace orrery::cuda {

/// An address in device memory, as libcuda has it; on the host, where the same kernels run in
/// tests, an address in its memory.
using DevicePointer = uint64_t;

template <class T>
ORRERY_HOST_DEVICE T* at(DevicePointer address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace orrery::cuda
