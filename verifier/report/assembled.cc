#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "models/array/kernels.h"
#include "models/array/work.h"
#include "models/program/groups.h"
#include "models/scenario/arrays_reader.h"
#include "models/scenario/placement.h"
#include "verifier/report.h"

namespace orrery {

namespace {

using Start = std::vector<int64_t>;  // the first index of a part, per dimension

/// Returns the axes along which devices have the same part and the same addend.
std::vector<size_t> copy_axes(const Mesh& mesh, const Boundary& boundary) {
  const AxisStates states = axis_states(mesh, boundary.spec, boundary.states);
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < states.size(); ++axis)
    if (states[axis] == AxisState::Invarying || states[axis] == AxisState::Reduced)
      axes.push_back(axis);
  return axes;
}

void place(const Tensor& part, const Start& start, Tensor& whole) {
  const Shape& shape = part.shape();
  if (part.elements() == 0)
    return;
  const size_t rank = shape.rank();
  const int64_t row = rank == 0 ? 1 : shape[rank - 1];
  const Bytes item = itemsize(part.dtype());
  const auto bytes = static_cast<size_t>((item * row).count());
  std::vector<int64_t> index(rank, 0);
  for (int64_t from = 0; from < part.elements(); from += row) {
    int64_t to = 0;
    for (size_t d = 0; d < rank; ++d)
      to = to * whole.shape()[d] + start[d] + index[d];
    std::memcpy(whole.bytes().data() + (item * to).count(),
                part.bytes().data() + (item * from).count(), bytes);
    for (size_t d = rank == 0 ? 0 : rank - 1; d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

}  // namespace

std::optional<Tensor> assembled(const Scenario& scenario, const Boundary& boundary,
                                const DeviceValues& values) {
  const Program& program = scenario.program;
  const Mesh& mesh = program.mesh;
  const ValueType& type = program.value(boundary.value).type;
  const Dtype dtype = boundary.states.unreduced.empty() ? type.dtype : summed_dtype(type.dtype);
  const std::vector<size_t> copies = copy_axes(mesh, boundary);
  Tensor whole(dtype, global_shape(mesh, boundary.spec, type.shape));
  std::map<Start, Tensor> parts;
  for (const LogicalId device : all_devices(mesh)) {
    const std::optional<Tensor>& part = values.at(boundary.value, device);
    if (!part)
      return std::nullopt;
    if (mesh.index(device, copies) != 0)
      continue;
    const auto [found, first] = parts.try_emplace(
        local_start(mesh, boundary.spec, whole.shape(), device), convert(*part, dtype));
    if (first)
      continue;
    const Tensor addend = convert(*part, dtype);
    const std::array<const Tensor*, 2> both = {&found->second, &addend};
    found->second = elementwise(Binary::Add, both, program.numerics);
  }
  for (const auto& [start, part] : parts)
    place(part, start, whole);
  return whole;
}

}  // namespace orrery
