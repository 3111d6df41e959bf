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
