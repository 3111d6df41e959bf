#pragma once

// The parts of a program as a builder takes them, to make another program of it.

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

/// The same, without loops.
bool is_straight(const Program& program, const Origin& origin, Diagnostics& diagnostics);

}  // namespace orrery
