#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/mesh/mpmd.h"

namespace orrery {

namespace {

[[noreturn]] void refuse_array(const std::string& message) {
  throw ShardingError(ShardingStage::Sharding, message);
}

}  // namespace

MpmdArray::MpmdArray(const MpmdMesh& mesh, std::set<int64_t> groups, const PartitionSpec& spec,
                     const std::vector<LocalArray>& local, Type given)
    : groups_(std::move(groups)),
      sharding_(mesh.sharding(groups_, mesh.filtered(spec))),
      type_(std::move(given)) {
  for (size_t i = 0; i < local.size(); ++i) {
    try {
      add(local[i], mesh);
    } catch (const ShardingError& error) {
      refuse_array(fmt::format("array {}: {}", i, error.what()));
    }
  }
  if (!type_.shape || !type_.dtype)
    refuse_array(fmt::format("expected a {} to be given where no array is held, got none",
                             type_.shape ? "dtype" : "shape"));
}

void MpmdArray::add(const LocalArray& local, const MpmdMesh& mesh) {
  if (local.on == LocalArray::On::OneDevice)
    refuse_array("expected an array on a group, got one on a single device");
  if (local.on == LocalArray::On::WholeMesh && mesh.groups() > 1)
    refuse_array("expected an array on a group, got one on the whole mesh");
  const int64_t group = local.on == LocalArray::On::OneGroup ? local.group : 0;
  if (const auto error = group_error(group, mesh.groups()))
    refuse_array(*error);
  if (!groups_.contains(group))
    refuse_array(fmt::format("expected an array on one of groups {}, got one on group {}",
                             fmt::join(groups_, ", "), group));
  if (!held_.insert(group).second)
    refuse_array(fmt::format("expected one array on each group, got another on group {}", group));
  (void)mesh.sharding({group}, local.spec).shard_shape(local.shape);
  if (!type_.shape)
    type_.shape = local.shape;
  if (!type_.dtype)
    type_.dtype = local.dtype;
  if (local.shape != *type_.shape)
    refuse_array(
        fmt::format("expected the shape {}, got {}", type_.shape->text(), local.shape.text()));
  if (local.dtype != *type_.dtype)
    refuse_array(
        fmt::format("expected the dtype {}, got {}", name(*type_.dtype), name(local.dtype)));
  const PartitionSpec& spec = sharding_.parts().spec;
  if (const PartitionSpec filtered = mesh.filtered(local.spec); filtered != spec)
    refuse_array(fmt::format("expected the spec {} without axis {}, got {}", spec.text(),
                             in_quotes(mesh.axis_name()), filtered.text()));
}

std::optional<int64_t> MpmdArray::first_replica() const {
  const int64_t first = *groups_.begin();
  return held_.contains(first) ? std::optional(first) : std::nullopt;
}

std::optional<std::string> MpmdArray::error_of(MpmdUse use) const {
  if (held_.empty())
    return use == MpmdUse::Get ? std::nullopt
                               : std::optional("expected a replica in this process, got none");
  if (use == MpmdUse::DeleteFirst)
    return std::nullopt;
  if (deleted_ > 0 && deleted_ < held_.size())
    return fmt::format("expected all replicas or none to be deleted, got {} of {}", deleted_,
                       held_.size());
  if (use == MpmdUse::IsDeleted)
    return std::nullopt;
  if (deleted_ > 0)
    return "expected an array that is there, got one that is deleted";
  if (use == MpmdUse::Number && held_.size() > 1)
    return fmt::format("expected one replica to be read as a number, got {}", held_.size());
  return std::nullopt;
}

}  // namespace orrery
