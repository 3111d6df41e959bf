#pragma once

// Loops that leave out iterations (models/program/loop.h), in the clocks of the devices. All lists
// of a group of loops run through what is written, and rest at the end of the last iteration. Then
// what they have just done is taken for the iteration before, and they run the last one again,
// until every iteration has been run. So nothing is copied, and at the end the window holds the
// times of the last iterations of all.
//
// Where each iteration of the window is the one before plus one and the same time, every later one
// is so too, since all causes of an iteration lie in the window: the rest is added at once.

#include <cstdint>
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

 private:
  /// The part of a group that is one thread's.
  struct Part {
    size_t loop = 0;
    std::vector<ListId> lists;
    uint32_t begin = 0;  // the instructions of the last iteration
    uint32_t end = 0;
  };
  struct Group {
    std::vector<Part> parts;
    std::vector<size_t> inner;  // the groups inside the last iteration
    uint64_t trips = 0;         // of what is left out
    uint64_t left = 0;          // of these, at the moment; 0: the lists may go past
    uint64_t alike = 0;         // iterations in a row that were the one before plus `period`
    Duration period;
  };

  bool rests(const Group& group) const;
  void hold(const Group& group);
  std::optional<Duration> period(const Group& group) const;
  uint64_t to_add(const Group& group) const;
  void add(Group& group, uint64_t iterations);
  void shift_window(const Group& group);
  void send_back(Group& group);
  template <class Visit>
  void for_each_span(const Part& part, Visit&& visit) const;

  const Program& program_;
  const ProgramLists& lists_;
  const LoadCheck load_;
  ListProgress& progress_;
  std::vector<std::vector<OpSpan>>& spans_;
  std::vector<Group> groups_;  // inner ones before those they are in
  std::vector<AddedIterations> added_;
};

}  // namespace orrery
