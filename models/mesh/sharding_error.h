#pragma once

// A ShardingError says why a mesh, a spec or a sharding is refused.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace orrery {

/// A ShardingStage is what is made, in the order in which it is: the mesh, the spec alone, the
/// sharding of both, its use for a shape, the map from devices to slices. Hlo is an HLO text read.
enum class ShardingStage : uint8_t { Mesh, Spec, Sharding, Shape, Map, Hlo };

/// Returns "mesh", "spec" and so on.
std::string_view name(ShardingStage stage);

class ShardingError : public std::runtime_error {
 public:
  ShardingError(ShardingStage stage, const std::string& message)
      : std::runtime_error(message), stage_(stage) {}
  ShardingStage stage() const { return stage_; }

 private:
  ShardingStage stage_;
};

}  // namespace orrery
