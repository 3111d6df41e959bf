#pragma once

// The parts of a program as a builder takes them, to make another program of it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

/// Begins the loop in the builder, where its carries are these values at first.
void copy_loop_begin(const Program& program, const Loop& loop,
                     const std::vector<std::string>& initial, ProgramBuilder& builder);
/// Ends its body, of which each iteration yields these values.
void copy_loop_end(const Program& program, const Loop& loop,
                   const std::vector<std::string>& yielded, ProgramBuilder& builder);

/// The names of values that exits of loops give to what is outside of all bodies.
std::map<std::string_view, ValueId> exit_names(const Program& program);

/// One program on all devices is what transforms take. Adds an error for any other, at `origin`.
bool is_one_program(const Program& program, const Origin& origin, Diagnostics& diagnostics);

/// The program with all iterations of its loops written, none of which may be left out: ops in
/// other places read what each has made. Adds an error at `origin` for several programs, and where
/// it would have more than `most_ops` ops.
std::optional<Program> straightened(const Program& program, int64_t most_ops, const Origin& origin,
                                    Diagnostics& diagnostics);

/// Adds the written loops of which ops were added. `begins` has what there was before the place of
/// each op of the program, and at the end.
void copy_written_loops(const Program& program, const std::vector<ProgramBuilder::Size>& begins,
                        ProgramBuilder& builder);

}  // namespace orrery
