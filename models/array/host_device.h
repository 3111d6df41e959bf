#pragma once

// Marks the functions that CUDA compiles for the device too. Freestanding.

#if defined(__CUDA__) || defined(__CUDACC__)
#define ORRERY_HOST_DEVICE __attribute__((host)) __attribute__((device))
#else
#define ORRERY_HOST_DEVICE
#endif
