#include "tools/nccl_tests/draft.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "tools/nccl_tests/collective.h"

namespace orrery {
namespace {

/// The numbers of ranks from low to high. There are none if low > high.
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

/// Keeps the n for which busbw = algbw * k (n - 1) / n can be true before rounding.
void narrow_by_parts(int64_t k, const PrintedDecimal& algbw, const PrintedDecimal& busbw,
                     RankRange& range) {
  const Int128 most = Int128{k} * algbw.high();
  if (most <= busbw.low())
    return range.nothing();
  // n (k algbw - busbw) >= k algbw holds for the largest algbw and the smallest busbw.
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

/// The numbers of ranks for which every row may be true, and the first row that leaves none.
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

NcclEvidence evidence_of(const PrintedRow& row) {
  NcclEvidence evidence;
  evidence.size = row.size;
  evidence.count = row.count;
  if (const std::optional<Dtype> type = nccl_type_named(row.type))
    evidence.element = itemsize(*type);
  if (row.without_redop)
    evidence.redop = RedopColumn::Absent;
  else if (row.redop)
    evidence.redop = row.redop->empty()     ? RedopColumn::Blank
                     : *row.redop == "none" ? RedopColumn::None
                                            : RedopColumn::Operation;
  evidence.root = row.root;
  for (const auto& figures : {row.out_of_place, row.in_place})
    if (figures && figures->algbw && figures->busbw)
      evidence.bandwidths.emplace_back(*figures->algbw, *figures->busbw);
  const auto checked = [](const std::optional<PrintedFigures>& figures) {
    return figures && figures->wrong.has_value();
  };
  if (row.in_place && (checked(row.in_place) || checked(row.out_of_place)))
    evidence.checked_in_place = checked(row.in_place);
  return evidence;
}

std::optional<NcclFigures> figures_of(const std::optional<PrintedFigures>& printed) {
  if (!printed)
    return std::nullopt;
  const auto rate = [](const std::optional<PrintedDecimal>& bandwidth) {
    return bandwidth ? std::optional(BytesPerSecond(bandwidth->value)) : std::nullopt;
  };
  return NcclFigures{Duration(printed->time.value), rate(printed->algbw), rate(printed->busbw),
                     printed->wrong};
}

NcclRow row_of(PrintedRow&& row) {
  NcclRow made;
  made.size = row.size;
  made.count = row.count;
  made.type = std::move(row.type);
  made.redop = row.redop.value_or("");
  if (row.root && *row.root >= 0)
    made.root = static_cast<uint32_t>(*row.root);
  made.out_of_place = figures_of(row.out_of_place);
  made.in_place = figures_of(row.in_place);
  made.line = row.origin.at ? row.origin.at->line : 0;
  return made;
}

/// Returns whether `printed` can be within 2 % of size / time * share, before rounding.
bool agrees(const PrintedDecimal& printed, Bytes size, const PrintedDecimal& time,
            NcclShare counted, NcclShare bus) {
  // printed * time is at most 2^63 * 2^63 B/s * ps, so the share is applied to the other side.
  const Int128 bytes = Int128{size.count()} * kPicosecondsPerSecond;
  const Int128 over = Int128{counted.over} * bus.over;
  const Int128 under = Int128{counted.under} * bus.under;
  const Int128 share = bytes / under * over + bytes % under * over / under;
  const Int128 most = Int128{printed.high() + 1} * time.high();
  const Int128 least = Int128{printed.low()} * time.low();
  return most / 98 * 100 + 100 >= share && least / 102 * 100 <= share + 100;
}

/// Returns where something stands: "line 12", or "/measured/0/rows/3".
std::string place(const Origin& origin) {
  return origin.pointer.empty() ? fmt::format("line {}", origin.at ? origin.at->line : 0)
                                : origin.pointer;
}

/// Notes the first figure that does not follow from the size and the time, and counts the others.
void note_disagreements(const std::vector<PrintedRow>& rows, NcclTable& table) {
  std::string first;
  int64_t more = 0;
  const NcclShare counted_of_size = counted_share(table.collective, table.ranks);
  const NcclShare bus = bus_share(table.collective, table.ranks);
  for (const PrintedRow& row : rows) {
    for (const auto* const figures : {&row.out_of_place, &row.in_place}) {
      if (!*figures)
        continue;
      const PrintedFigures& printed = **figures;
      const bool algbw = !printed.algbw || agrees(*printed.algbw, row.size, printed.time,
                                                  counted_of_size, NcclShare{});
      const bool busbw =
          !printed.busbw || agrees(*printed.busbw, row.size, printed.time, counted_of_size, bus);
      if (algbw && busbw)
        continue;
      if (!first.empty()) {
        ++more;
        continue;
      }
      first = fmt::format("{}: {} is more than 2 % from what {} and its time give",
                          place(row.origin), algbw ? "busbw" : "algbw", size_text(row.size));
    }
  }
  if (first.empty())
    return;
  if (more > 0)
    first += fmt::format(" (and {} more)", more);
  table.notes.push_back(std::move(first));
}

/// Leaves fewer of several collectives that print such rows. Returns why those that are left.
std::string choose(std::vector<Fitting>& fits, const NcclKnown& known,
                   const std::vector<NcclEvidence>& rows) {
  std::string because;
  std::vector<Fitting> checked_alike;
  const auto shows = std::find_if(rows.begin(), rows.end(), [](const NcclEvidence& row) {
    return row.checked_in_place.has_value();
  });
  for (const Fitting& fit : fits)
    if (shows != rows.end() && is_checked_in_place(fit.collective) == *shows->checked_in_place)
      checked_alike.push_back(fit);
  if (!checked_alike.empty()) {
    because = *shows->checked_in_place ? "its values in place are checked"
                                       : "its values in place are not checked";
    fits = std::move(checked_alike);
  }
  if (fits.size() == 1)
    return because;
  for (const NcclHint& hint : known.hints)
    for (const Fitting& fit : fits)
      if (fit.collective == hint.collective) {
        fits = {Fitting(fit)};
        return hint.where;
      }
  if (known.hints.empty())
    std::erase_if(fits, [&](const Fitting& fit) {
      return fits.size() > 1 && fit.collective == NcclCollective::Alltoallv;
    });
  return because;
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
  const std::string because = fits.size() > 1 ? choose(fits, known, rows) : "";
  if (fits.size() > 1) {
    std::vector<std::string_view> names;
    for (const Fitting& fit : fits)
      names.push_back(name(fit.collective));
    return NcclUnidentified{
        fmt::format("expected its collective to be named (--collective), since the rows fit {}",
                    fmt::join(names, ", "))};
  }
  const Fitting& fit = fits.front();
  const int64_t ranks = fit.ranks.low;
  if (ranks == fit.ranks.high)
    return NcclIdentity{fit.collective, static_cast<uint32_t>(ranks), false, because};
  if (known.per_process > 1 && ranks == known.per_process)
    return NcclIdentity{fit.collective, known.per_process, true, because};
  return NcclUnidentified{
      fmt::format("expected its number of ranks to be given (--ranks), since the rows fit {}",
                  fit.ranks.high > kMostNcclRanks / 2
                      ? fmt::format("{} or more", counted(ranks, "rank"))
                      : fmt::format("{} to {}", ranks, counted(fit.ranks.high, "rank")))};
}

void require_room(size_t rows, const Origin& origin, Diagnostics& diagnostics) {
  if (rows < kMostNcclRows)
    return;
  diagnostics.add(origin, fmt::format("expected at most {} rows, got more", kMostNcclRows));
  diagnostics.throw_if_any();
}

std::optional<NcclTable> completed(NcclDraft draft, Diagnostics& diagnostics) {
  NcclKnown known;
  for (const NcclCollective collective : draft.named) {
    if (known.collective && *known.collective != collective) {
      diagnostics.add(draft.origin, fmt::format("expected one collective, got {} and {}",
                                                name(*known.collective), name(collective)));
      return std::nullopt;
    }
    known.collective = collective;
  }
  for (const uint32_t ranks : draft.ranks) {
    if (known.ranks && *known.ranks != ranks) {
      diagnostics.add(draft.origin, fmt::format("expected one number of ranks, got {} and {}",
                                                *known.ranks, ranks));
      return std::nullopt;
    }
    known.ranks = ranks;
  }
  NcclTable& table = draft.table;
  if (table.settings)
    known.per_process = table.settings->threads * table.settings->gpus;
  known.hints = std::move(draft.hints);
  if (draft.rows.empty()) {
    diagnostics.add(draft.origin, "expected rows below the header of a table, got none");
    return std::nullopt;
  }
  std::vector<NcclEvidence> evidence;
  std::transform(draft.rows.begin(), draft.rows.end(), std::back_inserter(evidence), evidence_of);
  const auto answer = identify(known, evidence);
  if (const auto* const why = std::get_if<NcclUnidentified>(&answer)) {
    diagnostics.add(why->row ? draft.rows[*why->row].origin : draft.origin, why->message);
    return std::nullopt;
  }
  const auto& identity = std::get<NcclIdentity>(answer);
  table.collective = identity.collective;
  table.ranks = identity.ranks;
  table.line = draft.origin.at ? draft.origin.at->line : 0;
  if (!identity.because.empty())
    table.notes.push_back(fmt::format("{}: the table is taken for one of {}, since {}",
                                      place(draft.origin), name(identity.collective),
                                      identity.because));
  if (identity.one_process)
    table.notes.push_back(fmt::format("line {}: {} taken, those of one process (nThread and nGpus)",
                                      table.line, counted(identity.ranks, "rank")));
  if (draft.times_are_cpu_times)
    table.notes.push_back(
        fmt::format("{}: times are those of the processor (-C 1)", place(draft.origin)));
  for (const PrintedRow& row : draft.rows) {
    if (row.root && *row.root >= int64_t{table.ranks}) {
      diagnostics.add(row.origin, fmt::format("expected a root from 0 to {}, got {}",
                                              table.ranks - 1, *row.root));
      return std::nullopt;
    }
  }
  note_disagreements(draft.rows, table);
  for (PrintedRow& row : draft.rows)
    table.rows.push_back(row_of(std::move(row)));
  return std::move(table);
}

}  // namespace orrery
