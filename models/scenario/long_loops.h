#pragma once

// How the reader treats loops of many iterations (models/program/loop.h).

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
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

/// Iterations that must not be left out:
///  - Those that the scenario names. A loop with these is read as several, one after the other,
///  each
///    with iterations of its own to leave out: an iteration that is kept is the last of one. So all
///    are loops like any other.
///  - Those that another loop writes out which this one meets. Loops that meet have to have the
///    same iterations, so all this is of every loop with the same bounds.
class KeptIterations {
 public:
  void add(int64_t lower, int64_t upper, int64_t index) { kept_[{lower, upper}].insert(index); }
  bool empty() const { return kept_.empty(); }

  /// Where the parts of a loop end (exclusive), ascending; the last one is `upper`.
  std::vector<int64_t> ends(int64_t lower, int64_t upper) const;

  /// What a loop or a part of one writes out at least.
  WrittenIterations least(int64_t lower, int64_t upper) const;
  void at_least(int64_t lower, int64_t upper, WrittenIterations written);

 private:
  std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> kept_;   // by lower and upper
  std::map<std::pair<int64_t, int64_t>, WrittenIterations> least_;  // likewise
};

/// The iterations that a reading left out. The last ones written before them count too. In the
/// program, the window reads their values in place of those of left-out iterations. If such a value
/// is also an output, it is held to the end, and the storage of the left-out one would be missed.
class LeftOutIterations {
 public:
  void add(const Loop& loop);
  bool empty() const { return loops_.empty(); }

  /// Those of them that any text of the document names, as "l[500].y" does.
  KeptIterations named_in(DocumentNode root) const;

  /// Whether loops of the same bounds have others left out.
  bool differ() const { return differ_; }
  /// So that none of these loops writes out fewer than another.
  void make_alike(KeptIterations& kept) const;

 private:
  struct Range {
    int64_t lower, upper;  // of the loop
    int64_t begin, end;    // left out, or standing for those
    friend bool operator<(const Range& a, const Range& b) {
      return std::tie(a.lower, a.upper, a.begin, a.end) <
             std::tie(b.lower, b.upper, b.begin, b.end);
    }
  };

  void find_names(const std::string& text, KeptIterations& kept) const;
  void find_names(DocumentNode node, KeptIterations& kept) const;

  std::map<std::string, std::set<Range>, std::less<>> loops_;      // by name without indices
  std::map<std::pair<int64_t, int64_t>, WrittenIterations> most_;  // of loops of these bounds
  bool differ_ = false;
};

}  // namespace orrery
