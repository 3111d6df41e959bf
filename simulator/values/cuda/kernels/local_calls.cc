#include <algorithm>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/check.h"
#include "models/program/groups.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/kernels/elementwise.h"
#include "simulator/values/cuda/kernels/local_site.h"

namespace orrery::cuda {

std::vector<KernelCall> local_calls(const Program& program, const Op& op, LogicalId device,
                                    const LocalOperands& where) {
  const LocalSite site{program, op, device, where};
  const auto axes = [&] { return axis_positions(program.mesh, op.attributes.names("axis_name")); };
  ORRERY_CHECK(
      where.operands.size() == op.operands.size() && where.results.size() == op.results.size(),
      "every operand and result has an address");
  switch (op.kind) {
    case OpKind::Pvary:
    case OpKind::Preduced:
    case OpKind::VaryUnreducedCast:
    case OpKind::ReducedVaryCast:
    case OpKind::Pcast:
    case OpKind::Reshape:
    case OpKind::OptimizationBarrier:
    case OpKind::LogicallyStacked:
    case OpKind::HeldOn:
      return copies_of_operands(site);
    case OpKind::HeldOrZeros:
      return held_or_zeros_calls(site);
    case OpKind::AxisIndex:
      return scalar_calls(site, program.mesh.index(device, axes()));
    case OpKind::AxisSize:
      return scalar_calls(site, program.mesh.size(axes()));
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Max:
    case OpKind::Min:
    case OpKind::Neg:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
    case OpKind::Logistic:
    case OpKind::Sin:
    case OpKind::Cos:
    case OpKind::Eq:
    case OpKind::Ne:
    case OpKind::Lt:
    case OpKind::Le:
    case OpKind::Gt:
    case OpKind::Ge:
      return elementwise_calls(site);
    case OpKind::SelectN:
      return select_calls(site);
    case OpKind::ConvertElementType:
      return convert_calls(site);
    case OpKind::Real:
      return part_of_complex_calls(site, 0);
    case OpKind::Imag:
      return part_of_complex_calls(site, 1);
    case OpKind::Conj:
      return conj_calls(site);
    case OpKind::Complex:
      return complex_calls(site);
    case OpKind::Transpose:
      return transpose_calls(site);
    case OpKind::Slice:
      return slice_calls(site);
    case OpKind::Concatenate:
      return concatenate_calls(site);
    case OpKind::Split:
      return split_calls(site);
    case OpKind::Pad:
      return pad_calls(site);
    case OpKind::BroadcastInDim:
      return broadcast_calls(site);
    case OpKind::ReorderSequence:
      return reorder_calls(site);
    case OpKind::DynamicSlice:
      return dynamic_slice_calls(site);
    case OpKind::DynamicUpdateSlice:
      return dynamic_update_slice_calls(site);
    case OpKind::Take:
      return take_calls(site);
    case OpKind::ScatterAdd:
      return scatter_add_calls(site);
    case OpKind::ReduceSum:
      return reduce_calls(site, Combine::Add);
    case OpKind::ReduceMax:
      return reduce_calls(site, Combine::Max);
    case OpKind::ReduceMin:
      return reduce_calls(site, Combine::Min);
    case OpKind::Full:
      return full_calls(site);
    case OpKind::Iota:
      return iota_calls(site);
    case OpKind::CreateToken:
      return {};
    case OpKind::DotGeneral:
      return dot_calls(site);
    case OpKind::Compute:
      return stand_in_calls(site);
    case OpKind::Psum:
    case OpKind::Pmean:
    case OpKind::Pmax:
    case OpKind::Pmin:
    case OpKind::Pargmax:
    case OpKind::Pargmin:
    case OpKind::AllGather:
    case OpKind::PsumScatter:
    case OpKind::AllToAll:
    case OpKind::Pswapaxes:
    case OpKind::Ppermute:
    case OpKind::Pshuffle:
    case OpKind::Pbroadcast:
    case OpKind::RaggedAllToAll:
    case OpKind::Psend:
    case OpKind::Precv:
    case OpKind::UnreducedPsum:
    case OpKind::UnreducedPsumScatter:
    case OpKind::AllGatherInvariant:
    case OpKind::AllGatherReduced:
    case OpKind::Done:
      break;
    case OpKind::DotProductAttention:
    case OpKind::DotProductAttentionVjp:
    case OpKind::MpmdMap:
      break;  // these have bodies, whose ops have kernels
  }
  fail_check("the op is local and has kernels", "only such ops run on one GPU", __FILE__, __LINE__);
}

namespace {

/// Sets every element of the result to that of the scalar.
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

namespace {

/// Gives the first operand, or zeros.
KernelCalls copy_or_zeros(const LocalSite& site, bool copies) {
  const Bytes size = site.result().size();
  if (size == Bytes())
    return {};
  if (!copies)
    return {zero_call(site.result_at(), size)};
  if (site.operand_at(0) == site.result_at())
    return {};
  return {copy_call(site.result_at(), site.operand_at(0), size)};
}

}  // namespace

/// Gives the first operand if it has the result's type; else zeros.
KernelCalls stand_in_calls(const LocalSite& site) {
  if (site.op.results.empty())
    return {};
  return copy_or_zeros(site, !site.op.operands.empty() &&
                                 site.operand(0).dtype == site.result().dtype &&
                                 site.operand(0).shape == site.result().shape);
}

KernelCalls held_or_zeros_calls(const LocalSite& site) {
  const std::vector<int64_t>& devices = site.op.attributes.integers("devices");
  return copy_or_zeros(
      site, std::binary_search(devices.begin(), devices.end(), int64_t{site.device.index()}));
}

}  // namespace orrery::cuda
