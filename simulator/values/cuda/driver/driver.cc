#include "simulator/values/cuda/driver/driver.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

namespace orrery::cuda {

namespace {

/// Returns "CUDA 12.4" for 12040.
std::string version_text(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

/// Returns what a code of cuInit means for the user; empty if its name says all.
std::string_view advice(CUresult code) {
  switch (code) {
    case CUDA_ERROR_STUB_LIBRARY:
      return "this is the stub that programs are linked with, not a driver";
    case CUDA_ERROR_NO_DEVICE:
      return "no GPU is visible";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the library and the kernel's module are of different versions";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "this GPU needs the driver that the system has, not one for forward compatibility";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "the GPUs are not ready yet; a service such as the fabric manager may not run";
    default:
      return "";
  }
}

/// Returns the name of a code: ours, or the driver's if our list lacks it.
std::string name_of(const Driver& driver, CUresult code) {
  const std::string_view own = result_name(code);
  if (!own.empty())
    return std::string(own);
  const char* text = nullptr;
  if (driver.cuGetErrorName(code, &text) == CUDA_SUCCESS && text != nullptr)
    return text;
  return "unknown error";
}

std::string explained(const Driver& driver, CUresult code) {
  std::string why(advice(code));
  const char* text = nullptr;
  if (why.empty() && driver.cuGetErrorString(code, &text) == CUDA_SUCCESS && text != nullptr)
    why = text;
  return why;
}

/// Finds every entry point. Returns the name of the first that the library lacks.
std::optional<std::string> bind_all(Driver& driver, void* library) {
  std::optional<std::string> lacking;
  const auto bind = [&](auto& entry, const char* exported) {
    void* const symbol = dlsym(library, exported);
    if (symbol == nullptr && !lacking)
      lacking = exported;
    entry.bind(symbol);
  };
#define ORRERY_CUDA_BIND(name, exported, parameters) bind(driver.name, #exported);
  ORRERY_CUDA_ENTRY_POINTS(ORRERY_CUDA_BIND)
#undef ORRERY_CUDA_BIND
  return lacking;
}

/// Returns "of CUDA 11.4", as far as a library that may lack anything tells its version.
std::string version_of(void* library) {
  EntryPoint<CUresult(int*)> get_version("cuDriverGetVersion");
  void* const symbol = dlsym(library, get_version.name());
  if (symbol == nullptr)
    return "no driver of CUDA";
  get_version.bind(symbol);
  int version = 0;
  if (get_version(&version) != CUDA_SUCCESS)
    return "of an unknown version";
  return "of " + version_text(version);
}

}  // namespace

std::variant<Driver, MissingDriver> load_driver(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return MissingDriver{fmt::format("the driver of CUDA is not there: {}", dlerror())};
  Driver driver;
  if (const std::optional<std::string> lacking = bind_all(driver, handle))
    return MissingDriver{fmt::format("{} ({}) lacks {}: expected a driver of CUDA 12.0 or newer",
                                     library, version_of(handle), *lacking)};
  const auto failed = [&](const auto& entry, CUresult code) {
    const std::string why = explained(driver, code);
    return MissingDriver{fmt::format("{}: {}: {} ({}){}{}", library, entry.name(),
                                     name_of(driver, code), static_cast<unsigned int>(code),
                                     why.empty() ? "" : ": ", why)};
  };
  if (const CUresult code = driver.cuInit(0); code != CUDA_SUCCESS)
    return failed(driver.cuInit, code);
  if (const CUresult code = driver.cuDriverGetVersion(&driver.version); code != CUDA_SUCCESS)
    return failed(driver.cuDriverGetVersion, code);
  int gpus = 0;
  if (const CUresult code = driver.cuDeviceGetCount(&gpus); code != CUDA_SUCCESS)
    return failed(driver.cuDeviceGetCount, code);
  if (gpus == 0)
    return MissingDriver{fmt::format("{}: no GPU is visible", library)};
  return driver;
}

std::variant<CublasLt, MissingCublasLt> load_cublaslt(const std::string& library) {
  std::vector<std::string> names = {library};
  if (library.empty())
    names.assign(std::begin(kCublasLtLibraries), std::end(kCublasLtLibraries));
  std::string why;
  for (const std::string& name : names) {
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      why += fmt::format("{}{}", why.empty() ? "" : "; ", dlerror());
      continue;
    }
    CublasLt found;
    std::string lacking;
    const auto bind = [&](auto& entry) {
      void* const symbol = dlsym(handle, entry.name());
      if (symbol == nullptr && lacking.empty())
        lacking = entry.name();
      entry.bind(symbol);
    };
#define ORRERY_CUBLASLT_BIND(name, parameters) bind(found.name);
    ORRERY_CUBLASLT_ENTRY_POINTS(ORRERY_CUBLASLT_BIND)
#undef ORRERY_CUBLASLT_BIND
    if (lacking.empty())
      return found;
    why += fmt::format("{}{} lacks {}", why.empty() ? "" : "; ", name, lacking);
  }
  return MissingCublasLt{"cuBLASLt is not there: " + why};
}

}  // namespace orrery::cuda
