// Tests every collective on the mock driver: each case of collective_cases.h, in a random order of
// its own, must give the values of the host executor bit for bit.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/simulator/values/cuda/mock_rig.h"
#include "tests/support/tries.h"
#include "tests/verifier/collective_cases.h"

namespace orrery::test {

namespace {

/// Larger groups take long: a mock runs one kernel after another, and slowly under sanitizers.
int64_t most_members() {
  return is_all_tried() ? 9 : 5;
}

TEST_CASE("GPUs: every collective of every dtype by every algorithm has the host's values") {
  for (const OpKind kind : collectives()) {
    SUBCASE(std::string(rules(kind).name).c_str()) {
      for (const Case& c : cases_of(kind)) {
        if (c.n > most_members() || !is_tried(seed(c)))
          continue;
        INFO(fmt::format("{} over {} members, {}, {}, rank {}", rules(kind).name, c.n,
                         name_of(c.grouping), c.tiled ? "tiled" : "untiled", c.rank));
        std::string algorithms;
        for (const Trial& trial : trials_of(c))
          algorithms += fmt::format(" {} by {};", name(trial.dtype), trial.algorithm);
        INFO(algorithms);
        HostRig rig(axes_of(c));
        add_trials(c, rig);
        rig.lower();
        CHECK(wrong_on_mock({rig.program, rig.lowered, rig.arguments}, 1, seed(c)) == "");
      }
    }
  }
}

}  // namespace

}  // namespace orrery::test
