#pragma once

// Marks functions that CUDA also compiles for the device. Freestanding.

#if defined(__CUDA__) || defined(__CUDACC__)
#define ORRERY_HOST_DEVICE __attribute__((host)) __attribute__((device))
#else
#define ORRERY_HOST_DEVICE
#endif
