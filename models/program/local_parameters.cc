#include "models/program/local_parameters.h"

namespace orrery {

SliceBounds slice_bounds(const Attributes& attributes) {
  SliceBounds bounds{
      attributes.integers("start_indices"), attributes.integers("limit_indices"), {}};
  if (attributes.has("strides"))
    bounds.strides = attributes.integers("strides");
  return bounds;
}

size_t split_axis(const Attributes& attributes, const Shape& operand) {
  const int64_t axis = attributes.integer("axis");
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(operand.rank()) : axis);
}

std::vector<DimensionPadding> paddings(const Attributes& attributes) {
  std::vector<DimensionPadding> paddings;
  for (const std::vector<int64_t>& numbers : attributes.lists("padding_config"))
    paddings.push_back({numbers[0], numbers[1], numbers[2]});
  return paddings;
}

SequenceOrder sequence_order(const Attributes& attributes) {
  return {static_cast<size_t>(attributes.integer("seq_dim")), attributes.integer("cp_size"),
          attributes.boolean("to_contiguous")};
}

OutOfRange out_of_range(const Attributes& attributes) {
  return attributes.text("mode") == "clip" ? OutOfRange::Clip : OutOfRange::Fill;
}

std::optional<NumberOrPair> fill_value(const Attributes& attributes) {
  if (!attributes.has("fill_value"))
    return std::nullopt;
  return attributes.number("fill_value");
}

DotDimensions dot_dimensions(const Attributes& attributes) {
  const std::vector<std::vector<int64_t>>& lists = attributes.lists("dimension_numbers");
  return {lists[0], lists[1], lists[2], lists[3]};
}

}  // namespace orrery
