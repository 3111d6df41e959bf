// Compares the kernel calls of collectives with the host executor's memory of a member, bit for
// bit.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/member_memory.h"
#include "tests/models/array/tensors.h"
#include "tests/simulator/values/cuda/host_memory.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Returns bytes as a tensor, to compare them.
Tensor bytes_of(const std::byte* from, Bytes size) {
  Tensor bytes(Dtype::U8, Shape({size.count()}));
  std::copy(from, from + size.count(), bytes.bytes().begin());
  return bytes;
}

/// Returns held elements of any bits, with ranks.
Tensor held_elements(const Folding& folding, int64_t elements, Random& random) {
  const int64_t item = itemsize(folding.held).count();
  Tensor bytes(Dtype::U8, Shape({elements * item}));
  const Tensor values = random_bits(folding.held.dtype, Shape({elements}), random);
  const int64_t value = itemsize(folding.held.dtype).count();
  for (int64_t i = 0; i < elements; ++i) {
    std::copy_n(values.bytes().begin() + i * value, value, bytes.bytes().begin() + i * item);
    for (int64_t k = value; k < item; k += value == item ? 1 : 4)
      bytes.bytes()[static_cast<size_t>(i * item + k)] = static_cast<std::byte>(random.below(5));
    for (int64_t k = value + 1; k < item; ++k)
      bytes.bytes()[static_cast<size_t>(i * item + k)] = std::byte{0};
  }
  return bytes;
}

void check_combine(const Folding& folding, Combine combine, Random& random) {
  const int64_t count = random.between(1, 70);
  const Bytes size = itemsize(folding.held) * count;
  const Tensor left = held_elements(folding, count, random);
  const Tensor right = held_elements(folding, count, random);
  Tensor expected(Dtype::U8, left.shape());
  combine_into(folding, combine, expected.bytes().data(), left.bytes().data(), right.bytes().data(),
               count);
  HostMemory memory(random);
  const int64_t item = itemsize(folding.held.dtype).count();
  const auto placed = [&](const Tensor& tensor) {
    const cuda::DevicePointer place = memory.place(size.count(), item);
    std::copy(tensor.bytes().begin(), tensor.bytes().end(), cuda::at<std::byte>(place));
    return place;
  };
  const cuda::DevicePointer a = placed(left);
  const cuda::DevicePointer b = placed(right);
  const cuda::DevicePointer targets[] = {a, b, memory.place(size.count(), item)};
  const cuda::DevicePointer target = targets[random.below(3)];
  carry_out({cuda::combine_call(folding, combine, {target, a, b}, count)}, random);
  CHECK(identical(memory.read(target, Dtype::U8, left.shape()), expected));
  CHECK(memory.margins_kept());
}

TEST_CASE("combine kernels: every dtype, combine and numerics, also with ranks and in place") {
  Random random(3);
  for (const Dtype dtype : all_dtypes())
    for (const Combine combine : {Combine::Add, Combine::Max, Combine::Min})
      for (const Numerics numerics : {Numerics::Ieee, Numerics::XlaCpu})
        for (const bool ranked : {false, true}) {
          const bool ordered = combine != Combine::Add;
          if ((ordered && is_complex(dtype)) || (!ordered && (ranked || dtype == Dtype::Pred)))
            continue;
          CAPTURE(name(dtype));
          for (uint64_t repeat = 0; repeat < tries(12); ++repeat)
            check_combine(folding({dtype, ranked}, combine, numerics), combine, random);
        }
}

struct Case {
  std::string op;
  Shape shape;
  std::vector<std::pair<std::string, Attribute>> attributes;
};

/// Returns cases over 3 ranks.
std::vector<Case> cases() {
  using Attributes = std::vector<std::pair<std::string, Attribute>>;
  const Attributes over = {{"axis_name", Names{"x"}}};
  const auto with = [&](Attributes more) {
    more.insert(more.begin(), over.begin(), over.end());
    return more;
  };
  return {
      {"psum", {5, 7}, over},
      {"pmean", {5, 7}, over},
      {"pmax", {33}, over},
      {"pmin", {}, over},
      {"pargmax", {13}, over},
      {"pargmin", {2, 5}, over},
      {"all_gather", {4, 5}, with({{"axis", 1}, {"tiled", true}})},
      {"all_gather", {4, 3, 8}, with({{"axis", 2}, {"tiled", false}})},
      {"psum_scatter", {2, 9, 4}, with({{"scatter_dimension", 1}, {"tiled", true}})},
      {"all_to_all", {6, 2, 4}, with({{"split_axis", 0}, {"concat_axis", 1}, {"tiled", true}})},
      {"all_to_all", {4, 3, 2}, with({{"split_axis", 1}, {"concat_axis", 2}, {"tiled", false}})},
      {"ppermute", {3, 3}, with({{"perm", Lists{{0, 1}, {1, 2}}}})},
      {"psum", {0, 3}, over}};
}

bool refused(const std::string& op, Dtype dtype) {
  const OpKind kind = op_named(op)->kind;
  const Combine combine = rules(kind).form.combine;
  return (is_complex(dtype) && (combine == Combine::Max || combine == Combine::Min)) ||
         (dtype == Dtype::Pred && kind == OpKind::PsumScatter);
}

/// Compares the ends of one member of a collective, by kernels and by MemberMemory.
void check_ends(const HostRig& rig, const Collective& collective, Node node, const Tensor& operand,
                Random& random) {
  const Op& op = rig.program.ops.front();
  const ValueType& result = rig.program.value(op.results.front()).type;
  const Folding folding = op_folding(rig.program, op, collective.work);
  const Extent& extent = collective.schedule->extent();
  const Bytes item = itemsize(folding.held);
  const int64_t held_item = itemsize(folding.held.dtype).count();
  const Tensor* const parts[] = {&operand};
  MemberMemory expected(collective, folding, node, ExchangedOperand(parts), result);

  HostMemory memory(random);
  const Bytes input = item * extent.input;
  const cuda::DevicePointer area = memory.place(input.count(), held_item);
  carry_out(cuda::entering_calls(collective, folding, operand.dtype(), Rank(node.index()),
                                 {area, memory.place(operand)}),
            random);
  if (extent.input > 0) {
    const std::byte* const entered = expected.read({Area::Input, 0, extent.input});
    CHECK(
        identical(memory.read(area, Dtype::U8, Shape({input.count()})), bytes_of(entered, input)));
  }

  const Tensor steps = held_elements(folding, extent.result(), random);
  if (extent.result() > 0)
    std::copy(steps.bytes().begin(), steps.bytes().end(),
              expected.write({extent.in_place ? Area::Input : Area::Output, 0, extent.result()}));
  const cuda::DevicePointer made = memory.place(steps.size().count(), held_item);
  std::copy(steps.bytes().begin(), steps.bytes().end(), cuda::at<std::byte>(made));
  const bool in_one =
      collective.output.contiguous() && item == itemsize(result.dtype) && random.below(2) == 0;
  const cuda::DevicePointer to =
      in_one ? made : memory.place(result.size().count(), itemsize(result.dtype).count());
  carry_out(cuda::leaving_calls(collective, folding, result, {to, made}), random);
  CHECK(identical(memory.read(to, result.dtype, result.shape), std::move(expected).take_result()));
  CHECK(memory.margins_kept());
}

TEST_CASE("kernels of the ends of collectives: every dtype and numerics") {
  Random random(5);
  for (const Case& made : cases())
    for (const Dtype dtype : all_dtypes())
      for (const Numerics numerics : {Numerics::Ieee, Numerics::XlaCpu}) {
        if (refused(made.op, dtype))
          continue;
        HostRig rig({{"x", 3}});
        std::vector<Tensor> operands;
        for (int d = 0; d < 3; ++d)
          operands.push_back(random_bits(dtype, made.shape, random));
        rig.argument("a", operands);
        rig.op(made.op, "r", {"a"}, made.attributes);
        rig.lower();
        rig.program.numerics = numerics;
        CAPTURE(made.op);
        CAPTURE(name(dtype));
        for (const Collective& collective : rig.lowered.collectives)
          for (uint32_t n = 0; n < collective.members.size(); ++n)
            check_ends(rig, collective, Node(n), operands[collective.members[n].index()], random);
      }
}

TEST_CASE("copy and zero: of any bytes, anywhere") {
  Random random(11);
  for (uint64_t repeat = 0; repeat < tries(200); ++repeat) {
    const int64_t size = random.between(1, 100);
    const Tensor data = random_bits(Dtype::U8, Shape({size}), random);
    HostMemory memory(random);
    const cuda::DevicePointer from = memory.place(data);
    const cuda::DevicePointer to = memory.place(size, random.between(1, 8));
    carry_out({cuda::copy_call(to, from, Bytes(size))}, random);
    CHECK(identical(memory.read(to, Dtype::U8, data.shape()), data));
    carry_out({cuda::zero_call(to, Bytes(size))}, random);
    CHECK(identical(memory.read(to, Dtype::U8, data.shape()), Tensor(Dtype::U8, data.shape())));
    CHECK(memory.margins_kept());
  }
}

}  // namespace
}  // namespace orrery::test
