#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/array/dtype.h"
#include "models/mesh/named_sharding.h"
#include "tools/report/style.h"

namespace orrery {

struct ShownSharding {
  NamedSharding sharding;
  Shape shape;
  Dtype dtype = Dtype::F32;
  std::optional<std::vector<LogicalId>> on = {};  // the devices with the array; empty: all
};

/// Returns which device holds which part of the array, with bytes and copies, and the sharding as
/// XLA and Shardy write it. If one or two dimensions are cut, the parts are drawn as they lie in
/// the array; otherwise, or if that is too wide, there is a row per device. Throws ShardingError if
/// the sharding does not fit the shape, or its mesh is abstract.
std::string sharding_text(const ShownSharding& shown, const Style& style);

}  // namespace orrery
