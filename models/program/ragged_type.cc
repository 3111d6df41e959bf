#include <algorithm>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/program/collective_types.h"
#include "models/program/families.h"
#include "models/program/ragged.h"

namespace orrery {

namespace {

std::string shape_text(const ValueType& type) {
  return fmt::format("{}{}", name(type.dtype), type.shape.text());
}

std::optional<TypeError> arrays_error(const ValueType& operand, const ValueType& output) {
  const auto same_rows = [&] {
    const auto& a = operand.shape.dims();
    const auto& b = output.shape.dims();
    return std::equal(a.begin() + 1, a.end(), b.begin() + 1, b.end());
  };
  if (operand.dtype == output.dtype && operand.shape.rank() > 0 && output.shape.rank() > 0 &&
      same_rows())
    return std::nullopt;
  return TypeError{"of",
                   fmt::format("expected an operand and an output that have one dtype and differ "
                               "at most in their first dimension, got {} and {}",
                               shape_text(operand), shape_text(output))};
}

std::optional<TypeError> tables_error(const TypeContext& context) {
  const std::span<const ValueType> tables = context.operands.subspan(kRaggedTables.first);
  for (size_t t = 0; t < tables.size(); ++t)
    if (!is_integer(tables[t].dtype) || tables[t].shape.rank() != 1 || tables[t].shape[0] == 0)
      return TypeError{
          "of", fmt::format("expected {} to be a list of integers (s32[{}]), got {}",
                            kRaggedTableNames[t], context.group_size, shape_text(tables[t]))};
  for (size_t t = 1; t < tables.size(); ++t)
    if (tables[t].shape != tables[0].shape)
      return TypeError{"of",
                       fmt::format("expected {} to have {} entries, as many as "
                                   "input_offsets, got {}",
                                   kRaggedTableNames[t], tables[0].shape[0], tables[t].shape[0])};
  if (tables[0].shape[0] % context.group_size != 0)
    return TypeError{
        "of", fmt::format("expected tables with as many slices for each of the {} ranks, got {} "
                          "entries",
                          context.group_size, tables[0].shape[0])};
  const Int128 slices = Int128{tables[0].shape[0]} * context.mesh.devices();
  if (slices > kMostSlices)
    return TypeError{"of", fmt::format("expected at most {} slices over all {} devices, got {} on "
                                       "each",
                                       kMostSlices, context.mesh.devices(), tables[0].shape[0])};
  return std::nullopt;
}

/// Returns the error in `assume_sizes`: a wrong form, or more rows than an array has.
std::optional<TypeError> assumed_error(const TypeContext& context) {
  constexpr std::string_view kName = "assume_sizes";
  if (!context.attributes.has(kName))
    return std::nullopt;
  const std::vector<std::vector<int64_t>>& lists = context.attributes.lists(kName);
  const auto ranks = static_cast<size_t>(context.group_size);
  const auto entries = static_cast<size_t>(context.operands[kRaggedTables.first].shape[0]);
  const auto error = [&](std::string message) {
    return TypeError{std::string(kName), std::move(message)};
  };
  if (lists.size() != 1 && lists.size() != ranks)
    return error(fmt::format("expected a list for all ranks or {}, one for each, got {}", ranks,
                             lists.size()));
  for (const std::vector<int64_t>& list : lists) {
    if (list.size() != 1 && list.size() != entries)
      return error(fmt::format("expected a number for all slices or {}, one for each, got {}",
                               entries, list.size()));
    for (const int64_t rows : list)
      if (rows < 0)
        return error(fmt::format("expected rows of slices, from 0 on, got {}", rows));
  }
  const RaggedExtent of{ranks, entries, context.operands[0].shape[0], context.operands[1].shape[0]};
  const AssumedSizes sizes(lists, of);
  std::vector<Int128> received(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    Int128 sent = 0;
    for (size_t entry = 0; entry < entries; ++entry) {
      sent += sizes.sent(rank, entry);
      received[entry / (entries / ranks)] += sizes.sent(rank, entry);
    }
    if (sent > of.operand_rows)
      return error(
          fmt::format("expected slices that fit the {} rows of the operand, got more for "
                      "rank {}",
                      of.operand_rows, rank));
  }
  for (size_t rank = 0; rank < ranks; ++rank)
    if (received[rank] > of.output_rows)
      return error(
          fmt::format("expected slices that fit the {} rows of the output, got more for "
                      "rank {}",
                      of.output_rows, rank));
  return std::nullopt;
}

}  // namespace

// JAX types the result as `output` alone. But some rows come from the operand, and the tables say
// which ones. So the result may vary where any of these operands does.
TypeOutcome ragged_all_to_all_type(const TypeContext& context) {
  if (over_no_axes(context.attributes))
    return TypeError{"axis_name", "expected an axis or more, got none"};
  const ValueType& output = context.operands[1];
  for (const auto& error : {arrays_error(context.operands[0], output), tables_error(context)})
    if (error)
      return *error;
  if (auto error = assumed_error(context))
    return *error;
  const StatesOutcome joined =
      indexed_states(context.mesh, context.operands.first(kRaggedTables.first),
                     context.operands.subspan(kRaggedTables.first), Linearity::Linear);
  if (const auto* error = std::get_if<TypeError>(&joined))
    return *error;
  const std::vector<ValueType> moved = {
      {output.dtype, output.shape, std::get<AxisStates>(joined), false}};
  return typed(output.dtype, output.shape,
               exchanged_states(
                   {context.mesh, context.checks, context.attributes, moved, context.group_size},
                   Exchange::Move));
}

}  // namespace orrery
