#pragma once

// Ids are distinct 32-bit numbers. An id is an index into one particular list; ids of different
// lists do not mix.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace orrery {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(size_t index) : index_(static_cast<uint32_t>(index)) {}

  constexpr uint32_t index() const { return index_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  uint32_t index_ = 0;
};

using DeviceId = Id<struct DeviceTag>;    // a device's number in the fabric
using LogicalId = Id<struct LogicalTag>;  // a device's row-major index in the mesh
using Rank = Id<struct RankTag>;          // an index into one collective's group
using VertexId = Id<struct VertexTag>;    // a device or a switch of the fabric; devices come first
using LinkId = Id<struct LinkTag>;        // a directed link of the fabric
using ValueId = Id<struct ValueTag>;
using BufferId = Id<struct BufferTag>;
using OpId = Id<struct OpTag>;
using ThreadId = Id<struct ThreadTag>;
using SiteId = Id<struct SiteTag>;              // where ops of one or several threads meet
using CollectiveId = Id<struct CollectiveTag>;  // one group of one site, lowered to one schedule
using StreamId = Id<struct StreamTag>;          // a communication stream of a device

}  // namespace orrery
