// This file has mpmd_map: functions that run at once on the cores of one device (cores.h). Its
// values are those of a program of local ops: the body ops of all instances in an order that
// semaphores allow, with values in the place of refs. A storage that is read and written by rows is
// kept in rows, so that a row that one instance writes and another reads is no new op.

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/batch_ops.h"
#include "models/program/builder.h"
#include "models/program/cores.h"
#include "models/program/families.h"

namespace orrery {

namespace {

using batching::dims_of;
using batching::given;
using Integers = std::vector<int64_t>;

class Body {
 public:
  Body(const Cores& cores, std::span<const ValueType> operands) : cores_(cores) {
    for (size_t i = 0; i < operands.size(); ++i)
      body_.argument(fmt::format("in{}", i), operands[i].dtype, operands[i].shape);
    contents_.resize(cores.storages.size());
    for (size_t i = 0; i < operands.size(); ++i)
      contents_[cores.inputs[i]].whole = fmt::format("in{}", i);
  }

  Program program() && {
    for (const CoreRun& run : walk_cores(cores_).runs)
      if (cores_.step(run.place).writes)
        add(run.place);
    std::vector<std::string> outputs;
    for (const uint32_t storage : cores_.outputs) {
      // An output has a name of its own, also where it is an input or another output.
      outputs.push_back(reshaped(whole(storage), cores_.storages[storage].shape));
    }
    return std::move(body_).finish(outputs);
  }

 private:
  /// The elements of a storage: a value, and the rows that other values have.
  struct Contents {
    std::string whole;  // empty: nobody wrote all of it, and it began with zeros
    std::map<int64_t, std::string> written = {};
    std::map<int64_t, std::string> cut = {};  // rows of `whole` that were read
  };

  std::string op(OpKind kind, std::vector<std::string> operands, Attributes attributes) {
    return body_.op(kind, std::move(operands), std::move(attributes));
  }

  std::string reshaped(const std::string& value, const Shape& shape) {
    return op(OpKind::Reshape, {value}, given({{"new_sizes", dims_of(shape)}}));
  }

  std::string full(Dtype dtype, const Shape& shape, double value) {
    return op(OpKind::Full, {},
              given({{"shape", dims_of(shape)}, {"fill_value", value}, {"dtype", dtype}}));
  }

  std::string rows(const std::string& value, const Shape& shape, int64_t begin, int64_t end) {
    Integers start(shape.rank(), 0);
    Integers limit = dims_of(shape);
    start[0] = begin;
    limit[0] = end;
    return op(OpKind::Slice, {value}, given({{"start_indices", start}, {"limit_indices", limit}}));
  }

  const std::string& base(uint32_t storage) {
    Contents& contents = contents_[storage];
    if (contents.whole.empty())
      contents.whole = full(cores_.storages[storage].dtype, cores_.storages[storage].shape, 0);
    return contents.whole;
  }

  /// Returns the value of the whole storage.
  std::string whole(uint32_t storage) {
    Contents& contents = contents_[storage];
    if (contents.written.empty())
      return base(storage);
    const Shape& shape = cores_.storages[storage].shape;
    std::vector<std::string> parts;
    int64_t next = 0;
    const auto add_unwritten = [&](int64_t end) {
      if (next < end)
        parts.push_back(rows(base(storage), shape, next, end));
    };
    for (const auto& [row, value] : contents.written) {
      add_unwritten(row);
      parts.push_back(reshaped(value, shape.with(0, 1)));
      next = row + 1;
    }
    add_unwritten(shape[0]);
    std::string joined =
        op(OpKind::Concatenate, std::move(parts), given({{"dimension", int64_t{0}}}));
    contents = {std::move(joined)};
    return contents.whole;
  }

  std::string read(const CoreAccess& access) {
    if (!access.row)
      return whole(access.storage);
    Contents& contents = contents_[access.storage];
    if (const auto written = contents.written.find(*access.row); written != contents.written.end())
      return written->second;
    std::string& cut = contents.cut[*access.row];
    if (cut.empty())
      cut = reshaped(rows(base(access.storage), cores_.storages[access.storage].shape, *access.row,
                          *access.row + 1),
                     cores_.type(access).shape);
    return cut;
  }

  void write(const CoreAccess& access, std::string value) {
    if (access.row)
      contents_[access.storage].written[*access.row] = std::move(value);
    else
      contents_[access.storage] = {std::move(value)};
  }

  void add(CorePlace place) {
    const CoreStep& step = cores_.step(place);
    const CoreOp& body_op = *step.op;
    const ValueType to = cores_.type(*step.writes);
    if (body_op.kind == CoreOp::Kind::Copy) {
      const ValueType from = cores_.type(step.reads.front());
      const std::string value = read(step.reads.front());
      return write(*step.writes, from.shape == to.shape ? value : reshaped(value, to.shape));
    }
    if (body_op.op == OpKind::AxisIndex || body_op.op == OpKind::AxisSize)
      return write(*step.writes,
                   full(to.dtype, to.shape, static_cast<double>(cores_.axis_value(place))));
    std::vector<std::string> operands;
    for (const CoreAccess& each : step.reads)
      operands.push_back(read(each));
    write(*step.writes, op(body_op.op, std::move(operands), body_op.attributes));
  }

  const Cores& cores_;
  BodyBuilder body_;
  std::vector<Contents> contents_;
};

/// Requires operands for which the map is right.
Cores resolved(const Attributes& attributes, std::span<const ValueType> operands) {
  return std::get<Cores>(cores_of(attributes.core_map("functions"), operands, CoreChecks::Off));
}

Program body(const Attributes& attributes, std::span<const ValueType> operands) {
  return Body(resolved(attributes, operands), operands).program();
}

TypeOutcome type(const TypeContext& context) {
  const SharedCoreMap& map = context.attributes.core_map("functions");
  const auto cores = cores_of(map, context.operands, CoreChecks::On);
  if (const auto* wrong = std::get_if<TypeError>(&cores))
    return *wrong;
  const StatesOutcome states = joined_states(context.mesh, context.operands, Linearity::Nonlinear);
  if (const auto* wrong = std::get_if<TypeError>(&states))
    return *wrong;
  std::vector<ValueType> results;
  for (const CoreOutput& out : map->out) {
    TypeOutcome one = typed(out.dtype, out.shape, states);
    if (auto* const wrong = std::get_if<TypeError>(&one))
      return *wrong;
    results.push_back(std::get<std::vector<ValueType>>(one).front());
  }
  return results;
}

/// The op does the flops of all body ops, and reads and writes what they do in the device's memory.
/// The dtype is that of the op with the most flops.
Cost cost(const Attributes& attributes, std::span<const ValueType> operands,
          std::span<const ValueType>) {
  const Cores cores = resolved(attributes, operands);
  Cost total;
  Flops most;
  for (const CoreInstance& instance : cores.instances)
    for (const CoreStep& step : instance.steps) {
      const Cost cost = cores.cost(step);
      if (cost.flops > most) {
        most = cost.flops;
        total.dtype = cost.dtype;
      }
      total.flops += cost.flops;
      for (const auto& [space, bytes] : cores.touched(step))
        if (is_device_memory(space))
          total.bytes += bytes;
    }
  return total;
}

/// Scratch in the device's memory is scratch of the op.
OpMemory memory(const Attributes& attributes, std::span<const ValueType>,
                std::span<const ValueType> results) {
  const CoreMap& map = *attributes.core_map("functions");
  OpMemory memory;
  memory.results.resize(results.size());
  for (const auto& [input, output] : map.aliases)
    memory.results[static_cast<size_t>(output)] = {Alias::InPlace, static_cast<size_t>(input), {}};
  for (const CoreScratch& scratch : map.scratch)
    if (!scratch.semaphore && is_device_memory(scratch.space))
      memory.scratch += itemsize(scratch.dtype) * scratch.shape.elements();
  return memory;
}

}  // namespace

std::vector<OpRules> core_rules() {
  OpRules rules;
  rules.kind = OpKind::MpmdMap;
  rules.name = "mpmd_map";
  rules.summary =
      "functions that run at once on the cores of one device, and meet in refs and semaphores";
  rules.least_operands = 0;
  rules.most_operands = std::numeric_limits<size_t>::max();
  rules.most_results = std::numeric_limits<size_t>::max();
  rules.parameters = {
      {"functions", ParameterKind::Functions, Parameter::Need::Required, {}, {}, {}, {}}};
  rules.type = type;
  rules.cost = cost;
  rules.body = body;
  rules.memory = memory;
  rules.donates_overwritten = true;
  rules.errors = Errors::Body;
  rules.transforms.batch = batching::one_by_one;
  return {rules};
}

}  // namespace orrery
