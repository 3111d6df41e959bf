#pragma once

// Fuzz targets. Each takes any bytes, and throws or aborts where a promise is broken.

#include <string_view>

namespace orrery::test {

/// The text is refused with at least one error, or read. A scenario that is read stays the same
/// when it is written and read again.
void fuzz_scenario(std::string_view text);

/// The text is refused with at least one error, or read and judged.
void fuzz_msccl(std::string_view text);

/// The text is refused with at least one error, or read as tables of nccl-tests.
void fuzz_nccl_tests(std::string_view text);

/// The scenario is read and run, with its data where they are small, or refused with an error. In a
/// run the executors agree with each other and with the definitions, and sweep and engine agree on
/// the times. The scenario has the same report when it is written and read again.
void fuzz_run(std::string_view text);

}  // namespace orrery::test
