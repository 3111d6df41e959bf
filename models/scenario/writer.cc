#include "models/scenario/writer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "models/array/text.h"
#include "models/base/callable.h"
#include "models/program/core_map.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/sides.h"
#include "models/scenario/attribute_text.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/expectation.h"
#include "models/scenario/fault.h"
#include "models/scenario/json_text.h"
#include "models/scenario/literal.h"
#include "models/scenario/program_reader.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

using Members = std::vector<std::pair<std::string, JsonText>>;

/// Returns Values if the texts of the values tell all bits; the text of a NaN may not.
Encoding encoding_of(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    Tensor read = tensor;
    for (int64_t i = 0; i < tensor.elements(); ++i)
      if (!parse_element(element_text(tensor, i), read, i))
        return Encoding::Bits;
    if (!same_bits(read, tensor))
      return Encoding::Bits;
  }
  return Encoding::Values;
}

JsonText element_as(Encoding encoding, const Tensor& tensor, int64_t index) {
  if (encoding == Encoding::Bits)
    return JsonText::raw(fmt::format("{}", element_bits(tensor, index)));
  std::string token = element_text(tensor, index);
  const bool named = token == "NaN" || token == "Infinity" || token == "-Infinity";
  return named ? JsonText::text(token) : JsonText::raw(std::move(token));
}

JsonText tensors_text(const std::vector<Tensor>& tensors, Encoding encoding) {
  return list_text(tensors, [&](const Tensor& tensor) {
    std::vector<JsonText> elements;
    if (is_complex(tensor.dtype())) {
      const Tensor both = parts(tensor);
      for (int64_t i = 0; i < both.elements(); i += 2)
        elements.push_back(
            JsonText::list({element_as(encoding, both, i), element_as(encoding, both, i + 1)}));
    } else {
      for (int64_t i = 0; i < tensor.elements(); ++i)
        elements.push_back(element_as(encoding, tensor, i));
    }
    return JsonText::list(std::move(elements));
  });
}

void add_encoding(Members& members, Encoding encoding) {
  if (encoding == Encoding::Bits)
    members.emplace_back("encoding", JsonText::text("bits"));
}

/// Writes the index or interval on each axis, if that says exactly which devices; else their ids.
JsonText devices_text(const Mesh& mesh, const std::vector<LogicalId>& devices) {
  Members members;
  size_t inside = 1;
  for (size_t i = 0; i < mesh.axes().size() && !devices.empty(); ++i) {
    const Axis& axis = mesh.axes()[i];
    int64_t low = axis.size;
    int64_t high = 0;
    for (const LogicalId device : devices) {
      low = std::min(low, mesh.coordinate(device, i));
      high = std::max(high, mesh.coordinate(device, i));
    }
    inside *= static_cast<size_t>(high - low + 1);
    if (low == high)
      members.emplace_back(axis.name, integer_text(low));
    else if (low != 0 || high != axis.size - 1)
      members.emplace_back(axis.name, integers_text(std::vector{low, high + 1}));
  }
  if (inside == devices.size())
    return JsonText::object(std::move(members));
  return list_text(devices, [](LogicalId id) { return integer_text(id.index()); });
}

JsonText spec_text(const PartitionSpec& spec) {
  return list_text(spec.dims, [](const std::vector<std::string>& axes) {
    return axes.empty() ? JsonText::raw("null") : name_or_names_text(axes);
  });
}

void add_states(Members& members, const ArrayStates& states) {
  if (states.varying)
    members.emplace_back("varying", names_text(*states.varying));
  if (!states.unreduced.empty())
    members.emplace_back("unreduced", names_text(states.unreduced));
  if (!states.reduced.empty())
    members.emplace_back("reduced", names_text(states.reduced));
}

JsonText output_text(const Scenario& scenario, ValueId id) {
  const std::string& name = scenario.program.value(id).name;
  const auto boundary = std::find_if(scenario.boundaries.begin(), scenario.boundaries.end(),
                                     [&](const Boundary& each) { return each.value == id; });
  if (boundary == scenario.boundaries.end())
    return JsonText::text(name);
  Members members = {{"id", JsonText::text(name)}, {"spec", spec_text(boundary->spec)}};
  add_states(members, boundary->states);
  return JsonText::object(std::move(members));
}

using ArraysByName = std::map<std::string_view, const Array*>;

/// Returns whether the elements of `array`, which `init` draws, are those of `source`, by whose
/// name it draws them.
bool is_source(const Array& source, const Array& array, const RandomInit& init) {
  const auto* other = std::get_if<RandomInit>(&source.init);
  return other != nullptr && &source != &array && !other->named && other->seed == init.seed &&
         other->values == init.values && source.dtype == array.dtype &&
         source.global == array.global && !source.per_device;
}

/// Writes "same_as" if the scenario has an array with these elements, else the name by which they
/// are drawn.
JsonText random_text(const ArraysByName& arrays, const Array& array, const RandomInit& init) {
  if (init.named) {
    const auto source = arrays.find(*init.named);
    if (source != arrays.end() && is_source(*source->second, array, init))
      return JsonText::object({{"same_as", JsonText::text(*init.named)}});
  }
  const bool integers = init.values == RandomInit::Values::Integers;
  if (init.seed == 0 && !integers && !init.named)
    return JsonText::text("random");
  Members random = {{"random", JsonText::raw(fmt::format("{}", init.seed))}};
  if (integers)
    random.emplace_back("values", JsonText::text("integers"));
  if (init.named)
    random.emplace_back("named", JsonText::text(*init.named));
  return JsonText::object(std::move(random));
}

JsonText array_text(const Mesh& mesh, const ArraysByName& arrays, const Array& array) {
  Members members;
  members.emplace_back(array.per_device ? "local_shape" : "shape",
                       integers_text(array.global.dims()));
  members.emplace_back("dtype", JsonText::text(name(array.dtype)));
  if (array.joined || array.uncorrected || !array.spec.dims.empty())
    members.emplace_back("spec", spec_text(array.uncorrected.value_or(array.spec)));
  if (array.uncorrected)
    members.emplace_back("corrected", JsonText::raw("true"));
  add_states(members, array.states);
  if (array.on)
    members.emplace_back("on", devices_text(mesh, *array.on));
  std::visit(
      Overloaded{
          [&](const IotaInit&) { members.emplace_back("init", JsonText::text("iota")); },
          [&](const FillInit& init) { members.emplace_back("init", number_text(init.value)); },
          [&](const RandomInit& init) {
            members.emplace_back("init", random_text(arrays, array, init));
          },
          [&](const PerDeviceInit& init) {
            const Encoding encoding = encoding_of(init.tensors);
            add_encoding(members, encoding);
            members.emplace_back("per_device", tensors_text(init.tensors, encoding));
          },
      },
      array.init);
  return JsonText::object(std::move(members));
}

/// It writes the ops of a program, and its loops with their bodies and the names used there.
class OpsText {
 public:
  explicit OpsText(const Program& program) : program_(program), body_of_(program.values.size()) {
    for (size_t l = 0; l < program.loops.size(); ++l) {
      const Loop& loop = program.loops[l];
      for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)  // inner loops come later
        for (const ValueId result : program.ops[op].results)
          body_of_[result.index()] = l;
      for (const Carry& carry : loop.carries) {
        body_of_[carry.param.index()] = l;
        body_of_[carry.result.index()] = loop.around;
      }
    }
  }

  JsonText of(ThreadId thread) {
    lists_.emplace_back();
    for_each_part(program_, thread,
                  {[&](OpId op) {
                     if (open_.empty() || program_.loops[open_.back()].index != op)
                       add(program_.op(op));
                     return true;
                   },
                   [&](size_t loop) {
                     open_.push_back(loop);
                     lists_.emplace_back();
                     return true;
                   },
                   [&](size_t loop) {
                     JsonText body = take();
                     open_.pop_back();
                     lists_.back().push_back(loop_text(program_.loops[loop], std::move(body)));
                     return true;
                   }});
    return take();
  }

 private:
  JsonText take() {
    JsonText list = JsonText::list(std::move(lists_.back()));
    lists_.pop_back();
    return list;
  }

  /// Returns the name in the body of the loop, or the name itself at the top.
  std::string name_in_body(std::optional<size_t> loop, const std::string& name) const {
    return loop ? std::string(own_name(any_iteration(program_.loops[*loop].name), name)) : name;
  }
  std::string value_name(ValueId id) const {
    return name_in_body(body_of_[id.index()], program_.value(id).name);
  }
  JsonText value_names(const std::vector<ValueId>& ids) const {
    std::vector<std::string> names(ids.size());
    std::transform(ids.begin(), ids.end(), names.begin(),
                   [&](ValueId id) { return value_name(id); });
    return name_or_names_text(names);
  }
  std::string op_name_here(const Op& op) const {
    return name_in_body(open_.empty() ? std::nullopt : std::optional(open_.back()), op.name);
  }

  /// Adds an op to the list that is written. A reshard is added with the first of its ops. A group
  /// is added with its last done, which names the last of its parts (ProgramBuilder::group).
  void add(const Op& op) {
    if (op.reshard) {
      if (std::exchange(reshard_, op.reshard) != op.reshard)
        lists_.back().push_back(reshard_text(program_.reshards[*op.reshard]));
      return;
    }
    if (!op.group.empty()) {
      grouped_.push_back(&op);
      return;
    }
    if (grouped_.empty()) {
      lists_.back().push_back(op_text(op, op, op.issue));
      return;
    }
    named_.push_back(&op);
    if (named_.size() < grouped_.size())
      return;
    std::vector<JsonText> parts;
    for (size_t p = 0; p < grouped_.size(); ++p)
      parts.push_back(op_text(*grouped_[p], *named_[p], Issue::Sync));
    const std::string group = name_in_body(
        open_.empty() ? std::nullopt : std::optional(open_.back()), grouped_.front()->group);
    lists_.back().push_back(JsonText::object({{"id", JsonText::text(group)},
                                              {"op", JsonText::text(std::string(kGroupOp))},
                                              {"do", JsonText::list(std::move(parts))}}));
    grouped_.clear();
    named_.clear();
  }

  /// Returns the text of an op which has the name of `named`.
  JsonText op_text(const Op& op, const Op& named, Issue issue) const {
    const OpRules& rules = orrery::rules(op.kind);
    Members members;
    members.emplace_back("id", op.results.size() > 1 ? value_names(op.results)
                                                     : JsonText::text(op_name_here(named)));
    members.emplace_back("op", JsonText::text(op_name(op.kind, issue)));
    if (!op.operands.empty())
      members.emplace_back("of", value_names(op.operands));
    if (!op.donated.empty())
      members.emplace_back("donate", value_names(op.donated));
    // A precv with the token of a psend meets at the site of that, so it does not name a site.
    if (op.site && program_.site(*op.site).named &&
        (side_of(op) != Side::Receives || receives_by_site(program_, op))) {
      const std::string& site = program_.site(*op.site).name;
      members.emplace_back(
          "site", JsonText::text(site.substr(0, site.size() - kAnyIndex.size() * open_.size())));
    }
    const Attributes attributes = written_attributes(op);
    for (const Parameter& parameter : rules.parameters) {
      const auto given = attributes.all().find(parameter.name);
      if (given == attributes.all().end() || parameter.otherwise == given->second ||
          (!op.group.empty() && parameter.name == kStreamKey))
        continue;
      if (parameter.kind == ParameterKind::Functions) {
        std::ranges::move(core_map_members(*std::get<SharedCoreMap>(given->second)),
                          std::back_inserter(members));
        continue;
      }
      members.emplace_back(std::string(parameter.name),
                           attribute_text(given->second, parameter.kind));
    }
    return JsonText::object(std::move(members));
  }

  static JsonText reshard_text(const Reshard& reshard) {
    const bool to_groups = reshard.to == Reshard::To::Groups;
    std::vector<std::string> results;
    std::vector<std::string> operands;
    std::vector<JsonText> from;
    std::vector<JsonText> wanted;
    for (const Reshard::Array& array : reshard.arrays) {
      results.push_back(array.to);
      operands.push_back(array.from);
      from.push_back(JsonText::object({{"spec", spec_text(array.given)}}));
      const std::vector<int64_t> groups(array.groups.begin(), array.groups.end());
      wanted.push_back(to_groups ? JsonText::object({{"mesh_ids", integers_text(groups)},
                                                     {"spec", spec_text(array.wanted)}})
                                 : spec_text(array.wanted));
    }
    Members members = {{"id", names_text(results)},
                       {"op", JsonText::text(to_groups ? kToGroupsOp : kToMeshOp)},
                       {"of", names_text(operands)},
                       {"mpmd_axis", JsonText::text(reshard.axis)}};
    if (reshard.states_given)
      members.emplace_back("from", JsonText::list(std::move(from)));
    members.emplace_back(to_groups ? "shardings" : "specs", JsonText::list(std::move(wanted)));
    if (reshard.threshold)
      members.emplace_back("threshold", JsonText::text(quantity_text(*reshard.threshold)));
    if (reshard.counts_targets)
      members.emplace_back("threshold_counts", JsonText::text("target"));
    if (!reshard.site.empty())
      members.emplace_back("site", JsonText::text(reshard.site));
    return JsonText::object(std::move(members));
  }

  JsonText loop_text(const Loop& loop, JsonText body) const {
    Members members = {{"id", JsonText::text(name_in_body(loop.around, loop.name))},
                       {"op", JsonText::text(std::string(kLoopOp))},
                       {"lower", integer_text(loop.lower)},
                       {"upper", integer_text(loop.upper)}};
    const std::string in_body = any_iteration(loop.name);
    if (loop.index)
      members.emplace_back(
          "index", JsonText::text(std::string(own_name(in_body, program_.op(*loop.index).name))));
    Members carry;
    Members yield;
    for (const Carry& each : loop.carries) {
      const std::string name = value_name(each.param);
      carry.emplace_back(name, JsonText::text(value_name(each.initial)));
      yield.emplace_back(name, JsonText::text(value_name(each.yielded)));
    }
    if (!loop.carries.empty())
      members.emplace_back("carry", JsonText::object(std::move(carry)));
    members.emplace_back("body", std::move(body));
    if (!loop.carries.empty())
      members.emplace_back("yield", JsonText::object(std::move(yield)));
    return JsonText::object(std::move(members));
  }

  const Program& program_;
  std::vector<std::optional<size_t>> body_of_;  // per value: the loop in whose body it is
  std::vector<size_t> open_;                    // the loops around what is written now
  std::vector<std::vector<JsonText>> lists_;    // of the program, and of their bodies so far
  std::vector<const Op*> grouped_;              // the starts of the group that is written now
  std::vector<const Op*> named_;                // the dones of these, as far as they came
  std::optional<uint32_t> reshard_;             // that was written last
};

JsonText programs_text(const Program& program) {
  std::vector<JsonText> texts;
  OpsText ops(program);
  for (size_t i = 0; i < program.threads.size(); ++i) {
    const Thread& thread = program.threads[i];
    Members members;
    if (thread.name != default_program_name(i))
      members.emplace_back("name", JsonText::text(thread.name));
    members.emplace_back("on", devices_text(program.mesh, thread.devices));
    members.emplace_back("do", ops.of(ThreadId(i)));
    texts.push_back(JsonText::object(std::move(members)));
  }
  return JsonText::list(std::move(texts));
}

template <class Bounds>
JsonText bounds_text(const Bounds& bounds) {
  Members members;
  if (bounds.at_least)
    members.emplace_back("at_least", JsonText::text(quantity_text(*bounds.at_least)));
  if (bounds.at_most)
    members.emplace_back("at_most", JsonText::text(quantity_text(*bounds.at_most)));
  return JsonText::object(std::move(members));
}

JsonText compared_text(const char* how, const ComparedValues& compared) {
  std::vector<std::string> names;
  for (const ComparedValue& value : compared.values)
    names.push_back(value.name);
  Members members = {{how, names_text(names)}};
  if (compared.devices == ComparedDevices::Common)
    members.emplace_back("devices", JsonText::text("common"));
  return JsonText::object(std::move(members));
}

JsonText expectation_text(const Expectation& expectation) {
  return std::visit(
      Overloaded{
          [](const ExpectEqual& what) { return compared_text("equal", what); },
          [](const ExpectClose& what) { return compared_text("close", what); },
          [](const ExpectValues& what) {
            Members values;
            values.emplace_back(what.value.name, tensors_text(what.per_device, what.encoding));
            Members members = {{"values", JsonText::object(std::move(values))}};
            add_encoding(members, what.encoding);
            return JsonText::object(std::move(members));
          },
          [](const ExpectMakespan& what) {
            return JsonText::object({{"makespan", bounds_text(what)}});
          },
          [](const ExpectPeakMemory& what) {
            return JsonText::object({{"peak_memory", bounds_text(what)}});
          },
          [](const ExpectBufferedMessages& what) {
            return JsonText::object(
                {{"buffered_messages",
                  JsonText::object({{"at_most", JsonText::raw(std::to_string(what.at_most))}})}});
          },
          [](const ExpectHolds& what) {
            return JsonText::object({{"holds", list_text(what.properties, [](Property property) {
                                        return JsonText::text(property_name(property));
                                      })}});
          },
      },
      expectation.what);
}

JsonText memory_text(const MemoryPolicy& policy) {
  const MemoryPolicy otherwise;
  Members members;
  if (policy.reuse != otherwise.reuse)
    members.emplace_back("reuse", JsonText::text("xla"));
  if (policy.alignment != otherwise.alignment)
    members.emplace_back("alignment", JsonText::text(quantity_text(policy.alignment)));
  if (policy.reserved != otherwise.reserved)
    members.emplace_back("reserved", JsonText::text(quantity_text(policy.reserved)));
  Members transport;
  if (policy.channels)
    transport.emplace_back("channels", integer_text(*policy.channels));
  if (policy.transport) {
    transport.emplace_back("protocol", JsonText::text(policy.transport->name));
    transport.emplace_back("slot", JsonText::text(quantity_text(*policy.transport->slot)));
  }
  if (policy.counts_transport)
    members.emplace_back("transport", transport.empty() ? JsonText::raw("true")
                                                        : JsonText::object(std::move(transport)));
  return JsonText::object(std::move(members));
}

}  // namespace

std::string write_scenario(const Scenario& scenario) {
  const Program& program = scenario.program;
  Members members;
  members.emplace_back("orrery", JsonText::raw("1"));
  if (!scenario.name.empty())
    members.emplace_back("name", JsonText::text(scenario.name));
  members.emplace_back("cluster", scenario.catalog_cluster ? JsonText::text(scenario.cluster.name)
                                                           : cluster_text(scenario.cluster));
  Members axes;
  for (const Axis& axis : program.mesh.axes())
    axes.emplace_back(axis.name, integer_text(axis.size));
  members.emplace_back("mesh", JsonText::object(std::move(axes)));
  members.emplace_back("check_types",
                       JsonText::raw(scenario.checks == Checks::States ? "true" : "false"));
  if (program.numerics == Numerics::XlaCpu)
    members.emplace_back("numerics", JsonText::text("xla-cpu"));
  if (scenario.concurrent_streams)
    members.emplace_back("concurrent_streams", JsonText::raw("true"));
  if (scenario.fuses_elementwise)
    members.emplace_back("fusion", JsonText::text("elementwise"));
  if (scenario.memory != MemoryPolicy{})
    members.emplace_back("memory", memory_text(scenario.memory));
  if (!scenario.faults.empty())
    members.emplace_back("faults", faults_json(scenario.faults, scenario.cluster.fabric));
  ArraysByName by_name;
  for (const Array& array : scenario.arrays)
    by_name.emplace(array.name, &array);
  Members arrays;
  for (const Array& array : scenario.arrays)
    arrays.emplace_back(array.name, array_text(program.mesh, by_name, array));
  members.emplace_back("arrays", JsonText::object(std::move(arrays)));
  const bool single = program.threads.size() == 1 && program.threads[0].name == kOnlyProgram &&
                      program.threads[0].devices.size() == program.mesh.devices();
  if (single)
    members.emplace_back("program", OpsText(program).of(ThreadId(0)));
  else
    members.emplace_back("programs", programs_text(program));
  members.emplace_back("outputs", list_text(program.outputs, [&](ValueId output) {
                         return output_text(scenario, output);
                       }));
  members.emplace_back("expect", list_text(scenario.expectations, expectation_text));
  return JsonText::object(std::move(members)).lines();
}

}  // namespace orrery
