// Defines the entry points of modules and their kernels.

#include <cstring>
#include <string_view>

#include "tests/support/mock_cuda/exports.h"
#include "tests/support/mock_cuda/state.h"
#include "tests/support/mock_cuda/test_kernels.h"

namespace orrery::cuda {

using mock_cuda::call;
using mock_cuda::CallKind;
using mock_cuda::Misuse;
using mock_cuda::State;

namespace {

/// Returns the text of PTX, or an empty text if the image is a fatbin.
std::string ptx_of(const void* image) {
  constexpr uint32_t kFatbinMagic = 0xba55ed50;
  if (std::memcmp(image, &kFatbinMagic, sizeof(kFatbinMagic)) == 0)
    return {};
  std::string text(static_cast<const char*>(image));
  if (text.find(".version") == text.npos)
    throw Misuse(CUDA_ERROR_INVALID_IMAGE, "the image is neither a fatbin nor PTX");
  return text;
}

/// Writes the compiler's message of a failure that a test set.
void write_log(unsigned int options, const CUjit_option* names, void** values) {
  for (unsigned int i = 0; i < options; ++i)
    if (names[i] == CU_JIT_ERROR_LOG_BUFFER)
      std::strcpy(static_cast<char*>(values[i]), "ptxas: told\nto fail\n");
}

bool has_kernel(const std::string& ptx, const std::string& name) {
  return ptx.empty() || ptx.find(".entry " + name + "(") != ptx.npos;
}

}  // namespace

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int options,
                            CUjit_option* names, void** values) {
  const CUresult code = call("cuModuleLoadDataEx", [&](State& s) {
    *module = s.things.modules.add({s.context().device, ptx_of(image)});
  });
  if (code == CUDA_ERROR_INVALID_PTX)
    write_log(options, names, values);
  return code;
}

CUresult cuModuleUnload(CUmodule module) {
  return call("cuModuleUnload", CallKind::Destroys, [&](State& s) {
    if (s.context().device != s.things.modules.at(module).device)
      throw Misuse(CUDA_ERROR_INVALID_CONTEXT, "the module is of another context");
    s.things.modules.remove(module);
    std::erase_if(s.things.functions.all(),
                  [&](const auto& entry) { return entry.second.module == module; });
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call("cuModuleGetFunction", [&](State& s) {
    const mock_cuda::Module& in = s.things.modules.at(module);
    const HostKernel* kernel = mock_cuda::test_kernel(name);
    if (kernel == nullptr)
      kernel = host_kernel(name);
    if (kernel == nullptr || !has_kernel(in.ptx, name))
      throw Misuse(CUDA_ERROR_NOT_FOUND, fmt::format("there is no kernel {}", name));
    *function = s.things.functions.add({module, kernel, in.device});
  });
}

}  // namespace orrery::cuda
