#pragma once

// This file alone says how long work takes. Lowering, the sweep and the event engine add up these
// durations. A message that shares a link takes its overhead, and then its bytes on the wire take a
// share of the link (simulator/time/collective_engine.h), whose rate is that of max_min.h instead
// of most(). All durations are rounded up to a picosecond.

#include <algorithm>
#include <optional>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/rules.h"
#include "simulator/schedule/actions.h"

namespace orrery {

/// Returns the launch time of a local op, and of entering a collective; zero if it is not given.
inline Duration launch_duration(const DeviceFigures& device) {
  return device.launch.value_or(Duration());
}

/// Returns `rate` * a / b, rounded down, but at least 1. Requires 0 <= a <= b and b > 0.
inline int64_t part_of_rate(int64_t rate, int64_t a, int64_t b) {
  return std::max<int64_t>(static_cast<int64_t>(Int128{rate} * a / b), 1);
}

/// Returns the square root, rounded down. Requires number >= 0.
inline int64_t integer_root(int64_t number) {
  int64_t root = 0;
  for (int64_t bit = int64_t{1} << 31U; bit > 0; bit >>= 1U)
    if (Int128{root + bit} * (root + bit) <= number)
      root += bit;
  return root;
}

/// Returns the flops per second that a kernel of this cost reaches, by FlopsEfficiency.
inline FlopsPerSecond reached_rate(FlopsPerSecond peak, const FlopsEfficiency& of,
                                   const Cost& cost) {
  const bool attends = cost.attention && of.attention;
  const Share share = attends ? of.attention->share : of.share;
  int64_t rate = part_of_rate(peak.count(), share.part, share.whole);
  if (attends)
    rate = part_of_rate(rate, cost.attention->keys, cost.attention->keys + of.attention->half_keys);
  if (cost.product) {
    const int64_t side = integer_root(cost.product->results);
    rate = part_of_rate(rate, cost.product->depth, cost.product->depth + of.half_depth);
    rate = part_of_rate(rate, side, side + of.half_side);
  }
  return FlopsPerSecond(rate);
}

/// Returns the launch that the efficiency says for a kernel of this cost, if it does.
inline std::optional<Duration> own_launch(const FlopsEfficiency& of, const Cost& cost) {
  if (cost.attention && of.attention)
    return of.attention->launch;
  return cost.product ? of.launch : std::nullopt;
}

/// A LocalDuration says how long a local op takes on a device, and which figures that lacks.
struct LocalDuration {
  Duration takes;
  Duration launch;               // of that
  bool lacks_peak_rate = false;  // for flops of the cost's dtype
  bool lacks_memory_bandwidth = false;
};

/// Returns launch + max(flops / rate, bytes / bandwidth): the roofline of Williams, Waterman and
/// Patterson (2009). The rates are the shares of the device's peaks that kernels reach, each
/// rounded down to a whole number a second. A figure that the device lacks adds nothing; an op that
/// runs nothing takes no time, not even a launch.
inline LocalDuration local_duration(const Cost& cost, const DeviceFigures& device) {
  LocalDuration result;
  if (!cost.runs)
    return result;
  Duration runs;
  result.launch = launch_duration(device);
  if (cost.flops > Flops()) {
    const auto peak = device.flops.find(cost.dtype);
    const auto efficiency = device.efficiency.find(cost.dtype);
    const bool is_known = efficiency != device.efficiency.end();
    result.lacks_peak_rate = peak == device.flops.end();
    if (!result.lacks_peak_rate)
      runs =
          compute_time(cost.flops, is_known ? reached_rate(peak->second, efficiency->second, cost)
                                            : peak->second);
    if (is_known)
      result.launch = own_launch(efficiency->second, cost).value_or(result.launch);
  }
  if (cost.bytes > Bytes()) {
    result.lacks_memory_bandwidth = !device.memory_bandwidth;
    if (device.memory_bandwidth)
      runs = std::max(
          runs,
          transfer_time(cost.bytes, BytesPerSecond(part_of_rate(device.memory_bandwidth->count(),
                                                                device.memory_share.part,
                                                                device.memory_share.whole))));
  }
  result.takes = result.launch + runs;
  return result;
}

/// DataRates has a device's rates of work on data in a collective. Work without one takes no time.
struct DataRates {
  std::optional<BytesPerSecond> reduce;            // of a payload that is combined
  std::optional<BytesPerSecond> copy;              // inside the device's memory
  std::optional<BytesPerSecond> store;             // from a slot, of a payload that is not sent on
  std::optional<BytesPerSecond> forward = {};      // from a slot, of a payload that is also sent on
  std::optional<BytesPerSecond> reduce_held = {};  // of a combined payload that is only sent on
  friend auto operator<=>(const DataRates&, const DataRates&) = default;
};

inline DataRates data_rates(const DeviceFigures& device) {
  return {device.reduce_rate, device.copy_rate, std::nullopt, std::nullopt, device.reduce_rate};
}

/// MessageFigures holds the costs of a message besides its links.
struct MessageFigures {
  DataShare share;                             // of the bytes that its links carry
  Duration overhead;                           // of the sender, before the message is sent
  Duration latency;                            // of the receiver, after that of the links
  std::optional<BytesPerSecond> channel_rate;  // the most that a channel sends, flags included
  friend auto operator<=>(const MessageFigures&, const MessageFigures&) = default;
};

/// CollectiveFigures holds the costs of a collective besides its links.
struct CollectiveFigures {
  Duration launch;  // from when a device reaches it until it enters
  DataRates rates;
  MessageFigures messages;
  std::optional<MessageFigures> network = {};  // of messages between nodes; empty: the same

  const MessageFigures& of_message(bool over_network) const {
    return over_network && network ? *network : messages;
  }
  friend auto operator<=>(const CollectiveFigures&, const CollectiveFigures&) = default;
};

/// Returns the figures of a collective whose messages are passed without a protocol.
inline CollectiveFigures collective_figures(const DeviceFigures& device) {
  return {launch_duration(device), data_rates(device), {}};
}

inline Duration at_rate(Bytes size, std::optional<BytesPerSecond> rate) {
  return rate ? transfer_time(size, *rate) : Duration();
}
inline Duration reduction_duration(Bytes size, const DataRates& rates) {
  return at_rate(size, rates.reduce);
}
inline Duration copy_duration(Bytes size, const DataRates& rates) {
  return at_rate(size, rates.copy);
}

/// Returns the highest rate of a message on a route whose slowest link has the rate `bottleneck`.
/// `cap`, if any, is the most that a channel sends, in bytes per second. `bottleneck` and the
/// result are in units of 1 / `parts` bytes per second (Fabric::rate_parts). Throws Overflow.
inline BytesPerSecond most(BytesPerSecond bottleneck, std::optional<BytesPerSecond> cap,
                           int64_t parts) {
  return cap ? std::min(*cap * parts, bottleneck) : bottleneck;
}
/// Returns how long a send half takes that sends `size` bytes of data. The links carry the data and
/// the flags at `rate`, in units of 1 / `parts` bytes per second. Without a rate (a route without
/// links) the half takes only the overhead.
inline Duration message_duration(Bytes size, std::optional<BytesPerSecond> rate, int64_t parts,
                                 const MessageFigures& figures) {
  const Duration links =
      rate ? transfer_time(on_wire(size, figures.share), *rate, parts) : Duration();
  return figures.overhead + links;
}

/// PayloadDurations says how long each kind of work takes for one payload. `message` is for
/// payloads that are sent.
struct PayloadDurations {
  Duration reduction;
  Duration copy;
  Duration store;
  Duration message;
  Duration forward = {};
  Duration held_reduction = {};
};

inline PayloadDurations payload_durations(Bytes size, const DataRates& rates,
                                          Duration message = {}) {
  return {reduction_duration(size, rates), copy_duration(size, rates),
          at_rate(size, rates.store),      message,
          at_rate(size, rates.forward),    at_rate(size, rates.reduce_held)};
}

/// Returns whether the actions may take time at these rates. Sending a message always may.
constexpr bool take_time(TimedActions actions, const DataRates& rates) {
  return (actions.combines && (actions.holds ? rates.reduce_held : rates.reduce)) ||
         (actions.copies && rates.copy) || (actions.stores && rates.store) ||
         (actions.forwards && rates.forward) || actions.sends;
}

/// Returns the time from when a message is sent until it arrives. `links` is its route's latency.
inline Duration latency_of(Duration links, const MessageFigures& figures) {
  return links + figures.latency;
}
/// Returns when a message is at its receiver.
constexpr Instant arrival(Instant sent, Duration latency) {
  return sent + latency;
}

/// Returns how long a half takes: its timed actions run one after another.
constexpr Duration half_duration(TimedActions work, const PayloadDurations& payload) {
  Duration total;
  if (work.combines)
    total += work.holds ? payload.held_reduction : payload.reduction;
  if (work.copies)
    total += payload.copy;
  if (work.stores)
    total += payload.store;
  if (work.forwards)
    total += payload.forward;
  if (work.sends)
    total += payload.message;
  return total;
}

}  // namespace orrery
