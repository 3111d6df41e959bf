#pragma once

// The cost of a collective: how much of its time computation hid, and its bandwidths as nccl-tests
// defines them.

#include <cstdint>
#include <optional>

#include "models/base/callable.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/time/completion.h"

namespace orrery {

/// On the device of the op's thread where the collective took longest; among equals the lowest id.
struct Exposure {
  LogicalId device;
  Duration took;  // from the begin of its launch to its end, as nccl-tests counts
  /// How long the compute stream waited: at a sync op, launch included; at the done of a started
  /// one; 0 if it is never done.
  Duration exposed;
  Duration hidden;  // took - exposed, 0 where that is negative
};

/// `op` is a collective of `thread`; `waiting` is the op that waits for its end: itself if it is
/// sync. `launch` gives the launch time of the collective that a device enters by it.
Exposure exposure(const Thread& thread, const Completion& completion,
                  FunctionRef<Duration(LogicalId)> launch, OpId op, std::optional<OpId> waiting);

/// S of nccl-tests, by which algbw = S / time. The operand of one rank where every rank holds the
/// whole before the collective (psum, pmax, psum_scatter, all_to_all: there S is n times what one
/// rank keeps or sends to one other) and for ppermute; of a ragged_all_to_all
/// the slices of the rank that sends most; n times the operand for all_gather.
/// `operand` is the size of one rank's work elements, which are what moves: of a psum of pred, 4
/// bytes each.
Bytes nccl_size(OpKind kind, Bytes operand, size_t group_size);

/// For display only; GB = 10^9 bytes.
struct Bandwidths {
  double algbw_GBps = 0;
  double busbw_GBps = 0;  // algbw times 2(n-1)/n for reductions to all, (n-1)/n for psum_scatter,
                          // all_gather and all_to_all, ragged too, 1 for ppermute
};

/// Requires time > 0.
Bandwidths bandwidths(OpKind kind, Bytes nccl_size, size_t group_size, Duration time);

}  // namespace orrery
