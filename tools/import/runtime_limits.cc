#include "tools/import/runtime_limits.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "verifier/check/names.h"

namespace orrery {
namespace {

/// Collects the first excess of each kind.
class Excesses {
 public:
  Excesses(const MscclAlgorithm& algorithm, const RuntimeLimits& limits)
      : algorithm_(algorithm), limits_(limits) {}

  Witness find() {
    if (algorithm_.channels > limits_.channels)
      add("channels",
          fmt::format("{} channels, at most {}", algorithm_.channels, limits_.channels));
    for (uint32_t gpu = 0; gpu < algorithm_.gpus; ++gpu) {
      check_blocks(gpu);
      check_peers(gpu);
      for (uint32_t b = 0; b < algorithm_.blocks[gpu].size(); ++b)
        check_steps({Node(gpu), Channel(b), 0});
    }
    return std::move(found_);
  }

 private:
  void add(const char* what, std::string text) {
    for (const auto& [known, first] : found_)
      if (known == what)
        return;
    found_.emplace_back(what, std::move(text));
  }

  void check_blocks(uint32_t gpu) {
    const auto& blocks = algorithm_.blocks[gpu];
    if (static_cast<int64_t>(blocks.size()) > limits_.thread_blocks)
      add("thread blocks",
          fmt::format("gpu {} has {}, at most {}", gpu, blocks.size(), limits_.thread_blocks));
    // The ids number the runtime's thread blocks.
    for (const MscclBlock& block : blocks)
      if (block.id >= static_cast<int64_t>(blocks.size()))
        add("ids of thread blocks", fmt::format("gpu {} has {} and an id {}: expected 0 to {}", gpu,
                                                blocks.size(), block.id, blocks.size() - 1));
  }

  void check_peers(uint32_t gpu) {
    std::map<int64_t, std::pair<int64_t, int64_t>> by_channel;  // that send, that receive
    for (size_t b = 0; b < algorithm_.blocks[gpu].size(); ++b) {
      const std::vector<Step>& steps = algorithm_.steps[gpu][b];
      auto& [sends, receives] = by_channel[algorithm_.blocks[gpu][b].channel];
      sends +=
          std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.to.has_value(); });
      receives +=
          std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.from.has_value(); });
    }
    for (const auto& [channel, count] : by_channel)
      if (const int64_t most = std::max(count.first, count.second); most > limits_.peers)
        add("peers", fmt::format("gpu {} has {} on channel {}, at most {}", gpu, most, channel,
                                 limits_.peers));
  }

  void check_steps(StepRef ref) {
    const MscclBlock& block = algorithm_.block(ref);
    const std::string where = fmt::format("gpu {} tb {}", ref.node.index(), block.id);
    if (const auto steps = static_cast<int64_t>(block.steps.size()); steps > limits_.steps)
      add("steps", fmt::format("{} has {}, at most {}", where, steps, limits_.steps));
    for (; ref.index < block.steps.size(); ++ref.index) {
      const int64_t count = algorithm_.step(ref).count();
      if (count <= limits_.count)
        continue;
      add("cnt", fmt::format("{} step {} (line {}) has {} chunks, at most {}", where, ref.index,
                             algorithm_.text(ref).line, count, limits_.count));
      return;
    }
  }

  const MscclAlgorithm& algorithm_;
  const RuntimeLimits& limits_;
  Witness found_;
};

}  // namespace

Check runtime_limits(const MscclAlgorithm& algorithm, const Runtime& runtime) {
  Witness excesses = Excesses(algorithm, *runtime.limits).find();
  if (excesses.empty())
    return passed(CheckKind::RuntimeLimits, "",
                  fmt::format("{} takes it: steps, chunks, thread blocks and channels are within "
                              "its limits",
                              runtime.name));
  return failed(CheckKind::RuntimeLimits, "",
                fmt::format("{} refuses it; --runtime NAME asks for another, none has no limits",
                            runtime.name),
                std::move(excesses));
}

}  // namespace orrery
