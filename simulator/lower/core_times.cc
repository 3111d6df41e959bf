#include "simulator/lower/core_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "simulator/lower/local_cost.h"

namespace orrery {

namespace {

const CoreFigures* figures_of(CoreType type, const DeviceFigures& device) {
  const auto found = device.cores.find(type);
  return found == device.cores.end() ? nullptr : &found->second;
}

const CoreFigures::Space* space_of(const CoreFigures* core, CoreSpace space) {
  if (core == nullptr)
    return nullptr;
  const auto found = core->spaces.find(space);
  return found == core->spaces.end() ? nullptr : &found->second;
}

bool uses_device_memory(const Cores& cores, const CoreStep& step) {
  for (const auto& [space, bytes] : cores.touched(step))
    if (is_device_memory(space))
      return true;
  return false;
}

class Durations {
 public:
  Durations(const Cores& cores, const DeviceFigures& device, CoreTimes& times)
      : cores_(cores), device_(device), times_(times) {
    for (const CoreInstance& instance : cores.instances)
      if (std::any_of(instance.steps.begin(), instance.steps.end(),
                      [&](const CoreStep& step) { return uses_device_memory(cores, step); }))
        ++sharers_;
    if (sharers_ > 1 && device.memory_bandwidth)
      times_.assumed.insert(
          "cores: the bandwidth of the device's memory is divided evenly among those that use it");
  }

  Duration of(const CoreInstance& instance, const CoreStep& step) {
    Duration longest;
    if (!step.writes)
      return longest;
    const CoreType type = cores_.mesh(instance).type;
    const CoreFigures* const core = figures_of(type, device_);
    Cost cost = cores_.cost(step);
    DeviceFigures figures;
    figures.flops = device_.flops;
    figures.efficiency = device_.efficiency;
    if (core != nullptr && core->flops.contains(cost.dtype)) {
      figures.flops = core->flops;
      figures.efficiency.clear();
    } else if (cost.flops > Flops() && device_.flops.contains(cost.dtype)) {
      times_.assumed.insert(fmt::format("cores: flops of {} cores not given for {}; the device's",
                                        name(type), name(cost.dtype)));
    }
    for (const auto& [space, bytes] : cores_.touched(step)) {
      cost.bytes = bytes;
      figures.memory_bandwidth = device_.memory_bandwidth;
      figures.memory_share = device_.memory_share;
      const CoreFigures::Space* const own = space_of(core, space);
      if (is_device_memory(space)) {
        // The bytes are multiplied, since a divided rate would be rounded.
        cost.bytes = bytes * sharers_;
      } else if (own != nullptr && own->bandwidth) {
        figures.memory_bandwidth = own->bandwidth;
        figures.memory_share = {};
      } else if (device_.memory_bandwidth) {
        times_.assumed.insert(
            fmt::format("cores: bandwidth of {} of {} cores not given; that of the device's memory",
                        name(space), name(type)));
      }
      const LocalDuration one = local_duration(cost, figures);
      longest = std::max(longest, one.takes - one.launch);
      if (one.lacks_peak_rate)
        lacks_rate(step, cost.dtype);
      times_.whole.lacks_memory_bandwidth =
          times_.whole.lacks_memory_bandwidth || one.lacks_memory_bandwidth;
    }
    return longest;
  }

 private:
  void lacks_rate(const CoreStep& step, Dtype dtype) {
    times_.whole.lacks_peak_rate = true;
    times_.without_rate.insert(dtype);
    if (is_about_flops(step.op->op))
      times_.product_without_rate = dtype;
  }

  const Cores& cores_;
  const DeviceFigures& device_;
  CoreTimes& times_;
  int64_t sharers_ = 0;
};

}  // namespace

CoreTimes core_times(const Cores& cores, const DeviceFigures& device) {
  CoreTimes times;
  for (const CoreFunction& function : cores.map->functions) {
    const CoreFigures* const core = figures_of(function.mesh.type, device);
    const std::optional<Duration> own = core != nullptr ? core->launch : std::nullopt;
    times.whole.launch = std::max(times.whole.launch, own.value_or(launch_duration(device)));
  }
  Durations durations(cores, device, times);
  times.walk = walk_cores(cores, [&](const CoreInstance& instance, const CoreStep& step) {
    return durations.of(instance, step);
  });
  Instant end;
  for (const CoreRun& run : times.walk.runs)
    end = std::max(end, run.end);
  times.whole.takes = times.whole.launch + (end - Instant());
  return times;
}

std::vector<size_t> critical_runs(const CoreWalk& walk) {
  std::vector<size_t> chain;
  std::map<std::pair<uint32_t, uint32_t>, size_t> run_of;
  std::optional<size_t> last;
  for (size_t r = 0; r < walk.runs.size(); ++r) {
    run_of[{walk.runs[r].place.instance, walk.runs[r].place.position}] = r;
    if (!last || walk.runs[r].end > walk.runs[*last].end)
      last = r;
  }
  while (last) {
    chain.push_back(*last);
    const CoreRun& run = walk.runs[*last];
    if (run.met_by)
      last = run.met_by;
    else if (run.place.position > 0)
      last = run_of.at({run.place.instance, run.place.position - 1});
    else
      last.reset();
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::string core_misfit(const Cores& cores, const DeviceFigures& device) {
  if (device.cores.empty())
    return "";
  for (const CoreFunction& function : cores.map->functions) {
    const CoreMesh& mesh = function.mesh;
    const CoreFigures* const core = figures_of(mesh.type, device);
    if (core == nullptr) {
      std::vector<std::string_view> types;
      for (const auto& [type, figures] : device.cores)
        types.push_back(name(type));
      return fmt::format("expected cores that the cluster has ({}), got \"{}\" of {} cores",
                         fmt::join(types, ", "), mesh.name, name(mesh.type));
    }
    if (core->cores && mesh.axes[0].size > *core->cores)
      return fmt::format("expected at most {} {} cores, which the cluster has, got {} of \"{}\"",
                         *core->cores, name(mesh.type), mesh.axes[0].size, mesh.name);
    if (core->subcores && mesh.axes.size() > 1 && mesh.axes[1].size > *core->subcores)
      return fmt::format("expected at most {} subcores, which the cluster has, got {} of \"{}\"",
                         *core->subcores, mesh.axes[1].size, mesh.name);
  }
  return "";
}

std::vector<SpaceUse> space_uses(const Cores& cores, const DeviceFigures& device) {
  // All instances of a function hold as much: its own scratch, once each.
  std::map<std::pair<CoreSpace, std::optional<uint32_t>>, Bytes> peaks;
  std::map<uint32_t, uint32_t> first_instance;
  for (uint32_t i = 0; i < cores.instances.size(); ++i)
    first_instance.emplace(cores.instances[i].function, i);
  for (const CoreStorage& storage : cores.storages) {
    if (storage.role != CoreStorage::Role::Scratch || is_device_memory(storage.space))
      continue;
    std::optional<uint32_t> function;
    if (storage.instance) {
      function = cores.instances[*storage.instance].function;
      if (first_instance.at(*function) != *storage.instance)
        continue;
    }
    peaks[{storage.space, function}] += storage.size();
  }
  std::vector<SpaceUse> uses;
  for (const auto& [where, peak] : peaks) {
    SpaceUse use{where.first, where.second, peak};
    for (size_t f = 0; f < cores.map->functions.size(); ++f) {
      const auto* const own =
          space_of(figures_of(cores.map->functions[f].mesh.type, device), where.first);
      if (own != nullptr && own->size && (!where.second || *where.second == f))
        use.size = use.size ? std::min(*use.size, *own->size) : *own->size;
    }
    uses.push_back(use);
  }
  return uses;
}

}  // namespace orrery
