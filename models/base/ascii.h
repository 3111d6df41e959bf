#pragma once

// Letters of ASCII, whatever the locale.

namespace orrery {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace orrery
