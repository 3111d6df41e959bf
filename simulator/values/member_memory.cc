#include "simulator/values/member_memory.h"

#include <cstring>
#include <utility>

#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

enum class Direction : uint8_t { ToCanonical, FromCanonical };

/// Moves all elements of `view` between a tensor's order and the canonical one.
void rearrange(const View& view, Direction direction, const Tensor& from, Tensor& to) {
  const int64_t item = itemsize(from.dtype()).count();
  const std::byte* source = from.bytes().data();
  std::byte* target = to.bytes().data();
  view.for_each_run(0, view.elements(), [&](int64_t canonical, int64_t place, int64_t count) {
    const bool gather = direction == Direction::ToCanonical;
    std::memcpy(target + (gather ? canonical : place) * item,
                source + (gather ? place : canonical) * item, static_cast<size_t>(count * item));
  });
}

}  // namespace

MemberMemory::MemberMemory(const Collective& collective, const Tensor& operand, Shape result)
    : collective_(collective), result_(std::move(result)), itemsize_(itemsize(collective.dtype)) {
  const Extent& extent = collective.schedule->extent();
  ORRERY_CHECK(collective.input.elements() == extent.input && operand.elements() == extent.input &&
                   result_.elements() == (extent.in_place ? extent.input : extent.output),
               "a schedule's areas are as large as its operand and result");
  if (operand.dtype() != collective.dtype)
    input_ = convert(operand, collective.dtype);
  if (!collective.input.contiguous()) {
    Tensor canonical(collective.dtype, Shape{extent.input});
    rearrange(collective.input, Direction::ToCanonical, input_ ? *input_ : operand, canonical);
    input_ = std::move(canonical);
  }
  if (!input_)
    borrowed_ = &operand;
  if (!extent.in_place)
    output_ =
        Tensor(collective.dtype, collective.output.contiguous() ? result_ : Shape{extent.output});
  scratch_.resize(static_cast<size_t>((itemsize_ * extent.scratch).count()));
}

Area MemberMemory::place(const Slice& slice) const {
  const Extent& extent = collective_.schedule->extent();
  const Area area = slice.area == Area::Output && extent.in_place ? Area::Input : slice.area;
  const int64_t size = area == Area::Input    ? extent.input
                       : area == Area::Output ? extent.output
                                              : extent.scratch;
  ORRERY_CHECK(slice.first >= 0 && slice.count >= 0 && slice.first <= size - slice.count,
               "a schedule's slices lie in its areas");
  return area;
}

const std::byte* MemberMemory::read(const Slice& slice) const {
  const int64_t offset = (itemsize_ * slice.first).count();
  switch (place(slice)) {
    case Area::Input:
      return (input_ ? *input_ : *borrowed_).bytes().data() + offset;
    case Area::Output:
      return output_.bytes().data() + offset;
    case Area::Scratch:
      break;
  }
  return scratch_.data() + offset;
}

std::byte* MemberMemory::write(const Slice& slice) {
  const int64_t offset = (itemsize_ * slice.first).count();
  switch (place(slice)) {
    case Area::Input:
      own_input();
      return input_->bytes().data() + offset;
    case Area::Output:
      return output_.bytes().data() + offset;
    case Area::Scratch:
      break;
  }
  return scratch_.data() + offset;
}

void MemberMemory::own_input() {
  if (!input_)
    input_ = *borrowed_;
}

Tensor MemberMemory::take_result() && {
  if (collective_.schedule->extent().in_place) {
    own_input();
    output_ = input_->reshaped(result_);
  }
  if (collective_.output.contiguous())
    return std::move(output_);
  Tensor result(collective_.dtype, result_);
  rearrange(collective_.output, Direction::FromCanonical, output_, result);
  return result;
}

}  // namespace orrery
