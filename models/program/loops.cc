#include "models/program/loops.h"

#include <algorithm>
#include <limits>

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
    for (uint32_t op = loop.repeated_ops().begin; op < loop.repeated_ops().end; ++op)
      times[op] = product(times[op], loop.repeats() + 1);
  return times;
}

std::vector<std::vector<size_t>> repeated_in(const Program& program) {
  std::vector<std::vector<size_t>> loops(program.ops.size());
  for (size_t l = 0; l < program.written_loops.size(); ++l) {
    const WrittenLoop& loop = program.written_loops[l];
    for (uint32_t op = loop.repeated_ops().begin;
         loop.left_out() > 0 && op < loop.repeated_ops().end; ++op)
      loops[op].push_back(l);
  }
  return loops;
}

bool loops_meet_in_step(const Program& program) {
  const std::vector<std::vector<size_t>> loops_of = repeated_in(program);
  const auto in_step = [&](size_t one, size_t other) {
    const WrittenLoop& a = program.written_loops[one];
    const WrittenLoop& b = program.written_loops[other];
    return a.lower == b.lower && a.upper == b.upper && a.window == b.window &&
           a.period == b.period && a.written.size() == b.written.size();
  };
  return std::ranges::all_of(program.sites, [&](const Site& site) {
    const std::vector<size_t>& first = loops_of[site.ops.front().index()];
    return std::ranges::all_of(site.ops, [&](OpId op) {
      return std::ranges::equal(first, loops_of[op.index()], in_step);
    });
  });
}

}  // namespace orrery
