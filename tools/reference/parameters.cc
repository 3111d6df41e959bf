#include "tools/reference/parameters.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

constexpr std::array kSummaries = {
    Entry{"algorithm",
          "how it is scheduled; `orrery show algorithms` lists the names. When absent "
          "the model chooses, and the report says why"},
    Entry{"axes", "the dimensions that are reduced"},
    Entry{"axis", "the dimension it works along"},
    Entry{"axis_index_groups", "which ranks of the axes exchange with each other; when absent all"},
    Entry{"axis_name", "the axes of the mesh it goes over, the slowest first; [] for none"},
    Entry{"broadcast_dimensions", "where each dimension of the operand lies in the result"},
    Entry{"bytes", "what it reads and writes in device memory"},
    Entry{"channels", "in how many parts it is sent at once, each on its own connections"},
    Entry{"concat_axis", "the dimension along which the received parts lie"},
    Entry{"dimension", "the dimension it works along"},
    Entry{"dimension_numbers",
          "[[lhs contracting, rhs contracting], [lhs batch, rhs batch]], as jax.lax has it"},
    Entry{"dtype", "the dtype of the result; of compute, the one whose peak rate applies"},
    Entry{"entry",
          "eager: a device that has not entered yet holds messages, as many as `slots`; "
          "rendezvous: it holds none"},
    Entry{"fill_value", "every element"},
    Entry{"flops", "the operations that it takes"},
    Entry{"limit_indices", "the first index that is left out, per dimension"},
    Entry{"mode",
          "what an index out of range gives: fill, NaN or the limit of the dtype; clip, the "
          "nearest entry"},
    Entry{"new_dtype", "the dtype of the result"},
    Entry{"new_sizes", "the shape of the result"},
    Entry{"padding_config", "[low, high, interior] per dimension; a negative low or high cuts"},
    Entry{"perm", "of ppermute pairs [source, destination]; of pshuffle the source of each rank"},
    Entry{"permutation", "which dimension of the operand each dimension of the result is"},
    Entry{"preferred_element_type", "the dtype of the result; when absent that of the operands"},
    Entry{"scatter_dimension", "the dimension of which each rank keeps its own part"},
    Entry{"shape", "the shape of the result"},
    Entry{"slice_sizes", "the shape of the part"},
    Entry{"slots", "the messages that a connection holds before its sender waits"},
    Entry{"source", "the rank whose operand all get"},
    Entry{"split_axis", "the dimension that is cut, a part for each rank"},
    Entry{"start_indices", "the first index that is taken, per dimension"},
    Entry{"stream", "the communication stream; collectives on one stream run in issue order"},
    Entry{"strides", "the steps between the indices that are taken; when absent 1"},
    Entry{"tiled",
          "true: the parts lie side by side along an existing dimension; false: each has "
          "an index of its own in a dimension that comes or goes"},
};

std::string shown(const Attribute& value) {
  if (const auto* boolean = std::get_if<bool>(&value))
    return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value))
    return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value))
    return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value))
    return fmt::format("\"{}\"", *text);
  if (const auto* names = std::get_if<std::vector<std::string>>(&value))
    return fmt::format("[{}]", fmt::join(*names, ", "));
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&value))
    return fmt::format("[{}]", fmt::join(*integers, ", "));
  if (const auto* dtype = std::get_if<Dtype>(&value))
    return std::string(name(*dtype));
  if (const auto* flops = std::get_if<Flops>(&value))
    return quantity_text(flops->count(), Dimension::Work);
  if (const auto* bytes = std::get_if<Bytes>(&value))
    return quantity_text(bytes->count(), Dimension::Size);
  return fmt::format("{}", std::get<std::vector<std::vector<int64_t>>>(value));
}

}  // namespace

std::string_view parameter_summary(std::string_view name) {
  for (const Entry& entry : kSummaries)
    if (entry.first == name)
      return entry.second;
  return {};
}

std::string parameter_domain(const Parameter& parameter) {
  if (!parameter.choices.empty())
    return fmt::format("\"{}\"", fmt::join(parameter.choices, "\" or \""));
  std::string text(description(parameter.kind));
  const bool amount =
      parameter.kind == ParameterKind::FlopCount || parameter.kind == ParameterKind::ByteCount;
  if (amount)
    return text;  // an amount is never less than 0
  if (parameter.least && parameter.most)
    text += fmt::format(", {} to {}", *parameter.least, *parameter.most);
  else if (parameter.least)
    text += fmt::format(", at least {}", *parameter.least);
  return text;
}

std::string parameter_default(const Parameter& parameter) {
  return parameter.otherwise ? shown(*parameter.otherwise) : std::string();
}

bool is_common(const Parameter& parameter) {
  const auto rules = all_rules();
  return std::all_of(rules.begin(), rules.end(), [&](const OpRules& op) {
    return op.family != Family::Collective ||
           std::any_of(op.parameters.begin(), op.parameters.end(),
                       [&](const Parameter& own) { return own.name == parameter.name; });
  });
}

}  // namespace orrery
