#pragma once

// A Program has values in buffers, ops, and the threads that issue them. It is plain data, made by
// ProgramBuilder (builder.h), which checks every rule. Users of a Program may rely on the
// following. Every op satisfies its type rule. Every operand is defined earlier in its thread or is
// an argument. A collective's replica groups are those of its site, and every member's thread
// issues the site once, or the site says that it does not.
// Lowering, times and the host executor take the program with loops as regions (Program::loops).
// Memory, checks and reports take the one with iterations written (unroll.h). Other functions say
// which form they take. The verifier finds errors in time (a future never done, use after donation,
// a hang).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/base/diagnostics.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/mesh/mesh.h"
#include "models/mesh/partition_spec.h"
#include "models/program/op.h"
#include "models/program/value.h"

namespace orrery {

// A Program has its loops in one of two forms. A scenario's program has them as regions. A report
// shows the program with their iterations written. unroll.h makes the second form of the first.
//
// A region has each op of the body once, under a name such as "l[].y". A value of the body stands
// for one value in each iteration. A carry goes from an iteration to the next. In the body it is a
// param, a value that no op makes. In the first iteration the param is the carry's initial value,
// and in the others the value that the iteration before yielded. So no body needs to know how often
// it runs. Outside of the body nothing reads a value of the body. Ops there read the carry's result
// after the loop, or an exit, which is a value of a single iteration. So operands, outputs and
// expectations are plain ValueIds. A loop in a body is a part of that body: its initial values,
// results and exits are values of the body around it.

/// An IdRange has the ids from `begin` to before `end`, in order.
struct IdRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool has(size_t id) const { return begin <= id && id < end; }
};

/// A Carry goes from one iteration to the next. Its four values have the same dtype and shape.
struct Carry {
  ValueId initial;  // before the loop
  ValueId param;    // in an iteration: `initial` in the first, else what the one before yielded
  ValueId yielded;  // at the end of an iteration: one of the body, or of outside
  ValueId result;   // after the loop: what the last iteration yielded; without any, `initial`
};

/// An Exit is a value of a single iteration that is read outside of the body: "l[3].y".
struct Exit {
  ValueId inside;  // of the body; may be a result or an exit of an inner loop
  int64_t iteration = 0;
  ValueId outside;
};

struct Loop {
  std::string name;  // "l"; "outer[].l" if it is in the body of another loop
  ThreadId thread;
  int64_t lower = 0;               // the first index
  int64_t upper = 0;               // one past the last; `lower` where it never runs
  std::optional<size_t> around;    // the loop in whose body it is, by index among the program's
  IdRange ops = {};                // the body, with those of loops in it
  std::optional<OpId> index = {};  // the constant of the body that is the iteration's index
  std::vector<Carry> carries = {};
  std::vector<Exit> exits = {};
  std::optional<Origin> origin = {};
};

/// A LoopIteration is what one written iteration adds to the program, inner loops included.
struct LoopIteration {
  int64_t index = 0;        // of the loop's variable
  std::string name;         // "l[3]"; of an inner loop "outer[0].l[3]"
  std::string site_suffix;  // of the sites that ops name: "[3]", "[0][3]"
  IdRange ops;              // consecutive in the issue order of the loop's thread too
  IdRange values;
  IdRange buffers;
  bool is_shown = true;  // also in the shortened program
  uint64_t copies = 0;   // how many iterations that are left out are copies of it
};

/// A WrittenLoop is a loop whose iterations are written. A loop of few iterations has them all. A
/// loop of many iterations has the first ones, the last ones, and those that are named. Others may
/// be left out, in whole periods. Each of these is a copy of one of the last `period` iterations
/// before them. If that one reads a value k iterations back, the copy reads the value k iterations
/// before itself. For example, a loop of 1,000,000 trips with period 1 and reach 1 has the
/// iterations 0, 1, 2, 999,998 and 999,999. The 999,995 others are copies of iteration 2, which
/// reads values of iteration 1. So iteration 5,000 reads those of 4,999.
///
/// The period is 1, or the number of iterations after which carries that change places are back. So
/// the memory of a program does not grow with the trips. A program that leaves out all that it may
/// is called shortened (written_iterations.h).
struct WrittenLoop {
  std::string name;  // "l", "outer[0].l"
  ThreadId thread;
  int64_t lower = 0;                   // the first index
  int64_t upper = 0;                   // one past the last
  bool has_index = false;              // the first op of an iteration is the constant index
  std::vector<LoopIteration> written;  // ascending; at least one
  uint32_t reach = 1;                  // how many iterations back an iteration may read
  uint32_t period = 1;

  uint64_t trips() const { return static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower); }
  uint64_t left_out() const { return trips() - written.size(); }
  const LoopIteration& last() const { return written.back(); }
  /// Returns how many iterations are left out before the written one at this index.
  uint64_t left_out_before(size_t w) const {
    return w == 0 ? 0
                  : static_cast<uint64_t>(written[w].index) -
                        static_cast<uint64_t>(written[w - 1].index) - 1;
  }
};

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
