#pragma once

// Where in the memory of each device its buffers lie: the placement that the memory profile counts
// as `arena`. An executor that takes its addresses from here needs exactly so many bytes.
//
// A device of several lists has one arena for each, one after another. An argument that several of
// them hold to the end is in the first one only. Arguments that none of its lists counts come
// before all else.

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Where a buffer or the scratch of an op lies, from the start of a device's arena.
struct Place {
  Bytes begin;
  Bytes size;  // rounded up to the alignment
};

class ArenaLayout {
 public:
  /// Requires a program with all iterations of its loops, and its profile.
  ArenaLayout(const Program& program, const Lowered& lowered, const MemoryPolicy& policy,
              const MemoryProfile& profile);

  /// The buffer as the list of `thread` uses it. Requires that the list has it.
  Place buffer(LogicalId device, ThreadId thread, BufferId buffer) const;

  /// Empty if the op has none.
  std::optional<Place> scratch(LogicalId device, ThreadId thread, OpId op) const;

  /// Every place that an argument's elements are needed in. A device may hold it in several.
  std::vector<Place> argument(LogicalId device, BufferId buffer) const;

  /// The end of the last buffer: `arena` of the profile, for a device that has buffers.
  Bytes arena(LogicalId device) const { return arenas_[device.index()]; }

 private:
  /// The list of one thread.
  struct OfThread {
    std::map<BufferId, Place> buffers;
    std::map<OpId, Place> scratch;
    std::map<BufferId, Place> kept;  // arguments that it holds to the end
    Bytes arena;
  };

  /// The list of one thread on one device.
  struct OfList {
    ThreadId thread;
    Bytes begin;                          // of its arena
    std::map<BufferId, Place> elsewhere;  // what an earlier list of the device holds
    std::vector<Place> left_out;          // of its own arena, ascending: the places of these
    Place moved(Place in_thread) const;
  };

  void add_device(const Program& program, const MemoryPolicy& policy, LogicalId device,
                  const std::vector<ThreadId>& threads);
  const OfList& list(LogicalId device, ThreadId thread) const;

  std::vector<OfThread> threads_;                  // per thread
  std::vector<std::vector<OfList>> lists_;         // per device, by thread
  std::vector<std::map<BufferId, Place>> beside_;  // per device: what none of its lists counts
  std::vector<Bytes> arenas_;                      // per device
};

}  // namespace orrery
