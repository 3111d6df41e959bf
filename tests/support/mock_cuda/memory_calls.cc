// Defines the entry points of memory.

#include <cstring>
#include <set>

#include "tests/support/mock_cuda/exports.h"
#include "tests/support/mock_cuda/state.h"

namespace orrery::cuda {

using mock_cuda::call;
using mock_cuda::CallKind;
using mock_cuda::Misuse;
using mock_cuda::State;

namespace {

/// Returns the device that the properties name. Throws Misuse for memory of another kind.
int device_of(State& s, const CUmemAllocationProp* properties) {
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    throw Misuse(CUDA_ERROR_INVALID_VALUE, "memory of another kind than a device's own");
  s.check_device(properties->location.id);
  if (s.settings.virtual_memory == 0)
    throw Misuse(CUDA_ERROR_NOT_SUPPORTED, "the device has no virtual memory management");
  return properties->location.id;
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call("cuMemGetInfo", [&](State& s) {
    *free = s.memory.free_memory(s.context().device);
    *total = s.settings.memory;
  });
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return call("cuMemGetAllocationGranularity", [&](State& s) {
    device_of(s, properties);
    *granularity = s.settings.granularity;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t size, size_t, CUdeviceptr,
                             unsigned long long flags) {
  return call("cuMemAddressReserve", [&](State& s) {
    if (flags != 0)
      throw Misuse(CUDA_ERROR_INVALID_VALUE, "flags");
    *address = s.memory.reserve(size);
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  return call("cuMemAddressFree", CallKind::Destroys,
              [&](State& s) { s.memory.free_address(address, size); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return call("cuMemCreate", [&](State& s) {
    if (flags != 0)
      throw Misuse(CUDA_ERROR_INVALID_VALUE, "flags");
    *handle = s.memory.create(device_of(s, properties), size);
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return call("cuMemRelease", CallKind::Destroys, [&](State& s) { s.memory.release(handle); });
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return call("cuMemMap", [&](State& s) {
    if (offset != 0 || flags != 0)
      throw Misuse(CUDA_ERROR_INVALID_VALUE, "an offset or flags");
    s.memory.map(address, size, handle);
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  return call("cuMemUnmap", CallKind::Destroys, [&](State& s) {
    if (s.runner.may_be_in_use(address, size))
      throw Misuse(CUDA_ERROR_INVALID_VALUE, "work that may use the memory has not ended");
    s.memory.unmap(address, size);
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* accesses,
                        size_t count) {
  return call("cuMemSetAccess", [&](State& s) {
    std::set<int> devices;
    for (size_t i = 0; i < count; ++i) {
      s.check_device(accesses[i].location.id);
      if (accesses[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
          accesses[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        throw Misuse(CUDA_ERROR_INVALID_VALUE, "an access of another kind");
      devices.insert(accesses[i].location.id);
    }
    s.memory.set_access(address, size, devices);
  });
}

CUresult cuMemHostAlloc(void** memory, size_t size, unsigned int) {
  return call("cuMemHostAlloc", [&](State& s) {
    s.context();
    *memory = s.memory.pin(size);
  });
}

CUresult cuMemFreeHost(void* memory) {
  return call("cuMemFreeHost", CallKind::Destroys, [&](State& s) {
    s.context();
    s.memory.unpin(memory);
  });
}

// By CUDA's documentation, a write from pageable memory, or a fill, goes on in the default stream
// after the call has returned. A read waits for the default stream.

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t size) {
  return call("cuMemcpyHtoD", [&](State& s) {
    const int device = s.context().device;
    s.memory.bytes(to, size, device, CUDA_ERROR_INVALID_VALUE);
    const auto* const bytes = static_cast<const std::byte*>(from);
    s.runner.launch_by_default(device, mock_cuda::WriteWork{to, {bytes, bytes + size}, device});
  });
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t size) {
  return call("cuMemcpyDtoH", [&](State& s) {
    const int device = s.context().device;
    const std::byte* const bytes = s.memory.bytes(from, size, device, CUDA_ERROR_INVALID_VALUE);
    s.runner.finish_default(device);
    std::memcpy(to, bytes, size);
  });
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t size) {
  return call("cuMemsetD8", [&](State& s) {
    const int device = s.context().device;
    s.memory.bytes(to, size, device, CUDA_ERROR_INVALID_VALUE);
    s.runner.launch_by_default(device, mock_cuda::FillWork{to, size, value, 1, device});
  });
}

}  // namespace orrery::cuda
