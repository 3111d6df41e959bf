#include "models/base/amount_text.h"

#include <array>
#include <cstdint>
#include <span>

#include <fmt/format.h>

namespace orrery {
namespace {

struct Scale {
  int64_t size = 1;
  const char* unit = "";
};

/// Returns `value` in units of `scale.size`, with four significant digits, without trailing zeros.
std::string scaled_text(int64_t value, const Scale& scale) {
  const int64_t whole = value / scale.size;
  const int decimals = whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
  int64_t power = 1;
  for (int d = 0; d < decimals; ++d)
    power *= 10;
  const Int128 rounded = (Int128{value} * power * 2 + scale.size) / (Int128{scale.size} * 2);
  const auto digits = static_cast<int64_t>(rounded);
  if (digits % power == 0)
    return fmt::format("{} {}", digits / power, scale.unit);
  std::string fraction = fmt::format("{:0{}}", digits % power, decimals);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fmt::format("{}.{} {}", digits / power, fraction, scale.unit);
}

/// Uses the largest scale not above `value`. Requires scales that descend and end with 1.
std::string scaled_text(int64_t value, std::span<const Scale> scales) {
  for (const Scale& scale : scales)
    if (value >= scale.size)
      return scaled_text(value, scale);
  return fmt::format("0 {}", scales.back().unit);
}

}  // namespace

std::string time_text(Duration duration, bool ascii) {
  if (duration.count() == 0)
    return "0 s";
  const std::array<Scale, 5> scales = {{{1'000'000'000'000, "s"},
                                        {1'000'000'000, "ms"},
                                        {1'000'000, ascii ? "us" : "µs"},
                                        {1'000, "ns"},
                                        {1, "ps"}}};
  return scaled_text(duration.count(), scales);
}

std::string size_text(Bytes size) {
  static constexpr std::array<Scale, 5> kScales = {{{int64_t{1} << 40U, "TiB"},
                                                    {int64_t{1} << 30U, "GiB"},
                                                    {int64_t{1} << 20U, "MiB"},
                                                    {int64_t{1} << 10U, "KiB"},
                                                    {1, "B"}}};
  return scaled_text(size.count(), kScales);
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace orrery
