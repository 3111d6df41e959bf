// Tests orrery diff on real runs: the first difference must be the cause of the others.

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Returns a scenario with a sum over four devices of 10^8, 1, -10^8, 1 in each of four elements;
/// the sum is then doubled and negated.
std::string sum_scenario(const std::string& algorithm, const std::string& dtype = "f32") {
  std::string lists;
  for (const std::string x : {"100000000", "1", "-100000000", "1"})
    lists += (lists.empty() ? "[" : ",[") + x + "," + x + "," + x + "," + x + "]";
  return R"({"orrery": 1, "name": "sum", "mesh": {"x": 4},
 "cluster": {"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
 "arrays": {"a": {"local_shape": [4], "dtype": ")" +
         dtype + R"(", "per_device": [)" + lists + R"(]}},
 "program": [
  {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": ")" +
         algorithm + R"("},
  {"id": "s", "op": "add", "of": ["r", "r"]}],
 "outputs": ["s"]})";
}

TEST_CASE("diff: a run and itself, and its saved report") {
  const std::string file = in_tree("scenarios/quickstart.json");
  const TemporaryFolder folder;
  const std::string saved = folder.path() + "/saved.json";
  REQUIRE(ran({"run", file, "--format", "json", "--values", "all", "-o", saved}).outcome ==
          Outcome::Holds);
  for (const auto& [a, b] : {std::pair(file, file), {file, saved}, {saved, file}, {saved, saved}}) {
    const Ran same = ran({"diff", a, b});
    CHECK(same.outcome == Outcome::Holds);
    CHECK(same.out.find("✓ A and B are the SAME\n") == 0);
    CHECK(same.out.find("not told") == std::string::npos);
  }
}

TEST_CASE("diff: without data, other initial data are no difference, and the answer says so") {
  const TemporaryFolder folder;
  const std::string ones = folder.file("ones.json", sum_scenario("ring"));
  std::string other = sum_scenario("ring");
  other.replace(other.find("[1,1,1,1]"), 9, "[2,2,2,2]");
  const std::string twos = folder.file("twos.json", other);
  CHECK(ran({"diff", ones, twos}).outcome == Outcome::Fails);
  const Ran text = ran({"diff", ones, twos, "--data", "off"});
  CHECK(text.outcome == Outcome::Holds);
  CHECK(text.out.find("  not told  Values: neither A nor B has any. ") != std::string::npos);
  const Ran json = ran({"diff", ones, twos, "--data", "off", "--format", "json"});
  CHECK(json.out.find("\"not_compared\": [\n    \"Values: neither A nor B has any. ") !=
        std::string::npos);
}

TEST_CASE("diff: another algorithm: the collective, the device, the element, the distance") {
  const TemporaryFolder folder;
  const std::string ring = folder.file("ring.json", sum_scenario("ring"));
  const std::string doubling = folder.file("doubling.json", sum_scenario("recursive_doubling"));
  const Ran differ = ran({"diff", ring, doubling});
  CHECK(differ.outcome == Outcome::Fails);
  // In f32, 10^8 + 1 is 10^8. Recursive doubling adds (10^8 + 1) + (-10^8 + 1) = 0 for all
  // elements. The ring adds one after the other, from device i on for element i. The sums that
  // begin with 10^8 or with -10^8 end with + 1 and are 1. The other sums end with a large term and
  // are 0.
  CHECK(differ.out.find("  value     \"r\" on device 0, element 0: 1 in A, 0 in B (1065353216 ulps "
                        "apart; 2 of 4 elements\n") != std::string::npos);
  CHECK(differ.out.find("FIRST     algorithm: \"r\": ring, 24 messages in A, recursive_doubling, 8 "
                        "messages in B\n") != std::string::npos);
}

TEST_CASE("diff: a slow device: the computation that takes longer, on it") {
  const Ran differ =
      ran({"diff", in_tree("scenarios/quickstart.json"), in_tree("scenarios/slow-device.json")});
  CHECK(differ.outcome == Outcome::Fails);
  // The ops take 20 GFLOP and 1.5 times as long, both starting at 0.
  CHECK(differ.out.find("FIRST     time: \"c\" on device 3, end: ") != std::string::npos);
  CHECK(differ.out.find("Device 3 is slow: its local ops take 1.5 times as long.") !=
        std::string::npos);
  CHECK(differ.out.find("value  ") == std::string::npos);
}

/// Returns the sum with these memory rules.
std::string with_memory(const std::string& policy) {
  std::string text = sum_scenario("ring");
  text.back() = ',';
  return text + " \"memory\": " + policy + "}";
}

TEST_CASE("diff: each key of memory that differs, with both values") {
  const TemporaryFolder folder;
  const std::string transport = R"({"transport": {"protocol": "ll", "slot": "1 KiB"}})";
  struct Case {
    std::string a, b, line;
  };
  const Case cases[] = {
      {"{}", R"({"reuse": "xla"})", "memory.reuse: none in A, xla in B\n"},
      {R"({"alignment": "1 B"})", "{}", "memory.alignment: 1 B in A, 256 B in B\n"},
      {"{}", R"({"reserved": "2 MiB"})", "memory.reserved: 0 B in A, 2 MiB in B\n"},
      {transport, R"({"transport": {"protocol": "simple", "slot": "1 KiB"}})",
       "memory.transport.protocol: ll in A, simple in B\n"},
      {transport, R"({"transport": {"protocol": "ll", "slot": "2 KiB"}})",
       "memory.transport.slot: 1 KiB in A, 2 KiB in B\n"},
      {transport, R"({"transport": {"channels": 3, "protocol": "ll", "slot": "1 KiB"}})",
       "memory.transport.channels: not given in A, 3 in B\n"},
      {"{}", transport,
       "memory.transport.protocol: not given in A, ll in B\n"
       "  settings  memory.transport.slot: not given in A, 1 KiB in B\n"}};
  for (const Case& c : cases) {
    CAPTURE(c.line);
    const Ran differ = ran(
        {"diff", folder.file("a.json", with_memory(c.a)), folder.file("b.json", with_memory(c.b))});
    // This setting is reported, and no other.
    const size_t at = differ.out.find("  settings  " + c.line);
    REQUIRE(at != std::string::npos);
    CHECK(differ.out.find("  settings  ") == at);
    CHECK(differ.out.find("  settings  ", at + 12 + c.line.size()) == std::string::npos);
  }
}

TEST_CASE("diff: settings in JSON") {
  const TemporaryFolder folder;
  const std::string a = folder.file("a.json", with_memory("{}"));
  const std::string b = folder.file("b.json", with_memory(R"({"reuse": "xla"})"));
  CHECK(ran({"diff", a, a}).out.find("settings") == std::string::npos);
  const Ran json = ran({"diff", a, b, "--format", "json"});
  const std::string settings = R"("settings": [
    {
      "key": "memory.reuse",
      "a": "none",
      "b": "xla"
    }
  ])";
  CHECK(json.out.find(settings) != std::string::npos);
}

TEST_CASE("diff: JSON has the first difference first") {
  const TemporaryFolder folder;
  const std::string a = folder.file("a.json", sum_scenario("ring"));
  const std::string b = folder.file("b.json", sum_scenario("ring", "s32"));
  const Ran differ = ran({"diff", a, b, "--format", "json"});
  CHECK(differ.outcome == Outcome::Fails);
  // The array's type is compared first; its numbers are equal.
  CHECK(differ.out.find(R"("differences": [
    {
      "aspect": "type",
      "at": "a",
      "device": null,
      "what": "type",
      "a": "f32[4]",
      "b": "s32[4]",
      "note": "",
      "places": [
        "a",
        "r",
        "s"
      ]
    })") != std::string::npos);
  const std::string file = folder.path() + "/diff.json";
  CHECK(ran({"diff", a, b, "--format", "json", "-o", file}).out == "");
  CHECK(text_of(file) == differ.out);
}

TEST_CASE("diff: a file that cannot be read is wrong input") {
  const TemporaryFolder folder;
  const std::string good = folder.file("good.json", sum_scenario("ring"));
  const auto refused = [&](const std::string& text) {
    const Ran wrong = ran({"diff", good, folder.file("bad.json", text)});
    CHECK(wrong.outcome == Outcome::WrongInput);
    return wrong.err;
  };
  CHECK(ran({"diff", good}).outcome == Outcome::WrongInput);
  CHECK(ran({"diff", good, "no-such-file.json"}).outcome == Outcome::WrongInput);
  CHECK(refused("{\"report\": 1}").find("missing key \"ops\"") != std::string::npos);
  CHECK(refused("{\"orrery\": 1}").find("missing key \"mesh\"") != std::string::npos);
  CHECK(refused("{").find("bad.json:1:2: ") != std::string::npos);
  CHECK(refused(ran({"run", "no-such-file.json", "--format", "json"}).out)
            .find("/errors: expected the report of a run, got why there was none") !=
        std::string::npos);
}

}  // namespace
}  // namespace orrery::test
