#include "models/scenario/arrays_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/quantity.h"
#include "models/program/holders.h"
#include "models/program/states.h"
#include "models/scenario/fields.h"
#include "models/scenario/literal.h"
#include "models/scenario/placement.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/syntax.h"

namespace orrery {

namespace {

constexpr int64_t kMostInteger = std::numeric_limits<int64_t>::max();

/// Returns the error if the whole array that the parts make has 2^63 bytes or more.
std::optional<std::string> whole_error(const Mesh& mesh, const PartitionSpec& spec, Dtype dtype,
                                       const Shape& part) {
  try {
    (void)(itemsize(dtype) * global_shape(mesh, spec, part).elements());
    return std::nullopt;
  } catch (const Overflow&) {
    return fmt::format("expected a whole array of less than 2^63 bytes, got parts of {}{}",
                       name(dtype), part.text());
  }
}

/// The array whose elements another one has, as "same_as" names it.
struct Source {
  std::string name;
  Origin origin;
};

class ArrayReader {
 public:
  ArrayReader(DocumentNode node, const Mesh* mesh, Checks checks, const Init& init,
              Diagnostics& diagnostics)
      : fields_(node, diagnostics),
        mesh_(mesh),
        checks_(checks),
        init_(init),
        diagnostics_(diagnostics) {}

  std::optional<Array> read(std::string name) {
    const size_t before = diagnostics_.size();
    Array array;
    array.name = std::move(name);
    const std::optional<DocumentNode> local = fields_.optional("local_shape");
    array.per_device = local.has_value();
    if (const auto node = fields_.required("dtype"))
      array.dtype = read_dtype(*node, diagnostics_).value_or(Dtype::F32);
    if (const auto on = fields_.optional("on"))
      read_on(*on, array);
    const bool typed = diagnostics_.size() == before;
    ArrayCut cut;
    if (local) {
      cut = read_local(*local, array, typed);
    } else if (const auto node = fields_.optional("shape")) {
      cut = read_global(*node, array);
    } else {
      diagnostics_.add(fields_.object().origin(),
                       "missing key \"shape\" (or \"local_shape\" with \"per_device\")");
      for (const auto key : {"spec", "corrected", "hlo", "init", "per_device", "encoding"})
        fields_.optional(key);
    }
    array.joined = local && cut.given;
    const std::optional<ArrayStates> states = read_states(cut, array);
    // A whole array is the sum of all its addends, so each addend needs a device.
    if (const auto node = fields_.optional("unreduced");
        node && states && array.on && (!local || array.joined) && mesh_ != nullptr)
      check_spanned(
          *node,
          {states->unreduced.begin() + std::ssize(cut.spec.unreduced), states->unreduced.end()},
          *mesh_, *array.on, diagnostics_);
    fields_.finish();
    if (diagnostics_.size() != before || mesh_ == nullptr || !states)
      return std::nullopt;
    array.states = *states;
    array.spec = std::move(cut.spec);
    array.spec.unreduced.clear();
    array.uncorrected = std::move(cut.uncorrected);
    if (!array.joined || checks_ == Checks::States)
      if (const auto unequal = unequal_copies(*mesh_, array)) {
        diagnostics_.add(fields_.optional("per_device")->origin(), *unequal);
        return std::nullopt;
      }
    return array;
  }

  /// Returns what "same_as" names, whose init the array does not have yet.
  const std::optional<Source>& source() const { return source_; }

 private:
  ArrayCut read_global(DocumentNode node, Array& array) {
    const std::optional<Shape> shape = read_shape(node, array.dtype);
    if (shape)
      array.global = *shape;
    ArrayCut cut = read_cut(fields_, {mesh_, shape, array.per_device, array.on}, diagnostics_);
    if (const auto init = fields_.optional("init"))
      array.init = read_init(*init, array);
    else
      array.init = init_;
    return cut;
  }

  ArrayCut read_local(DocumentNode node, Array& array, bool typed) {
    const std::optional<Shape> shape = read_shape(node, array.dtype);
    ArrayCut cut = read_cut(fields_, {mesh_, shape, array.per_device, array.on}, diagnostics_);
    if (shape && cut.given)
      check_whole(*cut.given, cut.spec, array.dtype, *shape);
    const std::optional<Encoding> encoding = read_encoding(fields_, diagnostics_);
    const std::optional<DocumentNode> lists = fields_.required("per_device");
    if (!shape || !encoding || !lists || !typed || mesh_ == nullptr)
      return cut;
    array.global = *shape;
    if (auto tensors = read_tensors(
            *lists,
            {array.dtype, *shape, *encoding, array.on ? array.on->size() : mesh_->devices()},
            diagnostics_))
      array.init = PerDeviceInit{std::move(*tensors)};
    return cut;
  }

  /// Checks the size of the whole array that the parts make.
  void check_whole(DocumentNode node, const PartitionSpec& spec, Dtype dtype, const Shape& part) {
    if (mesh_ != nullptr)
      if (auto error = whole_error(*mesh_, spec, dtype, part))
        diagnostics_.add(node.origin(), std::move(*error));
  }

  std::optional<ArrayStates> read_states(const ArrayCut& cut, const Array& array) {
    if (array.per_device && !array.joined)
      return read_states_alone(fields_, mesh_, diagnostics_);
    refuse_varying(fields_, array.joined ? cut.key : "shape", diagnostics_);
    // The axes that the file names in the spec, also those that do not cut after all.
    return read_states_beside(fields_, mesh_, cut.uncorrected ? *cut.uncorrected : cut.spec,
                              diagnostics_);
  }

  void read_on(DocumentNode node, Array& array) {
    if (mesh_ == nullptr)
      return;
    std::optional<std::vector<LogicalId>> devices = read_devices(node, *mesh_, diagnostics_);
    if (!devices)
      return;
    if (devices->empty())
      diagnostics_.add(node.origin(), "expected a device for the array, got none");
    else if (devices->size() < mesh_->devices())
      array.on = std::move(devices);
  }

  std::optional<Shape> read_shape(DocumentNode node, Dtype dtype) {
    const auto dims = read_integers(node, "an extent", {0, kMostInteger}, diagnostics_);
    if (!dims)
      return std::nullopt;
    if (dims->size() > kMostDimensions) {
      diagnostics_.add(node.origin(), fmt::format("expected at most {} dimensions, got {}",
                                                  kMostDimensions, dims->size()));
      return std::nullopt;
    }
    Shape shape(*dims);
    try {
      (void)(itemsize(dtype) * shape.elements());
    } catch (const Overflow&) {
      diagnostics_.add(node.origin(),
                       fmt::format("expected an array of less than 2^63 bytes, got {}{}",
                                   name(dtype), shape.text()));
      return std::nullopt;
    }
    return shape;
  }

  Init read_init(DocumentNode node, const Array& array) {
    const Dtype dtype = array.dtype;
    if (node.kind() == DocumentNode::Kind::Text) {
      const std::string& word = node.text();
      if (word == "iota")
        return IotaInit{};
      if (word == "zeros")
        return FillInit{0};
      if (word == "ones")
        return FillInit{1};
      if (word == "random")
        return RandomInit{};
      if (not_finite_named(word).empty()) {
        diagnostics_.add(
            node.origin(),
            fmt::format("expected \"iota\", \"zeros\", \"ones\", \"random\", {{\"random\": "
                        "seed}}, {{\"same_as\": array}} or a number, got {}{}",
                        in_quotes(word), did_you_mean(word, {"iota", "zeros", "ones", "random"})));
        return IotaInit{};
      }
    }
    if (node.kind() == DocumentNode::Kind::Object)
      return read_random(node, array);
    const std::optional<NumberOrPair> value = read_number_or_pair(node, diagnostics_);
    // The largest integers of 64 bits are no doubles; a fill with the nearest double gives them.
    Tensor scalar(dtype, Shape({}));
    const auto is_written = [&] {
      return !is_inexact(dtype) && node.kind() == DocumentNode::Kind::Number &&
             parse_element(node.number(), scalar, 0) && scalar == full(dtype, Shape({}), *value);
    };
    if (value && !has_number(dtype, *value) && !is_written())
      diagnostics_.add(node.origin(),
                       fmt::format("expected a value of {}, got {}", orrery::name(dtype),
                                   got_fill(node, *value, dtype)));
    return FillInit{value.value_or(0)};
  }

  /// Reads {"random": seed} or {"same_as": array}. For the latter the init is set later.
  RandomInit read_random(DocumentNode node, const Array& array) {
    Fields fields(node, diagnostics_);
    RandomInit init;
    if (const auto same_as = fields.optional("same_as")) {
      if (auto name = read_text(*same_as, "the name of an array", diagnostics_))
        source_ = Source{std::move(*name), same_as->origin()};
      fields.finish();
      return init;
    }
    if (const auto seed = fields.optional("random"))
      init.seed = static_cast<uint64_t>(
          read_integer(*seed, "a seed", {0, kMostInteger}, diagnostics_).value_or(0));
    else
      diagnostics_.add(node.origin(), "missing key \"random\" (or \"same_as\")");
    if (const auto values = fields.optional("values"))
      init.values = read_random_values(*values, array.dtype);
    if (const auto named = fields.optional("named"))
      init.named = read_text(*named, "the name of an array", diagnostics_);
    if (init.named == array.name)
      init.named.reset();
    fields.finish();
    return init;
  }

  /// Returns the fill in words. For a pair it names the part that `dtype` cannot hold, or, for a
  /// real `dtype`, says that only c64 and c128 have two parts.
  static std::string got_fill(DocumentNode node, const NumberOrPair& value, Dtype dtype) {
    if (node.kind() != DocumentNode::Kind::List)
      return got(node);
    std::vector<std::string> parts;
    for (const DocumentNode part : node)
      parts.push_back(got(part));
    const std::string pair = fmt::format("[{}]", fmt::join(parts, ", "));
    const Dtype of = dtype == Dtype::C64 ? Dtype::F32 : Dtype::F64;
    if (!is_complex(dtype))
      return pair + "; only c64 and c128 have two parts";
    return fmt::format("{}; {} is beyond the range of {}", pair,
                       has_number(of, value.re) ? "the imaginary part" : "the real part",
                       orrery::name(of));
  }

  RandomInit::Values read_random_values(DocumentNode node, Dtype dtype) {
    const bool is_text = node.kind() == DocumentNode::Kind::Text;
    if (is_text && node.text() == "integers")
      return RandomInit::Values::Integers;
    if (!is_text || node.text() != "fractions")
      expected(node, "\"fractions\" or \"integers\"", diagnostics_);
    else if (!is_inexact(dtype))
      expected(node, fmt::format("\"integers\", the values that {} has", orrery::name(dtype)),
               diagnostics_);
    return RandomInit::Values::Fractions;
  }

  Fields fields_;
  const Mesh* mesh_;
  Checks checks_;
  const Init& init_;
  Diagnostics& diagnostics_;
  std::optional<Source> source_;
};

/// It gives each array that is "same_as" another the init of that one. An array becomes empty if
/// that is an error, or if its source is empty.
class SameElements {
 public:
  /// `sources` has an entry per reading.
  SameElements(std::vector<ArrayReading>& readings,
               const std::vector<std::optional<Source>>& sources, Diagnostics& diagnostics)
      : readings_(readings),
        stated_(sources),
        diagnostics_(diagnostics),
        sources_(readings.size()),
        visits_(readings.size(), Visit::Not) {}

  void give_all() {
    find_sources();
    for (size_t i = 0; i < readings_.size(); ++i)
      give_along_path(i);
  }

 private:
  enum class Visit : uint8_t { Not, OnPath, Done };

  void find_sources() {
    std::map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < readings_.size(); ++i)
      by_name.emplace(readings_[i].name, i);
    for (size_t i = 0; i < readings_.size(); ++i) {
      if (!stated_[i])
        continue;
      if (const auto source = by_name.find(stated_[i]->name); source != by_name.end())
        sources_[i] = source->second;
      else
        report_unknown(i);
    }
  }

  void report_unknown(size_t i) {
    std::vector<std::string_view> others;
    for (const ArrayReading& reading : readings_)
      if (reading.name != readings_[i].name)
        others.push_back(reading.name);
    report(i, fmt::format("expected the name of an array, got {}{}", in_quotes(stated_[i]->name),
                          did_you_mean(stated_[i]->name, others)));
  }

  void report(size_t i, std::string message) {
    diagnostics_.add(stated_[i]->origin, std::move(message));
    readings_[i].array.reset();
  }

  /// Follows the sources from an array to one with an init of its own, and gives that init to each
  /// array on the path.
  void give_along_path(size_t at) {
    std::vector<size_t> path;
    while (sources_[at] && visits_[at] == Visit::Not) {
      visits_[at] = Visit::OnPath;
      path.push_back(at);
      at = *sources_[at];
    }
    if (visits_[at] == Visit::OnPath)
      report(path.back(),
             fmt::format("expected another array, whose elements do not come from {}, got {}",
                         in_quotes(readings_[path.back()].name), in_quotes(readings_[at].name)));
    for (; !path.empty(); path.pop_back()) {
      give(path.back());
      visits_[path.back()] = Visit::Done;
    }
  }

  void give(size_t i) {
    std::optional<Array>& array = readings_[i].array;
    const std::optional<Array>& source = readings_[*sources_[i]].array;
    if (!source)
      array.reset();
    if (!array)
      return;
    if (source->per_device) {
      report(i, fmt::format("expected an array with a \"shape\", got {}, which is given per device",
                            in_quotes(source->name)));
      return;
    }
    if (source->dtype != array->dtype || source->global != array->global) {
      report(i, fmt::format("expected an array of {}{}, got {} of {}{}", name(array->dtype),
                            array->global.text(), in_quotes(source->name), name(source->dtype),
                            source->global.text()));
      return;
    }
    array->init = source->init;
    if (auto* random = std::get_if<RandomInit>(&array->init)) {
      if (!random->named)
        random->named = source->name;
      if (random->named == array->name)
        random->named.reset();
    }
  }

  std::vector<ArrayReading>& readings_;
  const std::vector<std::optional<Source>>& stated_;
  Diagnostics& diagnostics_;
  std::vector<std::optional<size_t>> sources_;  // the readings that are stated
  std::vector<Visit> visits_;
};

/// Returns advice for a value that is not invarying over an axis, where the boundary names no state
/// of the axis and no cast makes the value invarying.
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

std::optional<std::vector<ArrayReading>> read_arrays(DocumentNode node, const Mesh* mesh,
                                                     Checks checks, const Limits& limits,
                                                     const Init& init, Diagnostics& diagnostics) {
  if (!is_object(node, "an object with an array per name", diagnostics))
    return std::nullopt;
  std::vector<ArrayReading> readings;
  std::vector<std::optional<Source>> sources;  // per reading: what its "same_as" names
  int64_t places = 0;                          // the devices of all arrays that name theirs
  for (const DocumentNode member : node) {
    ArrayReading reading{member.key(), member.key_origin(), std::nullopt};
    sources.emplace_back();
    if (is_object(member, "an array such as {\"shape\": [8], \"dtype\": \"f32\"}", diagnostics)) {
      ArrayReader reader(member, mesh, checks, init, diagnostics);
      reading.array = reader.read(member.key());
      sources.back() = reader.source();
    }
    if (reading.array && reading.array->on)
      places += static_cast<int64_t>(reading.array->on->size());
    if (places > limits.device_ops) {
      diagnostics.add(member.origin(), beyond(limits, &Limits::device_ops, places));
      return std::nullopt;
    }
    readings.push_back(std::move(reading));
  }
  SameElements(readings, sources, diagnostics).give_all();
  return readings;
}

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
    boundary.spec = read_spec(*spec, mesh, diagnostics);
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
  if (auto error = rank_error(cut, value.type.shape.rank(), value.type.shape.text()))
    return error;
  const size_t holders = Holders(program).of(boundary.value).size();
  if (holders != mesh.devices())
    return fmt::format("expected a value of all {} devices, got one of {}", mesh.devices(),
                       holders);
  if (auto error = whole_error(mesh, boundary.spec, value.type.dtype, value.type.shape))
    return error;
  return checks == Checks::States ? states_error(mesh, value.type, boundary) : std::nullopt;
}

}  // namespace orrery
