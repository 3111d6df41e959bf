#include "simulator/values/member_memory.h"

#include <cstring>
#include <utility>

#include "models/base/check.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

enum class Direction : uint8_t { ToCanonical, FromCanonical };

/// Copies all elements of `view` from `from`, between the tensor's order and the canonical order.
Storage rearranged(const View& view, Direction direction, Bytes itemsize, const std::byte* from) {
  const int64_t item = itemsize.count();
  Storage to(static_cast<size_t>(view.elements() * item));
  view.for_each_run(0, view.elements(), [&](int64_t canonical, int64_t offset, int64_t count) {
    const bool gather = direction == Direction::ToCanonical;
    std::memcpy(to.data() + (gather ? canonical : offset) * item,
                from + (gather ? offset : canonical) * item, static_cast<size_t>(count * item));
  });
  return to;
}

const CollectiveForm& form_of(const Collective& collective) {
  return rules(collective.kind).form;
}

}  // namespace

MemberMemory::MemberMemory(const Collective& collective, const Folding& folding, Node node,
                           std::optional<ExchangedOperand> given, std::optional<ValueType> result)
    : collective_(collective),
      extent_(collective.schedule->extent()),
      folding_(folding),
      node_(node),
      result_(std::move(result)),
      itemsize_(itemsize(folding.held)) {
  const Tensor* const operand = given ? &given->tensor() : nullptr;
  ORRERY_CHECK(collective.input.elements() == extent_.input &&
                   (operand == nullptr || operand->elements() == extent_.input) &&
                   (!result_ || result_->shape.elements() == extent_.result()),
               "a schedule's areas are as large as its operand and result");
  const Dtype moved = collective.work.dtype;  // of what a member does not give or take
  const EndCopies copies = end_copies(
      collective.kind, {collective.work, operand == nullptr ? moved : operand->dtype(),
                        result_ ? result_->dtype : moved, collective.input, collective.output});
  if (given)
    take_operand(std::move(*given), copies);
  reorders_result_ = copies.reorders_result;
  // New memory is zeros, whatever the schedule. Provenance judges whether an element that no step
  // writes may be read (Extent::zero_output).
  if (!extent_.in_place && result_)
    output_ = Storage(static_cast<size_t>((itemsize_ * extent_.output).count()));
  scratch_ = Storage(static_cast<size_t>((itemsize_ * extent_.scratch).count()));
}

void MemberMemory::take_operand(ExchangedOperand given, const EndCopies& copies) {
  const Tensor& operand = given.tensor();
  const bool converts = copies.converts_operand || folding_.numerics == Numerics::XlaCpu;
  if (converts)
    input_ = enter(form_of(collective_).entering, folding_, operand, Rank(node_.index()));
  if (copies.reorders_operand)
    input_ = rearranged(collective_.input, Direction::ToCanonical, itemsize_,
                        input_ ? input_->data() : operand.bytes().data());
  if (!input_)
    operand_ = std::move(given);
}

MemberMemory::MemberMemory(const Collective& collective, const Folding& folding, Node node)
    : collective_(collective),
      extent_(collective.schedule->extent()),
      folding_(folding),
      node_(node),
      itemsize_(itemsize(folding.held)) {
  const int64_t elements = extent_.size(node, Area::Scratch);
  scratch_ = Storage(static_cast<size_t>((itemsize_ * elements).count()));
}

Area MemberMemory::area_of(const Slice& slice) const {
  ORRERY_CHECK(slice.first >= 0 && slice.count >= 0 &&
                   slice.first <= extent_.size(node_, slice.area) - slice.count,
               "a schedule's slices lie in its areas");
  ORRERY_CHECK(extent_.area(slice.area) != Area::Input || input_ || operand_,
               "a member that gives no operand reads none");
  ORRERY_CHECK(extent_.area(slice.area) != Area::Output || result_,
               "a member that takes no result gets none");
  return extent_.area(slice.area);
}

const std::byte* MemberMemory::read(const Slice& slice) const {
  const int64_t offset = (itemsize_ * slice.first).count();
  switch (area_of(slice)) {
    case Area::Input:
      return (input_ ? input_->data() : operand_->tensor().bytes().data()) + offset;
    case Area::Output:
      return output_.data() + offset;
    case Area::Scratch:
      break;
  }
  return scratch_.data() + offset;
}

std::byte* MemberMemory::write(const Slice& slice) {
  const int64_t offset = (itemsize_ * slice.first).count();
  switch (area_of(slice)) {
    case Area::Input:
      own_input();
      return input_->data() + offset;
    case Area::Output:
      return output_.data() + offset;
    case Area::Scratch:
      break;
  }
  return scratch_.data() + offset;
}

void MemberMemory::own_input() {
  if (!input_)
    input_ = Tensor(operand_->tensor()).take_bytes();
}

Tensor MemberMemory::take_result() && {
  if (extent_.in_place) {
    own_input();
    output_ = std::move(*input_);
  }
  if (reorders_result_)
    output_ = rearranged(collective_.output, Direction::FromCanonical, itemsize_, output_.data());
  return leave(form_of(collective_).leaving, folding_, std::move(output_), result_->dtype,
               std::move(result_->shape), static_cast<int64_t>(collective_.members.size()));
}

}  // namespace orrery
