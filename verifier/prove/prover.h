#pragma once

// Proves the sites of one program, and searches them for races. Equal questions (the same schedule
// with the same views for the same collective) are proved once, for any number of sites.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "models/program/attributes.h"
#include "models/program/ragged.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/view.h"
#include "simulator/schedule/walk.h"
#include "verifier/prove/prove.h"
#include "verifier/verdict.h"

namespace orrery {

/// The limits up to which a schedule is proved, or searched for races.
struct ProofBudget {
  uint64_t steps = kUnlimited;
  /// A proof spends these on pieces that steps move, contributions that are added up, and stretches
  /// that are compared. A search for races spends them on what step_races() compares. Both stop at
  /// this limit.
  uint64_t pieces = kUnlimited;
};

/// A ProofQuestion is all that a proof depends on. Attributes are compared whole: equal attributes
/// mean an equal definition.
struct ProofQuestion {
  const Schedule* schedule;
  uint64_t proof_pieces;  // the budgets
  uint64_t search_pieces;
  View input;
  View output;
  uint32_t ranks;
  OpKind kind;
  std::shared_ptr<const Attributes> attributes;
  Shape operand;                              // of several, one after another
  std::shared_ptr<const RaggedGroup> tables;  // null: it has none

  struct Before {  // an order for lookups; results do not depend on it
    bool operator()(const ProofQuestion& a, const ProofQuestion& b) const;
  };
};

/// KnownSchedules has what Provers found out about schedules, by schedule and budgets. Later
/// Provers of the same schedules need not find it again. The schedules must outlive it.
struct KnownSchedules {
  Orders orders;
  ScheduleDigests digests;
  std::map<std::pair<const Schedule*, uint64_t>, StepRaces> races;  // by ProofBudget::pieces
  struct Walk {
    const Schedule* schedule;
    uint64_t proof_pieces;
    uint64_t search_pieces;
    friend auto operator<=>(const Walk&, const Walk&) = default;
  };
  std::map<Walk, Traced> traced;
  std::map<ProofQuestion, Proof, ProofQuestion::Before> proofs;
};

/// Says why a site is not proved.
enum class NotProved : uint8_t { TooManySteps, TooManyPieces };

/// A Prover keeps references to the program and its lowered form.
class Prover {
 public:
  /// Looks up what is `known`, and adds to it. Without it, the Prover begins anew.
  Prover(const Program& program, const Lowered& lowered, ProofBudget proofs = {},
         ProofBudget searches = {}, std::shared_ptr<KnownSchedules> known = nullptr);

  /// Returns SCHEDULE.PROVED of the site: right for all inputs, and without races. Groups of one
  /// size share a schedule, and each size is proved. Returns no check if the site's schedules have
  /// more steps than the budget, or if one of them takes more pieces.
  std::variant<Check, NotProved> prove_site(SiteId site);

  /// Returns the first race of steps in the site's schedules, or why the search was not made. The
  /// search follows no folds, and so takes less than a proof.
  std::variant<std::optional<StepRace>, NotProved> races(SiteId site);

  /// Returns the folds of the collective, which is at the site of `op`, if they are proved to be
  /// those of its definition; else null.
  const ProvenanceRun* folds(const Op& op, const Collective& collective);

  /// Returns the number of steps of the site's schedules, each schedule counted once.
  uint64_t steps(SiteId site);

  /// These return the number of schedules walked with folds, of proofs by comparison, and of
  /// schedules searched for races, all as known. Tests see by them that equal ones are made once.
  size_t walks() const { return known_->traced.size(); }
  size_t proofs() const { return known_->proofs.size(); }
  size_t searches() const { return known_->races.size(); }

 private:
  /// Returns the question about the collective, which refers to the op and the tables.
  ProofQuestion question(const Op& op, const Collective& collective) const;
  const Proof& proof(const Op& op, const Collective& collective);
  const Traced& traced(const Schedule& given);
  const StepRaces& races(const Schedule& given);
  /// Returns a schedule that is proved in place of this one: that with whole messages, if this one
  /// is right where that is, and that has no races.
  const Schedule& simplest(const Schedule& schedule);
  /// Returns one collective of the site for each different question.
  const std::vector<const Collective*>& asked_by(SiteId site) const {
    return asked_by_[site.index()];
  }

  const Program& program_;
  const Lowered& lowered_;
  ProofBudget proof_budget_;
  ProofBudget search_budget_;
  std::shared_ptr<KnownSchedules> known_;
  std::vector<std::vector<const Collective*>> asked_by_;
  std::map<const Schedule*, uint64_t> steps_;
  std::map<const Schedule*, const Schedule*> simplest_;  // of cut ones
};

/// Names the first op of each site whose steps were not searched for races, in quotes.
struct NotSearched {
  std::string ops;
};

/// Returns RACE.FREE of the steps of a program's schedules (step_races.h). A check that fails names
/// the first race. Returns no check if no race was found and the prover's budget left out
/// schedules.
std::variant<Check, NotSearched> race_free(const Program& program, const Lowered& lowered,
                                           Prover& prover);

}  // namespace orrery
