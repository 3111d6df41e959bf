#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/quantity_text.h"
#include "tools/reference/reference.h"

namespace orrery {
namespace {

using Described = std::pair<std::string_view, std::string_view>;

constexpr std::array kSummaries = {
    Described{
        "algorithm",
        "the algorithm that schedules it; `orrery show algorithms` lists the names. When absent, "
        "the model chooses, and the report says why"},
    Described{
        "assume_sizes",
        "used if its tables cannot be computed: the rows of the slices that each rank sends, as "
        "[[rows]] for all slices, [[rows, ...]] with a number for each slice, or such a list "
        "for each rank. Slices then lie one after another in operands and results"},
    Described{"axes", "the dimensions that are reduced"},
    Described{"array_axis", "the place of the new dimension, up to the rank"},
    Described{"axis", "the dimension it works along"},
    Described{
        "axis_index_groups",
        "the groups of ranks, along the axes, that exchange with each other; when absent, one "
        "group of all"},
    Described{
        "axis_name",
        "the axes of the mesh that it goes over, major to minor; [] for none. psum, pmax and pmin "
        "also take dimensions of the operand, by number, over which an op ID.local reduces it "
        "first"},
    Described{
        "backward",
        "the work of its backward pass, which has a compute for each cotangent. Each has an equal "
        "part of the work, at the rate of the operand's dtype, and reads all operands. When "
        "absent, there is no gradient"},
    Described{"broadcast_dimensions",
              "the dimension of the result that each dimension of the operand becomes"},
    Described{"bytes", "the bytes that it reads and writes in device memory"},
    Described{"channels",
              "the number of parts that it is divided into, each with its own connections; when "
              "absent, as many as its protocol has, or 1"},
    Described{"concat_axis", "the dimension along which the received parts are concatenated"},
    Described{"cp_size", "the number of ranks that share the sequence, which is even"},
    Described{"dimension", "the dimension it works along"},
    Described{"dimension_numbers",
              "[[lhs contracting, rhs contracting], [lhs batch, rhs batch]], as in jax.lax"},
    Described{
        "disjoint_reads",
        "true: no row of the operand is in two slices, which is checked. A gradient then comes "
        "back in an array as large as the operand; when false, in one for each slice"},
    Described{"dtype", "the dtype of the result; a compute also takes the peak rate of this dtype"},
    Described{"entry",
              "eager: a device that has not entered yet holds messages, as many as `slots`; "
              "rendezvous: it holds none"},
    Described{"fill_value",
              "the value of every element, or in take of elements without a row; complex dtypes "
              "also take "
              "[real part, imaginary part]"},
    Described{"flops", "the floating point operations that it takes"},
    Described{"functions",
              "the meshes of cores and what runs on them; its keys out, scratch, aliases and "
              "cost_estimate are in [mpmd-map.md](mpmd-map.md)"},
    Described{"in_place_of",
              "the operand, counted from 0, over which the result is written: it is as large, and "
              "donated"},
    Described{"is_causal", "true: query number t meets only the keys up to number t"},
    Described{"limit_indices", "the end index (exclusive), per dimension"},
    Described{"mode", "the meaning of an index out of range: fill, no row; clip, the nearest row"},
    Described{"mpmd_axis", "the axis along which the mesh is divided into groups"},
    Described{"new_dtype", "the dtype of the result"},
    Described{"new_sizes", "the shape of the result"},
    Described{"padding_config",
              "[low, high, interior] per dimension; a negative low or high removes elements"},
    Described{"perm",
              "pairs [source, destination], which form no cycle in psend and precv; in pshuffle "
              "the source "
              "of each rank"},
    Described{"permutation", "the dimension of the operand that each dimension of the result is"},
    Described{"preferred_element_type",
              "the dtype of the result; when absent, that of the operands"},
    Described{"protocol",
              "the protocol of the cluster's transport that passes its messages; when absent, the "
              "fastest"},
    Described{
        "scale",
        "by which the scores, products of query and key, are multiplied; when absent, 1 over the "
        "square root of the depth"},
    Described{"scatter_dimension", "the dimension that is scattered: each rank keeps its own part"},
    Described{"scratch",
              "device memory that it needs while it runs, such as a library's workspace; 0 when "
              "absent"},
    Described{"seq_dim", "the dimension of the sequence"},
    Described{"shape", "the shape of the result"},
    Described{"sizes", "the extent of each part; they add up to the operand's"},
    Described{"slice_sizes", "the shape of the part"},
    Described{
        "slots",
        "the number of messages that a connection holds before its sender waits; when absent, "
        "that of its protocol, or 2"},
    Described{"source", "the rank whose operand all ranks get"},
    Described{"split_axis", "the dimension that is split into a part for each rank"},
    Described{"start_indices", "the begin index, per dimension"},
    Described{"stream", "the communication stream; collectives on one stream run in issue order"},
    Described{"strict",
              "true: no spec may name the axis; false: a spec that names it as an axis of size 1 "
              "loses it"},
    Described{"strides", "the step between indices, per dimension; when absent, 1"},
    Described{
        "tiled",
        "true: the parts lie side by side along an existing dimension; false: each has an index of "
        "its own in a dimension that is added or removed"},
    Described{"to", "the state of the result along the axes"},
    Described{"to_contiguous", "true: back to the order of the sequence; false: away from it"},
};

std::string shown(const Attribute& value) {
  if (const auto* boolean = std::get_if<bool>(&value))
    return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value))
    return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<NumberOrPair>(&value))
    return number->im ? fmt::format("[{}, {}]", number->re, *number->im)
                      : fmt::format("{}", number->re);
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
  if (const auto* work = std::get_if<Work>(&value))
    return fmt::format("{} and {}", quantity_text(work->flops.count(), Dimension::Work),
                       quantity_text(work->bytes.count(), Dimension::Size));
  return fmt::format("{}", std::get<std::vector<std::vector<int64_t>>>(value));
}

}  // namespace

std::string_view parameter_summary(std::string_view name) {
  for (const Described& entry : kSummaries)
    if (entry.first == name)
      return entry.second;
  return {};
}

std::string parameter_domain(const Parameter& parameter) {
  if (!parameter.choices.empty())
    return fmt::format("\"{}\"", fmt::join(parameter.choices, "\" or \""));
  std::string text(description(parameter.kind));
  const bool amount = parameter.kind == ParameterKind::FlopCount ||
                      parameter.kind == ParameterKind::ByteCount ||
                      parameter.kind == ParameterKind::WorkCount;
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
    return op.family != Family::Collective || op.form.side != Side::Both ||
           std::any_of(op.parameters.begin(), op.parameters.end(),
                       [&](const Parameter& own) { return own.name == parameter.name; });
  });
}

}  // namespace orrery
