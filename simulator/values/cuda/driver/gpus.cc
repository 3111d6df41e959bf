#include "simulator/values/cuda/driver/gpus.h"

#include <fmt/format.h>

namespace orrery::cuda {

int gpu_count(const Driver& driver) {
  int count = 0;
  driver.cuDeviceGetCount.must("the GPUs that are visible", &count);
  return count;
}

Gpus::Gpus(const Driver& driver, int count) {
  for (int ordinal = 0; ordinal < count; ++ordinal)
    gpus_.push_back(std::make_unique<const Gpu>(driver, ordinal));
  sees_.assign(size(), std::vector<bool>(size()));
  for (size_t reader = 0; reader < size(); ++reader)
    for (size_t owner = 0; owner < size(); ++owner)
      open_access(reader, owner);
}

void Gpus::open_access(size_t reader, size_t owner) {
  const Driver& driver = gpus_[reader]->driver();
  if (reader == owner) {
    sees_[reader][owner] = true;
    return;
  }
  const auto purpose = [&] { return fmt::format("access of GPU {} to GPU {}", reader, owner); };
  int can = 0;
  driver.cuDeviceCanAccessPeer.must(purpose, &can, gpus_[reader]->info().device,
                                    gpus_[owner]->info().device);
  if (can == 0)
    return;
  gpus_[reader]->make_current();
  // The primary context may have it from an earlier run of this process.
  const CUresult code = driver.cuCtxEnablePeerAccess(gpus_[owner]->context(), 0);
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
    throw CudaError(driver.cuCtxEnablePeerAccess.name(), code, purpose());
  sees_[reader][owner] = true;
}

std::vector<size_t> Gpus::viewers(size_t owner) const {
  std::vector<size_t> viewers;
  for (size_t reader = 0; reader < size(); ++reader)
    if (sees(reader, owner))
      viewers.push_back(reader);
  return viewers;
}

}  // namespace orrery::cuda
