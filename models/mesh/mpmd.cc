#include "models/mesh/mpmd.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/compiler.h"

namespace orrery {

std::vector<LogicalId> devices_at(const Mesh& mesh, size_t axis, std::span<const int64_t> places) {
  std::vector<size_t> before;
  std::vector<size_t> after;
  for (size_t a = 0; a < mesh.axes().size(); ++a)
    if (a != axis)
      (a < axis ? before : after).push_back(a);
  const int64_t blocks = mesh.size(before);
  const int64_t block = mesh.size(after);
  const int64_t size = mesh.axes()[axis].size;
  std::vector<LogicalId> devices;
  devices.reserve(static_cast<size_t>(blocks * block) * places.size());
  for (int64_t b = 0; b < blocks; ++b)
    for (const int64_t place : places)
      for (int64_t i = 0; i < block; ++i)
        devices.emplace_back(static_cast<size_t>((b * size + place) * block + i));
  return devices;
}

namespace {

size_t mpmd_axis_of(const DeviceMesh& mesh, std::string_view axis) {
  if (const auto error = missing_axis_error(mesh.axes(), axis))
    throw ShardingError(ShardingStage::Mesh, *error);
  return *mesh.axes().axis(axis);
}

}  // namespace

MpmdMesh::MpmdMesh(DeviceMesh mesh, std::string_view axis)
    : mesh_(std::move(mesh)), axis_(mpmd_axis_of(mesh_, axis)) {
  ORRERY_CHECK(!mesh_.is_abstract(), "an MPMD mesh has devices");
}

std::vector<int64_t> MpmdMesh::places(std::vector<int64_t> indices) const {
  for (int64_t& index : indices) {
    if (index < -groups() || index >= groups())
      throw ShardingError(ShardingStage::Mesh, fmt::format("expected groups from {} to {}, got {}",
                                                           -groups(), groups() - 1, index));
    index += index < 0 ? groups() : 0;
  }
  return indices;
}

std::vector<int64_t> MpmdMesh::shape_of(int64_t groups) const {
  std::vector<int64_t> sizes;
  for (const Axis& axis : mesh_.axes().axes())
    sizes.push_back(axis.size);
  sizes[axis_] = groups;
  return sizes;
}

std::vector<int64_t> MpmdMesh::devices_at(std::span<const int64_t> places) const {
  std::vector<int64_t> devices;
  for (const LogicalId id : orrery::devices_at(mesh_.axes(), axis_, places))
    devices.push_back(mesh_.device(id));
  return devices;
}

NamedSharding MpmdMesh::sharding(const std::set<int64_t>& groups, const PartitionSpec& spec) const {
  if (groups.empty())
    throw ShardingError(ShardingStage::Sharding, "expected at least one group, got none");
  for (const int64_t group : groups)
    if (const auto error = group_error(group, this->groups()))
      throw ShardingError(ShardingStage::Sharding, *error);
  std::vector<Axis> axes(mesh_.axes().axes().begin(), mesh_.axes().axes().end());
  axes[axis_].size = static_cast<int64_t>(groups.size());
  std::vector<AxisType> types;
  for (size_t a = 0; a < axes.size(); ++a)
    types.push_back(mesh_.type(a));
  const std::vector<int64_t> places(groups.begin(), groups.end());
  return NamedSharding(
      {DeviceMesh(std::move(axes), std::move(types), {.order = devices_at(places)}), spec});
}

PartitionSpec MpmdMesh::filtered(const PartitionSpec& spec) const {
  if (const auto error = open_dimension_error(spec))
    throw ShardingError(ShardingStage::Spec, fmt::format("{}: {}", spec.text(), *error));
  return without_axis(spec, axis_name());
}

std::optional<std::string> group_error(int64_t group, int64_t groups) {
  if (0 <= group && group < groups)
    return std::nullopt;
  return fmt::format("expected a group from 0 to {}, got {}", groups - 1, group);
}

std::optional<std::string> open_dimension_error(const PartitionSpec& spec) {
  if (spec.unconstrained.empty())
    return std::nullopt;
  return fmt::format("dimension {}: expected null or axes for an MPMD array, got UNCONSTRAINED",
                     *spec.unconstrained.begin());
}

PartitionSpec without_axis(const PartitionSpec& spec, std::string_view axis) {
  ORRERY_CHECK(spec.unconstrained.empty(), "the spec of an MPMD array leaves no dimension open");
  PartitionSpec filtered{.dims = spec.dims};
  for (std::vector<std::string>& axes : filtered.dims)
    std::erase(axes, axis);
  return filtered;
}

std::set<int64_t> target_groups(std::set<int64_t> given) {
  if (given.empty())
    given.insert(0);
  return given;
}

std::vector<size_t> interleaved_order(std::span<const Bytes> sizes,
                                      std::span<const std::set<int64_t>> groups) {
  ORRERY_CHECK(sizes.size() == groups.size(), "each array has a size and groups");
  std::vector<std::vector<size_t>> buckets;
  std::map<int64_t, size_t> bucket_of;  // by the smallest group
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto [found, is_new] = bucket_of.emplace(*groups[i].begin(), buckets.size());
    if (is_new)
      buckets.emplace_back();
    buckets[found->second].push_back(i);
  }
  for (std::vector<size_t>& bucket : buckets)
    std::stable_sort(bucket.begin(), bucket.end(),
                     [&](size_t a, size_t b) { return sizes[a] < sizes[b]; });
  std::vector<size_t> order;
  while (!buckets.empty()) {
    for (std::vector<size_t>& bucket : buckets) {
      order.push_back(bucket.back());
      bucket.pop_back();
    }
    // A turn costs as much as the arrays that it gives.
    std::erase_if(buckets, [](const std::vector<size_t>& bucket) { return bucket.empty(); });
  }
  return order;
}

std::vector<size_t> descending_order(std::span<const Bytes> sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  return order;
}

std::vector<std::vector<size_t>> transfer_groups(std::span<const Bytes> sizes, Bytes threshold) {
  std::vector<std::vector<size_t>> groups;
  int64_t in_group = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ORRERY_CHECK(sizes[i] >= Bytes(0), "an array has at least 0 bytes");
    int64_t with_this = 0;
    const bool exceeds = __builtin_add_overflow(in_group, sizes[i].count(), &with_this) ||
                         with_this > threshold.count();
    if (groups.empty() || exceeds) {
      groups.emplace_back();
      with_this = sizes[i].count();
    }
    groups.back().push_back(i);
    in_group = with_this;
  }
  return groups;
}

namespace {

Bytes least_available(std::span<const LimitAndPeak> devices) {
  ORRERY_CHECK(!devices.empty(), "a threshold is that of at least one device");
  Bytes least = devices[0].limit - devices[0].peak;
  for (const LimitAndPeak& device : devices)
    least = std::min(least, device.limit - device.peak);
  return least;
}

Bytes third_rounded_down(Int128 bytes) {
  return Bytes(checked_narrow(bytes / 3 - (bytes % 3 < 0 ? 1 : 0)));
}

}  // namespace

Bytes threshold_of_devices(std::span<const LimitAndPeak> devices) {
  return third_rounded_down(least_available(devices).count());
}

Bytes threshold_of_processes(std::span<const std::vector<LimitAndPeak>> processes) {
  ORRERY_CHECK(!processes.empty(), "a threshold is that of at least one process");
  std::vector<float> leasts;
  for (const std::vector<LimitAndPeak>& devices : processes)
    leasts.push_back(static_cast<float>(static_cast<double>(least_available(devices).count())));
  // A rounded count of bytes is whole, and may be 2^63.
  return third_rounded_down(static_cast<Int128>(*std::min_element(leasts.begin(), leasts.end())));
}

}  // namespace orrery
