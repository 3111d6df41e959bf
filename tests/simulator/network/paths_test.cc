#include "simulator/network/paths.h"

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

Fabric through_a_switch() {
  return Fabric(2, {"s"},
                {{VertexId(0), VertexId(2), BytesPerSecond(7), Duration(3)},
                 {VertexId(2), VertexId(1), BytesPerSecond(5), Duration(4)}});
}

TEST_CASE("paths: the least bandwidth and the sum of the latencies") {
  const Fabric fabric = through_a_switch();
  Paths paths(fabric);
  const Path& path = paths.between(VertexId(0), VertexId(1));
  CHECK(path.links == Route{LinkId(0), LinkId(1)});
  CHECK(path.bottleneck == BytesPerSecond(5));
  CHECK(path.latency == Duration(7));
  CHECK(&paths.between(VertexId(0), VertexId(1)) == &path);
}

TEST_CASE("paths: a declared cap counts where it is less") {
  const Fabric fabric = through_a_switch();
  Paths paths(fabric);
  const Path& path = paths.between(VertexId(0), VertexId(1));
  CHECK(path.peak(std::nullopt) == BytesPerSecond(5));
  CHECK(path.peak(BytesPerSecond(4)) == BytesPerSecond(4));
  CHECK(path.peak(BytesPerSecond(6)) == BytesPerSecond(5));
}

TEST_CASE("paths: nothing limits the way from a vertex to itself") {
  const Fabric fabric = through_a_switch();
  Paths paths(fabric);
  CHECK(!paths.between(VertexId(1), VertexId(1)).bottleneck);
  CHECK(paths.between(VertexId(1), VertexId(1)).latency == Duration(0));
}

}  // namespace
}  // namespace orrery::test
