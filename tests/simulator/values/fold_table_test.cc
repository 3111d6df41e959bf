#include "simulator/values/fold_table.h"

#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "simulator/algorithm/ring.h"
#include "simulator/values/provenance.h"
#include "tests/models/array/random_tensors.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/simulator/values/mutants.h"

namespace orrery::test {

namespace {

TEST_CASE("folds: equal folds are stored once, wherever their elements lie") {
  FoldTable folds;
  const FoldAt a = folds.combine(Combine::Add, folds.input(Rank(0), 3), folds.input(Rank(1), 5));
  const size_t size = folds.size();
  const FoldAt b = folds.combine(Combine::Add, folds.input(Rank(0), 13), folds.input(Rank(1), 15));
  CHECK(a.fold == b.fold);
  CHECK(b == a.moved(10));
  CHECK(folds.size() == size);
}

TEST_CASE("folds: order, operation and distance distinguish folds") {
  FoldTable folds;
  const FoldAt left = folds.input(Rank(0), 0);
  const FoldAt right = folds.input(Rank(1), 0);
  const FoldId sum = folds.combine(Combine::Add, left, right).fold;
  CHECK(folds.combine(Combine::Add, right, left).fold != sum);
  CHECK(folds.combine(Combine::Max, left, right).fold != sum);
  CHECK(folds.combine(Combine::Add, left, right.moved(1)).fold != sum);
}

TEST_CASE("folds: contributions are those of both sides, counted from the origin") {
  FoldTable folds;
  const FoldAt sum = folds.combine(Combine::Add, folds.input(Rank(2), 7), folds.input(Rank(1), 7));
  const FoldAt twice = folds.combine(Combine::Add, sum, folds.input(Rank(0), 9));
  CHECK(folds.contributions(twice) == Contributions{{Rank(0), 1, 9, 1}, {Rank(1), 2, 7, 1}});
  CHECK(folds.contributions(twice.moved(100)) ==
        Contributions{{Rank(0), 1, 109, 1}, {Rank(1), 2, 107, 1}});
}

TEST_CASE("folds: zeros contribute nothing and have no origin, and undefined stays undefined") {
  FoldTable folds;
  const FoldAt input = folds.input(Rank(0), 4);
  const FoldAt sum = folds.combine(Combine::Add, FoldTable::zero(), input);
  CHECK(sum.origin == 4);
  CHECK(folds.contributions(sum) == Contributions{{Rank(0), 1, 4, 1}});
  CHECK(FoldTable::zero().moved(3) == FoldTable::zero());
  CHECK(folds.combine(Combine::Add, input, FoldTable::undefined()) == FoldTable::undefined());
  CHECK(folds.combine(Combine::Max, FoldTable::zero(), FoldTable::zero()) == FoldTable::zero());
}

TEST_CASE("folds: a ring holds each of its partial sums once") {
  // Chunk c begins at rank c and passes every other rank: there are n inputs and n (n - 1) sums.
  for (const uint32_t n : {2U, 5U, 8U}) {
    const RingSchedule ring(RingSchedule::Form::AllReduce, n, 64, Combine::Add, {});
    const ProvenanceRun run = provenance(ring, whole_areas(ring.extent()), CollectiveId(0), kItem);
    CHECK(run.folds.size() == 2 + n + n * (n - 1));
  }
}

TEST_CASE("folds: each chunk of a ring folds the same contributions in another order") {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 3, 3, Combine::Add, {});
  const ProvenanceRun run = provenance(ring, whole_areas(ring.extent()), CollectiveId(0), kItem);
  // Each of the three chunks begins at another rank.
  REQUIRE(run.outputs[0].size() == 3);
  CHECK(run.outputs[0][0].made.fold != run.outputs[0][1].made.fold);
}

TEST_CASE(
    "folds: the half of a chunk that goes back round a ring folds the ranks in falling order") {
  // There are three chunks of two elements. Element 2c goes on and is folded from rank c on;
  // element 2c + 1 goes back.
  const RingSchedule ring(RingSchedule::Form::AllReduce, 3, 6, Combine::Add, {},
                          RingSchedule::Ways::Both);
  ProvenanceRun run = provenance(ring, whole_areas(ring.extent()), CollectiveId(0), kItem);
  const auto sum = [&](uint32_t first, uint32_t step, int64_t at) {
    const auto input = [&](uint32_t k) {
      return run.folds.input(Rank((first + k * step) % 3), at);
    };
    const FoldAt two = run.folds.combine(Combine::Add, input(0), input(1));
    return run.folds.combine(Combine::Add, two, input(2));
  };
  REQUIRE(run.outputs[1].size() == 6);
  for (uint32_t chunk = 0; chunk < 3; ++chunk) {
    const int64_t first = 2 * int64_t{chunk};
    CHECK(run.outputs[1][2 * chunk].made == sum(chunk, 1, first));
    CHECK(run.outputs[1][2 * chunk + 1].made == sum(chunk, 2, first + 1));
  }
}

}  // namespace

}  // namespace orrery::test
