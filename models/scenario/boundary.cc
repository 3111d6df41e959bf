#include "models/scenario/boundary.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/quantity.h"
#include "models/program/groups.h"
#include "models/program/holders.h"
#include "models/program/states.h"
#include "models/scenario/array_states.h"
#include "models/scenario/fields.h"
#include "models/scenario/spec_reader.h"

namespace orrery {

namespace {

/// How a value that is not invarying over an axis can leave where the boundary names no state there
/// and no cast makes it so.
std::string instead(const Mesh& mesh, size_t axis, AxisState state) {
  const std::string& name = mesh.axes()[axis].name;
  if (state == AxisState::Varying)
    return fmt::format("; with {} in its spec it may vary, psum over {} makes it invarying", name,
                       name);
  if (state == AxisState::Reduced)
    return fmt::format("; \"reduced\": [\"{}\"] beside its spec lets it be", name);
  return "";
}

std::optional<std::string> states_error(const Mesh& mesh, const ValueType& type,
                                        const Boundary& boundary) {
  const AxisStates outside = axis_states(mesh, boundary.spec, boundary.states);
  for (size_t axis = 0; axis < outside.size(); ++axis) {
    std::vector<AxisState> accepted = {outside[axis]};
    if (outside[axis] == AxisState::Varying)
      accepted.push_back(AxisState::Invarying);
    if (outside[axis] == AxisState::Unreduced)
      accepted.push_back(AxisState::Varying);
    if (std::find(accepted.begin(), accepted.end(), type.axes[axis]) == accepted.end())
      return expected_state(accepted, mesh, axis, type, "output") +
             (outside[axis] == AxisState::Invarying ? instead(mesh, axis, type.axes[axis]) : "");
  }
  return std::nullopt;
}

}  // namespace

std::optional<OutputReading> read_output(DocumentNode node, const Mesh& mesh,
                                         Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::Object) {
    const std::optional<std::string> name =
        read_text(node, "an id, or an object with \"id\" and \"spec\"", diagnostics);
    return name ? std::optional(OutputReading{*name, node.origin()}) : std::nullopt;
  }
  const size_t before = diagnostics.size();
  Fields fields(node, diagnostics);
  OutputReading output;
  if (const auto id = fields.required("id")) {
    output.name = read_text(*id, "an id", diagnostics).value_or("");
    output.origin = id->origin();
  }
  Boundary boundary;
  if (const auto spec = fields.required("spec")) {
    boundary.spec = read_spec(*spec, &mesh, diagnostics,
                              [](DocumentNode, size_t, const std::vector<std::string>&) {});
    output.spec_origin = spec->origin();
  }
  if (const auto states = read_states_beside(fields, &mesh, boundary.spec, diagnostics))
    boundary.states = *states;
  fields.finish();
  if (diagnostics.size() != before)
    return std::nullopt;
  output.boundary = std::move(boundary);
  return output;
}

std::optional<std::string> boundary_error(const Program& program, Checks checks,
                                          const Boundary& boundary) {
  const Mesh& mesh = program.mesh;
  const Value& value = program.value(boundary.value);
  const size_t cut = boundary.spec.dims.size();
  if (cut > value.type.shape.rank())
    return fmt::format("expected at most one entry per dimension of {}, got {}",
                       value.type.shape.text(), cut);
  const size_t holders = Holders(program).of(boundary.value).size();
  if (holders != mesh.devices())
    return fmt::format("expected a value of all {} devices, got one of {}", mesh.devices(),
                       holders);
  try {
    (void)(itemsize(value.type.dtype) *
           global_shape(mesh, boundary.spec, value.type.shape).elements());
  } catch (const Overflow&) {
    return fmt::format("expected a whole array of less than 2^63 bytes, got parts of {}{}",
                       name(value.type.dtype), value.type.shape.text());
  }
  return checks == Checks::States ? states_error(mesh, value.type, boundary) : std::nullopt;
}

Shape global_shape(const Mesh& mesh, const PartitionSpec& spec, const Shape& local) {
  std::vector<int64_t> dims(local.dims().begin(), local.dims().end());
  for (size_t d = 0; d < spec.dims.size(); ++d)
    dims[d] = checked_multiply(dims[d], mesh.size(axis_positions(mesh, spec.dims[d])));
  return Shape(std::move(dims));
}

}  // namespace orrery
