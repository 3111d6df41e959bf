#include "models/base/hash.h"

#include <fmt/format.h>

namespace orrery {

void Hasher::add(std::string_view text) {
  add(std::as_bytes(std::span(text.data(), text.size())));
}

void Hasher::add(std::span<const std::byte> bytes) {
  add(uint64_t{bytes.size()});
  // Words are assembled little-endian by value, so that the result does not depend on the machine.
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    for (size_t k = 0; k < 8 && at + k < bytes.size(); ++k)
      word |= std::to_integer<uint64_t>(bytes[at + k]) << (8 * k);
    add(word);
  }
}

std::string Hasher::text() const {
  return fmt::format("{:016x}{:016x}", high_, low_);
}

}  // namespace orrery
