#include "tools/import/last_nops.h"

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "tools/import/msccl_words.h"

namespace orrery {
namespace {

/// Calls `visit(StepRef)` for each nop after all other steps of its thread block.
template <class Visit>
void for_each_last_nop(const MscclAlgorithm& algorithm, Visit&& visit) {
  for (uint32_t gpu = 0; gpu < algorithm.blocks.size(); ++gpu) {
    for (uint32_t b = 0; b < algorithm.blocks[gpu].size(); ++b) {
      const std::vector<MscclStepText>& steps = algorithm.blocks[gpu][b].steps;
      auto first = static_cast<uint32_t>(steps.size());
      while (first > 0 && steps[first - 1].type == "nop")
        --first;
      for (uint32_t s = first; s < steps.size(); ++s)
        visit(StepRef{Node(gpu), Channel(b), s});
    }
  }
}

}  // namespace

void drop_last_waits(const MscclAlgorithm& algorithm, StoredSteps& steps) {
  for_each_last_nop(algorithm, [&](StepRef nop) {
    steps[nop.node.index()][nop.channel.index()][nop.index].after.reset();
  });
}

std::optional<std::string> last_waits_note(const MscclAlgorithm& algorithm,
                                           std::string_view runtime) {
  std::optional<StepRef> first;
  int64_t others = 0;
  for_each_last_nop(algorithm, [&](StepRef nop) {
    if (!algorithm.text(nop).waits_for)
      return;
    if (first)
      ++others;
    else
      first = nop;
  });
  if (!first)
    return std::nullopt;
  return fmt::format(
      "{} waits, and no step of its thread block follows: {} does not make its wait{}",
      step_text(algorithm, *first), runtime,
      others == 0 ? "" : fmt::format("; so with {}", counted(others, "other nop")));
}

}  // namespace orrery
