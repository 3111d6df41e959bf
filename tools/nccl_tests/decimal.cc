#include "tools/nccl_tests/decimal.h"

#include <charconv>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/base/compiler.h"

namespace orrery {
namespace {

constexpr int64_t kMostDecimal = int64_t{1} << 62U;

/// Returns a * 10^power, or nothing if that exceeds kMostDecimal. Requires a >= 0.
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

constexpr int64_t kPicosecondsPerMicrosecond = 1'000'000;
constexpr int64_t kBytesPerGigabyte = 1'000'000'000;

/// Returns amount / unit with `decimals` decimals, rounded half up. Requires amount >= 0, and that
/// 2 * 10^decimals divides the unit.
std::string fixed_decimal(int64_t amount, int64_t unit, int decimals) {
  int64_t digits = 1;
  for (int d = 0; d < decimals; ++d)
    digits *= 10;
  const int64_t step = unit / digits;
  const auto steps = static_cast<int64_t>((Int128{amount} + step / 2) / step);
  if (decimals == 0)
    return fmt::format("{}", steps);
  return fmt::format("{}.{:0{}}", steps / digits, steps % digits, decimals);
}

/// Returns the text that getFloatStr() of nccl-tests makes.
std::string fitting_decimal(int64_t amount, int64_t unit, size_t width) {
  for (const int decimals : {2, 1, 0}) {
    const std::string text = fixed_decimal(amount, unit, decimals);
    if (text.size() <= width)
      return fmt::format("{:>{}}", text, width);
  }
  const double shown = static_cast<double>(amount) / static_cast<double>(unit);
  return fmt::format("{:>{}.{}e}", shown, width, width >= 7 ? 1 : 0);
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

std::string nccl_time_text(Duration time) {
  return fitting_decimal(time.count(), kPicosecondsPerMicrosecond, 7);
}

std::string nccl_bandwidth_text(BytesPerSecond bandwidth) {
  return fitting_decimal(bandwidth.count(), kBytesPerGigabyte, 6);
}

std::string nccl_json_time(Duration time) {
  return fixed_decimal(time.count(), kPicosecondsPerMicrosecond, 6);
}

std::string nccl_json_bandwidth(BytesPerSecond bandwidth) {
  return fixed_decimal(bandwidth.count(), kBytesPerGigabyte, 6);
}

}  // namespace orrery
