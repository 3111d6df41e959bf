#include <variant>

#include "models/array/kernels.h"
#include "models/program/local_parameters.h"
#include "models/program/rules.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/kernels/elementwise.h"
#include "simulator/values/cuda/kernels/local_site.h"

namespace orrery::cuda {

namespace {

Operand operand_of(const LocalSite& site, size_t i) {
  return {site.operand_at(i), site.operand(i).shape.rank() == 0 ? 0 : 1};
}

KernelCalls unary_calls(const LocalSite& site, Unary op, Flush flush) {
  UnaryArgs args{};
  args.to = site.result_at();
  args.operand = {site.operand_at(0), 1};
  args.to_step = 1;
  args.items = site.result().shape.elements();
  args.dtype = site.result().dtype;
  args.op = op;
  args.flush = op == Unary::Neg ? Flush::No : flush;
  return {call_of({KernelFamily::Unary}, args, args.items)};
}

KernelCalls binary_calls(const LocalSite& site, Binary op) {
  BinaryArgs args{};
  args.to = site.result_at();
  args.left = operand_of(site, 0);
  args.right = operand_of(site, 1);
  args.items = site.result().shape.elements();
  args.op = op;
  args.numerics = site.program.numerics;
  return {call_of({KernelFamily::Binary, site.result().dtype}, args, args.items)};
}

KernelCalls compare_calls(const LocalSite& site, Comparison op, Flush flush) {
  CompareArgs args{};
  args.to = site.result_at();
  args.left = operand_of(site, 0);
  args.right = operand_of(site, 1);
  args.items = site.result().shape.elements();
  args.dtype = site.operand(0).dtype;
  args.op = op;
  args.flush = flush;
  return {call_of({KernelFamily::Compare}, args, args.items)};
}

template <int kMost>
KernelCall select_call(const LocalSite& site, KernelFamily family, int64_t first_case) {
  SelectArgs<kMost> args{};
  args.to = site.result_at();
  args.which = operand_of(site, 0);
  args.which_dtype = site.operand(0).dtype;
  args.items = site.result().shape.elements();
  args.word = itemsize(site.result().dtype).count();
  args.all_cases = static_cast<int64_t>(site.op.operands.size()) - 1;
  args.first_case = first_case;
  args.cases = std::min(int64_t{kMost}, args.all_cases - first_case);
  for (int64_t k = 0; k < args.cases; ++k) {
    const auto operand = static_cast<size_t>(1 + first_case + k);
    args.of_case[k] = site.operand_at(operand);
    args.is_scalar[k] = site.operand(operand).shape.rank() == 0 ? 1 : 0;
  }
  return call_of({family}, args, args.items);
}

DevicePointer after(DevicePointer first, Bytes size) {
  return first + static_cast<uint64_t>(size.count());
}

}  // namespace

KernelCalls elementwise_calls(const LocalSite& site) {
  if (site.result().shape.elements() == 0)
    return {};
  const Elementwise op = rules(site.op.kind).elementwise.value();
  const Flush flush = site.program.numerics == Numerics::XlaCpu ? Flush::Yes : Flush::No;
  if (const auto* unary = std::get_if<Unary>(&op))
    return unary_calls(site, *unary, flush);
  if (const auto* binary = std::get_if<Binary>(&op))
    return binary_calls(site, *binary);
  return compare_calls(site, std::get<Comparison>(op), flush);
}

KernelCalls select_calls(const LocalSite& site) {
  if (site.result().shape.elements() == 0)
    return {};
  const auto cases = static_cast<int64_t>(site.op.operands.size()) - 1;
  if (cases <= kFewCases)
    return {select_call<kFewCases>(site, KernelFamily::Select, 0)};
  static_assert(kManyCases >= kMostCasesInOnePass);
  KernelCalls calls;
  for (int64_t first = 0; first < cases; first += kManyCases)
    calls.push_back(select_call<kManyCases>(site, KernelFamily::SelectMany, first));
  return calls;
}

namespace {

KernelCalls conversion(const LocalSite& site, Then then) {
  const int64_t elements = site.result().shape.elements();
  if (elements == 0)
    return {};
  ConvertArgs args{};
  args.to = site.result_at();
  args.from = site.operand_at(0);
  args.box = row_of_items(elements, 1, 1);
  args.to_dtype = site.result().dtype;
  args.from_dtype = site.operand(0).dtype;
  args.then = then;
  return {call_of({KernelFamily::Convert}, args, elements)};
}

}  // namespace

KernelCalls convert_calls(const LocalSite& site) {
  const Dtype from = site.operand(0).dtype;
  const Dtype to = site.result().dtype;
  if (from == to)
    return copies_of_operands(site);
  const bool flushes = site.program.numerics == Numerics::XlaCpu && conversion_flushes(from, to);
  return conversion(site, flushes ? Then::Flush : Then::Nothing);
}

KernelCalls part_of_complex_calls(const LocalSite& site, size_t part) {
  const int64_t size = itemsize(site.result().dtype).count();
  return move_calls({site.result_at(), after(site.operand_at(0), Bytes(size) * int64_t(part))},
                    size, row_of_items(site.result().shape.elements(), 2, 1));
}

KernelCalls conj_calls(const LocalSite& site) {
  const Dtype dtype = site.result().dtype;
  if (site.operand(0).dtype != dtype)  // a float, whose imaginary part is +0
    return conversion(site, Then::Nothing);
  const int64_t elements = site.result().shape.elements();
  const Bytes size = itemsize(part_dtype(dtype));
  KernelCalls calls;
  if (elements == 0)
    return calls;
  if (site.result_at() != site.operand_at(0))
    calls = move_calls({site.result_at(), site.operand_at(0)}, size.count(),
                       row_of_items(elements, 2, 2));
  UnaryArgs args{};
  args.to = after(site.result_at(), size);
  args.operand = {after(site.operand_at(0), size), 2};
  args.to_step = 2;
  args.items = elements;
  args.dtype = part_dtype(dtype);
  args.op = Unary::Neg;
  calls.push_back(call_of({KernelFamily::Unary}, args, elements));
  return calls;
}

KernelCalls complex_calls(const LocalSite& site) {
  const int64_t elements = site.result().shape.elements();
  const Bytes size = itemsize(site.operand(0).dtype);
  KernelCalls calls;
  for (size_t part = 0; part < 2; ++part) {
    const Operand operand = operand_of(site, part);
    for (KernelCall& call :
         move_calls({after(site.result_at(), size * int64_t(part)), operand.first}, size.count(),
                    row_of_items(elements, operand.step, 2)))
      calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace orrery::cuda
