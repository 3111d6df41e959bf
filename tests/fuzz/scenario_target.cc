#include <string>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/fuzz/targets.h"

namespace orrery::test {

void fuzz_scenario(std::string_view text) {
  std::string written;
  try {
    const Scenario scenario = read_scenario("f", text);
    written = write_scenario(scenario);
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
    return;
  }
  ORRERY_CHECK(write_scenario(read_scenario("f", written)) == written,
               "what was written is read as it was");
}

}  // namespace orrery::test
