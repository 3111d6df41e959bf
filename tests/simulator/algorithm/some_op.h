#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/program/op.h"
#include "simulator/algorithm/algorithms.h"

namespace orrery::test {

/// Returns an op with the attributes that algorithms read, for a group of `nodes`.
inline Op some_op(OpKind kind, uint32_t nodes) {
  Op op;
  op.kind = kind;
  op.attributes.set("axis_name", std::vector<std::string>{"x"});
  op.attributes.set("source", int64_t{nodes - 1});
  std::vector<std::vector<int64_t>> pairs;
  std::vector<int64_t> sources;
  for (int64_t rank = 0; rank < nodes; ++rank) {
    pairs.push_back({rank, (rank + 1) % nodes});
    sources.push_back((rank + 1) % nodes);
  }
  op.attributes.set("perm", kind == OpKind::Pshuffle ? Attribute(sources) : Attribute(pairs));
  return op;
}

/// Returns a layout that a group of so many ranks may have: nodes and axes as its divisors allow,
/// and rings in different orders.
inline Layout some_layout(uint32_t ranks) {
  Layout layout;
  std::vector<uint32_t> axes;
  for (uint32_t rest = ranks, factor = 2; rest > 1; ++factor)
    for (; rest % factor == 0; rest /= factor)
      axes.push_back(factor);
  if (!axes.empty())
    layout.together = axes.front();
  layout.axes = axes;
  std::vector<uint32_t> on;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    on.push_back((rank + ranks / 2) % ranks);
  std::vector<uint32_t> back(on.rbegin(), on.rend());
  if (ranks > 2)
    std::swap(back[0], back[1]);
  layout.orders = {SharedList<uint32_t>(on), SharedList<uint32_t>(back)};
  return layout;
}

}  // namespace orrery::test
