#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/program/builder.h"
#include "models/program/loops.h"
#include "models/transform/backward_pass.h"
#include "models/transform/gradients.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

class Vjp {
 public:
  Vjp(const Program& program, Checks checks, const VjpRequest& request, Diagnostics& diagnostics)
      : program_(program),
        checks_(checks),
        request_(request),
        diagnostics_(diagnostics),
        names_(program) {}

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
    if (request_.prefetch > 0 && !again_.empty() && !prefetch()) {
      diagnostics_.add(
          request_.origin,
          program_.written_loops.empty()
              ? "expected \"recompute\" to name a collective in a loop whose operands follow from "
                "the "
                "index and from values outside of the loop, as \"prefetch\" starts such early, got "
                "none"
              : "expected loops that go back as loops, as \"prefetch\" needs them; they are "
                "written "
                "out where a single iteration is named, or a loop in a loop is computed again as a "
                "whole (name its ops instead, \"l.k.g\")");
      return unchanged();
    }

    ProgramBuilder builder(program_.mesh, checks_, diagnostics_);
    add_forward(builder, diagnostics_);
    if (request_.overlap)
      backward_ = overlapped(std::move(backward_), names_);
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
    names_ = UnusedNames(program_);
    SavedValues saved;
    forward_ = forward_parts(program_, checks_, needs, names_, saved);
    saved_.clear();
    for (const auto& [value, array] : saved)
      saved_.insert(array);
    Diagnostics refused("");
    try {
      ProgramBuilder draft(program_.mesh, checks_, refused);
      add_forward(draft, refused);
      refused.throw_if_any();
      BackwardPass pass(program_, checks_, draft, refused, names_, needs, std::move(saved));
      for (const OpId op : again_)
        pass.recompute(op);
      results_ = go_back(pass);
      backward_ = pass.added();
    } catch (const InputError& error) {
      report_refused(error, diagnostics_);
    }
  }

  /// Starts collectives early. Returns whether there are any that can be. A forward loop of which
  /// single iterations are read stays as it is.
  bool prefetch() {
    Prefetch prefetch{request_.prefetch, {}, saved_};
    for (const OpId op : again_)
      if (std::none_of(program_.loops.begin(), program_.loops.end(), [&](const Loop& loop) {
            return loop.ops.has(op.index()) && !loop.exits.empty();
          }))
        prefetch.forward.insert(program_.op(op).name);
    const bool forward = orrery::prefetch(forward_, prefetch, names_);
    return orrery::prefetch(backward_, prefetch, names_) || forward;
  }

  /// Adds the arguments, those of cotangents too, and the forward pass, up to the first of
  /// `errors`.
  void add_forward(ProgramBuilder& builder, const Diagnostics& errors) const {
    copy_arguments(program_, builder);
    add_cotangents(program_, checks_, request_.of, of_, builder);
    builder.thread(program_.threads[0].name, program_.threads[0].devices);
    std::vector<Added> added;
    for (const ProgramPart& part : forward_) {
      const ProgramBuilder::Size begin = builder.size();
      add_part(part, builder);
      if (!errors.empty())
        return;
      // The ops that save values stand between those of the program.
      if (added.size() < program_.ops.size() && is_of(part, program_.ops[added.size()].name))
        added.push_back({begin, builder.size()});
    }
    copy_written_loops(program_, added, builder);
    copy_names(program_, builder);
  }

  /// Returns whether the part is the op of this name, or begins a loop with it as its index.
  static bool is_of(const ProgramPart& part, const std::string& name) {
    const auto* const op = std::get_if<OpRequest>(&part);
    const auto* const loop = std::get_if<LoopBegin>(&part);
    return (op != nullptr && op->name == name) ||
           (loop != nullptr && loop->index && loop->index->name == name);
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
  UnusedNames names_;
  std::set<std::string> saved_;  // arrays that the backward pass reads
  std::vector<ProgramPart> forward_;
  std::vector<ProgramPart> backward_;
  std::map<std::string, std::string> results_;
};

}  // namespace

Program vjp(const Program& program, Checks checks, const VjpRequest& request,
            Diagnostics& diagnostics) {
  if (const std::optional<Program> looped = with_loops(program, checks, request))
    return Vjp(*looped, checks, request, diagnostics).run();
  const std::optional<Program> straight =
      straightened(program, request.most_ops,
                   "a backward pass needs them where a single iteration is named, or a loop in a "
                   "loop is computed again",
                   request.origin, diagnostics);
  return straight ? Vjp(*straight, checks, request, diagnostics).run() : program;
}

}  // namespace orrery
