#pragma once

// The devices' side of time: each runs its tape, and says when it enters which collective. How long
// a collective takes is for the caller to say, with end(); between two such answers a device runs
// ahead as far as its tape allows, since local ops take constant time. The sweep and the event
// engine both stand on this.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/function_ref.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// A member enters its collective at a known time.
struct Entrance {
  CollectiveId collective;
  Node node;
  Instant at;
};

class Tapes {
 public:
  using Entered = FunctionRef<void(Entrance)>;

  /// `device_start` has for each logical id when the device begins; empty: all begin at 0.
  Tapes(const Program& program, const Lowered& lowered, std::span<const Instant> device_start);

  /// Runs the tape of `device` from its beginning. `entered` gets what that lets it enter, and must
  /// not call back; the same for end().
  void begin(LogicalId device, Entered entered);

  /// All steps of the member have retired at `at`.
  void end(CollectiveId id, Node node, Instant at, Entered entered);

  bool finished() const;

  /// A device that stands at a wait, and for what: "device 3 waits for 'r'". Requires !finished().
  std::string waiting_text() const;

  /// What Completion has of them. Requires finished().
  std::vector<std::vector<OpSpan>> spans() && { return std::move(spans_); }
  Instant makespan() const { return makespan_; }

 private:
  struct Queued {
    OpId op;
    Member member;
    Instant reached;
  };
  /// A communication stream: the collectives reached, in issue order. Of those that have not ended
  /// the first has been entered.
  struct Stream {
    StreamId id;
    std::vector<Queued> queue;
    size_t ended = 0;
    Instant free;  // when the last one ended

    bool idle() const { return ended == queue.size(); }
    const Queued& first() const { return queue[ended]; }
  };
  struct Device {
    std::optional<ThreadId> thread;
    uint32_t place = 0;  // among the devices of its thread
    size_t at = 0;       // the next instruction of its tape
    Instant clock;       // when its compute stream reaches that instruction
    std::vector<Stream> streams;
  };

  Stream& stream(Device& device, StreamId id);
  OpSpan& span(OpId op, const Device& device) { return spans_[op.index()][device.place]; }
  void run(LogicalId id, Entered entered);
  void enter_first(Device& device, Stream& stream, Entered entered);
  void close(OpSpan& span, Instant end);

  const Program& program_;
  const Lowered& lowered_;
  std::vector<Device> devices_;
  std::vector<std::vector<bool>> ended_;  // per collective and node
  std::vector<std::vector<OpSpan>> spans_;
  Instant makespan_;
};

}  // namespace orrery
