// This file has the backward rule of compute, which stands for a computation not written out.

#include "models/program/backward_ops.h"
#include "models/program/families.h"

namespace orrery::backward {

namespace {

/// Returns part `part` of `whole`, which is split into `parts` parts as evenly as possible.
int64_t share(int64_t whole, int64_t part, int64_t parts) {
  return whole / parts + (part < whole % parts ? 1 : 0);
}

}  // namespace

/// Adds a computation for each cotangent that is asked for, with an equal part of the work that
/// "backward" states. Each reads what the op read. So the two cotangents of a matmul take equally
/// long.
Cotangents compute(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  if (!call.attributes().has("backward")) {
    call.refuse("compute has a gradient only with \"backward\", which states its work");
    return cotangents;
  }
  const Work work = call.attributes().work("backward");
  std::vector<std::string> read = {call.cotangent()};
  int64_t parts = 0;
  for (size_t k = 0; k < call.operands(); ++k) {
    read.push_back(call.operand(k));
    parts += call.wants(k) ? 1 : 0;
  }
  int64_t part = 0;
  for (size_t k = 0; k < call.operands(); ++k) {
    if (!call.wants(k))
      continue;
    const ValueType& type = call.operand_type(k);
    cotangents[k] = call.ops().op(OpKind::Compute, read,
                                  with({{"flops", Flops(share(work.flops.count(), part, parts))},
                                        {"bytes", Bytes(share(work.bytes.count(), part, parts))},
                                        {"dtype", type.dtype},
                                        {"shape", dims_of(type.shape)}}));
    ++part;
  }
  return cotangents;
}

}  // namespace orrery::backward
