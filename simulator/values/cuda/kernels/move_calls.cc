#include "simulator/values/cuda/kernels/move_calls.h"

#include <algorithm>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "simulator/values/cuda/kernels/boxes.h"
#include "simulator/values/cuda/kernels/fill.h"
#include "simulator/values/cuda/kernels/move.h"

namespace orrery::cuda {

namespace {

constexpr int64_t kWidest = kPackSize<uint8_t>;

}  // namespace

Packing packing_of(std::span<const DevicePointer> addresses, PackSize size, int64_t elements) {
  const auto beyond = static_cast<int64_t>(addresses.front()) % size.pack;
  const int64_t gap = (size.pack - beyond) % size.pack;  // to the first pack
  const int64_t each = size.pack / size.element;
  const bool alike = std::all_of(addresses.begin(), addresses.end(), [&](DevicePointer address) {
    return static_cast<int64_t>(address) % size.pack == beyond;
  });
  if (!alike || gap % size.element != 0 || elements < gap / size.element)
    return {0, 0, elements};
  const int64_t head = gap / size.element;
  const int64_t packs = (elements - head) / each;
  return {head, packs, elements - packs * (each - 1)};
}

Packing packing_of(std::span<const DevicePointer> addresses, Dtype dtype, int64_t elements) {
  return dispatch(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    return packing_of(addresses, PackSize{int64_t{sizeof(E)}, kPackSize<E>}, elements);
  });
}

KernelCall zero_call(DevicePointer to, Bytes size) {
  return fill_call(to, size, std::array{std::byte{0}});
}

KernelCall copy_call(DevicePointer to, DevicePointer from, Bytes size) {
  CopyArgs args{};
  args.to = to;
  args.from = from;
  args.word = 8;
  while ((to | from | static_cast<uint64_t>(size.count())) % static_cast<uint64_t>(args.word) != 0)
    args.word /= 2;
  if ((to ^ from) % kWidest == 0)
    args.word = 1;  // packs, and a few bytes around them
  args.packing =
      packing_of(std::array{to, from}, PackSize{args.word, kWidest}, size.count() / args.word);
  return call_of({KernelFamily::Copy}, args, args.packing.items);
}

KernelCall fill_call(DevicePointer to, Bytes size, std::span<const std::byte> element) {
  FillArgs args{};
  args.to = to;
  args.packing = packing_of(std::array{to}, PackSize{1, kWidest}, size.count());
  for (int64_t k = 0; k < kWidest; ++k) {
    const auto offset = static_cast<size_t>(args.packing.head + k);  // from the first element
    args.pattern[k] = std::to_integer<uint8_t>(element[offset % element.size()]);
  }
  return call_of({KernelFamily::Fill}, args, args.packing.items);
}

namespace {

/// Makes one of each two neighbours, if that keeps all words whole.
bool pair_up(MoveArgs& args, std::span<int64_t* const> strides) {
  Box& box = args.box;
  const int last = box.rank - 1;
  if (last < 0 || box.from[last] != 1 || box.to[last] != 1 || box.dims[last] % 2 != 0)
    return false;
  std::vector<int64_t*> all(strides.begin(), strides.end());
  for (int d = 0; d < last; ++d) {
    all.push_back(&box.from[d]);
    all.push_back(&box.to[d]);
  }
  if (std::any_of(all.begin(), all.end(), [](const int64_t* stride) { return *stride % 2 != 0; }))
    return false;
  for (int64_t* stride : all)
    *stride /= 2;
  box.dims[last] /= 2;
  box.items /= 2;
  return true;
}

}  // namespace

void widen(MoveArgs& args, std::span<int64_t* const> strides) {
  while (args.word < kWidest && (args.to | args.from) % static_cast<uint64_t>(2 * args.word) == 0 &&
         pair_up(args, strides))
    args.word *= 2;
}

std::vector<KernelCall> move_calls(const Movement& where, int64_t itemsize, const Box& box) {
  if (box.items == 0)
    return {};
  if (in_order(box)) {
    if (where.to == where.from)
      return {};
    return {copy_call(where.to, where.from, Bytes(box.items * itemsize))};
  }
  MoveArgs args{};
  args.to = where.to;
  args.from = where.from;
  args.word = itemsize;
  args.box = box;
  widen(args, {});
  return {call_of({KernelFamily::Move}, args, args.box.items)};
}

}  // namespace orrery::cuda
