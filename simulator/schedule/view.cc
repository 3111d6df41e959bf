#include "simulator/schedule/view.h"

namespace orrery {

int64_t View::elements() const {
  int64_t product = 1;
  for (const int64_t dim : dims)
    product *= dim;
  return product;
}

int64_t View::inner_run() const {
  int64_t run = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] != 1 && strides[d] != run)
      break;
    run *= dims[d];
  }
  return run == 0 ? 1 : run;
}

int64_t View::offset(int64_t canonical) const {
  int64_t offset = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    offset += canonical % dims[d] * strides[d];
    canonical /= dims[d];
  }
  return offset;
}

bool View::contiguous() const {
  const int64_t all = elements();
  return all == 0 || inner_run() == all;
}

}  // namespace orrery
