// Compares the values of folds with a slow recursion, and with the host executor.

#include "simulator/values/fold_values.h"

#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/kernels.h"
#include "simulator/values/provenance.h"
#include "tests/models/array/random_tensors.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/simulator/values/mutants.h"
#include "tests/support/tries.h"

namespace orrery::test {

namespace {

/// Computes the value of one element by recursion, without sharing folds. This is the slow form.
Storage slow_value(const FoldTable& folds, FoldAt at, WorkType type,
                   const std::vector<const std::byte*>& operands) {
  const Fold& fold = folds.fold(at.fold);
  const auto item = static_cast<size_t>(itemsize(type).count());
  Storage value(item);
  if (fold.kind == Fold::Kind::Input) {
    std::memcpy(value.data(), operands[fold.rank.index()] + static_cast<size_t>(at.origin) * item,
                item);
  } else if (fold.kind == Fold::Kind::Combine) {
    const Storage left = slow_value(folds, FoldAt{fold.left}.moved(at.origin), type, operands);
    const Storage right =
        slow_value(folds, FoldAt{fold.right}.moved(at.origin + fold.shift), type, operands);
    combine_into({type}, fold.op, value.data(), left.data(), right.data(), 1);
  }
  return value;
}

/// Returns the results of the nodes, as the visits give them. Checks that each element is visited
/// once.
std::vector<Storage> values_of(const FoldTable& folds, const std::vector<Pieces>& results,
                               WorkType type, const std::vector<const std::byte*>& operands) {
  const int64_t item = itemsize(type).count();
  std::vector<Storage> values;
  std::vector<std::vector<int>> visits;
  for (const Pieces& pieces : results) {
    values.emplace_back(static_cast<size_t>(length(pieces) * item));
    visits.emplace_back(static_cast<size_t>(length(pieces)), 0);
  }
  for_each_fold_value(folds, results, {type}, operands,
                      [&](Rank node, int64_t first, const std::byte* made, int64_t count) {
                        std::memcpy(values[node.index()].data() + first * item, made,
                                    static_cast<size_t>(count * item));
                        for (int64_t i = 0; i < count; ++i)
                          ++visits[node.index()][static_cast<size_t>(first + i)];
                      });
  for (const std::vector<int>& each : visits)
    CHECK(each == std::vector<int>(each.size(), 1));
  return values;
}

bool same_bytes(const Storage& a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// A `RandomElements` has random elements of each rank.
struct RandomElements {
  RandomElements(Dtype dtype, int64_t ranks, int64_t count, Random& random) {
    for (int64_t q = 0; q < ranks; ++q)
      tensors.push_back(random_normalish(dtype, {count}, random));
    for (const Tensor& tensor : tensors)
      elements.push_back(tensor.bytes().data());
  }

  std::vector<Tensor> tensors;
  std::vector<const std::byte*> elements;
};

TEST_CASE("fold values: a value is computed in the order of its fold") {
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
    const Storage made = values_of(folds, {{{0, 1, at}}}, {Dtype::F32}, operands).front();
    float number = 0;
    std::memcpy(&number, made.data(), sizeof number);
    return number;
  };
  CHECK(value(add(add(input(0), input(1)), input(2))) == 0);
  CHECK(value(add(add(input(0), input(2)), input(1))) == 1);
  CHECK(value(add(FoldTable::zero(), input(1))) == 1);
  CHECK(value(FoldTable::zero()) == 0);
}

TEST_CASE("fold values: random folds, with parts in common at one offset and at several") {
  constexpr int64_t kRanks = 3;
  constexpr int64_t kCount = 40;
  const WorkType type{Dtype::F16};
  Random random(11);
  for (uint64_t round = 0; round < tries(200); ++round) {
    const RandomElements operands(Dtype::F16, kRanks, kCount, random);
    FoldTable folds;
    std::vector<FoldAt> made = {FoldTable::zero()};
    for (int64_t q = 0; q < kRanks; ++q)
      made.push_back(folds.input(Rank(static_cast<size_t>(q)), random.between(0, 3)));
    for (int sums = 0; sums < 8; ++sums) {
      const FoldAt left = made[random.below(made.size())].moved(random.between(0, 1));
      const FoldAt right = made[random.below(made.size())].moved(random.between(0, 1));
      made.push_back(folds.combine(Combine::Add, left, right));
    }
    // Eight sums move an input by at most 8 + 3 elements, which leaves 29.
    std::vector<Pieces> results(2);
    for (Pieces& pieces : results) {
      for (int64_t first = 0; first < 24;) {
        const int64_t count = std::min<int64_t>(random.between(1, 12), 24 - first);
        pieces.push_back({first, count, made[random.below(made.size())]});
        first += count;
      }
    }
    const std::vector<Storage> values = values_of(folds, results, type, operands.elements);
    for (size_t node = 0; node < results.size(); ++node) {
      for (const Piece& piece : results[node]) {
        for (int64_t i = 0; i < piece.count; ++i) {
          const Storage slow = slow_value(folds, piece.made.moved(i), type, operands.elements);
          CHECK(same_bytes(slow, std::span(values[node].data() + 2 * (piece.first + i), 2)));
        }
      }
    }
  }
}

/// Compares every rank's sum of random elements, as the executor computes it, with that of the
/// folds.
void check_sum(const std::string& algorithm, Dtype dtype, int64_t n, int64_t count) {
  Random random(static_cast<uint64_t>(n));
  const RandomElements operands(dtype, n, count, random);
  HostRig rig({{"x", n}});
  rig.argument("a", operands.tensors);
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", algorithm}});
  const HostRun host = rig.run();
  const Schedule& schedule = *rig.lowered.collectives.front().schedule;
  const ProvenanceRun run =
      provenance(schedule, whole_areas(schedule.extent()), CollectiveId(0), kItem);
  const std::vector<Storage> values = values_of(run.folds, run.outputs, {dtype}, operands.elements);
  for (uint32_t r = 0; r < n; ++r) {
    const Tensor& result = host.values.at(rig.value("s"), LogicalId(r)).value();
    CHECK(same_bytes(values[r], result.bytes()));
  }
}

TEST_CASE("fold values: those of a psum are the executor's bit for bit, in every float dtype") {
  for (const char* const algorithm : {"ring", "recursive_doubling", "bidirectional"})
    for (const Dtype dtype :
         {Dtype::F64, Dtype::F32, Dtype::BF16, Dtype::F16, Dtype::F8E4M3FN, Dtype::F8E5M2})
      for (const int64_t n : {2, 3, 5, 8, 13}) {
        CAPTURE(algorithm);
        CAPTURE(n);
        check_sum(algorithm, dtype, n, 37);
      }
}

TEST_CASE("fold values: results of more elements than the buffers hold") {
  // Buffers have 256 KiB: one buffer holds 65,536 f32 elements, and each of several holds fewer.
  check_sum("ring", Dtype::F32, 2, 2 * 70'000);
  check_sum("recursive_doubling", Dtype::F32, 8, 70'000);
}

}  // namespace

}  // namespace orrery::test
