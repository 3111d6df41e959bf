#pragma once

// The memory of the virtual devices, as the work graph sees it: addresses.
//
// A device has two pieces of memory. Its arena is laid out as the memory profile counts it
// (simulator/memory/layout.h), so values, results and scratch lie at places that are known before
// the graph is made. Beside it lies what the program is not charged for: the slots of messages in
// flight, work elements of xla-cpu that are wider than the program's, and several operands that are
// exchanged as one. A ReusePool gives this memory out in the order in which the graph is built.
// Work that gets memory which other work has used waits for its last use: that is an edge to a node
// that is there already, so no cycle can arise.

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

/// The memory of one device beside its arena.
class ReusePool {
 public:
  /// Every size that is given out is a multiple of it, as the driver aligns its own.
  static constexpr int64_t kAlignment = 256;

  /// Where the memory begins. Adds to `after` what must have ended before it is used.
  Bytes take(Bytes size, Dependencies& after);

  /// Gives back what take(size) returned, once `last_use` has happened.
  void give_back(Bytes begin, Bytes size, const Frontier& last_use);

  Bytes high_water() const { return placement_.high_water(); }

 private:
  struct Used {
    int64_t end = 0;
    Frontier last;
  };

  /// Cuts a used range in two at `at`, if that lies inside one.
  void split(int64_t at);

  Placement placement_;
  std::map<int64_t, Used> used_;  // by begin: free memory, and who used it last
};

/// Where the memory of one virtual device begins.
struct DeviceBases {
  DevicePointer arena = 0;
  DevicePointer beside = 0;
};

/// Memory beside an arena that is in use.
struct BesideArena {
  LogicalId device;
  Bytes begin;
  Bytes size;
};

/// Addresses on the virtual devices. Keeps references to the program and the layout.
class DeviceAddresses {
 public:
  DeviceAddresses(const Program& program, const ArenaLayout& layout,
                  std::vector<DeviceBases> bases);

  /// The address of a value as the list of `thread` uses it.
  DevicePointer address(LogicalId device, ThreadId thread, ValueId id);
  std::vector<DevicePointer> addresses(LogicalId device, ThreadId thread,
                                       const std::vector<ValueId>& values);
  /// The bytes behind a buffer, to the end of its place.
  struct Padding {
    DevicePointer at = 0;
    Bytes size;
  };
  Padding padding(LogicalId device, ThreadId thread, BufferId buffer);
  /// The address of the scratch of an op; 0 for an op without one.
  DevicePointer scratch(LogicalId device, ThreadId thread, OpId op);
  /// Per device: the end of the last byte of its arena whose address was asked for.
  const std::vector<Bytes>& arenas() const { return arenas_; }

  BesideArena take_beside(LogicalId device, Bytes size, Dependencies& after);
  void give_back(const BesideArena& memory, const Frontier& last_use);
  DevicePointer address(const BesideArena& memory) const;
  /// Per device: how much it needs beside its arena.
  std::vector<Bytes> beside() const;

 private:
  DevicePointer use(LogicalId device, const Place& place);

  const Program& program_;
  const ArenaLayout& layout_;
  const std::vector<DeviceBases> bases_;  // per device
  std::vector<ReusePool> pools_;          // per device
  std::vector<Bytes> arenas_;             // per device
};

/// The operand and the result of a member of a collective, and the memory that it has for them.
struct MemberStorage {
  std::optional<Dtype> operand_dtype;  // empty: it gives nothing
  DevicePointer operand = 0;           // the address of an operand that is given alone
  bool several_operands = false;
  std::optional<Dtype> result_dtype;  // empty: it takes nothing
  DevicePointer result = 0;
  DevicePointer scratch = 0;  // as many bytes as the collective has (Collective::scratch)
};

/// Where the areas of a member lie: in its operand, its result and its scratch
/// (simulator/schedule/end_copies.h), and what these have no room for beside the arena.
struct MemberPlaces {
  std::array<DevicePointer, 3> areas = {};  // by Area
  EndCopies copies;
  bool enters = false;  // the operand is not the input area itself
  bool leaves = false;  // the output area is not the result itself
};

/// `beside` gives that many bytes beside the arena.
MemberPlaces member_places(const Collective& collective, const Folding& folding,
                           const MemberStorage& storage,
                           const std::function<DevicePointer(Bytes)>& beside);

}  // namespace orrery::cuda
