#pragma once

// The words of MSCCL's files: types of steps, and collectives.

#include <optional>
#include <string_view>

#include "tools/import/msccl.h"

namespace orrery {

/// What one type of step does, as in Step.
struct StepType {
  std::string_view name;
  bool receives;
  bool reads;  // its source buffer
  bool writes;
  bool sends;
  bool combines;
};

const StepType* step_type_named(std::string_view text);  // null if there is none

/// As name() gives it, or as RCCL spells it.
std::optional<MscclCollective> collective_named(std::string_view text);

}  // namespace orrery
