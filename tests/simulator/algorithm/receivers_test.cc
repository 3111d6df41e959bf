// Tests that the receivers and messages that computed schedules state are those of their steps.

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/algorithm/cut_made.h"
#include "tests/simulator/algorithm/random_ragged.h"
#include "tests/simulator/algorithm/some_op.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Calls `check` with schedules of every algorithm for each of its kinds, whole and cut to messages
/// of 3 elements.
template <class Check>
void for_each_schedule(Check&& check) {
  uint64_t seed = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const OpKind kind : algorithm.kinds) {
      for (uint32_t nodes = 1; nodes <= 9; ++nodes) {
        for (uint32_t channels = 1; channels <= 3; ++channels) {
          if (!is_tried(++seed))
            continue;
          const Op op = some_op(kind, nodes);
          Transport transport;
          transport.channels = channels;
          // The parts have unequal sizes where the kind allows it.
          const bool even =
              kind == OpKind::AllToAll || kind == OpKind::Pswapaxes || kind == OpKind::PsumScatter;
          const int64_t elements = even ? int64_t{nodes} * 7 : 7 * int64_t{nodes} + 5;
          INFO(fmt::format("{} for {} over {} ranks, {} channels", algorithm.name, rules(kind).name,
                           nodes, channels));
          ScheduleRequest request = schedule_request(op, nodes, elements, transport);
          if (nodes % 2 == channels % 2)
            request.layout = some_layout(nodes);
          check(*algorithm.make(request));
          check(*cut_made(algorithm, request, 3));
        }
      }
    }
  }
  Random random(12);
  for (uint32_t nodes = 1; nodes <= 9; ++nodes)
    for (int64_t largest = 0; largest <= 3; ++largest) {
      Transport transport;
      transport.channels = 1 + nodes % 3;
      transport.largest = largest;
      INFO(fmt::format("ragged over {} ranks, messages of {}", nodes, largest));
      check(RaggedExchangeSchedule(random_ragged(random, nodes), transport));
    }
}

TEST_CASE("receivers: for_each_receiver gives what the steps send") {
  for_each_schedule([](const Schedule& schedule) {
    for (uint32_t n = 0; n < schedule.extent().nodes; ++n) {
      for (uint32_t c = 0; c < schedule.extent().channels; ++c) {
        std::vector<Sent> said;
        std::vector<Sent> done;
        schedule.for_each_receiver(Node(n), Channel(c),
                                   [&](const Sent& sent) { said.push_back(sent); });
        schedule.Schedule::for_each_receiver(Node(n), Channel(c),
                                             [&](const Sent& sent) { done.push_back(sent); });
        INFO(fmt::format("node {}, channel {}", n, c));
        CHECK(said == done);
      }
    }
  });
}

TEST_CASE("receivers: the largest message is that of the steps") {
  for_each_schedule([](const Schedule& schedule) {
    CHECK(schedule.largest_message() == schedule.Schedule::largest_message());
  });
}

TEST_CASE("receivers: a schedule that says so sends one message on each connection") {
  for_each_schedule([](const Schedule& schedule) {
    if (!schedule.extent().one_message_a_connection)
      return;
    for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
      for (uint32_t c = 0; c < schedule.extent().channels; ++c) {
        std::set<std::pair<Node, Channel>> receivers;
        for (uint32_t i = 0; i < schedule.steps(Node(n), Channel(c)); ++i) {
          const StepRef ref{Node(n), Channel(c), i};
          if (!schedule.step(ref).to)
            continue;
          const StepRef receiver = schedule.peer(ref, Half::Send);
          CHECK(receivers.emplace(receiver.node, receiver.channel).second);
        }
      }
  });
}

}  // namespace
}  // namespace orrery::test
