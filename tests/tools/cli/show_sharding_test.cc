#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

const std::string kQuery = R"({"mesh": [["x", 2]], "shape": [2], "spec": "AUTO"})";
const std::string kAnswer = R"~({"sdy": "SdyArray([{?}])"})~";

/// Returns the run on a file of this text.
Ran asked(const std::string& text) {
  const TemporaryFolder folder;
  return ran({"show", "sharding", "--queries", folder.file("q.jsonl", text)});
}

TEST_CASE("show sharding: an answer per query, in order") {
  const std::string pair =
      R"({"equivalent": [{"mesh": [], "spec": []}, {"mesh": [], "spec": []}], "ndim": 0})";
  const Ran run = asked(kQuery + "\n" + pair + "\n" + kQuery + "\n");
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.err == "");
  CHECK(run.out == kAnswer + "\n{\"equivalent\": true, \"equal\": true}\n" + kAnswer + "\n");
}

TEST_CASE("show sharding: the last line needs no end, and no line has no answer") {
  CHECK(asked(kQuery).out == kAnswer + "\n");
  CHECK(asked("").out == "");
  CHECK(asked("").outcome == Outcome::Holds);
}

TEST_CASE("show sharding: 2 after all answers where a line is no query, but not for its errors") {
  const Ran run = asked(kQuery + "\n\n" + kQuery + "\n");
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == kAnswer + R"(
{"error": {"stage": "query", "message": "column 1: expected a value, got the end of the line"}}
)" + kAnswer + "\n");
  CHECK(run.err == "");
  CHECK(asked(R"({"mesh": [[null, 2]], "shape": [], "spec": []})").outcome == Outcome::Holds);
}

TEST_CASE("show sharding: answers to many queries are all written") {
  std::string queries;
  std::string answers;
  for (int i = 0; i < 5000; ++i) {
    queries += kQuery + "\n";
    answers += kAnswer + "\n";
  }
  CHECK(asked(queries).out == answers);
}

TEST_CASE("show sharding: a file that cannot be read") {
  const Ran run = ran({"show", "sharding", "--queries", "/nowhere/q.jsonl"});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == "/nowhere/q.jsonl: cannot be read: No such file or directory\n");
}

/// Returns the error of a command that shows one sharding.
std::string one_refused(const std::string& mesh, const std::string& shape,
                        const std::string& spec) {
  const Ran run = ran({"show", "sharding", "--mesh", mesh, "--shape", shape, "--spec", spec});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  return run.err;
}

TEST_CASE("show sharding: one that options describe") {
  const Ran run = ran({"show", "sharding", "--mesh", "x=2,y=1", "--shape", "4", "--spec",
                       R"(["x"])", "--dtype", "bf16"});
  CHECK(run.outcome == Outcome::Holds);
  CHECK(
      run.out.starts_with("P('x',) on Mesh('x': 2, 'y': 1, axis_types=(Auto, Auto))\n"
                          "bf16[4], 8 B in 2 parts, bf16[2], 4 B on each device;"));
  CHECK(ran({"show", "sharding", "--mesh", "x=2", "--shape", ""}).out.starts_with("P() on "));
}

TEST_CASE("show sharding: options that are wrong") {
  const auto no_axis = [](const std::string& got) {
    return "--mesh: expected axes such as x=4,y=2, got \"" + got + "\"\n";
  };
  CHECK(one_refused("x", "4", "[]") == no_axis("x"));
  CHECK(one_refused("x=-2", "4", "[]") == no_axis("x=-2"));
  CHECK(one_refused("y=2,x=", "4", "[]") == no_axis("x="));
  CHECK(one_refused("x=2,", "4", "[]") == no_axis("x=2,"));
  CHECK(one_refused("x=2,,y=2", "4", "[]") == no_axis("x=2,,y=2"));
  CHECK(one_refused("=2", "4", "[]") ==
        "--mesh: expected an axis name other than \"\" and \"UNCONSTRAINED\", which mean something "
        "else in a spec, got \"\"\n");
  CHECK(one_refused("x=0", "4", "[]") ==
        "--mesh: expected an axis of at least 1 device, got \"x\" of 0\n");
  CHECK(one_refused("x=2097152", "4", "[]") ==
        "--mesh: expected at most 1048576 devices, got 2097152 (--limit devices=N allows more)\n");
  CHECK(one_refused("x=2", "4,b", "[]") == "--shape: expected extents such as 16,8, got \"b\"\n");
  CHECK(one_refused("x=2", "4,", "[]") == "--shape: expected extents such as 16,8, got \"4,\"\n");
  CHECK(one_refused("x=2", "4611686018427387904", "[]") ==
        "--shape: expected an array of less than 2^63 bytes, got f32[4611686018427387904]\n");
  CHECK(one_refused("x=2", "4294967296,4294967296", "[]") ==
        "--shape: expected an array of less than 2^63 bytes, got f32[4294967296,4294967296]\n");
  CHECK(one_refused("x=2", "3", R"(["x"])") ==
        "--shape: P('x',): expected dimension 0 of extent 3 to be divisible by 2, the size of "
        "\"x\"\n");
  CHECK(one_refused("x=2", "4", R"([1])") ==
        "--spec:1:2: /0: expected null, an axis name or a list of them, got 1\n");
  CHECK(
      one_refused("x=2", "4", R"(["x")") ==
      "--spec:1:5: expected \",\" or \"]\", got the end of the line (the list begun at column 1 is "
      "not closed)\n");
  CHECK(one_refused("x=2", "4", R"(["y"])") ==
        "--spec: P('y',): dimension 0: the mesh has no axis \"y\"; it has \"x\"\n");
  CHECK(ran({"show", "sharding", "--mesh", "x=2", "--shape", "4", "--dtype", "f9"}).err ==
        "--dtype: expected a dtype, got \"f9\"\n");
  CHECK(ran({"show", "sharding"}).err ==
        "show sharding: expected --queries, or --mesh and --shape, or a scenario and an array\n");
}

TEST_CASE("show sharding: queries, a scenario and options exclude each other") {
  for (const std::vector<std::string>& others :
       std::vector<std::vector<std::string>>{{"--queries", "q", "--mesh", "x=2"},
                                             {"--queries", "q", "s.json"},
                                             {"--queries", "q", "--svg", "p.svg"},
                                             {"s.json", "a", "--spec", "[]"}}) {
    std::vector<std::string> arguments = {"show", "sharding"};
    arguments.insert(arguments.end(), others.begin(), others.end());
    const Ran run = ran(arguments);
    CHECK(run.outcome == Outcome::WrongInput);
    CHECK(run.err.find(" excludes ") != std::string::npos);
  }
}

TEST_CASE("show sharding: --svg writes an image, and says what it cannot draw") {
  const TemporaryFolder folder;
  const std::string image = folder.path() + "/a.svg";
  const std::vector<std::string> four = {"show", "sharding", "--mesh", "x=4", "--shape", "4"};
  const auto drawn = [&](std::vector<std::string> command, const std::string& to) {
    command.insert(command.end(), {"--svg", to});
    return ran(command);
  };
  CHECK(drawn(four, image).out == ran(four).out);
  CHECK(text_of(image).starts_with("<?xml"));
  const Ran unwritten = drawn(four, folder.path() + "/none/a.svg");
  CHECK(unwritten.err ==
        folder.path() + "/none/a.svg: cannot be written: No such file or directory\n");
  CHECK(unwritten.out == "");
  for (const std::string no_file : {"", "-"}) {
    const Ran run = drawn(four, no_file);
    CHECK(run.outcome == Outcome::WrongInput);
    CHECK(run.err == "--svg: expected a file, got \"" + no_file + "\"\n");
    CHECK(run.out == "");
  }
  CHECK(drawn({"show", "sharding", "--mesh", "x=4097", "--shape", "4097", "--spec", R"(["x"])"},
              image)
            .err == "--svg: expected at most 4096 parts to draw, got 4097\n");
  const std::string scenario = folder.file("s.json", text_of(in_tree("scenarios/quickstart.json")));
  CHECK(drawn({"show", "sharding", scenario, "a"}, scenario).err ==
        "--svg: would overwrite the input " + scenario + "\n");
}

/// Returns a scenario on two devices with these arrays.
std::string scenario_with(const std::string& arrays, const std::string& axis = "x") {
  return R"({"orrery": 1, "mesh": {")" + axis + R"(": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
"arrays": {)" +
         arrays + R"(}, "program": []})";
}

TEST_CASE("show sharding: without the name of an array the scenario's are listed") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& arrays) {
    const std::string file = folder.file("s.json", scenario_with(arrays));
    const Ran run = ran({"show", "sharding", file});
    CHECK(run.outcome == Outcome::WrongInput);
    REQUIRE(run.err.starts_with(file + ": "));
    return run.err.substr(file.size() + 2);
  };
  const std::string expected = "expected the name of an array too; the scenario has ";
  CHECK(refused("") == expected + "none\n");
  const std::string array = R"(": {"shape": [2], "dtype": "f32"})";
  CHECK(refused("\"a" + array + ", \"b" + array) == expected + "\"a\", \"b\"\n");
  std::string many;
  std::string named;
  for (int i = 10; i < 32; ++i) {
    many += (i > 10 ? ", \"a" : "\"a") + std::to_string(i) + array;
    if (i < 30)
      named += (i > 10 ? ", \"a" : "\"a") + std::to_string(i) + "\"";
  }
  CHECK(refused(many) == expected + named + " and 2 more\n");
}

TEST_CASE("show sharding: a scenario's axis whose name means something else in a spec") {
  const TemporaryFolder folder;
  const std::string file = folder.file(
      "s.json", scenario_with(R"("a": {"shape": [2], "dtype": "f32"})", "UNCONSTRAINED"));
  const Ran run = ran({"show", "sharding", file, "a"});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == file +
                       ": expected an axis name other than \"\" and \"UNCONSTRAINED\", which mean "
                       "something else in a spec, got \"UNCONSTRAINED\"\n");
}

TEST_CASE("show sharding: an array of a scenario") {
  const Ran run = ran({"show", "sharding", in_tree("scenarios/quickstart.json"), "a"});
  CHECK(run.outcome == Outcome::Holds);
  CHECK(
      run.out.starts_with("P('x',) on Mesh('x': 4, 'y': 2, axis_types=(Explicit, Explicit))\n"
                          "f32[128,256], 128 KiB in 4 parts, f32[32,256], 32 KiB on each device;\n"
                          "each element on 2 devices\n"));
  const TemporaryFolder folder;
  const std::string file = folder.file(
      "s.json", scenario_with(R"("sum": {"shape": [2], "dtype": "f32", "unreduced": ["x"]},
"given": {"local_shape": [1], "dtype": "f32", "per_device": [[1], [2]]},
"joined": {"local_shape": [1], "dtype": "f32", "per_device": [[1], [2]], "spec": ["x"]})"));
  CHECK(ran({"show", "sharding", file, "sum"}).out.find("for each of 2 addends of it") !=
        std::string::npos);
  CHECK(
      ran({"show", "sharding", file, "given"}).err ==
      file +
          ": expected an array with a \"spec\", got \"given\", which is given per device alone\n");
  CHECK(ran({"show", "sharding", file, "joined"}).out.find("\nf32[2], 8 B in 2 parts, f32[1], ") !=
        std::string::npos);
  CHECK(ran({"show", "sharding", file, "sun"}).err ==
        file + ": no array is called \"sun\"; did you mean \"sum\"?\n");
}

}  // namespace
}  // namespace orrery::test
