// Tests `orrery plan`, and what other commands do with plans.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

/// Returns a plan of a sum over 1 to 8 devices, with these keys of its own.
std::string summed(const std::string& keys = "") {
  return R"({"orrery": 1, "name": "sums", "sweep": {"n": [1, 2, 4, 8], "mode": ["a", "b"]},
 "work": {"tokens": "${n}"}, "price": {"per_device_hour": "3.6 USD"}, )" +
         keys + R"(
 "cluster": {"topology": "switch", "devices": 4, "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 MiB",
  "memory_bandwidth": "1 TB/s", "flops": {"f32": "1 TFLOP/s"}, "launch": "1 us"},
 "mesh": {"x": "${n}"}, "check_types": false,
 "arrays": {"w_a": {"shape": [1000], "dtype": "f32", "init": "zeros"}},
 "program": [{"id": "c", "op": "compute", "of": "w_a", "flops": "${if(mode == 'a', 4000000, 8000000)} FLOP", "bytes": "0 B",
   "dtype": "f32", "shape": [1000]},
  {"id": "s", "op": "psum", "of": "c", "axis_name": "x", "algorithm": "ring"}],
 "outputs": ["s"]})";
}

TEST_CASE("plan: the answers as text") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", summed());
  const Ran planned = ran({"plan", plan});
  CHECK(planned.outcome == Outcome::Holds);
  CHECK(planned.err.empty());
  // One device computes for 4 us and launches for 1 us; its sum is a launch. Four take four times
  // as long.
  CHECK(planned.out ==
        R"(sums

  8 points: 6 fit, 0 do not, 2 are refused
  fastest           n=1,mode=a  6 µs, 1 device, 12 KiB of 1 MiB, 166,667 tokens/s, 166,667 a device, MFU 66.7 %, 0.006 USD a million tokens
  refused           2 points, the first n=8,mode=a: )" +
            plan + R"(:5:10: /mesh: expected a mesh of at most 4 devices, the cluster's, got 8

  time of n=1,mode=a
    compute                             4 µs   66.7 %  ████████████████░░░░░░░░
    exposed communication               1 µs   16.7 %  ████░░░░░░░░░░░░░░░░░░░░
    idle                                 0 s    0.0 %  ░░░░░░░░░░░░░░░░░░░░░░░░
    launch                              1 µs   16.7 %  ████░░░░░░░░░░░░░░░░░░░░

  memory of n=1,mode=a at its peak
    outputs                            4 KiB   33.3 %  ████████░░░░░░░░░░░░░░░░
    temporaries                        4 KiB   33.3 %  ████████░░░░░░░░░░░░░░░░
    w_*                                4 KiB   33.3 %  ████████░░░░░░░░░░░░░░░░

  what if, for n=1,mode=a
    links twice as fast             the same time
    flops twice as fast             4 µs, -33.3 %
    memory bandwidth twice as fast  the same time
    no latency                      the same time
    no launch time                  4 µs, -33.3 %
    a quarter more memory           the same time

  assumed of n=1,mode=a
    copy_rate: infinite (not given)
)");
  CHECK(ran({"plan", plan, "--all"}).out.find(R"(
  points
    point       devices   time  compute  exposed  idle  launch    peak  tokens/s     MFU     HFU  a million tokens
    n=1,mode=a        1   6 µs     4 µs     1 µs   0 s    1 µs  12 KiB   166,667  66.7 %  66.7 %         0.006 USD
)") != std::string::npos);
}

TEST_CASE("plan: JSON and CSV have all figures, and jobs change nothing") {
  const TemporaryFolder folder;
  const std::string plan = folder.file(
      "sums.json",
      summed(
          R"("minimize": ["cost", "makespan"], "cases": [{"id": "ours", "let": {"n": 2, "mode": "b"}}],)"));
  const Ran planned = ran({"plan", plan, "--format", "json"});
  const Json json = Json::parse(planned.out);
  CHECK(json["best"] == "n=1,mode=a");
  CHECK(json["unit_of_work"] == "tokens");
  CHECK(json["currency"] == "USD");
  CHECK(json["counts"] == Json::parse(R"({"timed": 6, "pruned": 0, "refused": 2})"));
  REQUIRE(json["points"].size() == 9);
  const Json& first = json["points"][0];
  CHECK(first["let"] == Json::parse(R"({"n": 1, "mode": "a"})"));
  CHECK(first["status"] == "fits");
  CHECK(first["makespan_ps"] == 6'000'000);
  CHECK(
      first["parts"] ==
      Json::parse(
          R"({"compute_ps": 4000000, "exposed_ps": 1000000, "idle_ps": 0, "launch_ps": 1000000})"));
  CHECK(first["memory"] == Json::parse(R"({"outputs": 4096, "temporaries": 4096, "w_*": 4096})"));
  CHECK(first["peak_bytes"] == 12'288);
  CHECK(first["cost"].get<double>() == doctest::Approx(6e-9).epsilon(1e-12));
  CHECK(json["points"][8]["case"] == true);
  CHECK(json["points"][8]["makespan_ps"] == json["points"][3]["makespan_ps"]);
  CHECK(json["what_if"].size() == 12);
  CHECK(ran({"plan", plan, "--format", "json", "--jobs", "3"}).out == planned.out);

  const std::string csv = ran({"plan", plan, "--format", "csv"}).out;
  CHECK(csv.starts_with(
      "id,case,let.n,let.mode,status,because,devices,makespan_ps,work_per_s,mfu,hfu,compute_ps,"
      "exposed_ps,idle_ps,launch_ps,peak_bytes,cost,currency,memory.outputs,memory.temporaries,"
      "memory.w_*"
      "\r\n"
      "\"n=1,mode=a\",false,1,a,fits,,1,6000000,"));
  CHECK(csv.find(",USD,4096,4096,4096\r\n") != std::string::npos);
  CHECK(csv.find(",refused,") != std::string::npos);
  CHECK(csv.find("\nours,true,2,b,fits,") != std::string::npos);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 10);
}

TEST_CASE("plan: values that are lists or no whole numbers stand in the JSON as they are") {
  const TemporaryFolder folder;
  std::string text = summed();
  const std::string swept = R"("mode": ["a", "b"])";
  text.replace(text.find(swept), swept.size(), R"("mode": [[1, "x"], null, 1.5, true])");
  const std::string formula = "${if(mode == 'a', 4000000, 8000000)}";
  text.replace(text.find(formula), formula.size(), "4000000");
  const Json json = Json::parse(
      ran({"plan", folder.file("sums.json", text), "--let", "n=1", "--format", "json"}).out);
  const Json expected[] = {Json::parse(R"([1, "x"])"), nullptr, 1.5, true};
  for (size_t p = 0; p < 4; ++p)
    CHECK(json["points"][p]["let"]["mode"] == expected[p]);
}

TEST_CASE("plan: --let, --find, --scenario and -o") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", summed());
  CHECK(ran({"plan", plan, "--let", "n=3,mode=a"}).out.find("n=3,mode=a  ") != std::string::npos);
  CHECK(ran({"plan", plan, "--find", "largest:n"}).out ==
        "largest n that fits: 4\n"
        "  n=4,mode=a  24 µs, 4 devices, 12 KiB of 1 MiB, 166,667 tokens/s, 41,667 a "
        "device, MFU 16.7 %, 0.024 USD a million tokens\n"
        "  the sweep has no larger value that is not refused: 4 of 8 points were tried, 2 "
        "of them are refused\n");
  const std::string scenario = folder.path() + "/point.json";
  CHECK(ran({"plan", plan, "--scenario", "n=4,mode=b", "-o", scenario}).out.empty());
  const Json run = Json::parse(ran({"run", scenario, "--format", "json"}).out);
  const Json planned = Json::parse(ran({"plan", plan, "--format", "json"}).out);
  CHECK(run["time"]["makespan_ps"] == planned["points"][5]["makespan_ps"]);
  CHECK(run["devices"][0]["peak_bytes"] == planned["points"][5]["peak_bytes"]);
  const std::string report = folder.path() + "/report.txt";
  CHECK(ran({"plan", plan, "-o", report}).out.empty());
  CHECK(text_of(report) == ran({"plan", plan}).out);
}

TEST_CASE("plan: --find as JSON, and where figures fall") {
  const TemporaryFolder folder;
  const std::string plan =
      folder.file("sums.json", summed(R"("constraints": {"devices": {"at_most": 2}},)"));
  const Ran found = ran({"plan", plan, "--find", "largest:n", "--format", "json"});
  CHECK(found.outcome == Outcome::Holds);
  const Json json = Json::parse(found.out);
  CHECK(json["plan_find"] == 1);
  CHECK(json["largest"] == "n");
  CHECK(json["value"] == 2);
  CHECK(json["by"] == "bisection");
  CHECK_FALSE(json.contains("since"));
  CHECK(json["counts"]["points"] == 8);
  CHECK(json["fits"]["id"] == "n=2,mode=a");
  CHECK(json["fits"]["status"] == "fits");
  CHECK(json["does_not_fit"]["id"] == "n=4,mode=a");
  CHECK(json["does_not_fit"]["because"] == "devices: 4, 2 more than the 2 allowed");
  // One device computes for 400 us, four for 100 us and sum for less than 100 us.
  std::string text = summed(R"("constraints": {"makespan": {"at_most": "30 us"}},)");
  const std::string flops = "${if(mode == 'a', 4000000, 8000000)}";
  text.replace(text.find(flops), flops.size(), "${400000000 / n}");
  const std::string falls =
      ran({"plan", folder.file("falls.json", text), "--find", "largest:n"}).out;
  CHECK(falls.find("  from the largest value down, since makespan takes ") != std::string::npos);
  const Ran none =
      ran({"plan", folder.file("falls.json", text), "--find", "largest:n", "--format", "json"});
  CHECK(none.outcome == Outcome::Fails);
  CHECK(Json::parse(none.out)["value"] == nullptr);
  CHECK(Json::parse(none.out)["by"] == "each value");
}

TEST_CASE("plan: --find refuses a plan of which all points are refused") {
  const TemporaryFolder folder;
  std::string text = summed();
  const std::string devices = R"("devices": 4,)";
  text.replace(text.find(devices), devices.size(), "");
  const std::string plan = folder.file("sums.json", text);
  const Ran found = ran({"plan", plan, "--find", "largest:n"});
  CHECK(found.outcome == Outcome::WrongInput);
  CHECK(found.err == ran({"plan", plan}).err);
  CHECK(found.err.starts_with(
      plan + ": expected a point that can be timed, got none of 8; the first is refused: "));
}

TEST_CASE("plan: nothing fits") {
  const TemporaryFolder folder;
  const std::string plan =
      folder.file("sums.json", summed(R"("constraints": {"peak_memory": {"at_most": "4 KiB"}},)"));
  const Ran planned = ran({"plan", plan});
  CHECK(planned.outcome == Outcome::Fails);
  CHECK(planned.out.find(
            "  nothing fits\n  nearest           n=1,mode=a: peak_memory: 12 KiB, 8 KiB more "
            "than the 4 KiB allowed\n") != std::string::npos);
  CHECK(ran({"plan", plan, "--find", "largest:n"}).out ==
        "no value of n fits\n"
        "  n=4,mode=a  does not fit: peak_memory: 12 KiB, 8 KiB more than the 4 KiB allowed\n"
        "  by bisection, since no constrained figure was seen to fall where n grows: 8 of 8 points "
        "were tried, 2 of them are refused\n");
  CHECK(ran({"plan", plan, "--find", "largest:n"}).outcome == Outcome::Fails);
}

TEST_CASE("plan: a search that did not try all points does not say that none fits") {
  const TemporaryFolder folder;
  std::string text = summed(R"("constraints": {"peak_memory": {"at_most": "4 KiB"}},)");
  const std::string values = "[1, 2, 4, 8]";
  text.replace(text.find(values), values.size(), "[1, 2, 3, 4]");
  // In each mode it tries the largest value, the least and the next one.
  CHECK(ran({"plan", folder.file("sums.json", text), "--find", "largest:n"}).out ==
        "no value of n was found that fits\n"
        "  n=4,mode=a  does not fit: peak_memory: 12 KiB, 8 KiB more than the 4 KiB allowed\n"
        "  by bisection, since no constrained figure was seen to fall where n grows: 6 of 8 points "
        "were tried\n");
}

TEST_CASE("plan: says if no change would make a point fit, and counts one point as one") {
  const TemporaryFolder folder;
  const std::string plan = folder.file(
      "sums.json",
      summed(
          R"("constraints": {"devices": {"at_most": 2}, "makespan": {"at_most": "5 us"}}, "cases": [{"id": "ours", "let": {"n": 4, "mode": "a"}}],)"));
  // One device takes 6 us.
  const std::string out = ran({"plan", plan}).out;
  const std::string no_change =
      "it would not fit with any change of one number, to an eighth up to 8 times\n";
  CHECK(out.find("  nearest           n=1,mode=a: makespan: 6 µs, 1 µs more than the 5 µs allowed\n"
                 "                    " +
                 no_change) != std::string::npos);
  CHECK(out.find("does not fit: devices: 4, 2 more than the 2 allowed\n                    " +
                 no_change) != std::string::npos);
  const std::string one = folder.file(
      "one.json", summed(R"("where": "mode == 'a'", "constraints": {"devices": {"at_most": 2}},)"));
  CHECK(ran({"plan", one})
            .out.find("4 points: 2 fit, 1 does not (1 of them was not timed), 1 is refused\n") !=
        std::string::npos);
}

TEST_CASE("plan: a pattern of kinds that matches nothing is named, also by merged parts") {
  const TemporaryFolder folder;
  const std::string plan = folder.file(
      "sums.json", summed(R"("kinds": {"weights": ["w_*", "wx_*"], "moments": "m_*"},)"));
  const std::string out = ran({"plan", plan}).out;
  CHECK(out.find("  kinds             no argument of any point matches \"wx_*\" of weights, "
                 "\"m_*\" of moments\n") != std::string::npos);
  const std::string json = ran({"plan", plan, "--format", "json"}).out;
  CHECK(Json::parse(json)["unmatched"] ==
        Json::parse(R"(["\"wx_*\" of weights", "\"m_*\" of moments"])"));
  const std::string parts = folder.path() + "/parts";
  CHECK(ran({"plan", plan, "--part", "1/1", "-o", parts}).outcome == Outcome::Holds);
  CHECK(ran({"merge", parts, "--format", "json"}).out == json);
  CHECK(ran({"plan", folder.file("sums.json", summed(R"("kinds": {"weights": "w_*"},)"))})
            .out.find("no argument") == std::string::npos);
}

TEST_CASE("plan: a rate that leaves 64 bits has an exponent") {
  const TemporaryFolder folder;
  std::string text = summed();
  const std::string work = R"({"tokens": "${n}"})";
  // 6e13 units in 6 us are 1e19 a second; 2^64 is 1.8e19.
  for (const auto& [units, rate] : {std::pair("6000000000", "1,000,000,000,000,000"),
                                    {"60000000000000", "1e+19"},
                                    {"600000000000000", "1e+20"}}) {
    std::string other = text;
    other.replace(other.find(work), work.size(), fmt::format(R"({{"tokens": {}}})", units));
    const std::string plan = folder.file("sums.json", other);
    const std::string expected = fmt::format(" {0} tokens/s, {0} a device", rate);
    CHECK(ran({"plan", plan, "--let", "n=1"}).out.find(expected) != std::string::npos);
    CHECK(ran({"plan", plan, "--let", "n=1", "--format", "html"}).out.find(expected) !=
          std::string::npos);
  }
}

TEST_CASE("plan: shipped plans refuse values that they do not know, and name those that they do") {
  const auto refused = [](const std::string& plan, const std::string& let) {
    const Ran planned = ran({"plan", in_tree("scenarios/plan/" + plan), "--let", let});
    CHECK(planned.outcome == Outcome::WrongInput);
    return planned.err.substr(planned.err.find("/where"));
  };
  CHECK(refused("llama3-8b.json", "recompute=all") ==
        "/where: expected points that meet \"recompute == 'none' or recompute == 'layers'\", got "
        "none of 112\n");
  CHECK(refused("llama3-8b-layer.json", "recompute=layers") ==
        "/where: expected points that meet \"recompute == 'none' or recompute == 'all'\", got none "
        "of 48\n");
  CHECK(refused("fsdp.json", "recompute=all") ==
        "/where: expected points that meet \"recompute == 'nothing' or recompute == 'half' or "
        "recompute == 'layers'\", got none of 12\n");
  const std::string of_does_it_fit =
      "/where: expected points that meet \"(model == '8B' or model == '70B' or model == '405B') "
      "and "
      "(sharded == 'nothing' or sharded == 'optimizer' or sharded == 'gradients' or sharded == "
      "'weights')\", got none of ";
  CHECK(refused("does-it-fit.json", "model=13B") == of_does_it_fit + "12\n");
  CHECK(refused("does-it-fit.json", "sharded=all") == of_does_it_fit + "3\n");
}

TEST_CASE("plan: wrong input") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", summed());
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"plan", plan});
    const Ran planned = ran(arguments);
    CHECK(planned.outcome == Outcome::WrongInput);
    return planned.err;
  };
  CHECK(refused({"--find", "smallest:n"}) == "--find: expected largest:NAME, got \"smallest:n\"\n");
  CHECK(refused({"--find", "largest:m"}) == "--find: expected one of n, mode, got \"m\"\n");
  CHECK(refused({"--find", "largest:mode"}) ==
        "--find: expected a name whose values are whole numbers, got mode = \"a\"\n");
  CHECK(refused({"--find", "largest:n", "--scenario", "n=1,mode=a"}) ==
        "--find: expected no --scenario beside it\n");
  CHECK(refused({"--find", "largest:n", "--format", "csv"}) ==
        "--format: expected text or json beside --find\n");
  CHECK(refused({"--scenario", "n=1,mode=a", "--format", "json"}) ==
        "--format: expected none beside --scenario, whose answer has one form\n");
  CHECK(refused({"--scenario", "n=3"}) ==
        "--scenario: expected the id of a point, such as \"n=1,mode=a\", got \"n=3\"\n");
  CHECK(refused({"--let", "m=3"}) == "--let: expected one of n, mode, got \"m\"\n");
  CHECK(refused({"--let", "n=null"}) ==
        "--let: n: expected a whole number, a boolean, a text, a list of them, or a value of the "
        "sweep, got \"null\"\n");
  CHECK(refused({"--limit", "points=7"}) ==
        plan +
            ":1:40: /sweep: expected at most 7 points of a plan, got 8 (--limit points=N allows "
            "more)\n");
  const std::string law = folder.file(
      "law.json",
      R"({"orrery": 1, "forall": {}, "mesh": {"x": 2}, "expect": [{"holds": ["proved"]}]})");
  CHECK(ran({"plan", law}).err.starts_with(law + ": is a law: `orrery run"));
  CHECK(ran({"plan", in_tree("scenarios/quickstart.json")}).err.find("missing key \"sweep\"") !=
        std::string::npos);
}

TEST_CASE("plan: other commands name the command, and pass over plans in folders") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", summed());
  const std::string is_a_plan =
      fmt::format("{0}: is a plan: `orrery plan {0}` times its points\n", plan);
  CHECK(ran({"run", plan}).err == is_a_plan);
  CHECK(ran({"verify", plan}).err == is_a_plan);
  CHECK(ran({"show", "program", plan}).err == is_a_plan);
  CHECK(ran({"run", folder.path()}).err == "passed over 1 plan, which `orrery plan` times\n");
  CHECK(ran({"verify", folder.path()}).err == "passed over 1 plan, which `orrery plan` times\n");
}

TEST_CASE("plan command: a point that is best with more memory is compared by the work it does") {
  const TemporaryFolder folder;
  // Two ops launch for 30 us each and move 6 arrays of g x 256 KiB in all. Three arrays are live at
  // the peak: 5,376 KiB for g = 7, and 6 MiB for g = 8. So 8 do 8 / 72.58 us a second, 7 do
  // 7 / 71.01 us.
  const std::string plan = folder.file("memory.json", R"({"orrery": 1, "sweep": {"g": [7, 8]},
"work": {"t": "${g}"}, "cluster": {"devices": 1, "topology": "ring", "bandwidth": "10 GB/s",
"latency": "1 us", "memory": "5632 KiB", "memory_bandwidth": "1 TB/s", "launch": "30 us"},
"mesh": {"x": 1}, "arrays": {"a": {"shape": ["${g}", 65536], "dtype": "f32", "init": "zeros"}},
"program": [{"id": "b", "op": "add", "of": ["a", "a"]}, {"id": "c", "op": "mul", "of": ["b", "a"]}],
"outputs": ["b", "c"]})");
  CHECK(ran({"plan", plan})
            .out.find(
                "    a quarter more memory           g=8 fits: 72.58 µs, 110,219 t/s, +11.8 %\n") !=
        std::string::npos);
  const Json last = Json::parse(ran({"plan", plan, "--format", "json"}).out).at("what_if").back();
  CHECK(last.at("devices") == 1);
  // 60 us, and 6 arrays of 2 MiB at 1 TB/s.
  CHECK(last.at("makespan_ps") == 72'582'912);
  CHECK(last.at("work_per_s").get<double>() == doctest::Approx(8 / 72.582912e-6));
}

TEST_CASE("plan command: --let takes each value of the sweep") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("let.json", R"({"orrery": 1,
"sweep": {"o": [{"k": [1, 2]}, 1.5, null], "n": [1, 2]},
"cluster": {"devices": 1, "topology": "ring", "bandwidth": "1 GB/s", "memory_bandwidth": "1 TB/s"},
"mesh": {"x": 1}, "arrays": {"a": {"shape": ["${n}"], "dtype": "f32"}},
"program": [{"id": "b", "op": "neg", "of": "a"}], "outputs": ["b"]})");
  for (const char* const value : {R"({"k": [1, 2]})", "1.5", "null"})
    CHECK(ran({"plan", plan, "--let", fmt::format("o={},n=2", value)})
              .out.find(fmt::format("fastest           o={},n=2", value)) != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
