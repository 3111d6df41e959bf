#include "models/program/kept_iterations.h"

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
                                         WrittenIterations& repeating) {
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

WrittenIterations repeating_iterations(const Iterations& iterations, uint32_t l, const Loop& loop) {
  WrittenIterations repeating{0, 1, 1};
  if (loop.upper == loop.lower)
    return repeating;
  uint32_t before = 0;  // iterations before the first that the others repeat
  for (const Iterations::Of of : {Iterations::Of::Value, Iterations::Of::Storage}) {
    std::vector<BodySource> yielded;
    for (const Carry& carry : loop.carries)
      yielded.push_back(iterations.in_body(l, carry.yielded, of));
    for (const std::optional<Chain>& chain : chains(yielded, repeating)) {
      before = std::max(before, chain->length);
      if (chain->made)
        repeating.reach = std::max(repeating.reach, chain->length);
    }
  }
  // Besides the iterations before the repetition, a period is written, so that the first iterations
  // have the peak memory of all. `reach` more are written, whose values stand for those of
  // iterations left out.
  const uint64_t first = uint64_t{before} + repeating.period + repeating.reach;
  repeating.first =
      static_cast<uint32_t>(std::min<uint64_t>(first, std::numeric_limits<uint32_t>::max()));
  return repeating;
}

}  // namespace

void WrittenIterations::include(const WrittenIterations& other) {
  constexpr uint64_t kNone = std::numeric_limits<uint32_t>::max();  // longer than any loop
  first = std::max(first, other.first);
  reach = std::max(reach, other.reach);
  period =
      static_cast<uint32_t>(std::min(kNone, std::lcm(uint64_t{period}, uint64_t{other.period})));
}

void WrittenIterations::set_in(WrittenLoop& made) const {
  const uint64_t kept_last = uint64_t{reach} + period;
  if (first + kept_last + period > made.trips())
    return;
  made.kept_first = first + static_cast<uint32_t>((made.trips() - first - kept_last) % period);
  made.kept_last = static_cast<uint32_t>(kept_last);
  made.period = period;
}

std::vector<WrittenIterations> repeating_iterations(const Program& regions) {
  const Iterations iterations(regions);
  std::vector<WrittenIterations> repeating;
  for (uint32_t l = 0; l < regions.loops.size(); ++l)
    repeating.push_back(repeating_iterations(iterations, l, regions.loops[l]));
  return repeating;
}

namespace {

/// Returns any iterations of the loops around this one.
IterationsAround any_around(const Program& regions, const Loop& loop) {
  IterationsAround around;
  for (std::optional<size_t> l = loop.around; l; l = regions.loops[*l].around)
    around.insert(around.begin(), {regions.loops[*l].lower, regions.loops[*l].upper, {}});
  return around;
}

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

}  // namespace

KeptIterations::KeptIterations(const Program& regions) : repeating_(repeating_iterations(regions)) {
  if (regions.threads.size() > 1) {  // in a program of one thread no loops meet
    repeat_alike(regions);
    part_where_others_end(regions);
  }
  std::map<ValueId, std::pair<const Loop*, const Exit*>> exits;  // by what is read outside
  for (const Loop& loop : regions.loops)
    for (const Exit& exit : loop.exits)
      exits.emplace(exit.outside, std::pair(&loop, &exit));
  std::set<ValueId> read;  // in any body
  for (const Op& op : regions.ops)
    read.insert(op.operands.begin(), op.operands.end());
  for (const Loop& loop : regions.loops)
    for (const Carry& carry : loop.carries)
      read.insert({carry.initial, carry.yielded});
  for (const Loop& loop : regions.loops) {
    const IterationsAround around = any_around(regions, loop);
    for (const Exit& outer : loop.exits) {
      if (loop.around && !read.contains(outer.outside))
        continue;
      IterationsAround iterations = around;
      for (auto exit = exits.find(outer.outside); exit != exits.end();
           exit = exits.find(exit->second.second->inside)) {
        const auto& [in, of] = exit->second;
        iterations.push_back({in->lower, in->upper, of->iteration});
        if (must_keep(static_cast<size_t>(in - regions.loops.data()), *in, *of))
          add(iterations);
      }
    }
  }
}

void KeptIterations::repeat_alike(const Program& regions) {
  std::vector<size_t> alike(regions.loops.size());  // per loop: one that is alike, at last itself
  const auto least = [&](size_t l) {
    while (alike[l] != l)
      l = alike[l];
    return l;
  };
  const auto join = [&](size_t a, size_t b) {
    const auto [lesser, greater] = std::minmax({least(a), least(b)});
    alike[greater] = lesser;
  };
  std::map<std::pair<int64_t, int64_t>, size_t> by_bounds;
  for (size_t l = 0; l < regions.loops.size(); ++l) {
    alike[l] = l;
    join(l,
         by_bounds.try_emplace({regions.loops[l].lower, regions.loops[l].upper}, l).first->second);
  }
  for (const std::vector<size_t>& meeting : meeting_loops(regions))
    for (const size_t l : meeting)
      join(meeting.front(), l);
  for (size_t l = 0; l < regions.loops.size(); ++l)
    repeating_[least(l)].include(repeating_[l]);
  for (size_t l = 0; l < regions.loops.size(); ++l)
    repeating_[l] = repeating_[least(l)];
}

void KeptIterations::part_where_others_end(const Program& regions) {
  for (const std::vector<size_t>& meeting : meeting_loops(regions)) {
    std::set<int64_t> bounds;
    for (const size_t l : meeting)
      bounds.insert({regions.loops[l].lower, regions.loops[l].upper});
    for (const size_t l : meeting) {
      const Loop& loop = regions.loops[l];
      WrittenLoop whole;
      whole.lower = loop.lower;
      whole.upper = loop.upper;
      repeating_[l].set_in(whole);
      if (whole.kept_last == 0)
        continue;  // all of its iterations are written
      for (const int64_t bound : bounds)
        if (loop.lower < bound && bound < loop.upper)
          kept_[{any_around(regions, loop), loop.lower, loop.upper}].emplace(bound - 1, false);
    }
  }
}

bool KeptIterations::must_keep(size_t l, const Loop& loop, const Exit& exit) const {
  WrittenLoop whole;
  whole.lower = loop.lower;
  whole.upper = loop.upper;
  repeating_[l].set_in(whole);
  // A part has at least this many first iterations. How many more it has depends on its end.
  return whole.kept_last > 0 &&
         loop.lower + repeating_[l].first - repeating_[l].reach <= exit.iteration &&
         exit.iteration < loop.upper - whole.kept_last;
}

void KeptIterations::add(IterationsAround iterations) {
  for (bool around = false; !iterations.empty() && iterations.back().index; around = true) {
    const IterationOf last = iterations.back();
    iterations.pop_back();
    kept_[{iterations, last.lower, last.upper}][*last.index] |= around;
  }
}

std::vector<int64_t> KeptIterations::ends(IterationsAround around, int64_t lower,
                                          int64_t upper) const {
  std::set<int64_t> ends = {upper};
  // Iterations may be kept for one iteration of a loop around, or for any. So the indices of the
  // loops around are dropped one after another, the outermost first.
  for (size_t any = 0;; ++any) {
    if (const auto found = kept_.find({around, lower, upper}); found != kept_.end())
      for (const auto& [index, keeps_inside] : found->second) {
        ends.insert(index + 1);
        if (keeps_inside && index > lower)
          ends.insert(index);
      }
    if (any == around.size())
      break;
    around[any].index.reset();
  }
  return {ends.begin(), ends.end()};
}

}  // namespace orrery
