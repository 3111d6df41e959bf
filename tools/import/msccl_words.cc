#include "tools/import/msccl_words.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "verifier/check/checks.h"

namespace orrery {
namespace {

char letter(Area buffer) {
  return buffer == Area::Input ? 'i' : buffer == Area::Output ? 'o' : 's';
}

/// Returns a step where the gpu is clear: "tb 1 step 3 (rrs, line 12)".
std::string on_gpu_text(const MscclAlgorithm& algorithm, StepRef step) {
  const MscclStepText& text = algorithm.text(step);
  return fmt::format("tb {} step {} ({}, line {})", algorithm.block(step).id, text.number,
                     text.type, text.line);
}

/// If the step that ends a wait is not the one that the file names, returns why.
std::string named_text(const MscclAlgorithm& algorithm, StepRef who, StepRef whom) {
  const auto named = algorithm.text(who).waits_for;
  const MscclStepText& ends = algorithm.text(whom);
  if (!named || !ends.flag || named->second == int64_t{ends.number})
    return "";
  if (*ends.flag == ends.number)
    return fmt::format(", the first from step {} on that sets a flag", named->second);
  return fmt::format(
      ", the first that sets the flag {} or more: it sets {}, as nops are counted where their "
      "waits "
      "are made",
      named->second, *ends.flag);
}

/// Returns the wait of a step in words.
std::string wait_text(const MscclAlgorithm& algorithm, StepRef who, const Cause& cause,
                      StepRef whom) {
  switch (cause.kind) {
    case CauseKind::Message:
      return "waits for the message of " + step_text(algorithm, whom);
    case CauseKind::Credit:
      return fmt::format("waits for a slot that is held until {} ends", step_text(algorithm, whom));
    case CauseKind::After: {
      return fmt::format("waits for {}{}", on_gpu_text(algorithm, whom),
                         named_text(algorithm, who, whom));
    }
    case CauseKind::Enter:
    case CauseKind::Order:
      break;
  }
  fail_check("a wait between thread blocks", "all gpus enter, and a thread block has one wait",
             __FILE__, __LINE__);
}

/// If the thread block has not come to the step that is waited for, returns where it is.
std::string after_text(const MscclAlgorithm& algorithm, StepRef at, StepRef whom) {
  if (at == whom || at.node != whom.node || at.channel != whom.channel)
    return "";
  return fmt::format("; that thread block is at step {}", algorithm.text(at).number);
}

/// Returns the elements `shared` of an access, which are in the areas, as a slice of the file's
/// buffers.
Slice in_file(const MscclAlgorithm& algorithm, MscclPlacement placement, StepRef step,
              const StepAccess& access, const Slice& shared) {
  const Step& file = algorithm.step(step);
  const std::optional<Slice>& first = access.writes ? file.target : file.source;
  const std::optional<Slice>& second = access.writes ? file.source : file.target;
  for (const std::optional<Slice>& slice : {first, second}) {
    if (!slice)
      continue;
    const Slice there = placed(algorithm, placement, step.node, *slice);
    if (there.area == access.slice.area && there.first <= shared.first &&
        shared.first + shared.count <= there.first + there.count)
      return {slice->area, slice->first + shared.first - there.first, shared.count};
  }
  fail_check("found", "an access is to a slice of its step", __FILE__, __LINE__);
}

bool overlap(const Slice& a, const Slice& b) {
  return a.area == b.area && a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

std::string chunks_text(const Slice& slice, Bytes chunk) {
  if (slice.count == 1)
    return fmt::format("buffer {}, chunk {} ({})", letter(slice.area), slice.first,
                       size_text(chunk));
  return fmt::format("buffer {}, chunks {} to {} ({} each)", letter(slice.area), slice.first,
                     slice.first + slice.count - 1, size_text(chunk));
}

std::string step_text(const MscclAlgorithm& algorithm, StepRef step) {
  return fmt::format("gpu {} {}", step.node.index(), on_gpu_text(algorithm, step));
}

Witness cycle_table(const MscclAlgorithm& algorithm, const CutSteps& cut,
                    const std::vector<Parked>& parked) {
  const std::vector<Parked> cycle = waiting_cycle(parked);
  const size_t shown = rows_shown(cycle.size());
  std::vector<std::array<std::string, 6>> who;  // in columns
  std::array<size_t, 6> width = {};
  for (size_t i = 0; i < shown; ++i) {
    const StepRef step = cut.whole(cycle[i].half.step);
    const MscclBlock& block = algorithm.block(step);
    const MscclStepText& text = algorithm.text(step);
    who.push_back({std::to_string(step.node.index()), std::to_string(block.id),
                   std::to_string(block.channel), std::to_string(text.number),
                   std::string(text.type), std::to_string(text.line)});
    for (size_t c = 0; c < width.size(); ++c)
      width[c] = std::max(width[c], who.back()[c].size());
  }
  Witness rows;
  for (size_t i = 0; i < shown; ++i) {
    const auto cell = [&](size_t c) { return fmt::format("{:>{}}", who[i][c], width[c]); };
    const StepRef whom = cut.whole(cycle[i].cause.step);
    rows.emplace_back(
        fmt::format("gpu {} tb {} chan {} step {} {} line {}", cell(0), cell(1), cell(2), cell(3),
                    cell(4), cell(5)),
        wait_text(algorithm, cut.whole(cycle[i].half.step), cycle[i].cause, whom) +
            after_text(algorithm, cut.whole(cycle[(i + 1) % cycle.size()].half.step), whom));
  }
  add_row_of_rest(rows, cycle.size());
  return rows;
}

std::string race_text(const MscclAlgorithm& algorithm, const CutSteps& cut,
                      MscclPlacement placement, const StepRace& race, Bytes chunk) {
  const Slice shared = race.shared();
  const auto access = [&](const StepAccess& of) {
    const StepRef step = cut.whole(of.step);
    const Slice slice = in_file(algorithm, placement, step, of, shared);
    return std::pair(on_gpu_text(algorithm, step) + (of.writes ? " writes" : " reads"),
                     chunks_text(slice, chunk));
  };
  const auto [first, first_chunks] = access(race.first);
  const auto [second, second_chunks] = access(race.second);
  const bool same = first_chunks == second_chunks;
  if (race.of_one_step())
    return fmt::format("gpu {} {} {} and writes {} for other chunks, in no order",
                       race.first.step.node.index(), first, first_chunks,
                       same ? "them" : second_chunks + ", which in place is the same memory,");
  return fmt::format("gpu {} {}{} and {} {}{}, and nothing orders the two",
                     race.first.step.node.index(), first, same ? "" : " " + first_chunks, second,
                     second_chunks, same ? "" : ", which in place is the same memory");
}

std::optional<std::string> last_waits_note(const MscclAlgorithm& algorithm,
                                           std::string_view runtime) {
  std::optional<StepRef> first;
  int64_t others = 0;
  for (const StepRef& nop : last_nops(algorithm)) {
    if (!algorithm.text(nop).waits_for)
      continue;
    if (first)
      ++others;
    else
      first = nop;
  }
  if (!first)
    return std::nullopt;
  return fmt::format(
      "{} waits, and no step of its thread block follows: {} does not make its wait{}",
      step_text(algorithm, *first), runtime,
      others == 0 ? "" : fmt::format("; so with {}", counted(others, "other nop")));
}

std::optional<std::string> chained_otherwise(const MscclAlgorithm& algorithm,
                                             MscclPlacement placement) {
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
