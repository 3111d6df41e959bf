#include "models/program/unroll.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/check.h"
#include "models/program/kept_iterations.h"

namespace orrery {

namespace {

/// Writes a program in up to four tries:
///  1. with iterations left out, where that makes no difference;
///  2. if exits name some of these, with them kept. Errors that cannot come from what is left out
///     are now reported;
///  3. if there are others, and loops that may meet leave out different ones, with the same ones
///     left out;
///  4. if there still are, with all iterations. The errors of this try are reported.
/// If all are too many, the errors of the try before count. A program that is wanted with all
/// iterations is written so after the others, so that its loops have the same parts.
class Tries {
 public:
  Tries(const Program& program, const SiteRequests& requests, AllowedSize allowed,
        Diagnostics& diagnostics)
      : program_(program), requests_(requests), allowed_(allowed), diagnostics_(diagnostics) {}

  std::optional<Unrolled> write(LongLoops wanted) {
    try_to_write(LongLoops::LeftOut);
    if (last_.left_out.empty())
      return checked();
    kept_ = last_.left_out.named_in(program_);
    if (!kept_.empty())
      try_to_write(LongLoops::LeftOut);
    if (last_.may_blame_left_out && last_.left_out.differ()) {
      last_.left_out.make_alike(kept_);
      try_to_write(LongLoops::LeftOut);
    }
    if (!last_.may_blame_left_out && (!last_.made || wanted == LongLoops::LeftOut))
      return checked();
    const std::optional<Diagnostics> before =
        last_.made ? std::optional<Diagnostics>() : std::optional(last_.errors);
    try_to_write(LongLoops::WrittenOut);
    if (!last_.made && before && last_.over_size) {
      last_.errors = *before;
      last_.errors.add(last_.over_size->origin, last_.over_size->message);
    }
    return checked();
  }

 private:
  std::optional<Unrolled> checked() {
    diagnostics_ = last_.errors;
    return std::move(last_.made);
  }

  void try_to_write(LongLoops long_loops) {
    last_ = written_once(program_, long_loops, kept_, requests_, allowed_, diagnostics_.file());
  }

  const Program& program_;
  const SiteRequests& requests_;
  const AllowedSize allowed_;
  Diagnostics& diagnostics_;
  KeptIterations kept_;
  WrittenOnce last_;
};

}  // namespace

std::optional<Unrolled> unrolled(const Program& program, LongLoops long_loops,
                                 const SiteRequests& requests, AllowedSize allowed,
                                 Diagnostics& diagnostics) {
  ORRERY_CHECK(diagnostics.empty(), "a program with errors has no iterations");
  return Tries(program, requests, allowed, diagnostics).write(long_loops);
}

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
        (known[id.index()] && (site.groups != met.groups || site.transfers != met.transfers)))
      return std::nullopt;
    site.groups = met.groups;
    site.transfers = met.transfers;
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
