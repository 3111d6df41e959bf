#pragma once

// This file gives the work graph addresses in the memory of the virtual devices.
//
// A device has two pieces of memory. Its arena is laid out as the memory profile counts it
// (simulator/memory/layout.h), so values, results and scratch lie at places that are known before
// the graph is made. The program is not charged for what lies beside the arena. There are the slots
// of messages in flight, and wider work elements of xla-cpu. Several operands that are exchanged as
// one lie there too. A ReusePool gives this memory out in the order in which the
// graph is built. Work that gets memory which was used before waits for the last use. That is an
// edge to a node that is there already, so no cycle can arise.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "models/array/work.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/memory/layout.h"
#include "simulator/memory/placement.h"
#include "simulator/schedule/end_copies.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// A ReusePool has the memory of one device beside its arena.
class ReusePool {
 public:
  /// Every size that is given out is a multiple of this, as those of the driver are.
  static constexpr int64_t kAlignment = 256;

  /// Returns where the memory begins. Adds to `after` what must end before it is used.
  Bytes take(Bytes size, Dependencies& after);

  /// Gives back what take(size) returned, once `last_use` has happened.
  void give_back(Bytes begin, Bytes size, const Frontier& last_use);

  Bytes high_water() const { return placement_.high_water(); }

 private:
  struct Used {
    int64_t end = 0;
    Frontier last;
  };

  /// Cuts a used range in two at `at`, if `at` lies inside one.
  void split(int64_t at);

  Placement placement_;
  std::map<int64_t, Used> used_;  // by begin: free memory, and who used it last
};

/// DeviceBases says where the memory of one virtual device begins.
struct DeviceBases {
  DevicePointer arena = 0;
  DevicePointer beside = 0;
};

/// A BesideArena is memory beside an arena that is in use.
struct BesideArena {
  LogicalId device;
  Bytes begin;
  Bytes size;
};

/// DeviceAddresses has addresses on the virtual devices. It refers to the program and the layout.
class DeviceAddresses {
 public:
  DeviceAddresses(const Program& program, const ArenaLayout& layout,
                  std::vector<DeviceBases> bases);

  /// Returns the address of a value as the list of `thread` uses it.
  DevicePointer address(LogicalId device, ThreadId thread, ValueId id);
  std::vector<DevicePointer> addresses(LogicalId device, ThreadId thread,
                                       const std::vector<ValueId>& values);
  /// A Padding is the bytes behind a buffer, up to the end of its place.
  struct Padding {
    DevicePointer at = 0;
    Bytes size;
  };
  Padding padding(LogicalId device, ThreadId thread, BufferId buffer);
  /// Returns the address of the scratch of an op; 0 for an op without one.
  DevicePointer scratch(LogicalId device, ThreadId thread, OpId op);
  /// Returns, per device, the end of the last byte of its arena whose address was asked for.
  const std::vector<Bytes>& arenas() const { return arenas_; }

  BesideArena take_beside(LogicalId device, Bytes size, Dependencies& after);
  void give_back(const BesideArena& memory, const Frontier& last_use);
  DevicePointer address(const BesideArena& memory) const;
  /// Returns, per device, how much it needs beside its arena.
  std::vector<Bytes> beside() const;

 private:
  DevicePointer use(LogicalId device, const ArenaRange& place);

  const Program& program_;
  const ArenaLayout& layout_;
  const std::vector<DeviceBases> bases_;  // per device
  std::vector<ReusePool> pools_;          // per device
  std::vector<Bytes> arenas_;             // per device
};

/// MemberStorage has the operand and the result of a member of a collective, and its memory.
struct MemberStorage {
  std::optional<Dtype> operand_dtype;  // empty: it gives nothing
  DevicePointer operand = 0;           // the address of an operand that is given alone
  bool several_operands = false;
  std::optional<Dtype> result_dtype;  // empty: it takes nothing
  DevicePointer result = 0;
  DevicePointer scratch = 0;  // as many bytes as the collective has (Collective::scratch)
};

/// MemberPlaces says where the areas of a member lie: in its operand, its result and its scratch
/// (simulator/schedule/end_copies.h), or beside the arena if these have no room.
struct MemberPlaces {
  std::array<DevicePointer, 3> areas = {};  // by Area
  EndCopies copies;
  bool enters = false;  // the operand is not the input area itself
  bool leaves = false;  // the output area is not the result itself
};

/// Returns the places of a member. `beside` gives that many bytes beside the arena.
MemberPlaces member_places(const Collective& collective, const Folding& folding,
                           const MemberStorage& storage,
                           const std::function<DevicePointer(Bytes)>& beside);

}  // namespace orrery::cuda
