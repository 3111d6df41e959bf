#include <array>

#include "models/base/check.h"
#include "models/program/rules.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/kernels/elementwise.h"
#include "simulator/values/cuda/kernels/fold.h"

namespace orrery::cuda {

namespace {

const CollectiveForm& form_of(const Collective& collective) {
  return rules(collective.kind).form;
}

/// Returns whether the rank's elements begin a fold of XLA on the CPU; a sum begins on rank 0.
bool starts(const Folding& folding, Rank rank) {
  return folding.numerics == Numerics::XlaCpu && is_inexact(folding.held.dtype) &&
         (folding.combine != Combine::Add || rank == Rank(0));
}

std::vector<KernelCall> called(KernelCall call) {
  if (call.items == 0)
    return {};
  return {std::move(call)};
}

}  // namespace

KernelCall combine_call(const Folding& folding, Combine combine, const CombinePlaces& fold,
                        int64_t count) {
  const Dtype dtype = folding.held.dtype;
  if (folding.held.ranked) {
    ORRERY_CHECK(combine == Combine::Max || combine == Combine::Min,
                 "ranked elements have an order and no sum");
    const CombineRankedArgs args{fold.target, fold.left, fold.right,      count,
                                 dtype,       combine,   folding.numerics};
    return call_of({KernelFamily::CombineRanked}, args, count);
  }
  const Packing packing = packing_of(std::array{fold.target, fold.left, fold.right}, dtype, count);
  const CombineArgs args{fold.target, fold.left, fold.right, packing, combine, folding.numerics};
  return call_of({KernelFamily::Combine, dtype}, args, packing.items);
}

std::vector<KernelCall> entering_calls(const Collective& collective, const Folding& folding,
                                       Dtype operand_dtype, Rank rank, const Movement& where) {
  const Box box = into_canonical(collective.input);
  if (form_of(collective).entering == Entering::Ranked) {
    RankArgs args{};
    args.to = where.to;
    args.from = where.from;
    args.box = box;
    args.rank = static_cast<int32_t>(rank.index());
    args.dtype = operand_dtype;
    args.combine = folding.combine;
    args.numerics = folding.numerics;
    return called(call_of({KernelFamily::Rank}, args, box.items));
  }
  const bool starts_fold = starts(folding, rank);
  if (operand_dtype == folding.held.dtype && !starts_fold)
    return move_calls(where, itemsize(operand_dtype).count(), box);
  ConvertArgs args{};
  args.to = where.to;
  args.from = where.from;
  args.box = box;
  args.to_dtype = folding.held.dtype;
  args.from_dtype = operand_dtype;
  args.then = starts_fold ? Then::Start : Then::Nothing;
  args.combine = folding.combine;
  return called(call_of({KernelFamily::Convert}, args, box.items));
}

std::vector<KernelCall> leaving_calls(const Collective& collective, const Folding& folding,
                                      const ValueType& result, const Movement& where) {
  const Box box = out_of_canonical(collective.output);
  const Leaving leaving = form_of(collective).leaving;
  if (leaving == Leaving::ItsRank) {
    ItsRankArgs args{};
    args.to = where.to;
    args.from = where.from;
    args.box = box;
    args.ranked_size = itemsize(folding.held).count();
    return called(call_of({KernelFamily::ItsRank}, args, box.items));
  }
  const auto ranks = static_cast<int64_t>(collective.members.size());
  const bool divides =
      leaving == Leaving::Mean && (ranks > 1 || folding.numerics != Numerics::Ieee);
  if (result.dtype == folding.held.dtype && !divides)
    return move_calls(where, itemsize(result.dtype).count(), box);
  ConvertArgs args{};
  args.to = where.to;
  args.from = where.from;
  args.box = box;
  args.to_dtype = result.dtype;
  args.from_dtype = folding.held.dtype;
  args.then = divides ? Then::Mean : Then::Nothing;
  args.numerics = folding.numerics;
  args.ranks = ranks;
  return called(call_of({KernelFamily::Convert}, args, box.items));
}

}  // namespace orrery::cuda
