#include <cstdio>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/property.h"
#include "tools/nccl_tests/decimal.h"

namespace orrery::test {
namespace {

/// Applies nccl-tests' rule by the C library: two decimals if they fit, else one, else none, else
/// an exponent.
std::string by_printf(double value, int width) {
  char text[64];
  for (const char* const format : {"%*.2f", "%*.1f", "%*.0f"})
    if (std::snprintf(text, sizeof text, format, width, value) <= width)
      return text;
  std::snprintf(text, sizeof text, width >= 7 ? "%*.1e" : "%*.0e", width, value);
  return text;
}

TEST_CASE("figures: times and bandwidths have the digits that nccl-tests prints") {
  CHECK(nccl_time_text(Duration(9'046'000)) == "   9.05");
  CHECK(nccl_time_text(Duration(99'999'940'000)) == "99999.9");
  CHECK(nccl_time_text(Duration(9'999'994'000'000)) == "9999994");
  CHECK(nccl_time_text(Duration(12'345'678'000'000)) == "1.2e+07");
  CHECK(nccl_bandwidth_text(BytesPerSecond(479'904'000'000)) == "479.90");
  CHECK(nccl_bandwidth_text(BytesPerSecond(1'234'560'000'000)) == "1234.6");
  CHECK(nccl_bandwidth_text(BytesPerSecond(2'863'311'530'666'667)) == " 3e+06");
  CHECK(nccl_json_time(Duration(9'046'001)) == "9.046001");
  CHECK(nccl_json_bandwidth(BytesPerSecond(1'500)) == "0.000002");  // half up
}

TEST_CASE("figures: where a digit more does not fit, as the C library rounds") {
  holds_for_all("figures", [] {
    const auto magnitude = in_range(0, 17);
    const auto digits = in_range<int64_t>(1, 1000);
    // An odd last digit makes no ties, at which decimals and doubles would round differently.
    int64_t picoseconds = digits;
    for (int m = 0; m < magnitude; ++m)
      picoseconds = picoseconds * 10 + 3;
    if (picoseconds < 4'000'000'000'000'000'000) {
      RC_ASSERT(nccl_time_text(Duration(picoseconds)) ==
                by_printf(static_cast<double>(picoseconds) / 1e6, 7));
      RC_ASSERT(nccl_bandwidth_text(BytesPerSecond(picoseconds)) ==
                by_printf(static_cast<double>(picoseconds) / 1e9, 6));
    }
  });
}

}  // namespace
}  // namespace orrery::test
