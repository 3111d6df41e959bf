#include "tools/import/runtime.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "verifier/check/names.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 8> kRcclCollectives = {
    "allreduce", "allgather", "alltoall", "reducescatter",
    "broadcast", "reduce",    "gather",   "scatter"};
constexpr std::array<std::string_view, 3> kRcclAttributes = {"minBytes", "maxBytes", "outofplace"};
constexpr std::array<std::string_view, 1> kMscclAttributes = {"name"};
constexpr std::array<std::string_view, 7> kMscclCollectives = {
    "allreduce", "allgather", "alltoall", "reduce_scatter", "broadcast", "reduce", "custom"};

// Offsets are kept in 16 bits and depid in 8, both with a sign. An XML element has at most 1,024
// children (MAX_SUBS).
//
// A connection's buffer has 8 steps; a Simple message takes 4 of them (MSCCL_CHUNKSTEPS), the
// others one. LL sends a flag of 4 B with every 4 B of data. LL128 sends lines whose last 8 B are a
// flag: of 64 B in RCCL, of 128 B in NCCL.
constexpr std::array kRuntimes = {
    Runtime{"rccl",
            "ROCm/rccl 0cbce2a: init.cc, device.h, msccl_struct.h",
            RuntimeLimits{64, 71, 64, 128, 32, 4095, 1024, 32767, 127},
            {kRcclCollectives, kRcclAttributes, false, Calls::Rccl, false, true},
            {{Bytes(int64_t{2} << 20), 2, {1, 1}},
             {Bytes(8 * 256 * 8), 8, {1, 2}},
             {Bytes(28 * 256 * 8 / 8 * 7), 8, {7, 8}}}},
    Runtime{"msccl",
            "microsoft/msccl: devcomm.h, msccl.h",
            RuntimeLimits{256, 71, 216, 32, 32, 4095, 1024, 32767, 127},
            {kMscclCollectives, kMscclAttributes, true, Calls::Msccl, true, false},
            {{Bytes(int64_t{2} << 20), 2, {1, 1}},
             {Bytes(8 * 512 * 8), 8, {1, 2}},
             {Bytes(120 * 640 * 8 / 16 * 15), 8, {15, 16}}}},
    Runtime{"none", "", std::nullopt, {}, {{}, {}, {}}},
};

/// Collects the first refusal of each kind.
class Refusals {
 public:
  Refusals(const MscclAlgorithm& algorithm, const Runtime& runtime)
      : algorithm_(algorithm), runtime_(runtime), limits_(*runtime.limits) {}

  Witness find() {
    if (const auto format = other_format(algorithm_, runtime_))
      add("algo", *format);
    for (const auto& [what, where] : algorithm_.refused)
      add(what, where);
    if (const auto step = lacks_kernel(algorithm_, runtime_))
      add("type", *step);
    if (algorithm_.gpus > limits_.gpus)
      add("gpus", fmt::format("ngpus is {}, at most {}", algorithm_.gpus, limits_.gpus));
    if (algorithm_.channels > limits_.channels)
      add("channels",
          fmt::format("nchannels is {}, at most {}", algorithm_.channels, limits_.channels));
    for (uint32_t gpu = 0; gpu < algorithm_.gpus; ++gpu) {
      check_custom(gpu);
      check_nodes(gpu);
      check_blocks(gpu);
      check_peers(gpu);
      for (uint32_t b = 0; b < algorithm_.blocks[gpu].size(); ++b)
        check_steps({Node(gpu), Channel(b), 0});
    }
    return std::move(found_);
  }

 private:
  void add(std::string_view what, std::string text) {
    for (const auto& [known, first] : found_)
      if (known == what)
        return;
    found_.emplace_back(what, std::move(text));
  }

  void check_custom(uint32_t gpu) {
    if (!runtime_.format.whole_custom || algorithm_.collective != MscclCollective::Custom)
      return;
    const MscclBuffers& declared = algorithm_.declared[gpu];
    for (const auto& [name, chunks] :
         {std::pair("i_chunks", declared.input), std::pair("o_chunks", declared.output)})
      if (chunks != 0 && chunks != algorithm_.chunks)
        add(name, fmt::format("gpu {} has {}: expected nchunksperloop ({}) or 0", gpu, chunks,
                              algorithm_.chunks));
  }

  /// Checks the number of XML elements. A gpu keeps <algo>, every <gpu>, and its own thread blocks
  /// and steps.
  void check_nodes(uint32_t gpu) {
    auto nodes = 1 + int64_t{algorithm_.gpus} + static_cast<int64_t>(algorithm_.blocks[gpu].size());
    for (const MscclBlock& block : algorithm_.blocks[gpu])
      nodes += static_cast<int64_t>(block.steps.size());
    if (nodes > limits_.nodes)
      add("XML elements", fmt::format("gpu {} reads {} (<algo>, every <gpu>, its <tb> and <step>), "
                                      "at most {}",
                                      gpu, nodes, limits_.nodes));
  }

  void check_blocks(uint32_t gpu) {
    const auto& blocks = algorithm_.blocks[gpu];
    if (static_cast<int64_t>(blocks.size()) > limits_.thread_blocks)
      add("thread blocks",
          fmt::format("gpu {} has {}, at most {}", gpu, blocks.size(), limits_.thread_blocks));
    // The ids are numbers of the runtime's thread blocks.
    for (const MscclBlock& block : blocks)
      if (block.id >= static_cast<int64_t>(blocks.size()))
        add("ids of thread blocks",
            fmt::format("gpu {} has {} and one of them the id {}: expected ids from 0 to {}", gpu,
                        counted(static_cast<int64_t>(blocks.size()), "thread block"), block.id,
                        blocks.size() - 1));
  }

  void check_peers(uint32_t gpu) {
    std::map<int64_t, std::pair<int64_t, int64_t>>
        by_channel;  // how many have a send peer, and a recv peer
    for (const MscclBlock& block : algorithm_.blocks[gpu]) {
      auto& [sends, receives] = by_channel[block.channel];
      sends += block.send >= 0 ? 1 : 0;
      receives += block.receive >= 0 ? 1 : 0;
    }
    for (const auto& [channel, count] : by_channel)
      if (const int64_t most = std::max(count.first, count.second); most > limits_.peers)
        add("peers",
            fmt::format("gpu {} has {} thread blocks with a {} peer on channel {}, at most {}", gpu,
                        most, count.first == most ? "send" : "recv", channel, limits_.peers));
  }

  void check_steps(StepRef ref) {
    const MscclBlock& block = algorithm_.block(ref);
    const std::string where = fmt::format("gpu {} tb {}", ref.node.index(), block.id);
    if (const auto steps = static_cast<int64_t>(block.steps.size()); steps > limits_.steps)
      add("steps", fmt::format("{} has {}, at most {}", where, steps, limits_.steps));
    for (; ref.index < block.steps.size(); ++ref.index) {
      const MscclStepText& text = algorithm_.text(ref);
      const Step& step = algorithm_.step(ref);
      const std::string who = fmt::format("{} step {} (line {})", where, text.number, text.line);
      if (text.stated != text.number && text.stated >= limits_.steps)
        add("s", fmt::format("{} has {}, at most {}", who, text.stated, limits_.steps - 1));
      if (step.count() > limits_.count)
        add("cnt", fmt::format("{} has {} chunks, at most {}", who, step.count(), limits_.count));
      check_numbers(who, step, text);
      if (text.type != "rrc")  // the parsers do not check the buffers of rrc
        for (const std::optional<Slice>& slice : {step.source, step.target})
          check_declared(ref.node, who, slice);
    }
  }

  /// Checks the numbers that runtimes keep in few bits.
  void check_numbers(const std::string& who, const Step& step, const MscclStepText& text) {
    for (const auto& [name, slice] :
         {std::pair("srcoff", step.source), std::pair("dstoff", step.target)})
      if (slice && slice->first > limits_.offset)
        add(name, fmt::format("{} has {}, at most {} (16 bits with a sign)", who, slice->first,
                              limits_.offset));
    if (text.waits_for && text.waits_for->first > limits_.waited_block)
      add("depid", fmt::format("{} waits for tb {}, at most {} (8 bits with a sign)", who,
                               text.waits_for->first, limits_.waited_block));
  }

  /// Checks the declared buffers. An in-place file may declare one buffer and use the other. We
  /// accept that; the parsers do not.
  void check_declared(Node gpu, const std::string& who, const std::optional<Slice>& slice) {
    if (!slice || slice->first < algorithm_.declared[gpu.index()].of(slice->area))
      return;
    const char* const name = slice->area == Area::Input    ? "i_chunks"
                             : slice->area == Area::Output ? "o_chunks"
                                                           : "s_chunks";
    add(name,
        fmt::format("{} uses chunk {} of buffer {}, and {} of gpu {} is {}", who, slice->first,
                    name[0], name, gpu.index(), algorithm_.declared[gpu.index()].of(slice->area)));
  }

  const MscclAlgorithm& algorithm_;
  const Runtime& runtime_;
  const RuntimeLimits& limits_;
  Witness found_;
};

/// Returns the size below which a runtime with Calls::Msccl uses the file.
Bytes sizes_end(const MscclAlgorithm& algorithm) {
  return algorithm.max_bytes.value_or(Bytes(int64_t{1} << 27));
}

/// Returns the word without underscores: "reduce_scatter" and "reducescatter" are one collective.
std::string plain(std::string_view collective) {
  std::string text(collective);
  std::erase(text, '_');
  return text;
}

}  // namespace

std::span<const Runtime> runtimes() {
  return kRuntimes;
}

const Runtime* runtime_named(std::string_view text) {
  const auto* const found = std::find_if(kRuntimes.begin(), kRuntimes.end(),
                                         [&](const Runtime& each) { return each.name == text; });
  return found == kRuntimes.end() ? nullptr : found;
}

std::optional<std::string> other_format(const MscclAlgorithm& algorithm, const Runtime& runtime) {
  const auto has = [](const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!has(runtime.format.collectives, algorithm.collective_word)) {
    std::string text =
        fmt::format("coll=\"{}\" is none of its collectives", algorithm.collective_word);
    for (const std::string_view there : runtime.format.collectives)
      if (plain(there) == plain(algorithm.collective_word))
        text += fmt::format(", it is \"{}\" there", there);
    return text;
  }
  std::string absent;
  for (const std::string_view attribute : runtime.format.attributes)
    if (has(algorithm.absent, attribute))
      absent += (absent.empty() ? "" : ", ") + std::string(attribute);
  if (!absent.empty())
    return "it needs " + absent;
  if (runtime.format.reads_threads && algorithm.threads.value_or(0) % 32 != 0)
    return fmt::format("nthreads is {}: it needs a multiple of 32", *algorithm.threads);
  if (runtime.format.calls == Calls::Msccl && sizes_end(algorithm) < algorithm.least_size)
    return fmt::format("minBytes is {}, above maxBytes, {}", algorithm.least_size.count(),
                       sizes_end(algorithm).count());
  return std::nullopt;
}

std::optional<std::string> lacks_kernel(const MscclAlgorithm& algorithm, const Runtime& runtime) {
  if (!runtime.format.lacks_fused)
    return std::nullopt;
  for (uint32_t gpu = 0; gpu < algorithm.blocks.size(); ++gpu)
    for (const MscclBlock& block : algorithm.blocks[gpu])
      for (const MscclStepText& step : block.steps)
        if (step.type == "rcs" || step.type == "rrs" || step.type == "rrc" || step.type == "rrcs")
          return fmt::format(
              "gpu {} tb {} step {} (line {}) has {}: {}'s kernels are built without rcs, rrs, rrc "
              "and rrcs, so mscclSetupKernel returns ncclInternalError on gpu {}",
              gpu, block.id, step.number, step.line, step.type, runtime.name, gpu);
  return std::nullopt;
}

MscclAlgorithm called_by(MscclAlgorithm algorithm, const Runtime& runtime) {
  if (runtime.format.calls != Calls::Msccl || !runtime.limits)
    return algorithm;
  algorithm.out_of_place = !algorithm.in_place;
  if (const Bytes end = sizes_end(algorithm); end > algorithm.least_size)
    algorithm.most_size = end - Bytes(1);
  else if (end == algorithm.least_size)
    algorithm.notes.push_back(fmt::format(
        "no size is below maxBytes, {}: {} uses the file only where it is registered for others",
        end.count(), runtime.name));
  return algorithm;
}

const Runtime& runtime_of(const MscclAlgorithm& algorithm) {
  const Runtime* reads = nullptr;
  for (const Runtime& runtime : runtimes()) {
    if (!runtime.limits || other_format(algorithm, runtime))
      continue;
    if (!lacks_kernel(algorithm, runtime))
      return runtime;
    if (reads == nullptr)
      reads = &runtime;
  }
  return reads != nullptr ? *reads : runtimes().front();
}

Check runtime_limits(const MscclAlgorithm& algorithm, const Runtime& runtime) {
  Witness refusals = Refusals(algorithm, runtime).find();
  if (refusals.empty())
    return passed(
        CheckKind::RuntimeLimits, "",
        fmt::format("{} takes the file: its XML, collective, attributes, buffers, counts, steps, "
                    "thread blocks, peers and channels",
                    runtime.name));
  return failed(CheckKind::RuntimeLimits, "",
                fmt::format("{} refuses the file (--runtime NAME asks for another, or for "
                            "none)",
                            runtime.name),
                std::move(refusals));
}

}  // namespace orrery
