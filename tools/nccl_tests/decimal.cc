#include "tools/nccl_tests/decimal.h"

#include <charconv>

#include "models/base/characters.h"

namespace orrery {
namespace {

constexpr int64_t kMostDecimal = int64_t{1} << 62U;

/// a * 10^power; empty above kMostDecimal. Requires a >= 0.
std::optional<int64_t> scaled_up(int64_t a, int power) {
  if (a == 0)
    return 0;
  for (; power > 0; --power) {
    if (a > kMostDecimal / 10)
      return std::nullopt;
    a *= 10;
  }
  return a;
}

}  // namespace

std::optional<PrintedDecimal> read_decimal(std::string_view text, int decimals) {
  int64_t digits = 0;
  int shift = 0;  // the last digit is one of 10^shift
  bool point = false;
  bool any = false;
  size_t at = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    any = true;
    const auto next = scaled_up(digits, 1);
    if (!next || *next > kMostDecimal - 9)
      return std::nullopt;
    digits = *next + (text[at] - '0');
    shift -= point ? 1 : 0;
  }
  if (!any)
    return std::nullopt;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E')
      return std::nullopt;
    std::string_view exponent = text.substr(at + 1);
    if (!exponent.empty() && exponent.front() == '+')
      exponent.remove_prefix(1);
    int power = 0;
    const char* const end = exponent.data() + exponent.size();
    const auto [read, error] = std::from_chars(exponent.data(), end, power);
    constexpr int kMostPower = 1000;
    if (exponent.empty() || error != std::errc() || read != end || power > kMostPower ||
        power < -kMostPower)
      return std::nullopt;
    shift += power;
  }
  shift += decimals;
  for (; shift < 0 && digits % 10 == 0 && digits != 0; ++shift)
    digits /= 10;
  if (shift < 0)
    return digits == 0 ? std::optional(PrintedDecimal{0, 1}) : std::nullopt;
  const auto value = scaled_up(digits, shift);
  const auto unit = scaled_up(1, shift);
  if (!value || !unit)
    return std::nullopt;
  return PrintedDecimal{*value, (*unit + 1) / 2};
}

}  // namespace orrery
