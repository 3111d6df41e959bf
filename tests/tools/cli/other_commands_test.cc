#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tests/tools/import/xml.h"

namespace orrery::test {
namespace {

TEST_CASE("command line: every command has help with an example") {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"run"},
                                                          {"prove"},
                                                          {"perf"},
                                                          {"show"},
                                                          {"show", "program"},
                                                          {"show", "schedule"},
                                                          {"show", "sharding"},
                                                          {"show", "mpmd"},
                                                          {"show", "catalog"},
                                                          {"show", "ops"},
                                                          {"show", "algorithms"}};
  for (std::vector<std::string> arguments : commands) {
    arguments.emplace_back("--help");
    const Ran help = ran(arguments);
    CAPTURE(arguments.size());
    CHECK(help.outcome == Outcome::Holds);
    CHECK(help.err == "");
    CHECK(help.out.find("Example") != std::string::npos);
    CHECK(help.out.find("  orrery ") != std::string::npos);
  }
}

TEST_CASE("command line: errors are wrong input, exit 2") {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"fly"},
                                             {"run"},
                                             {"run", "--format", "xml", "a.json"},
                                             {"prove", "a.xml", "--slots", "0"}}) {
    const Ran wrong = ran(arguments);
    CHECK(wrong.outcome == Outcome::WrongInput);
    CHECK(wrong.out == "");
    CHECK(wrong.err != "");
  }
}

TEST_CASE("command line: the version names the commit") {
  const Ran version = ran({"--version"});
  CHECK(version.outcome == Outcome::Holds);
  CHECK(version.out.compare(0, 7, "orrery ") == 0);
  CHECK(version.out.find("(commit ") != std::string::npos);
}

TEST_CASE("prove: a public algorithm, whole") {
  const Ran proof =
      ran({"prove", in_tree("tests/data/msccl/r48ll.xml"), "--cluster", "a100-sxm-8"});
  CHECK(proof.outcome == Outcome::Holds);
  CHECK(proof.out == text_of(in_tree("tests/tools/cli/golden/r48ll.txt")));
}

TEST_CASE("prove: 1 where it hangs, with the ranks that wait for each other") {
  const TemporaryFolder folder;
  const std::string file = folder.file("ring.xml", three_ring().text());
  const Ran stalls = ran({"prove", file, "--slots", "1"});
  CHECK(stalls.outcome == Outcome::Fails);
  CHECK(stalls.out.find("hangs with 1 slot a connection at every size; it needs 2") !=
        std::string::npos);
  CHECK(ran({"prove", file, "--slots", "2"}).outcome == Outcome::Holds);
}

TEST_CASE("prove: a root, a definition and a runtime are options") {
  const TemporaryFolder folder;
  AlgoText algo;
  algo.coll = "custom";
  algo.in_place = false;
  algo.chunks = 1;
  algo.input = 1;
  algo.output = 1;
  algo.gpus = {BlockText{0, -1, -1, {StepText{0, "cpy", "i0", "o0"}.text()}}.text()};
  const std::string file = folder.file("custom.xml", algo.text());
  const std::string copy = folder.file("d.json", R"({"outputs": [[0, 0, [[0, 0]]]]})");
  const std::string wrong = folder.file("wrong.json", R"({"outputs": [[0, 1, [[0, 0]]]]})");
  CHECK(ran({"prove", file}).outcome == Outcome::WrongInput);
  CHECK(ran({"prove", file, "--definition", copy}).outcome == Outcome::Holds);
  CHECK(ran({"prove", file, "--definition", copy, "--root", "1"}).outcome == Outcome::WrongInput);
  CHECK(ran({"prove", file, "--definition", copy, "--runtime", "nccl"}).outcome ==
        Outcome::WrongInput);
  CHECK(
      ran({"prove", file, "--definition", copy, "--runtime", "none"}).out.find("RUNTIME.LIMITS") ==
      std::string::npos);
  const Ran refused = ran({"prove", file, "--definition", wrong});
  CHECK(refused.outcome == Outcome::WrongInput);
  CHECK(refused.err.find("wrong.json:1:18: /outputs/0/1: expected an output chunk of gpu 0") !=
        std::string::npos);
}

TEST_CASE("prove: 2 where the file, the cluster or the size is invalid") {
  const std::string ring = in_tree("tests/data/msccl/r48ll.xml");
  CHECK(ran({"prove", in_tree("README.md")}).outcome == Outcome::WrongInput);
  const Ran near = ran({"prove", ring, "--cluster", "a100-sxm8"});
  CHECK(near.outcome == Outcome::WrongInput);
  CHECK(near.err.find("did you mean \"a100-sxm-8\"?") != std::string::npos);
  CHECK(ran({"prove", ring, "--size", "4 MGB"}).outcome == Outcome::WrongInput);
}

TEST_CASE("prove: a wrong value of an option is told what the option takes") {
  const std::string ring = in_tree("tests/data/msccl/r48ll.xml");
  const auto error = [&](const char* option, const char* value) {
    const Ran wrong = ran({"prove", ring, option, value});
    CHECK(wrong.outcome == Outcome::WrongInput);
    return wrong.err.substr(0, wrong.err.find('\n'));
  };
  for (const char* const value : {"0", "1048577", "x", "2.5", "99999999999999999999"})
    CHECK(error("--slots", value) ==
          std::string("--slots: expected a whole number from 1 to 1048576, got ") + value);
  for (const char* const value : {"x", "65536", "-1", "99999999999999999999"})
    CHECK(error("--root", value) ==
          std::string("--root: expected a whole number from 0 to 65535, got ") + value);
  CHECK(error("--runtime", "RCCL") == "--runtime: expected rccl|msccl|none, got RCCL");
}

TEST_CASE("show: the catalog's figures have their sources") {
  CHECK(ran({"show", "catalog"}).out.find("h100-sxm-8\n") != std::string::npos);
  CHECK(ran({"show", "catalog", "h100-sxm-8"}).out.find("\"source\"") != std::string::npos);
  CHECK(ran({"show", "catalog", "h100"}).outcome == Outcome::WrongInput);
  // The figures of a slice are those of its pod.
  CHECK(ran({"show", "catalog", "tpu-v5p 4x4x8"}).out == ran({"show", "catalog", "tpu-v5p"}).out);
}

TEST_CASE("show: ops and algorithms come from the program's own tables") {
  const std::string ops = ran({"show", "ops"}).out;
  CHECK(ops.find("psum_scatter[_start]") != std::string::npos);
  CHECK(ops.find("dot_general") != std::string::npos);
  // Ops that exchange as another op have its algorithms. The receiver of a transfer chooses none.
  const std::string algorithms = ran({"show", "algorithms"}).out;
  CHECK(algorithms.find("psum unreduced_psum ") != std::string::npos);
  CHECK(algorithms.find("all_gather all_gather_invariant all_gather_reduced") != std::string::npos);
  CHECK(algorithms.find("precv") == std::string::npos);
}

TEST_CASE("show: a program with its types") {
  const std::string text = ran({"show", "program", in_tree("scenarios/quickstart.json")}).out;
  CHECK(text.find("f32[32,256]{V:x}") != std::string::npos);
  CHECK(text.find("outputs: g, r\n") != std::string::npos);
  CHECK(text.starts_with("psum_scatter then all_gather is psum\n\n"));
  // Without a name, the text begins with the arguments.
  const TemporaryFolder folder;
  const std::string nameless = folder.file("nameless.json", R"({"orrery": 1, "mesh": {"x": 1},
      "cluster": {"devices": 1, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
      "arrays": {"a": {"shape": [1], "dtype": "f32"}}, "program": []})");
  CHECK(ran({"show", "program", nameless}).out.starts_with("argument"));
}

TEST_CASE(
    "show: after iterations that are not shown, operands have the names that they have there") {
  const TemporaryFolder folder;
  const std::string file = folder.file("long.json", R"({"orrery": 1, "mesh": {"x": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
            "memory_bandwidth": "1 GB/s"},
"arrays": {"a": {"shape": [2], "dtype": "f32", "spec": ["x"], "init": "ones"}},
"program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000, "carry": {"h": "a"},
             "body": [{"id": "y", "op": "neg", "of": "h"}], "yield": {"h": "y"}}]})");
  const std::string text = ran({"show", "program", file}).out;
  CHECK(text.find("l: 995 iterations like the last are not shown\n"
                  "l[998].y  neg  l[997].y") != std::string::npos);
}

TEST_CASE("show: iterations that are not shown are like the last few where carries change places") {
  const TemporaryFolder folder;
  const std::string file = folder.file("swaps.json", R"({"orrery": 1, "mesh": {"x": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
            "memory_bandwidth": "1 GB/s"},
"arrays": {"a": {"shape": [2], "dtype": "f32"}, "b": {"shape": [2], "dtype": "f32"}},
"program": [{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000, "carry": {"p": "a", "q": "b"},
             "body": [{"id": "y", "op": "neg", "of": "p"}, {"id": "z", "op": "add", "of": ["l[0].y", "y"]}],
             "yield": {"p": "q", "q": "p"}}]})");
  const std::string text = ran({"show", "program", file}).out;
  CHECK(text.find("l: 994 iterations like the last 2 are not shown\n"
                  "l[997].y  neg  b                 f32[2]\n"
                  "l[997].z  add  l[0].y, l[997].y  f32[2]\n"
                  "l[998].y  neg  a                 f32[2]\n") != std::string::npos);
}

TEST_CASE("show: the steps of one rank") {
  const std::string file = in_tree("scenarios/quickstart.json");
  const Ran steps = ran({"show", "schedule", file, "r", "--node", "1"});
  CHECK(steps.outcome == Outcome::Holds);
  CHECK(steps.out.find("node 1 of 4") != std::string::npos);
  CHECK(ran({"show", "schedule", file, "r", "--node", "4"}).err.find("expected 0 to 3, got 4") !=
        std::string::npos);
  CHECK(ran({"show", "schedule", file, "c"}).outcome == Outcome::WrongInput);
}

/// Returns whether some number in the text is followed by "us".
bool has_plain_microseconds(const std::string& text) {
  for (size_t at = text.find(" us"); at != std::string::npos; at = text.find(" us", at + 1))
    if (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
      return true;
  return false;
}

TEST_CASE("show, prove and diff write microseconds as run does") {
  const TemporaryFolder folder;
  const auto scenario = [&](const std::string& name, const std::string& shape) {
    return folder.file(name, R"({"orrery": 1, "name": "psum",
      "cluster": {"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
      "mesh": {"x": 4}, "arrays": {"a": {"shape": [)" +
                                 shape + R"(], "dtype": "f32", "spec": ["x"]}},
      "program": [{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}]})");
  };
  const std::string a = scenario("a.json", "4000");
  const std::string texts[] = {
      ran({"show", "schedule", a, "r"}).out, ran({"show", "critical-path", a}).out,
      ran({"prove", in_tree("tests/data/msccl/r48ll.xml"), "--cluster", "a100-sxm-8"}).out,
      ran({"diff", a, scenario("b.json", "8000")}).out};
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(text.find("µs") != std::string::npos);
    CHECK(!has_plain_microseconds(text));
  }
}

}  // namespace
}  // namespace orrery::test
