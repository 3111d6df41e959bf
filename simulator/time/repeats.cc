#include "simulator/time/repeats.h"

#include <set>
#include <utility>

#include "models/base/check.h"
#include "models/base/hash.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

constexpr size_t kLongestCycle = 64;  // iterations

/// The instruction after those of the op.
uint32_t end_of(const Program& program, const ProgramLists& lists, OpId id) {
  const Op& op = program.op(id);
  const bool both = rules(op.kind).family == Family::Collective && op.issue == Issue::Sync;
  return lists.instruction_of(id) + (both ? 2 : 1);
}

}  // namespace

Repeats::Repeats(const Program& program, const ProgramLists& lists, LinkSets link_sets,
                 ListProgress& progress, std::vector<std::vector<OpSpan>>& spans)
    : program_(program),
      lists_(lists),
      link_sets_(std::move(link_sets)),
      progress_(progress),
      spans_(spans),
      added_(program.loops.size()) {
  if (!leaves_out_iterations(program))
    return;
  last_end_.resize(lists.size());
  left_out_.resize(program.ops.size());
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order)
      left_out_[op.index()].resize(thread.devices.size());
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
      group.window = loop.window;
    }
    for (size_t g = 0; g + 1 < groups_.size(); ++g) {
      const OpId inside(program.loops[groups_[g].parts.front().loop].last().ops.begin);
      if (std::any_of(loops.begin(), loops.end(),
                      [&](size_t l) { return program.loops[l].last().ops.has(inside.index()); }))
        group.inner.push_back(g);
    }
  }
  for (Group& group : groups_) {
    group.alone = is_alone(group);
    hold(group);
  }
}

bool Repeats::is_alone(const Group& group) const {
  if (!link_sets_)
    return true;
  std::set<ThreadId> own;
  std::set<uint32_t> sets;
  for (const Part& part : group.parts) {
    own.insert(program_.loops[part.loop].thread);
    sets.insert((*link_sets_)[program_.loops[part.loop].thread.index()]);
  }
  for (uint32_t t = 0; t < link_sets_->size(); ++t)
    if (sets.count((*link_sets_)[t]) > 0 && own.count(ThreadId(t)) == 0)
      return false;
  return true;
}

std::vector<ListId> Repeats::at_rest() {
  for (Group& group : groups_) {
    if (group.left == 0 || !rests(group))
      continue;
    if (group.left == group.trips)
      for (const Part& part : group.parts)
        for (const ListId list : part.lists)
          group.others_end = std::max(group.others_end, last_end_[list.index()]);
    look_for_cycle(group);
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

/// Holds each list of the group's threads at the first end of an iteration that is to be repeated.
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

/// The shape of the iteration that has just run.
Repeats::Shape Repeats::shape(const Group& group) const {
  std::optional<Instant> at;
  Hasher hash;
  for (const Part& part : group.parts) {
    const IdRange& ops = program_.loops[part.loop].last().ops;
    for (uint32_t op = ops.begin; op < ops.end; ++op)
      for (const OpSpan& span : spans_[op]) {
        if (!at)
          at = span.end;
        for (const Instant instant : {span.reached, span.start, span.end})
          hash.add(instant.picoseconds() - at->picoseconds());
      }
  }
  return {hash.word(), at.value()};
}

std::vector<OpSpan> Repeats::window(const Group& group) const {
  std::vector<OpSpan> all;
  for (const Part& part : group.parts) {
    const Loop& loop = program_.loops[part.loop];
    for (size_t w = loop.window_begin(); w < loop.written.size(); ++w)
      for (uint32_t op = loop.written[w].ops.begin; op < loop.written[w].ops.end; ++op)
        all.insert(all.end(), spans_[op].begin(), spans_[op].end());
  }
  return all;
}

/// The shortest cycle that fits the shapes of the last iterations.
std::optional<Repeats::Cycle> Repeats::find_cycle(const Group& group) const {
  const std::deque<Shape>& shapes = group.shapes;
  for (size_t every = 1; every + group.window <= shapes.size(); ++every) {
    const Duration later = shapes[0].at - shapes[every].at;
    bool alike = true;
    for (size_t i = 0; i < group.window && alike; ++i)
      alike =
          shapes[i].hash == shapes[i + every].hash && shapes[i].at - shapes[i + every].at == later;
    if (alike)
      return Cycle{every, later, 0, 0, window(group), left_out_};
  }
  return std::nullopt;
}

/// Whether the window equals the cycle's, shifted in time.
bool Repeats::repeats(const Group& group) const {
  const std::vector<OpSpan> now = window(group);
  const Duration later = group.cycle->later;
  return std::equal(now.begin(), now.end(), group.cycle->window.begin(),
                    [&](const OpSpan& span, const OpSpan& before) {
                      return span.reached == before.reached + later &&
                             span.start == before.start + later && span.end == before.end + later;
                    });
}

/// How often the cycle must have repeated before cycles may be added, and how many must run after
/// those.
uint64_t Repeats::needed(const Group& group) const {
  if (!link_sets_)
    return 0;
  // The messages of an iteration may be in flight during the next few.
  const auto [first, last] =
      std::minmax_element(group.cycle->window.begin(), group.cycle->window.end(),
                          [](const OpSpan& a, const OpSpan& b) { return a.start < b.start; });
  Instant end = last->end;
  for (const OpSpan& span : group.cycle->window)
    end = std::max(end, span.end);
  return static_cast<uint64_t>((end - first->start).count() / group.cycle->later.count()) + 2;
}

void Repeats::look_for_cycle(Group& group) {
  if (group.added)
    return;
  if (!group.cycle) {
    group.shapes.push_front(shape(group));
    if (group.shapes.size() > kLongestCycle + group.window)
      group.shapes.pop_back();
    group.cycle = find_cycle(group);
    return;
  }
  if (++group.cycle->age < group.cycle->every)
    return;
  if (!repeats(group)) {
    group.cycle.reset();
    group.shapes.clear();
    return;
  }
  ++group.cycle->seen;
  const uint64_t cycles = group.left / group.cycle->every;
  if (may_add(group)) {
    if (cycles > needed(group))
      add(group, cycles - needed(group));
    group.added = true;
    group.cycle.reset();
    return;
  }
  group.cycle->age = 0;
  group.cycle->window = window(group);
  group.cycle->left_out = left_out_;
}

/// Whether the messages of the next iterations meet no others than those of the cycle did. What the
/// lists enter after the loop does not meet them, since the last iterations are run.
bool Repeats::may_add(const Group& group) const {
  if (!link_sets_)
    return true;
  if (!group.alone || group.cycle->later <= Duration() || group.cycle->seen <= needed(group))
    return false;
  const std::vector<OpSpan> now = window(group);
  return std::all_of(now.begin(), now.end(),
                     [&](const OpSpan& span) { return group.others_end <= span.start; });
}

void Repeats::add(Group& group, uint64_t cycles) {
  const auto times = static_cast<int64_t>(cycles);
  const Duration later = group.cycle->later * times;
  for (const Part& part : group.parts) {
    const Loop& loop = program_.loops[part.loop];
    for (size_t w = loop.window_begin(); w < loop.written.size(); ++w)
      for (uint32_t op = loop.written[w].ops.begin; op < loop.written[w].ops.end; ++op)
        for (OpSpan& span : spans_[op])
          span = {span.reached + later, span.start + later, span.end + later};
    for (uint32_t op = loop.last().ops.begin; op < loop.last().ops.end; ++op)
      for (size_t place = 0; place < left_out_[op].size(); ++place) {
        OpTime& all = left_out_[op][place];
        const OpTime& before = group.cycle->left_out[op][place];
        all.from_reached += (all.from_reached - before.from_reached) * times;
        all.from_start += (all.from_start - before.from_start) * times;
      }
    added_[part.loop] = {cycles * group.cycle->every, group.cycle->every, group.cycle->later};
  }
  group.left -= cycles * group.cycle->every;
}

/// The last run becomes the iteration before; the first iteration of the window loses its spans.
void Repeats::shift_window(const Group& group) {
  for (const Part& part : group.parts) {
    const Loop& loop = program_.loops[part.loop];
    const uint32_t first = loop.written[loop.window_begin()].ops.begin;
    for (uint32_t op = 0; op < loop.last().ops.size(); ++op)
      for (size_t place = 0; place < spans_[first + op].size(); ++place) {
        const OpSpan& span = spans_[first + op][place];
        OpTime& runs = left_out_[loop.last().ops.begin + op][place];
        runs.from_reached += span.end - span.reached;
        runs.from_start += span.end - span.start;
      }
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
    groups_[inner].shapes.clear();
    groups_[inner].cycle.reset();
    groups_[inner].added = false;
  }
}

}  // namespace orrery
