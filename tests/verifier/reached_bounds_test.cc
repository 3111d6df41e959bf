// Tests how reports say how close collectives come to what their fabric allows.

#include <string>

#include <doctest/doctest.h>

#include "tests/support/units.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery::test {
namespace {

const OpReport& row(const Report& report, const std::string& name) {
  for (const OpReport& op : report.ops)
    if (report.scenario->program.op(op.op).name == name)
      return op;
  FAIL("no op " << name);
  return report.ops.front();
}

/// Returns a scenario of four devices on a ring with links of 1 GB/s each way, and 4,000 B each.
ScenarioParts parts_of(const std::string& program) {
  ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [4000], "dtype": "f32", "spec": ["x"], "init": "iota"}})";
  parts.program = program;
  return parts;
}

TEST_CASE("reached bounds: of a psum alone, from its launch to its end") {
  const Ran ran = run_parts(
      parts_of(R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"}])"));
  const ReachedBound& reached = *row(ran.report, "r").reached;
  // Six operands of 4,000 B cross eight links of 1,000 B a microsecond. The ring sends six messages
  // of 1,000 B one after another, each with a latency of 1 us, over one of two links.
  CHECK(reached.bound.cut == Duration(3 * kUs));
  CHECK(reached.bound.latency == Duration(2 * kUs));
  CHECK(reached.took == Duration(12 * kUs));
  CHECK(reached.took == ran.report.completion->makespan - Instant());
  CHECK(reached.share() == 0.25);
  CHECK(reached.busiest->bytes == Bytes(6000));
  CHECK(reached.busiest->takes == Duration(6 * kUs));
  CHECK(reached.is_missed_by_links());
}

TEST_CASE("reached bounds: the busiest link of a psum in a loop carries what one iteration sends") {
  const Ran ran = run_parts(parts_of(R"([
      {"id": "l", "op": "fori_loop", "lower": 0, "upper": 5, "body": [
         {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"}]}])"));
  size_t rows = 0;
  for (const OpReport& op : ran.report.ops)
    if (op.reached) {
      ++rows;
      CHECK(op.reached->busiest->bytes == Bytes(6000));  // six messages of 1,000 B
    }
  CHECK(rows > 0);
}

TEST_CASE("reached bounds: where members come late, from the first launch on") {
  ScenarioParts parts = parts_of(R"([
      {"name": "left", "on": {"x": 0}, "do": [
         {"id": "l", "op": "psum", "of": "a", "axis_name": "x", "site": "all"}]},
      {"name": "right", "on": {"x": [1, 4]}, "do": [
         {"id": "c", "op": "compute", "flops": "50 MFLOP", "bytes": "0 B", "dtype": "f32"},
         {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "site": "all"}]}])");
  parts.threads = true;
  const Ran ran = run_parts(parts);
  // Device 0 waits for 50 us.
  const Duration took = row(ran.report, "l").reached->took;
  CHECK(took == ran.report.completion->makespan - Instant());
  CHECK(took > Duration(50 * kUs));
  CHECK(row(ran.report, "r").reached->took == took);
}

TEST_CASE("reached bounds: a psend has one, from its launch to the end of the precv") {
  const Ran ran = run_parts(parts_of(
      R"([{"id": "s", "op": "psend", "of": "a", "axis_name": "x", "perm": [[0, 2]]},
          {"id": "r", "op": "precv", "of": "s", "axis_name": "x", "perm": [[0, 2]],
           "shape": [1000], "dtype": "f32"}])"));
  const ReachedBound& reached = *row(ran.report, "s").reached;
  // 4,000 B leave device 0 over two links, if one were used each way.
  CHECK(reached.bound.cut == Duration(2 * kUs));
  CHECK(reached.took == Duration(6 * kUs));
  CHECK(!row(ran.report, "r").reached);
}

TEST_CASE("reached bounds: of a local op, and of a group of one, none") {
  const Ran ran = run_parts(parts_of(R"([{"id": "t", "op": "add", "of": ["a", "a"]},
      {"id": "r", "op": "psum", "of": "t", "axis_name": []}])"));
  CHECK(!row(ran.report, "t").reached);
  CHECK(!row(ran.report, "r").reached);
}

TEST_CASE("reached bounds: links miss a bound that is missed by a tenth, if one link takes long") {
  ReachedBound reached;
  reached.bound.cut = Duration(90);
  reached.bound.latency = Duration(90);
  reached.busiest = BusiestLink{LinkId(0), Bytes(1), Duration(100)};
  const auto missed = [&](int64_t took, int64_t busiest) {
    reached.took = Duration(took);
    reached.busiest->takes = Duration(busiest);
    return reached.is_missed_by_links();
  };
  CHECK(!missed(100, 100));  // 90 % is reached
  CHECK(missed(101, 100));
  CHECK(!missed(101, 99));  // the link takes a tenth longer than the cut
  CHECK(missed(200, 100));
  CHECK(!missed(201, 100));  // it takes less than half of the time
  reached.bound.latency = Duration(91);
  CHECK(!missed(101, 100));
  reached.bound.latency = Duration();
  CHECK(missed(101, 100));
  reached.groups = 2;  // the others may use the same links
  CHECK(!missed(101, 100));
  reached.groups = 1;
  reached.busiest.reset();
  reached.took = Duration(101);
  CHECK(!reached.is_missed_by_links());
}

}  // namespace
}  // namespace orrery::test
