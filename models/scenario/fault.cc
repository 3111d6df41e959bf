#include "models/scenario/fault.h"

#include <fmt/format.h>

#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

class FaultText {
 public:
  FaultText(const Fabric& fabric, uint64_t seed) : fabric_(fabric), seed_(seed) {}

  std::string operator()(const SlowDevice& fault) const {
    return fmt::format("Device {} is slow: its local ops take {} times as long.",
                       fault.device.index(), factor_text(fault.factor));
  }
  std::string operator()(const SlowLink& fault) const {
    std::string changes;
    if (fault.factor)
      changes = fmt::format("its bandwidth is divided by {}", factor_text(*fault.factor));
    if (fault.bandwidth)
      changes = fmt::format("its bandwidth is {}", quantity_text(*fault.bandwidth));
    if (fault.latency)
      changes += fmt::format("{}its latency is {}", changes.empty() ? "" : ", ",
                             quantity_text(*fault.latency));
    return fmt::format("The link {} is slow: {}.", ends(fault), changes);
  }
  std::string operator()(const CutLink& fault) const {
    return fmt::format("The link {} is cut.", ends(fault));
  }
  std::string operator()(const LateStart& fault) const {
    return fmt::format("Device {} starts late, at {}.", fault.device.index(),
                       quantity_text(fault.by));
  }
  std::string operator()(const Jitter& fault) const {
    std::string longer;
    if (fault.ops > Duration())
      longer = fmt::format("local ops take up to {} longer", quantity_text(fault.ops));
    if (fault.links > Duration())
      longer += fmt::format("{}latencies of links are up to {} longer", longer.empty() ? "" : ", ",
                            quantity_text(fault.links));
    return fmt::format("Jitter of seed {}: {}.", seed_, longer.empty() ? "none" : longer);
  }

 private:
  template <class OfLink>
  std::string ends(const OfLink& fault) const {
    return fmt::format("{} -> {}", fabric_.vertex_text(fault.from), fabric_.vertex_text(fault.to));
  }

  const Fabric& fabric_;
  uint64_t seed_;
};

}  // namespace

std::string factor_text(Factor factor) {
  std::string text =
      fmt::format("{}.{:06}", factor.count() / kOnce.count(), factor.count() % kOnce.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

std::string fault_text(const Fault& fault, const Fabric& fabric, uint64_t seed) {
  return std::visit(FaultText(fabric, seed), fault);
}

}  // namespace orrery
