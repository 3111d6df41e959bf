#include "tools/nccl_tests/collective.h"

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace orrery::test {
namespace {

/// Does nccl-tests' own arithmetic, in its types: (count / nranks) & ~(16 / eltSize - 1).
size_t part_of(size_t count, size_t element, size_t ranks) {
  return (count / ranks) & ~(16 / element - 1);
}

TEST_CASE("nccl collectives: names of programs, with a path and a suffix") {
  CHECK(nccl_collectives().size() == 11);
  for (const NcclCollective collective : nccl_collectives()) {
    CHECK(nccl_collective_named(name(collective)) == collective);
    CHECK(nccl_collective_named("/opt/build/" + program_name(collective) + "_mpi") == collective);
  }
  CHECK(nccl_collective_named("build\\sendrecv_perf.exe") == NcclCollective::SendRecv);
  for (const char* const other : {"", "all", "all_reduce_perform", "reduce-scatter", "ALLTOALL"})
    CHECK(!nccl_collective_named(other));
}

TEST_CASE("nccl collectives: a part of each rank is whole multiples of 16 bytes") {
  holds_for_all("counts", [] {
    const auto count = in_range<int64_t>(0, 1 << 20);
    const auto element = one_of<int64_t>(1, 2, 4, 8);
    const auto ranks = in_range<uint32_t>(1, 100);
    const auto part = static_cast<int64_t>(
        part_of(static_cast<size_t>(count), static_cast<size_t>(element), ranks));
    const auto is = [&](NcclCollective collective, int64_t send, int64_t receive,
                        int64_t parameter) {
      const NcclCounts counts = nccl_counts(collective, count, Bytes(element), ranks);
      RC_ASSERT(counts.send == send);
      RC_ASSERT(counts.receive == receive);
      RC_ASSERT(counts.parameter == parameter);
    };
    for (const NcclCollective whole : {NcclCollective::AllReduce, NcclCollective::Broadcast,
                                       NcclCollective::Reduce, NcclCollective::SendRecv})
      is(whole, count, count, count);
    for (const NcclCollective gathers :
         {NcclCollective::AllGather, NcclCollective::Gather, NcclCollective::Hypercube})
      is(gathers, part, part * ranks, part);
    for (const NcclCollective scatters : {NcclCollective::ReduceScatter, NcclCollective::Scatter})
      is(scatters, part * ranks, part, part);
    is(NcclCollective::Alltoall, part * ranks, part * ranks, part);
  });
}

TEST_CASE("nccl collectives: the size of a row is the larger of sent and received") {
  const NcclCounts gather = nccl_counts(NcclCollective::AllGather, 1000, Bytes(4), 8);
  // 125 elements per rank are 124 elements in whole 16 bytes.
  CHECK(nccl_row_size(gather, Bytes(4)) == Bytes(8 * 124 * 4));
  const NcclCounts scatter = nccl_counts(NcclCollective::Scatter, 1000, Bytes(4), 8);
  CHECK(nccl_row_size(scatter, Bytes(4)) == Bytes(8 * 124 * 4));
}

TEST_CASE("nccl collectives: algbw and busbw of one millisecond") {
  // 8 MB in 1 ms are 8 GB/s.
  const auto of = [](NcclCollective collective) {
    return nccl_bandwidths(collective, Bytes(8'000'000), 8, Duration(1'000'000'000));
  };
  struct Row {
    NcclCollective collective;
    int64_t algbw_MBps;
    int64_t busbw_MBps;
  };
  for (const Row& row : std::vector<Row>{{NcclCollective::AllReduce, 8000, 14000},  // 2 * 7 / 8
                                         {NcclCollective::AllGather, 8000, 7000},
                                         {NcclCollective::ReduceScatter, 8000, 7000},
                                         {NcclCollective::Alltoall, 8000, 7000},
                                         {NcclCollective::Gather, 8000, 7000},
                                         {NcclCollective::Scatter, 8000, 7000},
                                         {NcclCollective::Broadcast, 8000, 8000},
                                         {NcclCollective::Reduce, 8000, 8000},
                                         {NcclCollective::SendRecv, 8000, 8000},
                                         // This does not count a rank's own part.
                                         {NcclCollective::Hypercube, 7000, 7000}}) {
    CAPTURE(name(row.collective));
    CHECK(of(row.collective).algbw == BytesPerSecond(row.algbw_MBps * 1'000'000));
    CHECK(of(row.collective).busbw == BytesPerSecond(row.busbw_MBps * 1'000'000));
  }
}

TEST_CASE("nccl collectives: bandwidths are rounded half up, and absent without time") {
  // 1 B in 3 s is a third of a byte per second; in 2 s it is a half.
  const auto algbw = [](int64_t seconds) {
    return nccl_bandwidths(NcclCollective::SendRecv, Bytes(1), 2,
                           Duration(seconds * kPicosecondsPerSecond))
        .algbw;
  };
  CHECK(algbw(3) == BytesPerSecond(0));
  CHECK(algbw(2) == BytesPerSecond(1));
  CHECK(!algbw(0));
  // 2^43 B in 1 ps are 8.8 * 10^24 B/s.
  CHECK(!nccl_bandwidths(NcclCollective::SendRecv, Bytes(int64_t{1} << 43), 2, Duration(1)).algbw);
}

}  // namespace
}  // namespace orrery::test
