#pragma once

// One collective while its part of the work graph is made: where its areas and messages lie, and
// the nodes that its events are. Its halves become kernels and copies here.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/work.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/step_table.h"
#include "simulator/values/cuda/cause_edges.h"
#include "simulator/values/cuda/device_memory.h"
#include "simulator/values/cuda/member_places.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// What all parts of a graph are made with.
struct Making {
  WorkGraph graph;
  CauseEdges causes;
  DeviceMemory memory;
  Digest halves;
  Digest moves;

  /// Adds work that waits for `after`; what follows waits for the work instead.
  void chain(Work work, Dependencies& after);
};

/// Keeps references to its arguments.
class RunningCollective {
 public:
  /// `op` is one by which members enter.
  RunningCollective(CollectiveId id, const Collective& collective, const Folding& folding, OpId op,
                    Making& making);

  /// What a member gives and takes. A list has come so far that the member may enter: `after`.
  struct Entry {
    OpId op;
    MemberStorage storage;
    std::vector<Copy> joined = {};  // several operands, to places in the input area
  };
  void enter(Node node, const Entry& entry, Dependencies& after);

  void run(StepRef ref, Half half, const Step& step);

  /// The result, in `type` and at the place that the member gave for it, or nothing for one that
  /// takes none. Adds to `after` what it waits for.
  void exit(Node node, const std::optional<ValueType>& type, Dependencies& after);

  /// The member's memory beside the arena is free once this has happened.
  void left(Node node, const Frontier& ended);

  /// Whether all members have left, and a switch has done its steps.
  bool is_over() const { return members_left_ == 0 && switch_steps_left_ == 0; }
  /// Frees what a switch has.
  void end();

 private:
  struct Member {
    OpId op;
    MemberPlaces places;
    DevicePointer result = 0;
    Frontier entered;
    std::vector<Stretch> beside;  // its areas, and the slots of messages to it
  };

  /// A message, in a slot of its receiver's.
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
  std::vector<Member> members_;         // by node: switch nodes too
  Bytes slot_;                          // the size of one
  uint32_t members_left_;
  uint64_t switch_steps_left_ = 0;
};

}  // namespace orrery::cuda
