// Tests --algorithm: which ops it sets, and its errors.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

const std::string kScenario = R"({"orrery": 1, "name": "small",
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 MiB"},
  "mesh": {"x": 2},
  "arrays": {"a": {"shape": [4], "dtype": "s32", "spec": ["x"], "init": "iota"}},
  "program": [
    {"id": "free", "op": "psum", "of": "a", "axis_name": "x"},
    {"id": "named", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"},
    {"id": "s", "op": "psum_start", "of": "a", "axis_name": "x"},
    {"id": "started", "op": "done", "of": "s"},
    {"id": "other", "op": "pmax", "of": "a", "axis_name": "x"}],
  "outputs": ["free", "named", "started", "other"]})";

Ran run_with(const std::vector<std::string>& settings) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments = {"run", folder.file("small.json", kScenario), "--format",
                                        "json"};
  for (const std::string& setting : settings)
    arguments.insert(arguments.end(), {"--algorithm", setting});
  return ran(arguments);
}

/// Returns the algorithm of the op's entry in a JSON report: "ring".
std::string algorithm_of(const Ran& run, const std::string& op) {
  const size_t entry = run.out.find("\"id\": \"" + op + "\"");
  REQUIRE(entry != std::string::npos);
  const std::string key = "\"algorithm\": \"";
  const size_t begin = run.out.find(key, entry) + key.size();
  return run.out.substr(begin, run.out.find('"', begin) - begin);
}

TEST_CASE("--algorithm: sets the ops of that name that name none, also started ones") {
  const Ran plain = run_with({});
  CHECK(algorithm_of(plain, "free") != "one_shot");
  const Ran set = run_with({"psum=one_shot"});
  CHECK(set.outcome == Outcome::Holds);
  CHECK(algorithm_of(set, "free") == "one_shot");
  CHECK(algorithm_of(set, "named") == "ring");
  CHECK(algorithm_of(set, "s") == "one_shot");
  CHECK(algorithm_of(set, "other") == algorithm_of(plain, "other"));
  const Ran both = run_with({"psum=one_shot", "pmax=recursive_doubling"});
  CHECK(algorithm_of(both, "free") == "one_shot");
  CHECK(algorithm_of(both, "other") == "recursive_doubling");
}

std::string refused(const std::vector<std::string>& settings) {
  const Ran run = run_with(settings);
  CHECK(run.outcome == Outcome::WrongInput);
  return run.err;
}

TEST_CASE("--algorithm: refuses what is no op, no algorithm of it, or given twice") {
  const std::string ops = refused({"psim=ring"});
  CHECK(ops.starts_with("--algorithm: expected one of psum, pmean, pmax, "));
  CHECK(ops.ends_with(", got \"psim\"; did you mean \"psum\"?\n"));
  CHECK(refused({"add=ring"}).starts_with("--algorithm: expected one of psum, "));
  CHECK(refused({"psum"}) == "--algorithm: expected psum=ALGORITHM, got \"psum\"\n");
  CHECK(refused({"psum=one_shut"}) ==
        "--algorithm: expected one of ring, recursive_doubling, bidirectional, in_switch, "
        "halving_doubling, tree, one_shot, ring+ring, in_switch+ring, ring+tree, in_switch+tree, "
        "ring+in_switch, in_switch+in_switch, in_switch+halving_doubling, torus, torus_pipelined, "
        "hierarchical "
        "for psum, got \"one_shut\"; did you mean \"one_shot\"?\n");
  CHECK(refused({"psum=ring", "psum=one_shot"}) == "--algorithm: psum is given twice\n");
}

TEST_CASE("--algorithm: an op that exchanges as another has that one's algorithms") {
  const auto run_of = [](const std::string& op, const std::string& array,
                         const std::string& algorithm) {
    const TemporaryFolder folder;
    return ran({"run",
                folder.file("small.json",
                            R"({"orrery": 1, "name": "small",
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
  "mesh": {"x": 2}, "arrays": {"a": {"local_shape": [2], "dtype": "s32", )" +
                                array + R"(}},
  "program": [{"id": "r", "op": ")" +
                                op + R"(", "of": "a", "axis_name": "x"}]})"),
                "--data", "off", "--format", "json", "--algorithm", op + "=" + algorithm});
  };
  const std::string varying = R"("varying": ["x"], "per_device": [[1, 2], [3, 4]])";
  const std::string unreduced = R"("unreduced": ["x"], "per_device": [[1, 2], [3, 4]])";
  for (const auto& row : {std::pair{std::string("all_gather_invariant"), varying},
                          {"all_gather_reduced", varying},
                          {"unreduced_psum", unreduced},
                          {"unreduced_psum_scatter", unreduced}}) {
    CAPTURE(row.first);
    CHECK(algorithm_of(run_of(row.first, row.second, "ring"), "r") == "ring");
  }
  CHECK(run_of("unreduced_psum", unreduced, "rong").err ==
        "--algorithm: expected one of ring, recursive_doubling, bidirectional, in_switch, "
        "halving_doubling, tree, one_shot, ring+ring, in_switch+ring, ring+tree, in_switch+tree, "
        "ring+in_switch, in_switch+in_switch, in_switch+halving_doubling, torus, torus_pipelined, "
        "hierarchical "
        "for unreduced_psum, got \"rong\"; did you mean \"ring\"?\n");
  // The sender of a transfer names the algorithm.
  CHECK(refused({"precv=direct"}).find("pbroadcast, ragged_all_to_all, psend, ") !=
        std::string::npos);
}

TEST_CASE("--algorithm: refuses an op that the program has not, or that always names its own") {
  CHECK(refused({"pmin=ring"}) == "--algorithm: expected a pmin in the program, got none\n");
  const TemporaryFolder folder;
  std::string text = kScenario;
  const std::string named = R"({"id": "other", "op": "pmax", )";
  text.replace(text.find(named), named.size(), named + R"("algorithm": "ring", )");
  const Ran run = ran({"run", folder.file("named.json", text), "--algorithm", "pmax=one_shot"});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == "--algorithm: expected a pmax that names no algorithm, got none\n");
}

TEST_CASE("--algorithm: of several scenarios, one must have the op") {
  const TemporaryFolder folder;
  const std::string with = folder.file("with.json", kScenario);
  std::string text = kScenario;
  text.replace(text.find("pmax"), 4, "pmin");
  const std::string without = folder.file("without.json", text);
  CHECK(ran({"run", with, without, "--algorithm", "pmax=ring"}).outcome == Outcome::Holds);
  CHECK(ran({"run", without, with, "--algorithm", "pmax=ring"}).outcome == Outcome::Holds);
  const Ran neither = ran({"run", without, without, "--algorithm", "pmax=ring"});
  CHECK(neither.outcome == Outcome::WrongInput);
  CHECK(neither.err == "--algorithm: expected a pmax in the program, got none\n");
}

}  // namespace
}  // namespace orrery::test
