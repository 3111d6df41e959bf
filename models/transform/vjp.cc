#include "models/transform/vjp.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/base/callable.h"
#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/transform/backward_pass.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// Overlapped holds the parts with their collectives started on stream 1. A collective starts as
/// soon as its operands are made; if a collective makes one, it starts where it stands. Its done
/// comes just before the first part that reads it, or at the end. Collectives that are computed
/// again run where they stand: if they started early, their results would live as long as kept
/// ones. The body of a loop is overlapped by itself. There, what the loop only adds up is added at
/// the end of the body, so that the collectives before may run until then.
class Overlapped {
 public:
  explicit Overlapped(std::vector<ProgramPart> parts, bool in_body = false)
      : blocks_(blocks_of(std::move(parts))) {
    if (in_body)
      add_up_last();
    std::map<std::string, size_t> makers;
    std::vector<std::vector<size_t>> starting(blocks_.size() + 1);  // after so many blocks
    for (size_t i = 0; i < blocks_.size(); ++i) {
      size_t ready = 0;
      for (const std::string& read : blocks_[i].reads)
        if (const auto maker = makers.find(read); maker != makers.end())
          ready = std::max(ready, blocks_[maker->second].starts ? i : maker->second + 1);
      if (blocks_[i].starts)
        starting[ready].push_back(i);
      for (const std::string& made : blocks_[i].makes)
        makers.emplace(made, i);
    }
    for (size_t i = 0; i <= blocks_.size(); ++i) {
      for (const size_t each : starting[i])
        start(blocks_[each]);
      if (i < blocks_.size() && !blocks_[i].starts)
        add(blocks_[i]);
    }
    for (const std::string& name : order_)
      end(name);
  }

  std::vector<ProgramPart> take() { return std::move(parts_); }

 private:
  /// A Block is an op, or a loop with its body.
  struct Block {
    std::vector<ProgramPart> parts;
    std::vector<std::string> reads;
    std::vector<std::string> makes;  // for what follows
    bool starts = false;             // a collective that may start early
  };

  /// Returns whether an op may start early. A transfer runs where it stands: its two halves are ops
  /// of their own, which in another order could wait for each other.
  static bool can_start(const OpRequest& op) {
    return rules(op.kind).family == Family::Collective && rules(op.kind).form.side == Side::Both &&
           !over_no_axes(op.attributes) && op.pass != Pass::Again;
  }

  static std::vector<Block> blocks_of(std::vector<ProgramPart> parts) {
    std::vector<Block> blocks;
    size_t depth = 0;  // of the loops around the part
    for (ProgramPart& part : parts) {
      if (depth == 0)
        blocks.emplace_back();
      Block& block = blocks.back();
      const auto read = [&](const std::vector<std::string>& names) {
        block.reads.insert(block.reads.end(), names.begin(), names.end());
      };
      std::visit(Overloaded{[&](const OpRequest& op) {
                              read(op.operands);
                              block.starts = depth == 0 && can_start(op);
                              for (size_t r = 0; depth == 0 && r <= op.other_results.size(); ++r)
                                block.makes.push_back(op.result_name(r));
                            },
                            [&](const LoopBegin& loop) {
                              ++depth;
                              for (const LoopBegin::Carried& carried : loop.carries)
                                block.reads.push_back(carried.initial);
                            },
                            [&](const LoopEnd& loop) {
                              --depth;
                              read(loop.yielded);
                              if (depth == 0)
                                block.makes = loop.results;
                            }},
                 part);
      block.parts.push_back(std::move(part));
    }
    return blocks;
  }

  /// Moves ops to the end of the body that read the result of a collective, if only such ops read
  /// theirs.
  void add_up_last() {
    std::map<std::string, size_t> makers;
    for (size_t i = 0; i < blocks_.size(); ++i)
      for (const std::string& made : blocks_[i].makes)
        makers.emplace(made, i);
    std::vector<bool> last(blocks_.size(), true);  // whether no other op reads what the block makes
    const auto for_each_maker = [&](size_t i, auto visit) {
      for (const std::string& read : blocks_[i].reads)
        if (const auto maker = makers.find(read); maker != makers.end())
          visit(maker->second);
    };
    for (size_t i = blocks_.size(); i-- > 0;) {
      last[i] = last[i] && !blocks_[i].starts && blocks_[i].parts.size() == 1;
      for_each_maker(i, [&](size_t maker) { last[maker] = last[maker] && last[i]; });
    }
    for (size_t i = 0; i < blocks_.size(); ++i) {
      bool waits = false;  // for a collective
      for_each_maker(i,
                     [&](size_t maker) { waits = waits || blocks_[maker].starts || last[maker]; });
      last[i] = last[i] && waits;
    }
    std::vector<Block> ordered;
    for (const bool at_end : {false, true})
      for (size_t i = 0; i < blocks_.size(); ++i)
        if (last[i] == at_end)
          ordered.push_back(std::move(blocks_[i]));
    blocks_ = std::move(ordered);
  }

  void add(Block& block) {
    for (const std::string& read : block.reads)
      end(read);
    const bool loop = block.parts.size() > 1;
    parts_.push_back(std::move(block.parts.front()));
    if (!loop)
      return;
    ProgramPart last = std::move(block.parts.back());
    block.parts.pop_back();
    block.parts.erase(block.parts.begin());
    for (ProgramPart& part : Overlapped(std::move(block.parts), true).take())
      parts_.push_back(std::move(part));
    parts_.push_back(std::move(last));
  }

  void start(Block& block) {
    for (const std::string& read : block.reads)
      end(read);
    auto& op = std::get<OpRequest>(block.parts.front());
    OpRequest done;
    done.name = op.name;
    done.kind = OpKind::Done;
    op.name += ".start";
    done.operands = {op.name};
    done.origin = op.origin;
    done.pass = op.pass;
    done.forward = op.forward;
    op.issue = Issue::Start;
    op.attributes.set("stream", int64_t{1});
    order_.push_back(done.name);
    open_.emplace(order_.back(), std::move(done));
    parts_.emplace_back(std::move(op));
  }

  void end(const std::string& name) {
    const auto found = open_.find(name);
    if (found == open_.end())
      return;
    parts_.emplace_back(std::move(found->second));
    open_.erase(found);
  }

  std::vector<Block> blocks_;
  std::vector<ProgramPart> parts_;
  std::map<std::string, OpRequest> open_;  // the ends of those that run, by their results
  std::vector<std::string> order_;         // in which the starts come
};

/// ForwardParts makes the parts of the forward pass, which saves what the backward pass needs of
/// each iteration of a loop.
class ForwardParts {
 public:
  ForwardParts(const Program& program, Checks checks, const BackwardNeeds& needs,
               UnusedNames& names)
      : program_(program),
        checks_(checks),
        needs_(needs),
        names_(names),
        positions_(program.loops.size()) {
    add_scalars();
    for_each_part(program, ThreadId(0),
                  {[&](OpId op) {
                     add_op(program_.op(op));
                     return true;
                   },
                   [&](size_t loop) {
                     begin(loop);
                     return true;
                   },
                   [&](size_t loop) {
                     end(loop);
                     return true;
                   }});
  }

  const std::vector<ProgramPart>& parts() const { return parts_; }
  const SavedValues& saved() const { return saved_; }

 private:
  void add_scalars() {
    bool any = false;
    for (size_t l = 0; l < program_.loops.size(); ++l) {
      const Loop& loop = program_.loops[l];
      if (!needs_.loops[l].position)
        continue;
      any = true;
      const std::string name = without_indices(loop.name);
      origin_ = loop.origin;
      saved_.last[l] = integer(name + ".last", loop.upper - loop.lower - 1);
      if (loop.lower != 0)
        saved_.first[l] = integer(name + ".first", loop.lower);
    }
    if (any)
      saved_.zero = integer("zero", 0);
  }

  std::string integer(const std::string& name, int64_t value) {
    return add(name, OpKind::Full, {}, index_attributes(value));
  }

  std::string add(const std::string& name, OpKind kind, std::vector<std::string> operands,
                  Attributes attributes, std::vector<std::string> donated = {}) {
    OpRequest request;
    request.name = names_.take(name);
    request.kind = kind;
    request.operands = std::move(operands);
    request.attributes = std::move(attributes);
    request.donated = std::move(donated);
    request.origin = origin_;
    if (origin_)
      request.key_origins.emplace("fill_value", *origin_);
    std::string result = request.name;
    parts_.emplace_back(std::move(request));
    return result;
  }

  void add_op(const Op& op) {
    if (!open_.empty() && program_.loops[open_.back()].index &&
        &program_.op(*program_.loops[open_.back()].index) == &op)
      return;  // it is a part of the loop's begin
    parts_.emplace_back(request_of(program_, op));
    for (const ValueId result : op.results)
      save(result);
  }

  /// Visits the saved values of the loop and of those in it.
  template <class Visit>
  void for_each_saved(size_t l, Visit visit) const {
    for (size_t inner = l; inner < needs_.loops.size(); ++inner) {
      std::optional<size_t> around = inner;
      while (around && *around != l)
        around = program_.loops[*around].around;
      if (around)
        for (const ValueId value : needs_.loops[inner].saved)
          visit(inner, value);
    }
  }

  /// Returns "m.y.saved" for a value l[].m[].y, in loop "l".
  std::string array_name(const Loop& loop, ValueId value) const {
    return without_indices(own_name(any_iteration(loop.name), program_.value(value).name)) +
           ".saved";
  }

  void begin(size_t l) {
    const Loop& loop = program_.loops[l];
    origin_ = loop.origin;
    if (!loop.around)
      for_each_saved(l, [&](size_t body, ValueId value) {
        ValueType type = program_.value(value).type;
        type.shape = saved_shape(program_, body, type.shape);
        const std::string name = name_in(loop.name, array_name(loop, value)) + ".zeros";
        saved_.arrays[value] = add_large_zeros(
            program_.mesh, checks_, type,
            [&](OpKind kind, std::vector<std::string> operands, Attributes attributes) {
              return add(name, kind, std::move(operands), std::move(attributes));
            });
      });
    LoopBegin begin{loop.name, loop.lower, loop.upper, loop.origin};
    for (const Carry& carry : loop.carries)
      begin.carries.push_back(
          {program_.value(carry.param).name, program_.value(carry.initial).name});
    for_each_saved(l, [&](size_t, ValueId value) {
      std::string& array = saved_.arrays[value];
      std::string param = names_.take(name_in(any_iteration(loop.name), array_name(loop, value)));
      begin.carries.push_back({param, std::exchange(array, param)});
    });
    if (loop.index)
      begin.index = request_of(program_, program_.op(*loop.index));
    else if (needs_.loops[l].position) {
      begin.index.emplace();
      begin.index->name = names_.take(name_in(any_iteration(loop.name), "i"));
      begin.index->kind = OpKind::Full;
      begin.index->attributes = index_attributes(loop.lower);
      begin.index->origin = loop.origin;
    }
    const std::string index = begin.index ? begin.index->name : std::string();
    parts_.emplace_back(std::move(begin));
    open_.push_back(l);
    if (needs_.loops[l].position)
      positions_[l] = loop.lower == 0 ? index
                                      : add(name_in(any_iteration(loop.name), "position"),
                                            OpKind::Sub, {index, saved_.first.at(l)}, {});
    for (const Carry& carry : loop.carries)
      save(carry.param);
  }

  /// Writes the value of this iteration into its array, if it is to be saved.
  void save(ValueId value) {
    if (open_.empty())
      return;
    const std::vector<ValueId>& saved = needs_.loops[open_.back()].saved;
    if (std::find(saved.begin(), saved.end(), value) == saved.end())
      return;
    const Value& from = program_.value(value);
    const Shape& shape = from.type.shape;
    const std::string name = from.name + ".save";
    std::vector<int64_t> dims(open_.size(), 1);
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    Attributes reshape;
    reshape.set("new_sizes", std::move(dims));
    std::string& array = saved_.arrays[value];
    std::vector<std::string> operands = {
        array, add(name, OpKind::Reshape, {from.name}, std::move(reshape))};
    for (const size_t loop : open_)
      operands.push_back(positions_[loop]);
    operands.resize(operands.size() + shape.rank(), saved_.zero);
    array = add(name, OpKind::DynamicUpdateSlice, std::move(operands), {}, {array});
  }

  void end(size_t l) {
    const Loop& loop = program_.loops[l];
    LoopEnd end;
    for (const Carry& carry : loop.carries) {
      end.yielded.push_back(program_.value(carry.yielded).name);
      end.results.push_back(program_.value(carry.result).name);
    }
    for_each_saved(l, [&](size_t, ValueId value) {
      std::string& array = saved_.arrays[value];
      end.yielded.push_back(array);
      array = names_.take(name_in(loop.name, array_name(loop, value)));
      end.results.push_back(array);
    });
    parts_.emplace_back(std::move(end));
    open_.pop_back();
    for (const Carry& carry : loop.carries)
      save(carry.result);
    for (const Exit& exit : loop.exits)
      save(exit.outside);
  }

  const Program& program_;
  const Checks checks_;
  const BackwardNeeds& needs_;
  UnusedNames& names_;
  std::vector<std::string> positions_;  // of the iteration, by loop
  std::vector<size_t> open_;            // loops
  std::optional<Origin> origin_;        // of the ops that are added
  SavedValues saved_;
  std::vector<ProgramPart> parts_;
};

class Vjp {
 public:
  Vjp(const Program& program, Checks checks, const VjpRequest& request, Diagnostics& diagnostics)
      : program_(program), checks_(checks), request_(request), diagnostics_(diagnostics) {}

  Program run() {
    of_ = named_results(program_, request_.of, Differentiated::Inexact, diagnostics_);
    arguments_ =
        named_arguments(program_, request_.with_respect_to, Differentiated::Inexact, diagnostics_);
    check_cotangents_unused(program_, request_.of, diagnostics_);
    check_cotangents_unused(program_, request_.with_respect_to, diagnostics_);
    again_ = request_.recompute_all ? all_recomputed_ops(program_)
                                    : recomputed_ops(program_, request_.recompute, diagnostics_);
    if (!diagnostics_.empty())
      return unchanged();
    wanted_ = dependents(program_, arguments_, Differentiated::Inexact);
    BackwardNeeds needs(program_);
    do {
      needs.grew = false;
      walk(needs);
      if (!diagnostics_.empty())
        return unchanged();
    } while (needs.grew);

    ProgramBuilder builder(program_.mesh, checks_, diagnostics_);
    add_forward(builder, diagnostics_);
    if (request_.overlap)
      backward_ = Overlapped(std::move(backward_)).take();
    for (ProgramPart& part : backward_)
      add_part(std::move(part), builder);
    for (const auto& [name, value] : results_)
      builder.name_also(value, name, request_.origin);
    return builder.finish();
  }

 private:
  /// Returns the program as it was, after an error.
  Program unchanged() const { return program_; }

  /// Makes the parts of both passes, as far as it is known what the backward pass needs.
  void walk(BackwardNeeds& needs) {
    UnusedNames names(program_);
    ForwardParts forward(program_, checks_, needs, names);
    forward_ = forward.parts();
    Diagnostics refused("");
    try {
      ProgramBuilder draft(program_.mesh, checks_, refused);
      add_forward(draft, refused);
      refused.throw_if_any();
      BackwardPass pass(program_, checks_, draft, refused, names, needs, forward.saved());
      for (const OpId op : again_)
        pass.recompute(op);
      results_ = go_back(pass);
      backward_ = pass.added();
    } catch (const InputError& error) {
      report_refused(error, diagnostics_);
    }
  }

  /// Adds the arguments, those of cotangents too, and the forward pass, up to the first of
  /// `errors`.
  void add_forward(ProgramBuilder& builder, const Diagnostics& errors) const {
    copy_arguments(program_, builder);
    add_cotangents(program_, checks_, request_.of, of_, builder);
    builder.thread(program_.threads[0].name, program_.threads[0].devices);
    std::vector<ProgramBuilder::Size> begins;
    for (const ProgramPart& part : forward_) {
      begins.push_back(builder.size());
      add_part(part, builder);
      if (!errors.empty())
        return;
    }
    begins.push_back(builder.size());
    copy_written_loops(program_, begins, builder);
    copy_names(program_, builder);
  }

  /// Returns the cotangents of the arguments, by the names that they get.
  std::map<std::string, std::string> go_back(BackwardPass& pass) {
    for (size_t v = 0; v < wanted_.size(); ++v)
      if (wanted_[v])
        pass.want(ValueId(v));
    give_cotangents(request_.of, of_, pass);
    // A loop begins, or it ends, or an op stands there.
    struct Place {
      enum class Of : uint8_t { Op, Begin, End } of;
      size_t id;
    };
    std::vector<Place> places;
    const auto note = [&](typename Place::Of of) {
      return [&places, of](size_t id) {
        places.push_back({of, id});
        return true;
      };
    };
    for_each_part(program_, ThreadId(0),
                  {[&](OpId op) { return note(Place::Of::Op)(op.index()); }, note(Place::Of::Begin),
                   note(Place::Of::End)});
    size_t passed = 0;  // loops around the place through which no cotangent goes
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      if (place->of == Place::Of::End && (passed > 0 || !pass.enter(place->id)))
        ++passed;
      else if (place->of == Place::Of::Begin && passed > 0)
        --passed;
      else if (place->of == Place::Of::Begin)
        pass.leave();
      else if (place->of == Place::Of::Op && passed == 0)
        go_back(OpId(place->id), pass);
    }
    return cotangents_of(request_.with_respect_to, arguments_, pass);
  }

  void go_back(OpId id, BackwardPass& pass) {
    if (const auto error = pass.go_back(id))
      diagnostics_.add(program_.op(id).origin.value_or(request_.origin),
                       fmt::format("expected an op that has a gradient between the values of "
                                   "\"with_respect_to\" and \"of\", got \"{}\": {}",
                                   program_.op(id).name, *error));
  }

  const Program& program_;
  const Checks checks_;
  const VjpRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<ValueId> of_;
  std::vector<ValueId> arguments_;
  std::vector<OpId> again_;   // that the backward pass computes again
  std::vector<bool> wanted_;  // by value
  std::vector<ProgramPart> forward_;
  std::vector<ProgramPart> backward_;
  std::map<std::string, std::string> results_;
};

/// Returns for each value whether one of `of` depends on it.
std::vector<bool> needed_by(const Program& program, const std::vector<ValueId>& of) {
  std::vector<bool> needed(program.values.size(), false);
  bool grew = true;
  const auto need = [&](ValueId value, bool is) {
    grew = grew || (is && !needed[value.index()]);
    needed[value.index()] = needed[value.index()] || is;
  };
  for (const ValueId value : of)
    need(value, true);
  while (grew) {
    grew = false;
    for (auto op = program.ops.rbegin(); op != program.ops.rend(); ++op)
      for (const ValueId operand : op->operands)
        need(operand, std::any_of(op->results.begin(), op->results.end(),
                                  [&](ValueId result) { return needed[result.index()]; }));
    for (const Loop& loop : program.loops) {
      for (const Carry& carry : loop.carries) {
        const bool is = needed[carry.result.index()] || needed[carry.param.index()];
        need(carry.initial, is);
        need(carry.yielded, is);
      }
      for (const Exit& exit : loop.exits)
        need(exit.inside, needed[exit.outside.index()]);
    }
  }
  return needed;
}

/// Returns whether loops go back as loops. They do not if a single iteration is named: by `of` or
/// `recompute`, or by an op on the way. Nor do they if a loop in a body is to be computed again.
/// Errors in names are left to the program that is written out, which has all names.
bool keeps_loops(const Program& program, const VjpRequest& request) {
  if (program.loops.empty())
    return false;
  Diagnostics errors("");
  const std::vector<ValueId> of =
      named_results(program, request.of, Differentiated::Inexact, errors);
  const std::vector<ValueId> arguments =
      named_arguments(program, request.with_respect_to, Differentiated::Inexact, errors);
  static_cast<void>(recomputed_ops(program, request.recompute, errors));
  if (!is_one_program(program, request.origin, errors) || !errors.empty())
    return false;
  const std::vector<std::optional<size_t>> bodies = bodies_of_values(program);
  const std::vector<bool> needed = needed_by(program, of);
  const std::vector<bool> wanted = dependents(program, arguments, Differentiated::Inexact);
  for (const Loop& loop : program.loops) {
    if (loop.around && request.recompute_all)
      return false;
    for (const Exit& exit : loop.exits)
      if (wanted[exit.outside.index()] && needed[exit.outside.index()])
        return false;
  }
  return std::none_of(of.begin(), of.end(),
                      [&](ValueId value) { return bodies[value.index()].has_value(); });
}

}  // namespace

Program vjp(const Program& program, Checks checks, const VjpRequest& request,
            Diagnostics& diagnostics) {
  if (keeps_loops(program, request))
    return Vjp(program, checks, request, diagnostics).run();
  const std::optional<Program> straight =
      straightened(program, request.most_ops,
                   "a backward pass needs them where a single iteration is named, or a loop in a "
                   "loop is computed again",
                   request.origin, diagnostics);
  return straight ? Vjp(*straight, checks, request, diagnostics).run() : program;
}

}  // namespace orrery
