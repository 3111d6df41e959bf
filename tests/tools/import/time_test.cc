// Tests the times of imported algorithms: they are those of our own schedules with the same
// protocol. Sweep and engine agree on them, also where fused steps are atomic and messages are cut.
// The last cases test which protocol passes the messages.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "simulator/lower/lower.h"
#include "simulator/time/completion.h"
#include "simulator/time/engine.h"
#include "tests/support/property.h"
#include "tests/tools/import/xml.h"
#include "tools/import/chunk_definition.h"
#include "tools/import/msccl_schedule.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {

constexpr Duration kUs(1'000'000);

Cluster on_switch(int gpus, std::vector<ProtocolFigures> protocols) {
  Cluster cluster{
      "switch",
      switch_fabric(static_cast<uint32_t>(gpus), {BytesPerSecond(100'000'000'000), Duration(0)}),
      {}};
  if (!protocols.empty())
    cluster.transport = TransportFigures{std::move(protocols)};
  return cluster;
}

ProtocolFigures protocol(const std::string& name, Duration launch, Duration latency) {
  ProtocolFigures figures;
  figures.name = name;
  figures.launch = launch;
  figures.latency = latency;
  return figures;
}

AlgorithmTime time_of(const AlgoText& algo, Bytes size, const Cluster& cluster,
                      const char* runtime = "msccl") {
  const AlgorithmProof proof = prove_algorithm(read_msccl(algo.text(), "a.xml"),
                                               {8U, size, &cluster, runtime_named(runtime)});
  REQUIRE(proof.time.has_value());
  return *proof.time;
}

Duration took(const AlgorithmTime& time) {
  return time.completion.makespan - Instant();
}

bool has_label(const AlgorithmTime& time, const std::string& label) {
  return std::find(time.labels.begin(), time.labels.end(), label) != time.labels.end();
}

TEST_CASE("imported times: sweep and engine agree to the picosecond") {
  holds_for_all("random ring all-gathers", [] {
    const int gpus = in_range(2, 5);
    const int own = in_range(1, 4);
    const auto more_slots = static_cast<uint32_t>(in_range(1, 3));
    const auto chunk = in_range<int64_t>(1, 200);
    const auto stretch = in_range<int64_t>(20, 200);
    const auto latency = in_range<int64_t>(0, 100'000);
    const MscclAlgorithm algorithm = read_msccl(ring_gather(gpus, own).text(), "a.xml");
    const Fabric fabric = ring_fabric(static_cast<uint32_t>(gpus),
                                      {BytesPerSecond(1'000'000'000), Duration(latency)});
    DeviceFigures device;
    device.copy_rate = BytesPerSecond(3'000'000'000);
    // Payloads that take long to pass on hold their slots, so that slots hold steps up, too.
    ProtocolFigures slow = protocol("slow", Duration(), Duration());
    slow.store_rate = slow.forward_rate = BytesPerSecond(in_range<int64_t>(1, 40) * 100'000'000);
    std::vector<Instant> starts;
    for (int g = 0; g < gpus; ++g)
      starts.push_back(Instant(in_range<int64_t>(0, 2'000'000)));
    const Program program = program_of(algorithm, chunk);
    const Lowered lowered = lower_with(
        in_elements(
            areas_of(algorithm, MscclPlacement::OutOfPlace,
                     static_cast<uint32_t>(own) + more_slots),
            cut_steps(placed_steps(algorithm, MscclPlacement::OutOfPlace), algorithm.messages, 1),
            chunk, stretch),
        "ring", program, device, TransportFigures{{slow}});
    EngineOptions options;
    options.device_start = starts;
    const Completion by_engine = simulate(program, lowered, fabric, options);
    const Completion chosen = run_time(program, lowered, fabric, starts);
    RC_ASSERT(chosen.by == TimedBy::Sweep);
    RC_ASSERT(chosen.makespan == by_engine.makespan);
    RC_ASSERT(chosen.spans == by_engine.spans);
    RC_ASSERT(chosen.digest == by_engine.digest);
  });
}

/// Returns a protocol with all figures, each drawn or left out.
ProtocolFigures drawn_protocol() {
  const auto rate = [] {
    return any_bool() ? std::optional(BytesPerSecond(in_range<int64_t>(1, 1'000) * 100'000'000))
                      : std::nullopt;
  };
  const auto time = [] {
    return any_bool() ? std::optional(Duration(in_range<int64_t>(0, 5'000'000))) : std::nullopt;
  };
  ProtocolFigures drawn;
  drawn.name = "ll";
  drawn.share = {1, in_range<int64_t>(1, 4)};
  if (any_bool())
    drawn.slot = Bytes(in_range<int64_t>(16, 400) * drawn.share.wire);
  if (any_bool())
    drawn.pieces = in_range<int64_t>(1, 4);
  drawn.launch = time();
  drawn.channel_launch = time();
  drawn.peer_launch = time();
  drawn.overhead = time();
  drawn.latency = time();
  drawn.channel_rate = rate();
  drawn.reduce_rate = rate();
  drawn.store_rate = rate();
  drawn.forward_rate = rate();
  drawn.forward_reduce_rate = rate();
  drawn.copy_rate = rate();
  return drawn;
}

/// Returns the time that lowering's own ring takes for the algorithm's collective, in one channel
/// with 8 slots.
Duration time_of_our_ring(const MscclAlgorithm& algorithm, int64_t chunk, const Cluster& cluster) {
  Program program = program_of(algorithm, chunk);
  Hints& hints = program.ops.front().hints;
  hints.algorithm = "ring";
  hints.protocol = "ll";
  hints.channels = 1;
  hints.slots = 8;
  Diagnostics diagnostics("program");
  const Lowered lowered = lower(program, cluster, diagnostics);
  diagnostics.throw_if_any();
  return run_time(program, lowered, cluster.fabric).makespan - Instant();
}

// In a ring a gpu sends only what it has received, except at the begin of an iteration. So a
// connection never holds 8 messages, and atomic steps, which also wait for a slot, begin as soon as
// ours do.
TEST_CASE("imported times: a ring of a file takes the time of our ring, by any protocol") {
  holds_for_all("random protocols", [] {
    const int gpus = in_range(2, 6);
    const auto chunk = in_range<int64_t>(1, 500);
    const MscclAlgorithm algorithm = read_msccl(ring_all_reduce(gpus).text(), "a.xml");
    const Cluster cluster = on_switch(gpus, {drawn_protocol()});
    const AlgorithmProof proof =
        prove_algorithm(algorithm, {8U, Bytes(4 * gpus * chunk), &cluster, runtime_named("none")});
    RC_ASSERT(proof.time.has_value());
    RC_ASSERT(took(*proof.time) == time_of_our_ring(algorithm, chunk, cluster));
  });
}

TEST_CASE("imported times: none is below the launches and the latency of a message") {
  holds_for_all("small files, random protocols", [] {
    const std::vector<AlgoText> files = {two_gather(),      exchange_at_once(3),
                                         ring_gather(3, 2), ring_all_reduce(4),
                                         nop_all_reduce(4), pairs_all_reduce(3, 1, false)};
    const AlgoText& file = files[in_range<size_t>(0, files.size())];
    const char* const runtime = one_of("rccl", "msccl", "none");
    const ProtocolFigures drawn = drawn_protocol();
    const Cluster cluster = on_switch(static_cast<int>(file.gpus.size()), {drawn});
    const AlgorithmProof proof =
        prove_algorithm(read_msccl(file.text(), "a.xml"),
                        {8U, Bytes(in_range(1, 100'000)), &cluster, runtime_named(runtime)});
    RC_ASSERT(proof.time.has_value());
    // Each file has a thread block at least, and each gpu sends to a peer at least.
    Duration least;
    for (const auto& figure :
         {drawn.launch, drawn.channel_launch, drawn.peer_launch, drawn.overhead, drawn.latency})
      least += figure.value_or(Duration());
    RC_ASSERT(took(*proof.time) >= least);
  });
}

TEST_CASE("imported times: a thread block is a channel, with its launch and its rate") {
  ProtocolFigures ll = protocol("ll", kUs * 6, kUs * 2);
  ll.channel_launch = kUs;
  ll.peer_launch = Duration(100'000);
  ll.channel_rate = BytesPerSecond(1'000'000'000);
  ll.share = {1, 2};
  // Each gpu has three thread blocks and three peers: it launches for 6 + 3 + 0.3 us. A chunk of
  // 500 B is 1,000 B of the channel's rate, 1 us. It arrives 2 us later, and the sum goes back so.
  const AlgorithmTime time = time_of(nop_all_reduce(4), Bytes(2'000), on_switch(4, {ll}));
  CHECK(took(time) == Duration(9'300'000) + kUs * 2 * (1 + 2));
  CHECK(time.protocol == "ll");
}

TEST_CASE("imported times: the cluster's protocol of the file's name passes the messages") {
  const Cluster cluster =
      on_switch(2, {protocol("simple", kUs, kUs), protocol("ll", kUs * 3, kUs)});
  AlgoText algo = two_gather();
  const AlgorithmTime ll = time_of(algo, Bytes(8), cluster);
  CHECK(ll.protocol == "ll");
  CHECK(took(ll) >= kUs * 4);
  algo.protocol = "Simple";
  CHECK(time_of(algo, Bytes(8), cluster).protocol == "simple");
}

TEST_CASE("imported times: without the file's protocol the cluster's fastest passes the messages") {
  AlgoText algo = two_gather();
  algo.protocol = "LL128";
  // None of our algorithms for an all-gather is called direct.
  ProtocolFigures direct = protocol("p2p", Duration(), Duration());
  direct.algorithms = {"direct"};
  const AlgorithmTime time =
      time_of(algo, Bytes(8),
              on_switch(2, {direct, protocol("late", kUs, kUs * 9), protocol("early", kUs, kUs)}));
  CHECK(time.protocol == "early");
  CHECK(has_label(time,
                  "transport: the cluster has no ll128 for all_gather: the fastest of late, early "
                  "passes the messages"));
}

TEST_CASE("imported times: a protocol passes the messages of the ops that it serves") {
  ProtocolFigures sums = protocol("ll", kUs, kUs);
  sums.ops = {"psum"};
  ProtocolFigures others = protocol("others", kUs * 50, kUs);
  others.ops = {"all_gather", "pbroadcast"};
  CHECK(time_of(two_gather(), Bytes(8), on_switch(2, {sums, others})).protocol == "others");
  const AlgorithmTime none = time_of(two_gather(), Bytes(8), on_switch(2, {sums}));
  CHECK(has_label(none, "transport: the cluster has no protocol for all_gather"));
  CHECK(took(none) < kUs);
}

TEST_CASE("imported times: figures of other algorithms are said to be extrapolated") {
  ProtocolFigures ll = protocol("ll", kUs, kUs);
  ll.algorithms = {"ring", "recursive_doubling"};
  CHECK(has_label(time_of(two_gather(), Bytes(8), on_switch(2, {ll})),
                  "transport: ll: extrapolated to this algorithm; figures and errors are those of "
                  "ring, recursive_doubling"));
}

TEST_CASE("imported times: figures that the time does not depend on are not among the assumed") {
  Cluster cluster = on_switch(2, {protocol("simple", kUs, kUs), protocol("ll", kUs, kUs)});
  for (const char* const figure : {"bandwidth", "transport/ll/launch", "transport/simple/launch",
                                   "transport/host_launch/psum"})
    cluster.sources.push_back({figure, std::string(kCalibrated), "a fit", "a day"});
  CHECK(has_label(time_of(two_gather(), Bytes(8), cluster),
                  "bandwidth, transport/ll/launch: calibrated (a fit, a day)"));
}

TEST_CASE(
    "imported times: a runtime cuts messages to its slots, and without one the protocol does") {
  ProtocolFigures ll = protocol("ll", Duration(), kUs);
  ll.slot = Bytes(4 << 10);
  const auto messages = [&](const char* runtime) {
    // Each gpu sends a chunk of 64 KiB.
    return time_of(two_gather(), Bytes(128 << 10), on_switch(2, {ll}), runtime).completion.messages;
  };
  CHECK(messages("rccl") == 2 * 4);   // 16 KiB of data in a slot
  CHECK(messages("msccl") == 2 * 2);  // 32 KiB
  CHECK(messages("none") == 2 * 16);  // 4 KiB
}

}  // namespace
}  // namespace orrery::test
