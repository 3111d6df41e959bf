#include "tools/calibrate/gpu_fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/scenario/quantity_text.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/residuals.h"
#include "tools/report/figures.h"

namespace orrery {
namespace {

constexpr double kPicoseconds = 1e12;  // per second

struct Point {
  int64_t amount = 0;
  int64_t time = 0;  // in ps
};

/// This is a straight line: time in ps is latency + each * amount.
struct Line {
  double latency = 0;
  double each = 0;

  double at(int64_t amount) const { return latency + each * static_cast<double>(amount); }
};

/// Minimises the sum of (latency u + each v - 1)^2, where u = 1 / time and v = amount / time.
Line least_squares(std::span<const Point> points) {
  double uu = 0;
  double uv = 0;
  double vv = 0;
  double u_all = 0;
  double v_all = 0;
  for (const Point& point : points) {
    const double u = 1 / static_cast<double>(point.time);
    const double v = static_cast<double>(point.amount) * u;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u_all += u;
    v_all += v;
  }
  const double determinant = uu * vv - uv * uv;
  const Line line = {(u_all * vv - v_all * uv) / determinant,
                     (v_all * uu - u_all * uv) / determinant};
  return line.latency >= 0 ? line : Line{0, v_all / vv};
}

int64_t amount_of(const cuda::MeasuredWork& work) {
  return work.kind == cuda::WorkKind::Dot ? work.flops.count() : work.bytes.count();
}

/// Returns the points that are fitted to: the least amount, and those from a sixteenth of the most
/// on.
std::vector<Point> fitted_to(const std::vector<Point>& points) {
  std::vector<Point> some;
  std::copy_if(points.begin(), points.end(), std::back_inserter(some), [&](const Point& point) {
    return point.amount == points.front().amount || point.amount >= points.back().amount / 16;
  });
  return some;
}

void fit(std::vector<Point> points, GpuFit& result) {
  const auto refuse = [&] {
    throw InputError("what was measured",
                     {{{},
                       fmt::format("{}: expected times that grow with sizes, got {} ps and {} ps",
                                   name_of(result), points.front().time, points.back().time)}});
  };
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.amount < b.amount; });
  result.least = points.front().amount;
  result.most = points.back().amount;
  if (result.least == result.most || points.front().time <= 0 ||
      std::any_of(points.begin(), points.end(), [](const Point& point) { return point.time <= 0; }))
    refuse();
  const std::vector<Point> fitted = fitted_to(points);
  const Line line = least_squares(fitted);
  if (line.each <= 0)
    refuse();
  result.latency = Duration(line.latency < 1 ? 0 : three_digits(line.latency));
  result.rate = three_digits(kPicoseconds / line.each);
  const Line rounded = {static_cast<double>(result.latency.count()),
                        kPicoseconds / static_cast<double>(result.rate)};
  const auto error = [&](const Point& point) {
    return rounded.at(point.amount) / static_cast<double>(point.time) - 1;
  };
  // A line that is twice or half of a time that it is fitted to describes nothing.
  for (const Point& point : fitted)
    if (error(point) > 1 || error(point) < -0.5)
      throw InputError(
          "what was measured",
          {{{},
            fmt::format("{}: expected times of a latency and a rate, got {} ps for {}, "
                        "where the fit has {:.0f} ps",
                        name_of(result), point.time, amount_text(result, point.amount),
                        rounded.at(point.amount))}});
  for (const Point& point : points)
    result.errors.push_back(error(point));
}

using Align = Table::Align;

}  // namespace

double GpuFit::mean_error() const {
  double sum = 0;
  for (const double error : errors)
    sum += std::abs(error);
  return sum / static_cast<double>(errors.size());
}

double GpuFit::worst_error() const {
  return *std::max_element(errors.begin(), errors.end(),
                           [](double a, double b) { return std::abs(a) < std::abs(b); });
}

std::vector<GpuFit> fit_gpu_works(std::span<const cuda::MeasuredWork> works) {
  std::vector<GpuFit> fits;
  std::vector<std::vector<Point>> points;
  for (const cuda::MeasuredWork& work : works) {
    const auto same = [&](const GpuFit& fit) {
      return fit.kind == work.kind && fit.dtype == work.dtype && fit.at_once == work.at_once;
    };
    const auto known = std::find_if(fits.begin(), fits.end(), same);
    const auto at = static_cast<size_t>(known - fits.begin());
    if (known == fits.end()) {
      GpuFit& added = fits.emplace_back();
      added.kind = work.kind;
      added.dtype = work.dtype;
      added.at_once = work.at_once;
      points.emplace_back();
    }
    points[at].push_back({amount_of(work), work.node.count()});
  }
  for (size_t f = 0; f < fits.size(); ++f)
    fit(std::move(points[f]), fits[f]);
  return fits;
}

std::string kind_name(const GpuFit& fit) {
  switch (fit.kind) {
    case cuda::WorkKind::Copy:
      return "copy";
    case cuda::WorkKind::PeerCopy:
      return "peer copy";
    case cuda::WorkKind::Combine:
      return "combine";
    case cuda::WorkKind::Pack:
      return "pack";
    case cuda::WorkKind::Elementwise:
      return "add";
    case cuda::WorkKind::Dot:
      break;
  }
  return fmt::format("dot_general {}", name(fit.dtype));
}

std::string name_of(const GpuFit& fit) {
  return fmt::format("{} by {}{}", kind_name(fit), counted(fit.at_once, "virtual device"),
                     fit.at_once == 1 ? "" : " at once");
}

std::string amount_text(const GpuFit& fit, int64_t amount) {
  if (fit.kind != cuda::WorkKind::Dot)
    return size_text(Bytes(amount));
  const auto flops = static_cast<double>(amount);
  return flops < 1e9 ? fmt::format("{:.3g} MFLOP", flops / 1e6)
                     : fmt::format("{:.3g} GFLOP", flops / 1e9);
}

std::string rate_text(const GpuFit& fit, int64_t rate) {
  return fit.kind == cuda::WorkKind::Dot ? quantity_text(FlopsPerSecond(rate))
                                         : quantity_text(BytesPerSecond(rate));
}

std::string gpu_calibration_text(const cuda::GpuMeasurements& measured,
                                 std::span<const GpuFit> fits, const Style& style) {
  const auto gpus = static_cast<int64_t>(measured.gpus.size());
  std::string text = fmt::format("{} on {} ({}), CUDA {}\n\n",
                                 counted(measured.devices, "virtual device"), counted(gpus, "GPU"),
                                 measured.gpus.front().name, cuda_version_text(measured.driver));
  text += style.bold("nodes") +
          ": latency + amount / rate; errors, modelled / measured - 1, of all amounts\n";
  Table table({Align::Left, Align::Right, Align::Left, Align::Right, Align::Right, Align::Right,
               Align::Right, Align::Right});
  table.row({"work", "at once", "amounts", "latency", "rate of each", "of all", "mean", "worst"});
  for (const GpuFit& fit : fits)
    table.row({kind_name(fit), fmt::format("{}", fit.at_once),
               fmt::format("{} to {}", amount_text(fit, fit.least), amount_text(fit, fit.most)),
               time_text(fit.latency, style.ascii()), rate_text(fit, fit.rate),
               rate_text(fit, fit.rate * int64_t{fit.at_once}), percent(fit.mean_error()),
               signed_percent(fit.worst_error())});
  text += table.text(style, 2);
  return text + fmt::format(
                    "\nlaunch of a graph: {} (in no figure of the cluster: the modelled makespan "
                    "lacks it)\n",
                    time_text(measured.launch, style.ascii()));
}

}  // namespace orrery
