#include "tools/import/chunk_proof.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace orrery {
namespace {

Contributions moved(Contributions made_of, int64_t chunks) {
  for (Contribution& each : made_of)
    each.source += chunks;
  return made_of;
}

/// "gpus 0 to 2 and 4", "gpu 3", "gpu 3 (2 times)".
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
