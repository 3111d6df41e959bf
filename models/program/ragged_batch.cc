// This file has the batch rule of ragged_all_to_all.

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "models/program/batch_ops.h"
#include "models/program/collective_types.h"
#include "models/program/families.h"

namespace orrery::batching {

namespace {

bool has_batched_tables(const BatchCall& call) {
  for (size_t k = kRaggedTables.first; k < kRaggedTables.end; ++k)
    if (call.operand(k).dimension)
      return true;
  return false;
}

/// If all elements have the same slices, the batch lies in the rows, which become larger.
BatchOutcome with_larger_rows(BatchCall& call) {
  const std::optional<size_t> first = call.operand(0).dimension;
  const size_t batch = std::max<size_t>(1, first ? *first : *call.operand(1).dimension);
  std::vector<std::string> operands = {batched_at(call, 0, batch).value,
                                       batched_at(call, 1, batch).value};
  for (size_t k = kRaggedTables.first; k < kRaggedTables.end; ++k)
    operands.push_back(call.operand(k).value);
  return result(op(call, OpKind::RaggedAllToAll, std::move(operands), call.attributes()), batch);
}

/// Returns the operand with its elements one after another along the rows.
ShapedValue stacked_rows(BatchCall& call, size_t operand) {
  const Shape& shape = call.operand_type(operand).shape;
  return reshaped(call, batched_at(call, operand, 0),
                  shape.with(0, checked_multiply(call.size(), shape[0])));
}

/// Returns a table with entries for the slices of all elements. The entries of all elements for one
/// slice stand one after another. If the table has offsets, `rows` is the number of rows of an
/// element in the array to which they point. It is empty for a table of sizes.
ShapedValue merged_table(BatchCall& call, size_t table, std::optional<int64_t> rows) {
  ShapedValue part = batched_at(call, table, 1);
  if (rows) {
    const ValueType& type = call.operand_type(table);
    const std::string wide =
        op(call, OpKind::ConvertElementType, {part.value}, given({{"new_dtype", Dtype::S64}}));
    const std::string elements = op(
        call, OpKind::Iota, {},
        given({{"shape", dims_of(part.shape)}, {"dtype", Dtype::S64}, {"dimension", int64_t{1}}}));
    const ShapedValue each = constant(call, Shape(), Dtype::S64, static_cast<double>(*rows), type);
    part.value = op(call, OpKind::Add, {wide, op(call, OpKind::Mul, {elements, each.value})});
  }
  const Shape flat({part.shape.elements()});
  return reshaped(call, std::move(part), flat);
}

}  // namespace

BatchOutcome ragged_all_to_all(BatchCall& call) {
  if (axes_of(call).batched)
    return fmt::format("slices over \"{}\", whose place the batch takes", *call.axis());
  if (!has_batched_tables(call))
    return with_larger_rows(call);
  // Each element has slices of its own. One exchange moves the slices of all elements.
  const Shape& operand = call.operand_type(0).shape;
  const Shape& output = call.operand_type(1).shape;
  std::vector<std::string> operands = {stacked_rows(call, 0).value, stacked_rows(call, 1).value};
  const std::optional<int64_t> rows[] = {operand[0], std::nullopt, output[0], std::nullopt};
  for (size_t t = 0; t < std::size(rows); ++t)
    operands.push_back(merged_table(call, kRaggedTables.first + t, rows[t]).value);
  Attributes attributes = call.attributes();
  // Beyond this limit the exchange is refused, so its sizes are not needed.
  const bool few = call.size() <= kMostSlices / call.operand_type(kRaggedTables.first).shape[0];
  if (few && attributes.has("assume_sizes")) {
    std::vector<Integers> sizes = attributes.lists("assume_sizes");
    for (Integers& list : sizes) {
      if (list.size() == 1)
        continue;  // one number for all slices
      Integers repeated;
      for (const int64_t size : list)
        repeated.insert(repeated.end(), static_cast<size_t>(call.size()), size);
      list = std::move(repeated);
    }
    attributes.set("assume_sizes", std::move(sizes));
  }
  const std::string exchanged =
      op(call, OpKind::RaggedAllToAll, std::move(operands), std::move(attributes));
  return result(reshaped(call, {exchanged, output.with(0, call.size() * output[0])},
                         output.inserted(0, call.size()))
                    .value,
                0);
}

}  // namespace orrery::batching
