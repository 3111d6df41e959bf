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

TEST_CASE("folds: a value is computed in the order of its fold") {
  // 2^24 + 1 rounds to 2^24, so the order decides whether the 1 survives.
  const float big = 0x1p24F;
  const std::vector<std::vector<float>> data = {{0, big}, {0, 1}, {0, -big}};
  std::vector<const std::byte*> operands;
  for (const std::vector<float>& numbers : data)
    operands.push_back(reinterpret_cast<const std::byte*>(numbers.data()));
  FoldTable folds;
  const auto input = [&](size_t rank) { return folds.input(Rank(rank), 1); };
  const auto add = [&](FoldAt a, FoldAt b) { return folds.combine(Combine::Add, a, b); };
  const auto value = [&](FoldAt at) {
    const Storage made = folds.evaluate(at, 1, {Dtype::F32}, operands);
    float number = 0;
    std::memcpy(&number, made.data(), sizeof number);
    return number;
  };
  CHECK(value(add(add(input(0), input(1)), input(2))) == 0);
  CHECK(value(add(add(input(0), input(2)), input(1))) == 1);
  CHECK(value(add(FoldTable::zero(), input(1))) == 1);
}

TEST_CASE("folds: a ring holds each of its partial sums once") {
  // Chunk c begins at rank c and passes every other rank: n inputs and n (n - 1) sums.
  for (const uint32_t n : {2U, 5U, 8U}) {
    const RingSchedule ring(RingSchedule::Form::AllReduce, n, 64, Combine::Add, {});
    const ProvenanceRun run = provenance(ring, whole_areas(ring.extent()), CollectiveId(0), kItem);
    CHECK(run.folds.size() == 2 + n + n * (n - 1));
  }
}

/// Every rank's psum of random elements as the executor computes it, and by the folds.
void check_values(const std::string& algorithm, Dtype dtype, int64_t n) {
  const int64_t count = 37;
  Random random(static_cast<uint64_t>(n));
  HostRig rig({{"x", n}});
  std::vector<Tensor> tensors;
  for (int64_t q = 0; q < n; ++q)
    tensors.push_back(random_normalish(dtype, {count}, random));
  std::vector<const std::byte*> operands;
  for (const Tensor& tensor : tensors)
    operands.push_back(tensor.bytes().data());
  rig.argument("a", tensors);
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", algorithm}});
  const HostRun host = rig.run();
  const Schedule& schedule = *rig.lowered.collectives.front().schedule;
  const ProvenanceRun run =
      provenance(schedule, whole_areas(schedule.extent()), CollectiveId(0), kItem);
  for (uint32_t r = 0; r < n; ++r) {
    Tensor folded(dtype, {count});
    for (const Piece& piece : run.outputs[r]) {
      const Storage value = run.folds.evaluate(piece.made, piece.count, {dtype}, operands);
      std::memcpy(folded.bytes().data() + piece.first * itemsize(dtype).count(), value.data(),
                  value.size());
    }
    CHECK(folded == host.values.at(rig.value("s"), LogicalId(r)).value());
  }
}

TEST_CASE("folds: the values of a psum, evaluated fold by fold, are the executor's bit for bit") {
  for (const char* const algorithm : {"ring", "recursive_doubling"})
    for (const Dtype dtype : {Dtype::F32, Dtype::BF16, Dtype::F16})
      for (const int64_t n : {2, 3, 5, 8, 13}) {
        CAPTURE(algorithm);
        CAPTURE(n);
        check_values(algorithm, dtype, n);
      }
}

TEST_CASE("folds: each chunk of a ring folds the same contributions in another order") {
  const RingSchedule ring(RingSchedule::Form::AllReduce, 3, 3, Combine::Add, {});
  const ProvenanceRun run = provenance(ring, whole_areas(ring.extent()), CollectiveId(0), kItem);
  // Each of the three chunks begins at another rank.
  REQUIRE(run.outputs[0].size() == 3);
  CHECK(run.outputs[0][0].made.fold != run.outputs[0][1].made.fold);
}

}  // namespace

}  // namespace orrery::test
