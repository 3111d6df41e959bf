#include "simulator/schedule/loop_iterations.h"

namespace orrery {

namespace {

bool alike(const LocalTime& a, const LocalTime& b) {
  return a.common == b.common && a.by_device == b.by_device;
}

bool alike(const Collective& a, const Collective& b) {
  return a.schedule == b.schedule && a.work == b.work && a.members == b.members &&
         a.vertices == b.vertices && a.stream == b.stream && a.pack == b.pack &&
         a.leave == b.leave && a.threads == b.threads && a.transfer == b.transfer &&
         a.receiver_stream == b.receiver_stream;
}

}  // namespace

std::optional<LoopIterations> LoopIterations::find(const Program& program, const Lowered& lowered,
                                                   const ProgramLists& lists,
                                                   std::span<const size_t> loops, size_t first) {
  LoopIterations found;
  for (const size_t l : loops) {
    const WrittenLoop& loop = program.written_loops[l];
    if (first + 2 > loop.written.size() || loop.written[first].ops.size() == 0)
      return std::nullopt;
    const auto begin_of = [&](size_t iteration) {
      return lists.instruction_of(OpId(loop.written[iteration].ops.begin));
    };
    ThreadPart part{loop.thread, begin_of(first), begin_of(first + 1) - begin_of(first),
                    static_cast<uint32_t>(loop.written.size() - first)};
    for (const ThreadPart& other : found.parts_)
      if (other.thread == part.thread || other.count != part.count)
        return std::nullopt;
    for (uint32_t i = 0; i < part.count; ++i)
      if (begin_of(first + i) != part.begin + i * part.length)
        return std::nullopt;
    if (part.begin + part.count * part.length > lists.tape(part.thread).size())
      return std::nullopt;
    found.parts_.push_back(part);
  }
  if (found.parts_.empty() || !found.same_instructions(lowered, lists) ||
      !found.find_collectives(program, lowered, lists))
    return std::nullopt;
  return found;
}

LoopPosition LoopIterations::position(ThreadId thread, uint32_t instruction) const {
  for (const ThreadPart& part : parts_)
    if (part.thread == thread && instruction >= part.begin &&
        instruction - part.begin < part.count * part.length) {
      const uint32_t from_begin = instruction - part.begin;
      return {true, from_begin / part.length, part.begin + from_begin % part.length};
    }
  return {false, 0, instruction};
}

/// Whether the instructions of all iterations are those of the first.
bool LoopIterations::same_instructions(const Lowered& lowered, const ProgramLists& lists) const {
  for (const ThreadPart& part : parts_) {
    const TapeOrder& tape = lists.tape(part.thread);
    for (uint32_t i = part.begin + part.length; i < part.begin + part.count * part.length; ++i) {
      const uint32_t first = part.begin + (i - part.begin) % part.length;
      const Instruction& a = tape[first];
      const Instruction& b = tape[i];
      if (a.kind != b.kind || a.stream != b.stream)
        return false;
      if (a.kind == Instruction::Kind::Local &&
          !alike(lowered.local[a.op.index()], lowered.local[b.op.index()]))
        return false;
      if (a.kind == Instruction::Kind::Wait && first - tape.enter_of(first) != i - tape.enter_of(i))
        return false;
    }
  }
  return true;
}

/// Whether the collectives of all iterations are those of the first; says which they are.
bool LoopIterations::find_collectives(const Program& program, const Lowered& lowered,
                                      const ProgramLists& lists) {
  const std::vector<ThreadId> threads = issued_by(program);
  const auto position_of = [&](OpId op) {
    return position(threads[op.index()], lists.instruction_of(op));
  };
  std::vector<uint32_t> begin(program.sites.size() + 1);  // per site: its first collective
  for (const Collective& collective : lowered.collectives)
    ++begin[collective.site.index() + 1];
  for (size_t s = 0; s < program.sites.size(); ++s)
    begin[s + 1] += begin[s];
  collectives_.resize(lowered.collectives.size());
  for (size_t s = 0; s < program.sites.size(); ++s) {
    const std::vector<OpId>& ops = program.sites[s].ops;
    const LoopPosition where = position_of(ops.front());
    // The one of iteration 0 that corresponds to it.
    const SiteId like =
        where.repeated ? *program.op(lists.tape(threads[ops.front().index()])[where.index].op).site
                       : SiteId(s);
    const std::vector<OpId>& like_ops = program.site(like).ops;
    if (ops.size() != like_ops.size() ||
        begin[s + 1] - begin[s] != begin[like.index() + 1] - begin[like.index()])
      return false;
    for (size_t i = 0; i < ops.size(); ++i) {
      const LoopPosition mine = position_of(ops[i]);
      if (mine.repeated != where.repeated || mine.iteration != where.iteration ||
          (mine.repeated && (threads[ops[i].index()] != threads[like_ops[i].index()] ||
                             mine.index != position_of(like_ops[i]).index)))
        return false;
    }
    for (uint32_t c = begin[s]; c < begin[s + 1]; ++c) {
      const uint32_t same = begin[like.index()] + (c - begin[s]);
      if (!alike(lowered.collectives[c], lowered.collectives[same]))
        return false;
      collectives_[c] = {where.repeated, where.iteration, same};
    }
  }
  return true;
}

}  // namespace orrery
