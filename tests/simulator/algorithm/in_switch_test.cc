// Tests which steps the ranks and the switch nodes of in-switch collectives have.

#include "simulator/algorithm/in_switch.h"

#include <memory>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/steps_text.h"

namespace orrery::test {
namespace {

constexpr LinkFigures kLink{BytesPerSecond(1'000'000'000), Duration(0)};

std::unique_ptr<const InSwitchSchedule> make_in_switch(InSwitchSchedule::Form form, uint32_t ranks,
                                                       int64_t count, Transport transport = {},
                                                       Node source = {}) {
  const bool folds =
      form != InSwitchSchedule::Form::AllGather && form != InSwitchSchedule::Form::Broadcast;
  return std::make_unique<const InSwitchSchedule>(
      form, ranks, count, folds ? Combine::Add : Combine::None, source, transport);
}

TEST_CASE("in switch: an all-reduce of 3 ranks and 6 elements") {
  const auto schedule = make_in_switch(InSwitchSchedule::Form::AllReduce, 3, 6);
  const Extent& extent = schedule->extent();
  CHECK(extent.nodes == 6);
  CHECK(extent.ranks() == 3);
  CHECK(extent.size(Node(0), Area::Scratch) == 0);
  CHECK(extent.size(Node(3), Area::Scratch) == 4);
  CHECK(extent.size(Node(3), Area::Input) == 0);
  CHECK(steps_of(*schedule, 1) ==
        "0: input[0,2) to 3; 1: input[2,4) to 4; 2: input[4,6) to 5; "
        "3: from 3 -> output[0,2); 4: from 4 -> output[2,4) to 4; 5: from 5 -> output[4,6)");
  CHECK(steps_of(*schedule, 4) ==
        "0: from 0 -> scratch[0,2); 0: from 1 + scratch[0,2) -> scratch[0,2); "
        "0: from 2 + scratch[0,2) to 1; "
        "1: from 1 -> scratch[2,4) to 4; 1: scratch[2,4) to 4; "
        "2: from 4 scratch[2,4) to 2; 3: from 4 scratch[2,4) to 0");
}

TEST_CASE("in switch: without owners, one switch node folds and casts") {
  const auto schedule = make_in_switch(InSwitchSchedule::Form::FoldAndCast, 3, 6);
  CHECK(schedule->extent().nodes == 4);
  CHECK(schedule->extent().size(Node(3), Area::Scratch) == 12);
  CHECK(steps_of(*schedule, 1) == "0: input[0,6) to 3; 1: from 3 -> output[0,6)");
  CHECK(steps_of(*schedule, 3) ==
        "0: from 0 -> scratch[0,6); 0: from 1 + scratch[0,6) -> scratch[0,6); "
        "0: from 2 + scratch[0,6) to 3; "
        "1: from 3 -> scratch[6,12) to 3; 1: scratch[6,12) to 3; 1: scratch[6,12) to 3; "
        "2: from 3 scratch[6,12) to 1; 3: from 3 scratch[6,12) to 2; 4: from 3 scratch[6,12) to 0");
}

TEST_CASE("in switch: a reduce-scatter is the first half, an all-gather the second") {
  const auto scatter = make_in_switch(InSwitchSchedule::Form::ReduceScatter, 2, 4);
  CHECK(steps_of(*scatter, 0) ==
        "0: input[0,2) to 2; 1: input[2,4) to 3; 2: from 2 -> output[0,2)");
  CHECK(steps_of(*scatter, 3) == "0: from 0 -> scratch[0,2); 0: from 1 + scratch[0,2) to 1");
  const auto gather = make_in_switch(InSwitchSchedule::Form::AllGather, 2, 4);
  CHECK(steps_of(*gather, 0) == "0: input[0,2) -> output[0,2) to 2; 1: from 3 -> output[2,4)");
  CHECK(steps_of(*gather, 3) == "0: from 1 -> scratch[0,2) to 3; 1: from 3 scratch[0,2) to 0");
}

TEST_CASE("in switch: a broadcast has one switch node, that of the source") {
  const auto schedule = make_in_switch(InSwitchSchedule::Form::Broadcast, 3, 5, {}, Node(2));
  CHECK(schedule->extent().switch_nodes == 1);
  CHECK(steps_of(*schedule, 2) == "0: input[0,5) -> output[0,5) to 3");
  CHECK(steps_of(*schedule, 0) == "0: from 3 -> output[0,5)");
  CHECK(steps_of(*schedule, 3) ==
        "0: from 2 -> scratch[0,5) to 3; 0: scratch[0,5) to 3; "
        "1: from 3 scratch[0,5) to 0; 2: from 3 scratch[0,5) to 1");
}

TEST_CASE("in switch: each channel takes its share of each chunk") {
  Transport transport;
  transport.channels = 2;
  const auto schedule = make_in_switch(InSwitchSchedule::Form::ReduceScatter, 2, 6, transport);
  CHECK(steps_of(*schedule, 1) ==
        "0: input[0,2) to 2; 1: input[3,5) to 3; 2: from 3 -> output[0,2); "
        "3: input[2,3) to 2; 4: input[5,6) to 3; 5: from 3 -> output[2,3)");
}

TEST_CASE("in switch: one rank copies, without a switch") {
  for (const InSwitchSchedule::Form form :
       {InSwitchSchedule::Form::AllReduce, InSwitchSchedule::Form::ReduceScatter,
        InSwitchSchedule::Form::AllGather, InSwitchSchedule::Form::Broadcast}) {
    const auto schedule = make_in_switch(form, 1, 4);
    CHECK(schedule->extent().switch_nodes == 0);
    CHECK(steps_of(*schedule, 0) == "0: input[0,4) -> output[0,4)");
  }
}

TEST_CASE("in switch: messages, slots and windows are right for every form and size") {
  for (const InSwitchSchedule::Form form :
       {InSwitchSchedule::Form::AllReduce, InSwitchSchedule::Form::ReduceScatter,
        InSwitchSchedule::Form::AllGather, InSwitchSchedule::Form::Broadcast})
    for (uint32_t ranks = 1; ranks <= 7; ++ranks)
      for (uint32_t channels = 1; channels <= 2; ++channels)
        for (uint32_t slots = 1; slots <= 3; ++slots) {
          CAPTURE(ranks);
          CAPTURE(static_cast<int>(form));
          Transport transport;
          transport.channels = channels;
          transport.slots = slots;
          const bool even = form == InSwitchSchedule::Form::ReduceScatter ||
                            form == InSwitchSchedule::Form::AllGather;
          const int64_t count = even ? 7 * ranks : 7 * ranks + 3;
          CHECK(error_in_form(*make_in_switch(form, ranks, count, transport), 1) == "");
          const auto in_parts = cut(make_in_switch(form, ranks, count, transport), 2);
          CHECK(error_in_form(*in_parts, 2) == "");
        }
}

const Algorithm& the_algorithm() {
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.name == "in_switch")
      return algorithm;
  throw std::logic_error("in_switch is in the table");
}

std::vector<VertexId> ranks(std::initializer_list<uint32_t> devices) {
  std::vector<VertexId> vertices;
  for (const uint32_t device : devices)
    vertices.emplace_back(device);
  return vertices;
}

TEST_CASE("in switch: fits where one switch that reduces has a link to each rank and from it") {
  // Devices 0 and 1 are under switch a; 1, 2 and 3 are under switch b. Device 3 only sends.
  std::vector<Link> links;
  const auto join = [&](uint32_t from, uint32_t to) {
    links.push_back({VertexId(from), VertexId(to), kLink.bandwidth, kLink.latency});
  };
  for (const auto& [device, hub] : {std::pair(0U, 4U), {1U, 4U}, {1U, 5U}, {2U, 5U}}) {
    join(device, hub);
    join(hub, device);
  }
  join(3, 5);
  const Fabric plain(4, {"a", "b"}, links);
  const Fabric both = plain.with_reduction({VertexId(5), VertexId(4)});
  const Algorithm& algorithm = the_algorithm();
  const auto hub = [&](const Fabric& fabric, const std::vector<VertexId>& group) {
    const PlacedGroup placed{fabric, group};
    CHECK(algorithm.misfit(placed).has_value() != reducing_switch(placed).has_value());
    return reducing_switch(placed);
  };
  CHECK(hub(both, ranks({0, 1})) == VertexId(4));
  CHECK(hub(both, ranks({2, 1})) == VertexId(5));
  CHECK(hub(both, ranks({1})) == VertexId(4));
  CHECK_FALSE(hub(both, ranks({0, 2})));
  CHECK_FALSE(hub(both, ranks({2, 3})));  // no link to device 3
  CHECK_FALSE(hub(plain, ranks({0, 1})));
  CHECK(hub(plain.with_reduction({VertexId(5)}), ranks({1, 2})) == VertexId(5));
  CHECK_FALSE(hub(plain.with_reduction({VertexId(5)}), ranks({0, 1})));
  links[0].cut = true;
  CHECK_FALSE(hub(both.with_links(links, 1), ranks({0, 1})));
}

TEST_CASE("in switch: says why it does not fit") {
  const Algorithm& algorithm = the_algorithm();
  const std::vector<VertexId> two = ranks({0, 1});
  const std::string expected =
      "expected a switch that reduces and has a link to each rank of a group and from it, got ";
  CHECK(algorithm.misfit({switch_fabric(2, kLink), two}) == expected + "no switch that reduces");
  const Fabric apart =
      Fabric(2, {"s"}, {{VertexId(0), VertexId(2), kLink.bandwidth, kLink.latency}})
          .with_reduction({VertexId(2)});
  CHECK(algorithm.misfit({apart, two}) == expected + "none that has them all");
  // 2 x 512 nodes have 1024 channels each, 2^20 in all. With 5 channels each that is more than
  // 2^22.
  std::vector<VertexId> many;
  for (uint32_t d = 0; d < 512; ++d)
    many.emplace_back(d);
  const Fabric star = switch_fabric(512, kLink).with_reduction({VertexId(512)});
  CHECK_FALSE(algorithm.misfit({star, many, 4}));
  CHECK(algorithm.misfit({star, many, 5}) ==
        "expected at most 4194304 channels over all ranks of a group, got 5242880");
}

TEST_CASE("in switch: the switch nodes are on the switch") {
  const Fabric star = switch_fabric(3, kLink).with_reduction({VertexId(3)});
  const std::vector<VertexId> two = ranks({2, 0});
  const SharedList<VertexId> vertices = vertices_of_nodes(
      the_algorithm(), *make_in_switch(InSwitchSchedule::Form::AllReduce, 2, 4), {star, two});
  CHECK(vertices == SharedList<VertexId>{VertexId(2), VertexId(0), VertexId(3), VertexId(3)});
}

}  // namespace
}  // namespace orrery::test
