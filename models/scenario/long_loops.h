#pragma once

// How the reader treats loops of many iterations (models/program/loop.h).

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/program/loop.h"
#include "models/scenario/document.h"

namespace orrery {

/// Whether iterations of long loops may be left out of the program.
enum class LongLoops : uint8_t { LeftOut, WrittenOut };

/// How many iterations a loop has written out before and after those it leaves out.
struct WrittenIterations {
  uint32_t first = 0;
  uint32_t window = 0;
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
///  - Those that the scenario names. A loop with these is read as several, its parts, one after the
///    other. Each part is a loop like any other, with iterations of its own to leave out: an
///    iteration that is kept is the last of its part. If a loop in it keeps some too, it differs
///    from those beside it, and is a part of its own. So the cost grows with the number of names.
///  - Those that a loop which it meets writes out: loops that meet must have the same iterations.
///    So what is kept is stored for all loops with the same bounds in the same iterations.
class KeptIterations {
 public:
  /// Keeps the innermost of `iterations`, and those around it.
  void add(IterationsAround iterations);
  bool empty() const { return kept_.empty(); }

  /// Where the parts of a loop end (exclusive), ascending; the last one is `upper`.
  std::vector<int64_t> ends(const IterationsAround& around, int64_t lower, int64_t upper) const;

  /// What a loop or a part of one writes out at least.
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

/// The iterations that a reading left out. The last ones written before them count too. In the
/// program, the window reads their values in place of those of left-out iterations. If such a value
/// is also an output, it is held to the end, and the storage of the left-out one would be missed.
class LeftOutIterations {
 public:
  void add(const Loop& loop);
  bool empty() const { return loops_.empty(); }

  /// A loop, whether it leaves out iterations or not: its id, and its name in full.
  void saw(const std::string& id, const std::string& name, int64_t lower, int64_t upper);

  /// Whether a loop's id looks like a name in a loop ("l[0]", "l.m"). Then a text may name an
  /// iteration that named_in() does not find.
  bool names_are_unclear() const { return names_are_unclear_; }

  /// Those of them that any text of the document names, as "l[500].y" does.
  KeptIterations named_in(DocumentNode root) const;

  /// Whether loops of the same bounds have others left out.
  bool differ() const { return differ_; }
  /// So that none of these loops writes out fewer than another.
  void make_alike(KeptIterations& kept) const;

 private:
  struct Range {
    int64_t begin, end;  // left out, or of the last ones, which stand for these
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  void find_names(const std::string& text, KeptIterations& kept) const;
  void find_names(DocumentNode node, KeptIterations& kept) const;

  // By names without indices.
  std::map<std::string, std::pair<int64_t, int64_t>, std::less<>> bounds_;
  std::map<std::string, std::set<Range>, std::less<>> loops_;
  std::map<std::pair<int64_t, int64_t>, WrittenIterations> most_;  // of loops of these bounds
  bool differ_ = false;
  bool names_are_unclear_ = false;
};

}  // namespace orrery
