#pragma once

// What the members of one run of a collective gave and got, for checks: handed over when the last
// of them has ended (ExecuteOptions::ended). Nothing else may hold these tensors any longer.

#include <functional>
#include <span>
#include <vector>

#include "models/base/id.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/values/live_values.h"

namespace orrery {

struct EndedMember {
  OpId op;  // by which it entered
  LogicalId device;
  std::vector<SharedTensor> operands;  // in the op's order; null where the device has none
  SharedTensor result;                 // null of a member that takes none
};

struct EndedRun {
  CollectiveRun run;
  std::span<const EndedMember> members;  // by rank
};

using VisitEndedRun = std::function<void(const EndedRun&)>;

}  // namespace orrery
