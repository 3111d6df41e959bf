#include "simulator/values/cuda/driver/memory.h"

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
    // Mapped memory stays until it is unmapped, so the handle is not needed after the mapping.
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

namespace {

/// At most this many bytes are copied at once.
constexpr int64_t kPiece = 1 << 20;

/// Calls visit(ByteRange) for the pieces of `range`, in order, until `visit` returns false.
template <class Visit>
void for_each_piece(ByteRange range, const Visit& visit) {
  const int64_t end = (range.first + range.size).count();
  for (int64_t at = range.first.count(); at < end; at += kPiece)
    if (!visit(ByteRange{Bytes(at), Bytes(std::min(kPiece, end - at))}))
      return;
}

std::vector<std::byte> pattern(uint64_t seed, ByteRange piece) {
  std::vector<std::byte> bytes(static_cast<size_t>(piece.size.count()));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = canary(seed, piece.first + Bytes(static_cast<int64_t>(i)));
  return bytes;
}

std::optional<CanaryDamage> damage_in(const DeviceArena& arena, ByteRange range, uint64_t seed) {
  std::optional<CanaryDamage> damage;
  for_each_piece(range, [&](ByteRange piece) {
    const std::vector<std::byte> expected = pattern(seed, piece);
    std::vector<std::byte> found(expected.size());
    arena.read(piece.first, found);
    const auto [wrong, is] = std::mismatch(expected.begin(), expected.end(), found.begin());
    if (wrong == expected.end())
      return true;
    damage = CanaryDamage{range, piece.first + Bytes(wrong - expected.begin()), *wrong, *is};
    return false;
  });
  return damage;
}

}  // namespace

std::byte canary(uint64_t seed, Bytes offset) {
  // The mixing steps of splitmix64.
  uint64_t x = seed + 0x9e3779b97f4a7c15u * (static_cast<uint64_t>(offset.count()) + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::byte>((x ^ (x >> 31)) & 0xff);
}

void write_canaries(const DeviceArena& arena, std::span<const ByteRange> ranges, uint64_t seed) {
  for (const ByteRange& range : ranges)
    for_each_piece(range, [&](ByteRange piece) {
      arena.write(piece.first, pattern(seed, piece));
      return true;
    });
}

std::optional<CanaryDamage> damaged_canary(const DeviceArena& arena,
                                           std::span<const ByteRange> ranges, uint64_t seed) {
  for (const ByteRange& range : ranges)
    if (std::optional<CanaryDamage> damage = damage_in(arena, range, seed))
      return damage;
  return std::nullopt;
}

std::string damage_text(const DeviceArena& arena, const CanaryDamage& damage) {
  return fmt::format(
      "{}: the byte at offset {} was overwritten: expected {:#04x}, got {:#04x} (guards bytes {} "
      "to "
      "{})",
      arena.name(), damage.offset.count(), std::to_integer<int>(damage.expected),
      std::to_integer<int>(damage.found), damage.range.first.count(),
      (damage.range.first + damage.range.size - Bytes(1)).count());
}

PinnedMemory::PinnedMemory(const Gpu& gpu, Bytes size) : gpu_(gpu) {
  gpu.make_current();
  void* memory = nullptr;
  gpu.driver().cuMemHostAlloc.must(
      [&] { return fmt::format("{} bytes of pinned memory", size.count()); }, &memory,
      static_cast<size_t>(size.count()), 0);
  bytes_ = {static_cast<std::byte*>(memory), static_cast<size_t>(size.count())};
}

PinnedMemory::~PinnedMemory() {
  gpu_.try_make_current();
  gpu_.driver().cuMemFreeHost(bytes_.data());
}

}  // namespace orrery::cuda
