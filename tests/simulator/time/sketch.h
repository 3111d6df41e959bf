#pragma once

// Programs for tests of time, written in lowered form. Only times matter here, so there are no
// values, and every schedule is given as it is.

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

/// A link on which times have to be rounded.
inline constexpr LinkFigures kUnevenLink{BytesPerSecond(46'000'000'007), Duration(700'001)};

/// Every two devices have a link of 1 GB/s and 1 us each way.
Fabric gigabyte_fabric(uint32_t devices);

class Sketch {
 public:
  /// One thread of all devices; device d is vertex d of the fabric.
  explicit Sketch(uint32_t devices);

  /// Ops go to this thread from now on. Before the first op, replaces the thread of all devices.
  void thread(std::vector<uint32_t> devices);
  void back_to_thread(size_t index) { thread_ = index; }

  OpId local(int64_t picoseconds);

  /// A site with one group of devices per entry; ranks are in the order given. Parts of a switch
  /// are on the first switch of the fabric.
  SiteId site(std::vector<std::vector<uint32_t>> groups, std::unique_ptr<const Schedule> schedule,
              uint32_t stream = 0, Dtype dtype = Dtype::U8);
  /// A site with one group, of all devices.
  SiteId site(std::unique_ptr<const Schedule> schedule, uint32_t stream = 0,
              Dtype dtype = Dtype::U8);

  OpId sync(SiteId site);
  OpId start(SiteId site);
  OpId done(OpId start);

  /// Sets the figures of all collectives, also of later sites.
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

/// One message of a hand-made collective; every message has a channel of its own at both ends.
struct Flow {
  uint32_t from;
  uint32_t to;
  int64_t elements;
};
std::unique_ptr<const Schedule> flows(uint32_t nodes, const std::vector<Flow>& flows);

/// The schedule from its steps; `change` may modify its extent.
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
