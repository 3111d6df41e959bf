#pragma once

// This is a collective algorithm in MSCCL's XML (Azure/msccl-scheduler, ROCm/rccl), and its reader.
//
// A file lists the thread blocks of each gpu. A thread block has a channel, at most one peer to
// send to, and at most one to receive from. Its steps work on chunks of the buffers i, o and s. We
// read a thread block as a channel of a schedule, and a step as a Step. So the walkers of our own
// schedules (hangs, races, provenance, times) judge imported algorithms too.
//
// A file takes this way:
//  - read_msccl() reads it, with every error at once. msccl_steps.h has what runtimes make of the
//    steps, and msccl_xml.h what their XML parsers refuse.
//  - called_by() (runtime.h) sets the sizes and placements for which a runtime uses it.
//  - JudgedSizes (judged_sizes.h) has the sizes to judge it at.
//  - cut_steps() and in_elements() (msccl_schedule.h) make a Schedule for a placement and a size.
//  - prove_algorithm() (prove.h) makes all checks, in the words of the file (msccl_words.h).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/transport.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery {

/// The algorithm claims to compute this collective. For Custom a definition file says what it
/// computes.
enum class MscclCollective : uint8_t {
  AllReduce,
  AllGather,
  AllToAll,
  ReduceScatter,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Custom,
};

std::string_view name(MscclCollective collective);  // as in the file: "allreduce", ...

/// This says how a collective's data are divided over the gpus: each buffer is the whole, or the
/// gpu's own part of it.
struct MscclLayout {
  bool input_is_part = false;
  bool output_is_part = false;
  bool rooted = false;  // one gpu holds all that goes in or comes out; others may lack that buffer
  bool counts_part = false;  // nchunksperloop and sizes count one gpu's part, not the whole
};
MscclLayout layout_of(MscclCollective collective);

/// Returns the collective of a name as name() gives it or as RCCL spells it. The result is empty if
/// there is none.
std::optional<MscclCollective> collective_named(std::string_view text);

/// The parts of Step that one type of step has.
struct StepType {
  std::string_view name;  // "rrcs"
  bool receives;
  bool reads;  // its source buffer
  bool writes;
  bool sends;
  bool combines;
};
const StepType* step_type_named(std::string_view text);  // null if there is none

/// The facts about a step that its Step does not have: its place and text in the file.
struct MscclStepText {
  uint32_t line = 0;
  /// The place in the thread block, by which runtimes number the step. Waits name it.
  uint32_t number = 0;
  int64_t stated = 0;     // s="1", usually the same; runtimes only compare it with their limit
  std::string_view type;  // "rrcs"
  /// The step waits for this step of a thread block, as the file names it: the block's id and the
  /// step's number. Step::after is the step that ends the wait: the first that sets the flag to
  /// that number or more.
  std::optional<std::pair<int64_t, int64_t>> waits_for;
  std::optional<uint32_t> flag = {};  // the number that it sets the flag to
  bool chained = false;  // a re that runs as one with the step before it (msccl_steps.h)
};

struct MscclBlock {
  int64_t id = 0;
  int64_t channel = 0;
  int64_t send = -1;  // gpu, or -1 for none
  int64_t receive = -1;
  std::vector<MscclStepText> steps;
};

/// The numbers of chunks that a gpu has of each buffer.
struct MscclBuffers {
  int64_t input = 0;
  int64_t output = 0;
  int64_t scratch = 0;

  int64_t of(Area area) const {
    return area == Area::Input ? input : area == Area::Output ? output : scratch;
  }
};

/// This is a wait that nothing ends, with any number of slots. The witness has the parts of the
/// sentence.
struct CertainHang {
  std::string message;
  std::vector<std::pair<std::string, std::string>> witness;
};

/// The first hangs, and how many more there are.
struct CertainHangs {
  std::vector<CertainHang> first;
  size_t more = 0;

  bool empty() const { return first.empty(); }
  void add(CertainHang hang) {
    constexpr size_t kMost = 8;
    if (first.size() < kMost)
      first.push_back(std::move(hang));
    else
      ++more;
  }
};

/// This is an algorithm as its file states it. All offsets and counts are in chunks.
struct MscclAlgorithm {
  std::string file;  // as the user named it, for messages
  std::string name;
  Protocol protocol = Protocol::Simple;
  MscclCollective collective = MscclCollective::AllReduce;
  uint32_t gpus = 0;
  int64_t channels = 0;
  /// The value of nchunksperloop: the chunks of the whole buffer, or of a gpu's part if the layout
  /// counts parts.
  int64_t chunks = 0;
  /// These say whether it may be called with one buffer, and with two. At least one of them is
  /// true.
  bool in_place = false;
  bool out_of_place = false;
  /// The sizes of the whole buffer that the file is for, both included, as RCCL reads minBytes and
  /// maxBytes. called_by() changes them to those of another runtime.
  Bytes least_size;
  std::optional<Bytes> most_size;
  std::optional<Bytes> max_bytes;     // maxBytes as given, 0 too
  std::optional<int64_t> threads;     // nthreads
  std::vector<MscclBuffers> buffers;  // per gpu
  /// The steps per gpu and thread block, in the order in which they run. That is the file's order,
  /// except that nops within chains of re follow the chain (msccl_steps.h). Slices are in the
  /// file's buffers: i, o and s are the input, the output and the scratch area.
  StoredSteps steps;
  std::vector<std::vector<MscclBlock>> blocks;  // per gpu, in the order of `steps`
  /// Every message, once. A connection with unequal ends has no messages; it is in `hangs`.
  std::vector<StoredSchedule::Message> messages;
  CertainHangs hangs;
  CertainHangs hangs_of_last_nops;  // of waits that runtimes do not make (last_nops())
  std::vector<std::string> notes;   // what the reader accepted and ignores
  std::string collective_word;      // as the file spells it: "reducescatter"
  std::vector<std::string_view>
      absent;  // attributes of <algo> that are missing and some parsers need
  std::vector<MscclBuffers> declared;  // per gpu, as the file states them
  /// The first thing of each kind that the parsers of all runtimes refuse, and where it is.
  std::vector<std::pair<std::string, std::string>> refused;

  /// Returns the chunks of the whole buffer, for example of all inputs of an all-gather together.
  int64_t whole() const { return layout_of(collective).counts_part ? chunks * gpus : chunks; }
  /// Returns the chunks of one gpu's own part, for example its input of an all-gather.
  int64_t part() const { return whole() / gpus; }
  void refuse(const std::string& what, std::string where) {
    for (const auto& [known, first] : refused)
      if (known == what)
        return;
    refused.emplace_back(what, std::move(where));
  }
  const MscclBlock& block(StepRef ref) const {
    return blocks[ref.node.index()][ref.channel.index()];
  }
  const MscclStepText& text(StepRef ref) const { return block(ref).steps[ref.index]; }
  const Step& step(StepRef ref) const {
    return steps[ref.node.index()][ref.channel.index()][ref.index];
  }
};

/// Reads `text`, joins its messages, and finds the step that ends each wait. Throws InputError with
/// every error found: more than Limits::file or Limits::values, text that is not XML, unknown
/// names, offsets outside a buffer, waits for steps that do not exist, and messages whose two ends
/// have different sizes.
MscclAlgorithm read_msccl(std::string_view text, std::string file, const Limits& limits = {});

}  // namespace orrery
