#include "verifier/oracle/bound_tensor.h"

#include "models/array/complex_functions.h"
#include "models/array/elementwise.h"
#include "models/array/kernels.h"

namespace orrery {

Tensor magnitudes(const Tensor& x) {
  if (!is_complex(x.dtype())) {
    Tensor result = convert(x, Dtype::F64);
    for (double& element : result.as<double>())
      element = std::fabs(element);
    return result;
  }
  const Tensor wide = convert(x, Dtype::C128);
  Tensor result(Dtype::F64, x.shape());
  for (size_t i = 0; i < static_cast<size_t>(x.elements()); ++i)
    result.as<double>()[i] = arith::magnitude(wide.as<arith::C128>()[i]);
  return result;
}

Tensor distances(const Tensor& x, const Tensor& y) {
  const Dtype wide = is_complex(x.dtype()) ? Dtype::C128 : Dtype::F64;
  return magnitudes(elementwise(Binary::Sub, convert(x, wide), convert(y, wide)));
}

}  // namespace orrery
