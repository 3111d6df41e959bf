#pragma once

// What the outputs of an imported algorithm must be, in chunks: of which chunks of which gpus'
// inputs each output chunk is the sum. For MSCCL's collectives, or as a file says.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"
#include "simulator/values/contributions.h"
#include "tools/import/msccl.h"

namespace orrery {

/// Output chunks [first, first + count) of a gpu: chunk first + k is the sum of these input chunks,
/// each k chunks further on.
struct DefinedRun {
  int64_t first = 0;
  int64_t count = 0;
  Contributions made_of;
};

struct ChunkDefinition {
  /// Of each gpu; what is in no run may hold anything.
  std::function<std::vector<DefinedRun>(uint32_t gpu)> runs;
  std::string text;  // "the allgather of 16 chunks over 8 gpus"
};

/// The collective as an op, with chunks of `chunk` elements of f32. Rooted and custom collectives
/// have an op that moves as much; only its members and its size are used.
Program program_of(const MscclAlgorithm& algorithm, int64_t chunk);

/// By the algorithm's own collective, which is not Custom. Requires a root that is one of its gpus.
ChunkDefinition definition_of(const MscclAlgorithm& algorithm, uint32_t root);

/// {"outputs": [[gpu, chunk, [[gpu, chunk], ..]], ..]}: an output chunk, and the input chunks of
/// which it is the sum. Throws InputError with every error found, of `file`.
ChunkDefinition read_definition(std::string_view text, const std::string& file,
                                const MscclAlgorithm& algorithm, const Limits& limits = {});

}  // namespace orrery
