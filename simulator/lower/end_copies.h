#pragma once

// What a member of a collective copies before its first step and after its last.

#include "models/array/work.h"
#include "models/base/quantity.h"
#include "models/program/op.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/view.h"

namespace orrery {

struct EndCopies {
  Bytes packed;    // of the operand, into canonical work elements
  Bytes unpacked;  // out of them, into the result
};

/// For a collective of this kind whose operand and result have these dtypes and views. An operand
/// that already consists of canonical work elements is not packed; such a result is not unpacked.
/// An in-place schedule needs its operand where the result will be.
EndCopies end_copies(OpKind kind, const Extent& extent, WorkType work, Dtype operand,
                     const View& input, Dtype result, const View& output);

}  // namespace orrery
