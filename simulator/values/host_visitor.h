#pragma once

// A HostVisitor moves the data in one walk of a program (program_walk.h): it runs the actions of
// each half of a step on the memory of its node.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "models/program/program.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/run_table.h"
#include "simulator/schedule/step_table.h"
#include "simulator/values/host_executor.h"
#include "simulator/values/live_values.h"
#include "simulator/values/member_memory.h"
#include "simulator/values/values.h"

namespace orrery {

/// Blocks are memory for messages in flight. The last one returned is handed out first, from cache.
class Blocks {
 public:
  /// Returns a block of at least `size` bytes, uninitialized.
  uint32_t take(int64_t size) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(blocks_.size()));
      blocks_.emplace_back();
    }
    const uint32_t id = free_.back();
    free_.pop_back();
    if (blocks_[id].size() < static_cast<size_t>(size))
      blocks_[id] = Storage(static_cast<size_t>(size));
    return id;
  }
  void give_back(uint32_t id) { free_.push_back(id); }

  /// Returns the block's memory, which stays at its address until the block is given back.
  std::byte* data(uint32_t id) { return blocks_[id].data(); }

 private:
  std::vector<Storage> blocks_;
  std::vector<uint32_t> free_;
};

/// Makes values as ops end. The program and its lowered form must outlive the visitor.
class HostVisitor {
 public:
  /// `ended` may be empty.
  HostVisitor(const Program& program, const Lowered& lowered, DeviceValues arguments,
              VisitEndedRun ended = {}, HostKernels kernels = {});

  void local(OpRun run, LogicalId device);
  void issue(CollectiveRun run, Node node, OpRun op);
  void done(OpRun run, LogicalId device);
  void enter(CollectiveRun run, Node node, OpRun op);
  void receive(CollectiveRun run, StepRef ref, const Step& step);
  void send(CollectiveRun run, StepRef ref, const Step& step);
  void exit(CollectiveRun run, Node node, OpRun op);

  WalkDigest digest() const { return {halves_, moves_}; }
  const LiveValues& values() const { return values_; }
  /// Returns LiveValues::finish(). Nothing can be run afterwards.
  DeviceValues finish() && { return std::move(values_).finish(); }

 private:
  /// A Payload is bytes in flight, in a block of their own or still in a node's memory.
  struct Payload {
    const std::byte* data = nullptr;
    std::optional<uint32_t> block;
    int64_t size = 0;  // bytes, of elements as they are held
  };

  /// A Running is a run of a collective, from when the first list comes to it until the last exit
  /// and the last step of a switch.
  struct Running {
    Running(const Collective& collective, const Folding& folding);
    const Collective& collective;
    Folding folding;
    Bytes held_item;                   // of an element in memory
    Bytes work_item;                   // of an element that is moved
    StepTable<Payload> messages;       // by receiving step
    std::vector<Payload> held;         // per node and channel: between the halves of a step
    std::vector<EndedMember> members;  // each from when its list comes to the collective
    std::vector<std::optional<MemberMemory>> nodes;  // a member's from its entry to its exit
    uint32_t members_left;
    uint64_t switch_steps_left = 0;
  };

  /// A Borrowed is a message whose payload is still in its sender's memory.
  struct Borrowed {
    uint32_t slot = 0;  // of the run of the collective
    StepRef receiver;
  };

  /// An AtWork is one half while it runs.
  struct AtWork {
    uint32_t slot = 0;  // of the run
    Running& running;
    StepRef ref;
    MemberMemory& own;
    Payload payload;
    const std::byte* right =
        nullptr;  // the payload is combined with it before it is stored or sent
  };

  void drop_if_over(uint32_t slot);
  void run_half(uint32_t slot, Running& running, StepRef ref, Half half, const Step& step);
  void act(AtWork& at, ActionKind action, const Slice* slice, Combine combine);
  void store(AtWork& at, const Slice& slice, Combine combine);
  void hold(AtWork& at, Combine combine);
  void emit(AtWork& at);
  static Payload& held(Running& running, StepRef ref);
  void put_in_block(Payload& payload);
  void give_back(const Payload& payload);
  void settle_borrowed();
  void reduce(const Folding& folding, Combine combine, std::byte* target, const std::byte* left,
              const std::byte* right, int64_t size);

  const Program& program_;
  const Lowered& lowered_;
  LiveValues values_;
  const VisitEndedRun ended_;
  const HostKernels kernels_;
  Bodies bodies_;
  RunTable<std::unique_ptr<Running>> running_;
  Blocks blocks_;
  /// Only the message sent last may be borrowed. It is read from the sender's memory if its receive
  /// half runs next. Otherwise it is copied out before anything else runs.
  std::optional<Borrowed> borrowed_;
  Digest halves_;
  Digest moves_;
};

}  // namespace orrery
