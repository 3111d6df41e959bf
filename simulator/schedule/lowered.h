#pragma once

// Lowered is the form of a program that every executor runs; simulator/lower makes it. It has a
// tape of instructions for each thread (tape.h), and a Collective for each group of each site, with
// its schedule (schedule.h). Equal schedules are stored once.
//
// A Collective also says what surrounds its steps. It has the members and their devices in the
// fabric. It says where the canonical elements lie in operands and results (view.h), and how long
// launch, packing and unpacking take (durations.h).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/array/work.h"
#include "models/base/hash.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/base/shared_list.h"
#include "models/fabric/fabric.h"
#include "models/mesh/mesh.h"
#include "models/program/program.h"
#include "models/program/ragged.h"
#include "models/program/sides.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/tape.h"
#include "simulator/schedule/view.h"

namespace orrery {

/// A Member is the part of a device in a site: a node of one of the site's collectives.
struct Member {
  CollectiveId collective;
  Node node;
};

/// A GroupTable has the group and the rank of each device in a list of groups, on each side that
/// the device enters by. Copies share one table.
class GroupTable {
 public:
  struct GroupRank {
    uint32_t group = 0;
    Node node;
  };

  GroupTable() = default;
  /// For a transfer, `transfers` says which ends each group has; else it is empty. Members that are
  /// absent do not enter. Requires that no device enters two groups on one side.
  explicit GroupTable(std::span<const Group> groups, std::span<const TransferGroup> transfers = {},
                      std::span<const GroupMember> absent = {});

  /// Returns the group and the rank of the device; nothing if it enters no group on this side.
  std::optional<GroupRank> find(LogicalId device, Side side) const {
    const OneSide& entering = of(side);
    const std::optional<size_t> index = index_among(entering.devices, device);
    return index ? std::optional(entering.ranks[*index]) : std::nullopt;
  }
  /// Returns the devices that enter on this side, ascending.
  std::span<const LogicalId> devices(Side side) const { return of(side).devices; }

 private:
  struct OneSide {
    SharedList<LogicalId> devices;
    SharedList<GroupRank> ranks;  // of each of the devices
  };
  const OneSide& of(Side side) const { return side == Side::Receives ? receivers_ : others_; }

  OneSide others_;     // those that are on both sides, or that send in a transfer
  OneSide receivers_;  // those that receive in a transfer
};

/// SiteMembers has the members of one site.
class SiteMembers {
 public:
  SiteMembers() = default;
  /// Group g of the table is the collective `first` + g.
  SiteMembers(CollectiveId first, GroupTable groups) : first_(first), groups_(std::move(groups)) {}

  /// Returns the member that the device is; nothing if it does not enter on this side.
  std::optional<Member> find(LogicalId device, Side side) const {
    const std::optional<GroupTable::GroupRank> rank = groups_.find(device, side);
    if (!rank)
      return std::nullopt;
    return Member{CollectiveId(first_.index() + rank->group), rank->node};
  }
  std::span<const LogicalId> devices(Side side) const { return groups_.devices(side); }

 private:
  CollectiveId first_;
  GroupTable groups_;
};

/// A Collective is what one group of one site runs.
struct Collective {
  SiteId site;
  OpKind kind = OpKind::Psum;
  WorkType work;                       // what it moves and folds
  const Schedule* schedule = nullptr;  // owned by Lowered::schedules; equal ones are shared
  SharedList<LogicalId> members;       // rank r is node r; a switch is no member. In a transfer
                                       // the first sends to the second
  SharedList<VertexId> vertices;       // of each node, in the fabric
  View input;                          // of the operand of each member
  View output;                         // of the result of each member
  StreamId stream;                     // of a transfer, that of the sender
  Bytes scratch;  // of a member, from start to done, besides its operand and its result
  const ProtocolFigures* protocol = nullptr;  // owned by Lowered::transport; null: none
  CollectiveFigures figures;
  Duration pack;   // between launch and entry: the operand is packed into canonical work elements
  Duration leave;  // after the last step: the result is unpacked
  uint64_t times = 1;  // how often it runs
  /// The thread of each member; empty if no device runs several lists.
  std::vector<ThreadId> threads = {};
  std::optional<TransferGroup> transfer = {};    // which ends the group has, in a transfer
  std::optional<StreamId> receiver_stream = {};  // of a transfer
  size_t group = 0;                              // which group of the site
  std::vector<uint32_t> absent = {};  // ascending ranks; no op of the program enters as these

  /// Returns the side on which the member enters; nothing if no op of the program enters as it.
  std::optional<Side> side_of(Node node) const {
    if (std::ranges::binary_search(absent, node.index()))
      return std::nullopt;
    return orrery::side_of(transfer, node.index());
  }
  StreamId stream_of(Node node) const {
    return receiver_stream && side_of(node) == Side::Receives ? *receiver_stream : stream;
  }

  bool is_member(Node node) const { return node.index() < members.size(); }

  /// These return when a member that reached the collective is launched, and when it then enters.
  Instant launched(Instant reached) const { return reached + figures.launch; }
  Instant entry(Instant launched) const { return launched + pack; }
  /// These return when a member ends whose last steps ended at `steps_end`, and the inverse.
  Instant end(Instant steps_end) const { return steps_end + leave; }
  Instant steps_end(Instant end) const {
    return Instant(checked_subtract(end.picoseconds(), leave.count()));
  }
};

/// Returns the rates at which a node works on data. A switch folds and copies as fast as its links
/// bring and take the data: its work takes no time of its own.
inline DataRates rates_of(const Collective& collective, Node node) {
  return collective.is_member(node) ? collective.figures.rates : DataRates();
}

/// A CommunicationStream is of a device's list. Its collectives run one by one, in issue order.
struct CommunicationStream {
  VertexId device;
  ThreadId thread;  // of the list, if the device runs several; else the first
  StreamId stream;
  friend auto operator<=>(const CommunicationStream&, const CommunicationStream&) = default;
};
/// Returns the stream on which the node runs the collective. Requires a member.
CommunicationStream stream_of(const Collective& collective, Node node);

/// Returns a duration from 0 to `most`, ends included, drawn uniformly with the key as the seed.
Duration drawn(const Hasher& key, Duration most);

/// OpJitter makes each run of a local op longer on each device, by an amount of its own.
struct OpJitter {
  uint64_t seed = 0;
  Duration most;

  /// Returns the extra time of a run. `name` is the name of the run, such as "l[3].y".
  Duration of(std::string_view name, LogicalId device) const;
};

/// A LocalTime says how long a local op takes, launch included; zero for other ops.
struct LocalTime {
  Duration common;
  /// If devices differ, it has one for each device of the op's thread, in order; else it is empty.
  std::vector<Duration> by_device;

  Duration at(size_t device_index) const {
    return by_device.empty() ? common : by_device[device_index];
  }
};

/// A Choice names the algorithm of a site and the reason for it.
struct Choice {
  std::string algorithm;
  std::string because = {};
  std::string protocol = {};  // by which messages are passed; empty: without one
  /// The time of the slowest group that was timed, alone on the fabric, from the launch to the end
  /// of the last step. It is known if methods were compared by it.
  std::optional<Duration> alone = {};

  /// Returns "ring", or with a protocol "ring (ll)".
  std::string method() const {
    return protocol.empty() ? algorithm : algorithm + " (" + protocol + ")";
  }
};

struct Lowered {
  std::shared_ptr<const std::optional<TransportFigures>> transport;
  std::shared_ptr<const Iterations> iterations;
  std::vector<std::shared_ptr<const Schedule>> schedules;  // other lowered forms may share them
  std::vector<Collective> collectives;
  std::vector<Tape> tapes;           // one per thread
  std::vector<Choice> choices;       // one per site
  std::vector<LocalTime> local;      // one per op, without jitter
  std::optional<OpJitter> jitter;    // of local ops that take time
  std::vector<SiteMembers> members;  // per site
  RaggedTables tables;               // by which it was lowered
  uint64_t steps = 0;                // of all collectives, each as often as it runs
  /// The assumptions behind the durations, such as "launch: 0 (not given)", where the cluster lacks
  /// a figure.
  std::vector<std::string> labels;

  const Collective& collective(CollectiveId id) const { return collectives[id.index()]; }

  /// Returns how long a run of a local op takes on a device of its thread.
  Duration local_time(const Program& program, OpRun run, size_t device_index,
                      LogicalId device) const;

  /// Returns the collective that `device` enters by `op`, and its node there. Requires a collective
  /// op of one of the device's threads.
  Member member(const Program& program, OpId op, LogicalId device) const {
    const Op& entered = program.op(op);
    return *members[entered.site->index()].find(device, side_of(entered));
  }
};

/// Returns the tables of the collective's group; null if it does not exchange by tables.
const RaggedGroup* tables_of(const Lowered& lowered, const Collective& collective);

/// Returns the members of each site, from the collectives of `lowered`.
std::vector<SiteMembers> members_by_site(const Lowered& lowered, size_t sites);

/// Returns the lowered form of a program whose only op is a sync collective, issued by one thread
/// and run by one group. The choices have no algorithm.
Lowered lowered_alone(const Program& program, Collective collective);

}  // namespace orrery
