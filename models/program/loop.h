#pragma once

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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/id.h"

namespace orrery {

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
};

/// A WrittenLoop is a loop whose iterations are written. A loop of few iterations has them all. A
/// loop of many iterations has the first ones and the last ones. Iterations between may be left
/// out, in whole periods. Each of these is a copy of one of the last `period` iterations. If that
/// one reads a value k iterations back, the copy reads the value k iterations before itself. For
/// example, a loop of 1,000,000 trips with `kept_first` 3, `kept_last` 2 and `period` 1 has the
/// iterations 0, 1, 2, 999,998 and 999,999. The 999,995 others are copies of 999,999, which may
/// read values of 999,998. So iteration 5,000 reads those of 4,999.
///
/// The period is 1, or the number of iterations after which carries that change places are back. So
/// the memory of a program does not grow with the trips. A program that leaves out all that it may
/// is called shortened. If single iterations of a loop are named, they are kept. Then the loop is
/// in parts, each a WrittenLoop of that name.
struct WrittenLoop {
  std::string name;  // "l", "outer[0].l"
  ThreadId thread;
  int64_t lower = 0;                   // the first index
  int64_t upper = 0;                   // one past the last
  bool has_index = false;              // the first op of an iteration is the constant index
  std::vector<LoopIteration> written;  // ascending; at least one
  /// If `kept_last` is 0, every iteration is written. Otherwise the iterations from number
  /// `kept_first` (counted from 0) to before the last `kept_last` repeat, and may be left out. Each
  /// of these, and each of the last ones, is a copy of the iteration `period` before or after it. A
  /// copy has the same ops and types. In the loop it reads values of at most the reach() iterations
  /// before it, or of the first iteration if the body names that.
  uint32_t kept_first = 0;
  uint32_t kept_last = 0;
  uint32_t period = 1;  // at most `kept_last`, where that is not 0

  uint64_t trips() const { return static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower); }
  uint64_t left_out() const { return trips() - written.size(); }
  const LoopIteration& last() const { return written.back(); }
  /// Returns how many iterations back an iteration may read. Requires that `kept_last` is not 0.
  /// `kept_first` is greater.
  uint32_t reach() const { return kept_last - period; }
  /// Returns the index in `written` of the first of the last `kept_last` iterations.
  size_t kept_last_begin() const { return written.size() - kept_last; }
  /// Returns the ops of the last `period` iterations. The iterations left out are copies of these.
  IdRange repeated_ops() const {
    return {written[written.size() - period].ops.begin, last().ops.end};
  }
  /// Returns how many iterations left out are copies of each of the last `period` iterations.
  uint64_t repeats() const { return left_out() / period; }
};

}  // namespace orrery
