#pragma once

// This gives the cost of a collective: how much of its time computation hid, and its bandwidths as
// nccl-tests defines them.

#include <cstdint>
#include <optional>

#include "models/base/callable.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/time/completion.h"

namespace orrery {

/// The time of a collective, and how much of it the compute stream waited for. Both are measured on
/// the device of the op's thread on which the collective took longest; among equals, on the one of
/// the lowest id.
struct Exposure {
  LogicalId device;
  Duration took;  // from the begin of its launch to its end, as nccl-tests counts
  /// How long the compute stream waited: at a sync op, launch included, or at the done of a started
  /// op. It is 0 if the op is never done.
  Duration exposed;
  Duration hidden;  // took - exposed, 0 where that is negative
};

/// Returns the exposure of `op`, a collective of `thread`. `waiting` is the op that waits for its
/// end: itself if it is sync. `launch` gives the launch time on a device.
Exposure exposure(const Thread& thread, const Completion& completion,
                  FunctionRef<Duration(LogicalId)> launch, OpId op, std::optional<OpId> waiting);

/// Returns S of nccl-tests, by which algbw = S / time. S is the operand of one rank if every rank
/// holds the whole before the collective (psum, pmax, psum_scatter, all_to_all), and for ppermute.
/// For psum_scatter and all_to_all this is n times what one rank keeps or sends to one other. S is
/// n times the operand for all_gather, and the slices of the rank that sends most for
/// ragged_all_to_all. `operand` is the size of one rank's work elements, since they are moved: 4
/// bytes each in a psum of pred.
Bytes nccl_size(OpKind kind, Bytes operand, size_t group_size);

/// These are the bandwidths of a collective, for display only; GB = 10^9 bytes.
struct Bandwidths {
  double algbw_GBps = 0;
  double busbw_GBps = 0;  // algbw times 2(n-1)/n for reductions to all, (n-1)/n for psum_scatter,
                          // all_gather and all_to_all, ragged too, 1 for ppermute
};

/// Returns the bandwidths. Requires time > 0.
Bandwidths bandwidths(OpKind kind, Bytes nccl_size, size_t group_size, Duration time);

}  // namespace orrery
