#include <doctest/doctest.h>

#include "tests/simulator/values/host_rig.h"
#include "tests/verifier/scenario_rig.h"
#include "verifier/definition/sums.h"

using namespace orrery;
using namespace orrery::test;

namespace {

/// On two devices, this has a dot product of 2 terms each, summed over the devices, and one dot
/// product of all 4 terms.
struct SplitAndWhole {
  SplitAndWhole() : rig({{"x", 2}}) {
    rig.argument("a", {{1, 2}, {3, -4}});
    const Attribute over_x = Names{"x"};
    const Attribute first = Lists{{0}, {0}, {}, {}};
    rig.op("dot_general", "part", {"a", "a"}, {{"dimension_numbers", first}});
    rig.op("psum_start", "started", {"part"}, {{"axis_name", over_x}});
    rig.op("done", "split", {"started"});
    rig.op("all_gather", "all", {"a"},
           {{"axis_name", over_x}, {"axis", int64_t{0}}, {"tiled", true}});
    rig.op("dot_general", "whole", {"all", "all"}, {{"dimension_numbers", first}});
    rig.op("mul", "squared", {"whole", "whole"});
    (void)rig.run();
  }

  HostRig rig;
};

}  // namespace

TEST_CASE("sums: behind the result of a collective are the ops of all its threads") {
  HostRig rig({{"x", 2}});
  rig.argument("a", {{1, 2}, {3, 4}});
  rig.thread("one", {LogicalId(0)});
  rig.op("psum", "r", {"a"}, {{"axis_name", Names{"x"}}}, "s");
  rig.thread("two", {LogicalId(1)});
  rig.op("neg", "n", {"a"});
  rig.op("psum", "q", {"n"}, {{"axis_name", Names{"x"}}}, "s");
  rig.lower();
  CHECK(ops_behind(rig.program, rig.value("r")) == std::set{OpId(0), OpId(1), OpId(2)});
}

TEST_CASE("sums: those of other lengths are named on both sides, common ones are not") {
  SplitAndWhole both;
  const HostRig& rig = both.rig;
  CHECK(different_sums(rig.program, rig.value("split"), rig.value("squared")) ==
        "\"part\" (dot_general of 2 terms), \"started\" (psum of 2 terms), \"whole\" (dot_general "
        "of 4 terms)");
  CHECK(different_sums(rig.program, rig.value("whole"), rig.value("squared")).empty());
}

TEST_CASE("sums: how two close values differ is told with the difference") {
  ScenarioParts parts;
  // In rank order the sum is 2e8. Neighbouring floats there are 16 apart, so 6 + 2e8 is 2e8. A ring
  // that begins at rank 3 adds 6 + 6 first, and ends at 2e8 + 16.
  parts.arrays =
      R"({"a": {"local_shape": [4], "dtype": "f32", "per_device": [[6, 6, 6, 6], [1e8, 1e8, 1e8, 1e8], [1e8, 1e8, 1e8, 1e8], [6, 6, 6, 6]]}})";
  parts.program =
      R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"},
          {"id": "g", "op": "all_gather", "of": "a", "axis_name": "x", "axis": 0},
          {"id": "s", "op": "reduce_sum", "of": "g", "axes": [0]}])";
  parts.expect = R"([{"close": ["r", "s"]}])";
  const std::string told = run_parts(parts).check("VALUES.CLOSE").message;
  CAPTURE(told);
  CHECK(told.find("Sums that only one of them makes: \"r\" (psum of 4 terms), \"s\" (reduce_sum "
                  "of 4 terms).") != std::string::npos);
}
