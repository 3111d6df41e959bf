#include "models/program/cores.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/program/builder.h"
#include "models/program/families.h"

namespace orrery {

namespace {

/// It is thrown where a map is wrong, and caught in cores_of().
struct Refused {
  TypeError error;
};

template <class... Parts>
[[noreturn]] void refuse(std::string path, fmt::format_string<Parts...> message, Parts&&... parts) {
  throw Refused{{std::move(path), fmt::format(message, std::forward<Parts>(parts)...)}};
}

std::string form(const ValueType& type) {
  return fmt::format("{}{}", name(type.dtype), type.shape.text());
}

std::string path_of(size_t function) {
  return fmt::format("functions/{}", function);
}

/// Returns why two meshes cannot run together, or "".
std::string misfit(const CoreMesh& a, const CoreMesh& b) {
  if (a.type == CoreType::Tensor || b.type == CoreType::Tensor)
    return fmt::format(
        "expected a scalar and a vector mesh together, got \"{}\" and \"{}\": a tensor mesh runs "
        "alone",
        a.name, b.name);
  if (a.type == b.type)
    return fmt::format(
        "expected a scalar and a vector mesh together, got two {} meshes, \"{}\" and \"{}\"",
        name(a.type), a.name, b.name);
  if (a.axes[0] != b.axes[0])
    return fmt::format(
        "expected a scalar and a vector mesh of one core axis and as many cores, got \"{}\" of {} "
        "and \"{}\" of {}",
        a.axes[0].name, a.axes[0].size, b.axes[0].name, b.axes[0].size);
  if (a.name == b.name)
    return fmt::format("expected meshes of different names, got \"{}\" twice", a.name);
  return "";
}

/// A Meaning is what a name stands for in the bodies.
struct Meaning {
  std::vector<uint32_t> storages = {};  // one, or one per instance
  std::optional<uint32_t> counter = {};
  std::optional<int64_t> rows = {};      // of semaphores that are several
  std::optional<std::string> core = {};  // the mesh whose instances may use it
  bool per_instance = false;
  bool read_only = false;
};

class Resolver {
 public:
  Resolver(const SharedCoreMap& map, std::span<const ValueType> operands, CoreChecks checks)
      : operands_(operands), checks_(checks), cores_{map, {}, {}, {}, {}, {}} {}

  Cores resolve() {
    if (map().functions.empty())
      refuse("functions", "expected at least one mesh and function, got []");
    check_meshes();
    add_instances();
    add_inputs_and_outputs();
    for (size_t s = 0; s < map().scratch.size(); ++s)
      add_scratch(s);
    for (size_t f = 0; f < map().functions.size(); ++f)
      for (size_t o = 0; o < map().functions[f].body.size(); ++o)
        add_steps(f, o);
    return std::move(cores_);
  }

 private:
  const CoreMap& map() const { return *cores_.map; }

  void check_meshes() {
    for (size_t f = 0; f < map().functions.size(); ++f) {
      const CoreMesh& mesh = map().functions[f].mesh;
      if (mesh.axes.size() > 1 && mesh.axes[0].name == mesh.axes[1].name)
        refuse(path_of(f) + "/mesh/subcore_axis",
               "expected a subcore axis of another name than the core axis, got \"{}\"",
               mesh.axes[1].name);
      for (size_t other = 0; other < f; ++other)
        if (std::string wrong = misfit(map().functions[other].mesh, mesh); !wrong.empty())
          throw Refused{{path_of(f) + "/mesh", std::move(wrong)}};
    }
  }

  void add_instances() {
    int64_t steps = 0;
    first_instance_.resize(map().functions.size());
    for (size_t f = 0; f < map().functions.size(); ++f) {
      const CoreFunction& function = map().functions[f];
      int64_t count = 1;
      for (const Axis& axis : function.mesh.axes)
        count = axis.size > kMostCoreSteps / count ? kMostCoreSteps + 1 : count * axis.size;
      // An instance without body ops counts as one.
      steps += count * std::max<int64_t>(static_cast<int64_t>(function.body.size()), 1);
      if (steps > kMostCoreSteps)
        refuse(path_of(f), "expected at most {} body ops of all instances together, got more",
               kMostCoreSteps);
      first_instance_[f] = static_cast<uint32_t>(cores_.instances.size());
      for (int64_t i = 0; i < count; ++i) {
        CoreInstance instance{static_cast<uint32_t>(f), {}, {}};
        int64_t rest = i;
        for (size_t a = function.mesh.axes.size(); a-- > 0;) {
          instance.index.insert(instance.index.begin(), rest % function.mesh.axes[a].size);
          rest /= function.mesh.axes[a].size;
        }
        cores_.instances.push_back(std::move(instance));
      }
    }
  }

  uint32_t add_storage(CoreStorage storage, const std::string& path) {
    try {
      total_ += storage.size();
    } catch (const Overflow&) {
      refuse(path, "expected arrays whose bytes together fit 64 bits, got more");
    }
    cores_.storages.push_back(std::move(storage));
    return static_cast<uint32_t>(cores_.storages.size() - 1);
  }

  void add_inputs_and_outputs() {
    const bool tensor = map().functions.front().mesh.type == CoreType::Tensor;
    const CoreSpace space = tensor ? CoreSpace::Any : CoreSpace::Hbm;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const std::string ref = fmt::format("in{}", i);
      const uint32_t storage = add_storage(
          {CoreStorage::Role::Input, ref, operands_[i].dtype, operands_[i].shape, space}, "of");
      cores_.inputs.push_back(storage);
      meanings_[ref] = {{storage}, {}, {}, {}, false, /*read_only=*/true};
    }
    const std::map<int64_t, int64_t> input_of = checked_aliases();
    for (size_t o = 0; o < map().out.size(); ++o) {
      const std::string ref = fmt::format("out{}", o);
      const auto input = input_of.find(static_cast<int64_t>(o));
      uint32_t storage = 0;
      if (input != input_of.end()) {
        storage = cores_.inputs[static_cast<size_t>(input->second)];
        meanings_[cores_.storages[storage].ref].read_only = false;
      } else {
        storage = add_storage(
            {CoreStorage::Role::Output, ref, map().out[o].dtype, map().out[o].shape, space},
            fmt::format("out/{}", o));
      }
      cores_.outputs.push_back(storage);
      meanings_[ref] = {{storage}};
    }
  }

  /// Returns the input of each output that has one.
  std::map<int64_t, int64_t> checked_aliases() const {
    std::map<int64_t, int64_t> input_of;
    for (const auto& [input, output] : map().aliases) {
      const std::string path = fmt::format("aliases/{}", input);
      const auto operands = static_cast<int64_t>(operands_.size());
      const auto outputs = static_cast<int64_t>(map().out.size());
      if (input < 0 || input >= operands)
        refuse(path, "expected one of {} operands, counted from 0, got {}", operands, input);
      if (output < 0 || output >= outputs)
        refuse(path, "expected one of {} outputs, counted from 0, got {}", outputs, output);
      if (!input_of.emplace(output, input).second)
        refuse(path, "expected each output once, got {} twice", output);
      const ValueType& in = operands_[static_cast<size_t>(input)];
      const CoreOutput& out = map().out[static_cast<size_t>(output)];
      if (in.dtype != out.dtype || in.shape != out.shape)
        refuse(path, "expected operand and output of one dtype and shape, got {} and {}{}",
               form(in), name(out.dtype), out.shape.text());
    }
    return input_of;
  }

  void add_scratch(size_t number) {
    const CoreScratch& scratch = map().scratch[number];
    const std::string path =
        map().scratch_is_list ? fmt::format("scratch/{}", number) : "scratch/" + scratch.name;
    Meaning meaning;
    if (meanings_.contains(scratch.name))
      refuse(path, "expected another name than those of in- and outputs, got \"{}\"", scratch.name);
    if (scratch.semaphore) {
      meaning.counter = static_cast<uint32_t>(cores_.counters.size());
      if (scratch.shape.rank() > 0)
        meaning.rows = scratch.shape[0];
      if (!meaning.rows)
        cores_.counters.push_back(scratch.name);
      if (meaning.rows.value_or(0) > kMostCoreSteps - static_cast<int64_t>(cores_.counters.size()))
        refuse(path, "expected at most {} semaphores together, got more", kMostCoreSteps);
      for (int64_t row = 0; row < meaning.rows.value_or(0); ++row)
        cores_.counters.push_back(fmt::format("{}[{}]", scratch.name, row));
      meanings_.emplace(scratch.name, std::move(meaning));
      return;
    }
    const std::vector<CoreFunction>& functions = map().functions;
    if (scratch.core) {
      const auto named = [&](const CoreFunction& function) {
        return function.mesh.name == *scratch.core;
      };
      if (std::none_of(functions.begin(), functions.end(), named)) {
        std::vector<std::string_view> names;
        for (const CoreFunction& function : functions)
          names.push_back(function.mesh.name);
        refuse(path + "/core", "expected the name of a mesh ({}), got \"{}\"{}",
               fmt::join(names, ", "), *scratch.core, did_you_mean(*scratch.core, names));
      }
    } else if (functions.size() > 1 && scratch.space != CoreSpace::Hbm &&
               scratch.space != CoreSpace::VmemShared) {
      refuse(path,
             "expected \"core\", the mesh that has it, or the space hbm or vmem_shared: there are "
             "several functions, and the space is {}",
             name(scratch.space));
    }
    meaning.core = scratch.core;
    meaning.per_instance = is_per_core(scratch.space);
    if (meaning.per_instance &&
        cores_.storages.size() + cores_.instances.size() > kMostCoreStorages)
      refuse(path, "expected at most {} arrays of all instances together, got more",
             kMostCoreStorages);
    if (!meaning.per_instance) {
      meaning.storages = {add_storage(
          {CoreStorage::Role::Scratch, scratch.name, scratch.dtype, scratch.shape, scratch.space},
          path)};
    } else {
      for (uint32_t i = 0; i < cores_.instances.size(); ++i) {
        const bool has_it = !scratch.core || cores_.mesh(cores_.instances[i]).name == *scratch.core;
        meaning.storages.push_back(
            has_it ? add_storage({CoreStorage::Role::Scratch, scratch.name, scratch.dtype,
                                  scratch.shape, scratch.space, i},
                                 path)
                   : 0);
      }
    }
    meanings_.emplace(scratch.name, std::move(meaning));
  }

  /// A RefUse is what a ref means in a function's body, for each of its instances.
  struct RefUse {
    const Meaning* meaning = nullptr;
    std::optional<size_t> axis = {};  // of the mesh, whose index is the row
    std::optional<int64_t> row = {};
    ValueType type = {};

    std::optional<int64_t> row_of(const CoreInstance& instance) const {
      return axis ? std::optional(instance.index[*axis]) : row;
    }
  };

  const Meaning& meaning_of(const CoreRef& ref, const std::string& path) const {
    const auto found = meanings_.find(ref.name);
    if (found != meanings_.end())
      return found->second;
    std::vector<std::string_view> names;
    for (const auto& [known, meaning] : meanings_)
      names.push_back(known);
    constexpr size_t kShown = 8;
    const std::span shown = std::span(names).first(std::min(names.size(), kShown));
    refuse(path, "expected a ref ({}{}), got \"{}\"{}", fmt::join(shown, ", "),
           names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "",
           ref.name, did_you_mean(ref.name, names));
  }

  /// Finds the row of a ref that has `rows` of them; nothing: it has none.
  void find_row(const CoreRef& ref, const CoreMesh& mesh, std::optional<int64_t> rows,
                const std::string& path, RefUse& use) const {
    if (!ref.row)
      return;
    if (!rows)
      refuse(path, "expected \"{}\" without a row: it has no dimension", ref.name);
    if (*rows == 0)
      refuse(path, "expected a ref that has rows, got \"{}\", which has none", ref.name);
    if (!ref.row->axis) {
      if (ref.row->number < 0 || ref.row->number >= *rows)
        refuse(path, "expected a row from 0 to {} of \"{}\", got {}", *rows - 1, ref.name,
               ref.row->number);
      use.row = ref.row->number;
      return;
    }
    use.axis = own_axis(*ref.row->axis, mesh, path);
    const int64_t size = mesh.axes[*use.axis].size;
    if (size > *rows)
      refuse(path, "expected a row from 0 to {} of \"{}\", got the index over \"{}\", up to {}",
             *rows - 1, ref.name, *ref.row->axis, size - 1);
  }

  static size_t own_axis(const std::string& axis, const CoreMesh& mesh, const std::string& path) {
    std::vector<std::string_view> names;
    for (size_t a = 0; a < mesh.axes.size(); ++a) {
      if (mesh.axes[a].name == axis)
        return a;
      names.push_back(mesh.axes[a].name);
    }
    refuse(path, "expected an axis of the mesh \"{}\" ({}), got \"{}\"", mesh.name,
           fmt::join(names, ", "), axis);
  }

  RefUse array(const CoreRef& ref, size_t function, const std::string& path, bool writes) const {
    const CoreMesh& mesh = map().functions[function].mesh;
    RefUse use{&meaning_of(ref, path)};
    if (use.meaning->counter)
      refuse(path, "expected an array, got \"{}\", a semaphore", ref.name);
    if (use.meaning->core && *use.meaning->core != mesh.name)
      refuse(path, "expected a ref that \"{}\" may use, got \"{}\", which is of the core \"{}\"",
             mesh.name, ref.name, *use.meaning->core);
    if (writes && use.meaning->read_only)
      refuse(path,
             "expected a ref that may be written, got \"{}\", an input without an output as alias",
             ref.name);
    const CoreStorage& storage =
        cores_.storages[use.meaning
                            ->storages[use.meaning->per_instance ? first_instance_[function] : 0]];
    use.type.dtype = storage.dtype;
    use.type.shape = storage.shape;
    find_row(ref, mesh, storage.shape.rank() > 0 ? std::optional(storage.shape[0]) : std::nullopt,
             path, use);
    if (ref.row)
      use.type.shape = storage.shape.without(0);
    return use;
  }

  RefUse semaphore(const CoreRef& ref, const CoreMesh& mesh, const std::string& path) const {
    RefUse use{&meaning_of(ref, path)};
    if (!use.meaning->counter)
      refuse(path, "expected a semaphore, got \"{}\", an array", ref.name);
    find_row(ref, mesh, use.meaning->rows, path, use);
    if (!ref.row && use.meaning->rows)
      refuse(path, "expected a row of \"{}\", which has {} semaphores", ref.name,
             *use.meaning->rows);
    return use;
  }

  void add_steps(size_t function, size_t position) {
    const CoreMesh& mesh = map().functions[function].mesh;
    const CoreOp& op = map().functions[function].body[position];
    const std::string path = fmt::format("{}/body/{}", path_of(function), position);
    if (op.kind == CoreOp::Kind::Signal || op.kind == CoreOp::Kind::Wait) {
      const RefUse use = semaphore(op.of.front(), mesh, path + "/sem");
      for_each_instance(function, [&](CoreInstance& instance, uint32_t) {
        instance.steps.push_back(
            {&op,
             {},
             {},
             *use.meaning->counter + static_cast<uint32_t>(use.row_of(instance).value_or(0))});
      });
      return;
    }
    const char* const from = op.kind == CoreOp::Kind::Copy ? "/from" : "/of";
    std::vector<RefUse> reads;
    for (size_t k = 0; k < op.of.size(); ++k)
      reads.push_back(array(op.of[k], function,
                            op.of.size() == 1 ? path + from : fmt::format("{}{}/{}", path, from, k),
                            false));
    const RefUse to = array(op.to.value(), function, path + "/to", true);
    if (checks_ == CoreChecks::On)
      check_types(op, mesh, reads, to, path);
    for_each_instance(function, [&](CoreInstance& instance, uint32_t number) {
      const auto access = [&](const RefUse& use) {
        return CoreAccess{use.meaning->storages[use.meaning->per_instance ? number : 0],
                          use.row_of(instance)};
      };
      CoreStep step{&op};
      for (const RefUse& use : reads)
        step.reads.push_back(access(use));
      step.writes = access(to);
      instance.steps.push_back(std::move(step));
    });
  }

  template <class F>
  void for_each_instance(size_t function, F&& visit) {
    const uint32_t end = function + 1 < first_instance_.size()
                             ? first_instance_[function + 1]
                             : static_cast<uint32_t>(cores_.instances.size());
    for (uint32_t i = first_instance_[function]; i < end; ++i)
      visit(cores_.instances[i], i);
  }

  void check_types(const CoreOp& op, const CoreMesh& mesh, const std::vector<RefUse>& reads,
                   const RefUse& to, const std::string& path) const {
    if (op.kind == CoreOp::Kind::Copy) {
      const ValueType& from = reads.front().type;
      if (from.dtype != to.type.dtype || from.shape.elements() != to.type.shape.elements())
        refuse(path, "expected a copy between refs of one dtype and as many elements, got {} to {}",
               form(from), form(to.type));
      return;
    }
    if (op.op == OpKind::AxisIndex || op.op == OpKind::AxisSize) {
      check_axes(op, mesh, to, path);
      return;
    }
    const ValueType result = result_of(op, reads, path);
    if (result.dtype != to.type.dtype || result.shape != to.type.shape)
      refuse(path + "/to", "expected a ref of {}, the result of {}, got {}", form(result), word(op),
             form(to.type));
  }

  void check_axes(const CoreOp& op, const CoreMesh& mesh, const RefUse& to,
                  const std::string& path) const {
    if (!is_integer(to.type.dtype))
      refuse(path + "/to", "expected a ref of integers for {}, got {}", word(op), form(to.type));
    const std::vector<std::string>& names = op.attributes.names("axis_name");
    std::set<std::string_view> given;
    for (const std::string& axis : names) {
      if (!given.insert(axis).second)
        refuse(path + "/axis_name", "expected each axis once, got \"{}\" twice", axis);
      if (op.op == OpKind::AxisIndex) {
        own_axis(axis, mesh, path + "/axis_name");
        continue;
      }
      std::set<std::string_view> bound;
      for (const CoreFunction& function : map().functions)
        for (const Axis& each : function.mesh.axes)
          bound.insert(each.name);
      if (!bound.contains(axis))
        refuse(path + "/axis_name", "expected an axis of the meshes ({}), got \"{}\"",
               fmt::join(bound, ", "), axis);
    }
    const int64_t size = cores_.axes_size(names);
    const int64_t most = op.op == OpKind::AxisIndex ? size - 1 : size;
    if (number_error("to", to.type.dtype, static_cast<double>(most)))
      refuse(path + "/to", "expected integers up to {}, which {} can give, got {}", most, word(op),
             form(to.type));
  }

  /// Returns the type of what an op of the op table makes of these refs.
  ValueType result_of(const CoreOp& op, const std::vector<RefUse>& reads,
                      const std::string& path) const {
    Diagnostics diagnostics("");
    ProgramBuilder builder(Mesh(), Checks::Shapes, diagnostics);
    OpRequest request;
    request.name = "result";
    request.kind = op.op;
    request.title = word(op);
    request.attributes = op.attributes;
    request.origin = Origin{path};
    for (size_t k = 0; k < reads.size(); ++k) {
      request.operands.push_back(fmt::format("ref {}", k));
      builder.argument(request.operands.back(), reads[k].type);
    }
    builder.thread("body", {LogicalId(0)});
    builder.op(std::move(request));
    try {
      diagnostics.throw_if_any();
    } catch (const InputError& error) {
      const Diagnostic& first = error.diagnostics().front();
      throw Refused{{first.origin.pointer, first.message}};
    }
    return builder.type_of("result", Origin{path}).value();
  }

  std::span<const ValueType> operands_;
  const CoreChecks checks_;
  Cores cores_;
  Bytes total_;  // of the storages
  std::map<std::string, Meaning, std::less<>> meanings_;
  std::vector<uint32_t> first_instance_;
};

}  // namespace

ValueType Cores::type(const CoreAccess& access) const {
  const CoreStorage& storage = storages[access.storage];
  ValueType type;
  type.dtype = storage.dtype;
  type.shape = access.row ? storage.shape.without(0) : storage.shape;
  return type;
}

std::pair<int64_t, int64_t> Cores::elements(const CoreAccess& access) const {
  const int64_t count = type(access).shape.elements();
  const int64_t begin = access.row.value_or(0) * count;
  return {begin, begin + count};
}

std::string Cores::text(const CoreInstance& instance) const {
  std::vector<std::string> coordinates;
  for (size_t a = 0; a < instance.index.size(); ++a)
    coordinates.push_back(fmt::format("{}={}", mesh(instance).axes[a].name, instance.index[a]));
  return fmt::format("{} ({})", mesh(instance).name, fmt::join(coordinates, ", "));
}

std::string Cores::path(CorePlace place) const {
  return fmt::format("functions/{}/body/{}", instances[place.instance].function, place.position);
}

std::string Cores::text(CorePlace place) const {
  return fmt::format("{} at {} of {}", word(*step(place).op), path(place),
                     text(instances[place.instance]));
}

Cost Cores::cost(const CoreStep& step) const {
  if (!step.writes)
    return {Flops(), Bytes(), Dtype::F32, false};
  std::vector<ValueType> operands;
  for (const CoreAccess& read : step.reads)
    operands.push_back(type(read));
  const ValueType result = type(*step.writes);
  Cost cost{Flops(), Bytes(), result.dtype};
  if (step.op->kind == CoreOp::Kind::Local)
    if (const CostRule rule = rules(step.op->op).cost)
      cost = rule(step.op->attributes, operands, std::span(&result, 1));
  cost.runs = true;
  cost.bytes = {};
  for (const auto& [space, bytes] : touched(step))
    cost.bytes += bytes;
  return cost;
}

std::map<CoreSpace, Bytes> Cores::touched(const CoreStep& step) const {
  std::map<CoreSpace, Bytes> bytes;
  for (const CoreAccess& read : step.reads)
    bytes[storages[read.storage].space] += type(read).size();
  if (step.writes)
    bytes[storages[step.writes->storage].space] += type(*step.writes).size();
  return bytes;
}

int64_t Cores::axis_value(CorePlace place) const {
  const CoreInstance& instance = instances[place.instance];
  const CoreOp& op = *step(place).op;
  const std::vector<std::string>& names = op.attributes.names("axis_name");
  if (op.op == OpKind::AxisSize)
    return axes_size(names);
  int64_t index = 0;
  const std::span<const Axis> own = mesh(instance).axes;
  for (const std::string& name : names) {
    const auto axis =
        std::find_if(own.begin(), own.end(), [&](const Axis& each) { return each.name == name; });
    index = index * axis->size + instance.index[static_cast<size_t>(axis - own.begin())];
  }
  return index;
}

int64_t Cores::axes_size(std::span<const std::string> names) const {
  std::map<std::string_view, int64_t> sizes;  // axes of one name have one size
  for (const CoreFunction& function : map->functions)
    for (const Axis& axis : function.mesh.axes)
      sizes.emplace(axis.name, axis.size);
  int64_t size = 1;
  for (const std::string& name : names)
    size *= sizes.at(name);
  return size;
}

std::variant<Cores, TypeError> cores_of(const SharedCoreMap& map,
                                        std::span<const ValueType> operands, CoreChecks checks) {
  try {
    return Resolver(map, operands, checks).resolve();
  } catch (const Refused& refused) {
    return refused.error;
  }
}

Cores cores_of(const Program& program, const Op& op) {
  std::vector<ValueType> operands;
  for (const ValueId operand : op.operands)
    operands.push_back(program.value(operand).type);
  return std::get<Cores>(cores_of(op.attributes.core_map("functions"), operands, CoreChecks::Off));
}

}  // namespace orrery
