#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "models/base/amount_text.h"
#include "models/base/characters.h"
#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "tools/import/msccl.h"
#include "tools/import/msccl_steps.h"
#include "tools/import/msccl_xml.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 11> kAlgo = {
    "name",    "proto",      "nchannels", "nchunksperloop", "ngpus",   "coll",
    "inplace", "outofplace", "minBytes",  "maxBytes",       "nthreads"};
constexpr std::array<std::string_view, 4> kGpu = {"id", "i_chunks", "o_chunks", "s_chunks"};
constexpr std::array<std::string_view, 4> kBlock = {"id", "send", "recv", "chan"};
constexpr std::array<std::string_view, 10> kStep = {"s",      "type", "srcbuf", "srcoff", "dstbuf",
                                                    "dstoff", "cnt",  "depid",  "deps",   "hasdep"};

/// All parsers need the attributes kNeeded of <algo>. Some files lack those in kMayLack.
constexpr std::array<std::string_view, 6> kNeeded = {"proto", "nchannels", "nchunksperloop",
                                                     "ngpus", "coll",      "inplace"};
constexpr std::array<std::string_view, 4> kMayLack = {"name", "minBytes", "maxBytes", "outofplace"};

class Reader {
 public:
  Reader(const TextLines& lines, const Limits& limits, Diagnostics& diagnostics)
      : lines_(lines), limits_(limits), diagnostics_(diagnostics) {}

  /// Reads the file. Errors are added to the diagnostics; the result is valid only if there are
  /// none.
  MscclAlgorithm read(pugi::xml_node root) {
    const XmlElement algo(root, "/algo", lines_, limits_, diagnostics_);
    const std::vector<XmlElement> gpus = algo.children("gpu");
    read_header(algo, gpus.size());
    if (!diagnostics_.empty())
      return std::move(algorithm_);  // the rest is checked against the header
    blocks_.resize(gpus.size());
    algorithm_.steps.resize(gpus.size());
    algorithm_.blocks.resize(gpus.size());
    algorithm_.buffers.resize(gpus.size());
    algorithm_.declared.resize(gpus.size());
    for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu)
      read_gpu(gpu, gpus[gpu]);
    check_size(algo);
    if (diagnostics_.empty())
      resolve_waits(algorithm_, blocks_);
    if (diagnostics_.empty())
      algorithm_.messages = join_messages(algorithm_, blocks_);
    note_calls();
    if (std::optional<std::string> note = order_note(algorithm_))
      algorithm_.notes.push_back(std::move(*note));
    return std::move(algorithm_);
  }

 private:
  /// Reads <algo>. `elements` is the number of <gpu> that the file has.
  void read_header(const XmlElement& algo, size_t elements) {
    note_unknown(algo, kAlgo);
    for (const std::string_view attribute : kMayLack)
      if (!algo.among_first(attribute))
        algorithm_.absent.push_back(attribute);
    check_first(algo, "<algo>", kNeeded);
    algorithm_.name = algo.has("name") ? algo.word("name").value_or("") : "unnamed";
    if (algo.has("nthreads"))
      algorithm_.threads = algo.whole("nthreads", {});
    if (const std::optional<std::string> text = algo.word("proto")) {
      const std::optional<Protocol> protocol = protocol_named(*text);
      if (!protocol)
        algo.add_error("proto", fmt::format("expected Simple, LL or LL128, got \"{}\"", *text));
      algorithm_.protocol = protocol.value_or(Protocol::Simple);
    }
    const std::optional<int64_t> gpus = algo.whole("ngpus", {1, 1 << 16});
    const std::optional<int64_t> chunks = algo.whole("nchunksperloop", {1});
    if (gpus && static_cast<size_t>(*gpus) != elements)
      algo.add_error("ngpus", fmt::format("expected {}, as the file has {}, got {}", elements,
                                          counted(static_cast<int64_t>(elements), "gpu"), *gpus));
    algorithm_.gpus = static_cast<uint32_t>(gpus.value_or(1));
    algorithm_.chunks = chunks.value_or(1);
    algorithm_.channels = algo.whole("nchannels", {1}).value_or(1);
    algorithm_.in_place = algo.whole("inplace", {0, 1}).value_or(0) == 1;
    algorithm_.out_of_place = !algorithm_.in_place;
    if (algo.has("outofplace")) {
      const bool out_of_place = algo.whole("outofplace", {0, 1}) == 1;
      if (!algorithm_.in_place && !out_of_place)
        algorithm_.notes.emplace_back(
            "inplace and outofplace are both 0: no call would use it; it is judged out of place");
      algorithm_.out_of_place |= out_of_place;
    }
    read_collective(algo);
    read_sizes(algo);
    const MscclLayout layout = layout_of(algorithm_.collective);
    if ((layout.input_is_part || layout.output_is_part ||
         algorithm_.collective == MscclCollective::AllToAll) &&
        gpus && chunks && diagnostics_.empty() && algorithm_.whole() % *gpus != 0)
      algo.add_error("nchunksperloop",
                     fmt::format("expected a multiple of ngpus ({}), got {}", *gpus, *chunks));
  }

  /// Notes each kind of attribute that nothing reads, once. Misspelled ones are errors.
  void note_unknown(const XmlElement& element, std::span<const std::string_view> known) {
    for (const std::string_view attribute : element.unknown(known)) {
      std::string what =
          fmt::format("{} of <{}> is not read: the runtimes ignore it", attribute, element.name());
      if (std::find(algorithm_.notes.begin(), algorithm_.notes.end(), what) ==
          algorithm_.notes.end())
        algorithm_.notes.push_back(std::move(what));
    }
  }

  /// Refuses attributes after the first 16 of an element, since the runtimes' parsers do not read
  /// them.
  void check_first(const XmlElement& element, const std::string& who,
                   std::span<const std::string_view> known) {
    for (const std::string_view attribute : known)
      if (element.has(attribute.data()) && !element.among_first(attribute))
        algorithm_.refuse(std::string(attribute),
                          fmt::format("{} (line {}) has 16 attributes before it, and no more are "
                                      "read",
                                      who, element.line()));
  }

  /// Notes that a step writes to the input out of place, where it is the caller's and is usually
  /// not written.
  void note_calls() {
    for (uint32_t gpu = 0; gpu < algorithm_.gpus && algorithm_.out_of_place; ++gpu)
      for (size_t b = 0; b < algorithm_.steps[gpu].size(); ++b)
        for (uint32_t s = 0; s < algorithm_.steps[gpu][b].size(); ++s) {
          const StepRef ref{Node(gpu), Channel(b), s};
          if (const Step& step = algorithm_.step(ref);
              !step.target || step.target->area != Area::Input)
            continue;
          const MscclStepText& text = algorithm_.text(ref);
          algorithm_.notes.push_back(fmt::format(
              "gpu {} tb {} step {} ({}, line {}) writes buffer i, which out of place is "
              "the caller's input",
              gpu, algorithm_.block(ref).id, text.number, text.type, text.line));
          return;
        }
  }

  void read_sizes(const XmlElement& algo) {
    // For a gather and a scatter RCCL compares the size of what one gpu passes (sizeMultiplier 1).
    const int64_t parts = layout_of(algorithm_.collective).counts_part ? algorithm_.gpus : 1;
    const WholeRange any{0, std::numeric_limits<int64_t>::max() / parts};
    const auto read = [&](const char* attribute) {
      return algo.has(attribute) ? algo.whole(attribute, any).value_or(0) : 0;
    };
    const int64_t least = read("minBytes");
    const int64_t most = read("maxBytes");  // 0 stands for no limit
    if (most > 0 && most < least)
      algo.add_error(
          "maxBytes",
          fmt::format("expected at least minBytes, {}, or 0 for no limit, got {}", least, most));
    algorithm_.least_size = Bytes(least * parts);
    if (most > 0)
      algorithm_.most_size = Bytes(most * parts);
    if (algo.has("maxBytes"))
      algorithm_.max_bytes = Bytes(most * parts);
  }

  void read_collective(const XmlElement& algo) {
    const std::optional<std::string> coll = algo.word("coll");
    if (!coll)
      return;
    algorithm_.collective_word = *coll;
    if (const std::optional<MscclCollective> known = collective_named(*coll)) {
      algorithm_.collective = *known;
      return;
    }
    algo.add_error("coll", fmt::format("expected allreduce, allgather, alltoall, reduce_scatter, "
                                       "broadcast, reduce, gather, scatter or custom, got \"{}\"",
                                       *coll));
  }

  /// Limits two numbers. Walkers keep state for as many thread blocks on every gpu as the gpu with
  /// most has. The race check keeps a clock of all thread blocks for every step.
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
    note_unknown(element, kGpu);
    check_first(element, fmt::format("gpu {}", gpu), kGpu);
    const std::optional<int64_t> id = element.whole("id", {});
    if (id && *id != gpu)
      element.add_error("id", fmt::format("expected {}: gpus are listed in order", gpu));
    read_buffers(gpu, element);
    block_ids_.clear();
    for (const XmlElement& block : element.children("tb"))
      read_block(gpu, block);
  }

  void read_buffers(uint32_t gpu, const XmlElement& element) {
    const MscclLayout layout = layout_of(algorithm_.collective);
    const bool custom = algorithm_.collective == MscclCollective::Custom;
    MscclBuffers& buffers = algorithm_.buffers[gpu];
    MscclBuffers& written = algorithm_.declared[gpu];
    // If the number is unreadable, which is an error already, the steps' chunks are not judged by
    // it.
    constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
    buffers.scratch = written.scratch = element.whole("s_chunks", {}).value_or(kAny);
    const auto read = [&](const char* attribute, bool is_part, int64_t& in_file) -> int64_t {
      const int64_t expected = is_part ? algorithm_.part() : algorithm_.whole();
      const std::optional<int64_t> declared = element.whole(attribute, {});
      if (!declared)
        return custom ? kAny : expected;
      in_file = *declared;
      if (custom)
        return *declared;
      // An in-place file declares its single buffer under one of the two names and has 0 for the
      // other. A gpu that is not the root may lack a buffer.
      if (*declared == 0 && algorithm_.in_place)
        return expected;
      if (*declared == 0 && layout.rooted)
        return 0;
      if (*declared != expected)
        element.add_error(
            attribute,
            fmt::format("expected {} ({} over {} with nchunksperloop {}{}), got {}", expected,
                        name(algorithm_.collective), counted(algorithm_.gpus, "gpu"),
                        algorithm_.chunks, layout.counts_part ? ", which is of one gpu's part" : "",
                        *declared));
      return expected;
    };
    buffers.input = read("i_chunks", layout.input_is_part, written.input);
    buffers.output = read("o_chunks", layout.output_is_part, written.output);
    if (custom && algorithm_.in_place && !algorithm_.out_of_place)
      buffers.input = buffers.output = std::max(buffers.input, buffers.output);
  }

  void read_block(uint32_t gpu, const XmlElement& element) {
    note_unknown(element, kBlock);
    const int64_t last = int64_t{algorithm_.gpus} - 1;
    ThreadBlock block;
    block.elements = element.children("step");
    const std::optional<int64_t> id = element.whole("id", {});
    check_first(element, fmt::format("gpu {} tb {}", gpu, id.value_or(-1)), kBlock);
    const Peers peers{element.whole("send", {-1, last}), element.whole("recv", {-1, last})};
    const std::optional<int64_t> channel_number = element.whole("chan", {});
    MscclBlock& read = algorithm_.blocks[gpu].emplace_back();
    read.id = id.value_or(-1);
    read.send = peers.send.value_or(-1);
    read.receive = peers.receive.value_or(-1);
    read.channel = channel_number.value_or(0);
    if (read.channel >= algorithm_.channels)
      element.add_error("chan", fmt::format("expected a channel below nchannels ({}), got {}",
                                            algorithm_.channels, read.channel));
    if (id && !block_ids_.insert(*id).second)
      element.add_error("id", fmt::format("gpu {} has another thread block {}", gpu, *id));
    if (read.send == gpu || read.receive == gpu)
      element.add_error("a gpu does not send to itself; use a cpy step");
    if (channel_number) {
      claim(gpu, read.send, read.channel, "send", element);
      claim(gpu, read.receive, read.channel, "recv", element);
    }

    const Channel channel(blocks_[gpu].size());
    std::vector<Step> steps;
    std::vector<ParsedStep> parsed;
    for (uint32_t s = 0; s < block.elements.size(); ++s) {
      const XmlElement& step = block.elements[s];
      MscclStepText& text = read.steps.emplace_back();
      text.line = step.line();
      text.number = s;
      const bool sets_flag = step.whole("hasdep", {0, 1}) == 1;
      const Step& made = steps.emplace_back(read_step({Node(gpu), channel, s}, peers, step, text));
      parsed.push_back(
          {text.type, text.waits_for.has_value(), sets_flag, made.source, made.target});
    }
    make_transfers(block, read, steps, std::move(parsed));
    algorithm_.steps[gpu].push_back(std::move(steps));
    blocks_[gpu].push_back(std::move(block));
  }

  /// Adds an error if two thread blocks have the same direction of a connection.
  void claim(uint32_t gpu, int64_t peer, int64_t channel, const char* direction,
             const XmlElement& element) {
    if (peer >= 0 && !claimed_.emplace(gpu, peer, channel, direction[0]).second)
      element.add_error(direction,
                        fmt::format("another thread block of gpu {} has peer {} on channel {}", gpu,
                                    peer, channel));
  }

  /// The gpus of a thread block, with -1 for none. One that is empty was not readable, which is an
  /// error already.
  struct Peers {
    std::optional<int64_t> send;
    std::optional<int64_t> receive;
  };

  Step read_step(StepRef ref, const Peers& peers, const XmlElement& element, MscclStepText& text) {
    note_unknown(element, kStep);
    check_parsed(ref, element);
    if (element.has_children())
      algorithm_.refuse(
          "step",
          fmt::format("gpu {} tb {} step {} (line {}) has an element in it", ref.node.index(),
                      algorithm_.blocks[ref.node.index()].back().id, ref.index, element.line()));
    text.stated = element.whole("s", {}).value_or(ref.index);
    const int64_t on = element.whole("depid", {-1}).value_or(-1);
    const int64_t step = element.whole("deps", {-1}).value_or(-1);
    if (on >= 0)
      text.waits_for = std::pair(on, step);

    Step result;
    const std::optional<std::string> word = element.word("type");
    const StepType* const type = word ? step_type_named(*word) : nullptr;
    if (type == nullptr) {
      if (word)
        element.add_error("type", fmt::format("expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop, "
                                              "got \"{}\"",
                                              *word));
      return result;
    }
    text.type = type->name;
    if (type->receives && peers.receive == -1)
      element.add_error("type",
                        fmt::format("{} receives, and the thread block has no recv peer", *word));
    else if (type->receives && peers.receive)
      result.from = Node(static_cast<size_t>(*peers.receive));
    if (type->sends && peers.send == -1)
      element.add_error("type",
                        fmt::format("{} sends, and the thread block has no send peer", *word));
    else if (type->sends && peers.send)
      result.to = Node(static_cast<size_t>(*peers.send));
    if (type->combines)
      result.combine = Combine::Add;
    if (type->reads)
      result.source = slice(ref.node, element, "srcbuf", "srcoff");
    if (type->writes)
      result.target = slice(ref.node, element, "dstbuf", "dstoff");
    return result;
  }

  /// Refuses a step that lacks an attribute. The runtimes' parsers need every attribute of a step,
  /// and a buffer's letter even where the step has no such buffer.
  void check_parsed(StepRef ref, const XmlElement& element) {
    const auto refuse = [&](std::string_view attribute, std::string_view how) {
      algorithm_.refuse(std::string(attribute),
                        fmt::format("gpu {} tb {} step {} (line {}) {}", ref.node.index(),
                                    algorithm_.blocks[ref.node.index()].back().id, ref.index,
                                    element.line(), how));
    };
    for (const std::string_view attribute : kStep)
      if (!element.among_first(attribute))
        refuse(attribute, "lacks it");
    for (const char* const buffer : {"srcbuf", "dstbuf"})
      if (const std::optional<std::string> word =
              element.has(buffer) ? element.word(buffer) : std::nullopt;
          word && *word != "i" && *word != "o" && *word != "s")
        refuse(buffer, fmt::format("has \"{}\", not i, o or s", *word));
  }

  std::optional<Slice> slice(Node gpu, const XmlElement& element, const char* buffer_name,
                             const char* offset_name) {
    const std::optional<std::string> word = element.word(buffer_name);
    const std::optional<int64_t> offset = element.whole(offset_name, {});
    const std::optional<int64_t> count = element.whole("cnt", {1});
    if (!word || !offset || !count)
      return std::nullopt;
    if (*word != "i" && *word != "o" && *word != "s") {
      element.add_error(buffer_name, fmt::format("expected i, o or s, got \"{}\"", *word));
      return std::nullopt;
    }
    const Area area = *word == "i" ? Area::Input : *word == "o" ? Area::Output : Area::Scratch;
    const int64_t chunks = algorithm_.buffers[gpu.index()].of(area);
    if (*offset + *count > chunks) {
      const auto chunks_text = [](int64_t first, int64_t end) {
        return end - first == 1 ? fmt::format("chunk {}", first)
                                : fmt::format("chunks {} to {}", first, end - 1);
      };
      element.add_error(offset_name,
                        fmt::format("expected chunks of buffer {}, which has {}, got {}", *word,
                                    chunks == 0 ? "none" : chunks_text(0, chunks),
                                    chunks_text(*offset, *offset + *count)));
      return std::nullopt;
    }
    return Slice{area, *offset, *count};
  }

  const TextLines& lines_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  MscclAlgorithm algorithm_;
  std::vector<std::vector<ThreadBlock>> blocks_;  // per gpu
  std::set<std::tuple<uint32_t, int64_t, int64_t, char>> claimed_;
  std::set<int64_t> block_ids_;  // those of the gpu that is being read
};

}  // namespace

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
  const XmlDocument document(text, lines, diagnostics);
  diagnostics.throw_if_any();
  const pugi::xml_node root = document.root("algo", "an MSCCL algorithm");
  diagnostics.throw_if_any();
  MscclAlgorithm algorithm = Reader(lines, limits, diagnostics).read(root);
  diagnostics.throw_if_any();
  if (std::optional<std::string> wrong = refused_text(text, lines))
    algorithm.refuse("text", std::move(*wrong));
  algorithm.file = diagnostics.file();
  return algorithm;
}

}  // namespace orrery
