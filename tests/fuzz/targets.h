#pragma once

// These are the fuzz targets. Each takes any bytes, and throws or aborts where a promise is broken.

#include <string_view>

#include "models/scenario/size_limits.h"

namespace orrery::test {

/// These limits are small, so that thousands of programs and laws are read and run in a second.
inline constexpr Limits kFuzzLimits = {.file = 8 << 10,
                                       .nesting = 16,
                                       .values = 2'000,
                                       .devices = 16,
                                       .links = 256,
                                       .ops = 32,
                                       .device_ops = 512,
                                       .steps = 4'000,
                                       .data = 64 << 10};

/// Checks that the text is refused with at least one error, or read. A scenario that is read must
/// stay the same when it is written and read again.
void fuzz_scenario(std::string_view text);

/// Checks that the text is refused with at least one error, or read as a law. Its least, greatest
/// and random values must make scenarios, or be refused. Simpler values must be drawn ones.
void fuzz_law(std::string_view text);

/// Checks that the text is refused with an error, or read as a sharding. Both versions of its text
/// must be read as an equal one. If axes of a mesh give it, these must make it again.
void fuzz_hlo_sharding(std::string_view text);

/// Checks that the line has an answer of one line, JSON, which says why if the line is no query.
void fuzz_sharding_query(std::string_view text);

/// Checks the same of a query about MPMD meshes and arrays.
void fuzz_mpmd_query(std::string_view text);

/// Checks that the text is refused with at least one error, or read and judged.
void fuzz_msccl(std::string_view text);

/// Checks that the text is refused with at least one error, or read as tables of nccl-tests.
void fuzz_nccl_tests(std::string_view text);

/// Checks that the scenario is refused with an error, or read and run (with its data where they are
/// small). In a run, the executors must agree with each other and with the definitions, and sweep
/// and engine must agree on the times. The scenario must have the same report when it is written
/// and read again.
void fuzz_run(std::string_view text);

}  // namespace orrery::test
