#pragma once

// Builds lowered programs for tests of time. Only times matter, so there are no values, and a test
// gives every schedule.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/stored_schedule.h"
#include "simulator/time/completion.h"
#include "tests/simulator/schedule/stored_copy.h"

namespace orrery::test {

/// On this link, times have to be rounded.
inline constexpr LinkFigures kUnevenLink{BytesPerSecond(46'000'000'007), Duration(700'001)};

/// Returns a fabric with a link of 1 GB/s and 1 us each way between every two devices.
Fabric gigabyte_fabric(uint32_t devices);

class Sketch {
 public:
  /// Begins with one thread of all devices. Device d is vertex d of the fabric.
  explicit Sketch(uint32_t devices);

  /// Begins a thread, which gets the later ops. Before the first op, this replaces the thread of
  /// all devices.
  void thread(std::vector<uint32_t> devices);
  void back_to_thread(size_t index) { thread_ = index; }

  OpId local(int64_t picoseconds);

  /// Adds a site with one group of devices per entry. Ranks are in the given order. The switch
  /// nodes of a schedule are on the first switch of the fabric.
  SiteId site(std::vector<std::vector<uint32_t>> groups, std::unique_ptr<const Schedule> schedule,
              uint32_t stream = 0, Dtype dtype = Dtype::U8);
  /// Adds a site with one group, of all devices.
  SiteId site(std::unique_ptr<const Schedule> schedule, uint32_t stream = 0,
              Dtype dtype = Dtype::U8);

  OpId sync(SiteId site);
  OpId start(SiteId site);
  OpId done(OpId start);

  /// Sets the figures of all collectives, including later ones.
  void figures(const CollectiveFigures& figures);
  void launch(Duration launch);
  void reduce_rate(BytesPerSecond rate);
  /// Sets the figures of the collectives of one site.
  void figures(SiteId site, const CollectiveFigures& figures);

  Program program;
  Lowered lowered;

 private:
  OpId op(OpKind kind);
  OpId enter(SiteId site, Issue issue);
  void make_tapes();

  CollectiveFigures figures_;

  size_t thread_ = 0;
};

/// A `Flow` is one message of a hand-made collective. Each has a channel of its own at both ends.
struct Flow {
  uint32_t from;
  uint32_t to;
  int64_t elements;
};
std::unique_ptr<const Schedule> flows(uint32_t nodes, const std::vector<Flow>& flows);

/// Returns a stored copy of the schedule. `change` may modify its extent.
template <class Change>
std::unique_ptr<const Schedule> stored(const Schedule& schedule, Change&& change) {
  Extent extent = schedule.extent();
  change(extent);
  return std::make_unique<StoredSchedule>(extent, stored_steps(schedule),
                                          stored_messages(schedule));
}

inline OpSpan span(int64_t reached, int64_t start, int64_t end) {
  return {Instant(reached), Instant(start), Instant(end)};
}

}  // namespace orrery::test
