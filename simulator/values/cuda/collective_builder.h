#pragma once

// The part of the work graph that is one collective, while it is made.
//
// Each member has its areas (member_places) and the memory beside its arena that it holds. A
// message is copied into a slot in its receiver's memory by the send half, and taken from there by
// the receive half. The credit of a step says which slot is free: a step that takes one uses the
// slot of that message, any other step takes a new slot. actions.h says what a half does, causes.h
// what it waits for. Its kernels and copies form a chain, and the end of the chain is the event
// that later causes refer to.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/work.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/step_table.h"
#include "simulator/values/cuda/device_memory.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// The graph that is being made, with what all its parts share.
struct Making {
  WorkGraph graph;
  CauseEdges causes;
  DeviceAddresses memory;
  Digest halves;
  Digest moves;

  /// Adds work that waits for `after`; what follows waits for the work instead.
  void chain(Work work, Dependencies& after);
};

/// Keeps references to its arguments.
class CollectiveBuilder {
 public:
  /// `op` is one by which members enter.
  CollectiveBuilder(CollectiveId id, const Collective& collective, const Folding& folding, OpId op,
                    Making& making);

  /// The op by which a member enters, its operand and its result.
  struct Entrance {
    OpId op;
    MemberStorage storage;
    std::vector<Copy> joined = {};  // several operands, to places in the input area
  };
  /// `after` is what has to happen before the member may enter.
  void enter(Node node, const Entrance& entrance, Dependencies& after);

  void run(StepRef ref, Half half, const Step& step);

  /// Makes the result, in `type` and at the place that the member gave for it; nothing for a member
  /// that takes none. Adds to `after` what the end of the member waits for.
  void exit(Node node, const std::optional<ValueType>& type, Dependencies& after);

  /// The member's memory beside the arena is free once this has happened.
  void left(Node node, const Frontier& ended);

  /// Whether all members have left, and a switch has done its steps.
  bool is_over() const { return members_left_ == 0 && switch_steps_left_ == 0; }
  /// Frees the memory of a switch.
  void end();

 private:
  struct Member {
    OpId op;
    MemberPlaces places;
    DevicePointer result = 0;
    Frontier entered;
    std::vector<BesideArena> beside;  // its areas, and the slots of messages to it
  };

  /// A message in a slot of its receiver.
  struct Message {
    DevicePointer at = 0;
    int64_t elements = 0;
  };

  /// One half while its nodes are made.
  struct AtWork {
    StepRef ref;
    const Step& step;
    Dependencies after;
    Message payload;          // what the step works on, wherever it lies
    DevicePointer right = 0;  // with what it is combined before it is stored or sent; 0: nothing
  };

  LogicalId device(Node node) const;
  Bytes bytes(int64_t elements) const { return itemsize(folding_.held) * elements; }
  DevicePointer address(Node node, const Slice& slice) const;
  const Frontier& happened(const Cause& cause) const;
  void act(AtWork& at, Action action);
  void put(AtWork& at, DevicePointer target);
  DevicePointer slot_of(AtWork& at, StepRef receiver);
  DevicePointer take_beside(Node node, Bytes size, Dependencies& after);

  const CollectiveId id_;
  const Collective& collective_;
  const Schedule& schedule_;
  const Folding folding_;
  Making& making_;
  AllSteps<StepDone<Frontier>> steps_;  // a message has arrived once it is sent
  AllSteps<Message> messages_;          // by receiving step
  std::vector<Member> members_;         // by node, switch nodes too
  Bytes slot_;                          // the size of one
  uint32_t members_left_;
  uint64_t switch_steps_left_ = 0;
};

}  // namespace orrery::cuda
