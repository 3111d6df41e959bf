#include "models/scenario/fault_writer.h"

#include <fmt/format.h>

#include "models/scenario/cluster_writer.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

using Members = std::vector<std::pair<std::string, JsonText>>;

class FaultWriter {
 public:
  explicit FaultWriter(const Fabric& fabric) : fabric_(fabric) {}

  JsonText operator()(const SlowDevice& fault) const {
    return JsonText::object(
        {{"slow_device", device(fault.device)}, {"factor", factor(fault.factor)}});
  }
  JsonText operator()(const SlowLink& fault) const {
    Members members;
    members.emplace_back("slow_link", ends(fault));
    if (fault.factor)
      members.emplace_back("factor", factor(*fault.factor));
    if (fault.bandwidth)
      members.emplace_back("bandwidth", JsonText::text(quantity_text(*fault.bandwidth)));
    if (fault.latency)
      members.emplace_back("latency", JsonText::text(quantity_text(*fault.latency)));
    return JsonText::object(std::move(members));
  }
  JsonText operator()(const CutLink& fault) const {
    return JsonText::object({{"cut_link", ends(fault)}});
  }
  JsonText operator()(const LateStart& fault) const {
    return JsonText::object(
        {{"late_start", device(fault.device)}, {"by", JsonText::text(quantity_text(fault.by))}});
  }
  JsonText operator()(const Jitter& fault) const {
    return JsonText::object(
        {{"jitter", JsonText::object({{"ops", JsonText::text(quantity_text(fault.ops))},
                                      {"links", JsonText::text(quantity_text(fault.links))}})}});
  }

 private:
  static JsonText device(LogicalId id) { return JsonText::raw(fmt::format("{}", id.index())); }
  static JsonText factor(Factor factor) { return JsonText::raw(factor_text(factor)); }

  template <class OfLink>
  JsonText ends(const OfLink& fault) const {
    return JsonText::object(
        {{"from", vertex_text(fabric_, fault.from)}, {"to", vertex_text(fabric_, fault.to)}});
  }

  const Fabric& fabric_;
};

}  // namespace

JsonText faults_text(std::span<const Fault> faults, const Fabric& fabric) {
  std::vector<JsonText> texts;
  for (const Fault& fault : faults)
    texts.push_back(std::visit(FaultWriter(fabric), fault));
  return JsonText::list(std::move(texts));
}

}  // namespace orrery
