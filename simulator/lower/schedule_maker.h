#pragma once

// A method is how a collective is carried out: an algorithm, and the protocol by which messages are
// passed. A `ScheduleMaker` makes the schedules of a method. It decides how many channels and slots
// they have, how their messages are cut to slots, and which figures determine their times.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "models/array/work.h"
#include "models/base/shared_map.h"
#include "models/fabric/fabric.h"
#include "models/fabric/transport.h"
#include "models/program/op.h"
#include "models/scenario/size_limits.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/end_copies.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// How a collective is carried out. Without a protocol, messages are passed whole.
struct Method {
  const Algorithm* algorithm = nullptr;  // null: a schedule that was given, as by a file
  const ProtocolFigures* protocol = nullptr;
};
Choice choice_of(const Method& method, std::string because = {});

/// Returns the method of a group of so many ranks. One rank passes no messages, so no protocol is
/// launched for it.
Method method_of(const Method& site, size_t ranks);

/// Returns an op's hints except its stream, on which no method depends. The rest is chosen.
Hints asked_by(const Op& op);

/// Returns the protocols that serve the algorithm for this op, in the order of the transport. A
/// null algorithm is one of a file: no protocol can name it, so each one that serves the op serves
/// it. `spans_nodes` says whether a group spans several nodes; if empty, protocols for either
/// count.
std::vector<const ProtocolFigures*> protocols_for(const Algorithm* algorithm, OpKind kind,
                                                  const std::optional<TransportFigures>& transport,
                                                  std::optional<bool> spans_nodes = std::nullopt);

struct MadeSchedule {
  /// The schedule. It is not cut if it would have more steps than the limit. Then it must not be
  /// run.
  std::shared_ptr<const Schedule> schedule;
  uint64_t steps = 0;  // of all nodes, when cut; or some number above Limits::steps
  /// Whether a channel would have 2^31 steps or more. Then the schedule is not cut either.
  bool too_long = false;
};

/// It says how the messages of a collective are cut, in elements.
struct MessageCut {
  std::optional<int64_t> slot;  // at most so many a message
  int64_t pieces = 1;           // the largest message of all is cut into at least so many
  int64_t least = 1;            // but into none of fewer elements for that
  friend auto operator<=>(const MessageCut&, const MessageCut&) = default;

  /// Returns the most elements of a message of `whole`. The result is empty if messages are not
  /// cut.
  std::optional<int64_t> largest_message(const Schedule& whole) const;
};
MessageCut message_cut(const Method& method, WorkType work);

/// Returns whether messages are cut by the rule below, as the protocol does not cut them.
bool cut_by_rule(const Method& method);

/// The schedules that were made, by all that they depend on: algorithm, request, how messages are
/// cut, and Limits::steps. Lowerings that are given the same map share equal schedules.
using MadeSchedules =
    SharedMap<std::tuple<const Algorithm*, ScheduleRequest, MessageCut, uint64_t>, MadeSchedule>;

inline constexpr uint32_t kUncutSlots = 512;  // of a connection: no piece waits for one

/// These are the figures of a collective on a member: of its steps and messages, and of its end
/// copies.
struct MemberFigures {
  CollectiveFigures collective;
  MemberCosts costs;
  bool copies = false;  // whether it copies inside a device at no rate but the device's
};

class ScheduleMaker {
 public:
  /// `device` must outlive this object.
  ScheduleMaker(const DeviceFigures& device, const Limits& limits)
      : device_(device), most_steps_(static_cast<uint64_t>(limits.steps)) {}

  /// Returns the request with its connections: as many channels and slots as the op asks for, else
  /// as the protocol has. Requires that the algorithm fits the nodes with one channel.
  ScheduleRequest with_connections(const Method& method, const Hints& asked,
                                   ScheduleRequest request, WorkType work) const;

  /// Makes the schedule, with its messages cut. Requires a request with its connections.
  MadeSchedule make(const Method& method, const ScheduleRequest& request, WorkType work) const;
  /// Does the same, but takes a schedule that is in `known`, or adds it there. If `replace` is
  /// given, it replaces what is made.
  MadeSchedule make(const Method& method, const ScheduleRequest& request, WorkType work,
                    MadeSchedules& known, const ReplaceSchedule& replace = nullptr) const;

  /// Returns how often the steps of `whole` run, so that its messages are cut.
  static int64_t iterations(const Method& method, const Schedule& whole, WorkType work);

  /// Returns the figures of a collective of this kind. One that is discarded (sides.h) takes no
  /// time, not even a launch; make() gives it no steps.
  CollectiveFigures figures(const Method& method, OpKind kind, const Schedule& schedule) const;

  /// Returns figures() with the costs of a member, which copies before and after its steps at the
  /// device's rates. One rank alone converts its data as it copies them, in the same time.
  MemberFigures member_figures(const Method& method, OpKind kind, const Schedule& schedule,
                               const MemberTensors& tensors) const;

 private:
  const DeviceFigures& device_;
  uint64_t most_steps_;
};

}  // namespace orrery
