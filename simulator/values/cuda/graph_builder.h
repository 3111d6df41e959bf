#pragma once

// build_graph() makes the work graph of a program. It visits the ops and the halves of steps in the
// order of the program walk, as the other executors do. Each op and each half gets the kernels and
// copies that do it, and an edge from every cause. Causes are those of causes.h and tape.h.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/program/program.h"
#include "simulator/memory/layout.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/device_memory.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// An Observed is a value that is copied to the host as soon as it is there.
struct Observed {
  ValueId value;
  LogicalId device;
  DevicePointer to = 0;  // in the host's memory, which the devices can write
};

/// A Guard is the bytes between a result and the end of its place. They get a pattern before the
/// op, and are copied to the host after it.
struct Guard {
  ValueId value;
  LogicalId device;
  Bytes size;
  Bytes to;  // where its copy lies in the host's copies of all guards
};
/// This byte is the pattern of the guards.
inline constexpr std::byte kGuardByte{0xa5};

struct BuildOptions {
  std::vector<DeviceBases> bases;  // per device
  std::vector<Observed> observed;
  /// Guards are copied to here, in the host's memory. Without it results are not guarded.
  std::optional<DevicePointer> guards = {};
  std::map<OpId, MatrixProduct> products = {};     // the ops that cuBLASLt does
  std::optional<OmittedCause> omitted_cause = {};  // an error that tests plant
};

struct Built {
  WorkGraph graph;
  std::vector<Bytes> arenas;  // per device: the end of what is used of its arena
  std::vector<Bytes> beside;  // per device: what it needs beside its arena
  std::vector<Guard> guards;
  WalkDigest digest;
  CauseCounts causes = {};
};

/// Makes the work graph. Requires a program that ends, with its loops written out.
Built build_graph(const Program& program, const Lowered& lowered, const ArenaLayout& layout,
                  const BuildOptions& options);

}  // namespace orrery::cuda
