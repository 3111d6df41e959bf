#include "tools/import/chunk_definition.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "verifier/definition/definitions.h"

namespace orrery {
namespace {

constexpr Dtype kDtype = Dtype::F32;  // sizes are in bytes, and chunks hold whole elements
constexpr const char* kAxis = "gpu";

/// Returns the algorithm's collective as an op without its operand.
OpRequest request_of(MscclCollective collective) {
  OpRequest op;
  op.name = std::string(name(collective));
  op.attributes.set("axis_name", std::vector<std::string>{kAxis});
  switch (collective) {
    case MscclCollective::AllReduce:
    case MscclCollective::Broadcast:
    case MscclCollective::Reduce:
    case MscclCollective::Custom:
      op.kind = OpKind::Psum;
      break;
    case MscclCollective::AllGather:
    case MscclCollective::Gather:
      op.kind = OpKind::AllGather;
      op.attributes.set("tiled", true);
      break;
    case MscclCollective::ReduceScatter:
    case MscclCollective::Scatter:
      op.kind = OpKind::PsumScatter;
      op.attributes.set("tiled", true);
      break;
    case MscclCollective::AllToAll:
      op.kind = OpKind::AllToAll;
      op.attributes.set("split_axis", int64_t{0});
      op.attributes.set("concat_axis", int64_t{0});
      op.attributes.set("tiled", true);
      break;
  }
  return op;
}

std::vector<DefinedRun> runs_of(const Definition& definition) {
  std::vector<DefinedRun> runs;
  for (const Part& part : definition.parts)
    part.for_each_run([&](int64_t first, int64_t source, int64_t count) {
      runs.push_back({first, count, {{part.rank, part.ranks, source, 1}}});
    });
  return runs;
}

/// Returns the runs of a collective with a root. No op of a program has a root.
std::vector<DefinedRun> rooted_runs(MscclCollective collective, int64_t chunks, uint32_t gpus,
                                    uint32_t root, uint32_t gpu) {
  const int64_t part = chunks / gpus;
  switch (collective) {
    case MscclCollective::Broadcast:
      return {{0, chunks, {{Rank(root), 1, 0, 1}}}};
    case MscclCollective::Scatter:
      return {{0, part, {{Rank(root), 1, gpu * part, 1}}}};
    case MscclCollective::Reduce:
      if (gpu != root)
        return {};
      return {{0, chunks, {{Rank(0), gpus, 0, 1}}}};
    default:
      break;
  }
  ORRERY_CHECK(collective == MscclCollective::Gather, "the other collectives have no root");
  std::vector<DefinedRun> runs;
  for (uint32_t from = 0; gpu == root && from < gpus; ++from)
    runs.push_back({from * part, part, {{Rank(from), 1, 0, 1}}});
  return runs;
}

/// Reads a definition's outputs into runs of one chunk each.
class DefinitionReader {
 public:
  DefinitionReader(const MscclAlgorithm& algorithm, Diagnostics& diagnostics)
      : algorithm_(algorithm), diagnostics_(diagnostics), runs_(algorithm.gpus) {}

  std::vector<std::map<int64_t, Contributions>> read(DocumentNode root) {
    if (!is_object(root, "an object with \"outputs\"", diagnostics_))
      return runs_;
    Fields fields(root, diagnostics_);
    const std::optional<DocumentNode> outputs = fields.required("outputs");
    fields.finish();
    if (outputs && is_list(*outputs, "a list of outputs", diagnostics_)) {
      if (outputs->size() == 0)
        diagnostics_.add(outputs->origin(), "expected at least one output, got an empty list");
      for (const DocumentNode output : *outputs)
        read_output(output);
    }
    return runs_;
  }

 private:
  struct Chunk {
    uint32_t gpu;
    int64_t chunk;
  };

  void refuse_size(DocumentNode list, const char* what) {
    diagnostics_.add(list.origin(),
                     fmt::format("expected {}, got a list of {}", what, list.size()));
  }

  void read_output(DocumentNode node) {
    if (!is_list(node, kOutput, diagnostics_))
      return;
    if (node.size() != 3) {
      refuse_size(node, kOutput);
      return;
    }
    const DocumentNode gpu = *node.first();
    const DocumentNode chunk = *gpu.next();
    const DocumentNode sources = *chunk.next();
    const std::optional<Chunk> at = read_chunk(gpu, chunk, Area::Output);
    const Contributions made_of = read_sources(sources);
    if (at && !runs_[at->gpu].emplace(at->chunk, made_of).second)
      diagnostics_.add(node.origin(), fmt::format("chunk {} of gpu {} has a definition above",
                                                  at->chunk, at->gpu));
  }

  Contributions read_sources(DocumentNode list) {
    Contributions made_of;
    if (!is_list(list, "a list of input chunks, [[gpu, chunk], ..]", diagnostics_))
      return made_of;
    if (list.size() == 0)
      diagnostics_.add(list.origin(), "expected at least one input chunk, got an empty list");
    std::map<std::pair<uint32_t, int64_t>, bool> seen;
    for (const DocumentNode source : list) {
      if (!is_list(source, kChunk, diagnostics_))
        continue;
      if (source.size() != 2) {
        refuse_size(source, kChunk);
        continue;
      }
      const DocumentNode gpu = *source.first();
      const std::optional<Chunk> at = read_chunk(gpu, *gpu.next(), Area::Input);
      if (!at)
        continue;
      if (!seen.emplace(std::pair(at->gpu, at->chunk), true).second)
        diagnostics_.add(source.origin(), fmt::format("chunk {} of gpu {} is in this sum already",
                                                      at->chunk, at->gpu));
    }
    // Neighbouring gpus are joined to one range, so that equal sums have equal lists.
    std::map<int64_t, std::vector<uint32_t>> by_source;
    for (const auto& [at, unused] : seen)
      by_source[at.second].push_back(at.first);
    for (const auto& [source, gpus] : by_source) {
      for (size_t g = 0; g < gpus.size();) {
        size_t end = g + 1;
        while (end < gpus.size() && gpus[end] == gpus[end - 1] + 1)
          ++end;
        made_of.push_back({Rank(gpus[g]), static_cast<uint32_t>(end - g), source, 1});
        g = end;
      }
    }
    std::sort(made_of.begin(), made_of.end());
    return made_of;
  }

  std::optional<Chunk> read_chunk(DocumentNode gpu, DocumentNode chunk, Area area) {
    const std::optional<int64_t> rank =
        read_integer(gpu, "a gpu", {0, int64_t{algorithm_.gpus} - 1}, diagnostics_);
    if (!rank)
      return std::nullopt;
    const int64_t chunks = algorithm_.buffers[static_cast<size_t>(*rank)].of(area);
    const char* const buffer = area == Area::Input ? "input" : "output";
    if (chunks == 0) {
      diagnostics_.add(gpu.origin(), fmt::format("gpu {} has no {} chunks", *rank, buffer));
      return std::nullopt;
    }
    const std::optional<int64_t> at = read_integer(
        chunk, fmt::format("an {} chunk of gpu {}", buffer, *rank), {0, chunks - 1}, diagnostics_);
    if (!at)
      return std::nullopt;
    return Chunk{static_cast<uint32_t>(*rank), *at};
  }

  static constexpr const char* kOutput = "an output, [gpu, chunk, [[gpu, chunk], ..]]";
  static constexpr const char* kChunk = "an input chunk, [gpu, chunk]";

  const MscclAlgorithm& algorithm_;
  Diagnostics& diagnostics_;
  std::vector<std::map<int64_t, Contributions>> runs_;  // per gpu: by output chunk
};

Contributions moved(Contributions made_of, int64_t chunks) {
  for (Contribution& each : made_of)
    each.source += chunks;
  return made_of;
}

/// Returns the gpus in words: "gpus 0 to 2 and 4", "gpu 3", "gpu 3 (2 times)".
std::string gpus_text(const Contributions& of_one_source) {
  constexpr size_t kMost = 4;
  std::string text;
  uint64_t gpus = 0;
  for (size_t i = 0; i < of_one_source.size(); ++i) {
    const Contribution& each = of_one_source[i];
    gpus += each.ranks;
    if (i > kMost)
      continue;
    const uint32_t first = each.rank.index();
    text += i == 0 ? "" : i + 1 == of_one_source.size() ? " and " : ", ";
    if (i == kMost) {
      text += "others";
      continue;
    }
    text += each.ranks == 1   ? fmt::format("{}", first)
            : each.ranks == 2 ? fmt::format("{}, {}", first, first + 1)
                              : fmt::format("{} to {}", first, first + each.ranks - 1);
    if (each.times > 1)
      text += fmt::format(" ({} times)", each.times);
  }
  return (gpus == 1 ? "gpu " : "gpus ") + text;
}

}  // namespace

Program program_of(const MscclAlgorithm& algorithm, int64_t chunk) {
  const bool gathers = layout_of(algorithm.collective).input_is_part;
  const int64_t operand = checked_multiply(gathers ? algorithm.part() : algorithm.whole(), chunk);
  Diagnostics diagnostics(algorithm.file);
  ProgramBuilder builder(Mesh({{kAxis, int64_t{algorithm.gpus}}}), Checks::Shapes, diagnostics);
  builder.argument("operand", kDtype, Shape{operand}, {kAxis});
  std::vector<LogicalId> devices;
  for (uint32_t g = 0; g < algorithm.gpus; ++g)
    devices.emplace_back(g);
  builder.thread("all", std::move(devices));
  OpRequest op = request_of(algorithm.collective);
  op.operands = {"operand"};
  builder.op(std::move(op));
  Program program = builder.finish();
  ORRERY_CHECK(diagnostics.empty(), "a buffer that divides into parts satisfies every rule");
  return program;
}

ChunkDefinition definition_of(const MscclAlgorithm& algorithm, uint32_t root) {
  const MscclCollective collective = algorithm.collective;
  ORRERY_CHECK(collective != MscclCollective::Custom && root < algorithm.gpus,
               "a custom collective is what a file says, and a root is a gpu");
  const uint32_t gpus = algorithm.gpus;
  const int64_t chunks = algorithm.whole();
  ChunkDefinition result;
  result.text = fmt::format("the {} of {} over {}", name(collective), counted(chunks, "chunk"),
                            counted(gpus, "gpu"));
  if (layout_of(collective).rooted) {
    result.text += fmt::format(", root {}", root);
    result.runs = [=](uint32_t gpu) { return rooted_runs(collective, chunks, gpus, root, gpu); };
    return result;
  }
  const auto program = std::make_shared<const Program>(program_of(algorithm, 1));
  result.runs = [program, gpus](uint32_t gpu) {
    const Op& op = program->ops.front();
    const Shape& operand = program->value(op.operands.front()).type.shape;
    return runs_of(define(op, operand, gpus, Rank(gpu)));
  };
  return result;
}

ChunkDefinition read_definition(std::string_view text, const std::string& file,
                                const MscclAlgorithm& algorithm, const Limits& limits) {
  Diagnostics diagnostics(file);
  const Document document(text, diagnostics, limits);
  const std::optional<DocumentNode> root = document.root();
  diagnostics.throw_if_any();
  auto outputs = std::make_shared<const std::vector<std::map<int64_t, Contributions>>>(
      DefinitionReader(algorithm, diagnostics).read(*root));
  diagnostics.throw_if_any();
  ChunkDefinition result;
  size_t defined = 0;
  for (const auto& gpu : *outputs)
    defined += gpu.size();
  result.text = fmt::format("the {} that {} defines",
                            counted(static_cast<int64_t>(defined), "output chunk"), file);
  result.runs = [outputs](uint32_t gpu) {
    std::vector<DefinedRun> runs;
    for (const auto& [chunk, made_of] : (*outputs)[gpu])
      runs.push_back({chunk, 1, made_of});
    return runs;
  };
  return result;
}

std::optional<WrongChunk> first_wrong_chunk(const ProvenanceRun& run,
                                            const ChunkDefinition& definition) {
  for (uint32_t gpu = 0; gpu < run.outputs.size(); ++gpu) {
    const Pieces& made = run.outputs[gpu];
    std::optional<WrongChunk> lowest;
    for (const DefinedRun& defined : definition.runs(gpu)) {
      const int64_t end = defined.first + defined.count;
      auto piece = std::upper_bound(made.begin(), made.end(), defined.first,
                                    [](int64_t chunk, const Piece& p) { return chunk < p.first; });
      for (--piece; piece != made.end() && piece->first < end; ++piece) {
        const int64_t at = std::max(piece->first, defined.first);
        if (lowest && lowest->chunk <= at)
          break;
        const Contributions expected = moved(defined.made_of, at - defined.first);
        std::optional<Contributions> have;
        if (!piece->undefined())
          have = run.folds.contributions(piece->made.moved(at - piece->first));
        if (have == expected)
          continue;
        lowest = WrongChunk{gpu, at, have, expected};
        break;
      }
    }
    if (lowest)
      return lowest;
  }
  return std::nullopt;
}

std::string sum_text(const Contributions& made_of) {
  if (made_of.empty())
    return "zero";
  std::map<int64_t, Contributions> by_source;
  uint64_t summands = 0;
  for (const Contribution& each : made_of) {
    by_source[each.source].push_back(each);
    summands += uint64_t{each.ranks} * each.times;
  }
  constexpr size_t kMost = 3;  // different chunks
  std::string text = summands > 1 ? "the sum of " : "";
  size_t shown = 0;
  for (const auto& [source, gpus] : by_source) {
    if (shown == kMost) {
      text += fmt::format(", and of {} other chunks", by_source.size() - kMost);
      break;
    }
    text += fmt::format("{}chunk {} of {}", shown == 0 ? "" : ", ", source, gpus_text(gpus));
    ++shown;
  }
  return text;
}

}  // namespace orrery
