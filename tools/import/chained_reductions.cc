#include "tools/import/chained_reductions.h"

#include <fmt/format.h>

namespace orrery {
namespace {

bool overlap(const Slice& a, const Slice& b) {
  return a.area == b.area && a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

std::optional<std::string> chained_otherwise(const MscclAlgorithm& algorithm, Placement placement) {
  for (uint32_t gpu = 0; gpu < algorithm.gpus; ++gpu) {
    for (uint32_t b = 0; b < algorithm.blocks[gpu].size(); ++b) {
      for (uint32_t s = 1; s < algorithm.blocks[gpu][b].steps.size(); ++s) {
        const StepRef later{Node(gpu), Channel(b), s};
        if (!algorithm.text(later).chained)
          continue;
        const StepRef before{later.node, later.channel, s - 1};
        const Step& step = algorithm.step(later);
        const MscclStepText& first = algorithm.text(before);
        const MscclStepText& last = algorithm.text(later);
        const std::string both = fmt::format(
            "gpu {} tb {} steps {} and {} (re, lines {} and {}) run as one step", gpu,
            algorithm.block(later).id, first.number, last.number, first.line, last.line);
        if (const int64_t count = algorithm.step(before).count(); count != step.count())
          return fmt::format("{}, with the last cnt, {}, for both, and line {} says {}", both,
                             step.count(), first.line, count);
        if (overlap(placed(algorithm, placement, later.node, *step.source),
                    placed(algorithm, placement, later.node, *step.target)))
          return fmt::format("{}: line {} adds what its target held before both", both, last.line);
      }
    }
  }
  return std::nullopt;
}

}  // namespace orrery
