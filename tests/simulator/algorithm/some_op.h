#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/program/op.h"

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

}  // namespace orrery::test
