#pragma once

// A Program has values in buffers, ops, and the threads that issue them. It is plain data, made by
// ProgramBuilder (builder.h), which checks every rule. Users of a Program may rely on the
// following. Every op satisfies its type rule. Every operand is defined earlier in its thread or is
// an argument. A collective's replica groups are those of its site, and every member's thread
// issues the site once, or the site says that it does not.
// A scenario's program has its loops as regions (Program::loops). Lowering, times and the host
// executor take this form. Memory, checks and reports take the program with iterations written
// (unroll.h). Other functions say which form they take. The verifier finds errors in time (a future
// never done, use after donation, a hang).

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/base/id.h"
#include "models/mesh/mesh.h"
#include "models/program/loop.h"
#include "models/program/op.h"
#include "models/program/value.h"

namespace orrery {

/// A Thread is a set of devices that issue the same ops in the same order. An SPMD program is
/// exactly one thread. A device of several threads runs their lists concurrently. Each has its own
/// streams.
struct Thread {
  std::string name;
  std::vector<LogicalId> devices;  // ascending
  std::vector<OpId> issue_order;
};

/// A TransferGroup says which members a group of a transfer (psend and precv) has.
enum class TransferGroup : uint8_t {
  Pair,         // a source, and its destination
  Source,       // one that issues psend, and sends to nobody
  Destination,  // one that issues precv, and gets zeros from nobody
};

/// A GroupMember is a member of one of a site's groups.
struct GroupMember {
  uint32_t group = 0;
  uint32_t rank = 0;
  friend auto operator<=>(const GroupMember&, const GroupMember&) = default;
};

/// A Site is where one collective happens. It has the ops of the meeting threads, and the groups
/// that exchange. A device may be in two groups of a transfer: as the sender in one, and as the
/// receiver in the other.
struct Site {
  std::string name;
  std::vector<OpId> ops;      // one per thread that takes part, in thread order; in a transfer
                              // one per thread and side, psend first
  std::vector<Group> groups;  // disjoint; each device of the threads that take part is in exactly
                              // one, and no device is of two of these threads
  std::vector<TransferGroup> transfers = {};  // of a transfer: what each group is; else empty
  std::vector<GroupMember> absent = {};       // ascending; members by which no op enters: their
                                              // groups wait for them, and the program cannot end
  bool named = false;                         // ops meet there by its name, not by a token
};

/// An Argument is a value that exists before the program begins.
struct Argument {
  ValueId value;
  std::optional<std::vector<LogicalId>> on = {};  // ascending; empty: on every device
};

struct Program {
  Mesh mesh;
  Numerics numerics = Numerics::Ieee;
  std::vector<Op> ops;
  std::vector<Value> values;
  std::vector<Buffer> buffers;
  std::vector<Thread> threads;
  std::vector<Site> sites;
  std::vector<Argument> arguments;
  std::vector<ValueId> outputs;
  std::vector<Loop> loops;  // outer ones before those in them, else as they come
  /// The loops whose iterations are written. Inner loops come before outer ones.
  std::vector<WrittenLoop> written_loops;
  /// The names of loops of which nothing is written: they have no iterations or no ops.
  std::vector<std::string> empty_loops;
  std::map<std::string, ValueId, std::less<>>
      other_names;  // of values: other names, such as those of results of loops

  const Op& op(OpId id) const { return ops[id.index()]; }
  const Value& value(ValueId id) const { return values[id.index()]; }
  const Buffer& buffer(BufferId id) const { return buffers[id.index()]; }
  const Thread& thread(ThreadId id) const { return threads[id.index()]; }
  const Site& site(SiteId id) const { return sites[id.index()]; }
};

/// Returns every value by its name and by its other names. The program must outlive the views.
std::map<std::string_view, ValueId> values_by_name(const Program& program);

/// Returns, per device (logical id), the threads whose lists it runs, ascending.
std::vector<std::vector<ThreadId>> threads_by_device(const Program& program);

/// Returns whether psends and precvs are issued in groups (Op::group).
bool has_groups(const Program& program);

/// Returns, per op, the thread that issues it.
std::vector<ThreadId> issued_by(const Program& program);

}  // namespace orrery
