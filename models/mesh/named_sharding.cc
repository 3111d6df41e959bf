#include "models/mesh/named_sharding.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/base/diagnostics.h"

namespace orrery {

namespace {

std::string rank_text(size_t rank) {
  return fmt::format("an array of rank {}", rank);
}

/// Returns the types of all axes: "Auto, Manual", or "none" where there are no axes.
std::string types_text(const DeviceMesh& mesh) {
  std::string text;
  for (size_t axis = 0; axis < mesh.axes().axes().size(); ++axis)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name(mesh.type(axis)));
  return text.empty() ? "none" : text;
}

}  // namespace

NamedSharding::NamedSharding(ShardingParts parts) : parts_(std::move(parts)) {
  if (!parts_.memory_kind && !parts_.mesh.is_abstract())
    parts_.memory_kind = "device";
  check_entries();
  check_set(parts_.spec.unreduced, "unreduced");
  check_set(parts_.spec.reduced, "reduced");
  check_logical_ids();
}

void NamedSharding::refuse(ShardingStage stage, std::string_view message) const {
  throw ShardingError(stage, fmt::format("{}: {}", parts_.spec.text(), message));
}

void NamedSharding::refuse(size_t dimension, std::string_view message) const {
  refuse(ShardingStage::Sharding, fmt::format("dimension {}: {}", dimension, message));
}

void NamedSharding::check_entries() const {
  const PartitionSpec& spec = parts_.spec;
  std::set<std::string> used;
  for (size_t d = 0; d < spec.dims.size(); ++d)
    for (const std::string& axis : spec.dims[d])
      if (const auto error = repeated_axis_error(axis, used))
        refuse(d, *error);
  for (size_t d = 0; d < spec.dims.size(); ++d)
    for (const std::string& axis : spec.dims[d])
      if (const auto error = missing_axis_error(mesh(), axis))
        refuse(d, *error);
  if (!spec.unconstrained.empty() && !parts_.mesh.has(AxisType::Auto))
    refuse(*spec.unconstrained.begin(),
           fmt::format("expected an axis of type Auto in the mesh where a dimension is "
                       "UNCONSTRAINED, got types {}",
                       types_text(parts_.mesh)));
}

void NamedSharding::check_set(const std::set<std::string>& axes, std::string_view set) const {
  for (const std::string& axis : axes) {
    if (const auto error = missing_axis_error(mesh(), axis))
      refuse(ShardingStage::Sharding, fmt::format("{}: {}", set, *error));
    const AxisType type = parts_.mesh.type(*mesh().axis(axis));
    if (type != AxisType::Explicit)
      refuse(ShardingStage::Sharding,
             fmt::format("{}: expected axes of type Explicit, got {} of {}", set, in_quotes(axis),
                         name(type)));
  }
}

void NamedSharding::check_logical_ids() const {
  if (!parts_.logical_device_ids)
    return;
  const std::vector<LogicalId>& ids = *parts_.logical_device_ids;
  if (ids.size() != mesh().devices())
    refuse(ShardingStage::Sharding,
           fmt::format("expected a logical id for each of {} devices, got {}", mesh().devices(),
                       ids.size()));
  std::vector<bool> seen(ids.size(), false);
  for (const LogicalId id : ids) {
    if (id.index() >= seen.size())
      refuse(ShardingStage::Sharding,
             fmt::format("expected logical ids from 0 to {}, got {}", seen.size() - 1, id.index()));
    if (seen[id.index()])
      refuse(ShardingStage::Sharding,
             fmt::format("expected each logical id once, got {} twice", id.index()));
    seen[id.index()] = true;
  }
}

void NamedSharding::check_rank(size_t rank, std::string_view array) const {
  if (const auto error = rank_error(parts_.spec.dims.size(), rank, array))
    refuse(ShardingStage::Shape, *error);
}

NamedSharding NamedSharding::update(FunctionRef<void(ShardingParts&)> change) const {
  ShardingParts parts = parts_;
  change(parts);
  return NamedSharding(std::move(parts));
}

NamedSharding NamedSharding::with_memory_kind(std::string kind) const {
  return update([&](ShardingParts& parts) { parts.memory_kind = std::move(kind); });
}

Shape NamedSharding::shard_shape(const Shape& global) const {
  check_rank(global.rank(), global.text());
  for (size_t axis = 0; axis < mesh().axes().size(); ++axis)
    if (parts_.mesh.type(axis) == AxisType::Manual && mesh().axes()[axis].size > 1)
      refuse(
          ShardingStage::Shape,
          fmt::format("expected no Manual axis of several devices for a whole array, got {} of {}",
                      in_quotes(mesh().axes()[axis].name), mesh().axes()[axis].size));
  for (size_t d = 0; d < parts_.spec.dims.size(); ++d)
    if (const auto error = divisible_error(mesh(), parts_.spec.dims[d], d, global[d]))
      refuse(ShardingStage::Shape, *error);
  return local_shape(mesh(), parts_.spec, global);
}

std::vector<Shard> NamedSharding::shards(const Shape& global) const {
  const Shape local = shard_shape(global);
  if (parts_.mesh.is_abstract())
    refuse(ShardingStage::Map, "expected a mesh of devices, got an abstract one");
  std::vector<std::vector<size_t>> cuts(global.rank());
  for (size_t d = 0; d < parts_.spec.dims.size(); ++d)
    cuts[d] = axis_positions(mesh(), parts_.spec.dims[d]);
  // Devices of one index over these axes hold copies of one slice, of one addend. The blocks of an
  // empty dimension are equal.
  std::vector<size_t> distinct;
  for (size_t d = 0; d < cuts.size(); ++d)
    if (global[d] > 0)
      distinct.insert(distinct.end(), cuts[d].begin(), cuts[d].end());
  for (const std::string& axis : parts_.spec.unreduced)
    distinct.push_back(*mesh().axis(axis));
  std::vector<int64_t> copies(static_cast<size_t>(mesh().size(distinct)), 0);

  const uint32_t count = mesh().devices();
  std::vector<LogicalId> block_at = all_devices(mesh());
  if (parts_.logical_device_ids)
    for (uint32_t id = 0; id < count; ++id)
      block_at[(*parts_.logical_device_ids)[id].index()] = LogicalId(id);
  std::vector<Shard> shards(count);
  for (uint32_t place = 0; place < count; ++place) {
    Shard& shard = shards[place];
    shard.device = parts_.mesh.device(LogicalId(place));
    shard.slice.reserve(cuts.size());
    for (size_t d = 0; d < cuts.size(); ++d) {
      const int64_t begin = mesh().index(block_at[place], cuts[d]) * local[d];
      shard.slice.push_back({begin, begin + local[d]});
    }
    shard.replica = copies[static_cast<size_t>(mesh().index(block_at[place], distinct))]++;
  }
  return shards;
}

bool NamedSharding::is_fully_replicated() const {
  if (mesh().devices() == 1)
    return true;
  if (!parts_.spec.unreduced.empty())
    return false;
  return std::all_of(parts_.spec.dims.begin(), parts_.spec.dims.end(),
                     [&](const std::vector<std::string>& axes) {
                       return mesh().size(axis_positions(mesh(), axes)) == 1;
                     });
}

bool NamedSharding::is_fully_addressable() const {
  if (parts_.mesh.is_abstract())
    refuse(ShardingStage::Map, "expected a mesh of devices, got an abstract one");
  return true;
}

HloSharding NamedSharding::hlo_sharding(size_t rank) const {
  check_rank(rank, rank_text(rank));
  AxisCut cut;
  cut.dims.resize(rank);
  for (size_t d = 0; d < parts_.spec.dims.size(); ++d)
    for (const std::string& name : parts_.spec.dims[d]) {
      const size_t axis = *mesh().axis(name);
      if (parts_.mesh.type(axis) == AxisType::Manual && mesh().axes()[axis].size > 1)
        refuse(ShardingStage::Shape,
               fmt::format("dimension {}: expected no Manual axis of several devices, got {} of {}",
                           d, in_quotes(name), mesh().axes()[axis].size));
      if (parts_.mesh.type(axis) != AxisType::Manual)
        cut.dims[d].push_back(axis);
    }
  for (const std::string& axis : parts_.spec.unreduced)
    cut.unreduced.push_back(*mesh().axis(axis));
  for (size_t axis = 0; axis < mesh().axes().size(); ++axis)
    if (parts_.mesh.type(axis) == AxisType::Manual)
      cut.manual.push_back(axis);
  if (!parts_.logical_device_ids)
    return HloSharding(mesh(), cut);
  return HloSharding(mesh(), cut, *parts_.logical_device_ids);
}

SdyArray NamedSharding::sdy_sharding(size_t rank) const {
  check_rank(rank, rank_text(rank));
  SdyArray array;
  array.dims.resize(rank);
  for (size_t d = 0; d < parts_.spec.dims.size(); ++d)
    array.dims[d] = {parts_.spec.dims[d], parts_.spec.unconstrained.contains(d)};
  array.device_ids = parts_.logical_device_ids;
  for (const Axis& axis : mesh().axes())
    if (parts_.spec.unreduced.contains(axis.name))
      array.unreduced_axes.push_back(axis.name);
  return array;
}

SdyArray NamedSharding::typed_sdy_sharding(size_t rank) const {
  SdyArray array = sdy_sharding(rank);
  if (!parts_.mesh.has(AxisType::Auto))
    return array;
  std::set<std::string> named = parts_.spec.unreduced;
  named.insert(parts_.spec.reduced.begin(), parts_.spec.reduced.end());
  for (SdyDim& dim : array.dims) {
    dim.open = true;
    named.insert(dim.axes.begin(), dim.axes.end());
  }
  for (size_t axis = 0; axis < mesh().axes().size(); ++axis)
    if (parts_.mesh.type(axis) == AxisType::Explicit && !named.contains(mesh().axes()[axis].name))
      array.replicated_axes.push_back(mesh().axes()[axis].name);
  return array;
}

bool NamedSharding::is_equivalent_to(const NamedSharding& other, size_t rank) const {
  const bool equal = hlo_sharding(rank) == other.hlo_sharding(rank);
  return equal && parts_.memory_kind == other.parts_.memory_kind &&
         same_devices(parts_.mesh, other.parts_.mesh);
}

std::string NamedSharding::repr() const {
  std::string more;
  if (parts_.memory_kind)
    more += ", memory_kind=" + *parts_.memory_kind;
  if (parts_.logical_device_ids)
    more += ", logical_device_ids=" + python_tuple(*parts_.logical_device_ids);
  return fmt::format("NamedSharding(mesh={}, spec={}{})", parts_.mesh.text(), parts_.spec.text(),
                     more);
}

NamedSharding corrected_sharding(const Shape& shape, const PartitionSpec& spec,
                                 const DeviceMesh& mesh) {
  return NamedSharding({mesh, corrected(spec, shape, mesh.axes())});
}

PartitionSpec spec_of_hlo(std::string_view hlo, const Mesh& mesh, size_t rank) {
  try {
    const HloSharding sharding = HloSharding::parse(hlo);
    const AxisCut cut = sharding.cut_over(mesh);
    if (const auto stated = sharding.rank(); stated && *stated != rank)
      throw HloShardingError(fmt::format(
          "expected a sharding of arrays of rank {}, got one of rank {}", rank, *stated));
    PartitionSpec spec;
    for (const std::vector<size_t>& axes : cut.dims) {
      spec.dims.emplace_back();
      for (const size_t axis : axes)
        spec.dims.back().push_back(mesh.axes()[axis].name);
    }
    while (!spec.dims.empty() && spec.dims.back().empty())
      spec.dims.pop_back();
    for (const size_t axis : cut.unreduced)
      spec.unreduced.insert(mesh.axes()[axis].name);
    return spec;
  } catch (const HloShardingError& error) {
    throw ShardingError(ShardingStage::Hlo, error.what());
  }
}

}  // namespace orrery
