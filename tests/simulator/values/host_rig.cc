#include "tests/simulator/values/host_rig.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tests/models/array/tensors.h"

namespace orrery::test {

Tensor tensor(Dtype dtype, Shape shape, const Numbers& numbers) {
  Tensor result(dtype, std::move(shape));
  REQUIRE(result.elements() == static_cast<int64_t>(numbers.size()));
  for (size_t i = 0; i < numbers.size(); ++i)
    set_element_from_double(result, static_cast<int64_t>(i), numbers[i]);
  return result;
}

Numbers numbers(const Tensor& tensor) {
  Numbers result;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    result.push_back(element_as_double(tensor, i));
  return result;
}

HostRig::HostRig(std::vector<Axis> axes)
    : axes_(axes), builder_(Mesh(std::move(axes)), Checks::Shapes, diagnostics_) {}

void HostRig::argument(const std::string& name, std::vector<Tensor> tensors) {
  Names varying;
  for (const Axis& axis : axes_)
    varying.push_back(axis.name);
  builder_.argument(name, tensors.front().dtype(), tensors.front().shape(), varying);
  tensors_.push_back(std::move(tensors));
}

void HostRig::argument(const std::string& name, const std::vector<Numbers>& per_device) {
  std::vector<Tensor> tensors;
  for (const Numbers& numbers : per_device)
    tensors.push_back(tensor(Dtype::F32, Shape{static_cast<int64_t>(numbers.size())}, numbers));
  argument(name, std::move(tensors));
}

void HostRig::thread(const std::string& name, std::vector<LogicalId> devices) {
  builder_.thread(name, std::move(devices));
  in_thread_ = true;
}

void HostRig::op(const std::string& op, const std::string& name, Names operands,
                 const std::vector<std::pair<std::string, Attribute>>& attributes,
                 std::string site) {
  add(op, {name}, std::move(operands), attributes, std::move(site));
}

void HostRig::op(const std::string& op, const Names& results, Names operands,
                 const std::vector<std::pair<std::string, Attribute>>& attributes) {
  add(op, results, std::move(operands), attributes, {});
}

void HostRig::add(const std::string& op, const Names& results, Names operands,
                  const std::vector<std::pair<std::string, Attribute>>& attributes,
                  std::string site) {
  if (!in_thread_) {
    std::vector<LogicalId> all;
    for (uint32_t d = 0; d < Mesh(axes_).devices(); ++d)
      all.emplace_back(d);
    thread("all", std::move(all));
  }
  const OpName kind = op_named(op).value();
  OpRequest request;
  request.name = results.front();
  request.other_results.assign(results.begin() + 1, results.end());
  request.kind = kind.kind;
  request.issue = kind.issue;
  request.operands = std::move(operands);
  request.site = std::move(site);
  for (const auto& [key, attribute] : attributes)
    request.attributes.set(key, attribute);
  builder_.op(std::move(request));
}

void HostRig::lower() {
  lowered_yet_ = true;
  program = builder_.finish();
  diagnostics_.throw_if_any();
  const uint32_t devices = program.mesh.devices();
  const LinkFigures link{BytesPerSecond(1'000'000'000), Duration(1)};
  Cluster cluster{"rig",
                  in_switch ? switch_fabric(devices, link).with_reduction({VertexId(devices)})
                            : fully_connected_fabric(devices, link),
                  {}};
  for (const Dtype dtype : all_dtypes())
    cluster.device.flops[dtype] = FlopsPerSecond(1'000'000'000);
  Paths paths(cluster.fabric);
  lowered = orrery::lower(program, cluster, paths, diagnostics_, {}, transport);
  diagnostics_.throw_if_any();
  arguments = DeviceValues(program);
  for (size_t a = 0; a < tensors_.size(); ++a)
    for (size_t d = 0; d < tensors_[a].size(); ++d)
      arguments.at(program.arguments[a].value, LogicalId(d)) = tensors_[a][d];
}

HostRun HostRig::run() {
  if (!lowered_yet_)
    lower();
  return execute(program, lowered, arguments);
}

ValueId HostRig::value(const std::string& name) const {
  const auto found = std::find_if(program.values.begin(), program.values.end(),
                                  [&](const Value& value) { return value.name == name; });
  REQUIRE(found != program.values.end());
  return ValueId(static_cast<size_t>(found - program.values.begin()));
}

std::vector<Numbers> HostRig::values(const HostRun& run, const std::string& name) const {
  std::vector<Numbers> result;
  for (uint32_t d = 0; d < program.mesh.devices(); ++d)
    result.push_back(numbers(run.values.at(value(name), LogicalId(d)).value()));
  return result;
}

WalkDigest HostRig::digest() const {
  Digest halves;
  Digest moves;
  for (size_t c = 0; c < lowered.collectives.size(); ++c)
    add_all(halves, &moves, CollectiveId(c), *lowered.collectives[c].schedule,
            itemsize(lowered.collectives[c].work));
  return {halves, moves};
}

}  // namespace orrery::test
