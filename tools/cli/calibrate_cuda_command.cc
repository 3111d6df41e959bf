// orrery calibrate cuda makes a cluster that stands for virtual devices on the GPUs that are there.

#include <ostream>

#include <fmt/format.h>

#include "models/scenario/cluster_json.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/measure.h"
#include "tools/calibrate/gpu_fit.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "verifier/gpus/gpus.h"

namespace orrery {

Outcome execute(const CalibrateCudaCommand& command, const Terminal& terminal) {
  cuda::MeasureOptions options;
  options.devices = command.devices;
  if (command.most) {
    options.most = size_named("--most", *command.most);
    constexpr int64_t kStep = 4096;
    if (options.most.count() < 4 * kStep || options.most.count() % kStep != 0)
      refuse("--most", fmt::format("expected a multiple of 4 KiB, at least 16 KiB, got \"{}\"",
                                   *command.most));
  }
  const std::string date = calibration_date(command.date);
  const cuda::Driver driver = loaded_driver(terminal.library_of_cuda());
  require_writable(command.output);
  cuda::GpuMeasurements measured;
  try {
    measured = cuda::measure(driver, options);
  } catch (const cuda::TooLittleMemory& little) {
    throw NoGpus(fmt::format("{}; --most takes less", little.what()));
  } catch (const cuda::UnfitGpu& unfit) {
    throw NoGpus(unfit.what());
  } catch (const cuda::CudaError& error) {
    throw GpuFailure(driver_failed(error));
  }
  const std::vector<GpuFit> fits = fit_gpu_works(measured.works);
  write_file(command.output, cluster_text(gpu_cluster(measured, fits, date)).lines());
  terminal.out << gpu_calibration_text(measured, fits, terminal.style) << "written to "
               << command.output << "\n";
  return Outcome::Holds;
}

}  // namespace orrery
