#include "tools/import/msccl_waits.h"

#include <map>
#include <optional>

#include <fmt/format.h>

namespace orrery {
namespace {

constexpr std::string_view kNop = "nop";

class Waits {
 public:
  Waits(MscclAlgorithm& algorithm, const std::vector<ThreadBlock>& blocks, uint32_t gpu)
      : algorithm_(algorithm), blocks_(blocks), texts_(algorithm.blocks[gpu]), gpu_(gpu) {
    for (uint32_t b = 0; b < texts_.size(); ++b)
      by_id_.emplace(texts_[b].id, b);
    for (const MscclBlock& block : texts_)
      flags_.push_back(flags(block, blocks_[flags_.size()]));
  }

  void resolve() {
    for (uint32_t b = 0; b < texts_.size(); ++b) {
      check_nops(b);
      for (uint32_t s = 0; s < texts_[b].steps.size(); ++s)
        if (texts_[b].steps[s].waits_for)
          resolve(b, s);
    }
  }

 private:
  /// Per step of a block: the first step from there on that sets the flag to its number or more.
  using Flags = std::vector<std::optional<uint32_t>>;

  static Flags flags(const MscclBlock& text, const ThreadBlock& block) {
    // A nop is no step of the interpreter: its wait belongs to the next real step. The interpreter
    // counts steps and waits of nops, so a nop that waits for nothing has no number.
    std::vector<std::pair<uint32_t, uint32_t>> setting;  // steps that set a flag, and its number
    uint32_t number = 0;
    for (uint32_t s = 0; s < text.steps.size(); ++s) {
      const bool nop = text.steps[s].type == kNop;
      if (!nop && block.sets_flag[s])
        setting.emplace_back(s, number);
      number += nop && !text.steps[s].waits_for ? 0 : 1;
    }
    Flags result(text.steps.size());
    auto at = setting.begin();
    for (uint32_t d = 0; d < result.size(); ++d) {
      while (at != setting.end() && at->second < d)
        ++at;
      if (at != setting.end())
        result[d] = at->first;
    }
    return result;
  }

  /// The waits of nops before a real step are taken over by that step, which must have one itself.
  /// Those after the last real step hold up nothing.
  void check_nops(uint32_t b) {
    std::optional<uint32_t> open;
    for (uint32_t s = 0; s < texts_[b].steps.size(); ++s) {
      const MscclStepText& step = texts_[b].steps[s];
      if (step.type == kNop) {
        if (step.waits_for && !open)
          open = s;
        continue;
      }
      if (open && !step.waits_for)
        blocks_[b].elements[s].add_error(
            "depid", fmt::format("expected a wait: the nop on line {} waits, and the runtimes take "
                                 "its wait only with one of the next step",
                                 texts_[b].steps[*open].line));
      open.reset();
    }
    for (size_t s = texts_[b].steps.size(); s-- > 0 && texts_[b].steps[s].type == kNop;)
      algorithm_.blocks[gpu_][b].steps[s].waits_for.reset();
  }

  void resolve(uint32_t b, uint32_t s) {
    const XmlElement& element = blocks_[b].elements[s];
    const auto [id, step] = *texts_[b].steps[s].waits_for;
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) {
      element.add_error("depid", fmt::format("gpu {} has no thread block {}", gpu_, id));
      return;
    }
    const uint32_t on = found->second;
    const size_t steps = texts_[on].steps.size();
    if (step < 0 || step >= static_cast<int64_t>(steps)) {
      element.add_error(
          "deps", fmt::format("thread block {} has {} steps, so none is step {}", id, steps, step));
      return;
    }
    const auto named = static_cast<uint32_t>(step);
    const std::optional<uint32_t> ends = flags_[on][named];
    if (!ends || (on == b && *ends >= s))
      add_hang(b, s, on, named);
    else if (on != b)  // a step of its own thread block has ended by then
      algorithm_.steps[gpu_][b][s].after = StepRef{Node(gpu_), Channel(on), *ends};
  }

  void add_hang(uint32_t b, uint32_t s, uint32_t on, uint32_t named) {
    const std::string who = fmt::format("gpu {} tb {} step {} (line {})", gpu_, texts_[b].id, s,
                                        texts_[b].steps[s].line);
    const std::string whom =
        fmt::format("tb {} step {} (line {})", texts_[on].id, named, texts_[on].steps[named].line);
    const char* const why = on != b
                                ? "neither that step nor a later one of its thread block sets a "
                                  "flag (hasdep=\"1\")"
                            : named < s ? "no step between the two sets a flag (hasdep=\"1\")"
                                        : "it is in the same thread block, and no earlier";
    algorithm_.add_hang({fmt::format("{} waits for {} for ever: {}.", who, whom, why), {}});
  }

  MscclAlgorithm& algorithm_;
  const std::vector<ThreadBlock>& blocks_;
  const std::vector<MscclBlock>& texts_;
  uint32_t gpu_;
  std::map<int64_t, uint32_t> by_id_;
  std::vector<Flags> flags_;
};

}  // namespace

void resolve_waits(MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks) {
  for (uint32_t gpu = 0; gpu < blocks.size(); ++gpu)
    Waits(algorithm, blocks[gpu], gpu).resolve();
}

}  // namespace orrery
