// The receivers that computed schedules state are those that their steps send to.

#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/algorithm/some_op.h"

namespace orrery::test {
namespace {

TEST_CASE("receivers: for_each_receiver gives what the steps send") {
  for (const Algorithm& algorithm : algorithms()) {
    for (const OpKind kind : algorithm.kinds) {
      for (uint32_t nodes = 1; nodes <= 9; ++nodes) {
        for (uint32_t channels = 1; channels <= 3; ++channels) {
          const Op op = some_op(kind, nodes);
          Transport transport;
          transport.channels = channels;
          // Parts of unequal size.
          const bool even =
              kind == OpKind::AllToAll || kind == OpKind::Pswapaxes || kind == OpKind::PsumScatter;
          const int64_t elements = even ? int64_t{nodes} * 7 : 7 * int64_t{nodes} + 5;
          const std::unique_ptr<const Schedule> schedule =
              algorithm.make(schedule_request(op, nodes, elements, transport));
          for (uint32_t n = 0; n < nodes; ++n) {
            for (uint32_t c = 0; c < schedule->extent().channels; ++c) {
              std::vector<Sent> said;
              std::vector<Sent> done;
              schedule->for_each_receiver(Node(n), Channel(c),
                                          [&](const Sent& sent) { said.push_back(sent); });
              schedule->Schedule::for_each_receiver(
                  Node(n), Channel(c), [&](const Sent& sent) { done.push_back(sent); });
              INFO(fmt::format("{} for {} over {} ranks, node {}, channel {} of {}", algorithm.name,
                               rules(kind).name, nodes, n, c, channels));
              CHECK(said == done);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery::test
