#pragma once

// How a test controls the mock driver: a library that exports what libcuda.so.1 does and runs on
// the CPU. These are its further exports; mock_control.h finds them.
//
// - Device memory is memory of the host, random bytes where nothing was written. Outside of what is
//   mapped an access ends the process.
// - Work runs late: not before something waits for it, and then the nodes that are ready, of all
//   streams, in random order. That goes for writes and fills by the host too, in the default
//   stream. The items of a kernel are split at random, and the parts shuffled.
// - The clock is made up: a launch begins when its stream's work before has ended, a node when the
//   nodes that it waits for have ended, and each takes the time below (graph_clock.h). So times do
//   not depend on the random order. What other launches do at the same time does not slow it down.
// - Misuse is an error, and is written down.
// - The same library exports cuBLASLt, whose products add from the last one to the first.
//
// In another process, such as that of the command line, it is controlled by the environment
// (environment.h).

#include <cstddef>
#include <cstdint>

struct MockCudaSettings {
  uint64_t seed = 1;  // of orders and of memory that nothing was written to
  int32_t devices = 1;
  int32_t peers = 1;                // 0: devices do not see each other's memory
  int32_t virtual_memory = 1;       // 0: devices have no virtual memory management
  int32_t compute_capability = 90;  // 10 times the major number, and the minor one
  int32_t driver_version = 13000;
  uint64_t memory = uint64_t{1} << 30;       // of each device
  uint64_t granularity = uint64_t{1} << 16;  // of memory; a multiple of 4096
  int32_t multiprocessors = 4;               // of each device
  int32_t computes = 1;                      // 0: work takes its time, and moves nothing
  int64_t stray_copy = 0;      // this one of the copies that run, from 1, writes a byte too many
  int32_t algorithms = 1;      // 0: cuBLASLt finds none
  int32_t product_errors = 0;  // 1: products by cuBLASLt are wrong in one element

  // The clock, in picoseconds. A copy or fill takes copy_ps and its bytes at the rate. kernel_ps
  // and copy_ps are latency; the rest of a kernel or copy is moving data.
  int64_t launch_ps = 5'000'000;  // of a graph
  int64_t kernel_ps = 2'000'000;
  int64_t thread_ps = 10;  // more for each thread of a kernel
  int64_t product_ps = 0;  // more for each product of a dot_general, also by cuBLASLt
  int64_t copy_ps = 1'000'000;
  int64_t bytes_per_second = 1'000'000'000'000;
  int32_t sharing = 0;  // 1: what moves data at the same time on one device shares its memory
};

// Names of entry points are those of NVIDIA's documentation: "cuMemCreate", "cuGraphInstantiate".
// Texts live until the next call that gives one.
#define MOCK_CUDA_CONTROLS(X)                                                                      \
  /* Everything anew: nothing is there, was called or is to fail; cuInit was not called. */        \
  X(void, mock_cuda_reset, (const MockCudaSettings* settings))                                     \
  /* The random orders from now on. */                                                             \
  X(void, mock_cuda_seed, (uint64_t seed))                                                         \
  /* The nth call from now (1: the next) of this entry point answers with `code` and does nothing, \
     or, if it destroys something, does that first. Several failures may be set. */                \
  X(void, mock_cuda_fail, (const char* entry_point, int64_t nth, int32_t code))                    \
  /* Calls since the reset. */                                                                     \
  X(int64_t, mock_cuda_calls, (const char* entry_point))                                           \
  /* What was made and is not destroyed: "1 context, 2 streams"; empty if nothing. */              \
  X(const char*, mock_cuda_alive, ())                                                              \
  /* The misuses since the reset, a line each. */                                                  \
  X(const char*, mock_cuda_misuses, ())                                                            \
  /* Nodes of graphs that have run since the reset. */                                             \
  X(int64_t, mock_cuda_nodes_run, ())

#define MOCK_CUDA_DECLARE(result, name, parameters) \
  extern "C" __attribute__((visibility("default"))) result name parameters;
MOCK_CUDA_CONTROLS(MOCK_CUDA_DECLARE)
#undef MOCK_CUDA_DECLARE
