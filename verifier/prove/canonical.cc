#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "models/base/quantity.h"
#include "verifier/prove/prove.h"

namespace orrery {

namespace {

/// Returns a canonical element as digits, row-major over the dims of its view. The first digit has
/// no limit.
std::vector<int64_t> digits(const View& view, int64_t number) {
  std::vector<int64_t> digits(view.dims.size(), 0);
  for (size_t d = view.dims.size(); d-- > 1;) {
    digits[d] = number % view.dims[d];
    number /= view.dims[d];
  }
  if (!digits.empty())
    digits[0] = number;
  return digits;
}

int64_t offset(const View& view, const std::vector<int64_t>& digits) {
  int64_t offset = 0;
  for (size_t d = 0; d < digits.size(); ++d)
    offset += digits[d] * view.strides[d];
  return offset;
}

/// This is one side of a part: its first offset, and its stride along each dimension.
struct EndOfMove {
  int64_t Part::*first;
  int64_t PartDim::*stride;
};
constexpr EndOfMove kResult{&Part::first, &PartDim::result};
constexpr EndOfMove kOperand{&Part::source, &PartDim::operand};

/// Keeps the first `count` steps along dimension `d` in `part`, and returns the others.
Part cut(Part& part, size_t d, int64_t count) {
  Part rest = part;
  rest.dims[d].count -= count;
  rest.first += count * rest.dims[d].result;
  rest.source += count * rest.dims[d].operand;
  part.dims[d].count = count;
  return rest;
}

/// This is a part, with the offsets of one side as digits.
struct InDigits {
  InDigits(const Part& part, const View& view, EndOfMove side)
      : first(digits(view, part.*side.first)) {
    for (const PartDim& dim : part.dims)
      strides.push_back(digits(view, dim.*side.stride));
  }

  std::vector<int64_t> first;
  std::vector<std::vector<int64_t>> strides;  // by dimension
};

/// Says where to split a part so that a digit no longer carries into the next: a dimension, and
/// after how many of its steps. first_carry() returns nothing if no digit carries.
struct Cut {
  size_t dimension;
  int64_t count;
};
std::optional<Cut> first_carry(const Part& part, const InDigits& in, const View& view) {
  for (size_t digit = 1; digit < in.first.size(); ++digit) {
    int64_t last = in.first[digit];
    size_t most = 0;  // the dimension that adds most to the digit
    int64_t added = 0;
    for (size_t d = 0; d < part.dims.size(); ++d) {
      const int64_t adds = (part.dims[d].count - 1) * in.strides[d][digit];
      last += adds;
      if (adds > added) {
        most = d;
        added = adds;
      }
    }
    if (last < view.dims[digit])
      continue;
    const int64_t fits = ceil_divide(view.dims[digit] - in.first[digit], in.strides[most][digit]);
    return Cut{most, std::clamp<int64_t>(fits, 1, part.dims[most].count - 1)};
  }
  return std::nullopt;
}

/// Visits the part with one side moved through the view. Strides remain strides as long as no digit
/// carries. Where one would carry, the part is split. Returns whether all visits returned true.
bool move_side(const Part& part, const View& view, EndOfMove side,
               FunctionRef<bool(const Part&)> visit) {
  if (view.contiguous())
    return visit(part);
  std::vector<Part> open{part};
  while (!open.empty()) {
    Part next = std::move(open.back());
    open.pop_back();
    const InDigits in(next, view, side);
    if (const auto carry = first_carry(next, in, view)) {
      open.push_back(cut(next, carry->dimension, carry->count));
      open.push_back(std::move(next));
      continue;
    }
    next.*side.first = offset(view, in.first);
    for (size_t d = 0; d < next.dims.size(); ++d)
      next.dims[d].*side.stride = offset(view, in.strides[d]);
    if (!visit(next))
      return false;
  }
  return true;
}

}  // namespace

std::optional<View> inverse(const View& view) {
  std::vector<size_t> order(view.dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return view.strides[a] > view.strides[b]; });
  std::vector<int64_t> canonical(view.dims.size(), 1);
  for (size_t d = view.dims.size(); d-- > 1;)
    canonical[d - 1] = canonical[d] * view.dims[d];
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  int64_t rest = view.elements();
  if (rest == 0)
    return View::whole(0);
  for (const size_t d : order) {
    if (view.dims[d] == 1)
      continue;
    if (rest != view.strides[d] * view.dims[d])
      return std::nullopt;
    rest = view.strides[d];
    dims.push_back(view.dims[d]);
    strides.push_back(canonical[d]);
  }
  return View{std::move(dims), std::move(strides)};
}

void for_each_moved(const Part& part, const View& result, const View& operand,
                    FunctionRef<bool(const Part&)> visit) {
  if (result.contiguous() && operand.contiguous()) {
    visit(part);
    return;
  }
  const auto joined_visit = [&](const Part& moved) {
    Part simplest = moved;
    simplest.dims = joined(std::move(simplest.dims));
    return visit(simplest);
  };
  move_side(part, result, kResult, [&](const Part& moved) {
    return moved.ranks == 0 ? joined_visit(moved)
                            : move_side(moved, operand, kOperand, joined_visit);
  });
}

}  // namespace orrery
