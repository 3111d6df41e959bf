// This is the part of vjp that starts the collectives of a backward pass early.

#include <algorithm>
#include <map>
#include <utility>

#include "models/base/callable.h"
#include "models/program/rules.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// Overlapped holds the parts with their collectives started on stream 1. A collective starts as
/// soon as its operands are made; if a collective makes one, it starts where it stands. Its done
/// comes just before the first part that reads it, or at the end. Collectives that are computed
/// again run where they stand: if they started early, their results would live as long as kept
/// ones. The body of a loop is overlapped by itself. There, what the loop only adds up is added at
/// the end of the body, or in the next iteration (postponed.cc), so that the collectives may run
/// until then.
class Overlapped {
 public:
  explicit Overlapped(std::vector<ProgramPart> parts, UnusedNames& names, bool in_body = false)
      : names_(names), blocks_(blocks_of(std::move(parts))) {
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
                              block.starts =
                                  depth == 0 && can_start_early(op) && op.pass != Pass::Again;
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

  static bool is_slice(const Block& block) {
    const auto* const op = std::get_if<OpRequest>(&block.parts.front());
    return block.parts.size() == 1 && op != nullptr && op->kind == OpKind::DynamicSlice;
  }

  /// Moves ops to the end of the body that read the result of a collective, if only such ops read
  /// theirs. A slice that only they read comes with them, so that it is not held until then.
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
    std::vector<size_t> readers(blocks_.size(), 0);
    std::vector<size_t> last_readers(blocks_.size(), 0);
    for (size_t i = blocks_.size(); i-- > 0;) {
      last[i] =
          last[i] || (is_slice(blocks_[i]) && readers[i] > 0 && readers[i] == last_readers[i]);
      for_each_maker(i, [&](size_t maker) {
        ++readers[maker];
        last_readers[maker] += last[i] ? 1 : 0;
      });
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
    if (block.parts.size() == 1) {
      parts_.push_back(std::move(block.parts.front()));
      return;
    }
    LoopParts loop = take_loop(block.parts, 0);
    Overlapped body(std::move(loop.parts), names_, true);
    loop.parts = body.take();
    // A loop around one that has been split stays whole: bodies would be copied for each of both.
    if (body.has_split_) {
      append(std::move(loop), parts_);
      has_split_ = true;
    } else {
      has_split_ = append_postponed(std::move(loop), names_, parts_) || has_split_;
    }
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

  UnusedNames& names_;
  bool has_split_ = false;  // a loop, into its first iteration and the others
  std::vector<Block> blocks_;
  std::vector<ProgramPart> parts_;
  std::map<std::string, OpRequest> open_;  // the ends of those that run, by their results
  std::vector<std::string> order_;         // in which the starts come
};

}  // namespace

std::vector<ProgramPart> overlapped(std::vector<ProgramPart> parts, UnusedNames& names) {
  return Overlapped(std::move(parts), names).take();
}

}  // namespace orrery
