#include "models/program/loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "models/base/check.h"
#include "models/program/iteration_name.h"
#include "models/program/sides.h"

namespace orrery {

namespace {

constexpr uint64_t kMostRepetitions = std::numeric_limits<int64_t>::max();

uint64_t product(uint64_t a, uint64_t b) {
  return a > kMostRepetitions / b ? kMostRepetitions : a * b;
}

}  // namespace

Attributes index_attributes(int64_t index) {
  Attributes attributes;
  attributes.set("shape", std::vector<int64_t>());
  attributes.set("fill_value", static_cast<double>(index));
  attributes.set("dtype", Dtype::S32);
  return attributes;
}

bool leaves_out_iterations(const Program& program) {
  return std::any_of(program.written_loops.begin(), program.written_loops.end(),
                     [](const WrittenLoop& loop) { return loop.left_out() > 0; });
}

std::vector<uint64_t> repetitions(const Program& program) {
  std::vector<uint64_t> times(program.ops.size(), 1);
  for (const Loop& loop : program.loops)
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      times[op] = product(times[op], static_cast<uint64_t>(loop.upper - loop.lower));
  for (const WrittenLoop& loop : program.written_loops)
    for (uint32_t op = loop.last().ops.begin; op < loop.last().ops.end; ++op)
      times[op] = product(times[op], loop.left_out() + 1);
  return times;
}

Program with_trips(Program program, const LoopGroup& group, uint64_t trips) {
  for (const size_t l : group) {
    WrittenLoop& loop = program.written_loops[l];
    ORRERY_CHECK(trips >= loop.written.size(), "what is written runs");
    loop.upper = static_cast<int64_t>(static_cast<uint64_t>(loop.lower) + trips);
  }
  return program;
}

namespace {

/// Loops by where their last iterations begin.
class LoopsByBegin {
 public:
  explicit LoopsByBegin(const std::vector<WrittenLoop>& loops)
      : loops_(loops), order_(loops.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return begin(a) < begin(b) || (begin(a) == begin(b) && a < b);
    });
  }

  /// Those in the iteration of a loop, inner ones before those they are in.
  std::vector<size_t> inside(size_t loop, const LoopIteration& iteration) const {
    const auto at = [&](uint32_t op) {
      return std::partition_point(order_.begin(), order_.end(),
                                  [&](size_t l) { return begin(l) < op; });
    };
    std::vector<size_t> found(at(iteration.ops.begin), at(iteration.ops.end));
    // Those that the iteration is in may begin with it. They come after those inside them.
    std::erase_if(found, [&](size_t l) { return l >= loop; });
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  uint32_t begin(size_t loop) const { return loops_[loop].last().ops.begin; }

  const std::vector<WrittenLoop>& loops_;
  std::vector<size_t> order_;
};

/// Copies a program, and writes out some loops on the way. No loop inside those leaves out
/// iterations. One pass does, since operands come before the ops that read them.
class WritingOut {
 public:
  WritingOut(const Program& program, const LoopsByBegin& loops, std::vector<bool> chosen)
      : from_(program),
        loops_(loops),
        chosen_(std::move(chosen)),
        moved_(program.written_loops.size(), false),
        ops_(program.ops.size()),
        values_(program.values.size()),
        buffers_(program.buffers.size()) {
    for (size_t l = 0; l < program.written_loops.size(); ++l) {
      if (!chosen_[l])
        continue;
      const WrittenLoop& loop = program.written_loops[l];
      window_at_.emplace(loop.written[loop.window_begin()].ops.begin, l);
      for (size_t w = loop.window_begin(); w < loop.written.size(); ++w)
        for (const size_t inner : loops.inside(l, loop.written[w]))
          moved_[inner] = true;
    }
  }

  WrittenOut run() {
    to_.mesh = from_.mesh;
    for (const Argument& argument : from_.arguments)
      to_.arguments.push_back({copy_value(argument.value, nullptr), argument.on});
    for (const Thread& thread : from_.threads)
      copy_thread(thread);
    for (size_t l = 0; l < from_.written_loops.size(); ++l)
      copy_loop(l);
    for (const ValueId output : from_.outputs)
      to_.outputs.push_back(values_[output.index()]);
    for (const auto& [name, value] : from_.other_names)
      to_.other_names.emplace(name, values_[value.index()]);
    to_.empty_loops = from_.empty_loops;
    return {std::move(to_), std::move(copy_of_), std::move(ops_)};
  }

 private:
  /// Iteration `number` of a loop, from 0, as a copy of the last one.
  struct Copy {
    const WrittenLoop& loop;
    const std::vector<LoopIteration>& made;  // those before it
    size_t number = 0;
    LoopIteration iteration = {};

    /// The iteration that is as far before this one as written[w] is before the last; null for
    /// this one.
    const LoopIteration* shifted(size_t w) const {
      const size_t distance = loop.written.size() - 1 - w;
      return distance == 0 ? &iteration : &made[number - distance];
    }
    /// A name of the last iteration, or of what is in it.
    std::string renamed(const std::string& name) const {
      return orrery::renamed(name, loop.last().name, iteration.name);
    }
    /// The same of a site that the scenario named.
    std::string renamed_site(const std::string& name) const {
      return orrery::renamed(name, loop.last().site_suffix, iteration.site_suffix);
    }
  };

  void copy_thread(const Thread& thread) {
    to_.threads.push_back({thread.name, thread.devices, {}});
    for (size_t i = 0; i < thread.issue_order.size();) {
      const OpId op = thread.issue_order[i];
      const auto window = window_at_.find(static_cast<uint32_t>(op.index()));
      if (window == window_at_.end()) {
        ops_[op.index()] = copy_op(op, nullptr);
        ++i;
        continue;
      }
      const WrittenLoop& loop = from_.written_loops[window->second];
      i += loop.last().ops.end - op.index();
      write_out(loop, window->second);
    }
  }

  void write_out(const WrittenLoop& loop, size_t l) {
    const std::vector<size_t> inner = loops_.inside(l, loop.last());
    std::vector<LoopIteration> made;
    for (size_t w = 0; w < loop.window_begin(); ++w)
      made.push_back(copied(loop.written[w]));
    const uint64_t trips = loop.trips();
    for (size_t number = made.size(); number < trips; ++number) {
      Copy copy{loop, made, number};
      LoopIteration& now = copy.iteration;
      now.index = loop.lower + static_cast<int64_t>(number);
      now.name = with_index(loop.name, now.index);
      now.site_suffix = with_index(without_last_index(loop.last().site_suffix), now.index);
      now.ops.begin = static_cast<uint32_t>(to_.ops.size());
      now.values.begin = static_cast<uint32_t>(to_.values.size());
      now.buffers.begin = static_cast<uint32_t>(to_.buffers.size());
      for (uint32_t op = loop.last().ops.begin; op < loop.last().ops.end; ++op)
        copy_op(OpId(op), &copy);
      now.ops.end = static_cast<uint32_t>(to_.ops.size());
      now.values.end = static_cast<uint32_t>(to_.values.size());
      now.buffers.end = static_cast<uint32_t>(to_.buffers.size());
      copy_loops(copy, inner, inner_[l]);
      if (number + loop.window >= trips)
        stands_for(loop.written[loop.written.size() - (trips - number)], now);
      made.push_back(std::move(now));
    }
    made_[l] = std::move(made);
  }

  /// The iteration of the window is this one from now on.
  void stands_for(const LoopIteration& written, const LoopIteration& made) {
    for (uint32_t i = 0; i < made.ops.size(); ++i)
      ops_[written.ops.begin + i] = OpId(made.ops.begin + i);
    for (uint32_t i = 0; i < made.values.size(); ++i)
      values_[written.values.begin + i] = ValueId(made.values.begin + i);
    for (uint32_t i = 0; i < made.buffers.size(); ++i)
      buffers_[written.buffers.begin + i] = BufferId(made.buffers.begin + i);
  }

  OpId copy_op(OpId id, const Copy* copy) {
    Op op = from_.op(id);
    for (ValueId& operand : op.operands)
      operand = value_of(operand, copy);
    for (ValueId& donated : op.donated)
      donated = value_of(donated, copy);
    for (ValueId& result : op.results)
      result = copy_value(result, copy);
    if (op.forward)
      op.forward = ops_[op.forward->index()];
    const OpId now(to_.ops.size());
    if (op.site)
      op.site = enter_site(*op.site, id, now, copy);
    if (copy != nullptr) {
      op.name = copy->renamed(op.name);
      if (op.origin)
        op.origin->note = copy->renamed(op.origin->note);
      if (copy->loop.has_index && id.index() == copy->loop.last().ops.begin)
        op.attributes = index_attributes(copy->iteration.index);
    }
    to_.ops.push_back(std::move(op));
    copy_of_.push_back(id);
    to_.threads.back().issue_order.push_back(now);
    return now;
  }

  ValueId value_of(ValueId id, const Copy* copy) const {
    if (copy != nullptr)
      for (size_t w = copy->loop.window_begin(); w < copy->loop.written.size(); ++w)
        if (const IdRange& old = copy->loop.written[w].values; old.has(id.index()))
          return ValueId(copy->shifted(w)->values.begin + (id.index() - old.begin));
    return values_[id.index()];
  }

  ValueId copy_value(ValueId id, const Copy* copy) {
    Value value = from_.value(id);
    value.buffer = copy_buffer(value.buffer, copy);
    if (copy != nullptr)
      value.name = copy->renamed(value.name);
    else
      values_[id.index()] = ValueId(to_.values.size());
    to_.values.push_back(std::move(value));
    return ValueId(to_.values.size() - 1);
  }

  BufferId copy_buffer(BufferId id, const Copy* copy) {
    if (copy != nullptr)
      for (size_t w = copy->loop.window_begin(); w < copy->loop.written.size(); ++w)
        if (const IdRange& old = copy->loop.written[w].buffers; old.has(id.index())) {
          const uint32_t now = copy->shifted(w)->buffers.begin + (id.index() - old.begin);
          if (now == to_.buffers.size())
            to_.buffers.push_back(from_.buffer(id));
          return BufferId(now);
        }
    std::optional<BufferId>& known = buffers_[id.index()];
    if (!known) {
      known = BufferId(to_.buffers.size());
      to_.buffers.push_back(from_.buffer(id));
    }
    return *known;
  }

  /// `op` is to be a copy of `of`, which is at the site.
  SiteId enter_site(SiteId id, OpId of, OpId op, const Copy* copy) {
    const auto [site, added] =
        sites_.try_emplace({id, copy == nullptr ? 0 : copy->number + 1}, to_.sites.size());
    if (added) {
      const Site& old = from_.site(id);
      to_.sites.push_back({old.name, {}, old.groups, old.transfers});
      if (copy != nullptr) {
        const bool own = old.name.find(copy->loop.last().name) != std::string::npos;
        to_.sites.back().name = own ? copy->renamed(old.name) : copy->renamed_site(old.name);
      }
    }
    add_op(to_.sites[site->second.index()], to_, op, side_of(from_.op(of)));
    return site->second;
  }

  template <class Ids>
  static IdRange copied(IdRange range, const Ids& ids) {
    if (range.size() == 0)
      return {};
    return {index_of(ids[range.begin]), index_of(ids[range.end - 1]) + 1};
  }
  template <class Id>
  static uint32_t index_of(Id id) {
    return static_cast<uint32_t>(id.index());
  }
  static uint32_t index_of(std::optional<BufferId> id) { return index_of(id.value()); }

  LoopIteration copied(LoopIteration iteration) const {
    iteration.ops = copied(iteration.ops, ops_);
    iteration.values = copied(iteration.values, values_);
    iteration.buffers = copied(iteration.buffers, buffers_);
    return iteration;
  }

  /// Loops in the last iteration, as they are in the copy.
  void copy_loops(const Copy& copy, const std::vector<size_t>& loops,
                  std::vector<WrittenLoop>& copies) {
    const LoopIteration& last = copy.loop.last();
    const auto moved = [](IdRange range, IdRange from, IdRange to) {
      return IdRange{to.begin + (range.begin - from.begin), to.begin + (range.end - from.begin)};
    };
    for (const size_t l : loops) {
      WrittenLoop inner = from_.written_loops[l];
      inner.name = copy.renamed(inner.name);
      for (LoopIteration& each : inner.written) {
        each.name = copy.renamed(each.name);
        each.site_suffix = copy.renamed_site(each.site_suffix);
        each.ops = moved(each.ops, last.ops, copy.iteration.ops);
        each.values = moved(each.values, last.values, copy.iteration.values);
        each.buffers = moved(each.buffers, last.buffers, copy.iteration.buffers);
      }
      copies.push_back(std::move(inner));
    }
  }

  void copy_loop(size_t l) {
    if (moved_[l])
      return;  // is among the inner loops of the copies
    WrittenLoop loop = from_.written_loops[l];
    if (chosen_[l]) {
      for (WrittenLoop& inner : inner_[l])
        to_.written_loops.push_back(std::move(inner));
      loop.written = std::move(made_[l]);
    } else {
      for (LoopIteration& iteration : loop.written)
        iteration = copied(iteration);
    }
    to_.written_loops.push_back(std::move(loop));
  }

  const Program& from_;
  const LoopsByBegin& loops_;
  const std::vector<bool> chosen_;        // per loop: it is written out
  std::vector<bool> moved_;               // per loop: it is in the window of one of these
  std::map<uint32_t, size_t> window_at_;  // the chosen loops, by the first op of their windows
  std::vector<OpId> ops_;  // the new ids; of the window, once the loop is written out
  std::vector<ValueId> values_;
  std::vector<std::optional<BufferId>> buffers_;
  std::map<std::pair<SiteId, size_t>, SiteId> sites_;  // by old id and number of the copy, or 0
  std::map<size_t, std::vector<LoopIteration>> made_;  // per loop that is written out
  std::map<size_t, std::vector<WrittenLoop>> inner_;   // the same: the loops in its copies
  Program to_;
  std::vector<OpId> copy_of_;
};

/// Per loop: it leaves out iterations, and no loop in them does, nor one in those of the loops that
/// it meets.
std::vector<bool> innermost(const Program& program, const LoopsByBegin& loops) {
  const auto groups = loop_groups(program);
  ORRERY_CHECK(groups && !groups->empty(), "loops that meet have the same iterations");
  std::vector<bool> chosen(program.written_loops.size(), false);
  for (const LoopGroup& group : *groups) {
    const bool inner = std::none_of(group.begin(), group.end(), [&](size_t l) {
      const std::vector<LoopIteration>& written = program.written_loops[l].written;
      return std::any_of(written.begin(), written.end(), [&](const LoopIteration& iteration) {
        const std::vector<size_t> inside = loops.inside(l, iteration);
        return std::any_of(inside.begin(), inside.end(), [&](size_t other) {
          return program.written_loops[other].left_out() > 0;
        });
      });
    });
    for (const size_t l : group)
      chosen[l] = inner;
  }
  return chosen;
}

}  // namespace

WrittenOut written_out(const Program& program) {
  WrittenOut result{program, {}, {}};
  for (size_t op = 0; op < program.ops.size(); ++op)
    result.copy_of.emplace_back(op);
  result.op_of = result.copy_of;
  while (leaves_out_iterations(result.program)) {
    const LoopsByBegin loops(result.program.written_loops);
    std::vector<bool> chosen = innermost(result.program, loops);
    ORRERY_CHECK(std::find(chosen.begin(), chosen.end(), true) != chosen.end(),
                 "among loops that leave out iterations there is an innermost one");
    WrittenOut next = WritingOut(result.program, loops, std::move(chosen)).run();
    for (OpId& op : next.copy_of)
      op = result.copy_of[op.index()];
    for (OpId& op : result.op_of)
      op = next.op_of[op.index()];
    next.op_of = std::move(result.op_of);
    result = std::move(next);
  }
  return result;
}

}  // namespace orrery
