#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/program/collective_types.h"
#include "verifier/check/names.h"
#include "verifier/ragged/ragged_tables.h"

namespace orrery {

namespace {

/// This is one slice, and the rows that it takes: `entry` is its entry in the tables of its sender.
struct SliceRows {
  size_t from;
  size_t entry;
  int64_t first;  // row of the receiver's result, or of the sender's operand
  int64_t end;
};

struct Wrong {
  std::string text;
  Witness witness;
};

/// Returns the number as text. A number beyond 63 bits is no row of any array, and was read as the
/// largest that 63 bits hold.
std::string number_text(int64_t number) {
  return number == std::numeric_limits<int64_t>::max() ? "2^63 - 1 or more"
                                                       : std::to_string(number);
}

std::string rows_text(int64_t first, int64_t rows) {
  return rows == 1 ? fmt::format("row {}", first)
                   : fmt::format("rows {} to {}", first, first + rows - 1);
}

struct Overlap {
  SliceRows one;
  SliceRows other;
  std::string rows;
};

/// Returns the first two slices that have rows in common.
std::optional<Overlap> first_overlap(std::vector<SliceRows> placed) {
  std::stable_sort(placed.begin(), placed.end(),
                   [](const SliceRows& a, const SliceRows& b) { return a.first < b.first; });
  const SliceRows* furthest = nullptr;  // of those before it
  for (const SliceRows& next : placed) {
    if (furthest != nullptr && next.first < furthest->end)
      return Overlap{*furthest, next,
                     rows_text(next.first, std::min(next.end, furthest->end) - next.first)};
    if (furthest == nullptr || next.end > furthest->end)
      furthest = &next;
  }
  return std::nullopt;
}

/// Says whether slices may have rows of an operand in common.
enum class Reads : uint8_t { Any, Disjoint };

class GroupTables {
 public:
  GroupTables(const RaggedGroup& tables, const Group& group, Reads reads)
      : tables_(tables), group_(group), reads_(reads) {}

  std::optional<Wrong> wrong() const {
    for (size_t rank = 0; rank < group_.size(); ++rank)
      for (size_t entry = 0; entry < tables_.ranks[rank].send_sizes.size(); ++entry)
        if (auto found = wrong_slice(rank, entry))
          return found;
    for (size_t rank = 0; rank < group_.size(); ++rank)
      if (auto found = overlap(rank))
        return found;
    for (size_t rank = 0; rank < group_.size() && reads_ == Reads::Disjoint; ++rank)
      if (auto found = overlap_of_reads(rank))
        return found;
    return std::nullopt;
  }

 private:
  size_t slice(size_t entry) const { return entry % tables_.slices_for_each(); }
  size_t peer(size_t entry) const { return entry / tables_.slices_for_each(); }
  std::string device(size_t rank) const { return fmt::format("device {}", group_[rank].index()); }
  /// Returns "slice 1 of device 0 for device 3".
  std::string text(size_t from, size_t entry) const {
    return fmt::format("slice {} of {} for {}", slice(entry), device(from), device(peer(entry)));
  }
  Wrong at(size_t rank, size_t entry, std::string text) const {
    return {std::move(text),
            {{"device", std::to_string(group_[rank].index())}, {"entry", std::to_string(entry)}}};
  }

  std::optional<Wrong> wrong_slice(size_t rank, size_t entry) const {
    const SliceTables& own = tables_.ranks[rank];
    const int64_t rows = own.send_sizes[entry];
    if (rows < 0)
      return at(rank, entry, fmt::format("send_sizes gives {} {} rows", text(rank, entry), rows));
    const int64_t expected =
        tables_.ranks[peer(entry)].recv_sizes[tables_.entry(rank, slice(entry))];
    if (rows != expected)
      return at(rank, entry,
                fmt::format("{} has {} row{} by send_sizes of {}, and {} by recv_sizes of {}",
                            text(rank, entry), number_text(rows), rows == 1 ? "" : "s",
                            device(rank), number_text(expected), device(peer(entry))));
    const auto outside = [&](int64_t first, int64_t all) {
      return rows > 0 && (first < 0 || rows > all || first > all - rows);
    };
    const auto from_row = [&](int64_t first) {
      return rows == 1
                 ? fmt::format("row {}", number_text(first))
                 : fmt::format("{} rows from row {} on", number_text(rows), number_text(first));
    };
    if (outside(own.input_offsets[entry], tables_.operand_rows))
      return at(rank, entry,
                fmt::format("{} is {} of an operand of {}", text(rank, entry),
                            from_row(own.input_offsets[entry]), tables_.operand_rows));
    if (outside(own.output_offsets[entry], tables_.output_rows))
      return at(rank, entry,
                fmt::format("{} goes to {} of a result of {}", text(rank, entry),
                            from_row(own.output_offsets[entry]), tables_.output_rows));
    return std::nullopt;
  }

  /// Returns the overlap of two slices in one rank's result. Requires slices that lie in it.
  std::optional<Wrong> overlap(size_t to) const {
    std::vector<SliceRows> placed;
    for (size_t from = 0; from < group_.size(); ++from)
      for (size_t s = 0; s < tables_.slices_for_each(); ++s) {
        const SliceTables& sender = tables_.ranks[from];
        const size_t entry = tables_.entry(to, s);
        if (const int64_t rows = sender.send_sizes[entry]; rows > 0)
          placed.push_back(
              {from, entry, sender.output_offsets[entry], sender.output_offsets[entry] + rows});
      }
    const std::optional<Overlap> found = first_overlap(std::move(placed));
    if (!found)
      return std::nullopt;
    const auto name = [&](const SliceRows& of) {
      return fmt::format("slice {} of {}", slice(of.entry), device(of.from));
    };
    return Wrong{fmt::format("{} and {} overlap in {} of the result of {}", name(found->one),
                             name(found->other), found->rows, device(to)),
                 {{"receiver", std::to_string(group_[to].index())},
                  {"rows", found->rows},
                  {"first", name(found->one)},
                  {"second", name(found->other)}}};
  }

  /// Returns the overlap of two slices in one rank's operand. Requires slices that lie in it.
  std::optional<Wrong> overlap_of_reads(size_t from) const {
    const SliceTables& sender = tables_.ranks[from];
    std::vector<SliceRows> placed;
    for (size_t entry = 0; entry < sender.send_sizes.size(); ++entry)
      if (const int64_t rows = sender.send_sizes[entry]; rows > 0)
        placed.push_back(
            {from, entry, sender.input_offsets[entry], sender.input_offsets[entry] + rows});
    const std::optional<Overlap> found = first_overlap(std::move(placed));
    if (!found)
      return std::nullopt;
    return Wrong{
        fmt::format("{} and {} have {} of its operand in common, and \"disjoint_reads\" "
                    "says that none have",
                    text(from, found->one.entry), text(from, found->other.entry), found->rows),
        {{"sender", std::to_string(group_[from].index())},
         {"rows", found->rows},
         {"first", text(from, found->one.entry)},
         {"second", text(from, found->other.entry)}}};
  }

  const RaggedGroup& tables_;
  const Group& group_;
  const Reads reads_;
};

/// Returns the tables whose output_offsets are those that the other rank of each exchange has for
/// it. So offsets in the receiver's view, where a rank lists where it stores the slices that it
/// gets, become offsets in the sender's view.
RaggedGroup from_view_of_receivers(const RaggedGroup& tables) {
  RaggedGroup turned = tables;
  for (size_t from = 0; from < tables.ranks.size(); ++from)
    for (size_t to = 0; to < tables.ranks.size(); ++to)
      for (size_t s = 0; s < tables.slices_for_each(); ++s)
        turned.ranks[from].output_offsets[tables.entry(to, s)] =
            tables.ranks[to].output_offsets[tables.entry(from, s)];
  return turned;
}

}  // namespace

Check tables_agreed(const Program& program, SiteId site, const SiteTables& tables) {
  const Op& op = program.op(program.site(site).ops.front());
  const Reads reads = op.attributes.boolean("disjoint_reads") ? Reads::Disjoint : Reads::Any;
  for (size_t g = 0; g < tables.groups.size(); ++g) {
    const Group& group = program.site(site).groups[g];
    auto wrong = GroupTables(tables.groups[g], group, reads).wrong();
    if (!wrong)
      continue;
    wrong->witness.emplace(wrong->witness.begin(), "op", op.name);
    const bool turned =
        !GroupTables(from_view_of_receivers(tables.groups[g]), group, reads).wrong();
    return failed(
        CheckKind::TablesAgreed, pointer_of(op),
        fmt::format("{}: {}.{}", quoted(op.name), wrong->text,
                    turned ? " The tables would agree if output_offsets had the receiver's "
                             "view. It has the sender's: each entry says where the slice begins "
                             "in the result of its receiver. An all_to_all of the "
                             "receivers' offsets gives it."
                           : ""),
        std::move(wrong->witness));
  }
  return passed(
      CheckKind::TablesAgreed, pointer_of(op),
      fmt::format("The tables of {} agree, and its slices do not overlap.", quoted(op.name)));
}

}  // namespace orrery
