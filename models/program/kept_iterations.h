#pragma once

// How unroll.cc decides which iterations of long loops it writes: when one begins as an earlier one
// did, which ones must not be left out, and what comes of a try (unrolling.cc) to leave out others.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/unroll.h"

namespace orrery {

/// What loops carry at the beginning of an iteration: values and their buffers. One of a recent
/// iteration is located by its distance and its index there, any other by its id. No chain of
/// carries is longer than the number of carries; so what lies further back is a value of the first
/// iteration that the body names ("l[0].y"), and is located by its id too.
struct LoopEntry {
  struct Located {
    uint32_t iterations_before = 0;  // 0: located by itself
    uint32_t index = 0;              // in that iteration; else among all
    friend auto operator<=>(const Located&, const Located&) = default;
  };
  struct Carried {
    Located value;
    Located buffer;  // may be of an earlier iteration than the value, which is then an alias
    friend auto operator<=>(const Carried&, const Carried&) = default;
  };
  std::vector<Carried> carried;
  friend auto operator<=>(const LoopEntry&, const LoopEntry&) = default;

  /// The entry to the iteration after those of `made`, with these values in the carries.
  LoopEntry(const Program& program, const WrittenLoop& made, const std::vector<ValueId>& values);

  /// How many iterations before is what is carried, at most.
  uint32_t furthest() const;
};

/// Which iterations a loop has written: at least `first`, then come those left out, then `reach` +
/// `period` more.
struct WrittenIterations {
  uint32_t first = 0;
  uint32_t reach = 0;
  uint32_t period = 1;  // the number of those left out is a multiple of it

  /// Those of both, with their common period.
  void include(const WrittenIterations& other);
  /// Sets which iterations `made` leaves out, if it is long enough to leave out any.
  void set_in(WrittenLoop& made) const;
  friend bool operator==(const WrittenIterations&, const WrittenIterations&) = default;
};

/// How the iterations of a loop have begun. Each is what its entry makes of it, so once one begins
/// as an earlier one did, all later ones repeat those from there on. That happens in every loop:
/// its carries hold what few iterations before have made, or go round.
class LoopEntries {
 public:
  /// Adds the next one's. The first that is not new gives what has to be written.
  std::optional<WrittenIterations> add(LoopEntry entry);

 private:
  std::map<LoopEntry, uint32_t> number_of_;
};

/// An iteration of a loop.
struct IterationOf {
  int64_t lower = 0;  // of the loop
  int64_t upper = 0;
  int64_t index = 0;
  friend auto operator<=>(const IterationOf&, const IterationOf&) = default;
};

/// The iterations that something is in, the outermost first. Loops are told apart by their bounds,
/// so those that meet are the same here.
using IterationsAround = std::vector<IterationOf>;

/// Iterations that must not be left out:
///  - Those of which a value is read outside. A loop with these is written in parts, one after the
///    other. Each part is a loop like any other, with iterations of its own to leave out: an
///    iteration that is kept is the last of its part. If a loop in it keeps some too, it differs
///    from those beside it, and is a part of its own. So the cost grows with the number of exits.
///  - Those that a loop which it meets writes: loops that meet must have the same iterations. So
///    what is kept is stored for all loops with the same bounds in the same iterations.
class KeptIterations {
 public:
  /// Keeps the innermost of `iterations`, and those around it.
  void add(IterationsAround iterations);
  bool empty() const { return kept_.empty(); }

  /// Where the parts of a loop end (exclusive), ascending; the last one is `upper`.
  std::vector<int64_t> ends(const IterationsAround& around, int64_t lower, int64_t upper) const;

  /// What a loop or a part of one writes at least.
  WrittenIterations least(int64_t lower, int64_t upper) const;
  void at_least(int64_t lower, int64_t upper, WrittenIterations written);

 private:
  struct LoopIn {
    IterationsAround around;
    int64_t lower, upper;
    friend auto operator<=>(const LoopIn&, const LoopIn&) = default;
  };
  std::map<LoopIn, std::map<int64_t, bool>> kept_;  // whether a loop in the iteration keeps some
  std::map<std::pair<int64_t, int64_t>, WrittenIterations> least_;  // by lower and upper
};

/// The iterations that were left out, and as many of those written before them as the window reads:
/// it reads their values in place of those left out. If such a value is also an output, it is held
/// to the end, and the storage of the left-out one would be missed.
class LeftOutIterations {
 public:
  /// Adds what was left out of a loop of the regions, by its index there, or of a part of it.
  void add(size_t loop, const WrittenLoop& written);
  bool empty() const { return loops_.empty(); }

  /// Those of them of which exits read a value.
  KeptIterations named_in(const Program& regions) const;

  /// Whether loops of the same bounds have others left out.
  bool differ() const { return differ_; }
  /// So that none of these loops writes fewer than another.
  void make_alike(KeptIterations& kept) const;

 private:
  struct Range {
    int64_t begin, end;  // left out, or of the last ones, which stand for these
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  bool has(size_t loop, int64_t index) const;

  std::map<size_t, std::set<Range>> loops_;
  std::map<std::pair<int64_t, int64_t>, WrittenIterations> most_;  // of loops of these bounds
  bool differ_ = false;
};

/// What one try to write a program has given.
struct WrittenOnce {
  std::optional<Unrolled> made;  // empty after an error
  Diagnostics errors{""};
  LeftOutIterations left_out;
  bool may_blame_left_out = false;      // the errors may be gone if fewer iterations are left out
  std::optional<Diagnostic> over_size;  // the error, if any, that the size is not allowed
};

/// Writes the iterations of a program (unroll.h), with those that are to be kept. Stops after an
/// error. `file`: the name for errors.
WrittenOnce written_once(const Program& program, LongLoops long_loops, const KeptIterations& kept,
                         const SiteRequests& requests, AllowedSize allowed,
                         const std::string& file);

}  // namespace orrery
