#include "models/base/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace orrery {

namespace {

/// Returns up to eight bytes as a number, the same on every machine.
uint64_t little_endian(std::span<const std::byte> bytes) {
  uint64_t word = 0;
  if (std::endian::native == std::endian::little && bytes.size() == 8) {
    std::memcpy(&word, bytes.data(), 8);
    return word;
  }
  for (size_t k = 0; k < bytes.size(); ++k)
    word |= std::to_integer<uint64_t>(bytes[k]) << (8 * k);
  return word;
}

}  // namespace

void Hasher::add(std::string_view text) {
  add(std::as_bytes(std::span(text.data(), text.size())));
}

void Hasher::add(std::span<const std::byte> bytes) {
  add(uint64_t{bytes.size()});
  for (size_t at = 0; at < bytes.size(); at += 8)
    add(little_endian(bytes.subspan(at, std::min<size_t>(8, bytes.size() - at))));
}

std::string Hasher::text() const {
  return fmt::format("{:016x}{:016x}", high_, low_);
}

}  // namespace orrery
