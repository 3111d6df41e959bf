// Tests blocks that repeat, and the reports of programs of many layers.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "tests/support/tries.h"
#include "tools/report/op_entries.h"
#include "tools/report/text.h"
#include "verifier/run.h"

namespace orrery {
namespace {

using Blocks = std::vector<RepeatedBlock>;

std::vector<uint32_t> items(const std::string& letters) {
  return {letters.begin(), letters.end()};
}

std::string repeated(const std::string& block, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i)
    text += block;
  return text;
}

TEST_CASE("repeated blocks: three times or more, where it saves 8 lines") {
  // 5 letters twice more save 10 lines, 4 letters 8, and 3 letters 6.
  CHECK(repeated_blocks(items("x" + repeated("abcde", 3) + "y")) == Blocks{{1, 5, 3}});
  CHECK(repeated_blocks(items(repeated("abcd", 3))) == Blocks{{0, 4, 3}});
  CHECK(repeated_blocks(items(repeated("abc", 3))).empty());
  CHECK(repeated_blocks(items(repeated("abc", 4))) == Blocks{{0, 3, 4}});  // 9
  CHECK(repeated_blocks(items(repeated("abcdefghij", 2))).empty());
  CHECK(repeated_blocks(items(std::string(9, 'a'))) == Blocks{{0, 1, 9}});
  CHECK(repeated_blocks(items(std::string(8, 'a'))).empty());  // saves 7
  CHECK(repeated_blocks({}).empty());
}

TEST_CASE("repeated blocks: the shortest of those that cover the same, and only whole ones") {
  CHECK(repeated_blocks(items(repeated("ab", 10))) == Blocks{{0, 2, 10}});
  CHECK(repeated_blocks(items(repeated("abcde", 4) + "abc")) == Blocks{{0, 5, 4}});
  CHECK(repeated_blocks(items(repeated("abcde", 3) + "-" + repeated("fghi", 3))) ==
        Blocks{{0, 5, 3}, {16, 4, 3}});
}

/// Finds the blocks by the definition: from each item on, it tries each length.
Blocks by_definition(const std::vector<uint32_t>& all) {
  Blocks blocks;
  for (size_t i = 0; i < all.size();) {
    RepeatedBlock best;
    for (size_t length = 1; i + length <= all.size(); ++length) {
      size_t times = 1;
      while (i + (times + 1) * length <= all.size() &&
             std::equal(all.begin() + static_cast<ptrdiff_t>(i),
                        all.begin() + static_cast<ptrdiff_t>(i + length),
                        all.begin() + static_cast<ptrdiff_t>(i + times * length)))
        ++times;
      if (times >= 3 && length * (times - 1) >= 8 && length * times > best.length * best.times)
        best = {i, length, times};
    }
    if (best.times > 0)
      blocks.push_back(best);
    i += std::max<size_t>(best.length * best.times, 1);
  }
  return blocks;
}

TEST_CASE("repeated blocks: as by their definition, of random lists of few letters") {
  Random random(5);
  size_t found = 0;
  for (uint64_t trial = 0; trial < test::tries(500); ++trial) {
    std::vector<uint32_t> all;
    const uint64_t letters = 1 + random.below(3);
    while (all.size() < 60) {
      std::vector<uint32_t> block;
      const uint64_t length = 1 + random.below(7);
      const uint64_t times = 1 + random.below(5);
      for (uint64_t i = 0; i < length; ++i)
        block.push_back(static_cast<uint32_t>(random.below(letters)));
      for (uint64_t i = 0; i < times; ++i)
        all.insert(all.end(), block.begin(), block.end());
    }
    const Blocks expected = by_definition(all);
    REQUIRE(repeated_blocks(all) == expected);
    found += expected.size();
  }
  CHECK(found > test::tries(300));
}

constexpr int kLayers = 80;
constexpr int kOps = 12;

/// Returns one layer of a model, from `in` to `out`: 12 ops, of which two are collectives.
std::string layer(const std::string& id, const std::string& in, const std::string& out) {
  const auto op = [&](const std::string& name, const std::string& what, const std::string& of) {
    return fmt::format(R"({{"id": "{}{}", "op": {}, "of": {}}}, )", id, name, what, of);
  };
  const auto name = [&](const std::string& of) { return "\"" + id + of + "\""; };
  return op("norm", R"("logistic")", "\"" + in + "\"") +
         op("gather", R"("all_gather_start", "axis_name": "x", "tiled": true)", "\"w\"") +
         op("scaled", R"("mul")", "[" + name("norm") + ", " + name("norm") + "]") +
         op("weights", R"("done")", name("gather")) +
         op("up", R"("mul")", "[" + name("weights") + ", " + name("weights") + "]") +
         op("act", R"("logistic")", name("up")) +
         op("gated", R"("mul")", "[" + name("act") + ", " + name("weights") + "]") +
         op("part", R"("psum_scatter_start", "axis_name": "x", "tiled": true)", name("gated")) +
         op("side", R"("neg")", name("scaled")) + op("sum", R"("done")", name("part")) +
         op("both", R"("add")", "[" + name("sum") + ", " + name("side") + "]") +
         fmt::format(R"({{"id": "{}", "op": "add", "of": [{}, "{}"]}})", out, name("both"), in);
}

Report report_of(const std::string& program, const std::string& output,
                 const std::string& faults = "[]") {
  return run(
      read_scenario("f", fmt::format(R"({{"orrery": 1, "name": "80 layers", "check_types": false,
"cluster": {{"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us", "launch": "2 us",
             "memory": "16 GiB", "memory_bandwidth": "1 TB/s", "flops": {{"f32": "1 TFLOP/s"}}}},
"mesh": {{"x": 4}}, "arrays": {{"x": {{"shape": [4096], "dtype": "f32", "spec": ["x"]}},
                            "w": {{"shape": [4096], "dtype": "f32", "spec": ["x"]}}}},
"program": [{}], "outputs": ["{}"], "faults": {}}})",
                                     program, output, faults)),
      {});
}

Report written_out_layers() {
  std::string program;
  for (int l = 0; l < kLayers; ++l)
    program += (l > 0 ? ", " : "") + layer(fmt::format("layer{}_", l),
                                           l == 0 ? "x" : fmt::format("h{}", l),
                                           fmt::format("h{}", l + 1));
  return report_of(program, "h80");
}

Report looped_layers() {
  return report_of(
      fmt::format(
          R"({{"id": "layers", "op": "fori_loop", "lower": 0, "upper": {}, "carry": {{"h": "x"}},
"body": [{}], "yield": {{"h": "next"}}}})",
          kLayers, layer("", "h", "next")),
      "layers");
}

ptrdiff_t lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

size_t widest(const std::string& text) {
  size_t most = 0;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    most = std::max(most, columns(text.substr(at, text.find('\n', at) - at)));
  return most;
}

TEST_CASE("text report: 80 layers that are written out are one screen, and --ops all has each op") {
  const Report report = written_out_layers();
  const std::string text = report_text(report, Style());
  CAPTURE(text);
  CHECK(lines(text) < 60);
  CHECK(widest(text) <= 100);
  CHECK(text.find("layer*_norm to h* (12 ops): 80 times in a row, each ") != std::string::npos);
  CHECK(text.find("80 × (devices 0, 2: layer*_") != std::string::npos);  // the critical path
  const std::string all =
      report_text(report, Style(), {.ops = ShownOps::All, .checks = ShownChecks::All});
  for (int l = 0; l < kLayers; ++l) {
    CHECK(all.find(fmt::format("\n  layer{}_act ", l)) != std::string::npos);
    CHECK(all.find(fmt::format("\"layer{}_gather\" by bidirectional is all_gather", l)) !=
          std::string::npos);
  }
}

TEST_CASE("text report: 80 iterations of a loop are one screen, and --ops all has each op") {
  const Report report = looped_layers();
  const std::string text = report_text(report, Style());
  CAPTURE(text);
  CHECK(lines(text) <= 60);
  CHECK(text.find("layers[]: 80 iterations") != std::string::npos);
  CHECK(text.find("80 × (devices 0, 2: layers[].") != std::string::npos);
  const std::string all = report_text(report, Style(), {.ops = ShownOps::All});
  for (int l = 0; l < kLayers; ++l)
    CHECK(all.find(fmt::format("\n  layers[{}].act ", l)) != std::string::npos);
}

TEST_CASE("text report: a grouped row goes from the first start to the last end") {
  const Report report = written_out_layers();
  const GroupedEntries grouped = grouped_entries(op_entries(report), report);
  REQUIRE(grouped.blocks.size() == 1);
  CHECK(grouped.blocks[0].times == kLayers);
  REQUIRE(grouped.entries.size() == kOps);
  uint64_t messages = 0;
  for (const OpReport& op : report.ops)
    messages += op.messages;
  uint64_t shown = 0;
  for (size_t k = 0; k < kOps; ++k) {
    const OpEntry& entry = grouped.entries[k];
    REQUIRE(entry.runs.size() == kLayers);
    CHECK(entry.first().op == report.ops[k].op);
    CHECK(entry.last().op == report.ops[(kLayers - 1) * kOps + k].op);
    shown += entry.messages;
  }
  CHECK(shown == messages);
  CHECK(single_entries(report).entries.size() == kLayers * kOps);
}

/// Returns the report of 40 layers, each with an op of 1 ms, or as given, and a sum.
Report layers(const std::function<std::string(int)>& id, const std::function<int(int)>& gflops) {
  std::string program;
  for (int l = 0; l < 40; ++l)
    program += fmt::format(
        R"({}{{"id": "{}.c", "op": "compute", "flops": "{} GFLOP", "bytes": "1 MiB", "dtype": "f32"}},
{{"id": "{}.s", "op": "psum", "of": "x", "axis_name": "x", "algorithm": "ring"}})",
        l > 0 ? ", " : "", id(l), gflops(l), id(l));
  return report_of(program, "x");
}

std::string numbered(int l) {
  return fmt::format("layer{}", l);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("text report: one slow layer among 40 is seen, in the table and on the critical path") {
  const Report report = layers(numbered, [](int l) { return l == 17 ? 10 : 1; });
  const std::string text = report_text(report, Style());
  CAPTURE(text);
  CHECK(contains(text, "layer*.c to layer*.s (2 ops): 40 times in a row"));
  CHECK(contains(text, "takes 1.002 ms to 10 ms (layer17.c)"));
  CHECK(contains(text, "layer*.c 1.002 ms to 10 ms"));  // on the path
  CHECK(!contains(text, "takes 1.002 ms to 1.002 ms"));
}

TEST_CASE("text report: devices that run apart do not make an op take longer") {
  std::string program;
  for (int l = 0; l < 40; ++l)
    program += fmt::format(
        R"({}{{"id": "c{}", "op": "compute", "flops": "1 GFLOP", "bytes": "1 MiB", "dtype": "f32"}})",
        l > 0 ? ", " : "", l);
  const std::string text =
      report_text(report_of(program, "x", R"([{"slow_device": 1, "factor": 2}])"), Style());
  CAPTURE(text);
  // The op takes 1 ms and 2 us of launch, twice on device 1: the same for all 40, whenever a device
  // begins.
  CHECK(contains(text, "40 times in a row, each 1.002 ms to 2.004 ms after the one before"));
  CHECK(!contains(text, "└ takes "));
}

TEST_CASE("text report: what 40 equal layers take is said once") {
  const std::string text = report_text(layers(numbered, [](int) { return 1; }), Style());
  CAPTURE(text);
  CHECK(contains(text, "40 times in a row"));
  CHECK(!contains(text, "└ takes "));
  CHECK(!contains(text, "ms to "));
}

TEST_CASE("text report: layers fold whose names have no numbers, but not ops of unlike names") {
  const auto lettered = [](int l) {
    return fmt::format("w{}{}", char('a' + l / 26), char('a' + l % 26));
  };
  const std::string text = report_text(layers(lettered, [](int) { return 1; }), Style());
  CAPTURE(text);
  CHECK(contains(text, "w*.c to w*.s (2 ops): 40 times in a row"));
  CHECK(lines(text) <= 60);
  std::string unlike;
  for (const char* id : {"one", "two", "six", "bar", "up", "get", "far", "king", "zoo", "last"})
    unlike += fmt::format(R"({}{{"id": "{}", "op": "add", "of": ["x", "x"]}})",
                          unlike.empty() ? "" : ", ", id);
  CHECK(!contains(report_text(report_of(unlike, "one"), Style()), "in a row"));
}

TEST_CASE("text report: the critical path names every device that its repeated ops were on") {
  Report moved = layers(numbered, [](int) { return 1; });
  REQUIRE(moved.critical_path.size() == 80);
  for (size_t p = 0; p < moved.critical_path.size(); ++p)
    moved.critical_path[p].entry.device = LogicalId(p / 2 % 3);
  const std::string text = report_text(moved, Style());
  CAPTURE(text);
  const size_t at = text.find("CRITICAL PATH");
  REQUIRE(at != std::string::npos);
  CHECK(text.substr(at, text.find("\n\n", at) - at).find("devices 0-2: layer*.c") !=
        std::string::npos);
}

}  // namespace
}  // namespace orrery
