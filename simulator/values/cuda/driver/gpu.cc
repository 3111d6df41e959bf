#include "simulator/values/cuda/driver/gpu.h"

#include <array>

#include <fmt/format.h>

namespace orrery::cuda {

namespace {

std::string uuid_text(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

GpuInfo info_of(const Driver& driver, int ordinal) {
  const std::string purpose = fmt::format("GPU {}", ordinal);
  GpuInfo info;
  driver.cuDeviceGet.must(purpose, &info.device, ordinal);
  std::array<char, 256> name{};
  driver.cuDeviceGetName.must(purpose, name.data(), static_cast<int>(name.size()) - 1, info.device);
  info.name = name.data();
  CUuuid uuid{};
  driver.cuDeviceGetUuid.must(purpose, &uuid, info.device);
  info.uuid = uuid_text(uuid);
  size_t memory = 0;
  driver.cuDeviceTotalMem.must(purpose, &memory, info.device);
  info.memory = Bytes(static_cast<int64_t>(memory));
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver.cuDeviceGetAttribute.must(purpose, &value, which, info.device);
    return value;
  };
  info.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  info.minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.virtual_memory = attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
  return info;
}

}  // namespace

Gpu::Gpu(const Driver& driver, int ordinal) : driver_(driver), info_(info_of(driver, ordinal)) {
  driver.cuDevicePrimaryCtxRetain.must(
      [&] { return fmt::format("the context of GPU {}", ordinal); }, &context_, info_.device);
  retained_ = Owned(driver.cuDevicePrimaryCtxRelease, info_.device);
}

void Gpu::make_current() const {
  driver_.cuCtxSetCurrent.must([&] { return fmt::format("GPU {}", info_.device); }, context_);
}

void Gpu::try_make_current() const noexcept {
  driver_.cuCtxSetCurrent(context_);
}

GpuMemory Gpu::memory() const {
  make_current();
  size_t free = 0;
  size_t total = 0;
  driver_.cuMemGetInfo.must([&] { return fmt::format("the free memory of GPU {}", info_.device); },
                            &free, &total);
  return {Bytes(static_cast<int64_t>(free)), Bytes(static_cast<int64_t>(total))};
}

CUmemAllocationProp Gpu::memory_properties() const {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, info_.device};
  return properties;
}

Bytes Gpu::granule() const {
  make_current();
  const CUmemAllocationProp properties = memory_properties();
  size_t granularity = 0;
  driver_.cuMemGetAllocationGranularity.must(
      [&] { return fmt::format("the memory of GPU {}", info_.device); }, &granularity, &properties,
      CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  return Bytes(static_cast<int64_t>(granularity));
}

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
  // The primary context may have the access from an earlier run of this process.
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

namespace {

/// The PTX is of this compute capability, minor 0; newer GPUs take it too.
constexpr int kLeastCapability = 8;

}  // namespace

void check_fit(const Gpus& gpus) {
  for (size_t g = 0; g < gpus.size(); ++g) {
    const GpuInfo& info = gpus[g].info();
    if (info.major < kLeastCapability)
      throw UnfitGpu(fmt::format("GPU {} ({}) has compute capability {}.{}: expected {}.0 or newer",
                                 g, info.name, info.major, info.minor, kLeastCapability));
    if (!info.virtual_memory)
      throw UnfitGpu(fmt::format("GPU {} ({}) has no virtual memory management", g, info.name));
    for (size_t other = 0; other < gpus.size(); ++other)
      if (!gpus.sees(g, other))
        throw UnfitGpu(fmt::format(
            "GPU {} ({}) does not see the memory of GPU {}: CUDA_VISIBLE_DEVICES chooses "
            "GPUs that do, or one",
            g, info.name, other));
  }
}

}  // namespace orrery::cuda
