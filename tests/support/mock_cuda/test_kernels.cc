#include "tests/support/mock_cuda/test_kernels.h"

namespace orrery::mock_cuda {
namespace {

uint64_t* numbers(uint64_t address) {
  return reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(address));
}

void append(const void* argument, int64_t first, int64_t stride) {
  const auto& a = *static_cast<const AppendDigit*>(argument);
  for (int64_t i = first; i < a.items; i += stride)
    numbers(a.target)[i] = numbers(a.target)[i] * 10 + a.digit;
}

void add(const void* argument, int64_t first, int64_t stride) {
  const auto& a = *static_cast<const AddNumbers*>(argument);
  for (int64_t i = first; i < a.items; i += stride)
    numbers(a.target)[i] = numbers(a.left)[i] + numbers(a.right)[i];
}

void first_item(const void* argument, int64_t first, int64_t stride) {
  const auto& a = *static_cast<const FirstItem*>(argument);
  for (int64_t i = first; i < a.items; i += stride)
    if (numbers(a.target)[0] == ~uint64_t{0})
      numbers(a.target)[0] = static_cast<uint64_t>(i);
}

constexpr cuda::HostKernel kAppend = {"mock_append", append, sizeof(AppendDigit)};
constexpr cuda::HostKernel kAdd = {"mock_add", add, sizeof(AddNumbers)};
constexpr cuda::HostKernel kFirst = {"mock_first", first_item, sizeof(FirstItem)};

}  // namespace

const cuda::HostKernel* test_kernel(std::string_view entry_point) {
  for (const cuda::HostKernel* const kernel : {&kAppend, &kAdd, &kFirst})
    if (entry_point == kernel->entry_point)
      return kernel;
  return nullptr;
}

}  // namespace orrery::mock_cuda
