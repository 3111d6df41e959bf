#include "verifier/prove/prover.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/schedule/sliced_schedule.h"
#include "verifier/check/names.h"

namespace orrery {

Prover::Prover(const Program& program, const Lowered& lowered, ProofBudget proofs,
               ProofBudget searches, std::shared_ptr<KnownSchedules> known)
    : program_(program),
      lowered_(lowered),
      proof_budget_(proofs),
      search_budget_(searches),
      known_(known == nullptr ? std::make_shared<KnownSchedules>() : std::move(known)),
      asked_by_(program.sites.size()) {
  for (const Collective& collective : lowered.collectives) {
    std::vector<const Collective*>& asked = asked_by_[collective.site.index()];
    const auto same = [&](const Collective* other) {
      return other->schedule == collective.schedule && other->input == collective.input &&
             other->output == collective.output &&
             tables_of(lowered, *other) == tables_of(lowered, collective);
    };
    if (std::none_of(asked.begin(), asked.end(), same))
      asked.push_back(&collective);
  }
}

uint64_t Prover::steps(SiteId site) {
  uint64_t steps = 0;
  for (const Collective* collective : asked_by(site)) {
    const auto [known, added] = steps_.emplace(collective->schedule, 0);
    if (added)
      known->second = count_steps(*collective->schedule);
    steps += known->second;
  }
  return steps;
}

std::variant<Check, NotProved> Prover::prove_site(SiteId site) {
  if (steps(site) > proof_budget_.steps)
    return NotProved::TooManySteps;
  const Op& op = program_.op(program_.site(site).ops.front());
  const std::string& algorithm = lowered_.choices[site.index()].algorithm;
  for (const Collective* collective : asked_by(site)) {
    const Proof& proof = this->proof(op, *collective);
    if (proof.over_budget)
      return NotProved::TooManyPieces;
    if (proof.holds)
      continue;
    auto witness = proof.witness;
    witness.emplace(witness.begin(), "op", op.name);
    return failed(CheckKind::ScheduleProved, pointer_of(op),
                  fmt::format("{} by {} is not {}: {}.", quoted(op.name), algorithm,
                              rules(op.kind).name, proof.why_not),
                  std::move(witness));
  }
  return passed(CheckKind::ScheduleProved, pointer_of(op),
                fmt::format("{} by {} is {} for all inputs.", quoted(op.name), algorithm,
                            rules(op.kind).name));
}

std::variant<std::optional<StepRace>, NotProved> Prover::races(SiteId site) {
  for (const Collective* collective : asked_by(site)) {
    // No two steps of one channel race, and no step of our own algorithms races with itself.
    if (collective->schedule->extent().channels == 1)
      continue;
    if (steps(site) > search_budget_.steps)
      return NotProved::TooManySteps;
    const StepRaces& races = this->races(*collective->schedule);
    if (races.over_budget)
      return NotProved::TooManyPieces;
    if (races.first)
      return races.first;
  }
  return std::nullopt;
}

const ProvenanceRun* Prover::folds(const Op& op, const Collective& collective) {
  if (steps(collective.site) > proof_budget_.steps || !proof(op, collective).holds)
    return nullptr;
  return &traced(*collective.schedule).run;
}

bool ProofQuestion::Before::operator()(const ProofQuestion& a, const ProofQuestion& b) const {
  const auto plain = [](const ProofQuestion& q) {
    return std::tie(q.schedule, q.proof_pieces, q.search_pieces, q.kind, q.ranks, q.input.dims,
                    q.input.strides, q.output.dims, q.output.strides);
  };
  if (plain(a) != plain(b))
    return plain(a) < plain(b);
  if (!std::ranges::equal(a.operand.dims(), b.operand.dims()))
    return std::ranges::lexicographical_compare(a.operand.dims(), b.operand.dims());
  if (*a.attributes != *b.attributes)
    return a.attributes->all() < b.attributes->all();
  if (a.tables == nullptr || b.tables == nullptr)
    return a.tables == nullptr && b.tables != nullptr;
  return a.tables != b.tables && *a.tables < *b.tables;
}

namespace {

/// Returns a pointer that does not own what it points to.
template <class T>
std::shared_ptr<const T> referred_to(const T* object) {
  return {std::shared_ptr<const T>(), object};
}

}  // namespace

ProofQuestion Prover::question(const Op& op, const Collective& collective) const {
  return {collective.schedule,
          proof_budget_.pieces,
          search_budget_.pieces,
          collective.input,
          collective.output,
          static_cast<uint32_t>(collective.members.size()),
          op.kind,
          referred_to(&op.attributes),
          exchanged_operand(program_, op).shape,
          referred_to(tables_of(lowered_, collective))};
}

const Proof& Prover::proof(const Op& op, const Collective& collective) {
  ProofQuestion asked = question(op, collective);
  const auto known = known_->proofs.find(asked);
  if (known != known_->proofs.end())
    return known->second;
  Definitions definitions(op, asked.operand, asked.ranks, asked.tables.get());
  Proof proof = prove(
      traced(*collective.schedule), {collective.input, collective.output},
      [&](Rank rank) { return *definitions.of(rank); }, proof_budget_.pieces);
  // The question is kept for other programs, so it owns what it is about.
  asked.attributes = std::make_shared<const Attributes>(*asked.attributes);
  if (asked.tables != nullptr)
    asked.tables = std::make_shared<const RaggedGroup>(*asked.tables);
  return known_->proofs.emplace(std::move(asked), std::move(proof)).first->second;
}

const StepRaces& Prover::races(const Schedule& given) {
  const Schedule& schedule = simplest(given);
  const uint64_t pieces = search_budget_.pieces;
  const auto known = known_->races.find({&schedule, pieces});
  if (known != known_->races.end())
    return known->second;
  return known_->races.emplace(std::pair(&schedule, pieces), step_races(schedule, pieces))
      .first->second;
}

const Schedule& Prover::simplest(const Schedule& schedule) {
  const auto* const cut = dynamic_cast<const SlicedSchedule*>(&schedule);
  if (cut == nullptr)
    return schedule;
  const auto [known, is_new] = simplest_.try_emplace(&schedule, &schedule);
  if (is_new && cut->keeps_elements_together() && races(cut->whole()).none())
    known->second = &cut->whole();
  return *known->second;
}

const Traced& Prover::traced(const Schedule& given) {
  const Schedule& schedule = simplest(given);
  const KnownSchedules::Walk walk{&schedule, proof_budget_.pieces, search_budget_.pieces};
  const auto known = known_->traced.find(walk);
  if (known != known_->traced.end())
    return known->second;
  const Buffers buffers = whole_areas(schedule.extent());
  return known_->traced
      .emplace(walk, trace(schedule, buffers, races(schedule), walk.proof_pieces,
                           known_->orders.of(schedule)))
      .first->second;
}

std::variant<Check, NotSearched> race_free(const Program& program, const Lowered& lowered,
                                           Prover& prover) {
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
