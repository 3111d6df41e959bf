#include "tools/nccl_tests/decimal.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/property.h"

namespace orrery::test {
namespace {

TEST_CASE("decimal: exact, with half of the last digit's unit") {
  // The values are in millionths.
  CHECK(read_decimal("12.83", 6) == PrintedDecimal{12'830'000, 5'000});
  CHECK(read_decimal("15749", 6) == PrintedDecimal{15'749'000'000, 500'000});
  CHECK(read_decimal("0.260000", 6) == PrintedDecimal{260'000, 1});
  CHECK(read_decimal("0", 6) == PrintedDecimal{0, 500'000});
  CHECK(read_decimal("1.2e+07", 6) == PrintedDecimal{12'000'000'000'000, 500'000'000'000});
  CHECK(read_decimal("5e-3", 6) == PrintedDecimal{5'000, 500});
  CHECK(read_decimal("12.8300000", 6) == PrintedDecimal{12'830'000, 1});
  CHECK(read_decimal(".5", 1) == PrintedDecimal{5, 1});
  CHECK(read_decimal("7.", 0) == PrintedDecimal{7, 1});
}

TEST_CASE("decimal: what is none, has a sign, is too fine or too large") {
  for (const char* const text : {"", ".", "-1", "+1", "1-", "1.2.3", "e5", "1e", "1e+", "1ex",
                                 "1e2.5", "0x10", "nan", "inf", "1 ", " 1", "1e9999999999"})
    CHECK_MESSAGE(!read_decimal(text, 6), text);
  CHECK(!read_decimal("0.0000001", 6));
  CHECK(!read_decimal("1e-7", 6));
  CHECK(!read_decimal("1e30", 0));
  CHECK(!read_decimal("1" + std::string(30, '0'), 0));
  CHECK(!read_decimal("4611686018428", 6));  // 2^62 millionths are 4611686018427.387904
  CHECK(read_decimal("4611686018427", 6).has_value());
}

TEST_CASE("decimal: what was printed with d digits lies within half a unit") {
  holds_for_all("printed decimals", [] {
    const auto value = in_range<int64_t>(0, 1'000'000'000'000);
    const auto digits = in_range(0, 7);
    const auto read =
        read_decimal(fmt::format("{:.{}f}", static_cast<double>(value) / 1e6, digits), 6);
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->low() <= value);
    RC_ASSERT(value <= read->high());
  });
}

}  // namespace
}  // namespace orrery::test
