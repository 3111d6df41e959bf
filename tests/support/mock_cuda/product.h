#pragma once

// A product of matrices as cuBLASLt may do it: with an order of adding of its own.

#include "tests/support/mock_cuda/memory.h"
#include "tests/support/mock_cuda/work.h"

namespace orrery::mock_cuda {

/// Adds from the last product to the first, in the compute type. With `wrong`, the first element is
/// off by a 64th of the magnitudes that it adds. Throws Misuse where memory is not the device's.
void multiply(const ProductWork& work, Memory& memory, bool wrong);

/// Bytes of an element. Throws Misuse for a type that the mock does not multiply.
size_t size_of(cuda::cudaDataType_t type);
/// Bytes from the first element of the first matrix to the end of the last.
size_t size_of(const Layout& layout);

}  // namespace orrery::mock_cuda
