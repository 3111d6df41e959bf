#pragma once

// Loops that leave out iterations (models/program/loop.h), in the clocks of the devices. All lists
// of a group of loops run the written iterations, and stop at the end of the last one. Then the
// iteration just run counts as the one before, and they run the last one again, until every
// iteration has been run. So nothing is copied. At the end the window holds the times of the last
// iterations.
//
// If the window equals that of some iterations before, shifted by the same time everywhere, so does
// every later one, since all causes of an iteration lie in the window. The rest is then added at
// once.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/program/loops.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Where the load of links is checked: per thread its set of threads_by_shared_links(). Nobody
/// checks the messages of iterations that are added. So they may only meet each other, as they do
/// in iterations that are run, and enough are run before and after those added.
using LinkSets = std::optional<std::vector<uint32_t>>;

class Repeats {
 public:
  /// Holds the lists. All arguments must outlive this object.
  Repeats(const Program& program, const ProgramLists& lists, LinkSets link_sets,
          ListProgress& progress, std::vector<std::vector<OpSpan>>& spans);

  /// A collective has ended on the device of the list.
  void ended(ListId list, Instant at) {
    if (!groups_.empty())
      last_end_[list.index()] = std::max(last_end_[list.index()], at);
  }

  /// When nothing more can happen: sends the lists of one group at the end of its iteration back,
  /// or lets them pass. Empty if there is no such group.
  std::vector<ListId> at_rest();

  /// The iterations that were added and not run, per loop of the program.
  std::vector<AddedIterations> added() && { return std::move(added_); }
  std::vector<std::vector<OpTime>> left_out() && { return std::move(left_out_); }

 private:
  /// The part of a group in one thread.
  struct Part {
    size_t loop = 0;
    std::vector<ListId> lists;
    uint32_t begin = 0;  // the instructions of the last iteration
    uint32_t end = 0;
  };
  /// An iteration as a hash of its times, relative to its start.
  struct Shape {
    uint64_t hash = 0;
    Instant at;
  };
  /// A candidate cycle: a copy of the window, to be compared with the one `every` iterations later.
  struct Cycle {
    uint64_t every = 1;
    Duration later;
    uint64_t age = 0;   // iterations since the copies
    uint64_t seen = 0;  // how often in a row it has repeated
    std::vector<OpSpan> window;
    std::vector<std::vector<OpTime>> left_out;
  };
  struct Group {
    std::vector<Part> parts;
    std::vector<size_t> inner;  // the groups inside the last iteration
    uint32_t window = 0;
    uint64_t trips = 0;        // the number of iterations left out
    uint64_t left = 0;         // of these, still to run; 0: the lists may pass
    std::deque<Shape> shapes;  // of the last iterations, the newest first
    std::optional<Cycle> cycle;
    bool added = false;  // all that could be
    /// Whether only its own threads use the links that they use.
    bool alone = true;
    /// When all that its lists entered before the first repetition has ended.
    Instant others_end;
  };

  bool is_alone(const Group& group) const;
  bool rests(const Group& group) const;
  void hold(const Group& group);
  Shape shape(const Group& group) const;
  std::vector<OpSpan> window(const Group& group) const;
  std::optional<Cycle> find_cycle(const Group& group) const;
  bool repeats(const Group& group) const;
  uint64_t needed(const Group& group) const;
  void look_for_cycle(Group& group);
  bool may_add(const Group& group) const;
  void add(Group& group, uint64_t cycles);
  void shift_window(const Group& group);
  void send_back(Group& group);

  const Program& program_;
  const ProgramLists& lists_;
  const LinkSets link_sets_;
  ListProgress& progress_;
  std::vector<std::vector<OpSpan>>& spans_;
  std::vector<Group> groups_;      // inner ones before those they are in
  std::vector<Instant> last_end_;  // per list, of its collectives
  std::vector<AddedIterations> added_;
  std::vector<std::vector<OpTime>> left_out_;
};

}  // namespace orrery
