#pragma once

// This says how long an mpmd_map takes, and what it holds in the memory spaces of cores.
//
// A body op takes its flops over the rate of its core, or, for each space that it reads or writes,
// its bytes there over the bandwidth of the space: the longest of these. The bandwidth of the
// device's memory is divided evenly among the instances that use it. A signal and a wait take no
// time of their own. The op takes its launch, and the longest chain of body ops over the order of
// bodies and semaphores.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/program/cores.h"
#include "simulator/schedule/durations.h"

namespace orrery {

struct CoreTimes {
  CoreWalk walk;  // from when the launch has ended
  LocalDuration whole;
  std::set<std::string> assumed;  // labels of figures that the cluster lacks
  std::set<Dtype> without_rate;   // of flops that are not charged
  std::optional<Dtype> product_without_rate;
};

CoreTimes core_times(const Cores& cores, const DeviceFigures& device);

/// Returns the runs of the longest chain, the first one first. Requires the times of a walk.
std::vector<size_t> critical_runs(const CoreWalk& walk);

/// Returns why the device's cores cannot run the map, or "".
std::string core_misfit(const Cores& cores, const DeviceFigures& device);

/// A SpaceUse is what an mpmd_map holds in a space: on the device, or on each core of a mesh.
struct SpaceUse {
  CoreSpace space = CoreSpace::Vmem;
  std::optional<uint32_t> function = {};  // whose cores have the space; empty: the device
  Bytes peak;
  std::optional<Bytes> size = {};  // that there is
};

/// Returns the uses of all spaces but the device's memory, of which scratch is a part of the memory
/// profile. Scratch is held while the op runs.
std::vector<SpaceUse> space_uses(const Cores& cores, const DeviceFigures& device);

}  // namespace orrery
