#include "simulator/values/cuda/driver/canary.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace orrery::cuda {
namespace {

/// So much is on its way at once.
constexpr int64_t kPiece = 1 << 20;

/// Calls visit(ByteRange) for the pieces of `range`, in order, until one says to stop.
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

}  // namespace orrery::cuda
