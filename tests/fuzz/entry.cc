// Defines the entry point of libFuzzer for one target.

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  orrery::test::ORRERY_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
