#pragma once

// The memory of the virtual devices: where values lie in their arenas, and what is used beside
// them.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "models/program/program.h"
#include "simulator/memory/layout.h"
#include "simulator/values/cuda/kernels/kernel_call.h"
#include "simulator/values/cuda/reuse_pool.h"

namespace orrery::cuda {

/// Where the memory of one virtual device begins.
struct DeviceBases {
  DevicePointer arena = 0;   // laid out by ArenaLayout
  DevicePointer beside = 0;  // given out by a ReusePool
};

/// Memory beside an arena that is in use.
struct Stretch {
  LogicalId device;
  Bytes begin;
  Bytes size;
};

/// Keeps references to the program and the layout.
class DeviceMemory {
 public:
  DeviceMemory(const Program& program, const ArenaLayout& layout, std::vector<DeviceBases> bases)
      : program_(program),
        layout_(layout),
        bases_(std::move(bases)),
        pools_(bases_.size()),
        arenas_(bases_.size()) {}

  /// Of a value as the list of `thread` uses it.
  DevicePointer address(LogicalId device, ThreadId thread, ValueId id) {
    const Value& value = program_.value(id);
    return use(device, layout_.buffer(device, thread, value.buffer)) +
           static_cast<uint64_t>(value.offset.count());
  }
  std::vector<DevicePointer> addresses(LogicalId device, ThreadId thread,
                                       const std::vector<ValueId>& values) {
    std::vector<DevicePointer> result;
    for (const ValueId value : values)
      result.push_back(address(device, thread, value));
    return result;
  }
  /// The bytes behind a buffer, to the end of its place.
  struct Padding {
    DevicePointer at = 0;
    Bytes size;
  };
  Padding padding(LogicalId device, ThreadId thread, BufferId buffer) {
    const Bytes size = program_.buffer(buffer).size;
    const Place place = layout_.buffer(device, thread, buffer);
    return {use(device, place) + static_cast<uint64_t>(size.count()), place.size - size};
  }
  /// Of the scratch of an op; 0 without one.
  DevicePointer scratch(LogicalId device, ThreadId thread, OpId op) {
    const std::optional<Place> place = layout_.scratch(device, thread, op);
    return place ? use(device, *place) : 0;
  }
  /// Per device: the largest end of what it was asked for in its arena.
  const std::vector<Bytes>& arenas() const { return arenas_; }

  Stretch take_beside(LogicalId device, Bytes size, Dependencies& after) {
    return {device, pools_[device.index()].take(size, after), size};
  }
  void give_back(const Stretch& stretch, const Frontier& last_use) {
    pools_[stretch.device.index()].give_back(stretch.begin, stretch.size, last_use);
  }
  DevicePointer address(const Stretch& stretch) const {
    return bases_[stretch.device.index()].beside + static_cast<uint64_t>(stretch.begin.count());
  }
  /// Per device: what it needs beside its arena.
  std::vector<Bytes> beside() const {
    std::vector<Bytes> sizes;
    for (const ReusePool& pool : pools_)
      sizes.push_back(pool.high_water());
    return sizes;
  }

 private:
  DevicePointer use(LogicalId device, const Place& place) {
    arenas_[device.index()] = std::max(arenas_[device.index()], place.begin + place.size);
    return bases_[device.index()].arena + static_cast<uint64_t>(place.begin.count());
  }

  const Program& program_;
  const ArenaLayout& layout_;
  const std::vector<DeviceBases> bases_;  // per device
  std::vector<ReusePool> pools_;          // per device
  std::vector<Bytes> arenas_;             // per device
};

}  // namespace orrery::cuda
