#include "models/array/kernels.h"
#include "models/array/text.h"
#include "simulator/values/cuda/kernels/iota.h"
#include "simulator/values/cuda/kernels/local_site.h"

namespace orrery::cuda {

namespace {

/// Every element of the result is the element of the scalar.
KernelCalls filled(const LocalSite& site, const Tensor& scalar) {
  if (site.result().size() == Bytes())
    return {};
  return {fill_call(site.result_at(), site.result().size(), scalar.bytes())};
}

}  // namespace

KernelCalls scalar_calls(const LocalSite& site, int64_t value) {
  Tensor scalar(Dtype::S32, Shape());
  set_element_from_int64(scalar, 0, value);
  return filled(site, scalar);
}

KernelCalls full_calls(const LocalSite& site) {
  return filled(site, full(site.result().dtype, Shape(), site.op.attributes.number("fill_value")));
}

KernelCalls iota_calls(const LocalSite& site) {
  const Shape& shape = site.result().shape;
  const auto dimension = static_cast<size_t>(site.op.attributes.integer("dimension"));
  IotaArgs args{};
  args.to = site.result_at();
  args.items = shape.elements();
  args.inner = shape.elements_from(dimension + 1);
  args.extent = shape[dimension];
  args.dtype = site.result().dtype;
  if (args.items == 0)
    return {};
  return {call_of({KernelFamily::Iota}, args, args.items)};
}

/// The first operand, where it has the result's type; else zeros.
KernelCalls stand_in_calls(const LocalSite& site) {
  if (site.op.results.empty() || site.result().size() == Bytes())
    return {};
  const Bytes size = site.result().size();
  const bool alike = !site.op.operands.empty() && site.operand(0).dtype == site.result().dtype &&
                     site.operand(0).shape == site.result().shape;
  if (!alike)
    return {zero_call(site.result_at(), size)};
  if (site.operand_at(0) == site.result_at())
    return {};
  return {copy_call(site.result_at(), site.operand_at(0), size)};
}

}  // namespace orrery::cuda
