#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "tests/fuzz/targets.h"
#include "tools/import/msccl.h"
#include "tools/import/prove.h"

namespace orrery::test {

void fuzz_msccl(std::string_view text) {
  Limits limits;
  limits.clocks = 1 << 16;
  try {
    const MscclAlgorithm algorithm = read_msccl(text, "f", limits);
    ProofRequest request;
    request.limits = limits;
    ORRERY_CHECK(!prove_algorithm(algorithm, request).checks.empty(), "what was read is judged");
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
  }
}

}  // namespace orrery::test
