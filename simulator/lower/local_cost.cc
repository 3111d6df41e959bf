#include "simulator/lower/local_cost.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/op_request.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "simulator/lower/core_times.h"

namespace orrery {
namespace {

std::string no_rate(Dtype dtype, const DeviceFigures& device) {
  std::vector<std::string_view> given;
  for (const auto& [known, rate] : device.flops)
    given.push_back(name(known));
  return fmt::format(
      "expected a peak rate for {} under the cluster's \"flops\", got {}", name(dtype),
      given.empty() ? "none at all" : fmt::format("only {}", fmt::join(given, ", ")));
}

}  // namespace

bool is_about_flops(OpKind kind) {
  return kind == OpKind::DotGeneral || kind == OpKind::DotProductAttention ||
         kind == OpKind::DotProductAttentionVjp || kind == OpKind::Compute;
}

LocalDuration op_duration(const Program& program, const Op& op, const DeviceFigures& device) {
  if (op.kind == OpKind::MpmdMap)
    return core_times(cores_of(program, op), device).whole;
  return local_duration(cost_of(program, op), device);
}

Duration launch_part(const LocalDuration& one, Duration took) {
  if (one.takes == Duration())
    return Duration();
  const Int128 all = Int128{took.count()} * one.launch.count();
  return Duration(checked_narrow(all / one.takes.count()));
}

Duration LocalCosts::of(const Op& op) {
  const Cost cost = cost_of(program_, op);
  LocalDuration duration;
  std::set<Dtype> without_rate;
  std::optional<Dtype> needs_rate;
  if (op.kind == OpKind::MpmdMap) {
    const Cores cores = cores_of(program_, op);
    if (const std::string misfit = core_misfit(cores, device_); !misfit.empty())
      diagnostics_.add(origin_of(op.name, op.origin), fmt::format("{}: {}", op_title(op), misfit));
    CoreTimes times = core_times(cores, device_);
    duration = times.whole;
    assumed_of_cores_.merge(times.assumed);
    without_rate = std::move(times.without_rate);
    needs_rate = times.product_without_rate;
  } else {
    duration = op_duration(program_, op, device_);
    if (duration.lacks_peak_rate)
      without_rate.insert(cost.dtype);
    if (duration.lacks_peak_rate && is_about_flops(op.kind))
      needs_rate = cost.dtype;
  }
  if (needs_rate)
    diagnostics_.add(origin_of(op.name, op.origin),
                     fmt::format("{}: {}", op_title(op), no_rate(*needs_rate, device_)));
  else if (!duration.lacks_memory_bandwidth)
    flops_not_charged_.merge(without_rate);
  const auto efficiency = device_.efficiency.find(cost.dtype);
  if (efficiency != device_.efficiency.end()) {
    goes_back_as_forward_ |=
        op.kind == OpKind::DotProductAttentionVjp && efficiency->second.attention;
    compare_with_calibration(cost, efficiency->second);
  }
  if (!duration.lacks_memory_bandwidth)
    return duration.takes;
  if (duration.takes > duration.launch)
    only_flops_charged_ = true;
  else if (take_nothing_++ == 0)
    takes_nothing_ = op.name;
  return duration.takes;
}

void LocalCosts::compare_with_calibration(const Cost& cost, const FlopsEfficiency& efficiency) {
  if (cost.flops == Flops())
    return;
  if (cost.attention && efficiency.attention) {
    const AttentionSizes& sizes = *cost.attention;
    for (const auto& [size, is] : {std::pair("batch", sizes.batch),
                                   {"sequence", sizes.queries},
                                   {"sequence", sizes.keys},
                                   {"heads", sizes.heads},
                                   {"kv_heads", sizes.key_heads},
                                   {"head", sizes.depth}})
      compare(Work::Attention, cost.dtype, efficiency.attention->calibrated, size, is);
  } else if (cost.product) {
    const Cost::Product& product = *cost.product;
    for (const auto& [size, is] :
         {std::pair("m", product.rows), {"n", product.columns}, {"k", product.depth}})
      compare(Work::Product, cost.dtype, efficiency.calibrated, size, is);
  }
}

void LocalCosts::compare(Work work, Dtype dtype, const CalibratedSizes& calibrated,
                         std::string_view size, int64_t is) {
  const auto range = calibrated.find(size);
  if (range == calibrated.end() || (is >= range->second.least && is <= range->second.most))
    return;
  const auto [found, first] =
      outside_[{work, dtype}].try_emplace(std::string(size), Outside{range->second, {is, is}});
  SizeRange& seen = found->second.seen;
  seen = {std::min(seen.least, is), std::max(seen.most, is)};
}

/// Returns one label for each kind of work: "efficiency: extrapolated to bf16 products of k 131072
/// (calibrated for 32 to 65536)".
std::vector<std::string> LocalCosts::extrapolated() const {
  const auto text = [](const SizeRange& range) {
    return range.least == range.most ? fmt::format("{}", range.least)
                                     : fmt::format("{} to {}", range.least, range.most);
  };
  std::vector<std::string> result;
  for (const auto& [of, sizes] : outside_) {
    std::vector<std::string> texts;
    const std::span<const std::string_view> names =
        of.first == Work::Product ? std::span<const std::string_view>(kProductSizes)
                                  : kAttentionSizes;
    for (const std::string_view size : names)
      if (const auto found = sizes.find(size); found != sizes.end())
        texts.push_back(fmt::format("{} {} (calibrated for {})", size, text(found->second.seen),
                                    text(found->second.calibrated)));
    result.push_back(fmt::format("efficiency: extrapolated to {} {} of {}", name(of.second),
                                 of.first == Work::Product ? "products" : "attention",
                                 fmt::join(texts, ", ")));
  }
  return result;
}

std::vector<std::string> LocalCosts::labels() const {
  std::vector<std::string> result;
  if (only_flops_charged_)
    result.emplace_back("memory_bandwidth: not given; local ops are charged for flops only");
  if (take_nothing_ > 0)
    result.push_back(fmt::format("\"{}\"{} {} {} (no memory_bandwidth given)", takes_nothing_,
                                 take_nothing_ > 2
                                     ? fmt::format(" and {} other local ops", take_nothing_ - 1)
                                 : take_nothing_ == 2 ? " and 1 other local op"
                                                      : "",
                                 take_nothing_ == 1 ? "takes" : "take",
                                 launch_duration(device_) > Duration() ? "only a launch" : "0"));
  if (goes_back_as_forward_)
    result.emplace_back(
        "efficiency: extrapolated to gradients of attention, from figures of attention");
  for (std::string& label : extrapolated())
    result.push_back(std::move(label));
  for (const Dtype dtype : flops_not_charged_)
    result.push_back(fmt::format(
        "flops: not given for {}; its elementwise ops and reductions are charged for bytes only",
        name(dtype)));
  result.insert(result.end(), assumed_of_cores_.begin(), assumed_of_cores_.end());
  return result;
}

}  // namespace orrery
