// Tests which steps the ranks of one_shot have, and in which order each rank folds.

#include "simulator/algorithm/one_shot.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/algorithm/algorithms.h"
#include "simulator/values/provenance.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/steps_text.h"

namespace orrery::test {
namespace {

std::unique_ptr<const OneShotSchedule> make_one_shot(OneShotSchedule::Form form, uint32_t ranks,
                                                     int64_t count, Transport transport = {}) {
  return std::make_unique<const OneShotSchedule>(form, ranks, count, Combine::Add, transport);
}

TEST_CASE("one shot: an all-reduce of 3 ranks and 2 elements") {
  const auto schedule = make_one_shot(OneShotSchedule::Form::AllReduce, 3, 2);
  CHECK(schedule->extent().scratch == 4);
  CHECK(steps_of(*schedule, 1) ==
        "0: scratch[0,2) -> output[0,2) after 1; 0: + input[0,2) -> output[0,2); "
        "0: + scratch[2,4) -> output[0,2) after 2; "
        "1: input[0,2) to 2; 1: from 0 -> scratch[0,2); "
        "2: input[0,2) to 0; 2: from 2 -> scratch[2,4)");
}

TEST_CASE("one shot: of a reduce-scatter each rank gets its own part of the others") {
  const auto schedule = make_one_shot(OneShotSchedule::Form::ReduceScatter, 2, 6);
  CHECK(schedule->extent().output == 3);
  CHECK(schedule->extent().scratch == 3);
  CHECK(steps_of(*schedule, 1) ==
        "0: scratch[0,3) -> output[0,3) after 1; 0: + input[3,6) -> output[0,3); "
        "1: input[0,3) to 0; 1: from 0 -> scratch[0,3)");
}

TEST_CASE("one shot: each channel takes its share") {
  Transport transport;
  transport.channels = 2;
  const auto schedule = make_one_shot(OneShotSchedule::Form::AllReduce, 2, 3, transport);
  CHECK(steps_of(*schedule, 0) ==
        "0: input[0,2) -> output[0,2); 0: + scratch[0,2) -> output[0,2) after 2; "
        "1: input[2,3) -> output[2,3); 1: + scratch[2,3) -> output[2,3) after 3; "
        "2: input[0,2) to 1; 2: from 1 -> scratch[0,2); "
        "3: input[2,3) to 1; 3: from 1 -> scratch[2,3)");
}

TEST_CASE("one shot: one rank copies") {
  for (const OneShotSchedule::Form form :
       {OneShotSchedule::Form::AllReduce, OneShotSchedule::Form::ReduceScatter}) {
    const auto schedule = make_one_shot(form, 1, 4);
    CHECK(schedule->extent().scratch == 0);
    CHECK(steps_of(*schedule, 0) == "0: input[0,4) -> output[0,4)");
  }
}

/// Returns the order of a fold: "(x0 + x1) + x2".
std::string order_of(const FoldTable& folds, FoldId id) {
  const Fold& fold = folds.fold(id);
  if (fold.kind == Fold::Kind::Input)
    return fmt::format("x{}", fold.rank.index());
  return fmt::format("({} + {})", order_of(folds, fold.left), order_of(folds, fold.right));
}

TEST_CASE("one shot: every rank folds from the left in group order, also where messages are cut") {
  for (const OneShotSchedule::Form form :
       {OneShotSchedule::Form::AllReduce, OneShotSchedule::Form::ReduceScatter})
    for (uint32_t ranks = 1; ranks <= 6; ++ranks)
      for (const bool in_parts : {false, true}) {
        CAPTURE(ranks);
        std::string expected = "x0";
        for (uint32_t r = 1; r < ranks; ++r)
          expected = fmt::format("({} + x{})", expected, r);
        std::unique_ptr<const Schedule> schedule = make_one_shot(form, ranks, 4 * ranks);
        if (in_parts && ranks > 1)
          schedule = cut(std::move(schedule), 3);
        const ProvenanceRun run =
            provenance(*schedule, whole_areas(schedule->extent()), CollectiveId(0), Bytes(4));
        REQUIRE(run.outputs.size() == ranks);
        for (uint32_t r = 0; r < ranks; ++r) {
          REQUIRE(run.outputs[r].size() == 1);
          const Piece& piece = run.outputs[r].front();
          CHECK(order_of(run.folds, piece.made.fold) == expected);
          CHECK(piece.made.origin == (form == OneShotSchedule::Form::AllReduce ? 0 : 4 * r));
        }
      }
}

TEST_CASE("one shot: messages, slots and windows are right for every form and size") {
  for (const OneShotSchedule::Form form :
       {OneShotSchedule::Form::AllReduce, OneShotSchedule::Form::ReduceScatter})
    for (uint32_t ranks = 1; ranks <= 7; ++ranks)
      for (uint32_t channels = 1; channels <= 2; ++channels)
        for (uint32_t slots = 1; slots <= 3; ++slots) {
          CAPTURE(ranks);
          CAPTURE(channels);
          Transport transport;
          transport.channels = channels;
          transport.slots = slots;
          const auto count = static_cast<int64_t>(7 * ranks);
          CHECK(error_in_form(*make_one_shot(form, ranks, count, transport), 1) == "");
          CHECK(error_in_form(*cut(make_one_shot(form, ranks, count, transport), 2), 2) == "");
        }
}

}  // namespace
}  // namespace orrery::test
