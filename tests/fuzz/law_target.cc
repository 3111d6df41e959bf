#include <utility>
#include <vector>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/scenario/law.h"
#include "tests/fuzz/targets.h"

namespace orrery::test {
namespace {

/// Makes the scenario of the values, or is refused.
void make(const Law& law, const std::vector<TemplateValue>& values) {
  ScenarioDefaults defaults;
  defaults.cluster = [](uint32_t devices) {
    return Cluster{.name = "made",
                   .fabric = ring_fabric(devices, {BytesPerSecond(1'000'000), Duration(1)}),
                   .device = {}};
  };
  try {
    (void)law.admits(values);
    (void)law.scenario(values, defaults);
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
  }
}

/// Makes what is simpler than the last of the values, and that fitted to them.
void make_simpler(const Law& law, const std::vector<TemplateValue>& values) {
  if (values.empty())
    return;
  const Draw& draw = law.draws().back();
  const std::span<const TemplateValue> earlier(values.begin(), values.end() - 1);
  for (const TemplateValue& simpler : draw.simpler(law.file(), earlier, values.back()))
    ORRERY_CHECK(draw.fitted(law.file(), earlier, simpler) == simpler,
                 "a simpler value may be drawn");
}

}  // namespace

void fuzz_law(std::string_view text) {
  try {
    const Law law("f", std::string(text), kFuzzLimits);
    Random random(1);
    std::vector<TemplateValue> least;
    std::vector<TemplateValue> greatest;
    std::vector<TemplateValue> drawn;
    for (const Draw& draw : law.draws()) {
      least.push_back(draw.least(law.file(), least));
      greatest.push_back(draw.greatest(law.file(), greatest));
      drawn.push_back(draw.random(law.file(), drawn, random));
    }
    for (const std::vector<TemplateValue>& values : {least, greatest, drawn})
      make(law, values);
    make_simpler(law, drawn);
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
  }
}

}  // namespace orrery::test
