#pragma once

// A profile says how much memory each device holds at each position of its thread's list. Memory is
// allocated in issue order, so the answer holds for every timing.
//
// Devices are of one kind if they run the same lists, have the same arguments, and have the same
// transport buffers. The profile of a list, with the arguments that it holds, is made in two steps:
//  1. lifetimes.h says between which positions of the list each buffer, and each op's scratch, is
//     held. The sizes of what is held at a position add up to its live bytes.
//  2. placement.h puts them into one arena, best fit in issue order. The arena's high water may be
//     above the largest live bytes.
// The lists of a device of several may be at any positions at the same time, so their peaks are
// added up. To them come the buffers of the connections between devices (transport_buffers.h) and
// what the runtime reserves, which are held all the time. layout.h gives the addresses that follow,
// for executors that need them.

#include <optional>
#include <string>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/transport_buffers.h"

namespace orrery {

struct Lowered;

/// Says what storage is held for. The first kind that applies counts, in this order: scratch; the
/// buffer of an argument; of an output; a buffer that a started and not yet done collective reads
/// or writes (its `start` and `done` included); others.
enum class HeldAs : uint8_t { Argument, Output, Temporary, InFlight, Scratch };

/// One buffer (or one op's scratch) that is held at a position.
struct Held {
  std::string value;  // the first value of the buffer; for scratch the op's name
  Bytes size;         // rounded up to the alignment
  HeldAs kind = HeldAs::Temporary;
  friend bool operator==(const Held&, const Held&) = default;
};

/// A HeldList is the list of a thread on those of its devices that have the same values.
struct HeldList {
  std::optional<ThreadId> thread = {};  // empty for devices that have arguments and run nothing
  std::vector<ValueId> holds = {};      // the arguments that the list holds, ascending
  std::vector<ValueId> lacks =
      {};  // the results of its ops that the devices do not have, ascending
  friend auto operator<=>(const HeldList&, const HeldList&) = default;
};

/// The memory of a list. If its devices are in groups with different scratch, the largest counts.
struct ListMemory : HeldList {
  std::vector<Bytes> live;         // while each op of the issue order runs
  Bytes peak;                      // largest live
  std::optional<OpId> peak_at;     // the first op that attains it; empty: the list has no ops
  std::vector<Held> live_at_peak;  // largest first, then by name; without empty ones
  Bytes arena;                     // high water of the best-fit placement
  /// The bytes of each kind in the live set at the peak.
  Bytes arguments, outputs, temporaries, in_flight, scratch;
};

/// The memory of a kind of devices. The ops of several lists may run at the same time in any way.
/// Then peak and arena are bounds: the sums over the lists. An argument that several lists hold to
/// the end is held by the first of them.
struct DeviceMemory {
  std::vector<size_t> lists;                   // in MemoryProfile::lists, by thread; at least one
  Bytes peak;                                  // reserved included
  std::optional<OpId> peak_at;                 // as of the list; empty if there are several
  std::vector<Held> live_at_peak;              // largest first, then by name; without empty ones
  Bytes reserved;                              // by the runtime, transport buffers included
  Bytes transport;                             // the transport buffers
  std::vector<ConnectionBuffers> connections;  // which are the transport buffers
  Bytes arena;
};

/// Returns the text after the reserved size: " (1 MiB of it transport buffers)", or "".
std::string transport_note(const DeviceMemory& memory);

struct MemoryProfile {
  std::vector<ListMemory> lists;               // in the order of their first devices
  std::vector<DeviceMemory> kinds;             // of devices; in the order of their first devices
  std::vector<std::optional<size_t>> kind_of;  // per device; empty: it runs and holds nothing

  /// Returns the memory of a device. Requires that the device runs or holds something.
  const DeviceMemory& of(LogicalId device) const { return kinds[*kind_of[device.index()]]; }
  /// Returns the memory of a list of a device. Requires that the device runs the list.
  const ListMemory& of(LogicalId device, ThreadId thread) const;

  /// Returns the maximum over the devices, or zero if none runs or holds anything.
  Bytes largest_peak() const;
};

/// Returns the profile, which is independent of time. Buffers of host memory are not counted.
MemoryProfile profile(const Program& program, const Lowered& lowered, const MemoryPolicy& policy);

}  // namespace orrery
