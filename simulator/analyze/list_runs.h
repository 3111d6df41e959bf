#pragma once

// A `ListRuns` looks up which ops ran in each list, and when.

#include <optional>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"
#include "simulator/time/origins.h"

namespace orrery {

/// It keeps references to its arguments.
class ListRuns {
 public:
  ListRuns(const Program& program, const Lowered& lowered, const Completion& completion)
      : lists_(program, lowered), completion_(completion) {}

  const ProgramLists& lists() const { return lists_; }
  uint32_t size() const { return lists_.size(); }
  const Tape& tape(ListId list) const { return lists_.tape(list); }
  LogicalId device(ListId list) const { return lists_[list].device; }

  /// Returns the span of the op in the list. Requires that the list has the op.
  const OpSpan& span(OpId op, ListId list) const {
    return completion_.spans[op.index()][lists_[list].device_index];
  }
  const OpSpan& span(OpId op, LogicalId device) const {
    return span(op, lists_.list_of(op, device));
  }
  /// Returns the time of all runs of the op: those that have a span and those that have none.
  OpTime all_runs(OpId op, ListId list) const {
    OpTime all = time_of(span(op, list));
    if (!completion_.not_kept.empty())
      all += completion_.not_kept[op.index()][lists_[list].device_index];
    return all;
  }
  const OpSpan& span(EnterRef entry) const { return span(lists_.op(entry), entry.list); }

  /// Returns the span of the run at a position.
  RunSpan run_at(ListId list, uint64_t position) const {
    return completion_.spans.at(tape(list), list, lists_[list].device_index, position);
  }

  Instant at(ListId list, Moment moment) const {
    const OpSpan* const own =
        completion_.spans.find(tape(list).run_at(moment.position), lists_[list].device_index);
    return instant_of(own != nullptr ? *own : run_at(list, moment.position).span, lists_, list,
                      moment);
  }

  /// Returns the cause that was met last. If several causes are met at one instant, this is the
  /// first that for_each_cause names. The result is empty for the first instruction of a list.
  /// `at(list, moment)` says when a moment happened.
  template <class At>
  std::optional<Moment> last_met(ListId list, Moment moment, At&& at) const {
    LastMet<Instant, Moment> last;
    for_each_cause(tape(list), moment, [&](Moment cause) {
      last.add({at(list, cause), cause});
      return true;
    });
    return last.origin();
  }
  std::optional<Moment> last_met(ListId list, Moment moment) const {
    return last_met(list, moment, [&](ListId of, Moment cause) { return at(of, cause); });
  }

 private:
  const ProgramLists lists_;
  const Completion& completion_;
};

}  // namespace orrery
