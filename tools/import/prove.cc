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
#include "simulator/lower/reach.h"
#include "simulator/schedule/walk.h"
#include "tools/import/algorithm_time.h"
#include "tools/import/chunk_proof.h"
#include "tools/import/cut_schedule.h"
#include "tools/import/message_pieces.h"
#include "tools/import/msccl_words.h"
#include "tools/import/placement.h"
#include "tools/import/runtime_limits.h"
#include "verifier/check/names.h"
#include "verifier/prove/prove.h"
#include "verifier/run.h"

namespace orrery {
namespace {

constexpr Bytes kItem = Bytes(4);  // f32: sizes are in bytes, and chunks hold whole elements

[[noreturn]] void refuse(const MscclAlgorithm& algorithm, std::string pointer,
                         std::string message) {
  Diagnostics diagnostics(algorithm.file);
  diagnostics.add({std::move(pointer), {}}, std::move(message));
  diagnostics.throw_if_any();
  fail_check("thrown", "an error was added", __FILE__, __LINE__);
}

std::vector<Parked> stuck(const Schedule& schedule) {
  NoVisitor visitor;
  return walk(schedule, visitor);
}

/// One size and one runtime of an algorithm.
class Prover {
 public:
  Prover(const MscclAlgorithm& algorithm, const ProofRequest& request)
      : algorithm_(algorithm),
        request_(request),
        runtime_(request.runtime != nullptr ? *request.runtime : runtimes().front()),
        chunk_(chunk_elements()),
        cut_(message_cut(runtime_, algorithm.protocol, chunk_, kItem)) {}

  AlgorithmProof run() {
    require_judgeable();
    result_.size = smallest() * chunk_;
    result_.chunk = kItem * chunk_;
    for (const auto& gpu : algorithm_.steps)
      for (const std::vector<Step>& channel : gpu)
        result_.steps += channel.size();
    result_.notes = algorithm_.notes;
    note_size();
    note_cut();
    if (runtime_.limits)
      result_.checks.push_back(runtime_limits(algorithm_, runtime_));
    if (algorithm_.hangs.empty())
      check_steps();
    else
      add_certain_hangs();
    result_.holds = std::all_of(result_.checks.begin(), result_.checks.end(),
                                [](const Check& check) { return check.holds(); });
    return std::move(result_);
  }

 private:
  Bytes smallest() const { return kItem * algorithm_.chunks; }

  /// Elements of a chunk.
  int64_t chunk_elements() const {
    const auto chunk = [&](Bytes size) {
      return std::max<int64_t>(1, ceil_divide(size.count(), smallest().count()));
    };
    if (request_.size)
      return chunk(*request_.size);
    const Bytes usual(int64_t{1} << 20);
    const Bytes most = algorithm_.most_size.value_or(usual);
    const int64_t elements = chunk(std::max(algorithm_.least_size, std::min(usual, most)));
    const bool too_large = algorithm_.most_size && smallest() * elements > most;
    return too_large && elements > 1 ? elements - 1 : elements;
  }

  void require_judgeable() const {
    if (algorithm_.collective == MscclCollective::Custom && request_.definition == nullptr)
      refuse(algorithm_, "/algo/coll",
             "a custom collective needs a definition: --definition FILE with {\"outputs\": [[gpu, "
             "chunk, [[gpu, chunk], ..]], ..]}");
    if (request_.root >= algorithm_.gpus)
      refuse(algorithm_, "/algo/ngpus",
             fmt::format("the root is one of {} gpus, got {}", algorithm_.gpus, request_.root));
    if (request_.cluster != nullptr)
      require_devices(*request_.cluster);
  }

  void require_devices(const Cluster& cluster) const {
    if (cluster.fabric.devices() < algorithm_.gpus)
      refuse(algorithm_, "/algo/ngpus",
             fmt::format("the algorithm is for {} gpus, and cluster {} has {}", algorithm_.gpus,
                         cluster.name, cluster.fabric.devices()));
  }

  void note_size() {
    const bool small = result_.size < algorithm_.least_size;
    const bool large = algorithm_.most_size && result_.size > *algorithm_.most_size;
    if (!small && !large)
      return;
    result_.notes.push_back(
        fmt::format("{} is {} than the file is for: {} to {}", size_text(result_.size),
                    small ? "less" : "more", size_text(algorithm_.least_size),
                    algorithm_.most_size ? size_text(*algorithm_.most_size) : "any size"));
  }

  /// How the runtime cuts messages of this size.
  void note_cut() {
    const MessageForm& form = runtime_.form(algorithm_.protocol);
    if (!form.slot) {
      result_.notes.emplace_back(
          "messages are not cut to slots, and have no flags (--runtime none)");
      return;
    }
    std::string note =
        fmt::format("{} in {}: {} slots a connection (judged with {}), each of {} of data",
                    name(algorithm_.protocol), runtime_.name, form.slots, request_.slots,
                    size_text(*form.slot));
    const int64_t iterations = ceil_divide(chunk_, cut_.elements);
    if (iterations > 1)
      note += fmt::format("; a chunk of {} is cut, and all steps run {} times",
                          size_text(result_.chunk), iterations);
    else if (most_count() > cut_.chunks)
      note += fmt::format("; a message has at most {} chunk{} of {}", cut_.chunks,
                          cut_.chunks == 1 ? "" : "s", size_text(result_.chunk));
    result_.notes.push_back(std::move(note) + " (" + std::string(runtime_.source) + ")");
  }

  int64_t most_count() const {
    int64_t most = 0;
    for (const auto& gpu : algorithm_.steps)
      for (const std::vector<Step>& channel : gpu)
        for (const Step& step : channel)
          most = std::max(most, step.count());
    return most;
  }

  void add_certain_hangs() {
    for (const CertainHang& hang : algorithm_.hangs)
      result_.checks.push_back(failed(CheckKind::DeadlockFree, "", hang.message, hang.witness));
    if (algorithm_.more_hangs > 0)
      result_.checks.push_back(
          failed(CheckKind::DeadlockFree, "", fmt::format("... {} more", algorithm_.more_hangs)));
  }

  /// A hang, races and values do not depend on the iterations: no cause of a step is in a later
  /// iteration, so what waits for each other is in one, and iterations share no elements. So they
  /// are judged on one iteration with chunks of one element.
  std::unique_ptr<const CutSchedule> one_iteration(Placement placement, const CutSteps& cut,
                                                   uint32_t slots) const {
    return std::make_unique<const CutSchedule>(areas_of(algorithm_, placement, slots), cut.steps,
                                               cut.messages, 1, 1);
  }

  /// A file within the runtime's limits has at most 71 pieces a step; one that is not could have
  /// any number. The search for races keeps a clock of a gpu's thread blocks for every piece.
  void require_few_pieces() const {
    constexpr uint64_t kMost = uint64_t{1} << 21U;
    const uint64_t pieces = count_pieces(algorithm_.steps, cut_.chunks);
    if (pieces > std::max(kMost, result_.steps))
      refuse(algorithm_, "/algo",
             fmt::format("expected at most {} steps with messages of at most {} chunk{}, got {}",
                         kMost, cut_.chunks, cut_.chunks == 1 ? "" : "s", pieces));
    size_t blocks = 0;
    for (const auto& gpu : algorithm_.steps)
      blocks = std::max(blocks, gpu.size());
    if (Int128{pieces} * static_cast<int64_t>(blocks) > request_.limits.clocks)
      refuse(algorithm_, "/algo",
             beyond(request_.limits, &Limits::clocks,
                    fmt::format("{} times {}, with messages of at most {}", blocks, pieces,
                                cut_.chunks)));
  }

  CutSteps cut(Placement placement) const {
    return cut_steps(placed_steps(algorithm_, placement), algorithm_.messages, cut_.chunks);
  }

  void check_steps() {
    require_few_pieces();
    const std::vector<Placement> placements = orrery::placements(algorithm_);
    CutSteps cut = this->cut(placements.front());
    find_least_slots(placements.front(), cut);
    const std::vector<Parked> parked =
        stuck(*one_iteration(placements.front(), cut, request_.slots));
    add_deadlock_free(cut, parked);
    if (parked.empty() && request_.cluster != nullptr)
      require_routes(*request_.cluster, *one_iteration(placements.front(), cut, request_.slots));
    if (!result_.least_slots)
      return;
    for (const Placement placement : placements) {
      if (placement != placements.front())
        cut = this->cut(placement);
      check_values(placement, cut);
    }
    if (parked.empty() && request_.cluster != nullptr)
      result_.time = time_on(*request_.cluster, placements.back(), cut);
  }

  /// More slots never hurt, so a binary search finds the smallest number.
  void find_least_slots(Placement placement, const CutSteps& cut) {
    const auto hangs = [&](uint32_t slots) {
      return !stuck(*one_iteration(placement, cut, slots)).empty();
    };
    uint32_t enough = most_messages(cut);
    if (hangs(enough))
      return;
    uint32_t low = 1;
    while (low < enough) {
      const uint32_t middle = low + (enough - low) / 2;
      if (hangs(middle))
        low = middle + 1;
      else
        enough = middle;
    }
    result_.least_slots = enough;
  }

  /// The most messages on one connection. With as many slots, no send waits for one.
  static uint32_t most_messages(const CutSteps& cut) {
    std::map<std::tuple<Node, Channel, Node, Channel>, uint32_t> count;
    uint32_t most = 1;
    for (const StoredSchedule::Message& message : cut.messages)
      most = std::max(most, ++count[{message.send.node, message.send.channel, message.receive.node,
                                     message.receive.channel}]);
    return most;
  }

  void add_deadlock_free(const CutSteps& cut, const std::vector<Parked>& parked) {
    const std::string slots =
        fmt::format("{} slot{} a connection", request_.slots, request_.slots == 1 ? "" : "s");
    const std::string need = result_.least_slots ? fmt::format("it needs {}", *result_.least_slots)
                                                 : std::string("no number is enough");
    if (parked.empty())
      result_.checks.push_back(
          passed(CheckKind::DeadlockFree, "", fmt::format("ends with {}; {}", slots, need)));
    else
      result_.checks.push_back(failed(CheckKind::DeadlockFree, "",
                                      fmt::format("hangs with {}; {}", slots, need),
                                      cycle_table(algorithm_, cut, parked)));
  }

  /// With as many slots as messages, so that no order of steps is one of slots: connections may
  /// have more of them than `--slots` says.
  void check_values(Placement placement, const CutSteps& cut) {
    const std::unique_ptr<const CutSchedule> schedule =
        one_iteration(placement, cut, most_messages(cut));
    const Traced traced = trace(*schedule, buffers_of(algorithm_, placement));
    const std::string where = algorithm_.in_place && algorithm_.out_of_place
                                  ? std::string(name(placement)) + ": "
                                  : std::string();
    const std::optional<StepRace>& race = traced.races.first;
    result_.checks.push_back(
        race ? failed(CheckKind::RaceFree, "",
                      where + race_text(algorithm_, cut, placement, *race, result_.chunk) +
                          race_with_slots(placement, cut))
             : passed(CheckKind::RaceFree, "",
                      where + "any two steps that touch the same elements are ordered, with any "
                              "number of slots"));
    result_.checks.push_back(proved(traced, cut, where));
  }

  /// What to add to the text of a race: whether the slots asked for would order the steps.
  std::string race_with_slots(Placement placement, const CutSteps& cut) const {
    const std::unique_ptr<const CutSchedule> schedule =
        one_iteration(placement, cut, request_.slots);
    if (request_.slots < *result_.least_slots || !step_races(*schedule).none())
      return "";
    return fmt::format(" but the wait for one of {} slot{}: with more they race", request_.slots,
                       request_.slots == 1 ? "" : "s");
  }

  Check proved(const Traced& traced, const CutSteps& cut, const std::string& where) {
    const auto no = [&](std::string why, Witness witness = {}) {
      return failed(CheckKind::ScheduleProved, "", where + std::move(why), std::move(witness));
    };
    if (traced.races.first)
      return no("the steps race, so values depend on their timing");
    if (traced.run.misread)
      return no(fmt::format("{} reads a chunk that nothing has written",
                            step_text(algorithm_, cut.whole(traced.run.misread->step))));
    if (traced.run.digest != traced.expected)
      return no("the walk did not run each step of the schedule once");
    const ChunkDefinition own = request_.definition != nullptr
                                    ? *request_.definition
                                    : definition_of(algorithm_, request_.root);
    const std::optional<WrongChunk> wrong = first_wrong_chunk(traced.run, own);
    if (!wrong)
      return passed(CheckKind::ScheduleProved, "",
                    fmt::format("{}for all values, every gpu ends with {}", where, own.text));
    const std::string chunk = fmt::format(
        "gpu {}, {}", wrong->gpu, chunks_text({Area::Output, wrong->chunk, 1}, result_.chunk));
    const std::string have = wrong->have ? sum_text(*wrong->have) : "never written";
    const std::string expected = sum_text(wrong->expected);
    return no(fmt::format("{} is {}; expected {}", chunk, have, expected));
  }

  void require_routes(const Cluster& cluster, const Schedule& schedule) const {
    std::vector<VertexId> vertices;
    for (uint32_t gpu = 0; gpu < algorithm_.gpus; ++gpu)
      vertices.emplace_back(gpu);
    Paths paths(cluster.fabric);
    if (const auto ends = first_unrouted(schedule, vertices, paths, Reach(cluster.fabric)))
      refuse(algorithm_, "/algo",
             fmt::format("cluster {} has no route from {} to {}", cluster.name,
                         cluster.fabric.vertex_text(ends->sender),
                         cluster.fabric.vertex_text(ends->receiver)));
  }

  AlgorithmTime time_on(const Cluster& cluster, Placement placement, const CutSteps& cut) const {
    size_t longest = 0;
    size_t steps = 0;
    for (const auto& gpu : cut.steps) {
      for (const std::vector<Step>& channel : gpu) {
        longest = std::max(longest, channel.size());
        steps += channel.size();
      }
    }
    const int64_t iterations = ceil_divide(chunk_, cut_.elements);
    if (Int128{iterations} * Int128{longest} >= Int128{1} << 31U ||
        Int128{iterations} * Int128{steps} > request_.limits.steps)
      refuse(algorithm_, "/algo",
             beyond(request_.limits, &Limits::steps,
                    fmt::format("{} in each of {} iterations", steps, iterations)));
    auto schedule =
        std::make_unique<const CutSchedule>(areas_of(algorithm_, placement, request_.slots),
                                            cut.steps, cut.messages, chunk_, cut_.elements);
    return algorithm_time(algorithm_, std::move(schedule), program_of(algorithm_, chunk_), cluster,
                          runtime_);
  }

  const MscclAlgorithm& algorithm_;
  const ProofRequest& request_;
  const Runtime& runtime_;
  const int64_t chunk_;  // elements of a chunk
  const MessageCut cut_;
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
