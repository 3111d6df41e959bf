#pragma once

// An `ArenaLayout` says where in the memory of each device its buffers lie. It is the placement
// that the memory profile counts as `arena`: an executor that takes its addresses from here needs
// exactly so many bytes.
//
// A device of several lists has one arena for each list, one after another. An argument that
// several lists hold to the end is only in the first of their arenas. Arguments that none of its
// lists counts come before all else.

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

/// The place of a buffer or of the scratch of an op, from the start of a device's arena.
struct Place {
  Bytes begin;
  Bytes size;  // rounded up to the alignment
};

class ArenaLayout {
 public:
  /// Requires a program with all iterations of its loops, and its profile.
  ArenaLayout(const Program& program, const Lowered& lowered, const MemoryPolicy& policy,
              const MemoryProfile& profile);

  /// Returns where the buffer lies as the list of `thread` uses it. Requires that the list has it.
  Place buffer(LogicalId device, ThreadId thread, BufferId buffer) const;

  /// Returns where the op's scratch lies. The result is empty if the op has none.
  std::optional<Place> scratch(LogicalId device, ThreadId thread, OpId op) const;

  /// Returns each place in which an argument's elements are needed. A device may have several.
  std::vector<Place> argument(LogicalId device, BufferId buffer) const;

  /// Returns the end of the last buffer: `arena` of the profile, for a device that has buffers.
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
    std::map<BufferId, Place> elsewhere;  // buffers that an earlier list of the device holds
    std::vector<Place> left_out;          // the places of these buffers in its own arena, ascending
    Place moved(Place in_thread) const;
  };

  void add_device(const Program& program, const MemoryPolicy& policy, LogicalId device,
                  const std::vector<ThreadId>& threads);
  const OfList& list(LogicalId device, ThreadId thread) const;

  std::vector<OfThread> threads_;                  // per thread
  std::vector<std::vector<OfList>> lists_;         // per device, by thread
  std::vector<std::map<BufferId, Place>> beside_;  // per device: arguments that no list counts
  std::vector<Bytes> arenas_;                      // per device
};

}  // namespace orrery
