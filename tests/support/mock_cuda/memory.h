#pragma once

// This is the memory of the mock's devices, and the pinned memory of the host. Reserved addresses
// are inaccessible until memory is mapped there.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/base/random.h"
#include "simulator/values/cuda/driver/cuda_api.h"
#include "tests/support/mock_cuda/handles.h"
#include "tests/support/mock_cuda/mock_cuda.h"

namespace orrery::mock_cuda {

class Memory {
 public:
  explicit Memory(const MockCudaSettings& settings);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // These functions manage virtual memory as the entry points with similar names do. They throw
  // Misuse; create() and pin() throw Refusal where there is not enough memory.
  cuda::CUdeviceptr reserve(size_t size);
  void free_address(cuda::CUdeviceptr address, size_t size);
  cuda::CUmemGenericAllocationHandle create(int device, size_t size);
  void release(cuda::CUmemGenericAllocationHandle handle);
  void map(cuda::CUdeviceptr address, size_t size, cuda::CUmemGenericAllocationHandle handle);
  void unmap(cuda::CUdeviceptr address, size_t size);
  void set_access(cuda::CUdeviceptr address, size_t size, const std::set<int>& devices);

  void* pin(size_t size);
  void unpin(void* memory);

  /// Returns the bytes at `address` for use by `device`. Throws Misuse with `code` where the device
  /// may not use all of the bytes.
  std::byte* bytes(cuda::CUdeviceptr address, size_t size, int device, cuda::CUresult code);

  uint64_t free_memory(int device) const;

  // These functions return how many objects are alive.
  size_t reservations() const { return reservations_.size(); }
  size_t mappings() const;
  size_t handles() const { return handles_.size(); }
  size_t pinned() const { return pinned_.size(); }

 private:
  /// A `Physical` is memory of a device. It counts as used while it has a handle or is mapped.
  struct Physical {
    Memory& memory;
    int device;
    size_t size;
    bool mapped = false;

    Physical(Memory& of, int on, size_t bytes) : memory(of), device(on), size(bytes) {
      memory.used_[static_cast<size_t>(on)] += bytes;
    }
    Physical(const Physical&) = delete;
    Physical& operator=(const Physical&) = delete;
    ~Physical() { memory.used_[static_cast<size_t>(device)] -= size; }
  };
  struct Mapping {
    std::shared_ptr<Physical> physical;
    std::set<int> devices;  // devices that may use it
  };
  struct Reservation {
    size_t size = 0;
    std::map<cuda::CUdeviceptr, Mapping> mappings;
  };

  Reservation& reservation_at(cuda::CUdeviceptr address, size_t size);
  Mapping& mapping_at(cuda::CUdeviceptr address, size_t size);
  void check_size(size_t size) const;
  void fill_at_random(void* memory, size_t size);

  uint64_t capacity_;
  size_t granularity_;
  Random random_;
  std::vector<uint64_t> used_;  // of each device
  std::map<cuda::CUdeviceptr, Reservation> reservations_;
  Handles<cuda::CUmemGenericAllocationHandle, std::shared_ptr<Physical>> handles_{"memory"};
  std::map<uintptr_t, std::vector<std::byte>> pinned_;
};

}  // namespace orrery::mock_cuda
