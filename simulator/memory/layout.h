#pragma once

// An `ArenaLayout` says where in the memory of each device its buffers lie. It is the placement
// that the memory profile counts as `arena`: an executor that takes its addresses from here needs
// exactly so many bytes.
//
// A device of several lists has one arena for each list, one after another. An argument that a list
// reads and does not hold lies where another list of the device holds it to the end.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// The bytes of a buffer or of the scratch of an op, from the start of a device's arena.
struct ArenaRange {
  Bytes begin;
  Bytes size;  // rounded up to the alignment
};

class ArenaLayout {
 public:
  /// Requires a program with all iterations of its loops, and its profile.
  ArenaLayout(const Program& program, const Lowered& lowered, const MemoryPolicy& policy,
              const MemoryProfile& profile);

  /// Returns where the buffer lies as the list of `thread` uses it. Requires that the list has it.
  ArenaRange buffer(LogicalId device, ThreadId thread, BufferId buffer) const;

  /// Returns where the op's scratch lies. The result is empty if the op has none.
  std::optional<ArenaRange> scratch(LogicalId device, ThreadId thread, OpId op) const;

  /// Returns each place in which an argument's elements are needed. A device may have several.
  std::vector<ArenaRange> argument(LogicalId device, BufferId buffer) const;

  /// Returns the end of the last buffer: `arena` of the profile, for a device that has buffers.
  Bytes arena(LogicalId device) const { return arenas_[device.index()]; }

 private:
  /// A list, with places from the start of its arena.
  struct OfList {
    std::optional<ThreadId> thread;
    std::map<BufferId, ArenaRange> buffers;
    std::map<OpId, ArenaRange> scratch;
    std::set<BufferId> kept;  // arguments that it holds to the end
  };

  /// A list on one device.
  struct OnDevice {
    size_t list = 0;
    Bytes begin;  // of its arena

    ArenaRange place(ArenaRange in_list) const { return {begin + in_list.begin, in_list.size}; }
  };

  const OnDevice& list(LogicalId device, ThreadId thread) const;
  /// Returns where a list of the device has the buffer. The result is empty if it does not hold it.
  std::optional<ArenaRange> place_in(const OnDevice& on, BufferId buffer) const;

  std::vector<OfList> lists_;                      // as in the profile
  std::vector<std::vector<OnDevice>> on_devices_;  // per device, by thread
  std::vector<Bytes> arenas_;                      // per device
};

}  // namespace orrery
