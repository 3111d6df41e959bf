// Compares attention and its gradients with their definition, written out in f64 element by
// element.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/base/random.h"
#include "models/program/builder.h"
#include "simulator/values/host_executor.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

struct Sizes {
  int64_t batch, queries, keys, key_heads, group, depth;
  bool causal;
  double scale;

  int64_t heads() const { return key_heads * group; }
  Shape query() const { return Shape{batch, queries, heads(), depth}; }
  Shape key() const { return Shape{batch, keys, key_heads, depth}; }
};

using Reals = std::vector<double>;

/// Returns the attention of batch entry b, query t and head n, along the depth.
Reals attended(const Sizes& of, const Reals& q, const Reals& k, const Reals& v, int64_t b,
               int64_t t, int64_t n) {
  const int64_t key_head = n / of.group;
  const auto key = [&](int64_t s, int64_t d) {
    return static_cast<size_t>(((b * of.keys + s) * of.key_heads + key_head) * of.depth + d);
  };
  const auto query = [&](int64_t d) {
    return static_cast<size_t>(((b * of.queries + t) * of.heads() + n) * of.depth + d);
  };
  const int64_t met = of.causal ? std::min(t + 1, of.keys) : of.keys;
  Reals weights;
  double total = 0;
  for (int64_t s = 0; s < met; ++s) {
    double score = 0;
    for (int64_t d = 0; d < of.depth; ++d)
      score += q[query(d)] * k[key(s, d)];
    weights.push_back(std::exp(of.scale * score));
    total += weights.back();
  }
  Reals result(static_cast<size_t>(of.depth));
  for (int64_t s = 0; s < met; ++s)
    for (int64_t d = 0; d < of.depth; ++d)
      result[static_cast<size_t>(d)] += weights[static_cast<size_t>(s)] / total * v[key(s, d)];
  return result;
}

Reals attention(const Sizes& of, const Reals& q, const Reals& k, const Reals& v) {
  Reals result;
  for (int64_t b = 0; b < of.batch; ++b)
    for (int64_t t = 0; t < of.queries; ++t)
      for (int64_t n = 0; n < of.heads(); ++n)
        for (const double element : attended(of, q, k, v, b, t, n))
          result.push_back(element);
  return result;
}

/// Runs the op on operands of this dtype, each of a shape and elements, and returns its results.
std::vector<Reals> results_of(OpKind kind, Dtype dtype, const Sizes& of,
                              const std::vector<Shape>& shapes, std::vector<Reals> operands) {
  Diagnostics diagnostics("test");
  ProgramBuilder builder(Mesh(), Checks::Shapes, diagnostics);
  OpRequest request;
  request.kind = kind;
  request.name = "r0";
  if (kind == OpKind::DotProductAttentionVjp)
    request.other_results = {"r1", "r2"};
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < shapes.size(); ++i) {
    Tensor wide(Dtype::F64, shapes[i]);
    std::ranges::copy(operands[i], wide.as<double>().begin());
    tensors.push_back(convert(wide, dtype));
    request.operands.push_back("a" + std::to_string(i));
    builder.argument(request.operands.back(), dtype, shapes[i], {});
  }
  builder.thread("t", {LogicalId(0)});
  request.attributes.set("is_causal", of.causal);
  request.attributes.set("scale", NumberOrPair(of.scale));
  builder.op(std::move(request));
  const Program program = builder.finish();
  diagnostics.throw_if_any();
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : tensors)
    pointers.push_back(&tensor);
  std::vector<Reals> results;
  for (const Tensor& result : evaluate_local(program, program.ops[0], pointers, LogicalId(0))) {
    const Tensor wide = convert(result, Dtype::F64);
    results.emplace_back(wide.as<double>().begin(), wide.as<double>().end());
  }
  return results;
}

/// Quarters from -2 to 2, which every dtype here has.
Reals quarters(Random& random, const Shape& shape) {
  Reals elements(static_cast<size_t>(shape.elements()));
  for (double& element : elements)
    element = static_cast<double>(random.between(-8, 8)) / 4;
  return elements;
}

Sizes random_sizes(Random& random) {
  const auto extent = [&] { return static_cast<int64_t>(random.between(1, 3)); };
  constexpr double kScales[] = {0.5, 1, -0.25};
  return {extent(),
          extent() + 1,
          extent() + 1,
          extent(),
          extent(),
          extent(),
          random.between(0, 1) == 1,
          kScales[random.between(0, 2)]};
}

double largest_difference(const Reals& a, const Reals& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// Weights are rounded to the dtype, each relatively by half a step, and so are sums of at most 4
// values of at most 2. Weights of f64 are those of f32.
double tolerance(Dtype dtype) {
  constexpr double kRoundings = 40;
  const double step = dtype == Dtype::BF16  ? 0x1p-8
                      : dtype == Dtype::F16 ? 0x1p-11
                                            : std::numeric_limits<float>::epsilon();
  return kRoundings * step;
}

TEST_CASE("dot_product_attention: values are those of the definition") {
  Random random(3);
  for (uint64_t i = 0; i < tries(300); ++i)
    for (const Dtype dtype : {Dtype::F32, Dtype::F64, Dtype::BF16, Dtype::F16}) {
      const Sizes of = random_sizes(random);
      const Reals q = quarters(random, of.query());
      const Reals k = quarters(random, of.key());
      const Reals v = quarters(random, of.key());
      const std::vector<Reals> got = results_of(OpKind::DotProductAttention, dtype, of,
                                                {of.query(), of.key(), of.key()}, {q, k, v});
      REQUIRE(got.size() == 1);
      CHECK(largest_difference(got[0], attention(of, q, k, v)) < tolerance(dtype));
    }
}

// A gradient is a sum of at most some hundred products of four factors of at most 2, each rounded
// as the values are. Differences in f64 with this step are off by less than 1e-7.
constexpr double kStep = 1e-5;
constexpr double kLargestGradient = 16;

TEST_CASE("dot_product_attention_vjp: gradients are the differences of the definition") {
  Random random(4);
  for (uint64_t i = 0; i < tries(100); ++i) {
    const Sizes of = random_sizes(random);
    std::vector<Reals> operands = {quarters(random, of.query()), quarters(random, of.key()),
                                   quarters(random, of.key())};
    const Reals cotangent = quarters(random, of.query());
    const auto product = [&] {
      const Reals result = attention(of, operands[0], operands[1], operands[2]);
      double sum = 0;
      for (size_t e = 0; e < result.size(); ++e)
        sum += result[e] * cotangent[e];
      return sum;
    };
    std::vector<Reals> expected;
    for (Reals& operand : operands) {
      Reals& gradient = expected.emplace_back();
      for (double& element : operand) {
        const double at = element;
        element = at + kStep;
        const double above = product();
        element = at - kStep;
        const double below = product();
        element = at;
        gradient.push_back((above - below) / (2 * kStep));
      }
    }
    for (const Dtype dtype : {Dtype::F32, Dtype::F64, Dtype::BF16, Dtype::F16}) {
      const std::vector<Reals> got = results_of(OpKind::DotProductAttentionVjp, dtype, of,
                                                {of.query(), of.key(), of.key(), of.query()},
                                                {operands[0], operands[1], operands[2], cotangent});
      REQUIRE(got.size() == 3);
      for (size_t operand = 0; operand < 3; ++operand)
        CHECK(largest_difference(got[operand], expected[operand]) <
              kLargestGradient * tolerance(dtype));
    }
  }
}

}  // namespace
}  // namespace orrery::test
