// Tests explanations as the user sees them: why an op ran when it did, why a value lives as long as
// it does, and what makes up the makespan.

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

/// Returns a scenario on two devices, 1 GB/s and 1 us each way, 1 TFLOP/s. A ring psum of 2,000
/// bytes takes two hops of 1 us + 1 us.
std::string scenario(const std::string& program, const std::string& more = "") {
  return R"({"orrery": 1, "name": "small",
    "cluster": {"devices": 2, "topology": "fully_connected", "bandwidth": "1 GB/s", "latency": "1 us",
                "memory": "1 MiB", "memory_bandwidth": "1 TB/s", "flops": {"f32": "1 TFLOP/s"}},
    "mesh": {"x": 2},
    "arrays": {"alpha": {"shape": [1000], "dtype": "f32", "spec": ["x"], "init": "iota"},
               "beta": {"shape": [1000], "dtype": "f32", "spec": ["x"], "init": "iota"}},
    "program": [)" +
         program + R"(], "outputs": ["total"])" + more + "}\n";
}

const char* const kPlain = R"(
    {"id": "work", "op": "compute", "flops": "3 MFLOP", "bytes": "0 B", "dtype": "f32"},
    {"id": "sum", "op": "psum", "of": "alpha", "axis_name": "x", "algorithm": "ring"},
    {"id": "total", "op": "add", "of": ["sum", "beta"], "donate": ["beta"]})";

Json explained(const std::string& file, const std::string& id) {
  const Ran run = ran({"run", file, "--format", "json", "--explain", id});
  REQUIRE(run.outcome == Outcome::Holds);
  return Json::parse(run.out)["explanation"];
}

TEST_CASE("explain: the causes of an op, back to the start of the run") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", scenario(kPlain));
  const Json why = explained(file, "sum");
  CHECK(why["device"] == 0);
  std::string sentences;
  for (const Json& link : why["chain"])
    sentences += link["text"].get<std::string>() + "\n";
  CHECK(sentences ==
        "device 0 runs work, with which its list begins\n"
        "device 0 enters sum, once it has run work\n"
        "device 0 sends 1000 B of sum to device 1, as soon as it has entered\n"
        "device 0 has 1000 B of sum on the way to device 1, for the latency of the links\n"
        "device 1 sends 1000 B of sum to device 0, once the message for it has arrived\n"
        "device 1 has 1000 B of sum on the way to device 0, for the latency of the links\n");
  // There are 3 us of work, then twice 1 us and 1 us.
  CHECK(why["chain"].front()["begin_ps"] == 0);
  CHECK(why["chain"].back()["end_ps"] == 7'000'000);
  const Ran text = ran({"run", file, "--explain", "sum"});
  CHECK(text.out.find("WHY sum  psum on device 0, where it ends last: from 3 µs to 7 µs\n") !=
        std::string::npos);
}

TEST_CASE("explain: of a long chain JSON has the beginning and the end, and how many it left out") {
  const TemporaryFolder folder;
  // A message has 16 elements, 64 B. A ring of two sends two messages in each of 2,000 iterations,
  // one after the other. With the flight of each and the entry, the chain has 4 x 2,000 + 1 links.
  // 3,000 iterations have more.
  const auto cut = [&](int iterations) {
    std::string text = scenario(
        R"({"id": "total", "op": "psum", "of": "alpha", "axis_name": "x", "algorithm": "ring"})",
        R"(, "memory": {"reserved": "0 B", "transport": {"protocol": "simple", "slot": "64 B"}})");
    const std::string shape = R"("shape": [1000])";
    const size_t at = text.find(shape);
    return folder.file(
        "cut.json",
        text.replace(at, shape.size(), "\"shape\": [" + std::to_string(iterations * 64) + "]"));
  };
  const Json few = explained(cut(2000), "total");
  CHECK(few["left_out"] == 0);
  CHECK(few["chain"].size() == 4 * 2000 + 1);
  const Json why = explained(cut(3000), "total");
  CHECK(why["left_out"] == 4 * 3000 + 1 - 10'000);
  const Json& chain = why["chain"];
  REQUIRE(chain.size() == 10'000);
  CHECK(chain.front()["begin_ps"] == 0);
  // Each link begins when the one before ends, except after the left-out links.
  for (size_t l = 1; l < chain.size(); ++l)
    CHECK((chain[l]["begin_ps"] == chain[l - 1]["end_ps"]) == (l != 5'000));
  // Each of 6,000 messages takes 64 ns and 1 us.
  CHECK(chain.back()["end_ps"] == int64_t{6000} * 1'064'000);
}

TEST_CASE("explain: why a value is held from when to when") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", scenario(kPlain));
  const auto sentence = [&](const std::string& id) {
    return explained(file, id)["value"][0]["text"].get<std::string>();
  };
  // 2,000 bytes are rounded up to 256.
  CHECK(
      sentence("alpha") ==
      "devices 0-1: 2 KiB held from before the first op to the end of the program, as an argument "
      "that is not donated");
  CHECK(sentence("beta").find("devices 0-1: 2 KiB held from before the first op to its last use by "
                              "total, since it is donated (0 s to ") == 0);
  CHECK(sentence("sum").find("devices 0-1: 2 KiB held from sum, which makes it, to its last use by "
                             "total (3 µs to ") == 0);
  CHECK(sentence("total").find("to the end of the program, as an output") != std::string::npos);
}

TEST_CASE("explain: an array on some devices of a program is held there alone") {
  const TemporaryFolder folder;
  std::string text = scenario(kPlain);
  const std::string place = R"("arrays": {)";
  text.insert(text.find(place) + place.size(),
              R"("other": {"shape": [64], "dtype": "f32", "init": "zeros", "on": [1]}, )");
  const Json lives = explained(folder.file("small.json", text), "other")["value"];
  REQUIRE(lives.size() == 1);
  CHECK(lives[0]["text"] ==
        "device 1: 256 B held from before the first op to the end of the program, as an argument "
        "that is not donated");
}

TEST_CASE("explain: an operand in flight lives to the done") {
  const TemporaryFolder folder;
  const std::string file = folder.file("flight.json", scenario(R"(
    {"id": "copy", "op": "add", "of": ["alpha", "alpha"]},
    {"id": "start", "op": "psum_start", "of": "copy", "axis_name": "x", "algorithm": "ring"},
    {"id": "total", "op": "done", "of": "start"})"));
  CHECK(explained(file, "copy")["value"][0]["because"] == "last_use");
  CHECK(explained(file, "copy")["value"][0]["to"] == "total");
}

TEST_CASE("explain: storage that is taken over lives to its taker, an op or a start") {
  const TemporaryFolder folder;
  const std::string file = folder.file("flight.json", scenario(R"(
    {"id": "copy", "op": "add", "of": ["alpha", "alpha"]},
    {"id": "start", "op": "psum_start", "of": "copy", "axis_name": "x", "algorithm": "ring"},
    {"id": "end", "op": "done", "of": "start"},
    {"id": "total", "op": "add", "of": ["end", "alpha"]})",
                                                               R"(, "memory": {"reuse": "xla"})"));
  CHECK(explained(file, "copy")["value"][0]["because"] == "taken_over");
  CHECK(explained(file, "copy")["value"][0]["to"] == "start");
  CHECK(explained(file, "end")["value"][0]["because"] == "taken_over");
  CHECK(explained(file, "end")["value"][0]["to"] == "total");
  CHECK(explained(file, "end")["value"][0]["together"] == Json({"start"}));
}

TEST_CASE("explain: each of several results, with the op that makes it") {
  const TemporaryFolder folder;
  const std::string file = folder.file("split.json", scenario(R"(
    {"id": ["p", "q"], "op": "split", "of": "alpha", "sizes": [400, 100]},
    {"id": "total", "op": "neg", "of": "q"})"));
  for (const char* const id : {"p", "q"}) {
    const Json explanation = explained(file, id);
    CHECK(explanation["chain"].back()["op"] == "p");
    CHECK(explanation["value"][0]["from"] == "p");
  }
  CHECK(explained(file, "q")["value"][0]["to"] == "total");
}

TEST_CASE("explain: an unknown name, with the near miss; one scenario only") {
  const TemporaryFolder folder;
  const std::string file = folder.file("small.json", scenario(kPlain));
  const Ran unknown = ran({"run", file, "--explain", "totl"});
  CHECK(unknown.outcome == Outcome::WrongInput);
  CHECK(unknown.out == "");
  CHECK(unknown.err.find(file + " has no op or value \"totl\"; did you mean \"total\"?") !=
        std::string::npos);
  CHECK(ran({"run", file, file, "--explain", "sum"}).err.find("expected one scenario, got 2") !=
        std::string::npos);
}

constexpr const char* kLong = R"(
    {"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000000, "carry": {"h": "alpha"},
     "body": [{"id": "s", "op": "add", "of": ["h", "beta"]}], "yield": {"h": "s"}},
    {"id": "total", "op": "add", "of": ["l.h", "beta"]})";

TEST_CASE("explain: an iteration that is missing, of a loop too long to be written out") {
  const TemporaryFolder folder;
  const std::string file = folder.file("long.json", scenario(kLong));
  CHECK(ran({"run", file, "--explain", "l[1000000].s"})
            .err.find(file + " has no op or value \"l[1000000].s\", but the loop \"l\" has the "
                             "iterations 0 to 999999") != std::string::npos);
}

TEST_CASE("explain: of a loop too long to be written out, only ids that it has meet the limit") {
  const TemporaryFolder folder;
  const std::string file = folder.file("long.json", scenario(kLong));
  const auto error = [&](const char* id) { return ran({"run", file, "--explain", id}).err; };
  CHECK(error("totl").find(" has no op or value \"totl\"; did you mean \"total\"?") !=
        std::string::npos);
  CHECK(error("l[7].t").find(" has no op or value \"l[7].t\"") != std::string::npos);
  CHECK(error("total[3]").find(" has no op or value \"total[3]\"") != std::string::npos);
  CHECK(error("l.s").find(" has no op or value \"l.s\"") != std::string::npos);
  CHECK(error("l[].s").find(" has no op or value \"l[].s\"") != std::string::npos);
  CHECK(error("l[900000].s")
            .find("to show any single run of an op, all iterations are written: expected at most "
                  "262144 "
                  "ops, got 1000001") != std::string::npos);
  CHECK(error("l[07].s").find(" has no op or value \"l[07].s\"") == std::string::npos);
}

TEST_CASE("explain: an early iteration, whatever the trip count") {
  const TemporaryFolder folder;
  const auto explained_of = [&](int64_t trips) {
    std::string text = scenario(kLong);
    const std::string million = "1000000";
    text.replace(text.find(million), million.size(), std::to_string(trips));
    const std::string file = folder.file(std::to_string(trips) + ".json", text);
    return std::pair(explained(file, "l[7].s").dump(), explained(file, "l[7].s")["chain"].size());
  };
  const auto [few, links] = explained_of(100);
  CHECK(links == 8);
  for (const int64_t trips : {100'000, 200'000, 1'000'000, 2'000'000'000})
    CHECK(explained_of(trips).first == few);
}

TEST_CASE("explain: a loop in an early iteration, whatever the trip count of the loop around it") {
  const TemporaryFolder folder;
  const auto explained_of = [&](int64_t trips) {
    const std::string text = R"(
    {"id": "l", "op": "fori_loop", "lower": 0, "upper": )" +
                             std::to_string(trips) + R"(, "carry": {"h": "alpha"},
     "body": [{"id": "m", "op": "fori_loop", "lower": 0, "upper": 3, "carry": {"g": "h"},
               "body": [{"id": "n", "op": "add", "of": ["g", "beta"]}], "yield": {"g": "n"}}],
     "yield": {"h": "m"}},
    {"id": "total", "op": "add", "of": ["l.h", "beta"]})";
    return explained(folder.file(std::to_string(trips) + ".json", scenario(text)), "l[7].m").dump();
  };
  const std::string few = explained_of(100);
  CHECK(few.find("l[7].m[2].n") != std::string::npos);
  CHECK(explained_of(1'000'000) == few);
}

TEST_CASE("explain: a program that hangs has no instants, and says so") {
  const Ran run = ran({"run", in_tree("scenarios/two-programs-hang.json"), "--explain", "q1"});
  CHECK(run.outcome == Outcome::Fails);
  CHECK(run.out.find("WHY q1\n  the program does not end, so nothing has an instant\n") !=
        std::string::npos);
}

TEST_CASE("show critical-path: what makes up the makespan, and the slack of the other ops") {
  const Ran shown = ran({"show", "critical-path", in_tree("scenarios/quickstart.json")});
  CHECK(shown.outcome == Outcome::Holds);
  CHECK(shown.out == R"(psum_scatter then all_gather is psum

CRITICAL PATH  47.58 µs by sweep
      from        to     takes   share  device  id  op
       0 s  24.84 µs  24.84 µs  52.2 %       6  c   compute
  24.84 µs   34.9 µs  10.05 µs  21.1 %       6  g   all_gather by ring (ll)
   34.9 µs  47.58 µs  12.69 µs  26.7 %       4  r   psum by ring (ll)

OFF THE PATH  how much longer an op could last
     slack  id  op
  14.79 µs  s   psum_scatter_start

communication exposed for 22.74 µs on device 0, 47.8 % of the makespan
)");
  const std::string hangs = in_tree("scenarios/two-programs-hang.json");
  CHECK(ran({"show", "critical-path", hangs})
            .err.find("the program does not end, so it has no critical path") != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
