#include "verifier/prove/prove.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "verifier/check/hang.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

/// How often each (rank, operand element) went into one result element.
using Counts = std::map<std::pair<uint32_t, int64_t>, uint32_t>;

Counts counts_of(const std::vector<Contribution>& made_of, int64_t offset) {
  Counts counts;
  for (const Contribution& part : made_of)
    for (uint32_t r = 0; r < part.ranks; ++r)
      counts[{part.rank.index() + r, part.source + offset}] += part.times;
  return counts;
}

/// The stretch of a piece from `offset` on, of `count` elements.
Piece stretch(const Piece& piece, int64_t offset, int64_t count) {
  Piece result{piece.first + offset, count, piece.undefined, piece.made_of};
  for (Contribution& part : result.made_of)
    part.source += offset;
  return result;
}

bool continues(const Piece& before, const Piece& piece) {
  if (before.first + before.count != piece.first || before.undefined != piece.undefined ||
      before.made_of.size() != piece.made_of.size())
    return false;
  for (size_t i = 0; i < piece.made_of.size(); ++i) {
    Contribution expected = before.made_of[i];
    expected.source += before.count;
    if (expected != piece.made_of[i])
      return false;
  }
  return true;
}

/// The pieces of one node, from canonical places to places in the tensors.
std::vector<Piece> in_tensors(const std::vector<Piece>& canonical, const View& input,
                              const View& output) {
  const int64_t input_run = input.inner_run();
  std::vector<Piece> placed;
  for (const Piece& piece : canonical) {
    output.for_each_run(piece.first, piece.count, [&](int64_t first, int64_t place, int64_t count) {
      for (int64_t at = 0; at < count;) {
        const int64_t offset = first + at - piece.first;
        int64_t length = count - at;
        for (const Contribution& part : piece.made_of)
          length = std::min(length, input_run - (part.source + offset) % input_run);
        Piece& added = placed.emplace_back(stretch(piece, offset, length));
        added.first = place + at;
        for (Contribution& part : added.made_of)
          part.source = input.place(part.source);
        std::sort(added.made_of.begin(), added.made_of.end());
        at += length;
      }
    });
  }
  std::sort(placed.begin(), placed.end(),
            [](const Piece& a, const Piece& b) { return a.first < b.first; });
  std::vector<Piece> joined;
  for (Piece& piece : placed) {
    if (!joined.empty() && continues(joined.back(), piece))
      joined.back().count += piece.count;
    else
      joined.push_back(std::move(piece));
  }
  return joined;
}

/// A step that reduces by another operation than the definition's.
std::optional<StepRef> foreign_reduction(const Schedule& schedule, Combine combine) {
  const Extent& extent = schedule.extent();
  for (uint32_t n = 0; n < extent.nodes; ++n) {
    for (uint32_t c = 0; c < extent.channels; ++c) {
      for (uint32_t i = 0; i < schedule.steps(Node(n), Channel(c)); ++i) {
        const StepRef ref{Node(n), Channel(c), i};
        const Combine used = schedule.step(ref).combine;
        if (used != Combine::None && used != combine)
          return ref;
      }
    }
  }
  return std::nullopt;
}

/// In words, the first contribution in which element `element` of `rank` differs from what the
/// definition names.
Proof differs(Rank rank, int64_t element, const Piece& got, const Counts& expected) {
  std::string wrong;
  if (got.undefined) {
    wrong = "is never written";
  } else {
    const Counts have = counts_of(got.made_of, 0);
    for (const auto& [from, times] : expected) {
      if (have.find(from) == have.end()) {
        wrong = fmt::format("lacks element {} of rank {}", from.second, from.first);
        break;
      }
    }
    for (auto it = have.begin(); it != have.end() && wrong.empty(); ++it) {
      const auto& [from, times] = *it;
      if (expected.find(from) == expected.end())
        wrong = fmt::format("has element {} of rank {}, which does not belong there", from.second,
                            from.first);
      else if (times != 1)
        wrong = fmt::format("has {} times element {} of rank {}", times, from.second, from.first);
    }
  }
  return {false,
          fmt::format("element {} of rank {} {}", element, rank.index(), wrong),
          {{"rank", std::to_string(rank.index())},
           {"element", std::to_string(element)},
           {"contribution", wrong}}};
}

/// Compares one rank's pieces with its definition. Both cover the result from 0 on.
std::optional<Proof> first_difference(Rank rank, const std::vector<Piece>& made,
                                      const Definition& definition) {
  size_t at = 0;
  for (const Part& part : definition.parts) {
    for (int64_t done = 0; done < part.count;) {
      const int64_t element = part.first + done;
      if (at == made.size() || made[at].first > element)
        return differs(rank, element, Piece{element, 1, true, {}}, {});
      const Piece& piece = made[at];
      const int64_t offset = element - piece.first;
      const int64_t length = std::min(part.count - done, piece.count - offset);
      const Piece got = stretch(piece, offset, length);
      std::vector<Contribution> expected;
      if (part.ranks > 0)
        expected.push_back({part.rank, part.ranks, part.source + done, 1});
      if (got.undefined || got.made_of != expected)
        return differs(rank, element, got, counts_of(expected, 0));
      done += length;
      if (offset + length == piece.count)
        ++at;
    }
  }
  return std::nullopt;
}

}  // namespace

Made trace(const Claim& claim) {
  const CollectiveId id(0);
  const Bytes itemsize(1);
  ProvenanceRun run = provenance(claim.schedule, id, itemsize);
  Made made;
  for (const std::vector<Piece>& pieces : run.outputs)
    made.results.push_back(in_tensors(pieces, claim.input, claim.output));
  made.stuck = std::move(run.stuck);
  made.misread = std::move(run.misread);
  made.digest = run.digest;
  add_all(made.expected, nullptr, id, claim.schedule, itemsize);
  return made;
}

Proof prove(const Claim& claim, const Made& made, FunctionRef<Definition(Rank)> definition) {
  if (!made.stuck.empty())
    return {false, "the schedule cannot end: " + stuck_text(made.stuck), {}};
  if (made.misread)
    return {false, *made.misread, {{"step", *made.misread}}};
  if (made.digest != made.expected)
    return {false, "the walk did not run each step of the schedule once", {}};
  const Combine combine = definition(Rank(0)).combine;
  if (const std::optional<StepRef> step = foreign_reduction(claim.schedule, combine))
    return {false,
            fmt::format("node {} channel {} step {} reduces by another operation than the "
                        "definition's",
                        step->node.index(), step->channel.index(), step->index),
            {}};
  for (size_t r = 0; r < made.results.size(); ++r)
    if (std::optional<Proof> proof =
            first_difference(Rank(r), made.results[r], definition(Rank(r))))
      return std::move(*proof);
  return {};
}

const Made& Prover::made(const Claim& claim) {
  for (const Known& known : known_)
    if (known.schedule == &claim.schedule && known.input == claim.input &&
        known.output == claim.output)
      return *known.made;
  known_.push_back(
      {&claim.schedule, claim.input, claim.output, std::make_unique<Made>(trace(claim))});
  return *known_.back().made;
}

std::vector<const Collective*> Prover::representatives(SiteId site) const {
  std::vector<const Collective*> result;
  for (const Collective& collective : lowered_.collectives) {
    const auto same = [&](const Collective* known) {
      return known->schedule == collective.schedule && known->input == collective.input &&
             known->output == collective.output;
    };
    if (collective.site == site && std::none_of(result.begin(), result.end(), same))
      result.push_back(&collective);
  }
  return result;
}

uint64_t Prover::steps(SiteId site) const {
  uint64_t steps = 0;
  for (const Collective* collective : representatives(site))
    steps += count_steps(*collective->schedule);
  return steps;
}

Check Prover::prove_site(SiteId site) {
  const Op& op = program_.op(program_.site(site).ops.front());
  const Shape& operand = program_.value(op.operands.front()).type.shape;
  for (const Collective* collective : representatives(site)) {
    const Claim claim{*collective->schedule, collective->input, collective->output};
    const auto size = static_cast<uint32_t>(collective->members.size());
    const auto definition = [&](Rank rank) { return define(op, operand, size, rank); };
    Proof proof = prove(claim, made(claim), definition);
    if (!proof.holds) {
      proof.witness.emplace(proof.witness.begin(), "op", op.name);
      return failed(
          CheckKind::ScheduleProved, pointer_of(op),
          fmt::format("{} by {} is not {}: {}.", quoted(op.name),
                      lowered_.choices[site.index()].algorithm, rules(op.kind).name, proof.why_not),
          std::move(proof.witness));
    }
  }
  return passed(CheckKind::ScheduleProved, pointer_of(op),
                fmt::format("{} by {} is {} for all inputs.", quoted(op.name),
                            lowered_.choices[site.index()].algorithm, rules(op.kind).name));
}

}  // namespace orrery
