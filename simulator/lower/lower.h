#pragma once

// Turns a program into tapes and schedules: picks an algorithm for each site (the scenario's, or
// the fastest with the reason), and computes the cost of each local op.

#include <optional>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Errors (an algorithm that does not exist or does not fit the group, no route between two
/// members, a dtype without a rate, more steps than Limits::steps) are added to `diagnostics`; the
/// result is valid only if there are none. Throws OpOverflow if an op's figures exceed 64 bits.
/// `paths` are those of the cluster's fabric. Messages are passed by the protocols of the cluster's
/// transport, or by `instead`. `tables` are those of all sites that exchange by tables.
Lowered lower(const Program& program, const Cluster& cluster, Paths& paths,
              Diagnostics& diagnostics, const Limits& limits = {},
              const std::optional<ProtocolFigures>& instead = std::nullopt,
              const RaggedTables& tables = {});

/// The same, with paths of its own.
Lowered lower(const Program& program, const Cluster& cluster, Diagnostics& diagnostics,
              const Limits& limits = {}, const RaggedTables& tables = {});

}  // namespace orrery
