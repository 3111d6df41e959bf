#pragma once

// RACE.FREE of a program: of its ops, and of the steps of its schedules.

#include <string>
#include <variant>

#include "verifier/prove/prover.h"
#include "verifier/report.h"

namespace orrery {

/// The first op of each site whose steps were not searched for races, in quotes.
struct NotSearched {
  std::string ops;
};

/// RACE.FREE. It names the first race of ops (storage_race), else of a schedule's steps
/// (step_races.h). No verdict where no race was found and the prover's budget left out schedules.
std::variant<Check, NotSearched> race_free(const Program& program, const Lowered& lowered,
                                           Prover& prover);

}  // namespace orrery
