// orrery show sharding answers queries about shardings, or draws one.

#include <algorithm>
#include <charconv>
#include <ostream>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/mesh/named_sharding.h"
#include "models/scenario/document.h"
#include "models/scenario/placement.h"
#include "models/scenario/queries.h"
#include "models/scenario/reader.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/report/sharding_text.h"

namespace orrery {
namespace {

/// Returns the whole number that is all of the text, or nothing.
std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

/// Calls read(item) with the parts of the option's text between commas, of which an empty text has
/// none. Refuses an empty part, and one that `read` returns false for.
template <class Read>
void read_items(std::string_view option, std::string_view text, std::string_view expected,
                const Read& read) {
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    if (item.empty() || !read(item))
      refuse(option,
             fmt::format("expected {}, got {}", expected, in_quotes(item.empty() ? text : item)));
    begin = end + 1;
  }
}

DeviceMesh mesh_named(const std::string& text, const Limits& limits) {
  std::vector<Axis> axes;
  read_items("--mesh", text, "axes such as x=4,y=2", [&](std::string_view item) {
    const size_t equals = std::min(item.find('='), item.size());
    const auto size = number_in(item.substr(std::min(equals + 1, item.size())));
    axes.push_back({std::string(item.substr(0, equals)), size.value_or(1)});
    return size.has_value();
  });
  DeviceMesh mesh(std::move(axes));
  if (mesh.axes().devices() > limits.devices)
    refuse("--mesh", beyond(limits, &Limits::devices, int64_t{mesh.axes().devices()}));
  return mesh;
}

Shape shape_named(const std::string& text, Dtype dtype) {
  std::vector<int64_t> dims;
  read_items("--shape", text, "extents such as 16,8", [&](std::string_view item) {
    const auto extent = number_in(item);
    dims.push_back(extent.value_or(0));
    return extent.has_value();
  });
  Shape shape(std::move(dims));
  try {
    (void)(itemsize(dtype) * shape.elements());
  } catch (const Overflow&) {
    refuse("--shape", fmt::format("expected an array of less than 2^63 bytes, got {}{}",
                                  name(dtype), shape.text()));
  }
  return shape;
}

Dtype dtype_given(const std::optional<std::string>& text) {
  if (!text)
    return Dtype::F32;
  const std::optional<Dtype> dtype = dtype_named(*text);
  if (!dtype)
    refuse("--dtype", fmt::format("expected a dtype, got {}", in_quotes(*text)));
  return *dtype;
}

/// Returns the option that an error of this stage is about.
std::string_view option_of(ShardingStage stage) {
  return stage == ShardingStage::Mesh    ? "--mesh"
         : stage == ShardingStage::Shape ? "--shape"
                                         : "--spec";
}

ShownSharding described(const ShowShardingCommand& command) {
  if (!command.mesh || !command.shape)
    refuse("show sharding",
           "expected --queries, or --mesh and --shape, or a scenario and an array");
  PartitionSpec spec;
  if (command.spec)
    spec = read_spec_text(*command.spec, "--spec", command.limits);
  const Dtype dtype = dtype_given(command.dtype);
  return {NamedSharding({mesh_named(*command.mesh, command.limits), std::move(spec)}),
          shape_named(*command.shape, dtype), dtype};
}

/// Refuses a command without the name of an array.
[[noreturn]] void refuse_unnamed(const std::string& file,
                                 const std::vector<std::string_view>& names) {
  constexpr size_t kMostNamed = 20;
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    list += (i > 0 ? ", " : "") + in_quotes(names[i]);
  if (names.size() > kMostNamed)
    list += fmt::format(" and {} more", names.size() - kMostNamed);
  refuse(file, fmt::format("expected the name of an array too; the scenario has {}",
                           list.empty() ? "none" : list));
}

ShownSharding of_scenario(const ShowShardingCommand& command) {
  const Scenario scenario = load_scenario(command.file, command.limits);
  std::vector<std::string_view> names;
  for (const Array& array : scenario.arrays)
    names.push_back(array.name);
  if (command.array.empty())
    refuse_unnamed(command.file, names);
  const auto found = std::find(names.begin(), names.end(), command.array);
  if (found == names.end())
    refuse(command.file, fmt::format("no array is called {}{}", in_quotes(command.array),
                                     did_you_mean(command.array, names)));
  const Array& array = scenario.arrays[static_cast<size_t>(found - names.begin())];
  if (array.per_device && !array.joined)
    refuse(command.file,
           fmt::format("expected an array with a \"spec\", got {}, which is given per device alone",
                       in_quotes(array.name)));
  const Mesh& mesh = scenario.program.mesh;
  PartitionSpec spec = array.spec;
  spec.unreduced.insert(array.states.unreduced.begin(), array.states.unreduced.end());
  spec.reduced.insert(array.states.reduced.begin(), array.states.reduced.end());
  // The whole array is seen from outside the program, in which all axes are manual.
  std::vector<AxisType> types(mesh.axes().size(), AxisType::Explicit);
  return {NamedSharding({DeviceMesh({mesh.axes().begin(), mesh.axes().end()}, std::move(types)),
                         std::move(spec)}),
          array.joined ? global_shape(mesh, array.spec, array.global) : array.global, array.dtype,
          array.on};
}

void write_svg(const ShowShardingCommand& command, const ShownSharding& shown) {
  constexpr std::string_view kSvg = "--svg";
  if (command.svg->empty() || *command.svg == "-")
    refuse(kSvg, fmt::format("expected a file, got {}", in_quotes(*command.svg)));
  if (const size_t parts = held_parts(shown).devices.size(); parts > kMostDrawnParts)
    refuse(kSvg, fmt::format("expected at most {} parts to draw, got {}", kMostDrawnParts, parts));
  keep_inputs(kSvg, *command.svg, {command.file});
  write_file(*command.svg, sharding_svg(shown));
}

}  // namespace

Outcome answer_queries(const std::string& file, const Limits& limits,
                       QueryAnswer (*answer)(std::string_view line, const Limits& limits),
                       std::ostream& out) {
  const std::string text = load_text(file, limits);
  Outcome outcome = Outcome::Holds;
  std::string answers;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const QueryAnswer made = answer(std::string_view(text).substr(begin, end - begin), limits);
    if (!made.is_query)
      outcome = Outcome::WrongInput;
    answers += made.line;
    answers += '\n';
    constexpr size_t kChunk = size_t{1} << 16U;
    if (answers.size() >= kChunk) {
      out << answers;
      answers.clear();
    }
    begin = end + 1;
  }
  out << answers;
  return outcome;
}

Outcome execute(const ShowShardingCommand& command, const Terminal& terminal) {
  if (command.queries)
    return answer_queries(*command.queries, command.limits, answer_sharding_query, terminal.out);
  try {
    const ShownSharding shown = command.file.empty() ? described(command) : of_scenario(command);
    const std::string text = sharding_text(shown, terminal.style);
    if (command.svg)
      write_svg(command, shown);
    terminal.out << text;
  } catch (const ShardingError& error) {
    refuse(command.file.empty() ? option_of(error.stage()) : command.file, error.what());
  }
  return Outcome::Holds;
}

}  // namespace orrery
