#include <cstdint>
#include <string>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/fuzz/targets.h"

namespace orrery::test {

namespace {

/// Whether the program has at most this many ops once its loops are written out, as the writer
/// does. A loop of 10,000,000 iterations would be a text of gigabytes.
constexpr uint64_t kMostOps = 10'000;

bool is_short(const Program& program) {
  uint64_t ops = 0;
  for (const uint64_t times : repetitions(program)) {
    if (times > kMostOps - ops)
      return false;
    ops += times;
  }
  return true;
}

}  // namespace

void fuzz_scenario(std::string_view text) {
  std::string written;
  try {
    const Scenario scenario = read_scenario("f", text);
    if (!is_short(scenario.program))
      return;
    written = write_scenario(scenario);
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
    return;
  }
  ORRERY_CHECK(write_scenario(read_scenario("f", written)) == written,
               "what was written is read as it was");
}

}  // namespace orrery::test
