#include "simulator/values/cuda/kernels/boxes.h"

#include <algorithm>

#include "models/base/check.h"

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

}  // namespace orrery::cuda
