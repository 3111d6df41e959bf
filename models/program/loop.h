#pragma once

// The loops of a Program: as regions, as a scenario has them, and with their iterations written, as
// a report shows them (unroll.h makes the one of the other).
//
// A region has each op of the body once, under a name such as "l[].y". A value of the body is one
// of each iteration. What goes from an iteration to the next is a carry: in the body it is a param,
// a value that no op makes. Its value in an iteration is what the iteration before yielded, and
// the initial one in the first; so no body needs to know how often it runs. Outside of the body
// nothing reads a value of the body: it reads what a carry is after the loop, or an exit, which is
// a value of a single iteration. Operands, outputs and expectations are plain ValueIds therefore.
// A loop in a body is one of that body's parts: its initial values, results and exits are values of
// the body around it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/id.h"

namespace orrery {

/// Ids from `begin` to before `end`, in order.
struct IdRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool has(size_t id) const { return begin <= id && id < end; }
};

/// A value that goes from one iteration to the next. All four have the same dtype and shape.
struct Carry {
  ValueId initial;  // before the loop
  ValueId param;    // in an iteration: `initial` in the first, else what the one before yielded
  ValueId yielded;  // at the end of an iteration: one of the body, or of outside
  ValueId result;   // after the loop: what the last iteration yielded; without any, `initial`
};

/// A value of a single iteration that is read outside of the body: "l[3].y".
struct Exit {
  ValueId inside;  // of the body; may be what an inner loop carries out, or an exit of it
  int64_t iteration = 0;
  ValueId outside;
};

struct Loop {
  std::string name;  // "l"; of a loop in the body of another "outer[].l"
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

/// What one iteration adds to the program, inner loops included.
struct LoopIteration {
  int64_t index = 0;        // of the loop's variable
  std::string name;         // "l[3]"; of an inner loop "outer[0].l[3]"
  std::string site_suffix;  // of the sites that ops name: "[3]", "[0][3]"
  IdRange ops;              // consecutive in the issue order of the loop's thread too
  IdRange values;
  IdRange buffers;
};

/// A loop whose iterations are written. One of few iterations has them all. One of many keeps the
/// first iterations and the last; those between may be left out, in whole periods: each of them
/// equals one of the last `period` iterations; what these read of earlier iterations, it reads
/// of those as far before itself. The period is 1, or the number of iterations after which carries
/// that change places are back. So the memory of a program does not grow with the iterations. A
/// program that leaves out all that it may is called folded. A loop is in parts, each a written
/// loop of that name, where single iterations are named: these are kept.
struct WrittenLoop {
  std::string name;  // "l", "outer[0].l"
  ThreadId thread;
  int64_t lower = 0;                   // the first index
  int64_t upper = 0;                   // one past the last
  bool has_index = false;              // the first op of an iteration is the constant index
  std::vector<LoopIteration> written;  // ascending; at least one
  /// With a window, the iterations from number `first` (from 0) to before the last `window` ones
  /// repeat, and may be left out. Each of them, and each of the window, is a copy of the one
  /// `period` iterations before or after it: it has the same ops and types, and reads values of at
  /// most the reach() iterations before it, or of the first one, where the body names that. Without
  /// a window, `window` is 0, and every iteration is written.
  uint32_t first = 0;
  uint32_t window = 0;
  uint32_t period = 1;  // at most the window, where there is one

  uint64_t trips() const { return static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower); }
  uint64_t left_out() const { return trips() - written.size(); }
  const LoopIteration& last() const { return written.back(); }
  /// Requires a window. `first` is greater.
  uint32_t reach() const { return window - period; }
  /// The index in `written` of the window's first iteration.
  size_t window_begin() const { return written.size() - window; }
  /// The ops of the last `period` iterations, of which those left out are copies.
  IdRange repeated_ops() const {
    return {written[written.size() - period].ops.begin, last().ops.end};
  }
  /// How many of those left out equal each of the last `period` iterations.
  uint64_t repeats() const { return left_out() / period; }
};

}  // namespace orrery
