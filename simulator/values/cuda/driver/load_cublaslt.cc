#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "simulator/values/cuda/driver/cublaslt.h"

namespace orrery::cuda {

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
