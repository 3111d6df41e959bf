#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "tests/fuzz/targets.h"
#include "tools/nccl_tests/draft.h"
#include "tools/nccl_tests/table.h"

namespace orrery::test {

void fuzz_nccl_tests(std::string_view text) {
  try {
    const std::vector<NcclTable> tables = read_nccl_tables(text, "f");
    ORRERY_CHECK(!tables.empty(), "a file that was read has a table");
    for (const NcclTable& table : tables) {
      ORRERY_CHECK(table.ranks >= 1 && table.ranks <= kMostNcclRanks && !table.rows.empty(),
                   "a table has ranks and rows");
      ORRERY_CHECK(
          !table.settings || table.ranks % (table.settings->threads * table.settings->gpus) == 0,
          "ranks are those of whole processes");
      for (const NcclRow& row : table.rows)
        ORRERY_CHECK(row.size >= Bytes() && (!row.root || *row.root < table.ranks),
                     "a row has a size, and a root that is a rank");
    }
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
  }
}

}  // namespace orrery::test
