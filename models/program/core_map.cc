#include "models/program/core_map.h"

#include "models/base/check.h"
#include "models/program/rules.h"

namespace orrery {

bool operator==(const SharedCoreMap& a, const SharedCoreMap& b) {
  return a.map_ == b.map_ || (a.map_ && b.map_ && *a.map_ == *b.map_);
}

bool operator<(const SharedCoreMap& /*a*/, const SharedCoreMap& /*b*/) {
  fail_check("a collective", "only parameters of collectives are sorted", __FILE__, __LINE__);
}

bool is_body_op(OpKind kind) {
  switch (kind) {
    case OpKind::AxisIndex:
    case OpKind::AxisSize:
    case OpKind::ConvertElementType:
    case OpKind::DotGeneral:
    case OpKind::Full:
    case OpKind::ReduceSum:
    case OpKind::Reshape:
    case OpKind::Transpose:
      return true;
    default:
      return rules(kind).elementwise.has_value();
  }
}

std::string_view word(const CoreOp& op) {
  switch (op.kind) {
    case CoreOp::Kind::Copy:
      return "copy";
    case CoreOp::Kind::Signal:
      return "signal";
    case CoreOp::Kind::Wait:
      return "wait";
    case CoreOp::Kind::Local:
      break;
  }
  return rules(op.op).name;
}

}  // namespace orrery
