#include "simulator/analyze/collective_figures.h"

#include <doctest/doctest.h>

using namespace orrery;

namespace {

/// Returns a completion of a thread of two devices, where op i has the spans of entry i.
Completion completion(std::vector<std::vector<OpSpan>> spans) {
  Completion result;
  result.spans = OpSpans(std::move(spans));
  return result;
}

OpSpan span(int64_t start, int64_t entered, int64_t end) {
  return {Instant(start), Instant(entered), Instant(end)};
}

/// Returns a function that gives a launch of `launch` ps on every device.
auto takes(int64_t launch) {
  return [launch](LogicalId) { return Duration(launch); };
}

const Thread kThread{"t", {LogicalId(2), LogicalId(5)}, {}};

}  // namespace

TEST_CASE("exposure of a sync collective: its whole time, launch included") {
  const Exposure found = exposure(kThread, completion({{span(0, 10, 30), span(5, 15, 45)}}),
                                  takes(10), OpId(0), OpId(0));
  CHECK(found.device == LogicalId(5));  // 30 after its launch, the other 20
  CHECK(found.took == Duration(40));
  CHECK(found.exposed == Duration(40));
  CHECK(found.hidden == Duration(0));
}

TEST_CASE("exposure of a started collective: the wait at its done") {
  const Completion times = completion({{span(0, 0, 30), span(0, 0, 30)},  // equal: device 2 counts
                                       {span(20, 20, 30), span(5, 5, 30)}});
  const Exposure found = exposure(kThread, times, takes(0), OpId(0), OpId(1));
  CHECK(found.device == LogicalId(2));
  CHECK(found.exposed == Duration(10));
  CHECK(found.hidden == Duration(20));
}

TEST_CASE("exposure of a started collective that is never done: none") {
  const Exposure found =
      exposure(kThread, completion({{span(0, 0, 30), span(0, 0, 20)}}), takes(0), OpId(0), {});
  CHECK(found.exposed == Duration(0));
  CHECK(found.hidden == Duration(30));
}

// The sizes and factors are from nccl-tests' PERFORMANCE.md, for 4 ranks and 1,000 us.
TEST_CASE("bandwidths: as nccl-tests defines them") {
  const Bytes operand(8'000'000);
  const Duration time(1'000'000'000);
  // For all_reduce, S is 8 MB, which is 8 GB/s, and the bus factor is 2 x 3/4.
  const Bytes reduced = nccl_size(OpKind::Psum, operand, 4);
  CHECK(reduced == operand);
  CHECK(bandwidths(OpKind::Psum, reduced, 4, time).algbw_GBps == 8.0);
  CHECK(bandwidths(OpKind::Psum, reduced, 4, time).busbw_GBps == 12.0);
  // The same holds for every reduction to all ranks.
  for (const OpKind kind : {OpKind::Pmean, OpKind::Pmin, OpKind::Pargmax, OpKind::Pargmin})
    CHECK(bandwidths(kind, nccl_size(kind, operand, 4), 4, time).busbw_GBps == 12.0);
  // For all_gather, S is the result, 32 MB.
  const Bytes gathered = nccl_size(OpKind::AllGather, operand, 4);
  CHECK(gathered == Bytes(32'000'000));
  CHECK(bandwidths(OpKind::AllGather, gathered, 4, time).busbw_GBps == 24.0);
  // For reduce_scatter and alltoall, S is the operand.
  CHECK(nccl_size(OpKind::PsumScatter, operand, 4) == operand);
  CHECK(nccl_size(OpKind::AllToAll, operand, 4) == operand);
  CHECK(bandwidths(OpKind::AllToAll, operand, 4, time).busbw_GBps == 6.0);
  CHECK(nccl_size(OpKind::Pswapaxes, operand, 4) == operand);
  CHECK(bandwidths(OpKind::Pswapaxes, operand, 4, time).busbw_GBps == 6.0);
  // For sendrecv, the factor is 1.
  CHECK(bandwidths(OpKind::Ppermute, operand, 4, time).busbw_GBps == 8.0);
  CHECK(bandwidths(OpKind::Pshuffle, operand, 4, time).busbw_GBps == 8.0);
}

TEST_CASE("a collective took the time from its launch, not what it waited for its stream") {
  // The op is reached at 0. The op before it ends at 60, and then the launch takes 10.
  const Exposure found =
      exposure(kThread, completion({{span(0, 70, 100), span(0, 70, 100)}}), takes(10), OpId(0), {});
  CHECK(found.took == Duration(40));
}
