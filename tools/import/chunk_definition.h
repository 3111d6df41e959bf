#pragma once

// Defines the outputs of an imported algorithm in chunks, and finds outputs that differ.
//
// A definition says, for each output chunk, of which chunks of which gpus' inputs it is the sum. It
// comes from definition_of() for MSCCL's own collectives, or from a file
// (read_definition()). The proof compares it with the folds that provenance finds
// (simulator/values/provenance.h) in chunks of one element, so it holds for all values.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/size_limits.h"
#include "simulator/values/fold_table.h"
#include "simulator/values/provenance.h"
#include "tools/import/msccl.h"

namespace orrery {

/// Output chunks [first, first + count) of a gpu. Chunk first + k is the sum of the input chunks
/// `made_of`, each moved on by k chunks.
struct DefinedRun {
  int64_t first = 0;
  int64_t count = 0;
  Contributions made_of;
};

struct ChunkDefinition {
  /// Returns the runs of a gpu. Output chunks that are in no run may hold anything.
  std::function<std::vector<DefinedRun>(uint32_t gpu)> runs;
  std::string text;  // "the allgather of 16 chunks over 8 gpus"
};

/// Returns a program of one op, the algorithm's collective, with chunks of `chunk` elements of f32.
/// Rooted and custom collectives get an op that moves as much. Only its members and its size are
/// used.
Program program_of(const MscclAlgorithm& algorithm, int64_t chunk);

/// Returns the definition of the algorithm's own collective. Requires that it is not Custom, and
/// that the root is one of its gpus.
ChunkDefinition definition_of(const MscclAlgorithm& algorithm, uint32_t root);

/// Reads {"outputs": [[gpu, chunk, [[gpu, chunk], ..]], ..]}, where each output chunk is followed
/// by the input chunks of which it is the sum. Throws InputError with every error found in `file`.
ChunkDefinition read_definition(std::string_view text, const std::string& file,
                                const MscclAlgorithm& algorithm, const Limits& limits = {});

/// This is an output chunk that is not what it should be.
struct WrongChunk {
  uint32_t gpu = 0;
  int64_t chunk = 0;
  std::optional<Contributions> have;  // empty: nothing has written it
  Contributions expected;
};

/// Returns the first wrong chunk of the first gpu that has one. Requires the provenance of a
/// schedule that ends and reads nothing unwritten, with chunks of one element.
std::optional<WrongChunk> first_wrong_chunk(const ProvenanceRun& run,
                                            const ChunkDefinition& definition);

/// Returns the summands of a chunk in words: "the sum of chunk 5 of gpus 0 to 2 and 4".
std::string sum_text(const Contributions& made_of);

}  // namespace orrery
