#include "models/program/kept_iterations.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace orrery {

namespace {

/// A Source says where a value that a body reads, or its buffer, comes from.
struct Source {
  enum class Kind : uint8_t { Made, Carried, Outside };
  Kind kind = Kind::Made;  // in the same iteration
  uint32_t carry = 0;      // if carried: which carry of the body's loop has it
  ValueId value = {};      // if it is from outside of the loop
};

/// A Chain follows a carry's value back from iteration to iteration, and so from one carry to
/// another. It ends at a carry that yields a value which no carry holds, or in a ring of carries
/// that only pass values on.
struct Chain {
  uint32_t length = 0;  // iterations until the carry holds `end`, or a value of the ring
  std::optional<Source> end = {};
  uint32_t ring = 0;  // which ring it ends in, if there is no `end`
  uint32_t at = 0;    // whose value in the ring it holds after `length` iterations
};

struct Chains {
  std::vector<Source> yielded;  // per carry
  std::vector<Chain> of;        // per carry
  std::vector<std::vector<uint32_t>> rings;
};

/// Follows values back through carries and exits.
class CarriedSources {
 public:
  explicit CarriedSources(const Program& program)
      : program_(program), owners_(program.buffers.size()), info_(program.values.size()) {
    for (size_t v = program.values.size(); v-- > 0;)
      owners_[program.values[v].buffer.index()] = ValueId(v);
    for (size_t l = 0; l < program.loops.size(); ++l) {
      const Loop& loop = program.loops[l];
      for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
        for (const ValueId result : program.ops[op].results)
          info_[result.index()].loop = l;  // inner loops come later and overwrite this
      for (uint32_t c = 0; c < loop.carries.size(); ++c) {
        info_[loop.carries[c].param.index()] = {l, Stands::Param, l, c};
        info_[loop.carries[c].result.index()] = {loop.around, Stands::Result, l, c};
      }
      for (uint32_t e = 0; e < loop.exits.size(); ++e)
        info_[loop.exits[e].outside.index()] = {loop.around, Stands::Exit, l, e};
    }
    // Inner loops go first, since an outer loop may yield what an inner one gives back.
    for (const bool storage : {false, true})
      chains_[storage ? 1 : 0].resize(program.loops.size());
    for (size_t l = program.loops.size(); l-- > 0;)
      for (const bool storage : {false, true})
        find_chains(l, storage);
  }

  WrittenIterations repeating(size_t loop) const {
    WrittenIterations repeating{0, 1, 1};
    uint32_t before = 0;  // iterations before the first that the others repeat
    for (const std::vector<Chains>& chains : chains_) {
      for (const Chain& chain : chains[loop].of) {
        before = std::max(before, chain.length);
        if (chain.end && chain.end->kind == Source::Kind::Made)
          repeating.reach = std::max(repeating.reach, chain.length);
      }
      for (const std::vector<uint32_t>& ring : chains[loop].rings)
        repeating.include({0, 0, static_cast<uint32_t>(ring.size())});
    }
    // Besides the iterations before the repetition, a period is written, so that the first
    // iterations have the peak memory of all. `reach` more are written, whose values stand for
    // those of iterations left out.
    const uint64_t first = uint64_t{before} + repeating.period + repeating.reach;
    repeating.first =
        static_cast<uint32_t>(std::min<uint64_t>(first, std::numeric_limits<uint32_t>::max()));
    return repeating;
  }

 private:
  enum class Stands : uint8_t { Itself, Param, Result, Exit };
  /// An Info has the loop in whose body a value is. For a carry or an exit it also has that one's
  /// loop, and its index there.
  struct Info {
    std::optional<size_t> loop;
    Stands stands = Stands::Itself;
    size_t of = 0;
    uint32_t index = 0;
  };

  bool is_in(std::optional<size_t> inner, size_t loop) const {
    while (inner && *inner > loop)
      inner = program_.loops[*inner].around;
    return inner == loop;
  }

  Source source(ValueId value, size_t loop, bool storage) const {
    for (;;) {
      if (storage)
        value = owners_[program_.value(value).buffer.index()];
      const Info& info = info_[value.index()];
      if (!is_in(info.loop, loop))
        return {Source::Kind::Outside, 0, value};
      if (info.stands == Stands::Itself)
        return {};
      if (info.stands == Stands::Param)
        return {Source::Kind::Carried, info.index, {}};
      const Loop& inner = program_.loops[info.of];
      const Source inside = info.stands == Stands::Result
                                ? after(info.of, info.index, trips(inner), storage)
                                : of_exit(info.of, inner.exits[info.index], storage);
      if (inside.kind == Source::Kind::Made)
        return inside;
      // The inner loop had the value from the body around it, where the search goes on.
      value =
          inside.kind == Source::Kind::Outside ? inside.value : inner.carries[inside.carry].initial;
    }
  }

  /// Returns the source of an exit in its own loop's body. A carry stands for its initial value.
  Source of_exit(size_t loop, const Exit& exit, bool storage) const {
    const Source inside = source(exit.inside, loop, storage);
    if (inside.kind != Source::Kind::Carried)
      return inside;
    return after(loop, inside.carry,
                 static_cast<uint64_t>(exit.iteration - program_.loops[loop].lower), storage);
  }

  static uint64_t trips(const Loop& loop) {
    return static_cast<uint64_t>(loop.upper) - static_cast<uint64_t>(loop.lower);
  }

  /// Returns the source of a carry after so many iterations. A carry stands for its initial value.
  Source after(size_t loop, uint32_t carry, uint64_t iterations, bool storage) const {
    const Chains& chains = chains_[storage ? 1 : 0][loop];
    const Chain& chain = chains.of[carry];
    if (iterations >= chain.length && chain.end)
      return *chain.end;
    if (iterations >= chain.length) {
      const std::vector<uint32_t>& ring = chains.rings[chain.ring];
      return {
          Source::Kind::Carried, ring[(chain.at + iterations - chain.length) % ring.size()], {}};
    }
    for (; iterations > 0; --iterations)
      carry = chains.yielded[carry].carry;
    return {Source::Kind::Carried, carry, {}};
  }

  void find_chains(size_t loop, bool storage) {
    Chains& chains = chains_[storage ? 1 : 0][loop];
    for (const Carry& carry : program_.loops[loop].carries)
      chains.yielded.push_back(source(carry.yielded, loop, storage));
    const size_t carries = chains.yielded.size();
    chains.of.resize(carries);
    std::vector<bool> seen(carries);
    for (uint32_t c = 0; c < carries; ++c) {
      std::vector<uint32_t> path;
      uint32_t at = c;
      while (!seen[at]) {
        seen[at] = true;
        path.push_back(at);
        if (chains.yielded[at].kind == Source::Kind::Carried)
          at = chains.yielded[at].carry;
      }
      if (path.empty())
        continue;
      const Source& last = chains.yielded[path.back()];
      const auto ring = std::find(path.begin(), path.end(), at);
      if (last.kind != Source::Kind::Carried) {
        chains.of[at] = {1, last};
        path.pop_back();
      } else if (ring != path.end()) {
        for (auto each = ring; each != path.end(); ++each)
          chains.of[*each] = {0,
                              {},
                              static_cast<uint32_t>(chains.rings.size()),
                              static_cast<uint32_t>(each - ring)};
        chains.rings.emplace_back(ring, path.end());
        path.erase(ring, path.end());
      }
      for (; !path.empty(); path.pop_back()) {
        chains.of[path.back()] = chains.of[chains.yielded[path.back()].carry];
        ++chains.of[path.back()].length;
      }
    }
  }

  const Program& program_;
  std::vector<ValueId> owners_;    // per buffer: the first value in it
  std::vector<Info> info_;         // per value
  std::vector<Chains> chains_[2];  // for values, and for their storage; per loop
};

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
  const CarriedSources sources(regions);
  std::vector<WrittenIterations> repeating;
  for (size_t l = 0; l < regions.loops.size(); ++l)
    repeating.push_back(sources.repeating(l));
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
