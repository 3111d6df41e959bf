#pragma once

// This folder has the benchmarks, one executable for all of them. `./orrery bench [FILTER]` builds
// and runs it.
//  - budget_bench.cc runs the command line as a user does, and shows CPU time and peak memory, each
//    beside its budget. This header has its scenarios, as text. Each scenario names its algorithm,
//    so that the work does not change when the automatic choice does.
//  - case_bench.cc measures how many small scenarios a second one process reads and runs, as tests
//    of properties do.
//  - run_bench.cc measures the time from a scenario's file to its report, within one process and as
//    a process.
//  - time_bench.cc measures the messages per second of the sweep and the engine (simulator/time).
//  - host_bench.cc measures the bytes per second of the host executor (simulator/values).
//  - child.cc runs a process and measures its cost.
// Machines differ by a factor of two, so no benchmark fails. Results are compared with those of the
// same machine, or with the memcpy lines of the same run. To add a scenario with a budget, add a
// function here, and a line with its budget in budget_bench.cc. A new file of benchmarks registers
// them itself, and needs only its name in meson.build.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Returns the `count` texts text(0), text(1), ... joined by commas.
template <class Text>
std::string listed(int64_t count, Text text) {
  std::string list;
  for (int64_t i = 0; i < count; ++i)
    list += (i == 0 ? "" : ", ") + text(i);
  return list;
}

/// Returns one psum of 64 MiB over a ring, by the ring algorithm.
std::string ring_all_reduce(int64_t ranks);

/// Says how one all_to_all of 64 MiB a rank is done.
enum class AllToAll : uint8_t {
  PairwiseOnSwitch,  // in turns
  DirectOnSwitch,    // all messages at once
  DirectOnRing,
  PairwiseOnTree,  // leaves of 8 hosts below one switch; each rank waits for its partner
};
std::string all_to_all(AllToAll how, int64_t ranks);

/// Returns this many ppermutes over 64 hosts on the same tree. Each is a random permutation without
/// fixed points, of one of 16 random sizes from 256 KiB to 4 MiB.
std::string random_permutations(int64_t rounds);

/// Returns the property that psum_scatter followed by all_gather is psum, on 8 devices, with small
/// random integers. `rows` (0 to 3) and `dtype` are drawn where properties are tested; `seed` makes
/// the data.
struct SmallCase {
  int64_t rows = 0;  // of 64 rows each
  std::string_view dtype;
  int64_t seed = 0;
};
std::string scatter_and_gather(const SmallCase& drawn);

/// Returns this many psums of 64 elements, one after the other, on a ring of 8 devices.
std::string many_psums(int64_t count);

/// A ChildCost is what a process took, in child.cc.
struct ChildCost {
  double cpu_seconds = 0;  // user and system time, with that of the children it waited for
  /// The largest resident set of the process or one of its children, in bytes. It is at least that
  /// of this process (10 MiB), which counts until the child starts the program.
  int64_t peak_bytes = 0;
};

/// Runs a program (a path) with these arguments and throws its output away. Throws
/// std::system_error if it does not exit with 0.
ChildCost run_child(std::vector<std::string> program_and_arguments);

}  // namespace orrery
