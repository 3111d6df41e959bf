#include "models/scenario/reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/program/unroll.h"
#include "models/scenario/arrays_reader.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/document.h"
#include "models/scenario/expectation.h"
#include "models/scenario/fault.h"
#include "models/scenario/fields.h"
#include "models/scenario/memory_policy.h"
#include "models/scenario/placement.h"
#include "models/scenario/program_reader.h"
#include "models/scenario/transform_reader.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

constexpr std::string_view kVersion = "1";

class ScenarioReader {
 public:
  ScenarioReader(DocumentNode root, const Limits& limits, const std::optional<Cluster>& cluster,
                 std::span<const std::string> exits, const ScenarioDefaults& defaults,
                 Diagnostics& diagnostics)
      : root_(root),
        fields_(root, diagnostics),
        limits_(limits),
        cluster_(cluster),
        exits_(exits),
        defaults_(defaults),
        diagnostics_(diagnostics) {}

  /// Reads the scenario. Throws InputError if anything was wrong.
  Scenario read() {
    if (const auto version = fields_.required("orrery")) {
      if (version->kind() != DocumentNode::Kind::Number || version->number() != kVersion)
        expected(*version, fmt::format("version {} of the format", kVersion), diagnostics_);
    }
    if (const auto node = fields_.optional("$schema"))
      read_text(*node, "a schema's address", diagnostics_);  // an editor's affair
    std::string name;
    if (const auto node = fields_.optional("name"))
      name = read_text(*node, "a name", diagnostics_).value_or("");
    std::optional<ClusterReading> cluster;
    const bool makes_cluster = defaults_.cluster != nullptr && !fields_.optional("cluster");
    if (!makes_cluster)
      if (const auto node = fields_.required("cluster"))
        cluster = cluster_ ? ClusterReading{*cluster_} : read_cluster(*node, limits_, diagnostics_);
    std::optional<Mesh> mesh;
    if (const auto node = fields_.required("mesh"))
      mesh = read_mesh(*node,
                       cluster ? std::optional(cluster->cluster.fabric.devices()) : std::nullopt,
                       limits_, diagnostics_);
    if (makes_cluster && mesh)
      cluster = ClusterReading{defaults_.cluster(mesh->devices())};
    MemoryPolicy memory;
    if (const auto node = fields_.optional("memory"))
      memory = read_memory(*node, cluster ? &cluster->cluster : nullptr, diagnostics_);
    const std::optional<Checks> stated_checks = read_checks();
    std::optional<std::vector<ArrayReading>> arrays = std::vector<ArrayReading>();
    if (const auto node = fields_.optional("arrays"))
      arrays = read_arrays(*node, mesh ? &*mesh : nullptr, stated_checks.value_or(Checks::States),
                           limits_, defaults_.init, diagnostics_);
    const Checks checks = stated_checks.value_or(default_checks(arrays));
    std::optional<Program> program = read_program(mesh, checks, arrays);
    const Numerics numerics = read_numerics();
    if (program)
      program->numerics = numerics;
    std::vector<Boundary> boundaries;
    if (program && diagnostics_.empty())
      boundaries = checked_boundaries(*program, checks);
    std::vector<Expectation> expectations;
    if (const auto node = fields_.optional("expect"))
      expectations = checked_expectations(*node, program);
    std::vector<Fault> hardware_faults;
    if (const auto node = fields_.optional("faults"); node && cluster && mesh)
      hardware_faults = read_faults(*node, cluster->cluster.fabric, *mesh, diagnostics_);
    const bool concurrent_streams = read_concurrent_streams();
    const bool fuses_elementwise = read_fusion();
    fields_.finish();
    diagnostics_.throw_if_any();
    ORRERY_CHECK(cluster && program && arrays, "what is missing was reported");
    if (fuses_elementwise)
      fuse_elementwise(*program);

    Scenario scenario{.file = diagnostics_.file(),
                      .name = std::move(name),
                      .cluster = std::move(cluster->cluster),
                      .catalog_cluster = cluster->from_catalog,
                      .checks = checks,
                      .memory = memory,
                      .program = std::move(*program),
                      .arrays = {},
                      .boundaries = std::move(boundaries),
                      .expectations = std::move(expectations),
                      .faults = std::move(hardware_faults),
                      .concurrent_streams = concurrent_streams,
                      .fuses_elementwise = fuses_elementwise};
    // The arrays go in the order of the program's arguments. A transform may bring new ones.
    std::map<std::string_view, Array*> by_name;
    for (ArrayReading& reading : *arrays)
      by_name.emplace(reading.name, &*reading.array);
    for (const Argument& argument : scenario.program.arguments)
      scenario.arrays.push_back(
          std::move(*by_name.at(scenario.program.value(argument.value).name)));
    return scenario;
  }

 private:
  /// Returns the program with its loops written, so with the values of each iteration.
  const Program& written(const Program& program) const { return written_ ? *written_ : program; }

  /// Returns the boundaries of the outputs that have one.
  std::vector<Boundary> checked_boundaries(const Program& program, Checks checks) {
    std::vector<Boundary> boundaries;
    if (std::ranges::none_of(outputs_,
                             [](const auto& output) { return output.boundary.has_value(); }))
      return boundaries;
    const Program& all = written(program);
    const std::map<std::string_view, ValueId> values = values_by_name(program);
    const std::map<std::string_view, ValueId> written_values = values_by_name(all);
    std::set<ValueId> seen;
    for (const OutputReading& output : outputs_) {
      if (!output.boundary)
        continue;
      Boundary boundary = *output.boundary;
      boundary.value = written_values.at(output.name);
      if (!seen.insert(boundary.value).second)
        diagnostics_.add(*output.spec_origin,
                         fmt::format("expected one spec for {}, of which a report has one whole "
                                     "array, got another",
                                     in_quotes(all.value(boundary.value).name)));
      else if (const auto error = boundary_error(all, checks, boundary))
        diagnostics_.add(*output.spec_origin,
                         fmt::format("{}: {}", in_quotes(output.name), *error));
      boundary.value = values.at(output.name);
      boundaries.push_back(std::move(boundary));
    }
    return boundaries;
  }

  /// Reads the expectations. `program` is empty if it has errors. A name may stand for a value of a
  /// single iteration, but the scenario keeps the names of its program's own values.
  std::vector<Expectation> checked_expectations(DocumentNode node,
                                                const std::optional<Program>& program) {
    if (!program || !diagnostics_.empty())
      return read_expectations(node, nullptr, diagnostics_);
    std::vector<Expectation> expectations =
        read_expectations(node, &written(*program), diagnostics_);
    const std::map<std::string_view, ValueId> values = values_by_name(*program);
    const auto rename = [&](ComparedValue& compared) {
      if (const auto value = values.find(compared.written); value != values.end())
        compared.name = program->value(value->second).name;
    };
    for (Expectation& expectation : expectations)
      for_each_compared(expectation, rename);
    return expectations;
  }

  Numerics read_numerics() {
    const std::optional<DocumentNode> node = fields_.optional("numerics");
    const bool xla = node && read_word(*node, {"ieee", "xla-cpu"}, diagnostics_) == "xla-cpu";
    return xla ? Numerics::XlaCpu : Numerics::Ieee;
  }

  bool read_concurrent_streams() {
    const std::optional<DocumentNode> node = fields_.optional("concurrent_streams");
    return node && read_boolean(*node, diagnostics_).value_or(false);
  }

  bool read_fusion() {
    const std::optional<DocumentNode> node = fields_.optional("fusion");
    return node && read_word(*node, {"none", "elementwise"}, diagnostics_) == "elementwise";
  }

  std::optional<Checks> read_checks() {
    const std::optional<DocumentNode> node = fields_.optional("check_types");
    if (!node)
      return std::nullopt;
    return read_boolean(*node, diagnostics_).value_or(true) ? Checks::States : Checks::Shapes;
  }

  static Checks default_checks(const std::optional<std::vector<ArrayReading>>& arrays) {
    const bool all_per_device =
        arrays && std::all_of(arrays->begin(), arrays->end(), [](const ArrayReading& reading) {
          return reading.array && reading.array->per_device && !reading.array->joined &&
                 !reading.array->states.given();
        });
    return all_per_device ? Checks::Shapes : Checks::States;
  }

  /// Reads the program. The result is empty without a mesh, or without exactly one of "program" and
  /// "programs". It is valid only if there are no errors.
  std::optional<Program> read_program(const std::optional<Mesh>& mesh, Checks checks,
                                      const std::optional<std::vector<ArrayReading>>& arrays) {
    const std::optional<DocumentNode> program = fields_.optional("program");
    const std::optional<DocumentNode> programs = fields_.optional("programs");
    const std::optional<DocumentNode> outputs = fields_.optional("outputs");
    then_ = fields_.optional("then");
    if (!program && !programs)
      diagnostics_.add(fields_.object().origin(), "missing key \"program\" (or \"programs\")");
    if (program && programs)
      diagnostics_.add(programs->key_origin(), "expected \"program\" or \"programs\", got both");
    if (!mesh || !arrays || program.has_value() == programs.has_value())
      return std::nullopt;

    std::optional<std::vector<Transform>> read = read_transforms_key();
    if (!read)
      return std::nullopt;
    std::vector<Transform> transforms = std::move(*read);
    if (then_ && transforms.empty())
      report_then_alone();
    const std::optional<Written> written =
        written_program(*mesh, *arrays, transforms, limits_, diagnostics_);
    if (!written)
      return std::nullopt;
    const size_t errors = diagnostics_.size();
    ProgramBuilder builder(written->mesh, checks, diagnostics_);
    const std::map<std::string, Origin> brought = brought_arrays(transforms);
    std::set<std::string> invalid;
    KnownShardings shardings;
    for (const ArrayReading& reading : *arrays) {
      if (reading.array && (!reading.array->per_device || reading.array->joined))
        shardings.emplace(reading.name,
                          KnownSharding{reading.array->spec, reading.array->on,
                                        checks == Checks::Shapes && reading.array->joined &&
                                            unequal_copies(*mesh, *reading.array).has_value()});
      if (brought.contains(reading.name))
        continue;
      if (reading.array)
        builder.argument(reading.name, written->arguments.at(reading.name), reading.origin,
                         reading.array->on);
      else
        invalid.insert(reading.name);
    }
    ProgramReader reader(written->mesh, builder, std::move(invalid), std::move(shardings), limits_,
                         diagnostics_);
    if (program)
      reader.read_program(*program);
    else
      reader.read_programs(*programs);
    if (outputs && is_list(*outputs, "a list of ids", diagnostics_))
      for (const DocumentNode item : *outputs)
        if (auto output = read_output(item, *mesh, diagnostics_))
          outputs_.push_back(std::move(*output));
    if (transforms.empty())
      for (const OutputReading& output : outputs_)
        if (!reader.is_invalid(output.name))
          builder.output(output.name, output.origin);
    if (programs && !reader.complete()) {
      builder.report_undefined();
      return std::nullopt;
    }
    name_exits(builder);
    if (transforms.empty())
      name_further_exits(builder);
    std::optional<Program> made = finished(builder, errors);
    if (!made || transforms.empty())
      return made;
    return transformed_program(std::move(*made), checks, transforms, *arrays);
  }

  /// Tells the builder every text of the scenario, since any may name a value of a single
  /// iteration: in an expectation, in a transform or in the ops that follow it.
  void name_exits(ProgramBuilder& builder) const {
    if (builder.has_loops())
      name_exits(root_, builder);
  }
  /// Names the exits that the caller asks for. These are of the program that runs, so no transform
  /// sees them.
  void name_further_exits(ProgramBuilder& builder) const {
    for (const std::string& exit : exits_)
      builder.name_exit(exit);
  }
  static void name_exits(DocumentNode node, ProgramBuilder& builder) {
    if (node.kind() == DocumentNode::Kind::Text)
      builder.name_exit(node.text());
    for (const DocumentNode member : node) {
      if (node.kind() == DocumentNode::Kind::Object)
        builder.name_exit(member.key());
      name_exits(member, builder);
    }
  }

  /// Returns the program, and adds errors where it is wrong, also in single iterations. Returns
  /// nothing if the iterations cannot be checked. `errors` is the number before it was read.
  std::optional<Program> finished(ProgramBuilder& builder, size_t errors) {
    builder.report_undefined();
    Program made = builder.finish();
    written_.reset();
    if (made.loops.empty())
      return made;
    if (diagnostics_.size() > errors)
      return std::nullopt;
    Diagnostics of_iterations(diagnostics_.file());
    std::optional<Unrolled> all = unrolled(
        made, LongLoops::LeftOut, builder.site_requests(),
        [&](const WrittenSize& size) { return size_error(limits_, made.mesh, size); },
        of_iterations);
    try {
      of_iterations.throw_if_any();
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics())
        diagnostics_.add(diagnostic.origin, diagnostic.message);
    }
    if (!all)
      return std::nullopt;
    written_ = std::move(all->program);
    return made;
  }

  /// Reads "transform". The result is empty if an error was added.
  std::optional<std::vector<Transform>> read_transforms_key() {
    const std::optional<DocumentNode> node = fields_.optional("transform");
    return node ? read_transforms(*node, diagnostics_) : std::vector<Transform>();
  }

  /// Adds the error of a "then" without a transform.
  void report_then_alone() {
    if (const auto none = fields_.optional("transform"))
      diagnostics_.add(
          none->origin(),
          "expected a transform or more, after which the ops of \"then\" run, got none");
    else
      diagnostics_.add(then_->key_origin(),
                       "expected \"transform\" too, after which these ops run");
  }

  /// Returns the program that runs, made of the one that is written.
  std::optional<Program> transformed_program(Program program, Checks checks,
                                             std::vector<Transform>& transforms,
                                             const std::vector<ArrayReading>& arrays) {
    for (Transform& transform : transforms) {
      std::visit([&](auto& request) { request.most_ops = limits_.ops; }, transform);
      if (auto* batch = std::get_if<BatchRequest>(&transform))
        for (const OutputReading& output : outputs_)
          batch->outputs.push_back(output.name);
    }
    if (diagnostics_.empty())
      program = transformed(std::move(program), checks, transforms, diagnostics_);
    if (diagnostics_.empty())
      check_brought(program, checks, brought_arrays(transforms), arrays);
    if (!diagnostics_.empty())
      return std::nullopt;
    ProgramBuilder builder(program.mesh, checks, diagnostics_);
    copy_program(program, builder);
    if (then_) {
      ProgramReader reader(program.mesh, builder, {}, {}, limits_, diagnostics_);
      reader.read_more(*then_);
    }
    for (const OutputReading& output : outputs_)
      builder.output(output.name, output.origin);
    name_exits(builder);
    name_further_exits(builder);
    return finished(builder, 0);
  }

  /// Returns "; say \"varying\": [\"x\"]" for an array given per device whose type differs from the
  /// one wanted only in the axes over which it varies; else "". By default such an array varies
  /// over all axes.
  static std::string varying_hint(const Mesh& mesh, const Array& array, const ValueType& given,
                                  const ValueType& wanted) {
    if (!array.per_device || array.joined || given.dtype != wanted.dtype ||
        given.shape != wanted.shape)
      return "";
    std::vector<std::string> axes;
    for (size_t a = 0; a < wanted.axes.size(); ++a) {
      const bool varies = wanted.axes[a] == AxisState::Varying;
      if (varies)
        axes.push_back(in_quotes(mesh.axes()[a].name));
      const bool other = given.axes[a] > AxisState::Varying || wanted.axes[a] > AxisState::Varying;
      if (other && given.axes[a] != wanted.axes[a])
        return "";
    }
    return fmt::format("; say \"varying\": [{}]", fmt::join(axes, ", "));
  }

  /// Checks that the scenario has the arrays that the transforms bring, with the types that the
  /// transforms give them.
  void check_brought(const Program& program, Checks checks,
                     const std::map<std::string, Origin>& names,
                     const std::vector<ArrayReading>& arrays) {
    for (const Argument& argument : program.arguments) {
      const Value& value = program.value(argument.value);
      if (!names.contains(value.name))
        continue;
      const auto given = std::find_if(arrays.begin(), arrays.end(), [&](const ArrayReading& each) {
        return each.name == value.name;
      });
      const std::string wanted = text(value.type, program.mesh);
      if (given == arrays.end()) {
        diagnostics_.add(
            names.at(value.name),
            fmt::format("expected an array \"{}\", {} on a device, which \"transform\" "
                        "needs",
                        value.name, wanted));
        continue;
      }
      const Array& array = *given->array;
      const ValueType type = {array.dtype, local_shape(program.mesh, array),
                              axis_states(program.mesh, array), false};
      const bool fits = checks == Checks::States
                            ? type == value.type
                            : type.dtype == value.type.dtype && type.shape == value.type.shape;
      if (!fits || array.on)
        diagnostics_.add(
            given->origin,
            fmt::format("expected {} on each device, as \"transform\" needs it, got {}{}", wanted,
                        text(type, program.mesh),
                        varying_hint(program.mesh, array, type, value.type)));
    }
  }

  DocumentNode root_;
  Fields fields_;
  std::optional<DocumentNode> then_;
  std::vector<OutputReading> outputs_;
  const Limits& limits_;
  const std::optional<Cluster>& cluster_;
  const std::span<const std::string> exits_;  // names of them, beside those in the text
  const ScenarioDefaults& defaults_;
  std::optional<Program> written_;  // the program with its iterations, if it has loops
  Diagnostics& diagnostics_;
};

Scenario read(const Document& document, const Limits& limits, const std::optional<Cluster>& cluster,
              std::span<const std::string> exits, const ScenarioDefaults& defaults,
              Diagnostics& diagnostics) {
  const std::optional<DocumentNode> root = document.root();
  if (!root || !is_object(*root, "a scenario, an object", diagnostics))
    diagnostics.throw_if_any();
  return ScenarioReader(*root, limits, cluster, exits, defaults, diagnostics).read();
}

}  // namespace

void know_scenario_keys(Fields& fields) {
  for (const std::string_view key :
       {"orrery", "$schema", "name", "cluster", "mesh", "memory", "check_types", "arrays",
        "program", "programs", "outputs", "then", "transform", "numerics", "expect", "faults",
        "concurrent_streams", "fusion"})
    fields.optional(key);
}

Scenario read_scenario(std::string file_name, std::string_view text, const Limits& limits,
                       const std::optional<Cluster>& cluster, std::span<const std::string> exits) {
  Diagnostics diagnostics(std::move(file_name));
  if (text.size() > static_cast<size_t>(limits.file))
    diagnostics.add(beyond(limits, &Limits::file, static_cast<int64_t>(text.size())));
  diagnostics.throw_if_any();
  const Document document(text, diagnostics, limits);
  return read(document, limits, cluster, exits, ScenarioDefaults(), diagnostics);
}

Scenario read_scenario(std::string file_name, const Document& document, const Limits& limits,
                       const ScenarioDefaults& defaults) {
  Diagnostics diagnostics(std::move(file_name));
  return read(document, limits, std::nullopt, {}, defaults, diagnostics);
}

Scenario load_scenario(const std::string& path, const Limits& limits,
                       const std::optional<Cluster>& cluster) {
  return read_scenario(path, load_text(path, limits), limits, cluster);
}

}  // namespace orrery
