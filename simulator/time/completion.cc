#include "simulator/time/completion.h"

#include <optional>
#include <utility>
#include <variant>

#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"

namespace orrery {

Completion run_time(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const std::vector<Instant>& device_start) {
  std::optional<std::string> forced = sweep_refusal(lowered, fabric);
  if (!forced) {
    std::variant<Completion, std::string> swept = sweep(program, lowered, fabric, {device_start});
    if (auto* completion = std::get_if<Completion>(&swept)) {
      completion->because = "no link is asked for more than its capacity";
      return std::move(*completion);
    }
    forced = std::get<std::string>(std::move(swept));
  }
  EngineOptions options;
  options.device_start = device_start;
  Completion completion = simulate(program, lowered, fabric, options);
  completion.because = std::move(*forced);
  return completion;
}

}  // namespace orrery
