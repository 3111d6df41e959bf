// Tests "faults" of a scenario: how they are read and written, and the errors.

#include <doctest/doctest.h>

#include "models/scenario/fault.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario of four devices on a ring, with "faults" in line 6.
Small with_faults(const std::string& faults) {
  Small s;
  s.more = "\"faults\": " + faults;
  return s;
}

TEST_CASE("faults: one of each kind is read") {
  const Scenario s = read_scenario("f", with_faults(R"([
      {"slow_device": 3, "factor": 1.5},
      {"slow_link": {"from": 0, "to": 1}, "bandwidth": "10 GB/s", "latency_us": 3},
      {"slow_link": {"from": 1, "to": 0}, "factor": 2},
      {"cut_link": {"from": 3, "to": 2}},
      {"late_start": 2, "by": "5 us"},
      {"jitter": {"ops": "500 ns", "links": "100 ns"}}])")
                                            .text());
  REQUIRE(s.faults.size() == 6);
  CHECK(s.faults[0] == Fault(SlowDevice{LogicalId(3), Factor(1'500'000)}));
  CHECK(s.faults[1] == Fault(SlowLink{VertexId(0), VertexId(1), std::nullopt,
                                      BytesPerSecond(10'000'000'000), Duration(3'000'000)}));
  CHECK(s.faults[2] ==
        Fault(SlowLink{VertexId(1), VertexId(0), Factor(2'000'000), std::nullopt, std::nullopt}));
  CHECK(s.faults[3] == Fault(CutLink{VertexId(3), VertexId(2)}));
  CHECK(s.faults[4] == Fault(LateStart{LogicalId(2), Duration(5'000'000)}));
  CHECK(s.faults[5] == Fault(Jitter{Duration(500'000), Duration(100'000)}));
}

TEST_CASE("faults: what is written reads back") {
  Small s = with_faults(R"([{"slow_device": 0, "factor": 1.000001},
      {"slow_link": {"from": 0, "to": "a b"}, "factor": 1000000, "latency": "1 us"},
      {"slow_link": {"from": "a b", "to": 0}, "bandwidth": "7 B/s"},
      {"cut_link": {"from": "a b", "to": 1}}, {"late_start": 0, "by": "1 ps"},
      {"jitter": {"links": "1 ns"}}])");
  s.cluster = R"({"devices": 4, "bandwidth": "9 B/s", "latency": "0 s", "links": [
      {"from": 0, "to": "a b"}, {"from": "a b", "to": 0}, {"from": "a b", "to": 1}]})";
  const Scenario scenario = read_scenario("f", s.text());
  const Scenario again = read_scenario("f", write_scenario(scenario));
  CHECK(again.faults == scenario.faults);
  CHECK(write_scenario(again) == write_scenario(scenario));
}

TEST_CASE("faults: each has a sentence") {
  const Fabric ring = switch_fabric(4, {BytesPerSecond(1), Duration(0)});
  const auto text = [&](const Fault& fault) { return fault_text(fault, ring, 7); };
  CHECK(text(SlowDevice{LogicalId(3), Factor(1'250'000)}) ==
        "Device 3 is slow: its local ops take 1.25 times as long.");
  CHECK(text(SlowLink{VertexId(0), VertexId(4), Factor(3'000'000), std::nullopt, Duration(5)}) ==
        "The link device 0 -> switch \"switch\" is slow: its bandwidth is divided by 3, its "
        "latency is 5 ps.");
  CHECK(text(SlowLink{VertexId(4), VertexId(0), std::nullopt, BytesPerSecond(2), std::nullopt}) ==
        "The link switch \"switch\" -> device 0 is slow: its bandwidth is 2 B/s.");
  CHECK(text(CutLink{VertexId(1), VertexId(4)}) ==
        "The link device 1 -> switch \"switch\" is cut.");
  CHECK(text(LateStart{LogicalId(1), Duration(5'000'000)}) == "Device 1 starts late, at 5 us.");
  CHECK(text(Jitter{Duration(1000), Duration(2000)}) ==
        "Jitter of seed 7: local ops take up to 1 ns longer, latencies of links are up to 2 ns "
        "longer.");
  CHECK(text(Jitter{Duration(), Duration(2000)}) ==
        "Jitter of seed 7: latencies of links are up to 2 ns longer.");
}

TEST_CASE("factor: durations round up, bandwidths down") {
  CHECK(stretched(Duration(3), Factor(1'500'000)) == Duration(5));  // 4.5
  CHECK(stretched(Duration(4), Factor(1'500'000)) == Duration(6));
  CHECK(stretched(Duration(1), Factor(1'000'001)) == Duration(2));
  CHECK(stretched(Duration(0), Factor(1'500'000)) == Duration(0));
  CHECK(stretched(Duration(7), kOnce) == Duration(7));
  CHECK(slowed(BytesPerSecond(10), Factor(3'000'000)) == BytesPerSecond(3));
  CHECK(slowed(BytesPerSecond(10), Factor(11'000'000)) == BytesPerSecond(1));  // never none
  CHECK(slowed(BytesPerSecond(10), kOnce) == BytesPerSecond(10));
  CHECK(parts_of_slowed(BytesPerSecond(10), Factor(3'000'000)) == 3);
  CHECK(parts_of_slowed(BytesPerSecond(12), Factor(3'000'000)) == 1);
  CHECK(parts_of_slowed(BytesPerSecond(10), Factor(1'300'000)) == 13);  // 100 / 13
  CHECK(parts_of_slowed(BytesPerSecond(1), Factor(1'000'001)) == 1'000'001);
}

TEST_CASE("factor: the text is the shortest decimal") {
  CHECK(factor_text(kOnce) == "1");
  CHECK(factor_text(Factor(1'500'000)) == "1.5");
  CHECK(factor_text(Factor(10'000'001)) == "10.000001");
  CHECK(factor_text(kMostFactor) == "1000000");
}

TEST_CASE("faults: each kind of error in one") {
  struct Wrong {
    std::string faults;
    std::string refused;
  };
  const std::string factor =
      "expected a factor from 1 to 1000000 with at most 6 decimals, such as "
      "1.5, got ";
  const Wrong cases[] = {
      {"{}", "f:6:11: /faults: expected a list of faults, got an object"},
      {"[7]",
       "f:6:12: /faults/0: expected a fault such as {\"slow_device\": 0, \"factor\": 1.5}, got 7"},
      {"[{}]",
       "f:6:12: /faults/0: expected one of \"slow_device\", \"slow_link\", \"cut_link\", "
       "\"late_start\", \"jitter\", got none"},
      {R"([{"slow_device": 0, "late_start": 0}])",
       "f:6:12: /faults/0: expected one of \"slow_device\", \"slow_link\", \"cut_link\", "
       "\"late_start\", \"jitter\", got several"},
      {R"([{"slow_devices": 0}])",
       "f:6:13: /faults/0/slow_devices: unknown key \"slow_devices\"; did you mean "
       "\"slow_device\"?"},
      {R"([{"slow_device": 4, "factor": 2}])",
       "f:6:28: /faults/0/slow_device: expected a device of the mesh from 0 to 3, got 4"},
      {R"([{"slow_device": 0}])", "f:6:12: /faults/0: missing key \"factor\""},
      {R"([{"slow_device": 0, "factor": 0.999999}])",
       "f:6:41: /faults/0/factor: " + factor + "0.999999"},
      {R"([{"slow_device": 0, "factor": 1000000.000001}])",
       "f:6:41: /faults/0/factor: " + factor + "1000000.000001"},
      {R"([{"slow_device": 0, "factor": 1.0000001}])",
       "f:6:41: /faults/0/factor: " + factor + "1.0000001"},
      {R"([{"slow_device": 0, "factor": "2x"}])", "f:6:41: /faults/0/factor: " + factor + "\"2x\""},
      {R"([{"slow_device": 0, "factor": 2, "by": "1 us"}])",
       "f:6:44: /faults/0/by: unknown key \"by\"; expected one of \"slow_device\", \"slow_link\", "
       "\"cut_link\", \"late_start\", \"jitter\", \"factor\""},
      {R"([{"slow_device": 0, "factor": 2}, {"slow_device": 0, "factor": 3}])",
       "f:6:61: /faults/1/slow_device: expected another fault: device 0 is slow already by "
       "/faults/0/slow_device"},
      {R"([{"slow_link": 3, "factor": 2}])",
       "f:6:26: /faults/0/slow_link: expected a link such as {\"from\": 0, \"to\": 1}, got 3"},
      {R"([{"slow_link": {"from": 0, "to": 1}}])",
       "f:6:26: /faults/0/slow_link: expected \"factor\", \"bandwidth\" or \"latency\" beside the "
       "link, got none"},
      {R"([{"slow_link": {"from": 0, "to": 1}, "factor": 2, "bandwidth": "1 GB/s"}])",
       "f:6:48: /faults/0/factor: expected \"factor\" or \"bandwidth\", got both"},
      {R"([{"slow_link": {"from": 0, "to": 1}, "bandwidth": "51 GB/s"}])",
       "f:6:61: /faults/0/bandwidth: expected at most 50 GB/s, got \"51 GB/s\""},
      {R"([{"slow_link": {"from": 0, "to": 1}, "latency": "999 ns"}])",
       "f:6:59: /faults/0/latency: expected at least 1 us, got \"999 ns\""},
      {R"([{"cut_link": {"from": 0, "to": 2}}])",
       "f:6:25: /faults/0/cut_link: expected a link of the cluster, got device 0 -> device 2; from "
       "device 0, links lead to device 1, device 3"},
      {R"([{"cut_link": {"from": 0}}])", "f:6:25: /faults/0/cut_link: missing key \"to\""},
      {R"([{"cut_link": {"from": 0, "to": 4}}])",
       "f:6:43: /faults/0/cut_link/to: expected a switch's name or a device from 0 to 3, got 4"},
      {R"([{"cut_link": {"from": 0, "to": "s"}}])",
       "f:6:43: /faults/0/cut_link/to: expected a switch of the cluster or a device, got \"s\""},
      {R"([{"slow_link": {"from": 0, "to": 1}, "factor": 2}, {"cut_link": {"from": 0, "to": 1}}])",
       "f:6:75: /faults/1/cut_link: expected another fault: the link device 0 -> device 1 is slow "
       "or cut already by /faults/0/slow_link"},
      {R"([{"late_start": -1, "by": "1 us"}])",
       "f:6:27: /faults/0/late_start: expected a device of the mesh from 0 to 3, got -1"},
      {R"([{"late_start": 1}])", "f:6:12: /faults/0: missing key \"by\""},
      {R"([{"late_start": 1, "by": "1 us"}, {"late_start": 1, "by": "1 us"}])",
       "f:6:60: /faults/1/late_start: expected another fault: device 1 starts late already by "
       "/faults/0/late_start"},
      {R"([{"jitter": "1 us"}])",
       "f:6:23: /faults/0/jitter: expected an object with \"ops\", \"links\" or both, got \"1 "
       "us\""},
      {R"([{"jitter": {}}])",
       "f:6:23: /faults/0/jitter: expected \"ops\", \"links\" or both, got neither"},
      {R"([{"jitter": {"op": "1 us"}}])",
       "f:6:24: /faults/0/jitter/op: unknown key \"op\"; expected one of \"ops\", \"links\""},
      {R"([{"jitter": {"ops": "1 us"}}, {"jitter": {"links": "1 us"}}])",
       "f:6:52: /faults/1/jitter: expected another fault: there is jitter already by "
       "/faults/0/jitter"},
  };
  for (const Wrong& c : cases) {
    CAPTURE(c.faults);
    CHECK(refusal(with_faults(c.faults).text()) == c.refused);
  }
}

TEST_CASE("faults: a misspelt switch, and a vertex without outgoing links") {
  Small s = with_faults(
      R"([{"cut_link": {"from": 0, "to": "spin"}}, {"cut_link": {"from": 1, "to": 0}}])");
  s.cluster = R"({"devices": 4, "bandwidth": "9 B/s", "latency": "0 s", "links": [
{"from": 0, "to": "spine"}]})";
  CHECK(refusal(s.text()) ==
        "f:7:43: /faults/0/cut_link/to: expected a switch of the cluster or a device, got "
        "\"spin\"; did you mean \"spine\"?\n"
        "f:7:66: /faults/1/cut_link: expected a link of the cluster, got device 1 -> device 0; no "
        "link leads from device 1");
}

}  // namespace
}  // namespace orrery
