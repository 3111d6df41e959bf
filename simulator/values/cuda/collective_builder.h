#pragma once

// A CollectiveBuilder makes the part of the work graph that is one collective.
//
// Each member has its areas (member_places) and the memory beside its arena that it holds. A
// message is copied into a slot in its receiver's memory by the send half, and taken from there by
// the receive half. A step that takes the credit of an earlier message uses the slot of that
// message; any other step that sends takes a new slot. actions.h says what a half does, causes.h
// what it waits for. The kernels and copies of a half form a chain, and the end of the chain is the
// event that later causes refer to.

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

/// Making is the graph that is being made, with what all its parts share.
struct Making {
  WorkGraph graph;
  CauseEdges causes;
  DeviceAddresses memory;
  Digest halves;
  Digest moves;

  /// Adds work that waits for `after`. Then `after` becomes the work alone.
  void chain(Work work, Dependencies& after);
};

/// It keeps references to its arguments.
class CollectiveBuilder {
 public:
  /// `op` is one by which members enter.
  CollectiveBuilder(CollectiveId id, const Collective& collective, const Folding& folding, OpId op,
                    Making& making);

  /// An Entrance has the op by which a member enters, its operand and its result.
  struct Entrance {
    OpId op;
    MemberStorage storage;
    std::vector<Copy> joined = {};  // several operands, to places in the input area
  };
  /// Adds the entry of a member. `after` is what has to happen before it may enter.
  void enter(Node node, const Entrance& entrance, Dependencies& after);

  void run(StepRef ref, Half half, const Step& step);

  /// Makes the result in `type`, at the place that the member gave for it. `type` is empty for a
  /// member that takes no result. Adds to `after` what the end of the member waits for.
  void exit(Node node, const std::optional<ValueType>& type, Dependencies& after);

  /// Frees the member's memory beside the arena, for use after `ended`.
  void left(Node node, const Frontier& ended);

  /// Returns whether all members have left and all switch nodes have done their steps.
  bool is_over() const { return members_left_ == 0 && switch_steps_left_ == 0; }
  /// Frees the memory of the switch nodes.
  void end();

 private:
  struct Member {
    OpId op;
    MemberPlaces places;
    DevicePointer result = 0;
    Frontier entered;
    std::vector<BesideArena> beside;  // its areas, and the slots of messages to it
  };

  /// A Message lies in a slot of its receiver.
  struct Message {
    DevicePointer at = 0;
    int64_t elements = 0;
  };

  /// An AtWork is one half while its nodes are made.
  struct AtWork {
    StepRef ref;
    const Step& step;
    Dependencies after;
    Message payload;          // what the step works on, wherever it lies
    DevicePointer right = 0;  // combined with the payload before that is stored or sent; 0: none
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
  Bytes slot_;                          // the size of a slot
  uint32_t members_left_;
  uint64_t switch_steps_left_ = 0;
};

}  // namespace orrery::cuda
