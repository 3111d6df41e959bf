#include "simulator/values/cuda/driver/kernel_launch.h"

#include "simulator/values/cuda/driver/launch_argument.h"

namespace orrery::cuda {

void launch(const KernelLaunch& launch, const Stream& stream, std::string_view purpose) {
  stream.gpu().make_current();
  LaunchArgument argument(launch);
  stream.gpu().driver().cuLaunchKernel.must(purpose, launch.function, launch.blocks, 1, 1,
                                            launch.threads, 1, 1, 0, stream.get(), nullptr,
                                            argument.extra());
}

}  // namespace orrery::cuda
