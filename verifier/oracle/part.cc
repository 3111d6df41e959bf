#include "verifier/oracle/part.h"

namespace orrery {

int64_t Part::elements() const {
  int64_t product = 1;
  for (const PartDim& dim : dims)
    product *= dim.count;
  return product;
}

int64_t Part::last_first() const {
  int64_t last = first;
  for (const PartDim& dim : dims)
    last += (dim.count - 1) * dim.result;
  return last;
}

int64_t Part::last_source() const {
  int64_t last = source;
  for (const PartDim& dim : dims)
    last += (dim.count - 1) * dim.operand;
  return last;
}

std::vector<PartDim> joined(const std::vector<PartDim>& dims) {
  std::vector<PartDim> result;
  for (const PartDim& dim : dims) {
    if (dim.count == 0)
      return {dim};
    if (dim.count == 1)
      continue;
    if (!result.empty() && result.back().result == dim.count * dim.result &&
        result.back().operand == dim.count * dim.operand)
      result.back() = {result.back().count * dim.count, dim.result, dim.operand};
    else
      result.push_back(dim);
  }
  return result;
}

}  // namespace orrery
