#pragma once

// This makes a program that computes all elements of a batch at once (JAX's vmap).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/transform/named.h"

namespace orrery {

/// A value, and the dimension along which it has the batch; empty if the value is not batched.
struct BatchAxis {
  NamedAt value;
  std::optional<int64_t> dimension;
};

struct BatchRequest {
  Origin origin;
  /// The batch takes the place of this mesh axis, and has its size.
  std::optional<NamedAt> axis_name = {};
  std::optional<int64_t> size = {};     // required without axis_name
  std::vector<BatchAxis> in_axes = {};  // for arguments; others are not batched
  std::vector<BatchAxis> out_axes = {};
  /// These results have the batch along dimension 0 if they are batched and not in out_axes. A name
  /// that is no result's is passed over.
  std::vector<std::string> outputs = {};
  int64_t most_ops = int64_t{1} << 18;  // that the program may get
};

/// Returns the program whose ops do for all elements of the batch what the given ops do for one. An
/// op stays as it is if it has no batched operand and is not over the mesh axis. The others keep
/// their names; the ops that arrange the batch for op ID are named ID.batch, ID.batch.1, ...
///
/// Adds an error for an op that cannot be batched, and for a request that does not fit the program.
/// Then the program is returned as it was.
Program batch(const Program& program, Checks checks, const BatchRequest& request,
              Diagnostics& diagnostics);

}  // namespace orrery
