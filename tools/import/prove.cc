#include "tools/import/prove.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "tools/import/chunk_definition.h"
#include "tools/import/judged_sizes.h"
#include "tools/import/msccl_schedule.h"
#include "tools/import/msccl_words.h"
#include "tools/import/runtime.h"
#include "verifier/check/names.h"
#include "verifier/prove/prove.h"
#include "verifier/run.h"

namespace orrery {
namespace {

[[noreturn]] void refuse(const MscclAlgorithm& algorithm, std::string pointer,
                         std::string message) {
  throw InputError(algorithm.file, {{{std::move(pointer), {}}, std::move(message)}});
}

/// Judges an algorithm as one runtime runs it.
class Prover {
 public:
  Prover(const MscclAlgorithm& algorithm, const ProofRequest& request)
      : request_(request),
        runtime_(request.runtime != nullptr ? *request.runtime : runtime_of(algorithm)),
        algorithm_(called_by(algorithm, runtime_)),
        slots_(request.slots.value_or(runtime_.figures(algorithm.protocol).slots)),
        sizes_(algorithm_, runtime_, request.size) {}

  AlgorithmProof run() {
    require_judgeable();
    result_.size = sizes_.size();
    result_.chunk = sizes_.chunk();
    result_.in_place = algorithm_.in_place;
    result_.out_of_place = algorithm_.out_of_place;
    for (const auto& gpu : algorithm_.steps)
      for (const std::vector<Step>& channel : gpu)
        result_.steps += channel.size();
    result_.notes = algorithm_.notes;
    note_runtime();
    for (std::string& note : sizes_.notes())
      result_.notes.push_back(std::move(note));
    if (!request_.slots)
      result_.notes.push_back(fmt::format("{} a connection, the default of {} (--slots N: others)",
                                          counted(slots_, "slot"), default_text()));
    if (runtime_.limits)
      result_.checks.push_back(runtime_limits(algorithm_, runtime_));
    if (certain_hangs().empty())
      check_steps();
    else
      add_certain_hangs();
    result_.holds = std::all_of(result_.checks.begin(), result_.checks.end(),
                                [](const Check& check) { return check.holds(); });
    return std::move(result_);
  }

 private:
  /// Returns whose default the number of slots is.
  std::string default_text() const {
    return runtime_.limits ? fmt::format("{} for {}", runtime_.name, name(algorithm_.protocol))
                           : std::string("--runtime none");
  }

  void note_runtime() {
    if (request_.runtime == nullptr)
      note_other_runtime(runtimes().front());
    if (algorithm_.threads && !runtime_.format.reads_threads)
      result_.notes.push_back(fmt::format("nthreads of <algo> is not read: {} ignores it",
                                          runtime_.limits ? runtime_.name : "this judgement"));
    if (!runtime_.limits)
      return;
    if (std::optional<std::string> note = last_waits_note(algorithm_, runtime_.name))
      result_.notes.push_back(std::move(*note));
  }

  /// Notes why the file is not judged for the usual runtime.
  void note_other_runtime(const Runtime& usual) {
    if (&runtime_ == &usual)
      return;
    const std::optional<std::string> format = other_format(algorithm_, usual);
    result_.notes.push_back(fmt::format("judged for {}: {} does not {} the file ({})",
                                        runtime_.name, usual.name, format ? "read" : "run",
                                        format ? *format : *lacks_kernel(algorithm_, usual)));
  }

  void require_judgeable() const {
    if (algorithm_.collective == MscclCollective::Custom && request_.definition == nullptr)
      refuse(algorithm_, "/algo/coll",
             "a custom collective needs a definition: --definition FILE with {\"outputs\": [[gpu, "
             "chunk, [[gpu, chunk], ..]], ..]}");
    if (request_.root)
      require_root(*request_.root);
    if (request_.cluster != nullptr)
      require_devices(*request_.cluster);
  }

  void require_root(uint32_t root) const {
    const auto wrong = [](std::string message) {
      throw InputError("--root", {{{}, std::move(message)}});
    };
    if (request_.definition != nullptr)
      wrong("expected none with --definition, which says what each output is");
    if (!layout_of(algorithm_.collective).rooted)
      wrong(fmt::format("expected none, as {} has no root", name(algorithm_.collective)));
    if (root >= algorithm_.gpus)
      wrong(fmt::format("expected a gpu from 0 to {}, got {}", algorithm_.gpus - 1, root));
  }

  void require_devices(const Cluster& cluster) const {
    if (cluster.fabric.devices() < algorithm_.gpus)
      refuse(algorithm_, "/algo/ngpus",
             fmt::format("the algorithm is for {} gpus, and cluster {} has {}", algorithm_.gpus,
                         cluster.name, cluster.fabric.devices()));
  }

  CertainHangs certain_hangs() const {
    CertainHangs hangs = algorithm_.hangs;
    if (runtime_.limits)
      return hangs;
    for (const CertainHang& hang : algorithm_.hangs_of_last_nops.first)
      hangs.add(hang);
    hangs.more += algorithm_.hangs_of_last_nops.more;
    return hangs;
  }

  void add_certain_hangs() {
    const CertainHangs hangs = certain_hangs();
    for (const CertainHang& hang : hangs.first)
      result_.checks.push_back(failed(CheckKind::DeadlockFree, "", hang.message, hang.witness));
    if (hangs.more > 0)
      result_.checks.push_back(
          failed(CheckKind::DeadlockFree, "", fmt::format("... {} more", hangs.more)));
  }

  std::unique_ptr<const Schedule> one_iteration(MscclPlacement placement, const CutSteps& cut,
                                                uint32_t slots) const {
    return orrery::one_iteration(algorithm_, placement, cut, slots);
  }

  /// Limits the pieces of steps. A file within the runtime's limits has at most 71 pieces per step,
  /// but others could have any number. The search for races keeps a clock of a gpu's thread blocks
  /// for every piece.
  void require_few_pieces(int64_t chunks) const {
    constexpr uint64_t kMost = uint64_t{1} << 21U;
    const uint64_t pieces = count_pieces(algorithm_.steps, chunks);
    if (pieces > std::max(kMost, result_.steps))
      refuse(
          algorithm_, "/algo",
          fmt::format("expected at most {} steps with messages of at most {}, got {} (--size SIZE "
                      "judges one size)",
                      kMost, counted(chunks, "chunk"), pieces));
    size_t blocks = 0;
    for (const auto& gpu : algorithm_.steps)
      blocks = std::max(blocks, gpu.size());
    if (Int128{pieces} * static_cast<int64_t>(blocks) > request_.limits.clocks)
      refuse(algorithm_, "/algo",
             beyond(request_.limits, &Limits::clocks,
                    fmt::format("{} times {}, with messages of at most {}", blocks, pieces,
                                counted(chunks, "chunk"))));
  }

  CutSteps cut(MscclPlacement placement, int64_t chunks) const {
    return cut_steps(algorithm_, placement, chunks, !runtime_.limits);
  }

  void check_steps() {
    require_few_pieces(sizes_.fewest());
    const std::vector<MscclPlacement> placements = orrery::placements(algorithm_);
    const MscclPlacement first = placements.front();
    const CutSteps worst = cut(first, sizes_.fewest());
    result_.least_slots = least_slots(first, worst);
    add_deadlock_free(first, worst);
    if (!result_.least_slots)
      return;
    for (const MscclPlacement placement : placements)
      check_values(placement);
    if (request_.cluster != nullptr)
      add_time(*request_.cluster, placements.back());
  }

  /// Returns the smallest number of slots that is enough. More slots never hurt, so a binary search
  /// finds it.
  std::optional<uint32_t> least_slots(MscclPlacement placement, const CutSteps& cut) const {
    uint32_t enough = most_messages(cut);
    if (hangs(placement, cut, enough))
      return std::nullopt;
    uint32_t low = 1;
    while (low < enough) {
      const uint32_t middle = low + (enough - low) / 2;
      if (hangs(placement, cut, middle))
        low = middle + 1;
      else
        enough = middle;
    }
    return enough;
  }

  bool hangs(MscclPlacement placement, const CutSteps& cut, uint32_t slots) const {
    return !stuck(algorithm_, placement, cut, slots).empty();
  }

  /// Adds the check DEADLOCK.FREE. `worst` is the cut at which most slots are needed.
  void add_deadlock_free(MscclPlacement placement, const CutSteps& worst) {
    const std::string slots = counted(slots_, "slot") + " a connection";
    const std::string need = result_.least_slots ? fmt::format("it needs {}", *result_.least_slots)
                                                 : std::string("no number is enough");
    if (result_.least_slots && *result_.least_slots <= slots_) {
      result_.checks.push_back(
          passed(CheckKind::DeadlockFree, "",
                 fmt::format("ends with {} {}; {}", slots, sizes_.text(), need)));
      return;
    }
    const std::vector<Parked> parked = stuck(algorithm_, placement, worst, slots_);
    result_.checks.push_back(
        failed(CheckKind::DeadlockFree, "",
               fmt::format("hangs with {} {}; {}", slots,
                           sizes_.text_of_at_most(most_chunks_that_hang(placement)), need),
               cycle_table(algorithm_, worst, parked)));
  }

  /// Returns the most chunks per message with which it hangs with the slots asked for. With fewer
  /// chunks it hangs too.
  int64_t most_chunks_that_hang(MscclPlacement placement) const {
    int64_t hang = sizes_.fewest();
    int64_t beyond = sizes_.most() + 1;
    while (hang + 1 < beyond) {
      const int64_t middle = hang + (beyond - hang) / 2;
      (hangs(placement, cut(placement, middle), slots_) ? hang : beyond) = middle;
    }
    return hang;
  }

  /// Returns the chunks per message with which steps race at one of the sizes, or the fewest if
  /// they never do. Steps that are ordered in messages of one chunk are ordered in all messages.
  int64_t chunks_to_judge(MscclPlacement placement) const {
    const int64_t fewest = sizes_.fewest();
    const int64_t most = sizes_.most();
    const auto races = [&](int64_t chunks) {
      const CutSteps cut = this->cut(placement, chunks);
      return !step_races(*one_iteration(placement, cut, most_messages(cut))).none();
    };
    if (fewest == most || races(fewest))
      return fewest;
    for (int64_t chunks = fewest + 1; fewest > 1 && chunks < most; ++chunks)
      if (races(chunks))
        return chunks;
    return races(most) ? most : fewest;
  }

  /// Judges races and values with as many slots as messages, so that the wait for a slot orders no
  /// steps: connections may have more slots than `--slots` says.
  void check_values(MscclPlacement placement) {
    const int64_t chunks = chunks_to_judge(placement);
    const CutSteps cut = this->cut(placement, chunks);
    const std::unique_ptr<const Schedule> schedule =
        one_iteration(placement, cut, most_messages(cut));
    const Traced traced = trace(*schedule, buffers_of(algorithm_, placement));
    const std::string where = algorithm_.in_place && algorithm_.out_of_place
                                  ? std::string(name(placement)) + ": "
                                  : std::string();
    const std::optional<StepRace>& race = traced.races.first;
    result_.checks.push_back(
        race ? failed(CheckKind::RaceFree, "",
                      where + race_text(algorithm_, cut, placement, *race, result_.chunk) +
                          race_with_slots(placement, cut) + race_with_chunks(chunks))
             : passed(CheckKind::RaceFree, "",
                      fmt::format("{}any two steps that touch the same elements are ordered {}, "
                                  "with any number of slots",
                                  where, sizes_.text())));
    result_.checks.push_back(proved(traced, placement, cut, where));
  }

  /// Returns an addition to the text of a race: whether the wait for one of the slots asked for
  /// orders the steps.
  std::string race_with_slots(MscclPlacement placement, const CutSteps& cut) const {
    if (hangs(placement, cut, slots_) || !step_races(*one_iteration(placement, cut, slots_)).none())
      return "";
    return fmt::format(" but the wait for one of {}: with more they race", counted(slots_, "slot"));
  }

  /// Returns an addition to the text of a race: how messages are cut where the steps race, if it
  /// differs between sizes.
  std::string race_with_chunks(int64_t chunks) const {
    return sizes_.fewest() == sizes_.most()
               ? ""
               : fmt::format(" (where a message has at most {})", counted(chunks, "chunk"));
  }

  Check proved(const Traced& traced, MscclPlacement placement, const CutSteps& cut,
               const std::string& where) {
    const auto no = [&](std::string why, Witness witness = {}) {
      return failed(CheckKind::ScheduleProved, "", where + std::move(why), std::move(witness));
    };
    if (const std::optional<std::string> otherwise = chained_otherwise(algorithm_, placement))
      return no(*otherwise);
    if (traced.races.first)
      return no("the steps race, so values depend on their timing");
    if (traced.run.misread)
      return no(fmt::format("{} reads a chunk that nothing has written",
                            step_text(algorithm_, cut.whole(traced.run.misread->step))));
    if (traced.run.digest != traced.expected)
      return no("the walk did not run each step of the schedule once");
    const ChunkDefinition own = request_.definition != nullptr
                                    ? *request_.definition
                                    : definition_of(algorithm_, request_.root.value_or(0));
    const std::optional<WrongChunk> wrong = first_wrong_chunk(traced.run, own);
    if (!wrong)
      return passed(CheckKind::ScheduleProved, "",
                    fmt::format("{}for all values, every gpu ends with {}", where, own.text));
    const std::string chunk = fmt::format(
        "gpu {}, {}", wrong->gpu, chunks_text({Area::Output, wrong->chunk, 1}, result_.chunk));
    const std::string have = wrong->have ? sum_text(*wrong->have) : "never written";
    const std::string expected = sum_text(wrong->expected);
    const bool rooted = request_.definition == nullptr && layout_of(algorithm_.collective).rooted;
    return no(fmt::format(
        "{} is {}; expected {}{}", chunk, have, expected,
        rooted ? fmt::format(" (root {}; --root names another)", request_.root.value_or(0)) : ""));
  }

  /// Adds the time at the size of times, or a note if the algorithm hangs there.
  void add_time(const Cluster& cluster, MscclPlacement placement) {
    result_.time =
        time_on(cluster, {algorithm_, runtime_, sizes_, placement, slots_}, request_.limits);
    if (!result_.time)
      result_.notes.push_back(fmt::format("no time: with messages as they are cut at {} it hangs",
                                          size_text(sizes_.size())));
  }

  const ProofRequest& request_;
  const Runtime& runtime_;
  const MscclAlgorithm algorithm_;
  const uint32_t slots_;
  const JudgedSizes sizes_;
  AlgorithmProof result_;
};

}  // namespace

AlgorithmProof prove_algorithm(const MscclAlgorithm& algorithm, const ProofRequest& request) {
  try {
    return Prover(algorithm, request).run();
  } catch (const Overflow& overflow) {
    throw InputError(algorithm.file, {{{}, too_large(overflow)}});
  }
}

}  // namespace orrery
