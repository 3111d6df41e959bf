#pragma once

// What fuzzing feeds: each takes any bytes, and throws or aborts where what it promises breaks.

#include <string_view>

namespace orrery::test {

/// The text is refused with an error at least, or read; what was read is the same after it was
/// written and read again.
void fuzz_scenario(std::string_view text);

/// The text is refused with an error at least, or read into a schedule.
void fuzz_msccl(std::string_view text);

/// A scenario that is read, is run, with its data where they are small, or refused with an error. A
/// run finds no error of our own: executors agree with each other and with the definitions, sweep
/// and engine on the time, and the scenario that was written and read again gives the same report.
void fuzz_run(std::string_view text);

}  // namespace orrery::test
