#pragma once

// This shows shardings, and the thresholds below which arrays move from one to another.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/quantity.h"
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
/// the array; otherwise, or if that is too wide, there is a row per device. No line is wider than
/// 80 columns. Throws ShardingError if the sharding does not fit the shape, or its mesh is
/// abstract.
std::string sharding_text(const ShownSharding& shown, const Style& style);

/// HeldParts are the parts of an array: the first index of each, with the devices that hold it.
struct HeldParts {
  std::vector<Shard> shards;  // one per device, in the mesh's order
  Shape local;                // the shape of each
  std::vector<size_t> cut;    // the dimensions in which the array has several parts
  std::map<std::vector<int64_t>, std::vector<int64_t>> devices;

  /// Returns the first indices of the parts along a dimension, ascending.
  std::vector<int64_t> begins(size_t dimension) const;
};
HeldParts held_parts(const ShownSharding& shown);

/// Returns "0:4", or "0" if it is one index.
std::string slice_text(int64_t begin, int64_t extent);

/// Returns what is above the drawing: the spec on its mesh.
std::string spec_on_mesh(const ShownSharding& shown);
/// Returns what follows it, a clause each: the shapes (long ones shortened) with their bytes, and
/// the copies. No clause is wider than 80 columns.
std::vector<std::string> sizes_and_copies(const ShownSharding& shown, const HeldParts& held,
                                          const Style& style);

/// Returns the same drawing as an SVG image. There is a grid for each part of the dimensions after
/// the first two that are cut. A cell's tooltip has its slice and all its devices. Requires at most
/// kMostDrawnParts parts.
std::string sharding_svg(const ShownSharding& shown);
inline constexpr size_t kMostDrawnParts = 4096;

/// A ThresholdRow says what a reshard takes with the least threshold that groups its arrays so.
struct ThresholdRow {
  Bytes threshold;
  size_t groups = 0;                  // transfer groups
  Bytes largest;                      // the bytes that count of the largest one
  std::optional<Duration> time = {};  // from the first op to the last; empty if it cannot be so
  Bytes peak = {};                    // of a device, while it runs
  std::string why_not = {};           // if there is no time
  bool is_taken = false;              // the scenario's grouping
};
/// Returns a table with a line for each threshold. The one that is taken has a star.
std::string thresholds_text(const std::vector<ThresholdRow>& rows, const Style& style);
/// Draws a point for each, by its peak and its time, as an SVG image. Requires a row with a time.
std::string thresholds_svg(const std::vector<ThresholdRow>& rows, const std::string& title);

}  // namespace orrery
