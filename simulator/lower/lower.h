#pragma once

// Lowering turns a program into the form that every executor runs (schedule/lowered.h).
//
// Each local op gets its cost (local_cost.h). Each thread gets a tape of instructions. Each site
// gets a plan, which all sites share whose op, groups and shapes are the same:
//  1. The groups of the site are laid on the fabric (groupings.h). Groups of one shape take the
//     same time there.
//  2. A method is chosen: an algorithm and a protocol (choice.h). It is the one that the scenario
//     names. If it names none, every method that fits is timed alone on a quiet fabric, and the
//     fastest one is taken.
//  3. The schedule of each group is made by that method (schedule_maker.h). Equal schedules are
//     stored once.
//  4. Each message must have a route (network/paths.h).
// A figure that the cluster lacks is an error if there is no sensible default. Else it becomes a
// label of the result (assumptions.h). Faults are applied to the finished result (apply_faults).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/fault.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/lower/schedule_maker.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

struct QuietTimes;

/// Lowers the program. An algorithm that does not exist or does not fit the group, two members
/// without a route, a dtype without a rate, and more steps than Limits::steps are errors. They are
/// added to `diagnostics`; the result is valid only if there are none. Throws OpOverflow if an op's
/// figures exceed 64 bits. `paths` are those of the cluster's fabric. Messages are passed by the
/// protocols of the cluster's transport, or by `instead`. `tables` are those of all sites that
/// exchange by tables. Equal schedules of several lowerings are shared if `made` is given. If
/// `replace` is given, each schedule that is made is replaced, once. Methods are still chosen by
/// the times of ours. Lowerings that share schedules must replace them alike. `known` has times by
/// which methods were chosen before (choice.h), on this cluster.
Lowered lower(const Program& program, const Cluster& cluster, Paths& paths,
              Diagnostics& diagnostics, const Limits& limits = {},
              const std::optional<ProtocolFigures>& instead = std::nullopt,
              const RaggedTables& tables = {}, MadeSchedules* made = nullptr,
              const ReplaceSchedule& replace = nullptr, QuietTimes* known = nullptr);

/// Does the same, with paths of its own.
Lowered lower(const Program& program, const Cluster& cluster, Diagnostics& diagnostics,
              const Limits& limits = {}, const RaggedTables& tables = {});

/// Returns the lowered form of a program with a given schedule instead of one that lower() chooses.
/// The program's only op is a sync collective of all devices of its mesh, in one group. Node r of
/// the schedule is rank r; logical id d runs on device d. Requires a collective that works on its
/// operand's elements as they are.
///
/// Messages are passed by the only protocol of `transport`, with the figures that lower() gives a
/// collective of that protocol. The caller cuts them. Without a transport they take their links
/// alone.
Lowered lower_with(std::unique_ptr<const Schedule> schedule, std::string algorithm,
                   const Program& program, const DeviceFigures& device,
                   std::optional<TransportFigures> transport = std::nullopt);

// faults.cc applies faults to a cluster and a lowered program. The algorithms stay those of the
// healthy cluster, as on a machine that breaks after the choice. So the schedules stay the same,
// and executors need not know of faults.

/// Faults replace these parts of the healthy cluster in a run.
struct FaultEffects {
  std::optional<Fabric> fabric;       // if some link changed; links keep their ids
  std::vector<Instant> device_start;  // per logical id; empty: all begin at 0
};

/// Lengthens the local ops of `lowered`, and returns the other effects. The amount drawn for an op
/// depends only on the seed, the op's name and the device; that for a link only on the seed and the
/// link's id. Throws Overflow.
FaultEffects apply_faults(std::span<const Fault> faults, const Program& program,
                          const Fabric& healthy, uint64_t seed, Lowered& lowered);

}  // namespace orrery
