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

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/program/loops.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Whether messages of different iterations may meet on a link whose load is checked. Then
/// iterations are only added if enough of them before and after were run one by one.
enum class LoadCheck : uint8_t { No, Yes };

class Repeats {
 public:
  /// Holds the lists. All arguments must outlive this object.
  Repeats(const Program& program, const ProgramLists& lists, LoadCheck load, ListProgress& progress,
          std::vector<std::vector<OpSpan>>& spans);

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
