#pragma once

// The lifetimes of a list are the positions between which each buffer, and each op's scratch, is
// held. A device's arguments are held by its lists:
//  - An argument that a list donates is held by that list. Another list of the device holds it too
//    if it reads it.
//  - Of several lists that would hold an argument to the end, the first one holds it.
//  - Results and scratch are held from their op on, arguments from before the first op.
//  - Operands, results and scratch of a started collective are held at least to its first `done`.
//    Without a `done` they are held to the end.
//  - Arguments are held to the end unless donated, outputs to the end, others to their last use.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/program/loops.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// A range of positions of an issue order, both ends included. kBeforeFirst comes before all
/// positions; the number of ops stands for the end of the program.
struct Span {
  int64_t from = 0;
  int64_t to = 0;
  bool has(int64_t position) const { return from <= position && position <= to; }
};
inline constexpr int64_t kBeforeFirst = -1;

/// Says why storage is held no longer.
enum class HeldUntil : uint8_t {
  EndAsArgument,  // of the program: it was not donated
  EndAsOutput,    // of the program
  EndInFlight,    // of the program: a started collective that uses it is never done
  Donation,       // its last use: an argument that was donated
  LastUse,        // an op that reads it, or the done of a collective that uses it
  TakenOver,      // before the op whose result gets its storage
  NeverUsed,      // the op that makes it
};

struct Lifetime {
  enum class Role : uint8_t { Argument, Output, Temporary, Scratch };
  std::string name;                // the first value of the buffer, or the op whose scratch it is
  std::optional<BufferId> buffer;  // empty for scratch, and for what left-out iterations hold
  Role role = Role::Temporary;
  Bytes size;  // rounded up to the alignment
  Span held;
  HeldUntil until = HeldUntil::LastUse;
  std::vector<Span> in_flight;  // while a started collective reads or writes it
  /// It gets that lifetime's storage (`reuse: "xla"`), which ends just before this one begins.
  std::optional<size_t> takes_over;
};

/// Returns the ops of a list. The list of no thread is empty.
const std::vector<OpId>& ops_of_list(const Program& program, std::optional<ThreadId> thread);

/// It keeps references to its arguments.
class Lifetimes {
 public:
  Lifetimes(const Program& program, const Lowered& lowered, const MemoryPolicy& policy);

  /// Returns which of its arguments each list of a device holds. A device without lists holds its
  /// arguments as if it had one that is empty. `arguments` ascend, and so do the results.
  std::vector<std::vector<ValueId>> held_arguments(std::span<const ThreadId> threads,
                                                   std::span<const ValueId> arguments) const;

  /// Returns the lifetimes of a list in the order of allocation: arguments by value id, then for
  /// each op its new buffers by value id and its scratch.
  std::vector<Lifetime> of(const HeldList& list) const;

 private:
  bool reads(ThreadId thread, BufferId buffer) const;

  const Program& program_;
  const Lowered& lowered_;
  const MemoryPolicy& policy_;
  std::map<BufferId, std::vector<ThreadId>> donors_;  // the threads that donate a buffer
  std::vector<bool> argument_;                        // per buffer: whether it is an argument's
  std::vector<std::vector<Gap>> gaps_;  // per op; empty where no iterations are left out
};

}  // namespace orrery
