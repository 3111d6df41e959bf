#pragma once

// The parts of a Chrome trace that trace.h puts together: the file with its events, what a list of
// ops does when, and the rows of GPUs and of switches.
//
// Slices of one row must not overlap in the format. A virtual device on a GPU and a switch do
// several things at once, so they have lanes, and each lane is a row. Each slice takes the first
// lane that is free when it begins.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "simulator/analyze/list_runs.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/schedule.h"
#include "tools/report/gpus.h"
#include "verifier/report.h"

namespace orrery {

/// This is a thread of the trace, with the process that it belongs to.
struct Row {
  uint32_t process = 0;
  uint32_t thread = 0;
};

struct TimeSpan {
  Instant begin;
  Instant end;
};

/// Returns a time in the format: microseconds with six decimals, exact to the picosecond.
std::string microseconds(Instant instant);

/// Returns the beginning of an event that takes time. `name` is in quotes already.
std::string complete(Row row, const char* category, const std::string& name, TimeSpan span);

/// This is a slice of the row of a list's compute stream, or of a communication stream.
struct ListSlice {
  enum class Kind : uint8_t { Compute, Wait, Launch, Collective } kind = Kind::Compute;
  std::optional<StreamId> stream;  // of a launch and a collective
  OpId op;                         // of a wait: the collective
  TimeSpan span;
};

/// Returns what the list does, in the order of its ops. Waits and launches that take no time are
/// left out.
std::vector<ListSlice> slices_of(const ListRuns& runs, ListId list);

/// The live bytes of a device from an instant on.
struct LiveBytes {
  Instant at;
  Bytes live;
};

/// Returns the live bytes of a device wherever they change, by time: those of each op from its
/// start on, summed over the device's lists. `first` is the first of these lists. A device without
/// ops has one entry.
std::vector<LiveBytes> live_bytes(const Report& report, const ListRuns& runs,
                                  const DeviceReport& device, ListId first);

/// This is the file, with one event per line. It is written in blocks.
class TraceFile {
 public:
  explicit TraceFile(std::ostream& out);

  /// Writes an event; `format` gives everything except the braces.
  template <class... Arguments>
  void event(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += events_++ == 0 ? "\n{" : ",\n{";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '}';
    if (text_.size() > kBlock)
      pass_on();
  }

  /// Viewers show processes, and the threads of a process, in the order of their sort indices.
  void name_process(uint32_t process, const std::string& name, uint32_t sort_index);
  void name_thread(Row row, const std::string& name, uint32_t sort_index);

  /// Ends the file. `other_data` gives the members of the object of that name.
  void end(const std::string& other_data);

  uint64_t events() const { return events_; }

 private:
  static constexpr size_t kBlock = size_t{1} << 16U;

  void pass_on();

  std::ostream& out_;
  std::string text_;
  uint64_t events_ = 0;
};

class MeasuredRows {
 public:
  /// Makes the rows. Requires a report with a measurement, which outlives this object. Processes
  /// and threads are numbered from `first_number` on.
  MeasuredRows(const Report& report, uint32_t first_number);

  /// Returns the number after those that are used.
  uint32_t end() const { return next_; }

  /// Writes the rows. Times are from the start of the measured run on. The processes take the sort
  /// indices from `sort_index` on.
  void write(TraceFile& file, uint32_t sort_index) const;

 private:
  enum class Kind : uint8_t { Compute, Communication, Steps };
  struct Shown {
    OpId op;
    std::optional<StepRef> step;
    MeasuredSpan span;
  };
  struct Lane {
    Kind kind = Kind::Compute;
    uint32_t number = 0;  // among those of one kind
    uint32_t thread = 0;
    std::vector<Shown> slices;  // disjoint, ascending
  };
  struct Device {
    LogicalId id;
    uint32_t process = 0;
    std::vector<Lane> lanes;
  };

  /// Puts each slice in the first lane that is free.
  static void lay_out(Device& device, Kind kind, std::vector<Shown> slices);
  static std::string name(const Lane& lane);
  void write(TraceFile& file, Row row, const Shown& shown) const;

  const Program& program_;
  std::vector<Device> devices_;
  uint32_t next_;
};

class SwitchRows {
 public:
  /// Makes the rows for these collectives. Processes and threads are numbered from `first_number`
  /// on.
  SwitchRows(const Lowered& lowered, const ListRuns& runs,
             std::span<const CollectiveId> collectives, uint32_t first_number);

  /// Returns the number after those that are used.
  uint32_t end() const { return next_; }

  /// Returns the row of the first channel of a switch node. Its other channels have the threads
  /// after it.
  Row first_row(CollectiveId collective, Node node) const;

  /// Returns when the first member entered the collective. Requires that a switch takes part.
  Instant begin(CollectiveId collective) const { return uses_.at(collective).begin; }

  void name(TraceFile& file, const Fabric& fabric, uint32_t sort_index) const;

 private:
  struct Lane {
    uint32_t nodes = 0;
    uint32_t channels = 0;  // of each node
    uint32_t first_thread = 0;
    std::set<std::pair<uint32_t, uint32_t>> used;  // nodes and channels that have steps
    Instant free;                                  // when the last collective in it has ended
  };
  struct Switch {
    uint32_t process = 0;
    std::vector<Lane> lanes;
  };
  /// This is a collective at work in a lane.
  struct LaneUse {
    VertexId place;
    size_t lane = 0;
    uint32_t ranks = 0;
    Instant begin;
    Instant end;
  };

  std::map<VertexId, Switch> switches_;
  std::map<CollectiveId, LaneUse> uses_;
  uint32_t next_;
};

}  // namespace orrery
