#pragma once

// These checks find whether threads agree on the order of the collectives that they share.

#include <optional>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "verifier/verdict.h"

namespace orrery {

/// Checks that any two threads issue the collectives that they share on one stream in the same
/// order (ORDER.AGREED). The time is linear in the members of sites if all threads agree.
Check order_agreed(const Program& program, const Lowered& lowered);

/// Checks the same across streams (STREAMS.ORDERED): if two collectives share two devices, and may
/// be in flight together on one of them on two streams, both devices must issue them in one order.
/// Otherwise each device may be busy with the collective that the other one has not begun. NCCL
/// promises no progress then, and XLA's scheduler refuses such a pair. The check is undecided
/// if only three or more devices form such a cycle. Returns nothing if no thread has shared
/// collectives on several streams.
std::optional<Check> streams_ordered(const Program& program, const Lowered& lowered);

}  // namespace orrery
