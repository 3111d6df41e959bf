#pragma once

// ListProgress follows each device through its list. for_each_cause of tape.h says what may happen
// next. The caller runs the collectives and reports their ends with end().

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/check.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/tape.h"

namespace orrery {

/// A ListId names a thread's list on one of its devices.
using ListId = Id<struct ListTag>;

struct List {
  ThreadId thread;
  uint32_t device_index = 0;  // among the devices of the thread
  LogicalId device;
};

/// An EnterRef names a member of a collective by its list and the position of its Enter.
struct EnterRef {
  ListId list;
  uint64_t enter = 0;
};

/// A CollectiveRun is a run of a collective. All members enter it in this iteration of their loops.
struct CollectiveRun {
  CollectiveId collective;
  uint64_t iteration = 0;
  friend auto operator<=>(const CollectiveRun&, const CollectiveRun&) = default;
};

/// ProgramLists holds the lists of a program, by device and thread. It keeps references to the
/// program and its lowered form.
class ProgramLists {
 public:
  ProgramLists(const Program& program, const Lowered& lowered);

  uint32_t size() const { return static_cast<uint32_t>(lists_.size()); }
  const List& operator[](ListId id) const { return lists_[id.index()]; }
  const Tape& tape(ListId id) const { return lowered_->tapes[lists_[id.index()].thread.index()]; }
  const Tape& tape(ThreadId id) const { return lowered_->tapes[id.index()]; }

  /// Returns the lists of a thread, in the order of its devices.
  std::span<const ListId> lists_of(ThreadId thread) const {
    return lists_of_thread_[thread.index()];
  }

  /// Returns the position of the first instruction of an op's run: of a collective, its Enter.
  uint64_t position(OpRun run) const {
    return tape(issued_by_[run.op.index()]).position(number_of_[run.op.index()], run.iteration);
  }

  /// Returns the list of the op on a device. Requires that the device runs the op.
  ListId list_of(OpId op, LogicalId device) const;

  const Collective& collective(EnterRef entry) const {
    return lowered_->collective(member(entry).collective);
  }
  /// Returns the collective that an Enter enters, and the node that it is there.
  Member member(EnterRef entry) const { return member(entry.list, op(entry)); }
  Member member(ListId list, OpId op) const {
    return lowered_->member(*program_, op, lists_[list.index()].device);
  }
  /// Returns the run of the collective that an Enter enters.
  CollectiveRun run(EnterRef entry) const {
    return {member(entry).collective, tape(entry.list).iteration_at(entry.enter)};
  }

  /// Returns whether the node is a member, and so has a list; a switch node has none.
  bool is_member(CollectiveId collective, Node node) const {
    return lowered_->collective(collective).is_member(node);
  }
  /// Returns whether an op of the program enters as the node. None enters as a switch node or as
  /// an absent member.
  bool is_entered(CollectiveId collective, Node node) const {
    const Collective& of = lowered_->collective(collective);
    return of.is_member(node) && of.side_of(node);
  }
  /// Returns the thread that enters as the node; the program's first if !is_entered().
  ThreadId thread_of(CollectiveId collective, Node node) const {
    return is_entered(collective, node) ? lists_[enter_of(collective, node).list.index()].thread
                                        : ThreadId();
  }
  /// Returns the list of a member and its Enter in an iteration. Requires is_entered().
  EnterRef enter_of(CollectiveId collective, Node node, uint64_t iteration = 0) const;
  /// Returns the op by which a member enters.
  OpId op(EnterRef entry) const { return tape(entry.list)[entry.enter].op; }
  OpId op(CollectiveId collective, Node node) const { return op(enter_of(collective, node)); }

 private:
  struct DeviceOp {
    LogicalId device;
    Side side = Side::Both;
    OpId op;
    friend bool operator<(const DeviceOp& a, const DeviceOp& b) {
      return std::tie(a.device, a.side) < std::tie(b.device, b.side);
    }
  };
  OpId op_at(SiteId site, LogicalId device, Side side) const;

  const Program* program_;
  const Lowered* lowered_;
  std::vector<List> lists_;
  std::vector<std::vector<ListId>> lists_of_thread_;  // per thread and device index
  std::vector<ThreadId> issued_by_;                   // per op
  std::vector<uint32_t> number_of_;                   // per op: its first instruction
  /// For a site of several ops it has the op of each device and side, ascending, once used.
  mutable std::vector<std::vector<DeviceOp>> ops_at_;
};

/// BeginTogether says which psends and precvs begin together. No rendezvous of a group (Op::group)
/// begins before the other side of each one has entered. If that side is in a group, the same holds
/// there, and so on. NCCL's maintainers say that the calls of a group may block each other
/// (NVIDIA/nccl issue 1279, 2024-05-13).
class BeginTogether {
 public:
  /// `waits` says, for each collective, whether its sender waits for its receiver. `lists` must
  /// outlive this object.
  BeginTogether(const Program& program, const ProgramLists& lists, const Lowered& lowered,
                std::vector<bool> waits);

  /// Returns whether the member waits for others beside those of its own collective.
  bool holds(EnterRef entry) const;
  /// Records that a member which holds() has entered. Returns those that begin now.
  std::vector<EnterRef> enter(EnterRef entry);
  /// Lets the message of a run go without waiting. Returns the members that begin now.
  std::vector<EnterRef> let_go(CollectiveRun run);

  /// Returns the members that wait for others, by list and position.
  std::vector<EnterRef> waiting() const;
  /// A Hop leads from a member that waits to the next one on the way to a member that has not
  /// entered.
  struct Hop {
    EnterRef from;               // the member, or another one of its group
    std::optional<EnterRef> to;  // in another list if there is one; nothing: no op enters as `node`
    Node node;                   // of the collective of `from`
  };
  /// Returns the first hop; nothing if the member does not wait.
  std::optional<Hop> hop(EnterRef entry) const;
  bool is_waiting(EnterRef entry) const { return waiting_.contains({entry.list, entry.enter}); }

 private:
  using Place = std::pair<ListId, uint64_t>;
  struct Connected {
    std::vector<EnterRef> all;
    std::vector<size_t> before;  // per member: through which of `all` it was found
    std::optional<Hop> missing;  // the last hop to a member that has not entered
  };
  Connected connected(EnterRef entry) const;
  std::vector<EnterRef> begin(const std::vector<EnterRef>& members);

  const ProgramLists* lists_;
  const Lowered* lowered_;
  std::vector<bool> waits_;                  // per collective
  std::vector<bool> is_grouped_;             // per op: it, or one at its site, is in a group
  std::vector<std::vector<OpId>> together_;  // per op of a group: the ops of the group
  std::set<Place> waiting_;
  std::set<CollectiveRun> let_go_;
};

/// Calls the host in an order that respects the causes. The host must not call back, and has:
///   passed(ListId, uint64_t position)
///   entered(EnterRef)
class ListProgress {
 public:
  explicit ListProgress(const ProgramLists& lists);

  /// Runs all lists as far as they can go.
  template <class Host>
  void begin(Host&& host) {
    for (uint32_t l = 0; l < lists_->size(); ++l)
      go_on(ListId(l), host);
  }

  /// Holds the list before a position that it has not passed. The length of its tape releases it.
  void hold(ListId list, uint64_t before) { held_before_[list.index()] = before; }
  bool is_held(ListId list) const {
    return next_[list.index()] == held_before_[list.index()] &&
           next_[list.index()] < lists_->tape(list).size();
  }

  /// Runs a list that was held as far as it can go now.
  template <class Host>
  void resume(ListId list, Host&& host) {
    go_on(list, host);
  }

  /// Moves a list ahead by whole iterations of a loop that it is in, as if it had run them. The
  /// Enters in the loop that it has passed and that have not yet entered or ended move to later
  /// iterations too. Requires that another iteration follows.
  void skip(ListId list, const LoopedOrder::LoopRun& loop, uint64_t iterations);

  /// Records that the collective has ended on the device of the list.
  template <class Host>
  void end(EnterRef entry, Host&& host) {
    ORRERY_CHECK(happened(entry.list, {MomentKind::Entered, entry.enter}) &&
                     !happened(entry.list, {MomentKind::Ended, entry.enter}),
                 "a collective that has been entered ends once on a device");
    const Tape& tape = lists_->tape(entry.list);
    const uint32_t stream = tape.stream_at(entry.enter);
    Stream& state = streams_[first_stream_[entry.list.index()] + stream];
    ++state.ended;
    if (state.ended < tape.enters(stream))
      try_to_enter({entry.list, tape.enter(stream, state.ended)}, host);
    go_on(entry.list, host);
  }

  bool happened(ListId list, Moment moment) const {
    if (moment.kind == MomentKind::Passed)
      return moment.position < next_[list.index()];
    const Tape::PlaceOnStream place = lists_->tape(list).place_on_stream(moment.position);
    const Stream& stream = streams_[first_stream_[list.index()] + place.stream];
    return place.index < (moment.kind == MomentKind::Entered ? stream.entered : stream.ended);
  }

  uint64_t entered(ListId list, uint32_t stream) const {
    return streams_[first_stream_[list.index()] + stream].entered;
  }
  uint64_t ended(ListId list, uint32_t stream) const {
    return streams_[first_stream_[list.index()] + stream].ended;
  }

  /// Returns the next position that the list will pass; the length of the tape at its end.
  uint64_t next(ListId list) const { return next_[list.index()]; }

  /// Returns whether all lists are at their ends, and all collectives have ended on all devices.
  bool finished() const;

  /// Returns the first unmet cause of the moment, if any.
  std::optional<Moment> first_unmet(ListId list, Moment moment) const;

  const ProgramLists& lists() const { return *lists_; }

 private:
  /// A Stream counts the Enters on a communication stream of a list that have entered, and those
  /// that have ended. They end in order.
  struct Stream {
    uint64_t entered = 0;
    uint64_t ended = 0;
  };

  template <class Host>
  void go_on(ListId list, Host&& host) {
    uint64_t& next = next_[list.index()];
    const Tape& tape = lists_->tape(list);
    while (next < held_before_[list.index()] && !first_unmet(list, {MomentKind::Passed, next})) {
      const uint64_t position = next++;
      host.passed(list, position);
      if (tape[position].kind == Instruction::Kind::Enter)
        try_to_enter({list, position}, host);
    }
  }

  template <class Host>
  void try_to_enter(EnterRef entry, Host&& host) {
    if (first_unmet(entry.list, {MomentKind::Entered, entry.enter}))
      return;
    ++streams_[first_stream_[entry.list.index()] + lists_->tape(entry.list).stream_at(entry.enter)]
          .entered;
    host.entered(entry);
  }

  const ProgramLists* lists_;
  std::vector<uint64_t> next_;         // per list
  std::vector<uint64_t> held_before_;  // per list; the length of its tape: not held
  std::vector<size_t> first_stream_;   // per list: in streams_
  std::vector<Stream> streams_;
};

}  // namespace orrery
