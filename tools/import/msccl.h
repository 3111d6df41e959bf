#pragma once

// Reads collective algorithms in MSCCL's XML (Azure/msccl-scheduler, ROCm/rccl). A thread block
// becomes a channel; a step stays a step.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/quantity.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/stored_schedule.h"
#include "tools/import/runtime.h"

namespace orrery {

/// The collective that the algorithm claims to compute. Custom is what a definition says.
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

/// Where a collective's data lie on each gpu: the whole buffer, or the gpu's own part of it.
struct MscclForm {
  bool input_is_part = false;
  bool output_is_part = false;
  bool rooted = false;  // one gpu holds all that goes in or comes out; others may lack that buffer
  bool counts_part = false;  // nchunksperloop and sizes are of one gpu's part, not of all
};
MscclForm form_of(MscclCollective collective);

/// What the file says of a step besides what it does.
struct MscclStepText {
  uint32_t line = 0;
  uint32_t number = 0;    // s="1"
  std::string_view type;  // "rrcs"
  /// The thread block's id and the step that the file names to wait for. Step::after is the step
  /// that ends the wait: the first that sets the flag to that number or more.
  std::optional<std::pair<int64_t, int64_t>> waits_for;
  std::optional<uint32_t> flag = {};  // that it sets
  bool chained = false;  // a re that runs as one with the step before it (msccl_transfers.h)
};

struct MscclBlock {
  int64_t id = 0;
  int64_t channel = 0;
  int64_t send = -1;  // gpu, or -1 for none
  int64_t receive = -1;
  std::vector<MscclStepText> steps;
};

/// Chunks that a gpu has of each buffer.
struct MscclBuffers {
  int64_t input = 0;
  int64_t output = 0;
  int64_t scratch = 0;

  int64_t of(Area area) const {
    return area == Area::Input ? input : area == Area::Output ? output : scratch;
  }
};

/// A wait that nothing ends, whatever the slots: in words, with its parts as key and text.
struct CertainHang {
  std::string message;
  std::vector<std::pair<std::string, std::string>> witness;
};

/// The first ones, and how many more there are.
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

/// An algorithm as in its file, in chunks.
struct MscclAlgorithm {
  std::string file;  // as the user named it, for messages
  std::string name;
  Protocol protocol = Protocol::Simple;
  MscclCollective collective = MscclCollective::AllReduce;
  uint32_t gpus = 0;
  int64_t channels = 0;
  /// As in the file (nchunksperloop): of the whole buffer, or of a gpu's part of it.
  int64_t chunks = 0;
  /// How it may be called: with one buffer, with two. At least one of them.
  bool in_place = false;
  bool out_of_place = false;
  /// The sizes of the whole buffer that the file is for, both included. As RCCL reads minBytes and
  /// maxBytes; as another runtime does: called_by().
  Bytes least_size;
  std::optional<Bytes> most_size;
  std::optional<Bytes> max_bytes;     // maxBytes as given, 0 too
  std::optional<int64_t> threads;     // nthreads
  std::vector<MscclBuffers> buffers;  // per gpu
  /// Per gpu and thread block, in the order in which they run: that of the file, but for nops
  /// within chains of re (msccl_transfers.h). Slices are in chunks of the file's buffers: i, o and
  /// s are the input, the output and the scratch area.
  StoredSteps steps;
  std::vector<std::vector<MscclBlock>> blocks;  // per gpu; as in `steps`
  /// Every message once; meaningless where `hangs` has a connection of unequal ends.
  std::vector<StoredSchedule::Message> messages;
  CertainHangs hangs;
  CertainHangs hangs_of_last_nops;       // whose waits runtimes do not make (last_nops.h)
  std::vector<std::string> notes;        // what the reader took although it has no meaning here
  std::string collective_word;           // as the file spells it: "reducescatter"
  std::vector<std::string_view> absent;  // attributes of <algo> that it lacks and some parsers need
  std::vector<MscclBuffers> declared;    // per gpu: the chunks that the file says
  /// What all runtimes' parsers refuse, the first of each kind: what, and where.
  std::vector<std::pair<std::string, std::string>> refused;

  /// Chunks of the whole buffer: of the input of an all-reduce, of all inputs of an all-gather.
  int64_t whole() const { return form_of(collective).counts_part ? chunks * gpus : chunks; }
  /// Chunks of one gpu's own part: its input of an all-gather, its output of a reduce-scatter.
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

/// Reads `text`, joins its messages as join_messages() does, and finds what ends each wait. Throws
/// InputError with every error found: more than Limits::file or Limits::values, text that is not
/// XML, unknown names, offsets outside a buffer, dependencies on steps that do not exist, and
/// messages of two sizes.
MscclAlgorithm read_msccl(std::string_view text, std::string file, const Limits& limits = {});

}  // namespace orrery
