#include "simulator/values/cuda/driver/kernel_module.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace orrery::cuda {

namespace {

/// Loaded is the answer to a load, and what the compiler of PTX said if it failed.
struct Loaded {
  CUresult code = CUDA_SUCCESS;
  std::string log;
};

Loaded load(const Driver& driver, CUmodule& module, const void* image) {
  std::array<char, 8192> log{};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER,
                                         CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // The size travels as a pointer. NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* const log_size = reinterpret_cast<void*>(log.size() - 1);
  std::array<void*, 2> values = {log.data(), log_size};
  const CUresult code = driver.cuModuleLoadDataEx(
      &module, image, static_cast<unsigned int>(options.size()), options.data(), values.data());
  return {code, log.data()};
}

/// Returns the purpose, followed by the log as one line.
std::string with_log(const std::string& purpose, std::string log) {
  std::replace(log.begin(), log.end(), '\n', ' ');
  while (!log.empty() && log.back() == ' ')
    log.pop_back();
  return log.empty() ? purpose : purpose + ": " + log;
}

/// Returns whether another form of the same kernels may load.
bool wants_other_form(CUresult code) {
  return code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

}  // namespace

KernelModule::KernelModule(const Gpu& gpu, std::span<const std::byte> fatbin, std::string_view ptx)
    : gpu_(gpu) {
  gpu.make_current();
  const Driver& driver = gpu.driver();
  const auto fail = [&](const Loaded& loaded, const char* form) {
    throw CudaError(
        driver.cuModuleLoadDataEx.name(), loaded.code,
        with_log(fmt::format("the {} of the kernels on GPU {}, compute capability {}.{}", form,
                             gpu.info().device, gpu.info().major, gpu.info().minor),
                 loaded.log));
  };
  if (!fatbin.empty()) {
    const Loaded loaded = load(driver, module_, fatbin.data());
    loaded_from_ = LoadedFrom::Fatbin;
    if (loaded.code == CUDA_SUCCESS)
      return;
    if (!wants_other_form(loaded.code))
      fail(loaded, "fatbin");
  }
  const std::string text(ptx);  // the driver reads until a zero
  const Loaded loaded = load(driver, module_, text.c_str());
  loaded_from_ = LoadedFrom::Ptx;
  if (loaded.code != CUDA_SUCCESS)
    fail(loaded, "PTX");
}

KernelModule::~KernelModule() {
  gpu_.try_make_current();
  gpu_.driver().cuModuleUnload(module_);
}

CUfunction KernelModule::function(std::string_view entry_point) {
  const auto known = functions_.find(entry_point);
  if (known != functions_.end())
    return known->second;
  const std::string name(entry_point);
  CUfunction function = nullptr;
  gpu_.driver().cuModuleGetFunction.must("the kernel " + name, &function, module_, name.c_str());
  functions_.emplace(name, function);
  return function;
}

void launch(const KernelLaunch& launch, const Stream& stream, std::string_view purpose) {
  stream.gpu().make_current();
  LaunchArgument argument(launch);
  stream.gpu().driver().cuLaunchKernel.must(purpose, launch.function, launch.blocks, 1, 1,
                                            launch.threads, 1, 1, 0, stream.get(), nullptr,
                                            argument.extra());
}

}  // namespace orrery::cuda
