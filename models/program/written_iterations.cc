#include "models/program/written_iterations.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "models/program/iterations.h"

namespace orrery {

namespace {

/// A Chain follows a carry's value back from iteration to iteration, and so from one carry to
/// another. It ends at a carry that yields a value which no carry holds, or in a ring of carries
/// that only pass values on.
struct Chain {
  uint32_t length = 0;  // iterations until the carry holds a value of the end or of the ring
  bool made = false;    // the body makes the value at the end
};

/// Returns the chain of each carry, given what each carry yields. Adds the sizes of the rings to
/// `repeating`.
std::vector<std::optional<Chain>> chains(const std::vector<BodySource>& yielded,
                                         Recurrence& repeating) {
  std::vector<std::optional<Chain>> of(yielded.size());
  std::vector<bool> on_path(yielded.size(), false);
  for (uint32_t c = 0; c < yielded.size(); ++c) {
    std::vector<uint32_t> path;
    uint32_t at = c;
    while (!of[at] && !on_path[at]) {
      if (yielded[at].kind == BodySource::Kind::Carry) {
        path.push_back(at);
        on_path[at] = true;
        at = yielded[at].carry;
      } else {
        of[at] = {1, yielded[at].kind == BodySource::Kind::Body};
      }
    }
    if (!of[at]) {
      const auto ring = std::find(path.begin(), path.end(), at);
      repeating.include({0, 0, static_cast<uint32_t>(path.end() - ring)});
      for (auto each = ring; each != path.end(); ++each)
        of[*each] = Chain();
      path.erase(ring, path.end());
    }
    for (; !path.empty(); path.pop_back()) {
      const Chain& next = *of[yielded[path.back()].carry];
      of[path.back()] = {next.length + 1, next.made};
    }
  }
  return of;
}

Recurrence recurrence(const Iterations& iterations, uint32_t l, const Loop& loop) {
  Recurrence repeating{0, 1, 1};
  if (loop.upper == loop.lower)
    return repeating;
  for (const Iterations::Of of : {Iterations::Of::Value, Iterations::Of::Storage}) {
    std::vector<BodySource> yielded;
    for (const Carry& carry : loop.carries)
      yielded.push_back(iterations.in_body(l, carry.yielded, of));
    for (const std::optional<Chain>& chain : chains(yielded, repeating)) {
      repeating.before = std::max(repeating.before, chain->length);
      if (chain->made)
        repeating.reach = std::max(repeating.reach, chain->length);
    }
  }
  return repeating;
}

}  // namespace

void Recurrence::include(const Recurrence& other) {
  constexpr uint64_t kNone = std::numeric_limits<uint32_t>::max();  // longer than any loop
  before = std::max(before, other.before);
  reach = std::max(reach, other.reach);
  period =
      static_cast<uint32_t>(std::min(kNone, std::lcm(uint64_t{period}, uint64_t{other.period})));
}

std::vector<Recurrence> recurrences(const Program& regions) {
  const Iterations iterations(regions);
  std::vector<Recurrence> repeating;
  for (uint32_t l = 0; l < regions.loops.size(); ++l)
    repeating.push_back(recurrence(iterations, l, regions.loops[l]));
  return repeating;
}

namespace {

/// Returns the loops that meet: those around the ops of one site that are equally deep, ascending.
/// Ops in different numbers of loops never meet.
std::set<std::vector<size_t>> meeting_loops(const Program& regions) {
  std::vector<std::optional<size_t>> innermost(regions.ops.size());
  for (size_t l = 0; l < regions.loops.size(); ++l)
    for (uint32_t op = regions.loops[l].ops.begin; op < regions.loops[l].ops.end; ++op)
      innermost[op] = l;  // inner loops come later and overwrite this
  std::set<std::vector<size_t>> meeting;
  for (const Site& site : regions.sites) {
    std::map<size_t, std::set<std::vector<size_t>>> nests;  // by depth; the innermost loop first
    for (const OpId op : site.ops) {
      std::vector<size_t> nest;
      for (auto l = innermost[op.index()]; l; l = regions.loops[*l].around)
        nest.push_back(*l);
      nests[nest.size()].insert(std::move(nest));
    }
    for (const auto& [depth, alike] : nests)
      for (size_t at = 0; alike.size() > 1 && at < depth; ++at) {
        std::set<size_t> loops;
        for (const std::vector<size_t>& nest : alike)
          loops.insert(nest[at]);
        meeting.emplace(loops.begin(), loops.end());
      }
  }
  return meeting;
}

/// Returns, per loop, the first of the loops that leave out the same iterations: itself, or one
/// that meets it.
std::vector<size_t> firsts_of_meeting(const Program& regions) {
  std::vector<size_t> to(regions.loops.size());  // another loop that is alike, at last itself
  std::iota(to.begin(), to.end(), size_t{0});
  const auto first = [&](size_t l) {
    while (to[l] != l)
      l = to[l];
    return l;
  };
  if (regions.threads.size() > 1)  // in a program of one thread no loops meet
    for (const std::vector<size_t>& meeting : meeting_loops(regions))
      for (const size_t l : meeting) {
        const auto [lesser, greater] = std::minmax({first(l), first(meeting.front())});
        to[greater] = lesser;
      }
  for (size_t l = 0; l < to.size(); ++l)
    to[l] = first(l);
  return to;
}

uint64_t distance(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

/// Returns whether an iteration that an exit reads must be apart from the others. It need not if it
/// neither has copies nor stands for iterations left out that others read, or that read others.
bool must_be_apart(const Loop& loop, const Recurrence& recurrence, int64_t iteration) {
  const uint64_t alike = std::max(recurrence.reach, recurrence.period);
  return distance(loop.lower, iteration) + alike >= recurrence.first() &&
         distance(iteration, loop.upper) > recurrence.reach;
}

/// Adds the ranges of the iterations from `begin` to before `end`, which repeat by themselves.
void add_ranges(const Recurrence& recurrence, int64_t begin, int64_t end,
                std::vector<WrittenRange>& ranges) {
  const uint64_t trips = distance(begin, end);
  const uint64_t period = recurrence.period;
  if (trips < recurrence.first() + recurrence.last() + period) {
    ranges.push_back({begin, end, 0});
    return;
  }
  const uint64_t repeating = trips - recurrence.first() - recurrence.last();
  const auto copied_end = static_cast<int64_t>(recurrence.first() + repeating % period) + begin;
  const int64_t copied = copied_end - static_cast<int64_t>(period);
  ranges.push_back({begin, copied, 0});
  ranges.push_back({copied, copied_end, repeating / period});
  ranges.push_back({end - static_cast<int64_t>(recurrence.last()), end, 0});
}

}  // namespace

std::vector<WrittenIterations> written_iterations(const Program& regions) {
  const std::vector<size_t> first_of = firsts_of_meeting(regions);
  std::vector<Recurrence> recurrence = recurrences(regions);
  for (size_t l = 0; l < first_of.size(); ++l)
    recurrence[first_of[l]].include(recurrence[l]);
  std::vector<std::set<int64_t>> begins(first_of.size());  // of iterations that repeat anew
  for (size_t l = 0; l < first_of.size(); ++l) {
    const Loop& loop = regions.loops[l];
    std::set<int64_t>& of_meeting = begins[first_of[l]];
    of_meeting.insert({loop.lower, loop.upper});
    for (const Exit& exit : loop.exits)
      if (must_be_apart(loop, recurrence[first_of[l]], exit.iteration))
        of_meeting.insert({exit.iteration, exit.iteration + 1});
  }
  std::vector<WrittenIterations> written;
  for (size_t l = 0; l < first_of.size(); ++l) {
    const Loop& loop = regions.loops[l];
    WrittenIterations& of = written.emplace_back(WrittenIterations{recurrence[first_of[l]], {}});
    const std::set<int64_t>& all = begins[first_of[l]];
    for (auto begin = all.find(loop.lower); *begin < loop.upper;) {
      const auto end = std::next(begin);
      add_ranges(of.recurrence, *begin, *end, of.ranges);
      begin = end;
    }
  }
  return written;
}

}  // namespace orrery
