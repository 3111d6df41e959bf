#include "models/base/characters.h"

#include <cstdint>

namespace orrery {

namespace {

uint32_t byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Returns the length of the UTF-8 sequence at `at`, or 0 if it is invalid.
size_t sequence_length(std::string_view text, size_t at) {
  const uint32_t lead = byte_at(text, at);
  if (lead < 0x80)
    return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() - at < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte_at(text, at + i) & 0xc0U) != 0x80)
      return 0;
  // The second byte rules out overlong forms, surrogates and code points beyond U+10FFFF.
  const uint32_t second = byte_at(text, at + 1);
  const bool invalid = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                       (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return invalid ? 0 : length;
}

}  // namespace

std::optional<size_t> not_utf8_at(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_length(text, at);
    if (length == 0)
      return at;
    at += length;
  }
  return std::nullopt;
}

bool has_control_character(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const uint32_t byte = byte_at(text, i);
    if (byte < 0x20 || byte == 0x7f)
      return true;
    if (byte == 0xc2 && i + 1 < text.size() && byte_at(text, i + 1) < 0xa0)
      return true;
  }
  return false;
}

}  // namespace orrery
