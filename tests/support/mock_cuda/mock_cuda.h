#pragma once

// A test controls the mock driver by these declarations. The mock driver is a library that has the
// exports of libcuda.so.1 and runs on the CPU. The functions below are its further exports;
// mock_control.h finds them.
//
// - Device memory is memory of the host, with random bytes where nothing was written. An access
//   outside the mapped memory ends the process.
// - Work runs late: only when something waits for it. Then the ready nodes of all streams run in
//   random order. The same holds for writes and fills by the host, in the default stream. The items
//   of a kernel are split at random, and the parts are shuffled.
// - The clock is simulated. A launch begins when the earlier work of its stream has ended. A node
//   begins when the nodes that it waits for have ended, and takes the time below (graph_clock.h).
//   So times do not depend on the random order. Other launches at the same time do not slow a
//   launch down.
// - A misuse is an error, and the log keeps it.
// - The same library exports cuBLASLt. Its products add from the last one to the first.
//
// The environment controls the mock in another process, such as the command line (environment.h).

#include <cstddef>
#include <cstdint>

struct MockCudaSettings {
  uint64_t seed = 1;  // of the random order, and of memory that was not written
  int32_t devices = 1;
  int32_t peers = 1;                // 0: devices do not see each other's memory
  int32_t virtual_memory = 1;       // 0: devices have no virtual memory management
  int32_t compute_capability = 90;  // 10 times the major number, plus the minor number
  int32_t driver_version = 13000;
  uint64_t memory = uint64_t{1} << 30;       // of each device
  uint64_t granularity = uint64_t{1} << 16;  // of memory; a multiple of 4096
  int32_t multiprocessors = 4;               // of each device
  int32_t computes = 1;                      // 0: work takes its time, but moves no data
  int64_t stray_copy = 0;      // number, from 1, of the copy that writes one byte too many; 0: none
  int32_t algorithms = 1;      // 0: cuBLASLt finds none
  int32_t product_errors = 0;  // 1: products by cuBLASLt are wrong in one element

  // These members set the clock, in picoseconds. A copy or fill takes copy_ps and its bytes at the
  // rate. kernel_ps and copy_ps are latency; the rest of a kernel or copy is moving data.
  int64_t launch_ps = 5'000'000;  // of a graph
  int64_t kernel_ps = 2'000'000;
  int64_t thread_ps = 10;  // added for each thread of a kernel
  int64_t product_ps = 0;  // added for each product of a dot_general, also by cuBLASLt
  int64_t copy_ps = 1'000'000;
  int64_t bytes_per_second = 1'000'000'000'000;
  int32_t sharing = 0;  // 1: nodes that move data at the same time on one device share its memory
};

// Entry points are named as in NVIDIA's documentation: "cuMemCreate", "cuGraphInstantiate".
// Returned texts live until the next call that returns one.
#define MOCK_CUDA_CONTROLS(X)                                                                     \
  /* Resets the mock: nothing is there, was called or is to fail; cuInit was not called. */       \
  X(void, mock_cuda_reset, (const MockCudaSettings* settings))                                    \
  /* Seeds the random orders from now on. */                                                      \
  X(void, mock_cuda_seed, (uint64_t seed))                                                        \
  /* Sets a failure: the nth call from now (1: the next) of this entry point answers with `code`. \
     It does nothing, unless it destroys something. Several failures may be set. */               \
  X(void, mock_cuda_fail, (const char* entry_point, int64_t nth, int32_t code))                   \
  /* Returns the number of calls since the reset. */                                              \
  X(int64_t, mock_cuda_calls, (const char* entry_point))                                          \
  /* Returns the objects that are alive: "1 context, 2 streams"; empty if there are none. */      \
  X(const char*, mock_cuda_alive, ())                                                             \
  /* Returns the misuses since the reset, one per line. */                                        \
  X(const char*, mock_cuda_misuses, ())                                                           \
  /* Returns the number of graph nodes that have run since the reset. */                          \
  X(int64_t, mock_cuda_nodes_run, ())

#define MOCK_CUDA_DECLARE(result, name, parameters) \
  extern "C" __attribute__((visibility("default"))) result name parameters;
MOCK_CUDA_CONTROLS(MOCK_CUDA_DECLARE)
#undef MOCK_CUDA_DECLARE
