#pragma once

// Where the areas of a member of a collective lie on its device: in the operand, the result and the
// scratch that the program is charged for (simulator/schedule/end_copies.h). What these have no
// room for lies beside the arena: work elements of xla-cpu that are wider than those of the
// program, and several operands that are exchanged as one.

#include <array>
#include <functional>
#include <optional>

#include "models/array/work.h"
#include "models/program/value.h"
#include "simulator/schedule/end_copies.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/kernels/kernel_call.h"

namespace orrery::cuda {

/// What a member gives and takes, and the memory that it has for it.
struct MemberStorage {
  std::optional<Dtype> operand_dtype;  // empty: it gives nothing
  DevicePointer operand = 0;           // of one that is given alone
  bool several_operands = false;
  std::optional<Dtype> result_dtype;  // empty: it takes nothing
  DevicePointer result = 0;
  DevicePointer scratch = 0;  // of so many bytes as the collective has
};

struct MemberPlaces {
  std::array<DevicePointer, 3> areas = {};  // by Area
  EndCopies copies;
  bool enters = false;  // the operand is not the input area itself
  bool leaves = false;  // the output area is not the result itself
};

/// `beside` gives memory beside the arena, of so many bytes.
MemberPlaces member_places(const Collective& collective, const Folding& folding,
                           const MemberStorage& storage,
                           const std::function<DevicePointer(Bytes)>& beside);

}  // namespace orrery::cuda
