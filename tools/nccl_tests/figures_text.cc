#include "tools/nccl_tests/figures_text.h"

#include <fmt/format.h>

#include "models/base/compiler.h"

namespace orrery {
namespace {

constexpr int64_t kPicosecondsPerMicrosecond = 1'000'000;
constexpr int64_t kBytesPerGigabyte = 1'000'000'000;

/// amount / unit with so many decimals, rounded half up. Requires amount >= 0, and a unit that 2 *
/// 10^decimals divides.
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

/// getFloatStr().
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
