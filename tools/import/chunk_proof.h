#pragma once

// Whether the outputs of an imported algorithm are what its definition says, for all values: the
// folds of its output chunks (simulator/values/provenance.h), with chunks of one element.

#include <optional>
#include <string>

#include "simulator/values/provenance.h"
#include "tools/import/chunk_definition.h"

namespace orrery {

/// The first output chunk, by gpu, that is not what it should be. Chunks are those of the output.
struct WrongChunk {
  uint32_t gpu = 0;
  int64_t chunk = 0;
  std::optional<Contributions> have;  // empty: nothing has written it
  Contributions expected;
};

/// Requires a run of a schedule that ends and reads nothing unwritten, with chunks of one element.
std::optional<WrongChunk> first_wrong_chunk(const ProvenanceRun& run,
                                            const ChunkDefinition& definition);

/// "the sum of chunk 5 of gpus 0 to 2 and 4": the summands of a chunk.
std::string sum_text(const Contributions& made_of);

}  // namespace orrery
