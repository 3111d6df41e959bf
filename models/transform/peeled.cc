// This is the part of backward_pass.h that writes the first and the last iterations of loops out.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/written_iterations.h"
#include "models/transform/backward_pass.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// Returns how many of a loop's last iterations are written out. The arrays of the others are then
/// smaller than what all iterations save, by these iterations. So there is room for what a loop has
/// beside its arrays: slices of them, sums of gradients from its start on, and what it carries.
int64_t last_of(const LoopBegin& loop, const WrittenEnds& ends) {
  constexpr int64_t kFewLast = 4;
  return ends.has_few_last ? kFewLast
                           : std::max(kFewLast, static_cast<int64_t>(loop.carries.size()) + 1);
}

/// A loop is written out whole if fewer iterations than this are left.
constexpr int64_t kLeastLeft = 4;

class Peeling {
 public:
  Peeling(const Program& program, Checks checks, const WrittenEnds& ends)
      : program_(program),
        ends_(ends),
        diagnostics_(""),
        builder_(program.mesh, checks, diagnostics_),
        names_(program),
        repeating_(recurrences(program)),
        parts_(forward_parts(program, checks, BackwardNeeds(program), names_, saved_)) {}

  Program run() {
    copy_arguments(program_, builder_);
    builder_.thread(program_.threads[0].name, program_.threads[0].devices);
    size_t next = 0;   // the loop that begins next, by index
    size_t depth = 0;  // of the loops around the part
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (std::holds_alternative<LoopBegin>(parts_[i])) {
        const size_t l = next++;
        if (depth == 0 && loops_in(program_, l).size() == 1) {
          LoopParts body = take_loop(parts_, i);
          i += body.parts.size() + 1;
          peel(std::move(body), std::max<int64_t>(1, repeating_[l].before) + ends_.more_first);
          continue;
        }
        ++depth;
      } else if (std::holds_alternative<LoopEnd>(parts_[i])) {
        --depth;
      }
      add(std::move(parts_[i]));
    }
    copy_written_loops(program_, added_, builder_);
    for (WrittenLoop& loop : written_)
      builder_.loop(std::move(loop));
    copy_names(program_, builder_);
    Program peeled = builder_.finish();
    ORRERY_CHECK(diagnostics_.empty(), "iterations of a valid program are valid");
    return peeled;
  }

 private:
  /// Adds a part of the program as it is.
  void add(ProgramPart part) {
    const auto* const loop = std::get_if<LoopBegin>(&part);
    const bool is_op =
        std::holds_alternative<OpRequest>(part) || (loop != nullptr && loop->index.has_value());
    const ProgramBuilder::Size begin = builder_.size();
    add_part(std::move(part), builder_);
    if (is_op)
      added_.push_back({begin, builder_.size()});
  }

  /// Writes out the first iterations, which differ from the others, and the last ones.
  void peel(LoopParts loop, int64_t first) {
    const int64_t lower = loop.begin.lower;
    const int64_t upper = loop.begin.upper;
    const int64_t last = last_of(loop.begin, ends_);
    const size_t ops = loop.parts.size() + (loop.begin.index ? 1 : 0);
    added_.resize(added_.size() + ops);  // no written iteration has ops of a loop
    std::vector<std::string> carried;
    for (const LoopBegin::Carried& carry : loop.begin.carries)
      carried.push_back(carry.initial);
    if (lower == upper || ops == 0) {
      builder_.empty_loop(loop.begin.name);
    } else if (upper - lower < first + last + kLeastLeft) {
      write(loop, lower, upper, carried);
    } else {
      write(loop, lower, lower + first, carried);
      keep(loop, lower + first, upper - last, carried);
      write(loop, upper - last, upper, carried);
    }
    for (size_t c = 0; c < carried.size(); ++c)
      builder_.name_also(carried[c], loop.end.results[c], loop.begin.origin);
  }

  /// Writes these iterations out, at least one. `carried` has the values that they begin with, and
  /// then those that they yield.
  void write(const LoopParts& loop, int64_t lower, int64_t upper,
             std::vector<std::string>& carried) {
    WrittenLoop written;
    written.name = loop.begin.name;
    written.lower = lower;
    written.upper = upper;
    written.has_index = loop.begin.index.has_value();
    for (int64_t k = lower; k < upper; ++k) {
      LoopIteration iteration;
      iteration.index = k;
      iteration.name = with_index(loop.begin.name, k);
      iteration.site_suffix = with_index("", k);
      const std::string body = any_iteration(loop.begin.name);
      const auto rename = [&](std::string& name) {
        for (size_t c = 0; c < carried.size(); ++c)
          if (name == loop.begin.carries[c].param) {
            name = carried[c];
            return;
          }
        if (name.starts_with(body))
          name.replace(0, body.size(), iteration.name);
      };
      const auto write_op = [&](OpRequest op) {
        rename(op.forward);
        if (op.origin)
          op.origin->note = fmt::format(" (in {})", iteration.name);
        ProgramPart part = std::move(op);
        for_each_name(part, rename);
        add_part(std::move(part), builder_);
      };
      const ProgramBuilder::Size begin = builder_.size();
      if (loop.begin.index) {
        OpRequest index = *loop.begin.index;
        index.attributes = index_attributes(k);
        write_op(std::move(index));
      }
      for (const ProgramPart& part : loop.parts)
        write_op(std::get<OpRequest>(part));
      const ProgramBuilder::Size end = builder_.size();
      iteration.ops = {begin.ops, end.ops};
      iteration.values = {begin.values, end.values};
      iteration.buffers = {begin.buffers, end.buffers};
      std::vector<std::string> yielded = loop.end.yielded;
      for (std::string& name : yielded)
        rename(name);
      carried = std::move(yielded);
      written.written.push_back(std::move(iteration));
    }
    if (written.last().ops.size() > 0)
      written_.push_back(std::move(written));
  }

  /// Adds these iterations as a loop. `carried` is as for write(). A carry that is the same in all
  /// iterations, or always the same as another one, is left out, as nothing tells the two apart.
  void keep(LoopParts loop, int64_t lower, int64_t upper, std::vector<std::string>& carried) {
    LoopBegin begin = loop.begin;
    LoopEnd end;
    begin.lower = lower;
    begin.upper = upper;
    begin.carries.clear();
    if (begin.index)
      begin.index->attributes = index_attributes(lower);
    std::map<std::string, std::string> in_body;                     // by the loop's params
    std::map<std::pair<std::string, std::string>, size_t> carries;  // by initial and yielded value
    for (size_t c = 0; c < carried.size(); ++c) {
      const std::string& param = loop.begin.carries[c].param;
      const std::string& yielded = loop.end.yielded[c];
      if (yielded == param || yielded == carried[c]) {
        in_body.emplace(param, carried[c]);
        continue;
      }
      const auto [carry, is_new] = carries.emplace(std::pair(carried[c], yielded), carries.size());
      if (is_new) {
        // The carry's own name is that of what the last iteration yields.
        const std::string_view own = own_name(any_iteration(begin.name), param);
        begin.carries.push_back(
            {take_carry(names_, begin.name, std::string(own)), std::move(carried[c])});
        end.yielded.push_back(yielded);
        end.results.push_back(
            name_in(begin.name, own_name(any_iteration(begin.name), begin.carries.back().param)));
      }
      in_body.emplace(param, begin.carries[carry->second].param);
      carried[c] = end.results[carry->second];
    }
    const auto rename = [&](std::string& name) {
      if (const auto found = in_body.find(name); found != in_body.end())
        name = found->second;
    };
    std::ranges::for_each(end.yielded, rename);
    add_part(std::move(begin), builder_);
    for (ProgramPart& part : loop.parts) {
      for_each_name(part, rename);
      add_part(std::move(part), builder_);
    }
    add_part(std::move(end), builder_);
  }

  const Program& program_;
  const WrittenEnds ends_;
  Diagnostics diagnostics_;
  ProgramBuilder builder_;
  UnusedNames names_;
  const std::vector<Recurrence> repeating_;  // by loop
  SavedValues saved_;
  std::vector<ProgramPart> parts_;
  std::vector<Added> added_;  // by each op
  std::vector<WrittenLoop> written_;
};

}  // namespace

Program peeled(const Program& program, Checks checks, const WrittenEnds& ends) {
  return Peeling(program, checks, ends).run();
}

}  // namespace orrery
