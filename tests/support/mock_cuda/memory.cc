#include "tests/support/mock_cuda/memory.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

namespace orrery::mock_cuda {
namespace {

using cuda::CUdeviceptr;

void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

/// Reserves inaccessible addresses that begin at a multiple of `alignment`.
CUdeviceptr reserve_aligned(size_t size, size_t alignment) {
  void* const all = mmap(nullptr, size + alignment, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    throw Refusal{cuda::CUDA_ERROR_OUT_OF_MEMORY};
  const uintptr_t first = reinterpret_cast<uintptr_t>(all);
  const uintptr_t aligned = (first + alignment - 1) / alignment * alignment;
  if (aligned > first)
    munmap(all, aligned - first);
  if (aligned < first + alignment)
    munmap(pointer(aligned + size), first + alignment - aligned);
  return aligned;
}

std::string range_text(CUdeviceptr address, size_t size) {
  return fmt::format("{} bytes at {:#x}", size, address);
}

}  // namespace

Memory::Memory(const MockCudaSettings& settings)
    : capacity_(settings.memory),
      granularity_(settings.granularity),
      random_(settings.seed),
      used_(static_cast<size_t>(settings.devices)) {}

Memory::~Memory() {
  for (const auto& [address, reservation] : reservations_)
    munmap(pointer(address), reservation.size);
}

void Memory::check_size(size_t size) const {
  if (size == 0 || size % granularity_ != 0)
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE,
                 fmt::format("{} bytes are no multiple of {}", size, granularity_));
}

CUdeviceptr Memory::reserve(size_t size) {
  check_size(size);
  const CUdeviceptr address = reserve_aligned(size, granularity_);
  reservations_[address].size = size;
  return address;
}

void Memory::free_address(CUdeviceptr address, size_t size) {
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.size != size)
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE,
                 range_text(address, size) + " are not what was reserved");
  if (!found->second.mappings.empty())
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE, range_text(address, size) + " are still mapped");
  munmap(pointer(address), size);
  reservations_.erase(found);
}

cuda::CUmemGenericAllocationHandle Memory::create(int device, size_t size) {
  check_size(size);
  if (size > free_memory(device))
    throw Refusal{cuda::CUDA_ERROR_OUT_OF_MEMORY};
  return handles_.add(std::make_shared<Physical>(*this, device, size));
}

void Memory::release(cuda::CUmemGenericAllocationHandle handle) {
  handles_.remove(handle);
}

Memory::Reservation& Memory::reservation_at(CUdeviceptr address, size_t size) {
  auto found = reservations_.upper_bound(address);
  if (found == reservations_.begin() || (--found)->first + found->second.size < address + size)
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE, range_text(address, size) + " are not reserved");
  return found->second;
}

void Memory::map(CUdeviceptr address, size_t size, cuda::CUmemGenericAllocationHandle handle) {
  const std::shared_ptr<Physical> physical = handles_.at(handle);
  Reservation& reservation = reservation_at(address, size);
  if (physical->size != size || physical->mapped)
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE,
                 "the mock maps memory as a whole and in one place only");
  for (const auto& [begin, mapping] : reservation.mappings)
    if (begin < address + size && address < begin + mapping.physical->size)
      throw Misuse(cuda::CUDA_ERROR_ALREADY_MAPPED,
                   range_text(address, size) + " are mapped already");
  mprotect(pointer(address), size, PROT_READ | PROT_WRITE);
  fill_at_random(pointer(address), size);
  mprotect(pointer(address), size, PROT_NONE);
  physical->mapped = true;
  reservation.mappings[address] = {physical, {}};
}

Memory::Mapping& Memory::mapping_at(CUdeviceptr address, size_t size) {
  Reservation& reservation = reservation_at(address, size);
  const auto found = reservation.mappings.find(address);
  if (found == reservation.mappings.end() || found->second.physical->size != size)
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE,
                 range_text(address, size) + " are not what was mapped");
  return found->second;
}

void Memory::unmap(CUdeviceptr address, size_t size) {
  mapping_at(address, size).physical->mapped = false;
  reservation_at(address, size).mappings.erase(address);
  mmap(pointer(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
       -1, 0);
}

void Memory::set_access(CUdeviceptr address, size_t size, const std::set<int>& devices) {
  mapping_at(address, size).devices = devices;
  mprotect(pointer(address), size, devices.empty() ? PROT_NONE : PROT_READ | PROT_WRITE);
}

void* Memory::pin(size_t size) {
  if (size == 0)
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE, "no bytes of the host");
  std::vector<std::byte> bytes(size);
  void* const memory = bytes.data();
  fill_at_random(memory, size);
  pinned_.emplace(reinterpret_cast<uintptr_t>(memory), std::move(bytes));
  return memory;
}

void Memory::unpin(void* memory) {
  if (pinned_.erase(reinterpret_cast<uintptr_t>(memory)) == 0)
    throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE, "the host's memory is not pinned");
}

std::byte* Memory::bytes(CUdeviceptr address, size_t size, int device, cuda::CUresult code) {
  auto pinned = pinned_.upper_bound(address);
  if (pinned != pinned_.begin() && address + size <= (--pinned)->first + pinned->second.size())
    return static_cast<std::byte*>(pointer(address));
  auto reservation = reservations_.upper_bound(address);
  if (reservation != reservations_.begin()) {
    auto& mappings = (--reservation)->second.mappings;
    auto mapping = mappings.upper_bound(address);
    if (mapping != mappings.begin()) {
      const auto& [begin, memory] = *--mapping;
      if (address + size <= begin + memory.physical->size) {
        if (memory.devices.count(device) != 0)
          return static_cast<std::byte*>(pointer(address));
        throw Misuse(code,
                     fmt::format("device {} may not use {}", device, range_text(address, size)));
      }
    }
  }
  throw Misuse(code, range_text(address, size) + " are not all mapped");
}

uint64_t Memory::free_memory(int device) const {
  return capacity_ - used_[static_cast<size_t>(device)];
}

size_t Memory::mappings() const {
  size_t count = 0;
  for (const auto& [address, reservation] : reservations_)
    count += reservation.mappings.size();
  return count;
}

void Memory::fill_at_random(void* memory, size_t size) {
  auto* const bytes = static_cast<std::byte*>(memory);
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t word = random_.next();
    std::memcpy(bytes + at, &word, std::min(sizeof(word), size - at));
  }
}

}  // namespace orrery::mock_cuda
