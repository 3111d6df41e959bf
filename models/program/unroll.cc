#include "models/program/unroll.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/check.h"

namespace orrery {

Unrolled unrolled(const Program& program, LongLoops long_loops) {
  Diagnostics diagnostics("");
  std::optional<Unrolled> made = unrolled(
      program, long_loops, {}, [](const WrittenSize&) { return std::string(); }, diagnostics);
  ORRERY_CHECK(made && diagnostics.empty(), "sites fit together in each iteration");
  return std::move(*made);
}

std::optional<Program> with_sites(const Program& regions, const Program& written,
                                  const std::vector<OpRun>& runs) {
  Program complete = regions;
  std::vector<bool> known(regions.sites.size(), false);
  for (const Site& met : written.sites) {
    const OpRun& first = runs[met.ops.front().index()];
    const SiteId id = *regions.op(first.op).site;
    std::vector<OpId> ops;
    for (const OpId op : met.ops) {
      const OpRun& run = runs[op.index()];
      if (run.iteration != first.iteration)
        return std::nullopt;
      ops.push_back(run.op);
    }
    Site& site = complete.sites[id.index()];
    if (ops != site.ops ||
        (known[id.index()] && (site.groups != met.groups || site.transfers != met.transfers ||
                               site.absent != met.absent)))
      return std::nullopt;
    site.groups = met.groups;
    site.transfers = met.transfers;
    site.absent = met.absent;
    known[id.index()] = true;
  }
  return complete;
}

std::vector<OpRun> own_runs(const Program& program) {
  std::vector<OpRun> runs;
  for (size_t op = 0; op < program.ops.size(); ++op)
    runs.push_back({OpId(op)});
  return runs;
}

}  // namespace orrery
