#pragma once

// The backward pass of a program (JAX's vjp), after its forward pass.

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/transform/named.h"

namespace orrery {

struct VjpRequest {
  Origin origin;
  std::vector<NamedAt> of;               // values
  std::vector<NamedAt> with_respect_to;  // arguments
  /// The ops whose results the backward pass computes again where it needs them. Else they are kept
  /// from the forward pass.
  std::vector<NamedAt> recompute = {};
  bool recompute_all = false;
  /// The collectives of the backward pass start on stream 1 once their operands are made, and are
  /// done just before the first op that reads them.
  bool overlap = false;
  int64_t most_ops = int64_t{1} << 18;  // that the program may have with its loops written out
};

/// The program, with an argument ct_ID for each value of `of`, and after its ops those of the
/// backward pass. The cotangent of argument ID of `with_respect_to` goes by the name ct_ID. Ops
/// are named after those whose cotangents they compute, ID.bwd and ID.bwd.1, ID.bwd.2, ...; those
/// that are computed again ID.re. Started collectives go back as sync ones. Loops are written out:
/// the values that the iterations of a loop keep stay until its iterations have gone back, the last
/// one first. Adds an error for an op on the way that has no backward rule; the program is then not
/// transformed.
Program vjp(const Program& program, Checks checks, const VjpRequest& request,
            Diagnostics& diagnostics);

}  // namespace orrery
