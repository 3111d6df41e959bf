#include "simulator/values/cuda/driver/arena.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace orrery::cuda {
namespace {

size_t size_of(Bytes bytes) {
  return static_cast<size_t>(bytes.count());
}

}  // namespace

DeviceArena::DeviceArena(const Gpus& gpus, size_t owner, ArenaSize size, std::string name)
    : gpu_(gpus[owner]), size_(size), name_(std::move(name)) {
  ORRERY_CHECK(Bytes() <= size.used && size.used <= size.limit,
               "an arena is not asked for more than its limit");
  const Driver& driver = gpu_.driver();
  gpu_.make_current();
  const Bytes granule = gpu_.granule();
  reserved_ = align_up(std::max(size.limit, Bytes(1)), granule);
  backed_ = align_up(size.used, granule);
  driver.cuMemAddressReserve.must(
      [&] { return fmt::format("{} bytes of addresses of {}", reserved_.count(), name_); }, &base_,
      size_of(reserved_), 0, 0, 0);
  try {
    if (backed_ > Bytes())
      back(gpus, owner);
  } catch (...) {
    release();
    throw;
  }
}

void DeviceArena::back(const Gpus& gpus, size_t owner) {
  const CUmemAllocationProp properties = gpu_.memory_properties();
  const Driver& driver = gpu_.driver();
  const auto purpose = [&] {
    return fmt::format("{} bytes of {} on GPU {}", backed_.count(), name_, gpu_.info().device);
  };
  CUmemGenericAllocationHandle handle = 0;
  driver.cuMemCreate.must(purpose, &handle, size_of(backed_), &properties, 0);
  {
    // Mapped memory stays until it is unmapped; the handle is no longer needed then.
    const Owned<CUmemGenericAllocationHandle> created(driver.cuMemRelease, handle);
    driver.cuMemMap.must(purpose, base_, size_of(backed_), 0, handle, 0);
    mapped_ = true;
  }
  std::vector<CUmemAccessDesc> accesses;
  for (const size_t viewer : gpus.viewers(owner))
    accesses.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, gpus[viewer].info().device},
                        CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  driver.cuMemSetAccess.must(purpose, base_, size_of(backed_), accesses.data(), accesses.size());
}

DeviceArena::~DeviceArena() {
  release();
}

void DeviceArena::release() noexcept {
  gpu_.try_make_current();
  gpu_.driver().cuStreamSynchronize(nullptr);  // a write that failed may still be under way
  if (mapped_)
    gpu_.driver().cuMemUnmap(base_, size_of(backed_));
  gpu_.driver().cuMemAddressFree(base_, size_of(reserved_));
}

void DeviceArena::check_inside(ByteRange range) const {
  ORRERY_CHECK(
      Bytes() <= range.first && Bytes() <= range.size && range.first + range.size <= backed_,
      "the bytes have memory behind them");
}

void DeviceArena::write(Bytes offset, std::span<const std::byte> from) const {
  check_inside({offset, Bytes(static_cast<int64_t>(from.size()))});
  if (from.empty())
    return;
  gpu_.make_current();
  const auto purpose = [&] {
    return fmt::format("{} bytes to offset {} of {}", from.size(), offset.count(), name_);
  };
  gpu_.driver().cuMemcpyHtoD.must(purpose, address(offset), from.data(), from.size());
  settle(purpose);
}

void DeviceArena::read(Bytes offset, std::span<std::byte> to) const {
  check_inside({offset, Bytes(static_cast<int64_t>(to.size()))});
  if (to.empty())
    return;
  gpu_.make_current();
  const auto purpose = [&] {
    return fmt::format("{} bytes from offset {} of {}", to.size(), offset.count(), name_);
  };
  gpu_.driver().cuMemcpyDtoH.must(purpose, to.data(), address(offset), to.size());
}

void DeviceArena::fill(ByteRange range, std::byte value) const {
  check_inside(range);
  if (range.size == Bytes())
    return;
  gpu_.make_current();
  const auto purpose = [&] {
    return fmt::format("{} bytes at offset {} of {}", range.size.count(), range.first.count(),
                       name_);
  };
  gpu_.driver().cuMemsetD8.must(purpose, address(range.first),
                                std::to_integer<unsigned char>(value), size_of(range.size));
  settle(purpose);
}

}  // namespace orrery::cuda
