#include "simulator/time/repeats.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

/// The instruction after those of the op.
uint32_t end_of(const Program& program, const ProgramLists& lists, OpId id) {
  const Op& op = program.op(id);
  const bool both = rules(op.kind).family == Family::Collective && op.issue == Issue::Sync;
  return lists.instruction_of(id) + (both ? 2 : 1);
}

}  // namespace

Repeats::Repeats(const Program& program, const ProgramLists& lists, LoadCheck load,
                 ListProgress& progress, std::vector<std::vector<OpSpan>>& spans)
    : program_(program),
      lists_(lists),
      load_(load),
      progress_(progress),
      spans_(spans),
      added_(program.loops.size()) {
  if (!leaves_out_iterations(program))
    return;
  const auto groups = loop_groups(program);
  ORRERY_CHECK(groups.has_value(), "loops that meet have the same iterations");
  for (const LoopGroup& loops : *groups) {
    Group& group = groups_.emplace_back();
    for (const size_t l : loops) {
      const Loop& loop = program.loops[l];
      const IdRange& last = loop.last().ops;
      Part& part = group.parts.emplace_back();
      part.loop = l;
      for (uint32_t list = 0; list < lists.size(); ++list)
        if (lists[ListId(list)].thread == loop.thread)
          part.lists.emplace_back(list);
      part.begin = lists.instruction_of(OpId(last.begin));
      part.end = end_of(program, lists, OpId(last.end - 1));
      group.trips = group.left = loop.left_out();
    }
    const Part& part = group.parts.front();
    const IdRange& ops = program.loops[part.loop].last().ops;
    for (size_t g = 0; g + 1 < groups_.size(); ++g)
      if (ops.has(program.loops[groups_[g].parts.front().loop].last().ops.begin))
        group.inner.push_back(g);
  }
  for (const Group& group : groups_)
    hold(group);
}

std::vector<ListId> Repeats::at_rest() {
  for (Group& group : groups_) {
    if (group.left == 0 || !rests(group))
      continue;
    const std::optional<Duration> now = period(group);
    group.alike = now ? (group.alike > 0 && *now == group.period ? group.alike + 1 : 1) : 0;
    group.period = now.value_or(Duration());
    if (const uint64_t iterations = to_add(group))
      add(group, iterations);
    if (group.left > 0) {
      shift_window(group);
      send_back(group);
    }
    hold(group);
    std::vector<ListId> released;
    for (const Part& part : group.parts)
      released.insert(released.end(), part.lists.begin(), part.lists.end());
    return released;
  }
  return {};
}

bool Repeats::rests(const Group& group) const {
  for (const Part& part : group.parts)
    for (const ListId list : part.lists)
      if (!progress_.rests_before(list, part.end))
        return false;
  return true;
}

/// Each list of the group's threads at the first end of an iteration that is to be run again.
void Repeats::hold(const Group& group) {
  for (const Part& part : group.parts) {
    const ThreadId thread = program_.loops[part.loop].thread;
    uint32_t before = lists_.tape(thread).size();
    for (const Group& other : groups_)
      for (const Part& theirs : other.parts)
        if (other.left > 0 && program_.loops[theirs.loop].thread == thread)
          before = std::min(before, theirs.end);
    for (const ListId list : part.lists)
      progress_.hold(list, before);
  }
}

/// Calls `visit(span, before)` for each op of each iteration of the window but the first, on each
/// device, with the span of the same op in the iteration before, until it returns false.
template <class Visit>
void Repeats::for_each_span(const Part& part, Visit&& visit) const {
  const Loop& loop = program_.loops[part.loop];
  for (size_t w = loop.window_begin() + 1; w < loop.written.size(); ++w) {
    const uint32_t from = loop.written[w].ops.begin;
    const uint32_t before = loop.written[w - 1].ops.begin;
    for (uint32_t op = 0; op < loop.last().ops.size(); ++op)
      for (size_t place = 0; place < spans_[from + op].size(); ++place)
        if (!visit(spans_[from + op][place], spans_[before + op][place]))
          return;
  }
}

/// How much later each iteration of the window is than the one before; empty where they differ.
std::optional<Duration> Repeats::period(const Group& group) const {
  std::optional<Duration> period;
  bool same = true;
  for (const Part& part : group.parts)
    for_each_span(part, [&](const OpSpan& span, const OpSpan& before) {
      if (!period)
        period = span.end - before.end;
      same = same && span.reached - before.reached == *period &&
             span.start - before.start == *period && span.end - before.end == *period;
      return same;
    });
  return same ? period : std::nullopt;
}

/// How many iterations may be added without being run.
uint64_t Repeats::to_add(const Group& group) const {
  if (group.alike == 0)
    return 0;
  if (load_ == LoadCheck::No)
    return group.left;
  if (group.period == Duration())
    return 0;
  // The messages of an iteration may be under way while those of the next few are.
  std::optional<Instant> begin;
  Instant end;
  for (const Part& part : group.parts)
    for (uint32_t op = program_.loops[part.loop].last().ops.begin;
         op < program_.loops[part.loop].last().ops.end; ++op)
      for (const OpSpan& span : spans_[op]) {
        begin = begin ? std::min(*begin, span.start) : span.start;
        end = std::max(end, span.end);
      }
  const auto together =
      static_cast<uint64_t>((end - begin.value()).count() / group.period.count()) + 1;
  const uint64_t around = together + 2;
  return group.alike > around && group.left > around ? group.left - around : 0;
}

void Repeats::add(Group& group, uint64_t iterations) {
  const Duration later = group.period * static_cast<int64_t>(iterations);
  for (const Part& part : group.parts) {
    const Loop& loop = program_.loops[part.loop];
    for (size_t w = loop.window_begin(); w < loop.written.size(); ++w)
      for (uint32_t op = loop.written[w].ops.begin; op < loop.written[w].ops.end; ++op)
        for (OpSpan& span : spans_[op])
          span = {span.reached + later, span.start + later, span.end + later};
    added_[part.loop] = {iterations, group.period};
  }
  group.left -= iterations;
  group.alike = 0;
}

/// What was done last becomes the iteration before.
void Repeats::shift_window(const Group& group) {
  for (const Part& part : group.parts) {
    const Loop& loop = program_.loops[part.loop];
    for (size_t w = loop.window_begin(); w + 1 < loop.written.size(); ++w)
      for (uint32_t op = 0; op < loop.last().ops.size(); ++op)
        spans_[loop.written[w].ops.begin + op] = spans_[loop.written[w + 1].ops.begin + op];
  }
}

void Repeats::send_back(Group& group) {
  for (const Part& part : group.parts)
    for (const ListId list : part.lists)
      progress_.send_back(list, part.begin, part.end);
  --group.left;
  for (const size_t inner : group.inner) {
    groups_[inner].left = groups_[inner].trips;
    groups_[inner].alike = 0;
  }
}

}  // namespace orrery
