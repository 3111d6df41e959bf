#include "tools/import/msccl.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "models/base/utf8.h"
#include "tools/import/msccl_messages.h"
#include "tools/import/xml_element.h"

namespace orrery {
namespace {

/// What one type of step does, as in Step.
struct StepType {
  std::string_view name;
  bool receives;
  bool reads;  // its source buffer
  bool writes;
  bool sends;
  bool combines;
};

// MSCCL's interpreter (msccl/src/collectives/device/msccl_interpreter.h in microsoft/msccl).
constexpr std::array<StepType, 9> kStepTypes = {{
    // name     receives reads  writes sends  combines
    {"s", false, true, false, true, false},
    {"r", true, false, true, false, false},
    {"rcs", true, false, true, true, false},
    {"rrs", true, true, false, true, true},
    {"rrc", true, true, true, false, true},
    {"rrcs", true, true, true, true, true},
    {"cpy", false, true, true, false, false},
    {"re", false, true, true, false, true},
    {"nop", false, false, false, false, false},
}};

constexpr std::array<std::pair<std::string_view, MscclCollective>, 4> kCollectives = {{
    {"allreduce", MscclCollective::AllReduce},
    {"allgather", MscclCollective::AllGather},
    {"alltoall", MscclCollective::AllToAll},
    {"reduce_scatter", MscclCollective::ReduceScatter},
}};

/// Where the chunks of one buffer of one gpu lie in the schedule's areas.
struct GpuBuffer {
  Area area = Area::Input;
  int64_t first = 0;
  int64_t chunks = 0;
};

struct Dependency {
  StepRef step;
  int64_t thread_block = 0;
  int64_t index = 0;
};

class Reader {
 public:
  Reader(const TextLines& lines, const Limits& limits, Diagnostics& diagnostics)
      : lines_(lines), limits_(limits), diagnostics_(diagnostics) {}

  /// Errors are added to the diagnostics; the result is valid only if there are none.
  MscclAlgorithm read(pugi::xml_node root) {
    const XmlElement algo(root, "/algo", lines_, diagnostics_);
    read_header(algo);
    if (!diagnostics_.empty())
      return std::move(algorithm_);  // the rest is checked against the header
    const std::vector<XmlElement> gpus = algo.children("gpu");
    if (gpus.size() != algorithm_.gpus) {
      algo.add_error("ngpus",
                     fmt::format("the file has {} gpus, not {}", gpus.size(), algorithm_.gpus));
      return std::move(algorithm_);
    }
    blocks_.resize(gpus.size());
    algorithm_.steps.resize(gpus.size());
    algorithm_.thread_blocks.resize(gpus.size());
    for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu)
      read_gpu(gpu, gpus[gpu]);
    check_size(algo);
    if (diagnostics_.empty())
      algorithm_.messages = join_messages(algorithm_.steps, blocks_);
    return std::move(algorithm_);
  }

 private:
  void read_header(const XmlElement& algo) {
    algo.allow({"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace",
                "outofplace", "minBytes", "maxBytes"});
    algorithm_.name = algo.word("name").value_or("");
    algorithm_.protocol = algo.word("proto").value_or("");
    const std::optional<int64_t> gpus = algo.whole("ngpus", {1, 1 << 16});
    const std::optional<int64_t> chunks = algo.whole("nchunksperloop", {1});
    algorithm_.gpus = static_cast<uint32_t>(gpus.value_or(1));
    algorithm_.chunks = chunks.value_or(1);
    algorithm_.in_place = algo.whole("inplace", {0, 1}).value_or(0) == 1;
    const std::optional<std::string> coll = algo.word("coll");
    const auto* const named =
        std::find_if(kCollectives.begin(), kCollectives.end(),
                     [&](const auto& entry) { return coll && entry.first == *coll; });
    if (named != kCollectives.end())
      algorithm_.collective = named->second;
    else if (coll)
      algo.add_error("coll",
                     fmt::format("expected allreduce, allgather, alltoall or reduce_scatter, "
                                 "got \"{}\"",
                                 *coll));
    if (algorithm_.collective != MscclCollective::AllReduce && gpus && chunks &&
        *chunks % *gpus != 0)
      algo.add_error("nchunksperloop",
                     fmt::format("{} chunks do not divide into {} equal parts", *chunks, *gpus));
  }

  /// Walkers keep state for as many thread blocks on every gpu as the gpu with most has. The race
  /// check keeps a clock of all thread blocks for every step. So both numbers are limited.
  void check_size(const XmlElement& algo) {
    size_t most_blocks = 0;
    size_t steps = 0;
    for (const std::vector<ThreadBlock>& blocks : blocks_) {
      most_blocks = std::max(most_blocks, blocks.size());
      for (const ThreadBlock& block : blocks)
        steps += block.elements.size();
    }
    // A file has fewer than 2^32 elements, so the ids of one kind fit 32 bits.
    const auto blocks = static_cast<int64_t>(most_blocks * blocks_.size());
    const auto clocks = Int128{blocks} * static_cast<int64_t>(steps);
    if (blocks > limits_.blocks)
      algo.add_error(beyond(limits_, &Limits::blocks,
                            fmt::format("{}: {} gpus times the most of one, {}", blocks,
                                        blocks_.size(), most_blocks)));
    else if (clocks > limits_.clocks)
      algo.add_error(beyond(limits_, &Limits::clocks, fmt::format("{} times {}", blocks, steps)));
  }

  void read_gpu(uint32_t gpu, const XmlElement& element) {
    element.allow({"id", "i_chunks", "o_chunks", "s_chunks"});
    const std::optional<int64_t> id = element.whole("id", {});
    if (id && *id != gpu)
      element.add_error("id", fmt::format("expected {}: gpus are listed in order", gpu));
    read_buffers(gpu, element);
    for (const XmlElement& block : element.children("tb"))
      read_block(gpu, block);
    resolve_dependencies(gpu);
  }

  void read_buffers(uint32_t gpu, const XmlElement& element) {
    const int64_t whole = algorithm_.chunks;
    const int64_t part = algorithm_.part();
    const bool gathers = algorithm_.collective == MscclCollective::AllGather;
    const bool scatters = algorithm_.collective == MscclCollective::ReduceScatter;
    const bool in_place = algorithm_.in_place;
    // In place, the smaller side is the gpu's own part of the single buffer.
    input_ = {Area::Input, in_place && gathers ? gpu * part : 0, gathers ? part : whole};
    output_ = {in_place ? Area::Input : Area::Output, in_place && scatters ? gpu * part : 0,
               scatters ? part : whole};
    scratch_ = {Area::Scratch, 0, element.whole("s_chunks", {}).value_or(0)};
    algorithm_.scratch = std::max(algorithm_.scratch, scratch_.chunks);
    for (const auto& [attribute, chunks] :
         {std::pair("i_chunks", input_.chunks), std::pair("o_chunks", output_.chunks)}) {
      const std::optional<int64_t> declared = element.whole(attribute, {});
      // An in-place file declares its single buffer under one of the two names and has 0 for the
      // other.
      if (declared && *declared != chunks && !(in_place && *declared == 0))
        element.add_error(
            attribute,
            fmt::format("expected {} for an {} of {} chunks over {} gpus, got {}", chunks,
                        name(algorithm_.collective), whole, algorithm_.gpus, *declared));
    }
  }

  void read_block(uint32_t gpu, const XmlElement& element) {
    element.allow({"id", "send", "recv", "chan"});
    const int64_t last = int64_t{algorithm_.gpus} - 1;
    ThreadBlock block;
    block.send = element.whole("send", {-1, last}).value_or(-1);
    block.receive = element.whole("recv", {-1, last}).value_or(-1);
    block.channel = element.whole("chan", {}).value_or(0);
    block.elements = element.children("step");
    const std::optional<int64_t> id = element.whole("id", {});
    std::vector<int64_t>& ids = algorithm_.thread_blocks[gpu];
    if (id && !block_of_.emplace(*id, ids.size()).second)
      element.add_error("id", fmt::format("gpu {} has another thread block {}", gpu, *id));
    if (block.send == gpu || block.receive == gpu)
      element.add_error("a gpu does not send to itself; use a cpy step");
    claim(gpu, block.send, block.channel, "send", element);
    claim(gpu, block.receive, block.channel, "recv", element);

    ids.push_back(id.value_or(-1));
    const Channel channel(blocks_[gpu].size());
    std::vector<Step>& steps = algorithm_.steps[gpu].emplace_back();
    for (uint32_t s = 0; s < block.elements.size(); ++s)
      steps.push_back(read_step({Node(gpu), channel, s}, block, block.elements[s]));
    blocks_[gpu].push_back(std::move(block));
  }

  /// Each direction of a connection belongs to one thread block.
  void claim(uint32_t gpu, int64_t peer, int64_t channel, const char* direction,
             const XmlElement& element) {
    if (peer >= 0 && !claimed_.emplace(gpu, peer, channel, direction[0]).second)
      element.add_error(direction,
                        fmt::format("another thread block of gpu {} has peer {} on channel {}", gpu,
                                    peer, channel));
  }

  Step read_step(StepRef ref, const ThreadBlock& block, const XmlElement& element) {
    element.allow(
        {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"});
    const std::optional<int64_t> number = element.whole("s", {});
    if (number && *number != ref.index)
      element.add_error("s", fmt::format("expected {}: steps are listed in order", ref.index));
    const int64_t on = element.whole("depid", {-1}).value_or(-1);
    const int64_t step = element.whole("deps", {-1}).value_or(-1);
    if (on >= 0)
      dependencies_.push_back({ref, on, step});

    Step result;
    const std::optional<std::string> word = element.word("type");
    const auto* const type =
        std::find_if(kStepTypes.begin(), kStepTypes.end(),
                     [&](const StepType& candidate) { return word && candidate.name == *word; });
    if (type == kStepTypes.end()) {
      if (word)
        element.add_error("type", fmt::format("expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop, "
                                              "got \"{}\"",
                                              *word));
      return result;
    }
    if (type->receives && block.receive < 0)
      element.add_error("type",
                        fmt::format("{} receives, and the thread block has no recv peer", *word));
    else if (type->receives)
      result.from = Node(static_cast<size_t>(block.receive));
    if (type->sends && block.send < 0)
      element.add_error("type",
                        fmt::format("{} sends, and the thread block has no send peer", *word));
    else if (type->sends)
      result.to = Node(static_cast<size_t>(block.send));
    if (type->combines)
      result.combine = Combine::Add;
    if (type->reads)
      result.source = slice(element, "srcbuf", "srcoff");
    if (type->writes)
      result.target = slice(element, "dstbuf", "dstoff");
    return result;
  }

  std::optional<Slice> slice(const XmlElement& element, const char* buffer_name,
                             const char* offset_name) {
    const std::optional<std::string> word = element.word(buffer_name);
    const std::optional<int64_t> offset = element.whole(offset_name, {});
    const std::optional<int64_t> count = element.whole("cnt", {1});
    if (!word || !offset || !count)
      return std::nullopt;
    const GpuBuffer* buffer = *word == "i"   ? &input_
                              : *word == "o" ? &output_
                              : *word == "s" ? &scratch_
                                             : nullptr;
    if (buffer == nullptr) {
      element.add_error(buffer_name, fmt::format("expected i, o or s, got \"{}\"", *word));
      return std::nullopt;
    }
    if (*offset + *count > buffer->chunks) {
      element.add_error(offset_name,
                        fmt::format("chunks {} to {} lie outside buffer {}, which has {}", *offset,
                                    *offset + *count - 1, *word, buffer->chunks));
      return std::nullopt;
    }
    return Slice{buffer->area, buffer->first + *offset, *count};
  }

  /// Thread blocks may refer to later ones of the file, so this runs after all of a gpu's are read.
  void resolve_dependencies(uint32_t gpu) {
    const std::map<int64_t, size_t> block_of = std::exchange(block_of_, {});
    for (const Dependency& dependency : std::exchange(dependencies_, {})) {
      const XmlElement& element =
          blocks_[gpu][dependency.step.channel.index()].elements[dependency.step.index];
      const auto block = block_of.find(dependency.thread_block);
      if (block == block_of.end()) {
        element.add_error(
            "depid", fmt::format("gpu {} has no thread block {}", gpu, dependency.thread_block));
        continue;
      }
      const size_t channel = block->second;
      std::vector<std::vector<Step>>& steps = algorithm_.steps[gpu];
      if (dependency.index < 0 || dependency.index >= static_cast<int64_t>(steps[channel].size())) {
        element.add_error(
            "deps", fmt::format("thread block {} has {} steps, so none is step {}",
                                dependency.thread_block, steps[channel].size(), dependency.index));
        continue;
      }
      const StepRef after{Node(gpu), Channel(channel), static_cast<uint32_t>(dependency.index)};
      if (after.channel != dependency.step.channel)
        steps[dependency.step.channel.index()][dependency.step.index].after = after;
      else if (after.index >= dependency.step.index)  // an earlier step has ended by then
        element.add_error("deps",
                          "a step cannot wait for itself or a later step of its thread block");
    }
  }

  const TextLines& lines_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  MscclAlgorithm algorithm_;
  std::vector<std::vector<ThreadBlock>> blocks_;  // per gpu
  std::set<std::tuple<uint32_t, int64_t, int64_t, char>> claimed_;
  // The gpu that is being read:
  std::vector<Dependency> dependencies_;
  std::map<int64_t, size_t> block_of_;  // id -> index among its thread blocks
  GpuBuffer input_, output_, scratch_;
};

int64_t scaled(int64_t chunks, int64_t chunk) {
  return checked_multiply(chunks, chunk);
}

void scale(std::optional<Slice>& slice, int64_t chunk) {
  if (slice) {
    slice->first = scaled(slice->first, chunk);
    slice->count = scaled(slice->count, chunk);
  }
}

}  // namespace

std::string_view name(MscclCollective collective) {
  return kCollectives[static_cast<size_t>(collective)].first;
}

MscclAlgorithm read_msccl(std::string_view text, std::string file, const Limits& limits) {
  Diagnostics diagnostics(std::move(file));
  if (text.size() > static_cast<size_t>(limits.file))
    diagnostics.add(beyond(limits, &Limits::file, static_cast<int64_t>(text.size())));
  // Each element takes memory once it is parsed, so they are counted before parsing.
  else if (std::count(text.begin(), text.end(), '<') > limits.values)
    diagnostics.add(beyond(limits, &Limits::values, "more"));
  diagnostics.throw_if_any();
  const TextLines lines(text);
  if (const auto at = not_utf8_at(text))
    diagnostics.add({"", lines.at(*at)}, "expected UTF-8, got a byte that is not");
  diagnostics.throw_if_any();
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed)
    diagnostics.add({"", lines.at(std::min(static_cast<size_t>(parsed.offset), text.size()))},
                    fmt::format("this is no XML: {}", parsed.description()));
  else if (std::string_view(document.document_element().name()) != "algo")
    diagnostics.add({"", TextPosition{1, 1}},
                    fmt::format("expected an MSCCL algorithm, <algo>, got <{}>",
                                document.document_element().name()));
  diagnostics.throw_if_any();
  MscclAlgorithm algorithm = Reader(lines, limits, diagnostics).read(document.document_element());
  diagnostics.throw_if_any();
  algorithm.file = diagnostics.file();
  return algorithm;
}

std::unique_ptr<StoredSchedule> stored_schedule(const MscclAlgorithm& algorithm, int64_t chunk,
                                                uint32_t slots) {
  const bool gathers = algorithm.collective == MscclCollective::AllGather;
  const bool scatters = algorithm.collective == MscclCollective::ReduceScatter;
  Extent extent;
  extent.slots = slots;
  extent.in_place = algorithm.in_place;
  extent.input =
      scaled(gathers && !algorithm.in_place ? algorithm.part() : algorithm.chunks, chunk);
  if (!algorithm.in_place)
    extent.output = scaled(scatters ? algorithm.part() : algorithm.chunks, chunk);
  extent.scratch = scaled(algorithm.scratch, chunk);

  StoredSteps steps = algorithm.steps;
  for (std::vector<std::vector<Step>>& channels : steps) {
    for (std::vector<Step>& channel : channels) {
      for (Step& step : channel) {
        scale(step.source, chunk);
        scale(step.target, chunk);
      }
    }
  }
  return std::make_unique<StoredSchedule>(extent, std::move(steps), algorithm.messages);
}

}  // namespace orrery
