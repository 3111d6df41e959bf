#pragma once

// One collective in max-plus time, all its entries known. A template over the concrete schedule, so
// that the compiler folds the schedule's steps and the enumeration of their causes into the loop.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/progress.h"
#include "simulator/time/origins.h"

namespace orrery {

template <class S>
class CollectiveSweep {
 public:
  /// `entries` has when each node enters. `reduce_rate` empty: reductions take no time.
  CollectiveSweep(const S& schedule, const Collective& collective, CollectiveId id,
                  std::span<const Instant> entries, std::optional<BytesPerSecond> reduce_rate,
                  Paths& paths)
      : schedule_(schedule),
        extent_(schedule.extent()),
        collective_(collective),
        id_(id),
        itemsize_(itemsize(collective.dtype)),
        entries_(entries),
        reduce_rate_(reduce_rate),
        paths_(paths),
        times_(extent_, StepTimes{}),
        connections_(size_t{extent_.nodes} * extent_.channels) {}

  /// Requires a schedule that ends.
  void run() {
    if (extent_.lockstep)
      run_rows();
    else
      run_in_any_order();
  }

  /// When the node ended, and whose entry held it up: that of its channel that ended last, and of
  /// those the first.
  Happened exit(Node node) const {
    LastMet last;
    for (uint32_t c = 0; c < extent_.channels; ++c) {
      const uint32_t steps = schedule_.steps(node, Channel(c));
      if (steps > 0) {
        const StepTimes& times = times_.at({node, Channel(c), steps - 1});
        last.add({times.sent, times.sent_origin});
      }
    }
    return last.any() ? last.get() : Happened{entries_[node.index()], node};
  }

  uint64_t messages() const { return messages_; }
  Digest digest() const { return digest_; }

 private:
  /// How long a payload takes: the last two sizes are kept, since algorithms cut data into parts of
  /// two sizes, so that no message costs a division.
  struct Durations {
    struct Known {
      int64_t count = 0;
      Duration duration;  // of no elements
    };
    std::array<Known, 2> known;

    template <class Compute>
    Duration of(int64_t count, Compute&& compute) {
      if (known[0].count == count)
        return known[0].duration;
      if (known[1].count == count)
        return known[1].duration;
      known[0] = known[1];
      known[1] = {count, compute(count)};
      return known[1].duration;
    }
  };

  /// The way that a channel sent its last message.
  struct Connection {
    std::optional<Node> to;
    std::optional<BytesPerSecond> rate;
    Duration latency;
    Durations transfers;
  };

  void run_rows() {
    uint32_t rows = 0;
    for_each_channel([&](Node n, Channel c) { rows = std::max(rows, schedule_.steps(n, c)); });
    for (uint32_t row = 0; row < rows; ++row) {
      for_each_channel([&](Node n, Channel c) {
        if (row < schedule_.steps(n, c))
          receive({n, c, row});
      });
      for_each_channel([&](Node n, Channel c) {
        if (row < schedule_.steps(n, c))
          send({n, c, row});
      });
    }
  }

  void run_in_any_order() {
    Progress<S, Arrival::WithSend> progress(schedule_);
    std::vector<HalfRef> ready;
    const auto push = [&](HalfRef half) { ready.push_back(half); };
    for (uint32_t n = 0; n < extent_.nodes; ++n)
      progress.enter(Node(n), push);
    while (!ready.empty()) {
      const HalfRef half = ready.back();
      ready.pop_back();
      if (half.half == Half::Receive)
        receive(half.step);
      else
        send(half.step);
      progress.retire(half, push);
    }
  }

  template <class Visit>
  void for_each_channel(Visit&& visit) {
    for (uint32_t n = 0; n < extent_.nodes; ++n)
      for (uint32_t c = 0; c < extent_.channels; ++c)
        visit(Node(n), Channel(c));
  }

  void receive(StepRef ref) {
    const Step step = schedule_.step(ref);
    const Happened begin = begins(ref, Half::Receive, step);
    Duration reduction;
    if (step.combine != Combine::None && reduce_rate_)
      reduction = reductions_.of(step.count(), [&](int64_t count) {
        return transfer_time(itemsize_ * count, *reduce_rate_);
      });
    StepTimes& times = times_.at(ref);
    times.received = begin.at + reduction;
    times.received_origin = begin.origin;
    digest_.add(id_, ref, Half::Receive, digest_bytes(step, Half::Receive, itemsize_));
  }

  void send(StepRef ref) {
    const Step step = schedule_.step(ref);
    const Happened begin = begins(ref, Half::Send, step);
    StepTimes& times = times_.at(ref);
    times.sent_origin = begin.origin;
    digest_.add(id_, ref, Half::Send, digest_bytes(step, Half::Send, itemsize_));
    if (!step.to) {
      times.sent = begin.at;
      return;
    }
    Connection& connection =
        connections_[size_t{ref.node.index()} * extent_.channels + ref.channel.index()];
    if (connection.to != *step.to)
      connect(connection, ref.node, *step.to);
    times.sent = begin.at + connection.transfers.of(step.count(), [&](int64_t count) {
      return connection.rate ? transfer_time(itemsize_ * count, *connection.rate) : Duration();
    });
    times.arrived = times.sent + connection.latency;
    ++messages_;
  }

  void connect(Connection& connection, Node from, Node to) {
    const Path& path =
        paths_.between(collective_.places[from.index()], collective_.places[to.index()]);
    connection = {
        to, path.links.empty() ? std::nullopt : path.peak(extent_.peak_rate), path.latency, {}};
  }

  Happened begins(StepRef ref, Half half, const Step& step) const {
    LastMet last;
    for_each_cause(schedule_, extent_, ref, half, step, [&](const Cause& cause) {
      last.add(happened(cause));
      return true;
    });
    return last.get();
  }

  Happened happened(const Cause& cause) const {
    if (cause.kind == CauseKind::Enter)
      return {entries_[cause.step.node.index()], cause.step.node};
    return times_.at(cause.step).of(cause);
  }

  const S& schedule_;
  const Extent extent_;
  const Collective& collective_;
  const CollectiveId id_;
  const Bytes itemsize_;
  std::span<const Instant> entries_;
  std::optional<BytesPerSecond> reduce_rate_;
  Paths& paths_;
  StepTable<StepTimes> times_;
  std::vector<Connection> connections_;  // per channel
  Durations reductions_;
  uint64_t messages_ = 0;
  Digest digest_;
};

}  // namespace orrery
