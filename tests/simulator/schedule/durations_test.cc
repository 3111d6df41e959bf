#include "simulator/schedule/durations.h"

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace orrery {
namespace {

constexpr BytesPerSecond kGiga(1'000'000'000);  // a byte takes 1 ns
constexpr BytesPerSecond kHalf(500'000'000);

TEST_CASE("durations: a local op takes the launch and the longer of flops and bytes") {
  DeviceFigures device;
  device.launch = Duration(7);
  device.memory_bandwidth = kGiga;
  device.flops[Dtype::F32] = FlopsPerSecond(1'000'000'000);
  CHECK(local_duration({Flops(3), Bytes(2), Dtype::F32, true}, device).takes == Duration(3'007));
  CHECK(local_duration({Flops(3), Bytes(5), Dtype::F32, true}, device).takes == Duration(5'007));
  CHECK(local_duration({Flops(3), Bytes(2), Dtype::BF16, true}, device).takes == Duration(2'007));
  CHECK(local_duration({Flops(3), Bytes(2), Dtype::F32, false}, device).takes == Duration(0));
  CHECK(local_duration({Flops(3), Bytes(2), Dtype::F32, true}, {}).takes == Duration(0));
}

TEST_CASE("durations: ops reach shares of the peak rates, and small products less") {
  DeviceFigures device;
  device.launch = Duration(7);
  device.memory_bandwidth = kGiga;
  device.memory_share = {1, 4};
  device.flops[Dtype::F32] = FlopsPerSecond(12'000'000'000'000);
  device.efficiency[Dtype::F32] = {{1, 2}, 100, 30, Duration(5)};
  // 6 TFLOP/s: 12 flops take 2 ps.
  Cost cost{Flops(12), Bytes(), Dtype::F32};
  CHECK(local_duration(cost, device).takes == Duration(9));
  // 6 TFLOP/s * 100 / 200 * 10 / 40 is 750 GFLOP/s: 12 flops take 16 ps. The side of 120 results is
  // 10.
  cost.product = {120, 100};
  CHECK(local_duration(cost, device).takes == Duration(5 + 16));
  device.efficiency[Dtype::F32].launch.reset();
  CHECK(local_duration(cost, device).takes == Duration(7 + 16));
  // 250 MB/s: a byte takes 4 ns.
  cost.bytes = Bytes(3);
  CHECK(local_duration(cost, device).takes == Duration(7 + 12'000));
  // A rate is at least 1 FLOP/s.
  device.efficiency[Dtype::F32] = {{1, 1'000'000}, 1'000'000'000, 1'000'000'000, {}};
  device.flops[Dtype::F32] = FlopsPerSecond(1);
  cost = {Flops(2), Bytes(), Dtype::F32};
  cost.product = {1, 1};
  CHECK(local_duration(cost, device).takes == Duration(7 + 2'000'000'000'000));
}

TEST_CASE("durations: attention reaches a share of its own, and with few keys less") {
  DeviceFigures device;
  device.launch = Duration(7);
  device.flops[Dtype::F32] = FlopsPerSecond(12'000'000'000'000);
  device.efficiency[Dtype::F32] = {{1, 2}, 100, 30, Duration(5)};
  Cost cost{Flops(12), Bytes(), Dtype::F32};
  cost.attention = AttentionSizes{.keys = 100};
  // Without figures of its own, the share of the dtype: 6 TFLOP/s.
  CHECK(local_duration(cost, device).takes == Duration(7 + 2));
  // 3 TFLOP/s * 100 / 300 is 1 TFLOP/s.
  device.efficiency[Dtype::F32].attention = {{1, 4}, 200, Duration(11)};
  CHECK(local_duration(cost, device).takes == Duration(11 + 12));
  device.efficiency[Dtype::F32].attention->launch.reset();
  CHECK(local_duration(cost, device).takes == Duration(7 + 12));
}

TEST_CASE("durations: the square root is rounded down") {
  for (const int64_t root :
       {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{1'000'003}, int64_t{3'037'000'499}}) {
    CHECK(integer_root(root * root) == root);
    if (root > 0)
      CHECK(integer_root(root * root - 1) == root - 1);
  }
  CHECK(integer_root(std::numeric_limits<int64_t>::max()) == 3'037'000'499);
}

TEST_CASE("durations: without a rate, reductions and copies take no time") {
  CHECK(reduction_duration(Bytes(1'000), {}) == Duration(0));
  CHECK(copy_duration(Bytes(1'000), {}) == Duration(0));
  const DataRates rates = {kGiga, kHalf, {}};
  CHECK(reduction_duration(Bytes(3), rates) == Duration(3'000));
  CHECK(copy_duration(Bytes(3), rates) == Duration(6'000));
}

TEST_CASE("durations: a message moves at the rate of its slowest link or its cap") {
  CHECK(most(kGiga, std::nullopt, 1) == kGiga);
  CHECK(most(kGiga, kHalf, 1) == kHalf);
  CHECK(most(kHalf, kGiga, 1) == kHalf);
  CHECK(message_duration(Bytes(3), kHalf, 1, {}) == Duration(6'000));
  CHECK(message_duration(Bytes(3), std::nullopt, 1, {}) == Duration(0));
}

TEST_CASE("durations: a rate in parts of a byte per second takes as many times as long") {
  // The rate is 10^9 thirds of a byte per second. The cap of 0.5 x 10^9 bytes per second is 1.5 x
  // 10^9 thirds.
  CHECK(most(kGiga, kHalf, 3) == kGiga);
  CHECK(message_duration(Bytes(3), kGiga, 3, {}) == Duration(9'000));
}

TEST_CASE("durations: a half takes the sum of its actions") {
  const PayloadDurations payload = {Duration(1),   Duration(10),     Duration(1'000),
                                    Duration(100), Duration(10'000), Duration(100'000)};
  StepForm form;
  form.source = form.target = form.to = true;  // it copies what it reads, and sends it
  CHECK(half_duration(timed_actions(form, Half::Receive), payload) == Duration(10));
  CHECK(half_duration(timed_actions(form, Half::Send), payload) == Duration(100));
  form.from = form.combine = true;  // it reduces a message into its target
  CHECK(half_duration(timed_actions(form, Half::Receive), payload) == Duration(1));
  form.target = false;  // it reduces a message, and only sends that on
  CHECK(half_duration(timed_actions(form, Half::Receive), payload) == Duration(100'000));
  form.target = true;
  form.combine = form.source = false;  // it stores a message, and sends it on
  CHECK(half_duration(timed_actions(form, Half::Receive), payload) == Duration(10'000));
  form.to = false;  // it stores a message and does not send it on
  CHECK(half_duration(timed_actions(form, Half::Receive), payload) == Duration(1'000));
  form.combine = form.source = true;
  CHECK(half_duration(timed_actions(form, Half::Receive), payload) == Duration(1));
}

TEST_CASE("durations: only a rate makes the storing of a message take time") {
  TimedActions stores;
  stores.stores = true;
  CHECK_FALSE(take_time(stores, {kGiga, kGiga, {}}));
  CHECK(take_time(stores, {{}, {}, kGiga}));
  CHECK(payload_durations(Bytes(3), {{}, {}, kHalf}).store == Duration(6'000));
}

TEST_CASE("durations: what is sent on has rates of its own") {
  TimedActions forwards;
  forwards.forwards = true;
  CHECK_FALSE(take_time(forwards, {kGiga, kGiga, kGiga, {}, kGiga}));
  CHECK(take_time(forwards, {{}, {}, {}, kGiga}));
  CHECK(payload_durations(Bytes(3), {{}, {}, {}, kHalf}).forward == Duration(6'000));
  TimedActions held;
  held.combines = held.holds = true;
  CHECK_FALSE(take_time(held, {kGiga, kGiga, kGiga, kGiga, {}}));
  CHECK(take_time(held, {{}, {}, {}, {}, kGiga}));
  CHECK(payload_durations(Bytes(3), {{}, {}, {}, {}, kHalf}).held_reduction == Duration(6'000));
  // A device has one rate for all reductions.
  DeviceFigures device;
  device.reduce_rate = kHalf;
  CHECK(data_rates(device).reduce_held == kHalf);
}

TEST_CASE("durations: a protocol adds an overhead, and flags to what links carry") {
  MessageFigures figures;
  figures.overhead = Duration(7);
  figures.latency = Duration(11);
  figures.share = {2, 3};
  // 3 bytes of data are 4.5 bytes on a link, rounded up to 5.
  CHECK(on_wire(Bytes(3), figures.share) == Bytes(5));
  CHECK(on_wire(Bytes(4), figures.share) == Bytes(6));
  CHECK(message_duration(Bytes(3), kGiga, 1, figures) == Duration(5'007));
  CHECK(message_duration(Bytes(0), kGiga, 1, figures) == Duration(7));
  CHECK(message_duration(Bytes(3), std::nullopt, 1, figures) == Duration(7));
  CHECK(latency_of(Duration(100), figures) == Duration(111));
}

}  // namespace
}  // namespace orrery
