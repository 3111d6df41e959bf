// This file has the backward rule of ragged_all_to_all.

#include "models/program/backward_ops.h"
#include "models/program/collective_types.h"
#include "models/program/families.h"
#include "models/program/ragged.h"

namespace orrery::backward {

namespace {

using enum OpKind;

constexpr size_t kInputOffsets = kRaggedTables.first;
constexpr size_t kSendSizes = kInputOffsets + 1;
constexpr size_t kOutputOffsets = kInputOffsets + 2;
constexpr size_t kRecvSizes = kInputOffsets + 3;

int64_t entries(BackwardCall& call) {
  return call.operand_type(kInputOffsets).shape[0];
}

/// Returns the numbers 0, 1, ..., count - 1.
std::string numbers(BackwardCall& call, int64_t count) {
  return call.ops().op(Iota, {},
                       with({{"shape", std::vector<int64_t>{count}},
                             {"dtype", Dtype::S64},
                             {"dimension", int64_t{0}}}));
}

/// Swaps the entries of a table between peers: each rank gets the entries that others have for it.
std::string of_peers(BackwardCall& call, const std::string& table) {
  Attributes attributes = same_groups(call);
  attributes.set("split_axis", int64_t{0});
  attributes.set("concat_axis", int64_t{0});
  attributes.set("tiled", true);
  return call.ops().op(AllToAll, {table}, std::move(attributes));
}

/// Returns the attributes of the exchange that goes back. There a row is in one slice at most.
Attributes of_way_back(BackwardCall& call) {
  constexpr std::string_view kAssumed = "assume_sizes";
  Attributes attributes = same_groups(call);
  attributes.set("disjoint_reads", true);
  if (call.attributes().has(kAssumed))
    attributes.set(std::string(kAssumed),
                   received_sizes(call.attributes().lists(kAssumed),
                                  {static_cast<size_t>(call.group_size()),
                                   static_cast<size_t>(entries(call)), 0, 0}));
  return attributes;
}

/// Returns zeros that go with the cotangent of the result. `first` are their first dimensions.
std::string zeros(BackwardCall& call, const std::vector<int64_t>& first) {
  std::vector<int64_t> dims = dims_of(call.result_type().shape);
  dims.erase(dims.begin());
  dims.insert(dims.begin(), first.begin(), first.end());
  return zeros_beside(call, Shape(std::move(dims)));
}

std::string exchanged_back(BackwardCall& call, const std::string& over,
                           const std::string& input_offsets) {
  return call.ops().op(
      RaggedAllToAll,
      {call.cotangent(), over, of_peers(call, call.operand(kOutputOffsets)),
       call.operand(kRecvSizes), of_peers(call, input_offsets), call.operand(kSendSizes)},
      of_way_back(call));
}

/// Sends the slices back to the rows from which they came.
std::string of_operand(BackwardCall& call) {
  const int64_t rows = call.operand_type(0).shape[0];
  if (call.attributes().boolean("disjoint_reads") || entries(call) == 1) {
    const std::string over = zeros(call, {rows});
    return exchanged_back(call, over, call.operand(kInputOffsets));
  }
  // A row may be in several slices. So each slice comes back to an operand of its own. These
  // operands lie one after another, and are added up.
  const std::string first_rows =
      op(call, Mul,
         {numbers(call, entries(call)), scalar(call, Dtype::S64, static_cast<double>(rows))});
  const std::string wide = call.ops().op(ConvertElementType, {call.operand(kInputOffsets)},
                                         with({{"new_dtype", Dtype::S64}}));
  const std::string offsets = op(call, Add, {wide, first_rows});
  const std::string all =
      exchanged_back(call, zeros(call, {checked_multiply(entries(call), rows)}), offsets);
  std::vector<int64_t> dims = dims_of(call.operand_type(0).shape);
  dims.insert(dims.begin(), entries(call));
  const std::string slices = call.ops().op(Reshape, {all}, with({{"new_sizes", std::move(dims)}}));
  return call.ops().op(ReduceSum, {slices}, with({{"axes", std::vector<int64_t>{0}}}));
}

/// Returns the cotangent in the rows that no slice overwrote, and zeros in the others. The same
/// exchange on row numbers finds these rows: slices overwrite the numbers with that of a row of
/// zeros.
std::string of_output(BackwardCall& call) {
  const int64_t rows = call.result_type().shape[0];
  const std::vector<int64_t> operand_rows = {call.operand_type(0).shape[0]};
  const std::string written = call.ops().op(Full, {},
                                            with({{"shape", operand_rows},
                                                  {"fill_value", static_cast<double>(rows)},
                                                  {"dtype", Dtype::S64}}));
  std::vector<std::string> operands = {written, numbers(call, rows)};
  for (size_t table = kRaggedTables.first; table < kRaggedTables.end; ++table)
    operands.push_back(call.operand(table));
  Attributes attributes = same_groups(call);
  if (call.attributes().has("assume_sizes"))
    attributes.set("assume_sizes", call.attributes().lists("assume_sizes"));
  const std::string taken =
      call.ops().op(RaggedAllToAll, std::move(operands), std::move(attributes));
  const std::string with_zeros = call.ops().op(Concatenate, {call.cotangent(), zeros(call, {1})},
                                               with({{"dimension", int64_t{0}}}));
  return call.ops().op(Take, {with_zeros, taken},
                       with({{"axis", int64_t{0}}, {"mode", std::string("clip")}}));
}

}  // namespace

Cotangents ragged_all_to_all(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  if (call.wants(0))
    cotangents[0] = of_operand(call);
  if (call.wants(1))
    cotangents[1] = of_output(call);
  return cotangents;
}

}  // namespace orrery::backward
