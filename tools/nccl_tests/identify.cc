#include "tools/nccl_tests/identify.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"

namespace orrery {
namespace {

/// Numbers of ranks; none where low > high.
struct RankRange {
  int64_t low = 1;
  int64_t high = kMostNcclRanks;

  bool none() const { return low > high; }
  void at_least(Int128 ranks) {
    if (ranks > low)
      low = ranks > kMostNcclRanks ? kMostNcclRanks + int64_t{1} : static_cast<int64_t>(ranks);
  }
  void at_most(Int128 ranks) {
    if (ranks < high)
      high = static_cast<int64_t>(ranks);
  }
  void exactly(Int128 ranks) {
    at_least(ranks);
    at_most(ranks);
  }
  void nothing() { high = 0; }
};

/// busbw = algbw * k (n - 1) / n, both within what their digits may have been rounded from.
void narrow_by_parts(int64_t k, const PrintedDecimal& algbw, const PrintedDecimal& busbw,
                     RankRange& range) {
  const Int128 most = Int128{k} * algbw.high();
  if (most <= busbw.low())
    return range.nothing();
  // n (k algbw - busbw) >= k algbw at the largest algbw and the smallest busbw.
  range.at_least(ceil_divide(most, most - busbw.low()));
  const Int128 least = Int128{k} * algbw.low();
  if (least > busbw.high())
    range.at_most(least / (least - busbw.high()));
}

void narrow_by_bandwidths(NcclCollective collective, const NcclEvidence& row, RankRange& range) {
  // The share over two ranks is 1 for all_reduce, and a half for others with parts.
  const NcclShare of_two = bus_share(collective, 2);
  for (const auto& [algbw, busbw] : row.bandwidths) {
    if (of_two.under == 2)
      narrow_by_parts(of_two.over, algbw, busbw, range);
    else if (algbw.high() < busbw.low() || busbw.high() < algbw.low())
      range.nothing();
  }
}

void narrow_by_count(NcclCollective collective, const NcclEvidence& row, RankRange& range) {
  if (!row.count || !row.element || collective == NcclCollective::Alltoallv)
    return;
  const Int128 counted = Int128{*row.count} * row.element->count();
  if (!has_parts(collective)) {
    if (counted != row.size.count())
      range.nothing();
  } else if (counted == 0 || row.size.count() % counted != 0) {
    if (counted != row.size.count())
      range.nothing();
  } else {
    range.exactly(row.size.count() / counted);
  }
}

bool columns_fit(NcclCollective collective, const NcclEvidence& row) {
  return (!row.redop || may_print(collective, *row.redop)) &&
         (!row.root || has_root(collective) == (*row.root >= 0));
}

void narrow(NcclCollective collective, const NcclEvidence& row, RankRange& range) {
  if (!columns_fit(collective, row))
    return range.nothing();
  narrow_by_count(collective, row, range);
  narrow_by_bandwidths(collective, row, range);
}

/// The numbers of ranks for which every row may be true; and the first row that leaves none.
struct Fitting {
  NcclCollective collective;
  RankRange ranks;
  std::optional<size_t> refuted_by;
};

Fitting fitting(NcclCollective collective, const NcclKnown& known,
                const std::vector<NcclEvidence>& rows) {
  Fitting fit{collective, {}, {}};
  if (known.ranks)
    fit.ranks.exactly(*known.ranks);
  const auto unit = static_cast<int64_t>(known.per_process);
  const auto whole_processes = [&] {
    fit.ranks.low = ceil_divide(fit.ranks.low, unit) * unit;
    fit.ranks.high = fit.ranks.high / unit * unit;
  };
  whole_processes();
  for (size_t r = 0; r < rows.size() && !fit.ranks.none(); ++r) {
    narrow(collective, rows[r], fit.ranks);
    whole_processes();
    if (fit.ranks.none())
      fit.refuted_by = r;
  }
  return fit;
}

NcclUnidentified refuted(const Fitting& fit, const NcclKnown& known,
                         const std::vector<NcclEvidence>& rows) {
  if (!fit.refuted_by)
    return {fmt::format("expected whole processes of {}, got {}",
                        counted(known.per_process, "rank"),
                        counted(known.ranks.value_or(0), "rank"))};
  const char* const what = columns_fit(fit.collective, rows[*fit.refuted_by])
                               ? "size beside count, or busbw beside algbw"
                               : "redop and root";
  return {
      fmt::format(
          "expected a row of {}{}, got one that it cannot print ({})", program_name(fit.collective),
          known.ranks ? fmt::format(" over {}", counted(*known.ranks, "rank")) : std::string(),
          what),
      fit.refuted_by};
}

}  // namespace

std::variant<NcclIdentity, NcclUnidentified> identify(const NcclKnown& known,
                                                      const std::vector<NcclEvidence>& rows) {
  std::vector<Fitting> fits;
  for (const NcclCollective collective : nccl_collectives()) {
    if (known.collective && collective != *known.collective)
      continue;
    Fitting fit = fitting(collective, known, rows);
    if (!fit.ranks.none())
      fits.push_back(fit);
    else if (known.collective)
      return refuted(fit, known, rows);
  }
  if (fits.empty())
    return NcclUnidentified{
        "expected rows of one collective, got rows that no program of nccl-tests prints together"};
  if (fits.size() > 1) {
    std::vector<std::string_view> names;
    for (const Fitting& fit : fits)
      names.push_back(name(fit.collective));
    return NcclUnidentified{fmt::format(
        "expected its collective to be named, since the rows fit {}", fmt::join(names, ", "))};
  }
  const Fitting& fit = fits.front();
  const int64_t ranks = fit.ranks.low;
  if (ranks == fit.ranks.high)
    return NcclIdentity{fit.collective, static_cast<uint32_t>(ranks)};
  if (known.per_process > 1 && ranks == known.per_process)
    return NcclIdentity{fit.collective, known.per_process, true};
  return NcclUnidentified{
      fmt::format("expected its number of ranks to be given, since the rows fit {}",
                  fit.ranks.high > kMostNcclRanks / 2
                      ? fmt::format("{} or more", counted(ranks, "rank"))
                      : fmt::format("{} to {}", ranks, counted(fit.ranks.high, "rank")))};
}

}  // namespace orrery
