#pragma once

// What a member of a collective copies before its first step and after its last, and the memory
// that it needs for that, stated only here.

#include "models/array/work.h"
#include "models/base/quantity.h"
#include "models/program/op.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/view.h"

namespace orrery {

/// The tensors of a member.
struct MemberTensors {
  WorkType work;
  Dtype operand = Dtype::F32;
  Dtype result = Dtype::F32;
  const View& input;   // of the operand
  const View& output;  // of the result
};

/// How the tensors differ from the areas that the schedule works on, which hold work elements in
/// canonical order.
struct EndCopies {
  bool converts_operand = false;
  bool reorders_operand = false;
  bool reorders_result = false;
  bool converts_result = false;

  bool packs() const { return converts_operand || reorders_operand; }
  bool unpacks() const { return converts_result || reorders_result; }
};

EndCopies end_copies(OpKind kind, const MemberTensors& tensors);

/// What is copied when the operand is packed, and when the result is copied out.
Bytes bytes_packed(WorkType work, const Extent& extent);
Bytes bytes_unpacked(WorkType work, const Extent& extent);

/// The memory and time that a member needs besides its steps.
struct MemberCosts {
  Bytes scratch;        // besides its operand and its result
  Duration pack;        // of the operand, before the first step
  Duration leave;       // to the result, after the last
  bool copies = false;  // when it packs or leaves
};

/// The scratch is that of the schedule, and each area that cannot lie in the operand's or the
/// result's memory: the operand stays unchanged, and what is reordered or changes its size needs a
/// second place. In an in-place schedule the operand's area is the result's.
MemberCosts member_costs(OpKind kind, const Extent& extent, const MemberTensors& tensors,
                         const DataRates& of_device);

}  // namespace orrery
