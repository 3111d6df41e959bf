#include <string>

#include "models/base/check.h"
#include "models/mesh/hlo_sharding.h"
#include "tests/fuzz/targets.h"

namespace orrery::test {
namespace {

/// Finds what the axes of the mesh do, or is refused.
void cut(const HloSharding& sharding, const Mesh& mesh) {
  try {
    const AxisCut cut = sharding.cut_over(mesh);
    ORRERY_CHECK(HloSharding(mesh, cut) == sharding, "a cut gives the sharding that it is of");
  } catch (const HloShardingError& error) {
    ORRERY_CHECK(!std::string_view(error.what()).empty(), "a refusal says why");
  }
}

}  // namespace

void fuzz_hlo_sharding(std::string_view text) {
  constexpr int64_t kMostListed = 4'096;  // long lists are slow, and no different
  try {
    const HloSharding read = HloSharding::parse(text);
    const HloSharding again = HloSharding::parse(read.text());
    ORRERY_CHECK(again == read && again.text() == read.text(), "a printed text is read as it was");
    if (read.devices().value_or(0) <= kMostListed) {
      const HloSharding listed = HloSharding::parse(read.text_v1());
      ORRERY_CHECK(listed == read && listed.text() == read.text_v1(),
                   "listed devices are those of the shape");
    }
    cut(read, Mesh({{"x", 2}, {"y", 1}, {"z", 4}}));
    cut(read, Mesh({{"x", 3}, {"y", 2}, {"z", 2}}));
  } catch (const HloShardingError& error) {
    ORRERY_CHECK(!std::string_view(error.what()).empty(), "a refusal says why");
  }
}

}  // namespace orrery::test
