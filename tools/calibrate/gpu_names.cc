#include "tools/calibrate/gpu_names.h"

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

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

}  // namespace orrery
