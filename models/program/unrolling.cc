#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/iteration_name.h"
#include "models/program/iterations.h"
#include "models/program/loops.h"
#include "models/program/sides.h"
#include "models/program/unroll.h"
#include "models/program/written_iterations.h"

namespace orrery {

namespace {

/// An Unrolling writes a program once. It stops after an error.
class Unrolling {
 public:
  Unrolling(const Program& program, LongLoops long_loops,
            const std::vector<WrittenIterations>& of_loops, const SiteRequests& requests,
            AllowedSize allowed, Diagnostics diagnostics)
      : from_(program),
        long_loops_(long_loops),
        of_loops_(of_loops),
        requests_(requests),
        allowed_(allowed),
        diagnostics_(std::move(diagnostics)),
        sites_(to_, diagnostics_),
        made_(program.ops.size()),
        now_(program.values.size()),
        owners_(program.buffers.size()),
        inner_(program.loops.size()),
        index_(program.loops.size()) {
    for (size_t v = program.values.size(); v-- > 0;)
      owners_[program.values[v].buffer.index()] = ValueId(v);
    for (size_t l = 0; l < program.loops.size(); ++l) {
      const Loop& loop = program.loops[l];
      (loop.around ? inner_[*loop.around] : outermost_).push_back(l);
      for (const Exit& exit : loop.exits)
        exits_.emplace(exit.inside, std::pair(l, &exit));
    }
    for (const auto& [name, value] : program.other_names)
      other_names_.emplace(value, name);
  }

  Unrolling(const Unrolling&) = delete;
  Unrolling& operator=(const Unrolling&) = delete;

  void run() {
    to_.mesh = from_.mesh;
    to_.numerics = from_.numerics;
    to_.empty_loops = from_.empty_loops;
    to_.reshards = from_.reshards;
    for (const Argument& argument : from_.arguments) {
      write_value(argument.value, from_.value(argument.value).name);
      to_.arguments.push_back({now(argument.value), argument.on});
    }
    for (const Thread& thread : from_.threads)
      count(thread);
    for (size_t t = 0; t < from_.threads.size(); ++t)
      if (!write_thread(ThreadId(t)))
        return;
    for (const ValueId output : from_.outputs)
      to_.outputs.push_back(now(output));
    copy_written_loops();
    for (const auto& [value, name] : other_names_)
      if (now_[value.index()] && name.find(kAnyIndex) == name.npos)
        to_.other_names.emplace(name, now(value));
    written_ = true;
    to_.sites = sites_.finish();
    if (leaves_out_ && diagnostics_.empty() && misses_left_out())
      diagnostics_.add("the loops that meet have different iterations");
  }

  /// Returns the written program, or nothing after an error. May be called once.
  std::optional<Unrolled> take() {
    if (!written_ || !diagnostics_.empty())
      return std::nullopt;
    return Unrolled{std::move(to_), std::move(runs_), std::move(now_)};
  }

  const Diagnostics& diagnostics() const { return diagnostics_; }
  bool leaves_out() const { return leaves_out_; }
  /// Returns whether the errors may be gone if no iteration is left out.
  bool may_blame_left_out() const { return written_ && leaves_out_; }
  /// Returns the error, if any, that the size is not allowed.
  const std::optional<Diagnostic>& over_size() const { return over_size_; }

 private:
  /// An Around is an iteration that is being written.
  struct Around {
    std::string body;  // "l[]"
    std::string name;  // "l[3]"
    std::string site_suffix;
  };

  ValueId now(ValueId value) const {
    const std::optional<ValueId> now = now_[value.index()];
    ORRERY_CHECK(now.has_value(), "what is read was made before");
    return *now;
  }

  /// Sets the written value for `value`, and for its exits from this iteration, from here on.
  void set(ValueId value, ValueId now) {
    now_[value.index()] = now;
    const auto [begin, past] = exits_.equal_range(value);
    for (auto exit = begin; exit != past; ++exit)
      if (index_[exit->second.first] == exit->second.second->iteration)
        set(exit->second.second->outside, now);
  }

  /// Copies the loops that are written already. They are in no region.
  void copy_written_loops() {
    for (WrittenLoop loop : from_.written_loops) {
      for (LoopIteration& iteration : loop.written) {
        iteration.ops = moved(iteration.ops, [&](uint32_t op) { return made_[op].index(); });
        const auto value = [&](ValueId id) { return to_.value(now(id)); };
        iteration.buffers = moved(iteration.buffers, [&](uint32_t buffer) {
          return value(owners_[buffer]).buffer.index();
        });
        iteration.values =
            moved(iteration.values, [&](uint32_t id) { return now(ValueId(id)).index(); });
      }
      to_.written_loops.push_back(std::move(loop));
    }
  }

  /// Returns where the ids of a range went, which stay in a row.
  template <class Place>
  static IdRange moved(IdRange range, Place place) {
    if (range.size() == 0)
      return range;
    const auto begin = static_cast<uint32_t>(place(range.begin));
    return {begin, begin + range.size()};
  }

  /// Returns whether an op lacks at a site because its iteration is left out.
  bool misses_left_out() const {
    std::optional<Iterations> iterations;
    return std::ranges::any_of(to_.sites, [&](const Site& site) {
      if (site.absent.empty())
        return false;
      if (!iterations)
        iterations.emplace(from_);
      const OpRun& met = runs_[site.ops.front().index()];
      const std::vector<int64_t> indices = indices_of(*iterations, met);
      return std::ranges::any_of(from_.site(*from_.op(met.op).site).ops, [&](OpId other) {
        return has_iteration(*iterations, other, indices) &&
               std::ranges::none_of(site.ops,
                                    [&](OpId op) { return runs_[op.index()].op == other; });
      });
    });
  }

  /// Returns the indices of the loops around a run, the innermost first.
  std::vector<int64_t> indices_of(const Iterations& iterations, OpRun run) const {
    std::vector<int64_t> indices;
    for (LoopAround l = iterations.loop_of(run.op); l; l = iterations.around(*l)) {
      indices.push_back(from_.loops[*l].lower +
                        static_cast<int64_t>(run.iteration % iterations.trips(*l)));
      run.iteration /= iterations.trips(*l);
    }
    return indices;
  }

  bool has_iteration(const Iterations& iterations, OpId op,
                     std::span<const int64_t> indices) const {
    for (LoopAround l = iterations.loop_of(op); l; l = iterations.around(*l)) {
      if (indices.empty() || indices.front() < from_.loops[*l].lower ||
          indices.front() >= from_.loops[*l].upper)
        return false;
      indices = indices.subspan(1);
    }
    return indices.empty();
  }

  /// Returns the name in this iteration for a name in the body.
  std::string renamed(const std::string& name) const {
    return around_.empty() ? name : around_.back().name + name.substr(around_.back().body.size());
  }

  /// Counts one for each result, and at least one for the op.
  static int64_t size_of(const Op& op) {
    return std::max<int64_t>(static_cast<int64_t>(op.results.size()), 1);
  }

  /// Returns the size of a body, or of the ops in no body. Each of the loops in it counts as one.
  int64_t size_of(IdRange ops, const std::vector<size_t>& loops) const {
    auto size = static_cast<int64_t>(loops.size());
    uint32_t op = ops.begin;
    for (const size_t l : loops) {
      for (; op < from_.loops[l].ops.begin; ++op)
        size += size_of(from_.ops[op]);
      op = from_.loops[l].ops.end;
    }
    for (; op < ops.end; ++op)
      size += size_of(from_.ops[op]);
    return size;
  }

  /// An iteration that defines nothing counts as one, since it still takes time.
  int64_t size_of_iteration(size_t l) const {
    const Loop& loop = from_.loops[l];
    return std::max<int64_t>(
        size_of(loop.ops, inner_[l]) + static_cast<int64_t>(loop.carries.size()), 1);
  }

  IdRange ops_of(const Thread& thread) const {
    if (thread.issue_order.empty()) {
      // Its loops have no ops either, and say where it stands.
      const std::vector<size_t> loops =
          loops_of(ThreadId(static_cast<size_t>(&thread - from_.threads.data())));
      return loops.empty() ? IdRange() : from_.loops[loops.front()].ops;
    }
    const IdRange ops{thread.issue_order.front().index(), thread.issue_order.back().index() + 1};
    ORRERY_CHECK(ops.size() == thread.issue_order.size(), "a thread's ops have ids in a row");
    return ops;
  }

  std::vector<size_t> loops_of(ThreadId thread) const {
    std::vector<size_t> loops;
    std::copy_if(outermost_.begin(), outermost_.end(), std::back_inserter(loops),
                 [&](size_t l) { return from_.loops[l].thread == thread; });
    return loops;
  }

  void count(const Thread& thread) {
    const ThreadId id(static_cast<size_t>(&thread - from_.threads.data()));
    const int64_t ops = size_of(ops_of(thread), loops_of(id));
    size_.ops += ops;
    size_.device_ops +=
        (ops + (from_.threads.size() > 1 ? 1 : 0)) * static_cast<int64_t>(thread.devices.size());
  }

  bool write_thread(ThreadId id) {
    const Thread& thread = from_.thread(id);
    to_.threads.push_back({thread.name, thread.devices, {}});
    return write_ops(ops_of(thread), loops_of(id)) && diagnostics_.empty();
  }

  /// Writes ops and the loops among them. Returns false after an error.
  bool write_ops(IdRange ops, const std::vector<size_t>& loops) {
    uint32_t op = ops.begin;
    for (const size_t l : loops) {
      for (; op < from_.loops[l].ops.begin; ++op)
        write_op(OpId(op));
      if (!write_loop(l))
        return false;
      op = from_.loops[l].ops.end;
    }
    for (; op < ops.end; ++op)
      write_op(OpId(op));
    return true;
  }

  /// Returns the request with which the op enters its site.
  OpRequest site_request(OpId id, const Op& op) const {
    const auto known = requests_.find(id);
    if (known != requests_.end())
      return known->second;
    OpRequest request;
    request.origin = op.origin;
    const Site& site = from_.site(*op.site);
    // A precv with the token of a psend enters the site of that.
    if (site.named && (side_of(op) != Side::Receives || receives_by_site(from_, op)))
      request.site = site.name;
    return request;
  }

  /// Enters the site of this iteration: "s[3]" for "s[]" in the body.
  SiteId enter(OpId id, const Op& op) {
    OpRequest request = site_request(id, from_.op(id));
    if (!request.site.empty() && !around_.empty()) {
      request.site.resize(request.site.size() - kAnyIndex.size() * around_.size());
      request.site += around_.back().site_suffix;
    }
    return sites_.enter(op, request);
  }

  void write_op(OpId id) {
    const Op& from = from_.op(id);
    Op op = from;
    op.name = renamed(from.name);
    if (!op.group.empty())
      op.group = renamed(from.group);
    for (ValueId& operand : op.operands)
      operand = now(operand);
    for (ValueId& donated : op.donated)
      donated = now(donated);
    if (op.forward)
      op.forward = made_[op.forward->index()];
    op.results.clear();
    if (!around_.empty()) {
      if (op.origin)
        op.origin->note = note();
      const size_t loop = loops_around_.back();
      if (from_.loops[loop].index == id)
        op.attributes = index_attributes(*index_[loop]);
    }
    if (op.site)
      op.site = enter(id, op);
    for (const ValueId result : from.results) {
      write_value(result, renamed(from_.value(result).name));
      op.results.push_back(now(result));
    }
    if (from.site || std::any_of(op.results.begin(), op.results.end(),
                                 [&](ValueId result) { return to_.value(result).type.token; }))
      sites_.follow_tokens(op);
    made_[id.index()] = OpId(to_.ops.size());
    runs_.push_back({id, run_of_now()});
    to_.threads.back().issue_order.emplace_back(to_.ops.size());
    to_.ops.push_back(std::move(op));
  }

  /// Returns the iteration that is being written, counted through all loops around it.
  uint64_t run_of_now() const {
    uint64_t run = 0;
    for (const size_t l : loops_around_)
      run = run * static_cast<uint64_t>(from_.loops[l].upper - from_.loops[l].lower) +
            static_cast<uint64_t>(*index_[l] - from_.loops[l].lower);
    return run;
  }

  std::string note() const { return fmt::format(" (in {})", around_.back().name); }

  /// Writes a value. Its buffer is a new one if the value is the first in its buffer in the
  /// regions. Otherwise it is the buffer of that first value, at the same distance from it.
  void write_value(ValueId id, std::string name) {
    const Value& from = from_.value(id);
    const ValueId owner = owners_[from.buffer.index()];
    Value value{std::move(name), from.type, BufferId(to_.buffers.size()), from.offset};
    if (owner == id) {
      to_.buffers.push_back(from_.buffer(from.buffer));
    } else {
      value.buffer = to_.value(now(owner)).buffer;
      value.offset = to_.value(now(owner)).offset + from.offset;
    }
    to_.values.push_back(std::move(value));
    set(id, ValueId(to_.values.size() - 1));
  }

  /// Writes a loop. Returns false after an error.
  bool write_loop(size_t l) {
    const Loop& loop = from_.loops[l];
    const size_t ops = to_.ops.size();
    std::vector<ValueId> carried;
    for (const Carry& carry : loop.carries)
      carried.push_back(now(carry.initial));
    WrittenLoop made;
    made.name = renamed(loop.name);
    made.thread = ThreadId(to_.threads.size() - 1);
    made.lower = loop.lower;
    made.upper = loop.upper;
    made.has_index = loop.index.has_value();
    made.reach = of_loops_[l].recurrence.reach;
    made.period = of_loops_[l].recurrence.period;
    int64_t next = loop.lower;
    for (const WrittenRange& range : of_loops_[l].ranges) {
      // Iterations without ops are always left out, since they only take time.
      if (next < range.begin &&
          (long_loops_ == LongLoops::LeftOut || made.last().ops.size() == 0)) {
        leaves_out_ = true;
        next = range.begin;
      }
      for (; next < range.end; ++next) {
        made.written.push_back(iteration(made.name, next));
        made.written.back().is_shown = range.begin <= next;
        made.written.back().copies = long_loops_ == LongLoops::LeftOut ? range.copies : 0;
        if (!grow(l) || !write_iteration(l, made.written.back(), carried)) {
          explain_size(l, made.written.size() - 1);
          return false;
        }
      }
    }
    if (to_.ops.size() == ops)
      to_.empty_loops.push_back(made.name);
    for (size_t c = 0; c < carried.size(); ++c) {
      const ValueId result = loop.carries[c].result;
      set(result, carried[c]);
      to_.other_names.emplace(renamed(from_.value(result).name), carried[c]);
      const auto [begin, past] = other_names_.equal_range(result);
      for (auto name = begin; name != past; ++name)
        to_.other_names.emplace(renamed(name->second), carried[c]);
    }
    if (!made.written.empty() && made.last().ops.size() > 0)
      to_.written_loops.push_back(std::move(made));
    return true;
  }

  /// Adds why so many iterations of the loop are written, if the size is not allowed. A value that
  /// an iteration makes has left the last carry after as many iterations as there are carries. Only
  /// rings can put off the repetition further. Iterations that are named stand apart.
  void explain_size(size_t l, size_t written) {
    const Loop& loop = from_.loops[l];
    const Recurrence& recurrence = of_loops_[l].recurrence;
    if (!over_size_)
      return;
    std::set<int64_t> named;
    for (const Exit& exit : loop.exits)
      if (exit.iteration > loop.lower && exit.iteration + 1 < loop.upper)
        named.insert(exit.iteration);
    if (named.size() > 1)
      diagnostics_.add(origin_of(loop.name, loop.origin),
                       fmt::format("fori_loop: {} iterations of it are named, and each is written, "
                                   "with some before and after it",
                                   named.size()));
    if (written > loop.carries.size() + 1 && written < recurrence.first() - recurrence.reach)
      diagnostics_.add(origin_of(loop.name, loop.origin),
                       fmt::format("fori_loop: iterations are left out once the carries, which "
                                   "go round, are all back, and after {} they are not",
                                   written));
  }

  LoopIteration iteration(const std::string& loop, int64_t index) const {
    LoopIteration made;
    made.index = index;
    made.name = with_index(loop, index);
    made.site_suffix = with_index(around_.empty() ? "" : around_.back().site_suffix, index);
    return made;
  }

  /// Counts one more iteration. Returns false, with an error, if the size is not allowed.
  bool grow(size_t l) {
    const Loop& loop = from_.loops[l];
    const int64_t ops = size_of_iteration(l);
    size_.ops += ops;
    size_.device_ops += ops * static_cast<int64_t>(from_.thread(loop.thread).devices.size());
    std::string error = allowed_(size_);
    if (error.empty())
      return true;
    if (long_loops_ == LongLoops::WrittenOut)
      error += "; every iteration is read where one is asked for, or where something is wrong";
    over_size_ = Diagnostic{origin_of(loop.name, loop.origin), error};
    diagnostics_.add(over_size_->origin, std::move(error));
    return false;
  }

  /// Writes an iteration. Returns false after an error, which the next iteration would only repeat.
  bool write_iteration(size_t l, LoopIteration& made, std::vector<ValueId>& carried) {
    const Loop& loop = from_.loops[l];
    const Diagnostics::Note note(diagnostics_, fmt::format(" (in {})", made.name));
    around_.push_back({any_iteration(loop.name), made.name, made.site_suffix});
    loops_around_.push_back(l);
    index_[l] = made.index;
    made.ops.begin = static_cast<uint32_t>(to_.ops.size());
    made.values.begin = static_cast<uint32_t>(to_.values.size());
    made.buffers.begin = static_cast<uint32_t>(to_.buffers.size());
    for (size_t c = 0; c < carried.size(); ++c)
      set(loop.carries[c].param, carried[c]);
    const bool written = write_ops(loop.ops, inner_[l]);
    for (size_t c = 0; written && c < carried.size(); ++c)
      carried[c] = now(loop.carries[c].yielded);
    made.ops.end = static_cast<uint32_t>(to_.ops.size());
    made.values.end = static_cast<uint32_t>(to_.values.size());
    made.buffers.end = static_cast<uint32_t>(to_.buffers.size());
    index_[l].reset();
    loops_around_.pop_back();
    around_.pop_back();
    return written && diagnostics_.empty();
  }

  const Program& from_;
  const LongLoops long_loops_;
  const std::vector<WrittenIterations>& of_loops_;  // per loop
  const SiteRequests& requests_;
  const AllowedSize allowed_;
  Diagnostics diagnostics_;
  Program to_;
  SiteBuilder sites_;
  std::vector<OpRun> runs_;                  // per op that is written
  std::vector<OpId> made_;                   // per op: the newest op written for it
  std::vector<std::optional<ValueId>> now_;  // per value: the newest value written for it
  std::vector<ValueId> owners_;              // per buffer: the first value in it
  std::vector<std::vector<size_t>> inner_;   // per loop: those in its body
  std::vector<size_t> outermost_;
  std::multimap<ValueId, std::pair<size_t, const Exit*>>
      exits_;  // by the inside value, with the loop
  std::multimap<ValueId, std::string> other_names_;
  std::vector<std::optional<int64_t>> index_;  // per loop that is being written: the present index
  std::vector<Around> around_;
  std::vector<size_t> loops_around_;
  WrittenSize size_;
  bool leaves_out_ = false;
  std::optional<Diagnostic> over_size_;
  bool written_ = false;
};

}  // namespace

std::optional<Unrolled> unrolled(const Program& program, LongLoops long_loops,
                                 const SiteRequests& requests, AllowedSize allowed,
                                 Diagnostics& diagnostics) {
  ORRERY_CHECK(diagnostics.empty(), "a program with errors has no iterations");
  const std::vector<WrittenIterations> of_loops = written_iterations(program);
  // Most errors are found sooner with iterations left out. Only errors that this may have caused
  // need all iterations.
  Unrolling some(program, LongLoops::LeftOut, of_loops, requests, allowed,
                 Diagnostics(diagnostics.file()));
  some.run();
  std::optional<Unrolled> made = some.take();
  diagnostics = some.diagnostics();
  if (!some.leaves_out() || (made ? long_loops == LongLoops::LeftOut : !some.may_blame_left_out()))
    return made;
  Unrolling all(program, LongLoops::WrittenOut, of_loops, requests, allowed,
                Diagnostics(diagnostics.file()));
  all.run();
  if (all.over_size() && !made)
    diagnostics.add(all.over_size()->origin, all.over_size()->message);
  else
    diagnostics = all.diagnostics();
  return all.take();
}

}  // namespace orrery
