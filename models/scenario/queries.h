#pragma once

// This answers questions about shardings and about MPMD arrays, one line of JSON each.
// docs/shardings.md and docs/mpmd.md have the keys.

#include <string>
#include <string_view>

#include "models/mesh/partition_spec.h"
#include "models/scenario/size_limits.h"

namespace orrery {

struct QueryAnswer {
  std::string line;      // JSON without an end of line
  bool is_query = true;  // whether the line was one
};

/// Answers one line. Members that cannot be answered are left out, and "error" has the stage and
/// the message of the first thing that was refused. The stage of a line that is no query is
/// "query". A mesh has at most limits.devices devices, and the line is at most limits.file long.
QueryAnswer answer_sharding_query(std::string_view line, const Limits& limits);

/// Answers one line in the same way, but "error" is the message alone. The answers to the ops of
/// one line are at most limits.file long.
QueryAnswer answer_mpmd_query(std::string_view line, const Limits& limits);

/// Reads the entries of a spec as queries have them: "[\"x\", null]". Throws InputError, whose file
/// is `file`, or ShardingError.
PartitionSpec read_spec_text(std::string_view json, std::string_view file, const Limits& limits);

}  // namespace orrery
