#pragma once

// The parts of a program as a builder takes them, to make another program of it.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/program/builder.h"
#include "models/program/op_request.h"
#include "models/program/program.h"

namespace orrery {

/// The op as the user could have written it, with its place in the file.
OpRequest request_of(const Program& program, const Op& op);

/// Adds the program's arguments.
void copy_arguments(const Program& program, ProgramBuilder& builder);

/// Adds all but the program's outputs. Requires one thread, or no loops.
void copy_program(const Program& program, ProgramBuilder& builder);

/// One program on all devices is what transforms take. Adds an error for any other, at `origin`.
bool is_one_program(const Program& program, const Origin& origin, Diagnostics& diagnostics);

/// The program with all iterations of its loops written out, none of which may be left out: ops in
/// other places read what each has made. Adds an error at `origin` for several programs, and where
/// it would have more than `most_ops` ops.
std::optional<Program> straightened(const Program& program, int64_t most_ops, const Origin& origin,
                                    Diagnostics& diagnostics);

/// Adds the loops of which ops were added. `begins` has what there was before the place of each op
/// of the program, and at the end.
void copy_loops(const Program& program, const std::vector<ProgramBuilder::Size>& begins,
                ProgramBuilder& builder);

}  // namespace orrery
