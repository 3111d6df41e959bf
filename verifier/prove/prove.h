#pragma once

// Proof that a schedule does what its collective is defined to do, for all values of all dtypes:
// where each result element comes from (simulator/values/provenance.h) against the definition
// (verifier/oracle/definitions.h), both in places of the tensors.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/base/function_ref.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/provenance.h"
#include "verifier/oracle/definitions.h"
#include "verifier/report.h"

namespace orrery {

/// A schedule with the places of its canonical elements in operand and result.
struct Claim {
  const Schedule& schedule;
  const View& input;
  const View& output;
};

/// What one walk of the schedule shows, in places of the tensors.
struct Made {
  std::vector<std::vector<Piece>> results;  // per node, ascending, covering the result
  std::vector<Parked> stuck;
  std::optional<std::string> misread;
  Digest digest;
  Digest expected;  // of a walk that runs every half once
};

/// Walks the schedule once with sets of contributions in the place of numbers. Digests are those of
/// collective number 0 with elements of one byte.
Made trace(const Claim& claim);

struct Proof {
  bool holds = true;
  std::string why_not;  // a sentence without the full stop
  std::vector<std::pair<std::string, std::string>> witness;
};

/// Whether every node's result is made of exactly the contributions that the definition of its rank
/// names, each once, by the definition's own reduction. Otherwise the first element, by rank and
/// place, that is not, with one contribution that is missing, extra or repeated.
Proof prove(const Claim& claim, const Made& made, FunctionRef<Definition(Rank)> definition);

/// Proves the sites of one program; schedules that sites share are walked once.
class Prover {
 public:
  Prover(const Program& program, const Lowered& lowered) : program_(program), lowered_(lowered) {}

  /// SCHEDULE.PROVED of the site, and, where a walk left a step out, its SCHEDULE.DIGEST instead.
  /// Groups of one size share a schedule; each size is proved.
  Check prove_site(SiteId site);

  /// Steps of the site's schedules, each counted once.
  uint64_t steps(SiteId site) const;

 private:
  struct Known {
    const Schedule* schedule;
    View input;
    View output;
    std::unique_ptr<Made> made;
  };

  const Made& made(const Claim& claim);
  /// One collective of the site for each different schedule.
  std::vector<const Collective*> representatives(SiteId site) const;

  const Program& program_;
  const Lowered& lowered_;
  std::vector<Known> known_;
};

}  // namespace orrery
