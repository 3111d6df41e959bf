#include "simulator/time/repeats.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "models/base/check.h"
#include "models/base/hash.h"

namespace orrery {

namespace {

constexpr size_t kLongestCycle = 64;  // iterations

}  // namespace

Repeats::Repeats(const Program& program, const ProgramLists& lists, RepeatOptions options,
                 ListProgress& progress, std::vector<std::vector<OpSpan>>& spans)
    : program_(program),
      lists_(lists),
      options_(std::move(options)),
      progress_(progress),
      spans_(spans),
      added_(program.written_loops.size()) {
  if (!leaves_out_iterations(program))
    return;
  last_end_.resize(lists.size());
  left_out_.resize(program.ops.size());
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order)
      left_out_[op.index()].resize(thread.devices.size());
  find_groups();
  find_stops();
  for (uint32_t t = 0; t < stops_.size(); ++t)
    hold(ThreadId(t));
}

void Repeats::find_groups() {
  const auto groups = loop_groups(program_);
  ORRERY_CHECK(groups.has_value(), "loops that meet have the same iterations");
  for (const LoopGroup& loops : *groups) {
    Group& group = groups_.emplace_back();
    for (const size_t l : loops) {
      const WrittenLoop& loop = program_.written_loops[l];
      const IdRange& last = loop.last().ops;
      ThreadPart& part = group.parts.emplace_back();
      part.loop = l;
      part.thread = loop.thread;
      part.begin = lists_.instruction_of(OpId(last.begin));
      part.end = lists_.end_of(OpId(last.end - 1));
      group.trips = group.left = loop.left_out();
      group.window = loop.window;
      group.runs += uint64_t{last.size()} * lists_of(part).size();
    }
    group.alone = is_alone(group);
    find_components(group);
  }
}

/// Lists meet in the collectives of the last iteration.
void Repeats::find_components(Group& group) const {
  std::vector<uint32_t> same;  // per list, part by part: one of its component that is not greater
  const auto least = [&](uint32_t list) {
    while (same[list] != list)
      list = same[list] = same[same[list]];
    return list;
  };
  std::map<CollectiveId, uint32_t> first;  // that enters it
  for (const ThreadPart& part : group.parts)
    for (const ListId list : lists_of(part)) {
      const auto one = static_cast<uint32_t>(same.size());
      same.push_back(one);
      for (uint32_t i = part.begin; i < part.end; ++i)
        if (lists_.tape(list)[i].kind == Instruction::Kind::Enter) {
          const CollectiveId collective = lists_.member({list, i}).collective;
          const uint32_t a = least(one);
          const uint32_t b = least(first.emplace(collective, one).first->second);
          same[std::max(a, b)] = std::min(a, b);
        }
    }
  std::vector<uint32_t> component;  // per list
  for (uint32_t list = 0; list < same.size(); ++list)
    component.push_back(least(list) == list ? group.components++ : component[least(list)]);
  auto next = component.begin();
  for (ThreadPart& part : group.parts) {
    const auto begin = std::exchange(next, next + static_cast<ptrdiff_t>(lists_of(part).size()));
    part.component.assign(begin, next);
  }
}

/// The first op of the repeated iteration.
OpId Repeats::first_op(const Group& group) const {
  return OpId(program_.written_loops[group.parts.front().loop].last().ops.begin);
}

void Repeats::find_stops() {
  stops_.resize(program_.threads.size());
  for (size_t g = 0; g < groups_.size(); ++g)
    for (size_t p = 0; p < groups_[g].parts.size(); ++p)
      stops_[groups_[g].parts[p].thread.index()].all.push_back({g, p});
  const auto part = [&](const Stop& stop) -> ThreadPart& {
    return groups_[stop.group].parts[stop.part];
  };
  for (Stops& stops : stops_) {
    std::sort(stops.all.begin(), stops.all.end(), [&](const Stop& a, const Stop& b) {
      return std::tie(part(a).end, part(b).begin) < std::tie(part(b).end, part(a).begin);
    });
    for (size_t s = 0; s < stops.all.size(); ++s) {
      ThreadPart& own = part(stops.all[s]);
      own.stop = own.first_inner = s;
      while (own.first_inner > 0 && part(stops.all[own.first_inner - 1]).begin >= own.begin)
        --own.first_inner;
    }
  }
}

bool Repeats::is_alone(const Group& group) const {
  if (!options_.link_sets)
    return true;
  const std::vector<uint32_t>& set_of = *options_.link_sets;
  std::set<ThreadId> own;
  std::set<uint32_t> sets;
  for (const ThreadPart& part : group.parts) {
    own.insert(part.thread);
    sets.insert(set_of[part.thread.index()]);
  }
  for (uint32_t t = 0; t < set_of.size(); ++t)
    if (sets.count(set_of[t]) > 0 && own.count(ThreadId(t)) == 0)
      return false;
  return true;
}

std::vector<ListId> Repeats::at_rest() {
  std::vector<size_t> resting;
  for (size_t t = 0; t < stops_.size(); ++t)
    if (const auto group = stopped_group(t);
        group && groups_[*group].parts.front().thread.index() == t && rests(*group))
      resting.push_back(*group);
  std::vector<ListId> released;
  for (const size_t g : resting) {
    go_on(groups_[g]);
    for (const ThreadPart& part : groups_[g].parts) {
      hold(part.thread);
      released.insert(released.end(), lists_of(part).begin(), lists_of(part).end());
    }
  }
  return released;
}

/// The group at whose end the lists of the thread are held.
std::optional<size_t> Repeats::stopped_group(size_t thread) const {
  const Stops& stops = stops_[thread];
  return stops.next < stops.all.size() ? std::optional(stops.all[stops.next].group) : std::nullopt;
}

/// Whether all its lists are at the end of an iteration, and all that they entered has ended.
bool Repeats::rests(size_t group) const {
  for (const ThreadPart& part : groups_[group].parts) {
    if (stops_[part.thread.index()].next != part.stop)
      return false;
    for (const ListId list : lists_of(part))
      if (!progress_.rests_before(list, part.end))
        return false;
  }
  return true;
}

void Repeats::go_on(Group& group) {
  if (!group.search) {
    group.search = std::make_unique<Search>();
    group.search->over = !group.alone;
    for (const ThreadPart& part : group.parts)
      for (const ListId list : lists_of(part))
        group.search->others_end = std::max(group.search->others_end, last_end_[list.index()]);
  }
  look_for_cycle(group);
  if (group.left > 0) {
    shift_window(group);
    send_back(group);
  }
  if (group.left == 0)
    group.search.reset();
}

/// Holds each list of the thread at the first end of an iteration that is to be repeated.
void Repeats::hold(ThreadId thread) {
  Stops& stops = stops_[thread.index()];
  while (stops.next < stops.all.size() && groups_[stops.all[stops.next].group].left == 0)
    ++stops.next;
  uint32_t before = lists_.tape(thread).size();
  if (stops.next < stops.all.size()) {
    const Stop& stop = stops.all[stops.next];
    before = groups_[stop.group].parts[stop.part].end;
  }
  for (const ListId list : lists_.lists_of(thread))
    progress_.hold(list, before);
}

template <class Visit>
void Repeats::for_each_op_of_window(const Group& group, Visit&& visit) const {
  for (const ThreadPart& part : group.parts) {
    const WrittenLoop& loop = program_.written_loops[part.loop];
    for (size_t w = loop.window_begin(); w < loop.written.size(); ++w)
      for (uint32_t op = loop.written[w].ops.begin; op < loop.written[w].ops.end; ++op)
        visit(part, op);
  }
}

template <class Visit>
void Repeats::for_each_op_of_last(const Group& group, Visit&& visit) const {
  for (const ThreadPart& part : group.parts) {
    const IdRange& ops = program_.written_loops[part.loop].last().ops;
    for (uint32_t op = ops.begin; op < ops.end; ++op)
      visit(part, op);
  }
}

/// The times of the iteration that has just run.
Repeats::TimesHash Repeats::hash_of_times(const Group& group) const {
  std::vector<std::optional<Instant>> start(group.components);
  Hasher hash;
  for_each_op_of_last(group, [&](const ThreadPart& part, uint32_t op) {
    for (size_t device = 0; device < spans_[op].size(); ++device) {
      const OpSpan& span = spans_[op][device];
      std::optional<Instant>& at = start[part.component[device]];
      if (!at)
        at = span.end;
      for (const Instant instant : {span.start, span.entered, span.end})
        hash.add(instant.picoseconds() - at->picoseconds());
    }
  });
  return {hash.word(), start.front().value()};
}

std::vector<OpSpan> Repeats::window(const Group& group) const {
  std::vector<OpSpan> all;
  for_each_op_of_window(group, [&](const ThreadPart&, uint32_t op) {
    all.insert(all.end(), spans_[op].begin(), spans_[op].end());
  });
  return all;
}

std::vector<OpTime> Repeats::left_out_so_far(const Group& group) const {
  std::vector<OpTime> all;
  for_each_op_of_last(group, [&](const ThreadPart&, uint32_t op) {
    all.insert(all.end(), left_out_[op].begin(), left_out_[op].end());
  });
  return all;
}

/// The shortest cycle that fits the hashes of the last iterations.
std::optional<Repeats::Cycle> Repeats::find_cycle(const Group& group) const {
  const std::vector<TimesHash>& hashes = group.search->hashes;
  const auto before = [&](size_t i) { return hashes[hashes.size() - 1 - i]; };
  for (size_t every = 1; every + group.window <= hashes.size(); ++every) {
    const Duration later = before(0).at - before(every).at;
    bool alike = true;
    for (size_t i = 0; i < group.window && alike; ++i)
      alike =
          before(i).hash == before(i + every).hash && before(i).at - before(i + every).at == later;
    if (alike)
      return Cycle{.every = every, .window = window(group), .left_out = left_out_so_far(group)};
  }
  return std::nullopt;
}

/// By how much the window is later than the cycle's, per component; empty if it does not equal it.
std::optional<std::vector<Duration>> Repeats::shift_of_window(const Group& group) const {
  std::vector<std::optional<Duration>> found(group.components);
  auto before = group.search->cycle->window.begin();
  bool equal = true;
  for_each_op_of_window(group, [&](const ThreadPart& part, uint32_t op) {
    for (size_t device = 0; equal && device < spans_[op].size(); ++device, ++before) {
      const OpSpan& span = spans_[op][device];
      std::optional<Duration>& later = found[part.component[device]];
      if (!later)
        later = span.end - before->end;
      equal = span.start == before->start + *later && span.entered == before->entered + *later &&
              span.end == before->end + *later;
    }
  });
  if (!equal)
    return std::nullopt;
  std::vector<Duration> later;
  for (const std::optional<Duration>& each : found)
    later.push_back(each.value());
  return later;
}

std::optional<Duration> Repeats::Cycle::common_later() const {
  return std::equal(later.begin() + 1, later.end(), later.begin()) ? std::optional(later.front())
                                                                   : std::nullopt;
}

/// How often the cycle must have repeated before cycles may be added, and how many must run after
/// those.
uint64_t Repeats::needed(const Group& group) const {
  if (!options_.link_sets)
    return 0;
  // The messages of an iteration may be in flight during the next few.
  const Cycle& cycle = *group.search->cycle;
  Instant first = cycle.window.front().entered;
  Instant end = cycle.window.front().end;
  for (const OpSpan& span : cycle.window) {
    first = std::min(first, span.entered);
    end = std::max(end, span.end);
  }
  return static_cast<uint64_t>((end - first).count() / cycle.common_later().value().count()) + 2;
}

/// Whether the messages of the next iterations meet no others than those of the cycle did. What the
/// lists enter after the loop does not meet them, since the last iterations are run.
bool Repeats::may_add(const Group& group) const {
  if (!options_.link_sets)
    return true;
  const Search& search = *group.search;
  if (*search.cycle->common_later() <= Duration() || search.cycle->seen <= needed(group))
    return false;
  return std::all_of(search.cycle->window.begin(), search.cycle->window.end(),
                     [&](const OpSpan& span) { return search.others_end <= span.entered; });
}

void Repeats::look_for_cycle(Group& group) {
  Search& search = *group.search;
  if (search.over)
    return;
  if (!search.cycle) {
    search.hashes.push_back(hash_of_times(group));
    if (search.hashes.size() > kLongestCycle + group.window)
      search.hashes.erase(search.hashes.begin());
    search.cycle = find_cycle(group);
    return;
  }
  if (++search.cycle->age < search.cycle->every)
    return;
  std::optional<std::vector<Duration>> later = shift_of_window(group);
  if (!later) {
    search.cycle.reset();
    search.hashes.clear();
    return;
  }
  search.cycle->later = std::move(*later);
  if (options_.link_sets && !search.cycle->common_later()) {
    search.over = true;  // from now on they drift apart, and their messages may meet
    search.cycle.reset();
    return;
  }
  ++search.cycle->seen;
  if (may_add(group)) {
    const uint64_t cycles = group.left / search.cycle->every;
    if (cycles > needed(group))
      on_behalf_of(first_op(group), [&] { add(group, cycles - needed(group)); });
    search.over = true;
    search.cycle.reset();
    return;
  }
  search.cycle->age = 0;
  search.cycle->window = window(group);
  search.cycle->left_out = left_out_so_far(group);
}

void Repeats::add(Group& group, uint64_t cycles) {
  const auto times = static_cast<int64_t>(cycles);
  const Cycle& cycle = *group.search->cycle;
  for_each_op_of_window(group, [&](const ThreadPart& part, uint32_t op) {
    for (size_t device = 0; device < spans_[op].size(); ++device) {
      OpSpan& span = spans_[op][device];
      const Duration later = cycle.later[part.component[device]] * times;
      span = {span.start + later, span.entered + later, span.end + later};
    }
  });
  auto before = cycle.left_out.begin();
  for_each_op_of_last(group, [&](const ThreadPart&, uint32_t op) {
    for (OpTime& all : left_out_[op]) {
      all.from_start += (all.from_start - before->from_start) * times;
      all.from_entered += (all.from_entered - before->from_entered) * times;
      ++before;
    }
  });
  for (const ThreadPart& part : group.parts)
    added_[part.loop] = {cycles * cycle.every, cycle.every, cycle.common_later()};
  group.left -= cycles * cycle.every;
}

/// The last run becomes the iteration before; the first iteration of the window loses its spans.
void Repeats::shift_window(const Group& group) {
  for (const ThreadPart& part : group.parts) {
    const WrittenLoop& loop = program_.written_loops[part.loop];
    const uint32_t first = loop.written[loop.window_begin()].ops.begin;
    for (uint32_t op = 0; op < loop.last().ops.size(); ++op)
      for (size_t device = 0; device < spans_[first + op].size(); ++device)
        left_out_[loop.last().ops.begin + op][device] += time_of(spans_[first + op][device]);
    for (size_t w = loop.window_begin(); w + 1 < loop.written.size(); ++w)
      for (uint32_t op = 0; op < loop.last().ops.size(); ++op)
        spans_[loop.written[w].ops.begin + op] = spans_[loop.written[w + 1].ops.begin + op];
  }
}

/// The last iteration runs again, and in it all iterations of the loops inside.
void Repeats::send_back(Group& group) {
  runs_ += static_cast<int64_t>(group.runs);
  if (runs_ > options_.most_runs) {
    Limits limits;
    limits.runs = options_.most_runs;
    throw TooManyRuns(first_op(group), beyond(limits, &Limits::runs, "more"));
  }
  --group.left;
  for (const ThreadPart& part : group.parts) {
    for (const ListId list : lists_of(part))
      progress_.send_back(list, part.begin, part.end);
    Stops& stops = stops_[part.thread.index()];
    stops.next = part.first_inner;
    for (size_t s = part.first_inner; s < part.stop; ++s)
      groups_[stops.all[s].group].left = groups_[stops.all[s].group].trips;
  }
}

}  // namespace orrery
