#pragma once

// A profile says how much memory each device holds at each position of its thread's list. Memory is
// allocated in issue order, so the answer holds for every timing.
//
// A thread's profile is made in three steps:
//  1. lifetimes.h says between which positions of the list each buffer, and each op's scratch, is
//     held. The sizes of what is held at a position add up to its live bytes.
//  2. placement.h puts them into one arena, best fit in issue order. The arena's high water may be
//     above the largest live bytes.
//  3. transport_buffers.h adds the buffers of the connections between devices, which are held all
//     the time, to what the runtime reserves.
// A device of one list has the profile of its thread. The lists of a device of several may be at
// any positions at the same time, so their peaks are added up. layout.h gives the addresses that
// follow, for executors that need them.

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

/// The memory of one thread, whose devices all hold the same. Only arguments that all these devices
/// have count. If the devices are in groups with different scratch, the largest counts.
struct ThreadMemory {
  std::vector<Bytes> live;         // while each op of the issue order runs
  Bytes peak;                      // largest live, plus reserved
  std::optional<OpId> peak_at;     // the first op that attains it; empty: the thread has no ops
  std::vector<Held> live_at_peak;  // largest first, then by name; without empty ones
  Bytes reserved;                  // with transport buffers: those of its device that has the most
  Bytes arena;                     // high water of the best-fit placement
  std::vector<Held> kept;          // arguments that are held to the end
  /// The bytes of each kind in the live set at the peak.
  Bytes arguments, outputs, temporaries, in_flight, scratch;
};

/// The memory of all devices that run the same lists, if any, and have the same arguments and
/// transport buffers. The ops of several lists may run at the same time in any way. Then peak and
/// arena are bounds: the sums over the lists. A buffer that several lists always hold counts once.
struct DeviceMemory {
  std::vector<ThreadId> threads;   // ascending
  Bytes peak;                      // reserved included
  std::optional<OpId> peak_at;     // as of the thread; empty if there are several threads
  std::vector<Held> live_at_peak;  // largest first, then by name; without empty ones
  Bytes reserved;                  // by the runtime, transport buffers included
  Bytes transport;                 // the transport buffers
  std::vector<ConnectionBuffers> connections;  // which are the transport buffers
  Bytes arena;
  /// The device's live bytes less those of its threads: positive for arguments that not all devices
  /// of a thread have, and negative for arguments that several of its threads count.
  Bytes beside;
};

/// Returns the text after the reserved size: " (1 MiB of it transport buffers)", or "".
std::string transport_note(const DeviceMemory& memory);

struct MemoryProfile {
  std::vector<ThreadMemory> threads;           // one per thread
  std::vector<DeviceMemory> kinds;             // of devices; in the order of their first devices
  std::vector<std::optional<size_t>> kind_of;  // per device; empty: it runs and holds nothing

  /// Returns the memory of a device. Requires that the device runs or holds something.
  const DeviceMemory& of(LogicalId device) const { return kinds[*kind_of[device.index()]]; }

  /// Returns the maximum over the devices, or zero if none runs or holds anything.
  Bytes largest_peak() const;
};

/// Returns the profile, which is independent of time. Buffers of host memory are not counted.
MemoryProfile profile(const Program& program, const Lowered& lowered, const MemoryPolicy& policy);

}  // namespace orrery
