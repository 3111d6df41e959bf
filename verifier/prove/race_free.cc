#include "verifier/prove/race_free.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "verifier/check/futures.h"
#include "verifier/check/names.h"

namespace orrery {

std::variant<Check, NotSearched> race_free(const Program& program, const Lowered& lowered,
                                           Prover& prover) {
  if (std::optional<Check> race = storage_race(program))
    return std::move(*race);
  std::string skipped;  // names of the first op of each site that the budget does not cover
  for (size_t s = 0; s < program.sites.size(); ++s) {
    const SiteId site(s);
    const auto found = prover.races(site);
    const Op& op = program.op(program.site(site).ops.front());
    if (std::holds_alternative<NotProved>(found)) {
      skipped += (skipped.empty() ? "" : ", ") + quoted(op.name);
      continue;
    }
    if (const auto& race = std::get<std::optional<StepRace>>(found))
      return failed(
          CheckKind::RaceFree, pointer_of(op),
          fmt::format("{} by {}: {}.", quoted(op.name), lowered.choices[s].algorithm, race->text()),
          {{"op", op.name},
           {"first", step_text(race->first.step)},
           {"second", step_text(race->second.step)}});
  }
  if (!skipped.empty())
    return NotSearched{std::move(skipped)};
  return passed(CheckKind::RaceFree, "/program");
}

}  // namespace orrery
