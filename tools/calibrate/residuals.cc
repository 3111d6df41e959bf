#include "tools/calibrate/residuals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "models/base/check.h"

namespace orrery {

std::span<const SizeBand> size_bands() {
  constexpr int64_t kKiB = 1 << 10;
  constexpr int64_t kMiB = 1 << 20;
  static constexpr std::array kBands = {
      SizeBand{"below 64 KiB", 0, 64 * kKiB},
      SizeBand{"64 KiB to 1 MiB", 64 * kKiB, kMiB},
      SizeBand{"1 to 64 MiB", kMiB, 64 * kMiB},
      SizeBand{"64 MiB and more", 64 * kMiB, std::numeric_limits<int64_t>::max()},
  };
  return kBands;
}

const SizeBand& band_of(Bytes size) {
  for (const SizeBand& band : size_bands())
    if (size.count() >= band.least && size.count() < band.end)
      return band;
  return size_bands().back();
}

double Residual::error() const {
  return static_cast<double>(modelled.count()) / static_cast<double>(measured.count()) - 1;
}

std::vector<Residual> residuals(std::span<const MeasuredCall> calls,
                                std::span<const CallTime> modelled) {
  ORRERY_CHECK(calls.size() == modelled.size(), "a modelled time per call");
  std::vector<Residual> all;
  for (size_t c = 0; c < calls.size(); ++c)
    for (const MeasuredTime& measured : calls[c].times)
      all.push_back({&calls[c], measured.time, modelled_as(measured, modelled[c])});
  return all;
}

ErrorSummary summary(std::span<const double> errors) {
  ErrorSummary sum;
  for (const double error : errors) {
    sum.mean += std::abs(error);
    sum.bias += error;
    if (std::abs(error) > std::abs(sum.worst))
      sum.worst = error;
  }
  sum.times = errors.size();
  if (sum.times > 0) {
    sum.mean /= static_cast<double>(sum.times);
    sum.bias /= static_cast<double>(sum.times);
  }
  return sum;
}

ErrorSummary summary(std::span<const Residual> residuals) {
  std::vector<double> errors;
  for (const Residual& residual : residuals)
    errors.push_back(residual.error());
  return summary(errors);
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}

std::string signed_percent(double fraction) {
  return fmt::format("{:+.1f} %", 100 * fraction);
}

}  // namespace orrery
