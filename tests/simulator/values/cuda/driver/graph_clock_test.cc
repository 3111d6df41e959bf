// Tests the mock driver's simulated clock.

#include "tests/support/mock_cuda/graph_clock.h"

#include <vector>

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

using mock_cuda::ClockedNode;
using mock_cuda::ends_of;
using mock_cuda::Sharing;
using Ends = std::vector<int64_t>;

TEST_CASE("mock clock: a node begins when all that it waits for has ended") {
  const std::vector<ClockedNode> nodes = {{1, 10, 0, {}}, {1, 20, 0, {}}, {2, 5, 0, {0, 1}}};
  CHECK(ends_of(nodes, 100, Sharing::No) == Ends{111, 121, 128});
}

TEST_CASE("mock clock: what moves data at the same time on one device shares its memory") {
  // Both nodes begin to move at 1. Until 21 each has moved 10; the other 10 of the second take 10
  // more.
  CHECK(ends_of({{1, 10, 0, {}}, {1, 20, 0, {}}}, 0, Sharing::Yes) == Ends{21, 31});
  // Latencies are not shared: the first node moves 5 alone before the second begins.
  CHECK(ends_of({{0, 15, 0, {}}, {5, 5, 0, {}}}, 0, Sharing::Yes) == Ends{20, 15});
  // Nodes on different devices do not share.
  CHECK(ends_of({{1, 10, 0, {}}, {1, 20, 1, {}}}, 0, Sharing::Yes) == Ends{11, 21});
}

TEST_CASE("mock clock: alone, sharing changes nothing") {
  const std::vector<ClockedNode> chain = {{1, 10, 0, {}}, {2, 20, 0, {0}}, {0, 0, 0, {1}}};
  CHECK(ends_of(chain, 7, Sharing::Yes) == Ends{18, 40, 40});
  CHECK(ends_of(chain, 7, Sharing::Yes) == ends_of(chain, 7, Sharing::No));
}

}  // namespace
}  // namespace orrery::test
