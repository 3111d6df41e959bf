#include <doctest/doctest.h>

#include "tools/report/figures.h"

namespace orrery::test {
namespace {

TEST_CASE("percent text: one decimal, rounded half up") {
  CHECK(percent_text(Bytes(1), Bytes(8)) == "12.5 %");
  CHECK(percent_text(Bytes(1), Bytes(3)) == "33.3 %");
  CHECK(percent_text(Bytes(3), Bytes(2)) == "150.0 %");
}

TEST_CASE("grouped: thousands") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1'048'576) == "1,048,576");
}

}  // namespace
}  // namespace orrery::test
