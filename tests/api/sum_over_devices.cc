// Uses the library as a user does: makes a program with the API, runs it, and reads its report.
// Four devices on a ring sum two elements each. This takes 2(n-1) = 6 steps, each with a latency of
// 1 us and one element (4 B at 50 GB/s take 80 ps).

#include <iostream>
#include <utility>

#include "orrery.h"

int main() {
  using namespace orrery;
  Diagnostics diagnostics("sum_over_devices");
  ProgramBuilder builder(Mesh({{"x", 4}}), Checks::States, diagnostics);
  builder.argument("a", Dtype::F32, Shape({2}), {"x"});
  builder.thread("main", {LogicalId(0), LogicalId(1), LogicalId(2), LogicalId(3)});
  OpRequest sum{.name = "total", .kind = OpKind::Psum, .operands = {"a"}};
  sum.attributes.set("axis_name", std::vector<std::string>{"x"});
  sum.attributes.set("algorithm", std::string("ring"));
  builder.op(sum);
  builder.output("total");
  Program program = builder.finish();
  diagnostics.throw_if_any();

  const LinkFigures link{BytesPerSecond(50'000'000'000), Duration(1'000'000)};
  Scenario scenario{
      .name = "sum over four devices",
      .cluster = {"ring of 4", ring_fabric(4, link), {}},
      .program = std::move(program),
      .arrays = {{.name = "a", .global = Shape({8}), .spec = {{{"x"}}}, .init = IotaInit{}}}};
  const Report report = run(std::move(scenario), {});
  const auto total = report.values->at(report.scenario->program.outputs[0], LogicalId(0));
  std::cout << "makespan " << report.completion->makespan.picoseconds() << " ps, total ["
            << total->as<float>()[0] << ", " << total->as<float>()[1] << "], "
            << report.checks.size() << " checks " << (report.holds() ? "hold" : "fail") << "\n";
  const bool right = report.completion->makespan.picoseconds() == 6 * (1'000'000 + 80) &&
                     total->as<float>()[0] == 12 && total->as<float>()[1] == 16;
  return report.holds() && right ? 0 : 1;
}
