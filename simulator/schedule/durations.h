#pragma once

// How long work takes: the only statement of it. Lowering, the sweep and the event engine add these
// durations up and know no other; what shares a link with others goes at the rates of max_min.h
// instead of `most`. All durations are rounded up to a picosecond.

#include <algorithm>
#include <optional>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/rules.h"
#include "simulator/schedule/actions.h"

namespace orrery {

/// A local op on one device: launch + max(flops / peak rate, bytes / memory bandwidth), the
/// roofline of Williams, Waterman and Patterson (2009). A figure that the device lacks charges
/// nothing; an op that runs nothing is not launched.
inline Duration local_duration(const Cost& cost, const DeviceFigures& device) {
  if (!cost.runs)
    return Duration();
  Duration runs;
  const auto peak = device.flops.find(cost.dtype);
  if (cost.flops > Flops() && peak != device.flops.end())
    runs = compute_time(cost.flops, peak->second);
  if (cost.bytes > Bytes() && device.memory_bandwidth)
    runs = std::max(runs, transfer_time(cost.bytes, *device.memory_bandwidth));
  return device.launch.value_or(Duration()) + runs;
}

/// The rates of what a device does to data while it is in a collective. Absent: it takes no time.
struct DataRates {
  std::optional<BytesPerSecond> reduce;  // of a payload that is combined
  std::optional<BytesPerSecond> copy;    // from one place of the device's memory to another
  friend bool operator==(const DataRates&, const DataRates&) = default;
};

inline Duration at_rate(Bytes size, std::optional<BytesPerSecond> rate) {
  return rate ? transfer_time(size, *rate) : Duration();
}
inline Duration reduction_duration(Bytes size, const DataRates& rates) {
  return at_rate(size, rates.reduce);
}
inline Duration copy_duration(Bytes size, const DataRates& rates) {
  return at_rate(size, rates.copy);
}

/// The most that a message gets on a way whose slowest link has `bottleneck`, when the schedule
/// declares `cap` for it.
inline BytesPerSecond most(BytesPerSecond bottleneck, std::optional<BytesPerSecond> cap) {
  return cap ? std::min(*cap, bottleneck) : bottleneck;
}
/// A message that gets `rate`, latency apart. Without one, on a way without links, no time.
inline Duration message_duration(Bytes size, std::optional<BytesPerSecond> rate) {
  return at_rate(size, rate);
}

/// What each kind of work takes for one payload. `message` is for payloads that are sent.
struct PayloadDurations {
  Duration reduction;
  Duration copy;
  Duration message;
};

inline PayloadDurations payload_durations(Bytes size, const DataRates& rates,
                                          Duration message = {}) {
  return {reduction_duration(size, rates), copy_duration(size, rates), message};
}

/// Half of a step: one kind of work after the other.
constexpr Duration half_duration(HalfWork work, const PayloadDurations& payload) {
  Duration total;
  if (work.combines)
    total += payload.reduction;
  if (work.copies)
    total += payload.copy;
  if (work.sends)
    total += payload.message;
  return total;
}

}  // namespace orrery
