// Tests a schedule that hangs by itself: the report must name the steps that wait for each other,
// in the words of the scenario, in no more rows than a reader needs.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/verifier/scenario_rig.h"
#include "verifier/check/names.h"

namespace orrery::test {
namespace {

/// Runs a psum over axis "x" by a ring with one slot. Each device's step 1 needs the slot of the
/// message of its step 0. The next device frees the slot in its own step 1, and so on around the
/// ring.
Ran ring_of_one_slot(size_t devices, const std::string& mesh) {
  ScenarioParts parts;
  parts.devices = devices;
  parts.mesh = mesh;
  parts.arrays = fmt::format(
      R"({{"a": {{"shape": [{}], "dtype": "f32", "spec": ["x"], "init": "iota"}}}})", devices * 16);
  parts.program =
      R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring", "slots": 1}])";
  return run_parts(parts);
}

std::pair<std::string, std::string> row(size_t device, size_t next) {
  return {fmt::format("device {} channel 0 step 1", device),
          fmt::format("waits to send until device {} channel 0 step 1 frees a slot", next)};
}

TEST_CASE("hang of a schedule: one row for each step that waits, with its device") {
  // Along "x", the outer axis, devices 0, 2, 4 and 6 are a group.
  const Ran ran = ring_of_one_slot(8, R"({"x": 4, "y": 2})");
  const Check& check = ran.check("DEADLOCK.FREE");
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.of == "/program/0");
  CHECK(check.message ==
        "The schedule of \"r\" cannot end: its steps wait for each other, in a cycle of 4.");
  CHECK(check.witness == Witness{row(0, 2), row(2, 4), row(4, 6), row(6, 0)});
}

TEST_CASE(
    "hang of a schedule: at most eight rows, the last of which says how many more there are") {
  Witness eight;
  for (size_t d = 0; d < 8; ++d)
    eight.push_back(row(d, (d + 1) % 8));
  CHECK(ring_of_one_slot(8, R"({"x": 8})").check("DEADLOCK.FREE").witness == eight);
  Witness of_nine;
  for (size_t d = 0; d < 7; ++d)
    of_nine.push_back(row(d, d + 1));
  of_nine.emplace_back("...", "2 more");
  CHECK(ring_of_one_slot(9, R"({"x": 9})").check("DEADLOCK.FREE").witness == of_nine);
}

TEST_CASE("hang of a schedule: the proof refers to the check that tells the steps") {
  const Ran ran = ring_of_one_slot(4, R"({"x": 4})");
  const Check& check = ran.check("SCHEDULE.PROVED");
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message == "\"r\" by ring is not psum: it does not end (see DEADLOCK.FREE).");
  CHECK(check.witness == Witness{{"op", "r"}});
}

}  // namespace
}  // namespace orrery::test
