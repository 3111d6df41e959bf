#include "tools/import/msccl_waits.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "models/base/amount_text.h"

namespace orrery {
namespace {

class Waits {
 public:
  Waits(MscclAlgorithm& algorithm, const std::vector<ThreadBlock>& blocks, uint32_t gpu)
      : algorithm_(algorithm), blocks_(blocks), texts_(algorithm.blocks[gpu]), gpu_(gpu) {
    for (uint32_t b = 0; b < texts_.size(); ++b) {
      by_id_.emplace(texts_[b].id, b);
      std::vector<Flag>& flags = flags_.emplace_back();
      for (uint32_t s = 0; s < texts_[b].steps.size(); ++s)
        if (const auto number = texts_[b].steps[s].flag)
          flags.push_back({*number, s});
    }
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
  struct Flag {
    uint32_t number;
    uint32_t step;
  };

  /// The waits of nops are taken over by the transfer after them, which must have one itself.
  void check_nops(uint32_t b) {
    const std::vector<MscclStepText>& steps = texts_[b].steps;
    for (const Transfer& transfer : blocks_[b].transfers.transfers) {
      const auto waiting =
          std::find_if(transfer.nops.begin(), transfer.nops.end(),
                       [&](uint32_t nop) { return steps[nop].waits_for.has_value(); });
      const MscclStepText& step = steps[transfer.steps.front()];
      if (waiting != transfer.nops.end() && !step.waits_for)
        algorithm_.refuse(
            "depid", fmt::format("gpu {} tb {} step {} (line {}) has no wait, and "
                                 "the nop on line {} before it waits",
                                 gpu_, texts_[b].id, step.number, step.line, steps[*waiting].line));
    }
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
      element.add_error("deps", fmt::format("thread block {} has {}, so none is step {}", id,
                                            counted(static_cast<int64_t>(steps), "step"), step));
      return;
    }
    const std::optional<uint32_t> ends = first_with_flag(on, step);
    if (!ends || (on == b && *ends >= s))
      add_hang(b, s, on, step);
    else if (on != b)  // a step of its own thread block has ended by then
      algorithm_.steps[gpu_][b][s].after = StepRef{Node(gpu_), Channel(on), *ends};
  }

  /// The first step of a thread block that sets the flag to `least` or more.
  std::optional<uint32_t> first_with_flag(uint32_t b, int64_t least) const {
    const auto found = std::lower_bound(flags_[b].begin(), flags_[b].end(), least,
                                        [](const Flag& f, int64_t n) { return f.number < n; });
    return found == flags_[b].end() ? std::nullopt : std::optional(found->step);
  }

  void add_hang(uint32_t b, uint32_t s, uint32_t on, int64_t named) {
    const MscclStepText& waiting = texts_[b].steps[s];
    const auto whom = std::find_if(texts_[on].steps.begin(), texts_[on].steps.end(),
                                   [&](const MscclStepText& step) { return step.number == named; });
    const auto& last_nops = blocks_[b].transfers.last_nops;
    const bool of_last_nop = std::find(last_nops.begin(), last_nops.end(), s) != last_nops.end();
    (of_last_nop ? algorithm_.hangs_of_last_nops : algorithm_.hangs)
        .add({fmt::format(
                  "gpu {} tb {} step {} (line {}) waits for tb {} step {} (line {}) for ever: {}.",
                  gpu_, texts_[b].id, waiting.number, waiting.line, texts_[on].id, named,
                  whom->line, why_never(b, s, on, named)),
              {}});
  }

  /// Why no step of a thread block sets its flag to `named`, or none before the waiting step.
  std::string why_never(uint32_t b, uint32_t s, uint32_t on, int64_t named) const {
    if (on == b && named >= texts_[b].steps[s].number)
      return "it is in the same thread block, and no earlier";
    const size_t end = on == b ? s : texts_[on].steps.size();
    bool nop_says_so = false;
    for (uint32_t i = 0; i < end; ++i) {
      const MscclStepText& step = texts_[on].steps[i];
      if (step.number < named)
        continue;
      if (step.flag)
        return fmt::format(
            "step {} (line {}) sets the flag {}: nops are counted where their waits "
            "are made, so not without one",
            step.number, step.line, *step.flag);
      nop_says_so |= step.type == "nop" && blocks_[on].elements[i].whole("hasdep", {0, 1}) == 1;
    }
    return fmt::format("{} a flag (hasdep=\"1\"{})",
                       on == b ? "no step between the two sets"
                               : "neither that step nor a later one of its thread block sets",
                       nop_says_so ? "; a nop sets none" : "");
  }

  MscclAlgorithm& algorithm_;
  const std::vector<ThreadBlock>& blocks_;
  const std::vector<MscclBlock>& texts_;
  uint32_t gpu_;
  std::map<int64_t, uint32_t> by_id_;
  std::vector<std::vector<Flag>> flags_;  // per thread block, ascending
};

}  // namespace

void resolve_waits(MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks) {
  for (uint32_t gpu = 0; gpu < blocks.size(); ++gpu)
    Waits(algorithm, blocks[gpu], gpu).resolve();
}

}  // namespace orrery
