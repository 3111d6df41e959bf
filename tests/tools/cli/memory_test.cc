// Tests runs whose input just reaches the limits that they are given. They must take no more memory
// than most_memory() states for these limits. With a smaller limit, they must be refused.

#include <algorithm>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/size_limits.h"
#include "tests/support/tries.h"
#include "tests/tools/cli/files.h"
#include "tools/bench/bench.h"

namespace orrery::test {
namespace {

std::string scenario(int64_t devices, const std::string& topology, const std::string& shape,
                     const std::string& ops) {
  return fmt::format(R"({{"orrery": 1, "mesh": {{"x": {0}}},
"cluster": {{"devices": {0}, "topology": "{1}", "bandwidth": "50 GB/s", "latency_ns": 250}},
"arrays": {{"a": {{"shape": [{2}], "dtype": "f32", "init": "zeros"}}}},
"check_types": false, "program": [{3}]}}
)",
                     devices, topology, shape, ops);
}

/// Returns ops in a row: each reads the result of the one before.
std::string local_ops(int64_t count) {
  return listed(count, [](int64_t i) {
    return fmt::format(R"({{"id": "p{}", "op": "neg", "of": "{}"}})", i,
                       i == 0 ? "a" : fmt::format("p{}", i - 1));
  });
}

std::string permutes(int64_t count, int64_t devices) {
  return listed(count, [&](int64_t k) {
    return fmt::format(R"({{"id": "p{}", "op": "ppermute", "of": "a", "axis_name": "x",
"perm": [{}]}})",
                       k, listed(devices, [&](int64_t from) {
                         return fmt::format("[{}, {}]", from, (from + 1 + k) % devices);
                       }));
  });
}

/// Returns the op started once on each of `count` streams, then a done for each.
std::string at_once(int64_t count, const std::string& op) {
  return listed(count,
                [&](int64_t i) {
                  return fmt::format(R"({{"id": "s{0}", "stream": {0}, {1}}})", i, op);
                }) +
         ", " + listed(count, [](int64_t i) {
           return fmt::format(R"({{"id": "d{0}", "op": "done", "of": "s{0}"}})", i);
         });
}

/// Returns `ops` ops inside nested loops, each of which has 4 of its 8 iterations in memory:
/// 4^levels * ops.
std::string nested_loops(int levels, int64_t ops) {
  std::string body = listed(
      ops, [](int64_t i) { return fmt::format(R"({{"id": "y{}", "op": "neg", "of": "a"}})", i); });
  for (int i = 0; i < levels; ++i)
    body = fmt::format(R"({{"id": "l{0}", "op": "fori_loop", "lower": 0, "upper": 8,
"carry": {{"h{0}": "a"}}, "body": [{1}], "yield": {{"h{0}": "h{0}"}}}})",
                       i, body);
  return body;
}

struct Case {
  const char* name;
  int64_t Limits::*about;
  std::string text;
  Limits limits;  // file is filled in
};

/// Returns the counts of a case, as limits. The limits that are not given are nearly zero.
Limits counts(int64_t values, int64_t devices, int64_t links, int64_t ops, int64_t steps = 0,
              int64_t state = 0, int64_t runs = 0) {
  Limits limits;
  limits.values = values;
  limits.devices = devices;
  limits.links = links;
  limits.ops = ops;
  limits.device_ops = ops * devices;
  limits.steps = steps;
  limits.state = state;
  limits.runs = runs;
  return limits;
}

std::vector<Case> cases() {
  const std::string all_to_all =
      R"("of": "a", "axis_name": "x", "split_axis": 0, "concat_axis": 0, "tiled": true,
"algorithm": "direct")";
  return {
      {"ops", &Limits::ops, scenario(1, "switch", "64", local_ops(40'000)),
       counts(160'100, 1, 2, 40'000)},
      {"device_ops", &Limits::device_ops, scenario(256, "switch", "64", local_ops(2'000)),
       counts(8'100, 256, 512, 2'000)},
      // This is beyond the budget below which all 4,096 iterations are written out. Most inner
      // iterations are timed one by one, since an iteration that is written is never skipped.
      {"nested loops", &Limits::device_ops, scenario(64, "switch", "64", nested_loops(4, 40)),
       counts(400, 64, 128, 11'000, 0, 0, 2'403'840)},
      {"devices", &Limits::devices, scenario(100'000, "switch", "64", local_ops(1)),
       counts(100, 100'000, 200'000, 1)},
      {"links", &Limits::links, scenario(500, "fully_connected", "64", local_ops(1)),
       counts(100, 500, 500 * 499, 1)},
      {"values", &Limits::values, scenario(1'000, "switch", "64", permutes(60, 1'000)),
       counts(60 * 3'006 + 100, 1'000, 2'000, 60, 120'000, int64_t{1} << 20)},
      // There are 512 x 512 channels, which send all at once.
      {"channels", &Limits::state,
       scenario(512, "switch", "512, 16", R"({"id": "r", "op": "all_to_all", )" + all_to_all + "}"),
       counts(100, 512, 1'024, 1, 512 * 1'023, int64_t{62} << 20)},
      // Each connection has 2,000 slots, so all steps of each rank are remembered. The engine takes
      // 17 bytes for each, and the sweep 32.
      {"windows", &Limits::state,
       scenario(1'000, "ring", "8192", R"({"id": "r", "op": "psum", "of": "a", "axis_name": "x",
"algorithm": "ring", "slots": 2000})"),
       counts(100, 1'000, 2'000, 1, 1'000 * 1'999, int64_t{33} << 20)},
      // There are four at the same time.
      {"concurrent groups", &Limits::state,
       scenario(256, "switch", "256, 16", at_once(4, R"("op": "all_to_all_start", )" + all_to_all)),
       counts(200, 256, 512, 8, 4 * 256 * 511, int64_t{63} << 20)},
  };
}

std::vector<std::string> command(const std::string& file, const Limits& limits) {
  std::vector<std::string> words = {ORRERY_BINARY, "run", "--data", "off", "--format", "json"};
  for (const LimitInfo& limit : all_limits()) {
    words.emplace_back("--limit");
    words.push_back(fmt::format("{}={}{}", limit.name, std::max<int64_t>(1, limits.*limit.value),
                                limit.bytes ? " B" : ""));
  }
  words.push_back(file);
  return words;
}

TEST_CASE("memory: inputs that reach the limits take no more than is stated for them") {
  const TemporaryFolder folder;
  uint64_t seed = 0;
  for (Case& one : cases()) {
    if (!is_tried(++seed))
      continue;
    CAPTURE(std::string(one.name));
    const std::string file = folder.file(std::string(one.name) + ".json", one.text);
    one.limits.file = static_cast<int64_t>(one.text.size());
    const ChildCost cost = run_child(command(file, one.limits));
    Limits counted = one.limits;
    if (counted.steps > 1'000'000)
      counted.steps = 0;  // beyond the budgets, nothing looks at each
    if (!is_sanitized()) {
      CHECK(cost.peak_bytes <= most_memory(counted));
      CHECK(cost.peak_bytes >= most_memory(counted) / 3);  // the figures are not idle
    }

    one.limits.*one.about -= one.limits.*one.about / 8;
    CHECK_THROWS_AS(run_child(command(file, one.limits)), std::system_error);
  }
}

TEST_CASE("memory: a run within the default limits takes at most 9 GiB without data") {
  CHECK(most_memory(Limits()) <= int64_t{9} << 30);
}

}  // namespace
}  // namespace orrery::test
