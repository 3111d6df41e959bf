#pragma once

// Several tests use these programs of one ragged exchange with random data.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/program/builder.h"
#include "models/program/ragged.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/program/lists.h"
#include "tests/simulator/slot_protocol.h"
#include "verifier/run.h"

namespace orrery::test {

/// Says where the groups are: along the only axis, along the outer of two axes, or as lists of
/// ranks.
enum class Groups : uint8_t { Axis, OuterAxis, Listed };

struct Form {
  uint32_t ranks = 2;
  Groups groups = Groups::Axis;
  Issue issue = Issue::Sync;
  bool cut = false;  // messages, to slots of 64 B
  bool disjoint_reads = false;
};

/// Returns an array with a tensor for each device.
inline Array per_device(std::string name, std::vector<Tensor> tensors) {
  Array array;
  array.name = std::move(name);
  array.dtype = tensors.front().dtype();
  array.global = tensors.front().shape();
  array.per_device = true;
  array.init = PerDeviceInit{std::move(tensors)};
  return array;
}

/// A `RaggedRig` makes a program of one exchange, from the tables of each group.
class RaggedRig {
 public:
  RaggedRig(const Form& form, Dtype dtype, Shape row, std::vector<RaggedGroup> tables,
            Random& random)
      : form_(form), builder_(Mesh(axes()), Checks::States, diagnostics_) {
    const auto rows = [&](int64_t count) { return row.inserted(0, count); };
    const RaggedGroup& first = tables.front();
    add("operand", any(dtype, rows(first.operand_rows), random));
    add("output", any(dtype, rows(first.output_rows), random));
    const auto table = [&](const char* name, std::vector<int64_t> SliceTables::*member) {
      std::vector<Tensor> values;
      for (uint32_t d = 0; d < devices(); ++d) {
        const auto [group, rank] = place(d);
        const std::vector<int64_t>& list = tables[group].ranks[rank].*member;
        Tensor& value = values.emplace_back(Dtype::S32, Shape{static_cast<int64_t>(list.size())});
        std::transform(list.begin(), list.end(), value.as<int32_t>().begin(),
                       [](int64_t entry) { return static_cast<int32_t>(entry); });
      }
      add(name, std::move(values));
    };
    table("input_offsets", &SliceTables::input_offsets);
    table("send_sizes", &SliceTables::send_sizes);
    table("output_offsets", &SliceTables::output_offsets);
    table("recv_sizes", &SliceTables::recv_sizes);
  }

  Program program() {
    builder_.thread("all", all_devices(Mesh(axes())));
    OpRequest request;
    request.name = form_.issue == Issue::Sync ? "r" : "f";
    request.kind = OpKind::RaggedAllToAll;
    request.issue = form_.issue;
    request.operands = {"operand",    "output",         "input_offsets",
                        "send_sizes", "output_offsets", "recv_sizes"};
    request.attributes.set("axis_name", Names{"x"});
    if (form_.disjoint_reads)
      request.attributes.set("disjoint_reads", true);
    if (form_.groups == Groups::Listed)
      request.attributes.set("axis_index_groups", lists());
    builder_.op(request);
    if (form_.issue == Issue::Start) {
      OpRequest done;
      done.name = "r";
      done.kind = OpKind::Done;
      done.operands = {"f"};
      builder_.op(done);
    }
    Program program = builder_.finish();
    diagnostics_.throw_if_any();
    return program;
  }

  const std::vector<Array>& arrays() const { return arrays_; }

  Scenario scenario() { return scenario_of(program(), arrays_); }

  /// Returns a scenario of another program, with these arrays.
  Scenario scenario_of(Program program, std::vector<Array> arrays) const {
    const LinkFigures link{BytesPerSecond(1'000'000'000), Duration(1'000)};
    Cluster cluster{"rig", fully_connected_fabric(program.mesh.devices(), link), {}};
    for (const Dtype dtype : {Dtype::S32, Dtype::S64})
      cluster.device.flops[dtype] = FlopsPerSecond(1'000'000'000);
    if (form_.cut)
      cluster.transport = TransportFigures{{slot_protocol(kSmallestSlot)}};
    return {"ragged", "ragged",           std::move(cluster), false, Checks::States,
            {},       std::move(program), std::move(arrays),  {},    {},
            {}};
  }

  /// Returns the group of a device, and its rank there.
  std::pair<size_t, size_t> place(uint32_t device) const {
    switch (form_.groups) {
      case Groups::Axis:
        return {0, device};
      case Groups::OuterAxis:
        return {device % 2, device / 2};
      case Groups::Listed:
        break;  // even devices in order, odd ones in descending order
    }
    return device % 2 == 0 ? std::pair<size_t, size_t>(0, device / 2)
                           : std::pair<size_t, size_t>(1, form_.ranks - 1 - device / 2);
  }
  uint32_t devices() const { return form_.ranks * groups(); }
  uint32_t groups() const { return form_.groups == Groups::Axis ? 1 : 2; }

 private:
  std::vector<Axis> axes() const {
    if (form_.groups == Groups::OuterAxis)
      return {{"x", form_.ranks}, {"y", 2}};
    return {{"x", devices()}};
  }
  Lists lists() const {
    Lists lists(2, std::vector<int64_t>(form_.ranks));
    for (uint32_t d = 0; d < devices(); ++d)
      lists[place(d).first][place(d).second] = d;
    return lists;
  }
  std::vector<Tensor> any(Dtype dtype, const Shape& shape, Random& random) const {
    std::vector<Tensor> tensors;
    for (uint32_t d = 0; d < devices(); ++d)
      tensors.push_back(random_normalish(dtype, shape, random));
    return tensors;
  }
  void add(const std::string& name, std::vector<Tensor> tensors) {
    Array array = per_device(name, std::move(tensors));
    Names varying;
    for (const Axis& axis : axes())
      varying.push_back(axis.name);
    builder_.argument(name, array.dtype, array.global, varying);
    arrays_.push_back(std::move(array));
  }

  const Form form_;
  Diagnostics diagnostics_{"ragged"};
  ProgramBuilder builder_;
  std::vector<Array> arrays_;
};

using Row = std::vector<std::byte>;

inline std::vector<Row> rows_of(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.shape()[0]);
  const size_t size = count == 0 ? 0 : tensor.bytes().size() / count;
  std::vector<Row> rows;
  for (size_t i = 0; i < count; ++i)
    rows.emplace_back(tensor.bytes().begin() + static_cast<ptrdiff_t>(i * size),
                      tensor.bytes().begin() + static_cast<ptrdiff_t>((i + 1) * size));
  return rows;
}

inline const Tensor& value(const Report& report, std::string_view name, uint32_t device) {
  return *report.values->at(values_by_name(report.scenario->program).at(name), LogicalId(device));
}

}  // namespace orrery::test
