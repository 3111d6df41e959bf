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
    for (uint32_t op = loop.repeated_ops().begin; op < loop.repeated_ops().end; ++op)
      times[op] = product(times[op], loop.repeats() + 1);
  return times;
}

}  // namespace orrery
