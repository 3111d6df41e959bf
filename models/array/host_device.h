#pragma once

// These macros mark functions that CUDA also compiles for the device, and loops that it must unroll
// or must not unroll there. The file is freestanding.

#if defined(__CUDA__) || defined(__CUDACC__)
#define ORRERY_HOST_DEVICE __attribute__((host)) __attribute__((device))
#define ORRERY_UNROLLED _Pragma("unroll")
#define ORRERY_ROLLED _Pragma("unroll 1")
#else
#define ORRERY_HOST_DEVICE
#define ORRERY_UNROLLED
#define ORRERY_ROLLED
#endif
