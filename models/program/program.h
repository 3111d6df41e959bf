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
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/mesh/mesh.h"
#include "models/mesh/partition_spec.h"
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

/// A Reshard is a written op that moves a list of arrays between shardings of the whole mesh and
/// groups of an MPMD mesh (models/mesh/mpmd.h). The program has ops that do it (Op::reshard).
struct Reshard {
  enum class To : uint8_t { Groups, Mesh };
  /// An Array is an array that is moved. An array on groups lies whole in each, by its spec without
  /// the MPMD axis.
  struct Array {
    std::string from;               // the name of the value that is moved
    std::string to;                 // the name of the result
    PartitionSpec given;            // how the array is cut before
    PartitionSpec wanted;           // how it is cut after; for groups, with the MPMD axis
    std::set<int64_t> groups;       // on which it is before, or after; at least one
    bool reads_first_copy = false;  // its copies may differ, and the first is read
    Bytes size = {};                // which counts against the threshold
  };

  To to = To::Groups;
  ThreadId thread = {};
  std::string axis;  // the MPMD axis
  std::vector<Array> arrays;
  std::optional<Bytes> threshold = {};  // empty: all arrays move at once
  bool found_threshold = false;         // it was not given, and follows from the devices' memory
  bool counts_targets = false;          // the sizes are those of targets
  bool states_given = false;            // how its operands are cut was stated
  std::string site = {};                // where programs meet; empty: there is one program
  /// The indices of arrays that move at once, in the order of the moves.
  std::vector<std::vector<size_t>> transfers = {};
  std::optional<Origin> origin = {};

  const std::string& name() const { return arrays.front().to; }
  /// Returns whether both are one reshard, or those of two programs that meet.
  bool meets(const Reshard& other) const {
    return site.empty() ? name() == other.name() : site == other.site;
  }
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
  std::vector<Reshard> reshards;  // in the order of their ops
  std::vector<Loop> loops;        // outer ones before those in them, else as they come
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

/// Returns the transfer groups that the reshard has with this threshold. The order in which its
/// arrays move does not depend on it.
std::vector<std::vector<size_t>> transfers_with(const Reshard& reshard, Bytes threshold);

/// Returns whether the reshard meets an earlier one of the program.
bool met_before(const Program& program, size_t reshard);

/// Returns whether psends and precvs are issued in groups (Op::group).
bool has_groups(const Program& program);

/// Returns, per op, the thread that issues it.
std::vector<ThreadId> issued_by(const Program& program);

}  // namespace orrery
