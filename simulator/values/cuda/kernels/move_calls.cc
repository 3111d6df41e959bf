#include <algorithm>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/base/check.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/kernels/move.h"

namespace orrery::cuda {

std::vector<int64_t> row_major(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= dims[d])
    strides[d] = stride;
  return strides;
}

Box box_of(const BoxDims& given) {
  Box box{};
  box.items = 1;
  if (std::find(given.dims.begin(), given.dims.end(), 0) != given.dims.end()) {
    box.items = 0;
    return box;
  }
  for (size_t d = 0; d < given.dims.size(); ++d) {
    const int64_t dim = given.dims[d];
    box.items *= dim;
    if (dim == 1)
      continue;
    const int before = box.rank - 1;
    if (before >= 0 && box.from[before] == given.from[d] * dim &&
        box.to[before] == given.to[d] * dim) {
      box.dims[before] *= dim;
      box.from[before] = given.from[d];
      box.to[before] = given.to[d];
      continue;
    }
    ORRERY_CHECK(box.rank < kMostBoxDims, "no memory has 2^40 elements");
    box.dims[box.rank] = dim;
    box.from[box.rank] = given.from[d];
    box.to[box.rank] = given.to[d];
    ++box.rank;
  }
  return box;
}

Box box_of(const StridedMove& placement) {
  return box_of({placement.box.dims(), placement.from.strides, placement.to.strides});
}

Box row_of_items(int64_t items, int64_t from_step, int64_t to_step) {
  const int64_t dims[] = {items};
  const int64_t from[] = {from_step};
  const int64_t to[] = {to_step};
  return box_of({dims, from, to});
}

namespace {

std::vector<int64_t> listed(const SharedList<int64_t>& list) {
  return {list.begin(), list.end()};
}

}  // namespace

Box into_canonical(const View& view) {
  const std::vector<int64_t> dims = listed(view.dims);
  return box_of({dims, listed(view.strides), row_major(dims)});
}

Box out_of_canonical(const View& view) {
  const std::vector<int64_t> dims = listed(view.dims);
  return box_of({dims, row_major(dims), listed(view.strides)});
}

bool in_order(const Box& box) {
  return box.rank == 0 || (box.rank == 1 && box.from[0] == 1 && box.to[0] == 1);
}

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

/// Makes one word of each two neighbours, if that keeps all words whole.
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
