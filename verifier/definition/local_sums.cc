// This file has the error rules of local ops that fold: reductions, scatter_add, dot_general.

#include <algorithm>
#include <utility>

#include "models/array/kernels.h"
#include "models/program/local_parameters.h"
#include "verifier/definition/bound_tensor.h"
#include "verifier/definition/local_bounds.h"
#include "verifier/definition/sums.h"

namespace orrery {

namespace {

bool flushes_always(const Computed&) {
  return true;
}

const std::vector<int64_t>& axes(const Computed& of) {
  return of.op.attributes.integers("axes");
}

Tensor added(const Tensor& a, const Tensor& b) {
  return elementwise(Binary::Add, a, b);
}

Tensor inexact_sum(const Computed& of) {
  const Dtype dtype = of.result.dtype();
  const Tensor sums = reduce(magnitudes(*of.values[0]), Combine::Add, axes(of));
  const Dtype accumulator = of.rounded_by == RoundedBy::Xla ? dtype : reduced_sum_dtype(dtype);
  const bool widened = accumulator != dtype;
  const FloatFormat accumulated = of.format_of(accumulator);
  const FloatFormat format = of.format_of(dtype);
  const auto count = static_cast<double>(terms(of.program, of.op));
  const double roundings = count > 1 ? (count - 1) * accumulated.unit_roundoff : 0;
  const Tensor sizes = magnitudes(of.result);
  const Tensor carried = reduce(*of.errors[0], Combine::Add, axes(of));
  return settled_sums(each(carried,
                           [&](double errors, size_t i) {
                             const double bound = errors + roundings * sums.as<double>()[i];
                             return widened ? bound + format.unit_roundoff * sizes.as<double>()[i] +
                                                  format.half_smallest
                                            : bound;
                           }),
                      of.result, sums, carried);
}

Tensor flushed_sum(const Computed& of, Tensor bound) {
  const double partial_sums =
      static_cast<double>(terms(of.program, of.op)) * most_flushed(of.result.dtype());
  const Tensor sums = reduce(magnitudes(*of.values[0]), Combine::Add, axes(of));
  return each(std::move(bound), [&](double error, size_t i) {
    return element(sums, i) == 0 ? error : error + partial_sums;
  });
}

Tensor inexact_extremum(const Computed& of) {
  return each(reduce(*of.errors[0], Combine::Max, axes(of)),
              [](double error, size_t) { return std::max(error, 0.0); });
}

Tensor discrete_fold(const Computed& of) {
  return exact_or_unknown(reduce(*of.errors[0], Combine::Max, axes(of)));
}

/// The error of scatter_add depends on these sums: per element of the result, in f64.
struct ScatteredSums {
  Tensor terms;    // the magnitudes of what is added there, together
  Tensor carried;  // their errors together; kNoBound everywhere if an index may be another
  Tensor added;    // how many updates
};

ScatteredSums scattered_sums(const Computed& of) {
  const auto axis = static_cast<size_t>(of.op.attributes.integer("axis"));
  const OutOfRange mode = out_of_range(of.op.attributes);
  const std::vector<const Tensor*>& values = of.values;
  const auto into = [&](const Tensor& operand, const Tensor& updates) {
    return scatter_add(operand, updates, *values[2], axis, mode);
  };
  ScatteredSums sums{
      into(magnitudes(*values[0]), magnitudes(*values[1])), into(*of.errors[0], *of.errors[1]),
      into(Tensor(Dtype::F64, values[0]->shape()), full(Dtype::F64, values[1]->shape(), 1))};
  if (!all_zero(*of.errors[2]))
    std::ranges::fill(sums.carried.as<double>(), kNoBound);
  return sums;
}

Tensor inexact_scattered_sum(const Computed& of) {
  const ScatteredSums sums = scattered_sums(of);
  const double flushed = of.flushes_subnormals ? most_flushed(of.result.dtype()) : 0;
  const double roundoff = of.format_of(of.result.dtype()).unit_roundoff;
  return settled_sums(each(sums.carried,
                           [&](double error, size_t i) {
                             const double rounding = roundoff * element(sums.terms, i);
                             return error + element(sums.added, i) * (rounding + flushed);
                           }),
                      of.result, sums.terms, sums.carried);
}

Tensor discrete_scattered_sum(const Computed& of) {
  return exact_or_unknown(scattered_sums(of).carried);
}

/// Returns how many times (K + 1) v sum |x y| a sum of K products may be off.
///
/// Tensor cores multiply f16 and bf16 exactly. They add at least 4 products to a sum at once. Each
/// addend is cut off below the last bit of f32 of the largest one, and so is the new sum (Fasi,
/// Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ Comput. Sci. 7:e330,
/// 2021). Each cut is up to 2 v sum |x y|. There are K cuts of products, and two of sums for each
/// of at most (K + 3) / 4 additions: 2 (K + (K + 3) / 2) <= 3 (K + 1). Others are multiplied and
/// added with one rounding to nearest, or two.
double tensor_core_factor(Dtype operands, RoundedBy rounded_by) {
  const bool narrow = operands == Dtype::F16 || operands == Dtype::BF16;
  return rounded_by == RoundedBy::CublasLt && narrow ? 3 : 1;
}

Tensor inexact_products(const Computed& of) {
  const DotDimensions dimensions = dot_dimensions(of.op.attributes);
  const auto dot = [&](const Tensor& lhs, const Tensor& rhs) {
    return dot_general(lhs, rhs, dimensions, Dtype::F64);
  };
  const Dtype lhs = of.values[0]->dtype();
  const Dtype dtype = of.result.dtype();
  const Tensor x = magnitudes(*of.values[0]);
  const Tensor y = magnitudes(*of.values[1]);
  const Tensor y_most = added(y, *of.errors[1]);
  const Tensor carried = added(dot(x, *of.errors[1]), dot(*of.errors[0], y_most));
  const Tensor products = dot(x, y);

  const auto count = static_cast<double>(terms(of.program, of.op));
  const FloatFormat accumulated = of.format_of(dot_sum_dtype(lhs, of.values[1]->dtype(), dtype));
  const FloatFormat format = of.format_of(dtype);
  const bool has_parts = is_complex(dtype);
  const double cuts = tensor_core_factor(lhs, of.rounded_by);
  const double roundings = cuts * (count + (has_parts ? 3 : 1)) * accumulated.unit_roundoff;
  const double smallest = cuts * (has_parts ? 3 : 1) * count * accumulated.half_smallest;
  const Tensor sizes = magnitudes(of.result);
  Tensor bound = each(carried, [&](double error, size_t i) {
    return error + roundings * products.as<double>()[i] + smallest +
           format.unit_roundoff * sizes.as<double>()[i] + parts_of(dtype) * format.half_smallest;
  });
  return settled(std::move(bound), of.result, [](size_t) { return false; });
}

Tensor unknown_products(const Computed& of) {
  return each(Tensor(Dtype::F64, of.result.shape()), [](double, size_t) { return kNoBound; });
}

}  // namespace

ErrorRule rule_of_sum() {
  return {inexact_sum, discrete_fold, flushes_always, flushed_sum};
}

ErrorRule rule_of_extremum() {
  return {inexact_extremum, discrete_fold, flushes_always};
}

ErrorRule rule_of_scattered_sum() {
  return {inexact_scattered_sum, discrete_scattered_sum, flushes_always};
}

/// The products flush nothing: with xla-cpu, too, they are computed as with ieee.
ErrorRule rule_of_products() {
  return {inexact_products, unknown_products};
}

}  // namespace orrery
