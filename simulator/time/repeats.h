#pragma once

// Loops that leave out iterations (models/program/loop.h), in the clocks of the devices. All lists
// of a group of loops run through what is written, and rest at the end of the last iteration. Then
// what they have just done is taken for the iteration before, and they run the last one again,
// until every iteration has been run. So nothing is copied, and at the end the window holds the
// times of the last iterations of all.
//
// Where the window is what it was some iterations before, plus one and the same time, every later
// one is so too, since all causes of an iteration lie in the window: the rest is added at once.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/program/loops.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Whether messages of different iterations may meet on a link whose load is being checked: then
/// iterations are only added where enough of them before and after have been run one by one.
enum class LoadCheck : uint8_t { No, Yes };

class Repeats {
 public:
  /// Holds the lists. All must outlive this.
  Repeats(const Program& program, const ProgramLists& lists, LoadCheck load, ListProgress& progress,
          std::vector<std::vector<OpSpan>>& spans);

  /// Once nothing more can happen: the lists of one group that may go on, which are at the end of
  /// its iteration, have been sent back, or are let past. Empty where there is none.
  std::vector<ListId> at_rest();

  /// The iterations that were added and not run, per loop of the program.
  std::vector<AddedIterations> added() && { return std::move(added_); }
  std::vector<std::vector<OpTime>> left_out() && { return std::move(left_out_); }

 private:
  /// The part of a group that is one thread's.
  struct Part {
    size_t loop = 0;
    std::vector<ListId> lists;
    uint32_t begin = 0;  // the instructions of the last iteration
    uint32_t end = 0;
  };
  /// An iteration: its times, but for when it was, as a hash.
  struct Shape {
    uint64_t hash = 0;
    Instant at;
  };
  /// What may repeat: the window as it was, to be compared with the one `every` iterations later.
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
    uint64_t trips = 0;        // of what is left out
    uint64_t left = 0;         // of these, at the moment; 0: the lists may go past
    std::deque<Shape> shapes;  // of the last iterations, the newest first
    std::optional<Cycle> cycle;
    bool added = false;  // all that could be
  };

  bool rests(const Group& group) const;
  void hold(const Group& group);
  Shape shape(const Group& group) const;
  std::vector<OpSpan> window(const Group& group) const;
  std::optional<Cycle> find_cycle(const Group& group) const;
  bool repeats(const Group& group) const;
  uint64_t needed(const Group& group) const;
  void look_for_cycle(Group& group);
  void add(Group& group, uint64_t cycles);
  void shift_window(const Group& group);
  void send_back(Group& group);

  const Program& program_;
  const ProgramLists& lists_;
  const LoadCheck load_;
  ListProgress& progress_;
  std::vector<std::vector<OpSpan>>& spans_;
  std::vector<Group> groups_;  // inner ones before those they are in
  std::vector<AddedIterations> added_;
  std::vector<std::vector<OpTime>> left_out_;
};

}  // namespace orrery
