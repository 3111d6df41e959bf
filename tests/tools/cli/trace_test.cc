// Reads the trace by its format alone. Everything that the report says of time, links and memory
// must follow from the trace.

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/scenario/plan.h"
#include "models/scenario/reader.h"
#include "tests/support/tries.h"
#include "tests/tools/cli/chrome_trace.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

/// A trace has an entry for each step, and a program of more devices has millions of them.
constexpr int64_t kMostDevices = 64;

/// Returns every scenario of the project that is no law, but for those that are wrong on purpose or
/// have too many devices.
std::vector<std::string> scenarios() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(in_tree("scenarios")))
    if (entry.path().extension() == ".json" &&
        !text_of(entry.path().string()).starts_with("// Fails on purpose, exit 2: ") &&
        !is_template(text_of(entry.path().string()), {}) &&
        load_scenario(entry.path().string()).program.mesh.devices() <= kMostDevices)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

struct Traced {
  Json report;
  std::string text;
};

Traced traced(const std::string& file, const std::vector<std::string>& more = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  std::vector<std::string> arguments = {"run", file, "--format", "json", "--trace", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ran run = ran(arguments);
  REQUIRE(run.outcome != Outcome::WrongInput);
  return {Json::parse(run.out), text_of(path)};
}

struct Read {
  Json report;
  ChromeTrace trace;
};

/// Longer traces, in bytes, are not parsed under sanitizers, where a MB takes 1 s.
constexpr size_t kMostParsed = size_t{2} << 20;

/// Returns the traces of the scenarios that end, made once for all tests. Below 100 % it traces a
/// share of them, and keeps the short traces.
const std::vector<Read>& all_traced() {
  static const std::vector<Read> all = [] {
    std::vector<Read> read;
    uint64_t seed = 0;
    for (const std::string& file : scenarios()) {
      if (!is_tried(++seed))
        continue;
      Traced run = traced(file);
      if (!is_all_tried() && run.text.size() > kMostParsed)
        continue;
      if (!run.report["time"].is_null())
        read.push_back({std::move(run.report), ChromeTrace(run.text)});
    }
    return read;
  }();
  REQUIRE(all.size() >= (is_all_tried() ? 50 : 1));
  return all;
}

int64_t makespan(const ChromeTrace& trace) {
  int64_t last = 0;
  for (const Slice& slice : trace.slices)
    last = std::max(last, slice.end_ps);
  return last;
}

/// Returns the time of the slices of one category on one thread. If a device runs several programs,
/// the threads of all programs count: "compute of front".
int64_t busy(const ChromeTrace& trace, const std::string& process, const std::string& thread,
             const std::string& category) {
  int64_t sum = 0;
  for (const Slice& slice : trace.slices)
    if (slice.process == process && slice.category == category &&
        (slice.thread == thread || slice.thread.rfind(thread + " of ", 0) == 0))
      sum += slice.end_ps - slice.begin_ps;
  return sum;
}

std::map<std::string, int64_t> link_bytes(const ChromeTrace& trace) {
  std::map<std::string, int64_t> bytes;
  for (const Slice& slice : trace.slices)
    if (slice.category == "link")
      bytes[slice.thread] += slice.bytes;
  return bytes;
}

TEST_CASE("trace: a copy inside a device is not called a reduction") {
  const TemporaryFolder folder;
  // Each rank of an all-gather by a ring first copies its own part to its result.
  const std::string file = folder.file("gather.json", R"({"orrery": 1, "cluster": {"devices": 2,
"topology": "ring", "bandwidth": "1 GB/s", "latency_us": 1, "copy_rate": "1 GB/s"}, "mesh": {"x": 2},
"arrays": {"a": {"shape": [8], "dtype": "f32", "init": "ones"}},
"program": [{"id": "r", "op": "all_gather", "of": "a", "axis_name": "x", "algorithm": "ring"}]})");
  size_t copies = 0;
  for (const Slice& slice : ChromeTrace(traced(file).text).slices) {
    if (slice.category != "step")
      continue;
    CHECK(slice.name == "copy");
    ++copies;
  }
  CHECK(copies == 2);
}

TEST_CASE("trace: rebuilds the report's makespan, stream times, link bytes and peaks") {
  for (const auto& [report, trace] : all_traced()) {
    const auto scenario = report["scenario"].get<std::string>();
    CAPTURE(scenario);
    CHECK(makespan(trace) == report["time"]["makespan_ps"].get<int64_t>());
    for (const Json& device : report["devices"]) {
      const std::string process = fmt::format("device {}", device["id"].get<int64_t>());
      CAPTURE(process);
      CHECK(busy(trace, process, "compute", "compute") == device["computing_ps"].get<int64_t>());
      CHECK(busy(trace, process, "compute", "wait") == device["exposed_ps"].get<int64_t>());
      for (const Json& stream : device["streams"])
        CHECK(busy(trace, process,
                   fmt::format("communication [{}]", stream["stream"].get<int64_t>()),
                   "collective") == stream["busy_ps"].get<int64_t>());
      const std::vector<int64_t>& live = trace.counters.at({process, "live"});
      // For several programs the report has a bound. This program attains the bound: both peak at
      // once.
      CHECK(*std::max_element(live.begin(), live.end()) == device["peak_bytes"].get<int64_t>());
      if (!device["capacity_bytes"].is_null())
        CHECK(trace.counters.at({process, "capacity"}).front() ==
              device["capacity_bytes"].get<int64_t>());
    }
    std::map<std::string, int64_t> links;
    for (const Json& link : report["links"])
      links[link["link"]] = link["bytes"];
    CHECK(link_bytes(trace) == links);
    CHECK(trace.flows.size() == report["time"]["messages"].get<size_t>());
  }
}

TEST_CASE("trace: slices of one row do not overlap, and each arrow has two ends") {
  for (const auto& [report, trace] : all_traced()) {
    const auto scenario = report["scenario"].get<std::string>();
    CAPTURE(scenario);
    const std::vector<Slice>& slices = trace.slices;
    int overlaps = 0;
    for (size_t s = 1; s < slices.size(); ++s)
      overlaps +=
          slices[s].row == slices[s - 1].row && slices[s].begin_ps < slices[s - 1].end_ps ? 1 : 0;
    CHECK(overlaps == 0);
    int wrong = 0;
    for (const auto& [id, flow] : trace.flows)
      wrong += flow.starts == 1 && flow.ends == 1 && flow.start_ps <= flow.end_ps ? 0 : 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("trace: the critical path is one row, without gaps, from 0 to the makespan") {
  const Traced run = traced(in_tree("scenarios/quickstart.json"));
  int64_t at = 0;
  for (const Slice& slice : ChromeTrace(run.text).slices) {
    if (slice.category != "critical_path")
      continue;
    CHECK(slice.begin_ps == at);
    at = slice.end_ps;
  }
  CHECK(at == run.report["time"]["makespan_ps"].get<int64_t>());
}

TEST_CASE("trace: two runs give the same bytes") {
  const std::string file = in_tree("scenarios/quickstart.json");
  CHECK(traced(file).text == traced(file).text);
}

TEST_CASE("trace: collectives with too many messages are written without them") {
  // The quickstart has collectives of 24, 24 and 48 messages: 50 messages are enough for the first
  // two.
  const std::string file = in_tree("scenarios/quickstart.json");
  const ChromeTrace trace(traced(file, {"--trace-messages", "50"}).text);
  CHECK(trace.flows.size() == 48);
  CHECK(busy(trace, "device 0", "communication [0]", "collective") ==
        busy(ChromeTrace(traced(file).text), "device 0", "communication [0]", "collective"));
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  CHECK(ran({"run", file, "--trace", path, "--trace-messages", "50"}).err ==
        path + ": 48 of 96 messages are left out\n");
}

TEST_CASE("trace: a program that hangs has none, and says so") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  const Ran run = ran({"run", in_tree("scenarios/two-programs-hang.json"), "--trace", path});
  CHECK(run.outcome == Outcome::Fails);
  CHECK(run.err == path + ": no trace is written: the program does not end\n");
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("trace: one scenario, a file that can be written, and none that is read") {
  const TemporaryFolder folder;
  const std::string scenario =
      folder.file("quickstart.json", text_of(in_tree("scenarios/quickstart.json")));
  const std::string trace = folder.path() + "/trace.json";
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& why) {
    const Ran run = ran(arguments);
    CAPTURE(run.err);
    CHECK(run.outcome == Outcome::WrongInput);
    CHECK(run.err.find(why) != std::string::npos);
  };
  const std::string nowhere = folder.path() + "/no/such";
  refused({"run", scenario, scenario, "--trace", trace}, "expected one scenario, got 2");
  refused({"run", scenario, "--trace", scenario}, "would overwrite the input " + scenario);
  refused({"run", scenario, "-o", scenario}, "would overwrite the input " + scenario);
  refused({"run", scenario, "-o", trace, "--trace", trace}, "is the file of --output");
  refused({"run", scenario, "--trace", nowhere}, "cannot be written: No such file or directory");
  refused({"run", scenario, "--trace", "/dev/full"}, "cannot be written: No space left on device");
  CHECK(text_of(scenario) == text_of(in_tree("scenarios/quickstart.json")));
}

}  // namespace
}  // namespace orrery::test
