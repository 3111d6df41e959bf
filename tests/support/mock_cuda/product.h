#pragma once

// Multiplies matrices as cuBLASLt may do it: in an order of additions of its own.

#include "tests/support/mock_cuda/memory.h"
#include "tests/support/mock_cuda/work.h"

namespace orrery::mock_cuda {

/// Adds the products from the last to the first, in the compute type. With `wrong`, the first
/// element is off by a 64th of the sum of the products' magnitudes. Throws Misuse where the device
/// may not use the memory.
void multiply(const ProductWork& work, Memory& memory, bool wrong);

/// Returns the bytes of an element. Throws Misuse for a type that the mock does not multiply.
size_t size_of(cuda::cudaDataType_t type);
/// Returns the bytes from the first element of the first matrix to the end of the last matrix.
size_t size_of(const Layout& layout);

}  // namespace orrery::mock_cuda
