#pragma once

// This file alone says what a member of a collective copies before its first step and after its
// last one, and which memory it needs for that.

#include "models/array/work.h"
#include "models/base/quantity.h"
#include "models/program/op.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/view.h"

namespace orrery {

/// MemberTensors describes the operand and the result of a member.
struct MemberTensors {
  WorkType work;
  Dtype operand = Dtype::F32;
  Dtype result = Dtype::F32;
  const View& input;   // of the operand
  const View& output;  // of the result
};

/// EndCopies says how the tensors differ from the areas that the schedule works on, which hold work
/// elements in canonical order.
struct EndCopies {
  bool converts_operand = false;
  bool reorders_operand = false;
  bool reorders_result = false;
  bool converts_result = false;

  bool packs() const { return converts_operand || reorders_operand; }
  bool unpacks() const { return converts_result || reorders_result; }
};

EndCopies end_copies(OpKind kind, const MemberTensors& tensors);

/// These return the bytes copied when the operand is packed and when the result is unpacked.
Bytes bytes_packed(WorkType work, const Extent& extent);
Bytes bytes_unpacked(WorkType work, const Extent& extent);

/// MemberCosts holds the memory and time that a member needs besides its steps.
struct MemberCosts {
  Bytes scratch;        // besides its operand and its result
  Duration pack;        // of the operand, before the first step
  Duration leave;       // to the result, after the last step
  bool copies = false;  // whether it packs or unpacks anything
};

/// Returns the costs of a member. Its scratch is the schedule's, and each area that cannot lie in
/// the operand's or the result's memory. The input area needs its own memory if the operand is
/// packed, since the operand stays unchanged; in an in-place schedule it lies in the output area.
/// The output area needs its own if the result is reordered or its elements change their size.
MemberCosts member_costs(OpKind kind, const Extent& extent, const MemberTensors& tensors,
                         const DataRates& of_device);

}  // namespace orrery
