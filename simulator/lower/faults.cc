#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include "models/base/hash.h"
#include "models/program/rules.h"
#include "models/scenario/size_limits.h"
#include "simulator/lower/lower.h"

namespace orrery {

namespace {

class Faults {
 public:
  Faults(const Program& program, const Fabric& healthy, uint64_t seed, Lowered& lowered)
      : program_(program),
        healthy_(healthy),
        seed_(seed),
        lowered_(lowered),
        slowness_(program.mesh.devices(), kOnce) {}

  FaultEffects apply(std::span<const Fault> faults) {
    count_rates_in_parts(faults);
    for (const Fault& fault : faults)
      std::visit([&](const auto& one) { note(one); }, fault);
    jitter_links();  // last, so that the order of the faults has no effect
    if (slow_device_)
      slow_local_ops();
    if (jitter_.ops > Duration())
      lowered_.jitter = {seed_, jitter_.ops};
    FaultEffects fault_effects;
    if (!links_.empty())
      fault_effects.fabric.emplace(healthy_.with_links(std::move(links_), rate_parts_));
    fault_effects.device_start = std::move(device_start_);
    return fault_effects;
  }

 private:
  /// Cuts the unit of all bandwidths into parts, so that the bandwidths of slow links are whole
  /// numbers of parts. This is done as far as the parts stay few and the largest bandwidth has
  /// room. The links that need the fewest parts come first, so that the order of the faults has no
  /// effect. A bandwidth that is still not whole is rounded down.
  void count_rates_in_parts(std::span<const Fault> faults) {
    std::set<int64_t> needed;
    for (const Fault& fault : faults) {
      const auto* slow = std::get_if<SlowLink>(&fault);
      if (slow == nullptr || !slow->factor)
        continue;
      for (const LinkId id : healthy_.links_between(slow->from, slow->to))
        needed.insert(parts_of_slowed(healthy_.link(id).bandwidth, *slow->factor));
    }
    int64_t largest = 1;
    for (const Link& link : healthy_.links())
      largest = std::max(largest, link.bandwidth.count());
    const int64_t most = std::min(kMostRateParts, kMostBandwidth / largest);
    for (const int64_t own : needed) {
      const int64_t parts = std::lcm(rate_parts_, own);  // at most 512 and 10^12: no overflow
      if (parts <= most)
        rate_parts_ = parts;
    }
    if (rate_parts_ > 1)
      for (Link& link : links())
        link.bandwidth = link.bandwidth * rate_parts_;
  }

  void note(const SlowDevice& fault) {
    slowness_[fault.device.index()] = fault.factor;
    slow_device_ = true;
  }

  void note(const SlowLink& fault) {
    for_each_link(fault.from, fault.to, [&](Link& link) {
      if (fault.factor)
        link.bandwidth = slowed(link.bandwidth, *fault.factor);
      if (fault.bandwidth)
        link.bandwidth = std::min(link.bandwidth, *fault.bandwidth * rate_parts_);
      if (fault.latency)
        link.latency = std::max(link.latency, *fault.latency);
    });
  }

  void note(const CutLink& fault) {
    for_each_link(fault.from, fault.to, [](Link& link) { link.cut = true; });
  }

  void note(const LateStart& fault) {
    device_start_.resize(program_.mesh.devices());
    device_start_[fault.device.index()] = Instant() + fault.by;
  }

  void note(const Jitter& fault) { jitter_ = fault; }

  void jitter_links() {
    if (jitter_.links == Duration())
      return;
    for (size_t i = 0; i < links().size(); ++i) {
      Hasher key;
      key.add(seed_);
      key.add(std::string_view("link"));
      key.add(uint64_t{i});
      links()[i].latency += drawn(key, jitter_.links);
    }
  }

  /// Returns a copy of the healthy links, to be modified.
  std::vector<Link>& links() {
    if (links_.empty())
      links_ = healthy_.links();
    return links_;
  }

  template <class Change>
  void for_each_link(VertexId from, VertexId to, Change change) {
    for (const LinkId id : healthy_.links_between(from, to))
      change(links()[id.index()]);
  }

  void slow_local_ops() {
    for (const Thread& thread : program_.threads) {
      for (const OpId id : thread.issue_order) {
        LocalTime& time = lowered_.local[id.index()];
        if (time.common == Duration())
          continue;
        for (const LogicalId device : thread.devices)
          time.by_device.push_back(stretched(time.common, slowness_[device.index()]));
      }
    }
  }

  const Program& program_;
  const Fabric& healthy_;
  const uint64_t seed_;
  Lowered& lowered_;
  std::vector<Factor> slowness_;  // per logical id
  bool slow_device_ = false;
  Jitter jitter_;
  std::vector<Link> links_;  // empty: unchanged
  int64_t rate_parts_ = 1;   // of bandwidths in links_
  std::vector<Instant> device_start_;
};

}  // namespace

FaultEffects apply_faults(std::span<const Fault> faults, const Program& program,
                          const Fabric& healthy, uint64_t seed, Lowered& lowered) {
  return faults.empty() ? FaultEffects{} : Faults(program, healthy, seed, lowered).apply(faults);
}

}  // namespace orrery
