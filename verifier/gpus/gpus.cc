#include "verifier/gpus/gpus.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/program/rules.h"

namespace orrery {

cuda::Driver loaded_driver(const std::string& library) {
  std::variant<cuda::Driver, cuda::MissingDriver> loaded =
      cuda::load_driver(library.empty() ? cuda::kDriverLibrary : library);
  if (const auto* missing = std::get_if<cuda::MissingDriver>(&loaded))
    throw NoGpus(missing->reason);
  return std::get<cuda::Driver>(std::move(loaded));
}

cuda::CublasLt loaded_cublaslt(const std::string& library) {
  std::variant<cuda::CublasLt, cuda::MissingCublasLt> loaded = cuda::load_cublaslt(library);
  if (const auto* missing = std::get_if<cuda::MissingCublasLt>(&loaded))
    throw NoFastDot(missing->reason);
  return std::get<cuda::CublasLt>(std::move(loaded));
}

std::string driver_failed(const cuda::CudaError& error) {
  return fmt::format("the driver failed in {}", error.what());
}

std::optional<std::string> why_not_on_gpus(const Scenario& scenario, const MemoryProfile& memory,
                                           bool leaves_out) {
  if (leaves_out)
    return "iterations are left out";
  const std::optional<Bytes>& limit = scenario.cluster.device.memory;
  if (limit && memory.largest_peak() > *limit)
    return "a device holds more than its memory";
  return std::nullopt;
}

cuda::GpuRun run_on_gpus(const Scenario& scenario, const Lowered& lowered,
                         const MemoryProfile& memory, std::optional<DeviceValues> arguments,
                         const GpuOptions& options) {
  cuda::ExecutorOptions how;
  how.limit = scenario.cluster.device.memory;
  how.observe_all = arguments.has_value();
  how.measured_runs = options.measured_runs;
  how.measured = options.measured;
  const cuda::Driver driver = loaded_driver(options.library);
  std::optional<cuda::CublasLt> cublaslt;
  if (options.fast_dot)
    how.cublaslt = &cublaslt.emplace(loaded_cublaslt(options.cublaslt));
  if (!arguments)
    arguments.emplace(scenario.program);
  return cuda::execute(driver, scenario.program, lowered, scenario.memory, memory,
                       std::move(*arguments), how);
}

}  // namespace orrery
