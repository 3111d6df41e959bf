#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/property.h"
#include "tools/nccl_tests/draft.h"

namespace orrery::test {
namespace {

/// Returns a row as nccl-tests prints it, with bandwidths of two decimals.
NcclEvidence row_of(NcclCollective collective, uint32_t ranks, int64_t elements, int64_t time_ps) {
  const Bytes element(4);
  const NcclCounts counts = nccl_counts(collective, elements, element, ranks);
  NcclEvidence row;
  row.size = nccl_row_size(counts, element);
  row.count = counts.parameter;
  row.element = element;
  row.redop = redop_column(collective);
  row.root = has_root(collective) ? 0 : -1;
  const NcclBandwidths exact = nccl_bandwidths(collective, row.size, ranks, Duration(time_ps));
  const auto printed = [](BytesPerSecond rate) {
    constexpr int64_t kUnit = 10'000'000;
    return PrintedDecimal{(rate.count() + kUnit / 2) / kUnit * kUnit, kUnit / 2};
  };
  row.bandwidths = {{printed(*exact.algbw), printed(*exact.busbw)}};
  return row;
}

std::string text(const std::variant<NcclIdentity, NcclUnidentified>& answer) {
  if (const auto* const why = std::get_if<NcclUnidentified>(&answer))
    return why->message;
  const auto& identity = std::get<NcclIdentity>(answer);
  return std::string(name(identity.collective)) + " " + std::to_string(identity.ranks) +
         (identity.one_process ? " of one process" : "");
}

TEST_CASE("identify: the ratio of bandwidths tells an all_reduce and its ranks") {
  const std::vector<NcclEvidence> rows = {
      row_of(NcclCollective::AllReduce, 8, 1 << 28, 4'000'000'000)};
  CHECK(text(identify({}, rows)) == "all_reduce 8");
}

TEST_CASE("identify: size beside count tells the ranks of what has parts") {
  const std::vector<NcclEvidence> rows = {
      row_of(NcclCollective::ReduceScatter, 6, 1 << 20, 100'000'000)};
  CHECK(text(identify({}, rows)) == "reduce_scatter 6");
}

TEST_CASE("identify: what several collectives print alike must be named") {
  const std::vector<NcclEvidence> gather = {
      row_of(NcclCollective::AllGather, 8, 1 << 20, 100'000'000)};
  CHECK(text(identify({}, gather)) ==
        "expected its collective to be named (--collective), since the rows fit all_gather, "
        "alltoall");
  CHECK(text(identify({NcclCollective::AllGather, {}, 1}, gather)) == "all_gather 8");
  // Over two ranks, busbw is algbw for both collectives.
  const std::vector<NcclEvidence> two = {row_of(NcclCollective::SendRecv, 2, 1 << 20, 100'000'000)};
  CHECK(text(identify({{}, 2, 1}, two)) ==
        "expected its collective to be named (--collective), since the rows fit all_reduce, "
        "sendrecv");
}

TEST_CASE("identify: ranks that nothing shows must be given") {
  const std::vector<NcclEvidence> rows = {
      row_of(NcclCollective::Broadcast, 8, 1 << 20, 100'000'000)};
  const NcclKnown named{NcclCollective::Broadcast, {}, 1};
  CHECK(text(identify(named, rows)) ==
        "expected its number of ranks to be given (--ranks), since the rows fit 1 rank or more");
  CHECK(text(identify({NcclCollective::Broadcast, {}, 8}, rows)) == "broadcast 8 of one process");
  CHECK(text(identify({NcclCollective::Broadcast, 16, 8}, rows)) == "broadcast 16");
}

TEST_CASE("identify: rows that a named collective cannot print are refused, by their first") {
  const std::vector<NcclEvidence> rows = {
      row_of(NcclCollective::AllReduce, 8, 1 << 8, 100'000'000),  // 0.01 and 0.02: any ranks
      row_of(NcclCollective::AllReduce, 8, 1 << 28, 4'000'000'000)};
  const auto why = identify({NcclCollective::AllReduce, 16, 1}, rows);
  REQUIRE(std::holds_alternative<NcclUnidentified>(why));
  CHECK(std::get<NcclUnidentified>(why).row == size_t{1});
  CHECK(text(why) ==
        "expected a row of all_reduce_perf over 16 ranks, got one that it cannot print (size "
        "beside count, or busbw beside algbw)");
  CHECK(text(identify({NcclCollective::AllGather, {}, 1}, rows)) ==
        "expected a row of all_gather_perf, got one that it cannot print (redop and root)");
  CHECK(text(identify({NcclCollective::AllReduce, 8, 16}, rows)) ==
        "expected whole processes of 16 ranks, got 8 ranks");
}

TEST_CASE("identify: every table is true of its own collective and ranks") {
  holds_for_all("tables", [] {
    const NcclCollective collective =
        nccl_collectives()[in_range<size_t>(0, nccl_collectives().size())];
    const auto ranks = in_range<uint32_t>(1, 300);
    const auto count = in_range<int64_t>(1, 4);
    std::vector<NcclEvidence> rows;
    for (int64_t r = 0; r < count; ++r) {
      const auto elements = in_range<int64_t>(0, 1 << 26);
      const auto time = in_range<int64_t>(1'000'000, 10'000'000'000);
      rows.push_back(row_of(collective, ranks, elements, time));
    }
    const auto answer = identify({collective, ranks, 1}, rows);
    RC_ASSERT(text(answer) == std::string(name(collective)) + " " + std::to_string(ranks));
  });
}

}  // namespace
}  // namespace orrery::test
