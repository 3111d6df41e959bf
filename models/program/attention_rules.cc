// This file has dot_product_attention, as jax.nn has it, and the op of its gradients. Each is one
// kernel of the flash form: it is charged for its products and for reading and writing its operands
// and results once, since the weights stay on the chip (Dao et al., "FlashAttention", 2022). Values
// are those of the ops that it stands for (AttentionBody).

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/program/batch_ops.h"
#include "models/program/builder.h"
#include "models/program/families.h"
#include "models/program/local_parameters.h"

namespace orrery {

namespace {

using Need = Parameter::Need;
using batching::given;
using Integers = std::vector<int64_t>;

constexpr size_t kOwnDimensions = 3;  // sequence, heads, depth; those before are of a batch

AttentionSizes sizes_of(const Attributes& attributes, std::span<const ValueType> operands) {
  const Shape& query = operands[0].shape;
  const Shape& key = operands[1].shape;
  const size_t batch = query.rank() - kOwnDimensions;
  AttentionSizes sizes;
  for (size_t d = 0; d < batch; ++d)
    sizes.batch = checked_multiply(sizes.batch, query[d]);
  sizes.queries = query[batch];
  sizes.keys = key[batch];
  sizes.heads = query[batch + 1];
  sizes.key_heads = key[batch + 1];
  sizes.depth = query[batch + 2];
  sizes.causal = attributes.boolean("is_causal");
  return sizes;
}

TypeError of_error(std::string message) {
  return {"of", std::move(message)};
}

std::optional<TypeError> operands_error(const Attributes& attributes,
                                        std::span<const ValueType> operands) {
  constexpr std::array<std::string_view, 4> kNames = {"query", "key", "value", "cotangent"};
  const Shape& query = operands[0].shape;
  if (!is_float(operands[0].dtype))
    return of_error(fmt::format("expected operands of floats, got {}", name(operands[0].dtype)));
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = operands[i].shape;
    if (operands[i].dtype != operands[0].dtype)
      return of_error(fmt::format("expected operands of one dtype, got {} and {}",
                                  name(operands[0].dtype), name(operands[i].dtype)));
    if (shape.rank() < kOwnDimensions || shape.rank() != query.rank())
      return of_error(
          fmt::format("expected operands of one rank, of at least 3 dimensions (.., "
                      "sequence, heads, depth), got a {} {}",
                      kNames[i], shape.text()));
  }
  const Shape& key = operands[1].shape;
  const size_t batch = query.rank() - kOwnDimensions;
  if (operands[2].shape != key)
    return of_error(fmt::format("expected a value of the key's shape {}, got {}", key.text(),
                                operands[2].shape.text()));
  if (operands.size() > 3 && operands[3].shape != query)
    return of_error(fmt::format("expected a cotangent of the query's shape {}, got {}",
                                query.text(), operands[3].shape.text()));
  for (size_t d = 0; d < query.rank(); ++d)
    if (d != batch && d != batch + 1 && query[d] != key[d])
      return of_error(
          fmt::format("expected query and key to have one extent in all dimensions but the "
                      "sequence and the heads, got {} and {}",
                      query.text(), key.text()));
  if (key[batch] == 0 || key[batch + 1] == 0 || query[batch + 1] % key[batch + 1] != 0)
    return of_error(
        fmt::format("expected at least one key, and heads of the query that are a multiple of "
                    "those of the key, got {} and {}",
                    query.text(), key.text()));
  if (attributes.has("scale"))
    return number_error("scale", operands[0].dtype == Dtype::F64 ? Dtype::F64 : Dtype::F32,
                        attributes.number("scale"));
  return std::nullopt;
}

TypeOutcome attention_type(const TypeContext& context) {
  if (auto wrong = operands_error(context.attributes, context.operands))
    return *wrong;
  return typed(context.operands[0].dtype, context.operands[0].shape,
               joined_states(context.mesh, context.operands, Linearity::Nonlinear));
}

TypeOutcome gradients_type(const TypeContext& context) {
  if (auto wrong = operands_error(context.attributes, context.operands))
    return *wrong;
  std::vector<ValueType> results;
  for (size_t k = 0; k < 3; ++k) {
    TypeOutcome one = typed(context.operands[k].dtype, context.operands[k].shape,
                            joined_states(context.mesh, context.operands, Linearity::Nonlinear));
    if (auto* const wrong = std::get_if<TypeError>(&one))
      return *wrong;
    results.push_back(std::get<std::vector<ValueType>>(one).front());
  }
  return results;
}

template <Pass kPass>
Cost cost(const Attributes& attributes, std::span<const ValueType> operands,
          std::span<const ValueType> results) {
  Cost cost = attention_cost(sizes_of(attributes, operands), operands[0].dtype, kPass);
  cost.bytes = touched(operands, results);
  return cost;
}

/// Writes attention as ops. In the comments, b stands for the dimensions of a batch. The heads of
/// the query are K groups of G, where K are the heads of the key: all of a group meet the same head
/// of the key. T queries meet S keys.
class AttentionBody {
 public:
  AttentionBody(const Attributes& attributes, std::span<const ValueType> operands)
      : dtype_(operands[0].dtype),
        wide_(itemsize(dtype_) < itemsize(Dtype::F32) ? Dtype::F32 : dtype_),
        batch_(operands[0].shape.rank() - kOwnDimensions),
        sizes_(sizes_of(attributes, operands)),
        query_(operands[0].shape),
        scale_(attributes.has("scale")
                   ? attributes.number("scale")
                   : NumberOrPair{1 / std::sqrt(static_cast<double>(sizes_.depth))}) {
    constexpr std::array<const char*, 4> kNames = {"q", "k", "v", "g"};
    for (size_t i = 0; i < operands.size(); ++i)
      body_.argument(kNames[i], operands[i].dtype, operands[i].shape);
    for (size_t d = 0; d < batch_; ++d)
      weights_.push_back(query_[d]);
    weights_.insert(weights_.end(), {sizes_.key_heads, sizes_.queries,
                                     sizes_.heads / sizes_.key_heads, sizes_.keys});
  }

  Program attention() && {
    const std::string narrow = converted(softmax(), Dtype::F32, dtype_);
    const std::string summed =
        dot(narrow, "v", {at(3)}, {at(0)}, {at(0)}, {at(1)}, dtype_);  // (b, K, T, G, depth)
    return std::move(body_).finish({queries(summed)});
  }

  Program gradients() && {
    const std::string weights = softmax();
    const std::string grouped = grouped_queries("g");
    const std::string of_value =
        dot(converted(weights, Dtype::F32, dtype_), grouped, {at(1), at(2)}, {at(0), at(2)},
            {at(0)}, {at(1)}, dtype_);  // (b, K, S, depth)
    const std::string of_weights =
        converted(dot(grouped, "v", {at(3)}, {at(2)}, {at(1)}, {at(1)}, wide_), wide_,
                  Dtype::F32);  // (b, K, T, G, S)
    const std::string mean =
        last_dimension(OpKind::ReduceSum, op(OpKind::Mul, {weights, of_weights}));
    const std::string of_scores =
        op(OpKind::Mul, {weights, op(OpKind::Sub, {of_weights, along_keys(mean)})});
    const std::string of_products = converted(
        op(OpKind::Mul, {converted(of_scores, Dtype::F32, wide_), scale()}), wide_, dtype_);
    const std::string of_query =
        dot(of_products, "k", {at(3)}, {at(0)}, {at(0)}, {at(1)}, dtype_);  // (b, K, T, G, depth)
    const std::string of_key =
        dot(of_products, grouped_queries("q"), {at(1), at(2)}, {at(0), at(2)}, {at(0)}, {at(1)},
            dtype_);  // (b, K, S, depth)
    return std::move(body_).finish({queries(of_query), keys(of_key), keys(of_value)});
  }

 private:
  /// Returns the dimension `own` after those of the batch.
  int64_t at(size_t own) const { return static_cast<int64_t>(batch_ + own); }

  std::string op(OpKind kind, std::vector<std::string> operands, Attributes attributes = {}) {
    return body_.op(kind, std::move(operands), std::move(attributes));
  }

  /// Returns the weights: softmax(scale * query . key) over the keys that a query meets, in f32 for
  /// any dtype, as in jax.nn.
  std::string softmax() {
    const std::string products = dot(grouped_queries("q"), "k", {at(3)}, {at(2)}, {at(1)}, {at(1)},
                                     wide_);  // (b, K, T, G, S)
    const std::string scores =
        converted(masked(op(OpKind::Mul, {products, scale()})), wide_, Dtype::F32);
    const std::string largest = along_keys(last_dimension(OpKind::ReduceMax, scores));
    const std::string powers = op(OpKind::Exp, {op(OpKind::Sub, {scores, largest})});
    return op(OpKind::Div, {powers, along_keys(last_dimension(OpKind::ReduceSum, powers))});
  }

  /// Returns the scores, with a large negative number (as jax.nn has it) where a key comes after
  /// the query.
  std::string masked(const std::string& scores) {
    constexpr double kShareOfLargest = -0.7;
    if (!sizes_.causal)
      return scores;
    const double least =
        kShareOfLargest * (wide_ == Dtype::F64 ? std::numeric_limits<double>::max()
                                               : std::numeric_limits<float>::max());
    const auto places = [&](size_t own) {
      return op(OpKind::Iota, {},
                given({{"dtype", Dtype::S32}, {"shape", weights_}, {"dimension", at(own)}}));
    };
    const std::string meets = op(OpKind::Ge, {places(1), places(3)});
    return op(OpKind::SelectN, {meets, number(least), scores});
  }

  std::string number(NumberOrPair value) {
    return op(OpKind::Full, {},
              given({{"shape", Integers()}, {"fill_value", value}, {"dtype", wide_}}));
  }
  std::string number(double value) { return number(NumberOrPair{value}); }
  std::string scale() { return number(scale_); }

  std::string last_dimension(OpKind fold, const std::string& weights) {
    return op(fold, {weights}, given({{"axes", Integers{at(3)}}}));
  }

  std::string along_keys(const std::string& value) {
    Integers dimensions;
    for (int64_t d = 0; d < at(3); ++d)
      dimensions.push_back(d);
    return op(OpKind::BroadcastInDim, {value},
              given({{"shape", weights_}, {"broadcast_dimensions", dimensions}}));
  }

  std::string converted(const std::string& value, Dtype from, Dtype to) {
    return from == to ? value : op(OpKind::ConvertElementType, {value}, given({{"new_dtype", to}}));
  }

  /// Returns (b, T, K, G, depth).
  std::string grouped_queries(const std::string& value) {
    Integers shape(query_.dims().begin(), query_.dims().end() - 2);
    shape.insert(shape.end(), {sizes_.key_heads, sizes_.heads / sizes_.key_heads, sizes_.depth});
    return op(OpKind::Reshape, {value}, given({{"new_sizes", shape}}));
  }

  /// Returns a product over the batch and one dimension of heads on each side.
  std::string dot(const std::string& left, const std::string& right, Integers left_summed,
                  Integers right_summed, Integers left_heads, Integers right_heads, Dtype result) {
    Integers left_batch;
    for (int64_t d = 0; d < at(0); ++d)
      left_batch.push_back(d);
    Integers right_batch = left_batch;
    left_batch.insert(left_batch.end(), left_heads.begin(), left_heads.end());
    right_batch.insert(right_batch.end(), right_heads.begin(), right_heads.end());
    return op(OpKind::DotGeneral, {left, right},
              given({{"dimension_numbers",
                      std::vector<Integers>{std::move(left_summed), std::move(right_summed),
                                            std::move(left_batch), std::move(right_batch)}},
                     {"preferred_element_type", result}}));
  }

  std::string transposed(const std::string& value, const Integers& own) {
    Integers permutation;
    for (int64_t d = 0; d < at(0); ++d)
      permutation.push_back(d);
    for (const int64_t d : own)
      permutation.push_back(at(0) + d);
    return op(OpKind::Transpose, {value}, given({{"permutation", permutation}}));
  }

  /// Makes (b, T, heads, depth) of (b, K, T, G, depth).
  std::string queries(const std::string& value) {
    return op(OpKind::Reshape, {transposed(value, {1, 0, 2, 3})},
              given({{"new_sizes", Integers(query_.dims().begin(), query_.dims().end())}}));
  }

  /// Makes (b, S, K, depth) of (b, K, S, depth).
  std::string keys(const std::string& value) { return transposed(value, {1, 0, 2}); }

  Dtype dtype_;
  Dtype wide_;  // of products: f32 or wider
  size_t batch_;
  AttentionSizes sizes_;
  Shape query_;
  NumberOrPair scale_;
  Integers weights_;  // the shape (b, K, T, G, S)
  BodyBuilder body_;
};

Program attention_body(const Attributes& attributes, std::span<const ValueType> operands) {
  return AttentionBody(attributes, operands).attention();
}

Program gradients_body(const Attributes& attributes, std::span<const ValueType> operands) {
  return AttentionBody(attributes, operands).gradients();
}

OpRules attention(OpKind kind, std::string_view name, std::string_view summary, size_t operands) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.least_operands = operands;
  rules.most_operands = operands;
  rules.parameters = {
      {"is_causal", ParameterKind::Boolean, Need::Optional, Attribute(false), {}, {}, {}},
      {"scale", ParameterKind::Number, Need::Optional, {}, {}, {}, {}}};
  rules.errors = Errors::Body;
  return rules;
}

}  // namespace

Cost attention_cost(const AttentionSizes& sizes, Dtype dtype, Pass pass) {
  int64_t pairs = checked_multiply(sizes.queries, sizes.keys);
  if (sizes.causal) {
    // Query t meets the keys up to t: 1, 2, .. of them, and all from query number `keys` on.
    const int64_t rising = std::min(sizes.queries, sizes.keys);
    pairs = checked_multiply(rising, rising + 1) / 2 +
            checked_multiply(sizes.queries - rising, sizes.keys);
  }
  // Two products going forward: the scores, and the sum of values. Five going back: the scores
  // again, and the gradients of the value, the weights, the query and the key. Kernels keep a
  // number of each row of scores, and the result, to go back. These are not operands here, and not
  // charged.
  const bool goes_back = pass == Pass::Backward;
  const int64_t products = goes_back ? 5 : 2;
  const int64_t heads = checked_multiply(sizes.batch, sizes.heads);
  const int64_t summed = checked_multiply(checked_multiply(heads, pairs), sizes.depth);
  const int64_t of_query = checked_multiply(checked_multiply(heads, sizes.queries), sizes.depth);
  const int64_t of_key = checked_multiply(
      checked_multiply(checked_multiply(sizes.batch, sizes.key_heads), sizes.keys), sizes.depth);
  Cost cost;
  cost.flops = Flops(checked_multiply(2 * products, summed));
  cost.again = Flops(goes_back ? checked_multiply(2, summed) : 0);
  // Forward: query, key and value are read, and the result is written.
  cost.bytes = itemsize(dtype) * checked_multiply(2, of_query + of_key);
  cost.dtype = dtype;
  cost.attention = sizes;
  return cost;
}

std::vector<OpRules> attention_rules() {
  OpRules forward =
      attention(OpKind::DotProductAttention, "dot_product_attention",
                "softmax of scaled scores, times the value: query, key and value of floats, "
                "(.., sequence, heads, depth); softmax in f32, weights stay on the chip",
                3);
  forward.type = attention_type;
  forward.cost = cost<Pass::Forward>;
  forward.body = attention_body;
  forward.transforms = {backward::dot_product_attention, LinearIn::None, batching::attention};
  OpRules gradients =
      attention(OpKind::DotProductAttentionVjp, "dot_product_attention_vjp",
                "the gradients of dot_product_attention in one kernel: query, key, value, and the "
                "cotangent of the result",
                4);
  gradients.most_results = 3;
  gradients.type = gradients_type;
  gradients.cost = cost<Pass::Backward>;
  gradients.body = gradients_body;
  gradients.transforms = {nullptr, LinearIn::None, batching::attention};
  return {forward, gradients};
}

}  // namespace orrery
