#pragma once

// The scenarios with a budget, as text. Each names its algorithm, so that the work does not change
// when the automatic choice does.

#include <cstdint>
#include <string>

namespace orrery {

/// One psum of 64 MiB over a ring, by the ring algorithm.
std::string ring_all_reduce(int64_t ranks);

/// One all_to_all of 64 MiB a rank.
enum class AllToAll : uint8_t {
  PairwiseOnSwitch,  // in turns
  DirectOnSwitch,    // all messages at once
  DirectOnRing,
  PairwiseOnTree,  // leaves of 8 hosts below one switch; each rank waits for its partner
};
std::string all_to_all(AllToAll how, int64_t ranks);

/// This many ppermutes over 64 hosts on the same tree. Each is a random permutation without fixed
/// points, of one of 16 random sizes from 256 KiB to 4 MiB.
std::string random_permutations(int64_t rounds);

/// This many psums of 64 elements, one after the other, on a ring of 8 devices.
std::string many_psums(int64_t count);

}  // namespace orrery
