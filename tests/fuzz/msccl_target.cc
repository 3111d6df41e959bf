#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "tests/fuzz/targets.h"
#include "tools/import/msccl.h"

namespace orrery::test {

void fuzz_msccl(std::string_view text) {
  try {
    const MscclAlgorithm algorithm = read_msccl(text, "f");
    ORRERY_CHECK(stored_schedule(algorithm, 1, 2) != nullptr, "what was read makes a schedule");
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
  }
}

}  // namespace orrery::test
