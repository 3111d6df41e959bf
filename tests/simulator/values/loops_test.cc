// Compares programs with loops by the host executor with the same programs with all iterations
// written out: the values, and how many of them are held.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/unroll.h"
#include "simulator/lower/lower.h"
#include "simulator/values/host_executor.h"
#include "simulator/values/host_visitor.h"
#include "tests/models/program/looping.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// A `LoweredProgram` is a lowered program with an argument "a" of f32[4] on 4 devices.
struct LoweredProgram {
  explicit LoweredProgram(Program of) : program(std::move(of)), arguments(program) {
    Cluster cluster{"rig",
                    fully_connected_fabric(program.mesh.devices(),
                                           {BytesPerSecond(1'000'000'000), Duration(1)}),
                    {}};
    for (const Dtype dtype : all_dtypes())
      cluster.device.flops[dtype] = FlopsPerSecond(1'000'000'000);
    Diagnostics diagnostics("f");
    lowered = lower(program, cluster, diagnostics);
    diagnostics.throw_if_any();
    for (uint32_t d = 0; d < program.mesh.devices(); ++d)
      arguments.at(program.arguments[0].value, LogicalId(d)) =
          tensor(Dtype::F32, {4}, {0.1 + d, -0.2 * d, 0.3, 1.0 / (d + 3)});
  }

  HostRun run(VisitEndedRun ended = {}) const {
    return execute(program, lowered, arguments, std::move(ended));
  }

  Program program;
  Lowered lowered;
  DeviceValues arguments;
};

/// A `Recording` keeps every value of every iteration, and counts how many are held at once.
class Recording : public HostVisitor {
 public:
  explicit Recording(const LoweredProgram& of, VisitEndedRun ended = {})
      : HostVisitor(of.program, of.lowered, of.arguments, std::move(ended)), of_(of) {}

  void local(OpRun run, LogicalId device) {
    HostVisitor::local(run, device);
    record(run, device);
  }
  void done(OpRun run, LogicalId device) {
    HostVisitor::done(run, device);
    record(run, device);
  }
  void exit(CollectiveRun run, Node node, OpRun by) {
    HostVisitor::exit(run, node, by);
    if (of_.program.op(by.op).issue == Issue::Sync)
      record(by, of_.lowered.collective(run.collective).members[node.index()]);
  }

  using ByName = std::map<std::pair<std::string, LogicalId>, Tensor>;
  const ByName& made() const { return made_; }

 private:
  void record(OpRun run, LogicalId device) {
    const Iterations& iterations = *of_.lowered.iterations;
    const ValueId result = of_.program.op(run.op).results.front();
    const std::string name =
        iterations.name(of_.program.value(result).name, iterations.loop_of(run.op), run.iteration);
    const bool is_new =
        made_.emplace(std::pair(name, device), *values().read(result, run, device)).second;
    CHECK(is_new);
  }

  const LoweredProgram& of_;
  ByName made_;
};

/// Checks the values after a run: each value is that of the last iteration.
void check_last(const LoweredProgram& region, DeviceValues values, const HostRun& flat,
                const std::map<std::string_view, ValueId>& flat_names) {
  const Iterations& iterations = *region.lowered.iterations;
  for (uint32_t v = 0; v < region.program.values.size(); ++v) {
    const LoopAround loop = iterations.loop_of(ValueId(v));
    for (uint32_t d = 0; d < 4; ++d) {
      const std::optional<Tensor>& value = values.at(ValueId(v), LogicalId(d));
      CAPTURE(region.program.values[v].name);
      if (region.program.values[v].type.future || iterations.runs(loop) == 0) {
        REQUIRE(!value);
        continue;
      }
      const ValueRun source = iterations.source(ValueId(v), loop, iterations.runs(loop) - 1);
      const std::string name = iterations.name(region.program.value(source.value).name,
                                               iterations.loop_of(source.value), source.iteration);
      REQUIRE(value.has_value());
      REQUIRE(*value == *flat.values.at(flat_names.at(name), LogicalId(d)));
    }
  }
}

TEST_CASE("loops: random programs have the values of their written iterations") {
  size_t compared = 0;
  for (uint64_t seed = 0; seed < tries(150); ++seed) {
    CAPTURE(seed);
    const LoweredProgram region(RandomLoops(seed, RandomLoops::Ops::All).make());
    const LoweredProgram flat(unrolled(region.program, LongLoops::WrittenOut).program);
    const HostRun expected = flat.run();
    REQUIRE(expected.stop.finished());

    size_t ended = 0;
    Recording visitor(region, [&](const EndedRun& run) {
      ++ended;
      CHECK(run.members.size() == region.lowered.collective(run.run.collective).members.size());
    });
    REQUIRE(walk(region.program, region.lowered, visitor).finished());
    CHECK(ended == flat.lowered.collectives.size());
    size_t of_flat = 0;
    for (size_t v = 1; v < flat.program.values.size(); ++v) {
      const Value& value = flat.program.values[v];
      for (uint32_t d = 0; d < 4 && !value.type.future; ++d, ++of_flat)
        REQUIRE(visitor.made().at({value.name, LogicalId(d)}) ==
                *expected.values.at(ValueId(v), LogicalId(d)));
    }
    CHECK(visitor.made().size() == of_flat);
    compared += of_flat;
    check_last(region, std::move(visitor).finish(), expected, values_by_name(flat.program));
  }
  CHECK((!is_all_tried() || compared > 20'000));
}

OpRequest psum(std::string name, std::string of) {
  return op(std::move(name), "psum", {std::move(of)}, {{"axis_name", Names{"x"}}});
}
OpRequest psum_start(std::string name, std::string of) {
  return op(std::move(name), "psum_start", {std::move(of)}, {{"axis_name", Names{"x"}}});
}

/// Returns loops whose carries change places, are delayed, or are futures. The loop "l" contains
/// another loop, and an op after "l" names iterations of both.
Program many_carries(int64_t outer, int64_t inner) {
  Looping l(Checks::Shapes);
  l.with(psum_start("f", "a")).with(psum_start("g", "a"));
  l.begin("l", 0, outer, {{"p", "a"}, {"q", "a"}, {"r", "a"}, {"f", "f"}, {"g", "g"}});
  l.with(op("l[].d", "done", {"l[].g"})).with(op("l[].e", "sub", {"l[].d", "l[].r"}));
  l.with(psum_start("l[].f2", "l[].e"));
  l.begin("l[].m", 2, 2 + inner, {{"u", "l[].p"}, {"v", "l[].q"}});
  l.with(op("l[].m[].w", "sub", {"l[].m[].u", "l[].m[].v"}));
  l.with(psum("l[].m[].s", "l[].m[].w")).with(op("l[].m[].x", "add", {"l[].m[].s", "l[].e"}));
  l.end({{"u", "l[].m[].v"}, {"v", "l[].m[].w"}});
  l.with(op("l[].y", "sub", {"l[].m.v", "l[].m.u"}));
  l.end({{"p", "l[].q"}, {"q", "l[].y"}, {"r", "l[].p"}, {"f", "l[].f2"}, {"g", "l[].f"}});
  l.with(op("d", "done", {"l.f"})).with(op("e", "done", {"l.g"}));
  l.with(op("z", "add", {"l[3].y", "l[1].m[4].w"}));
  return l.finish();
}

/// Returns how many tensors are held at most.
size_t most_held(const LoweredProgram& of) {
  struct Counting : HostVisitor {
    using HostVisitor::HostVisitor;
    void local(OpRun run, LogicalId device) {
      HostVisitor::local(run, device);
      most = std::max(most, values().tensors());
    }
    size_t most = 0;
  };
  Counting visitor(of.program, of.lowered, of.arguments);
  REQUIRE(walk(of.program, of.lowered, visitor).finished());
  return visitor.most;
}

TEST_CASE("loops: what is held does not grow with the iterations") {
  const size_t few = most_held(LoweredProgram(many_carries(20, 10)));
  CHECK(most_held(LoweredProgram(many_carries(20, 60))) == few);
  CHECK(most_held(LoweredProgram(many_carries(150, 10))) == few);
}

TEST_CASE("loops: a started collective keeps the operand of its iteration") {
  // The list of device 0 starts all collectives before any other device enters.
  Looping l(Checks::Shapes);
  l.with(psum_start("f", "a")).begin("l", 0, 6, {{"p", "a"}, {"f", "f"}});
  l.with(op("l[].y", "add", {"l[].p", "a"})).with(psum_start("l[].f2", "l[].y"));
  l.end({{"p", "l[].y"}, {"f", "l[].f2"}}).with(op("z", "done", {"l.f"}));
  const LoweredProgram region(l.finish());
  std::map<uint64_t, double> sums;
  region.run([&](const EndedRun& run) {
    if (region.lowered.iterations->loop_of(run.members.front().op))
      sums[run.run.iteration] = numbers(*run.members.front().result)[0];
  });
  REQUIRE(sums.size() == 6);
  for (const auto& [iteration, sum] : sums)  // the sum of `a` is 6.4
    CHECK(sum == doctest::Approx(6.4 * static_cast<double>(iteration + 2)));
}

TEST_CASE("loops: an index is that of each iteration") {
  Looping l;
  l.begin("l", -2, 5, {{"p", "a"}});
  l.with(op("l[].i", "full", {},
            {{"shape", Integers{}}, {"fill_value", -2.0}, {"dtype", Dtype::S32}}));
  l.builder.last_op_is_index();
  l.end({{"p", "l[].p"}}).with(op("z", "neg", {"l[1].i"}));
  const LoweredProgram region(l.finish());
  const HostRun run = region.run();
  const auto number = [&](const char* name) {
    return numbers(*run.values.at(values_by_name(region.program).at(name), LogicalId(2)))[0];
  };
  CHECK(number("l[].i") == 4);
  CHECK(number("z") == -1);
}

TEST_CASE("loops: a million iterations") {
  Looping l;
  l.begin("l", 0, 2 * static_cast<int64_t>(tries(500'000)), {{"p", "a"}})
      .with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].y"}}).with(op("z", "neg", {"l.p"}));
  const LoweredProgram region(l.finish());
  const HostRun run = region.run();
  CHECK(run.stop.finished());
  CHECK(numbers(*run.values.at(values_by_name(region.program).at("z"), LogicalId(3)))[2] ==
        doctest::Approx(-0.3));
}

}  // namespace
}  // namespace orrery::test
