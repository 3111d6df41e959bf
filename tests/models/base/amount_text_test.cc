#include "models/base/amount_text.h"

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

TEST_CASE("time text: the largest unit that the time reaches") {
  CHECK(time_text(Duration(0)) == "0 s");
  CHECK(time_text(Duration(999)) == "999 ps");
  CHECK(time_text(Duration(1000)) == "1 ns");
  CHECK(time_text(Duration(21'000'000)) == "21 µs");
  CHECK(time_text(Duration(1'500'000'000)) == "1.5 ms");
  CHECK(time_text(Duration(3'000'000'000'000)) == "3 s");
}

TEST_CASE("time text: four significant digits, rounded half up") {
  CHECK(time_text(Duration(1'234'567)) == "1.235 µs");  // 1.234567
  CHECK(time_text(Duration(12'344'999)) == "12.34 µs");
  CHECK(time_text(Duration(12'345'000)) == "12.35 µs");  // half
  CHECK(time_text(Duration(123'450'000)) == "123.5 µs");
  CHECK(time_text(Duration(999'999'999)) == "1000 µs");  // rounds up within its unit
}

TEST_CASE("time text: plain letters where the terminal has no others") {
  CHECK(time_text(Duration(1'500'000), true) == "1.5 us");
}

TEST_CASE("size text: powers of 1024") {
  CHECK(size_text(Bytes(0)) == "0 B");
  CHECK(size_text(Bytes(1023)) == "1023 B");
  CHECK(size_text(Bytes(4864 * 1024)) == "4.75 MiB");
  CHECK(size_text(Bytes(int64_t{80} << 30)) == "80 GiB");
}

}  // namespace
}  // namespace orrery::test
