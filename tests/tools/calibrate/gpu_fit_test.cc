// Tests fits of GPU work to times that are made from known parameters: the fits must find these.

#include "tools/calibrate/gpu_fit.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "tests/support/units.h"

namespace orrery::test {
namespace {

using cuda::MeasuredWork;
using cuda::WorkKind;

/// Returns a copy of `bytes` that takes latency + bytes / rate. The rate is in bytes per us.
MeasuredWork copy(int64_t bytes, int64_t latency, int64_t per_us, uint32_t at_once = 1) {
  return {WorkKind::Copy, Dtype::F32, at_once,
          Bytes(bytes),   {},         Duration(latency + bytes * kUs / per_us)};
}

std::string refused(const std::vector<MeasuredWork>& works) {
  try {
    fit_gpu_works(works);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("gpu fit: a latency and a rate are found again, to three digits") {
  std::vector<MeasuredWork> works;
  for (const int64_t size : {4 * kKiB, 64 * kKiB, 1024 * kKiB, 16384 * kKiB})
    works.push_back(copy(size, 1'230'000, 456'000));
  const std::vector<GpuFit> fits = fit_gpu_works(works);
  REQUIRE(fits.size() == 1);
  CHECK(fits[0].latency == Duration(1'230'000));
  CHECK(fits[0].rate == 456'000 * kUs);  // per second
  CHECK(fits[0].least == 4 * kKiB);
  CHECK(fits[0].most == 16384 * kKiB);
  CHECK(fits[0].errors.size() == 4);
  // Times are whole picoseconds of at least 10 us, so errors are below 1 in 10^7.
  CHECK(fits[0].mean_error() < 1e-6);
}

TEST_CASE("gpu fit: kinds, dtypes and numbers at once are fitted apart, in the order they come") {
  std::vector<MeasuredWork> works = {copy(kKiB, kUs, 1000, 2), copy(kKiB, kUs, 2000),
                                     copy(64 * kKiB, kUs, 1000, 2), copy(64 * kKiB, kUs, 2000)};
  // These are 2 MFLOP and 16 MFLOP at 1 TFLOP/s.
  for (const int64_t flops : {2'000'000, 16'000'000})
    works.push_back({WorkKind::Dot, Dtype::BF16, 2, Bytes(), Flops(flops), Duration(kUs + flops)});
  const std::vector<GpuFit> fits = fit_gpu_works(works);
  REQUIRE(fits.size() == 3);
  CHECK(fits[0].at_once == 2);
  CHECK(fits[0].rate == 1000 * kUs);
  CHECK(fits[1].at_once == 1);
  CHECK(fits[1].rate == 2000 * kUs);
  CHECK(fits[2].kind == WorkKind::Dot);
  CHECK(fits[2].dtype == Dtype::BF16);
  CHECK(fits[2].rate == 1'000'000 * kUs);
  CHECK(fits[2].latency == Duration(kUs));
}

TEST_CASE("gpu fit: a line that is half what it is fitted to is refused") {
  // 8 KiB take 1/1000 of the time of 4 KiB.
  const std::vector<MeasuredWork> works = {copy(4 * kKiB, 1'000'000, 1'000'000'000),
                                           copy(8 * kKiB, 1'000, 1'000'000'000),
                                           copy(16 * kKiB, 1'010'000, 1'000'000'000)};
  CHECK(refused(works).find(
            "copy by 1 virtual device: expected times of a latency and a rate, got ") !=
        std::string::npos);
}

TEST_CASE("gpu fit: sizes between the least and a sixteenth of the most only show their errors") {
  // A cache makes 64 KiB twice as fast as the line of the other sizes.
  std::vector<MeasuredWork> works = {copy(4 * kKiB, kUs, 1000), copy(1024 * kKiB, kUs, 1000),
                                     copy(16384 * kKiB, kUs, 1000)};
  MeasuredWork cached = copy(64 * kKiB, kUs, 1000);
  cached.node = Duration(cached.node.count() / 2);
  works.insert(works.begin() + 1, cached);
  const GpuFit fit = fit_gpu_works(works).front();
  CHECK(fit.rate == 1000 * kUs);
  CHECK(fit.latency == Duration(kUs));
  CHECK(fit.worst_error() == doctest::Approx(1));
  CHECK(fit.mean_error() == doctest::Approx(0.25));
}

TEST_CASE("gpu fit: of times that a line does not meet, the squares of relative errors are least") {
  // Each size has two times: 1.1 and 0.9 of the times of a line of 1 us and 1000 B/us. The fit is c
  // times that line, with relative errors c / 1.1 - 1 and c / 0.9 - 1. The sum of their squares is
  // least where its derivative is 0: c = (1 / 1.1 + 1 / 0.9) / (1 / 1.1^2 + 1 / 0.9^2) = 0.980.
  std::vector<MeasuredWork> works;
  for (const int64_t percent : {110, 90})
    for (const int64_t size : {4 * kKiB, 1024 * kKiB}) {
      works.push_back(copy(size, kUs, 1000));
      works.back().node = Duration(works.back().node.count() / 100 * percent);
    }
  const GpuFit fit = fit_gpu_works(works).front();
  CHECK(fit.latency == Duration(980'000));
  CHECK(fit.rate == 1020 * kUs);
}

TEST_CASE("gpu fit: a latency is never below zero") {
  // From 1 KiB to 64 KiB the time grows by a greater factor than the size, so a line would begin
  // below zero.
  std::vector<MeasuredWork> works = {copy(kKiB, 0, 1000), copy(64 * kKiB, 0, 1000)};
  works.front().node = Duration(works.front().node.count() / 2);
  CHECK(fit_gpu_works(works).front().latency == Duration());
}

TEST_CASE("gpu fit: times that do not grow are refused") {
  const MeasuredWork small = copy(kKiB, kUs, 1000, 8);
  MeasuredWork large = copy(64 * kKiB, kUs, 1000, 8);
  large.node = Duration(small.node.count() / 2);
  CHECK(
      refused({small, large}) ==
      "what was measured: copy by 8 virtual devices at once: expected times that grow with sizes, "
      "got 2024000 ps and 1012000 ps");
  // This node is too short for the driver's clock.
  MeasuredWork fast = small;
  fast.node = Duration();
  CHECK(
      refused({fast, copy(64 * kKiB, kUs, 1000, 8)}) ==
      "what was measured: copy by 8 virtual devices at once: expected times that grow with sizes, "
      "got 0 ps and 66536000 ps");
  // There is only one size.
  CHECK(
      refused({small}) ==
      "what was measured: copy by 8 virtual devices at once: expected times that grow with sizes, "
      "got 2024000 ps and 2024000 ps");
}

}  // namespace
}  // namespace orrery::test
