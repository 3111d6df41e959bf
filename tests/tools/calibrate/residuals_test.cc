#include "tools/calibrate/residuals.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/units.h"

namespace orrery::test {
namespace {

TEST_CASE("residuals: an error is modelled / measured - 1") {
  MeasuredCall call;
  call.times = {{Duration(1000), false}, {Duration(2000), true}};
  CallTime modelled;
  modelled.out_of_place = Duration(1250);
  modelled.in_place = Duration(1500);
  const std::vector<MeasuredCall> calls = {call};
  const std::vector<Residual> all = residuals(calls, std::vector<CallTime>{modelled});
  REQUIRE(all.size() == 2);
  CHECK(all[0].error() == 0.25);
  CHECK(all[1].error() == -0.25);
  CHECK(all[0].call == &calls[0]);
  // All three figures are sums and quotients of powers of 2, and so exact.
  const ErrorSummary errors = summary(all);
  CHECK(errors.times == 2);
  CHECK(errors.mean == 0.25);
  CHECK(errors.bias == 0);
  CHECK(errors.worst == 0.25);
}

TEST_CASE("residuals: nothing has no error") {
  const ErrorSummary errors = summary(std::vector<double>());
  CHECK(errors.times == 0);
  CHECK(errors.mean == 0);
}

TEST_CASE("residuals: a band begins at its least size") {
  const auto band = [](int64_t bytes) { return std::string(band_of(Bytes(bytes)).name); };
  CHECK(band(0) == "below 64 KiB");
  CHECK(band(64 * kKiB - 1) == "below 64 KiB");
  CHECK(band(64 * kKiB) == "64 KiB to 1 MiB");
  CHECK(band(kMiB - 1) == "64 KiB to 1 MiB");
  CHECK(band(kMiB) == "1 to 64 MiB");
  CHECK(band(64 * kMiB - 1) == "1 to 64 MiB");
  CHECK(band(64 * kMiB) == "64 MiB and more");
}

TEST_CASE("residuals: per cent have one digit after the point, and a sign where asked") {
  CHECK(percent(0.05149) == "5.1 %");
  CHECK(signed_percent(0.05149) == "+5.1 %");
  CHECK(signed_percent(-0.5) == "-50.0 %");
}

}  // namespace
}  // namespace orrery::test
