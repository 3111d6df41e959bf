#include "models/mesh/mesh.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/base/quantity.h"

namespace orrery {

Mesh::Mesh(std::vector<Axis> axes) : axes_(std::move(axes)), strides_(axes_.size()) {
  int64_t stride = 1;
  for (size_t a = axes_.size(); a-- > 0;) {
    ORRERY_CHECK(axes_[a].size >= 1, "a mesh axis has at least one device");
    strides_[a] = stride;
    stride = checked_multiply(stride, axes_[a].size);
  }
  ORRERY_CHECK(stride <= UINT32_MAX, "a mesh has fewer than 2^32 devices");
  devices_ = static_cast<uint32_t>(stride);
}

std::optional<size_t> Mesh::axis(std::string_view name) const {
  for (size_t a = 0; a < axes_.size(); ++a)
    if (axes_[a].name == name)
      return a;
  return std::nullopt;
}

int64_t Mesh::coordinate(LogicalId id, size_t axis) const {
  return int64_t{id.index()} / strides_[axis] % axes_[axis].size;
}

int64_t Mesh::index(LogicalId id, std::span<const size_t> axes) const {
  int64_t index = 0;
  for (const size_t axis : axes)
    index = index * axes_[axis].size + coordinate(id, axis);
  return index;
}

int64_t Mesh::size(std::span<const size_t> axes) const {
  int64_t size = 1;
  for (const size_t axis : axes)
    size *= axes_[axis].size;
  return size;
}

std::vector<Group> groups(const Mesh& mesh, std::span<const size_t> axes) {
  std::vector<size_t> rest;
  for (size_t a = 0; a < mesh.axes().size(); ++a)
    if (std::find(axes.begin(), axes.end(), a) == axes.end())
      rest.push_back(a);
  std::vector<Group> result(static_cast<size_t>(mesh.size(rest)),
                            Group(static_cast<size_t>(mesh.size(axes))));
  for (uint32_t d = 0; d < mesh.devices(); ++d) {
    const LogicalId id(d);
    result[static_cast<size_t>(mesh.index(id, rest))][static_cast<size_t>(mesh.index(id, axes))] =
        id;
  }
  return result;
}

std::vector<Group> split(const std::vector<Group>& groups,
                         std::span<const std::vector<int64_t>> axis_index_groups) {
  std::vector<Group> result;
  for (const Group& group : groups) {
    for (const std::vector<int64_t>& ranks : axis_index_groups) {
      Group& part = result.emplace_back();
      for (const int64_t rank : ranks)
        part.push_back(group[static_cast<size_t>(rank)]);
    }
  }
  return result;
}

std::string PartitionSpec::text() const {
  std::string text = "P(";
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d > 0)
      text += ", ";
    if (dims[d].empty()) {
      text += "None";
    } else if (dims[d].size() == 1) {
      text += dims[d][0];
    } else {
      text += "(";
      for (size_t a = 0; a < dims[d].size(); ++a)
        text += (a > 0 ? ", " : "") + dims[d][a];
      text += ")";
    }
  }
  return text + ")";
}

namespace {

std::vector<size_t> axes_of(const Mesh& mesh, const std::vector<std::string>& names) {
  std::vector<size_t> axes;
  for (const std::string& name : names) {
    const std::optional<size_t> axis = mesh.axis(name);
    ORRERY_CHECK(axis.has_value(), "a partition spec names axes of its mesh");
    axes.push_back(*axis);
  }
  return axes;
}

}  // namespace

Shape local_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& global) {
  ORRERY_CHECK(spec.dims.size() <= global.rank(),
               "a partition spec is no longer than its array's rank");
  std::vector<int64_t> dims(global.dims().begin(), global.dims().end());
  for (size_t d = 0; d < spec.dims.size(); ++d) {
    const int64_t parts = mesh.size(axes_of(mesh, spec.dims[d]));
    ORRERY_CHECK(dims[d] % parts == 0, "a cut dimension is divisible by its parts");
    dims[d] /= parts;
  }
  return Shape(std::move(dims));
}

std::vector<int64_t> local_start(const Mesh& mesh, const PartitionSpec& spec, const Shape& global,
                                 LogicalId id) {
  const Shape local = local_shape(mesh, spec, global);
  std::vector<int64_t> start(global.rank(), 0);
  for (size_t d = 0; d < spec.dims.size(); ++d)
    start[d] = mesh.index(id, axes_of(mesh, spec.dims[d])) * local[d];
  return start;
}

}  // namespace orrery
