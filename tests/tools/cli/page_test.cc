// Tests the pages of `orrery plan --format html` and `orrery run --html`.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tests/tools/shell.h"
#include "tools/report/outline.h"
#include "tools/report/plan.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

/// A sum of what two devices compute: 4 us, and then a message each way.
constexpr std::string_view kProgram = R"(
 "cluster": {"topology": "switch", "devices": 4, "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 MiB",
  "memory_bandwidth": "1 TB/s", "flops": {"f32": "1 TFLOP/s"}, "launch": "1 us"},
 "mesh": {"x": 2}, "check_types": false,
 "arrays": {"w_a": {"shape": [1000], "dtype": "f32", "init": "zeros"}},
 "program": [{"id": "c<&>", "op": "compute", "of": "w_a", "flops": "4000000 FLOP", "bytes": "0 B",
   "dtype": "f32", "shape": [1000]},
  {"id": "s", "op": "psum", "of": "c<&>", "axis_name": "x", "algorithm": "one_shot"}],
 "outputs": ["s"]})";

std::string scenario_text() {
  return R"({"orrery": 1, "name": "sum & <b>",)" + std::string(kProgram);
}

std::string plan_file_text() {
  std::string text =
      R"({"orrery": 1, "name": "sum & <b>", "sweep": {"n": [1, 2, 4, 8]}, "work": {"tokens": 2},)" +
      std::string(kProgram);
  const std::string_view kSize = R"("x": 2)";
  return text.replace(text.find(kSize), kSize.size(), R"("x": "${n}")");
}

/// Returns what tidy says of a page.
Launched tidied(const TemporaryFolder& folder, const std::string& page) {
  return shell("tidy -q -e --custom-tags no " + folder.file("page.html", page));
}

std::vector<std::string> found(const std::string& text, std::string_view before,
                               std::string_view after) {
  std::vector<std::string> all;
  for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    all.push_back(text.substr(at, text.find(after, at) - at));
  }
  return all;
}

/// Returns the page without its looks and scripts.
std::string marked_up(std::string page) {
  for (const std::string_view element : {"style", "script"}) {
    const std::string begin = fmt::format("<{}", element);
    const std::string end = fmt::format("</{}>", element);
    for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at))
      page.erase(at, page.find(end, at) + end.size() - at);
  }
  return page;
}

/// Returns the data of the charts of this kind.
Json chart(const std::string& page, std::string_view kind) {
  const size_t figure = page.find(fmt::format("data-kind=\"{}\"", kind));
  REQUIRE(figure != std::string::npos);
  const std::string_view kData = "<script type=\"application/json\">";
  const size_t at = page.find(kData, figure) + kData.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

void check_is_whole(const TemporaryFolder& folder, const std::string& page) {
  CHECK(tidied(folder, page) == Launched{0, ""});
  CHECK(page.size() < 5'000'000);
  const std::string markup = marked_up(page);
  for (const std::string_view loads : {"src=", "href=\"h", "<link", "url(", "@import", "<iframe"})
    CHECK_MESSAGE(markup.find(loads) == std::string::npos, loads);
  for (const std::string_view loads : {"url(", "@import", "fetch(", "XMLHttpRequest", "import(",
                                       "WebSocket", "importScripts", ".src="})
    CHECK_MESSAGE(page.find(loads) == std::string::npos, loads);
  CHECK(page.find("Permission is hereby granted, free of charge") != std::string::npos);
}

TEST_CASE("pages: a plan's page is valid, loads nothing, and has its sections in order") {
  const TemporaryFolder folder;
  const Ran planned = ran({"plan", folder.file("sum.json", plan_file_text()), "--format", "html"});
  CHECK(planned.outcome == Outcome::Holds);
  CHECK(planned.err.empty());
  check_is_whole(folder, planned.out);
  CHECK(found(planned.out, "<section id=\"", "\"") ==
        std::vector<std::string>{"question", "answer", "front", "timeline", "memory", "links",
                                 "ops", "what-if", "table", "assumptions", "accuracy"});
  const std::string markup = marked_up(planned.out);
  CHECK(markup.find("<h1>sum &amp; &lt;b&gt;</h1>") != std::string::npos);
  CHECK(markup.find("<tr><td>n</td><td>1, 2, 4, 8</td></tr>") != std::string::npos);
  CHECK(markup.find("4 points: 3 fit, 0 do not, 1 is refused") != std::string::npos);
  CHECK(markup.find("<tr><td>n=4</td>") != std::string::npos);
}

TEST_CASE("pages: the question has all that the plan says, and the memory what is allowed") {
  const TemporaryFolder folder;
  std::string text = plan_file_text();
  const std::string work = R"("work": {"tokens": 2},)";
  text.replace(text.find(work), work.size(),
               R"("work": {"tokens": "${2 * n}"}, "where": "n < 8",
"constraints": {"peak_memory": {"at_most": "20 KiB"}, "devices": {"at_most": "${2 + n}"}},
"price": {"per_device_hour": "3.6 EUR"}, "kinds": {"weights": "w_*"},)");
  const std::string page = ran({"plan", folder.file("sum.json", text), "--format", "html"}).out;
  check_is_whole(folder, page);
  const std::string markup = marked_up(page);
  const std::string question = markup.substr(
      markup.find("<section id=\"question\">"),
      markup.find("<section id=\"answer\">") - markup.find("<section id=\"question\">"));
  for (
      const std::string row :
      {R"(<tr><td>where</td><td>n &lt; 8</td></tr>)",
       R"(<tr><td>constraints</td><td>{&quot;peak_memory&quot;: {&quot;at_most&quot;: &quot;20 KiB&quot;}, &quot;devices&quot;: {&quot;at_most&quot;: &quot;${2 + n}&quot;}}</td></tr>)",
       R"(<tr><td>work</td><td>{&quot;tokens&quot;: &quot;${2 * n}&quot;}</td></tr>)",
       R"(<tr><td>price</td><td>{&quot;per_device_hour&quot;: &quot;3.6 EUR&quot;}</td></tr>)",
       R"(<tr><td>kinds</td><td>{&quot;weights&quot;: &quot;w_*&quot;}</td></tr>)"})
    CHECK_MESSAGE(question.find(row) != std::string::npos, question);
  const Json memory = chart(page, "memory");
  CHECK(memory["capacity"] == 1 << 20);
  CHECK(memory["allowed"] == 20 << 10);
}

TEST_CASE("pages: the front's chart has the points that were timed") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sum.json", plan_file_text());
  const Json data = chart(ran({"plan", plan, "--format", "html"}).out, "front");
  CHECK(data["of"] == "time of a million tokens");
  const Json groups = data["groups"];
  const Json points = Json::parse(ran({"plan", plan, "--format", "json"}).out)["points"];
  // One device is fastest with fewest devices, so the front is one point.
  CHECK(groups.size() == 2);
  CHECK(groups[0]["name"] == "front");
  CHECK(groups[1]["name"] == "fits");
  Json shown = groups[0]["points"];
  shown.insert(shown.end(), groups[1]["points"].begin(), groups[1]["points"].end());
  REQUIRE(shown.size() == 3);
  for (size_t p = 0; p < 3; ++p) {
    CAPTURE(p);
    CHECK(shown[p]["id"] == points[p]["id"]);
    CHECK(shown[p]["time"] == points[p]["makespan_ps"]);
    CHECK(shown[p]["y"].get<double>() ==
          doctest::Approx(points[p]["makespan_ps"].get<double>() / 2 * 1e6));
    CHECK(shown[p]["devices"] == points[p]["devices"]);
    CHECK(shown[p]["peak"] == points[p]["peak_bytes"]);
  }
}

TEST_CASE("pages: a run's page has its timeline, memory, links, and why each op ran when it did") {
  const TemporaryFolder folder;
  const std::string scenario = folder.file("sum.json", scenario_text());
  const std::string to = folder.path() + "/page.html";
  const Ran run = ran({"run", scenario, "--html", to});
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.out == ran({"run", scenario}).out);
  const std::string page = text_of(to);
  check_is_whole(folder, page);
  CHECK(found(page, "<section id=\"", "\"") ==
        std::vector<std::string>{"question", "answer", "timeline", "memory", "links", "ops",
                                 "checks", "assumptions", "accuracy"});

  // Both devices launch for 1 us and compute for 4 us. The sum is launched for 1 us, while which
  // the compute stream waits; 4000 bytes take 4 us and two latencies of 1 us.
  const Json timeline = chart(page, "timeline");
  const Json rows = {"devices 0-1, compute", "devices 0-1, communication [0]"};
  CHECK(timeline["rows"] == rows);
  const Json report = Json::parse(ran({"run", scenario, "--format", "json"}).out);
  const int64_t end = report["time"]["makespan_ps"];
  CHECK(timeline["end"] == end);
  const Json names = {"c<&>", "s"};
  CHECK(timeline["names"] == names);
  // The kinds are compute, launch, exposed communication, a collective, and its launch.
  const Json bars = {{0, 1, 0, 1'000'000, 0, 1},
                     {0, 0, 1'000'000, 5'000'000, 0, 1},
                     {0, 2, 5'000'000, end, 1, 1},
                     {1, 4, 5'000'000, 6'000'000, 1, 1},
                     {1, 3, 6'000'000, end, 1, 1}};
  CHECK(timeline["bars"] == bars);

  const Json memory = chart(page, "memory");
  CHECK(memory["capacity"] == 1 << 20);
  REQUIRE(memory["lines"].size() == 1);
  CHECK(memory["lines"][0]["name"] == "device 0, one of 2 that hold the same");
  const std::vector<int64_t> bytes = memory["lines"][0]["bytes"];
  CHECK(*std::max_element(bytes.begin(), bytes.end()) == report["devices"][0]["peak_bytes"]);

  const std::string markup = marked_up(page);
  CHECK(markup.find("<details><summary>s</summary><pre>") != std::string::npos);
  CHECK(markup.find("c&lt;&amp;&gt;") != std::string::npos);
  CHECK(markup.find("The cluster is not one of the catalog") != std::string::npos);
}

TEST_CASE("pages: the bars of a plan's timeline add up to the parts of the answer's time") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sum.json", plan_file_text());
  const std::vector<std::string> let = {"plan", plan, "--let", "n=2", "--format"};
  const auto printed = [&](const std::string& format) {
    std::vector<std::string> arguments = let;
    arguments.push_back(format);
    return ran(arguments).out;
  };
  const Json parts = Json::parse(printed("json"))["points"][0]["parts"];
  const std::string page = printed("html");
  const Json timeline = chart(page, "timeline");
  std::map<int, int64_t> by_kind;
  for (const Json& bar : timeline["bars"])
    by_kind[bar[1]] += bar[3].get<int64_t>() - bar[2].get<int64_t>();
  CHECK(by_kind[0] == parts["compute_ps"]);
  CHECK(by_kind[1] == parts["launch_ps"]);
  CHECK(by_kind[2] == parts["exposed_ps"]);
  CHECK(page.find("['launch', 'launch'], ['wait', 'exposed communication']") != std::string::npos);
}

TEST_CASE("pages: what cannot be written to is said, and a folder has no page") {
  const TemporaryFolder folder;
  const std::string scenario = folder.file("sum.json", scenario_text());
  folder.file("other.json", scenario_text());
  CHECK(ran({"run", folder.path(), "--html", folder.path() + "/page.html"}).err ==
        "--html: expected one scenario, got 2\n");
  CHECK(ran({"run", scenario, "--html", scenario}).outcome == Outcome::WrongInput);
  CHECK(text_of(scenario) == scenario_text());
}

TEST_CASE("pages: errors of a cluster of the catalog are those of docs/accuracy.md") {
  const TemporaryFolder folder;
  const std::string to = folder.path() + "/page.html";
  CHECK(ran({"run", in_tree("scenarios/quickstart.json"), "--cluster", "h100-sxm-8", "--html", to})
            .outcome == Outcome::Holds);
  const std::string page = text_of(to);
  CHECK(page.find("<tr><td>h100-dgxc.json</td><td>h100-sxm-8</td><td>calibrated on</td>") !=
        std::string::npos);
  CHECK(page.find("<td>a100-nvswitch.json</td>") == std::string::npos);
}

TEST_CASE("pages: text is escaped, and its colours are elements that all end") {
  CHECK(html_text("a < b & \"c\" > d\n") == "a &lt; b &amp; &quot;c&quot; &gt; d\n");
  CHECK(html_text("a\xff\033[1mb") == "a\xef\xbf\xbd [1mb");
  const Style style(Colours::Ansi, Letters::Unicode);
  CHECK(html_of(style.bold("a")) == "<span class=\"bold\">a</span>");
  CHECK(html_of(style.bad("<")) == "<span class=\"bad\">&lt;</span>");
  CHECK(html_of("\033[5m\033[0m\033[1mx\x01") == "[5m<span class=\"bold\">x </span>");
}

TEST_CASE("pages: a plan of many points has those that fit best, and the front") {
  const TemporaryFolder folder;
  const Plan plan("sum.json", plan_file_text());
  PlanReport report;
  constexpr size_t kPoints = 9'000;
  for (size_t p = 0; p < kPoints; ++p) {
    PlanPoint point;
    point.id = fmt::format("p{}", p);
    point.status = PointStatus::Fits;
    point.devices = 1;
    point.figures.emplace();
    point.figures->times.emplace();
    // The later a point is, the faster it is.
    point.figures->times->makespan = Duration(static_cast<int64_t>(kPoints - p));
    report.points.push_back(point);
  }
  report.swept = kPoints;
  report.best = kPoints - 1;
  report.fewest_devices = kPoints - 1;
  report.front = {0, kPoints - 1};
  const std::string page = plan_html(plan, report, nullptr);
  check_is_whole(folder, page);
  CHECK(page.find("These are 4000 of 9000 points") != std::string::npos);
  CHECK(page.find("<td>p0</td>") != std::string::npos);     // of the front
  CHECK(page.find("<td>p5001</td>") != std::string::npos);  // the slowest of the rest
  CHECK(page.find("<td>p5000</td>") == std::string::npos);
}

TEST_CASE(
    "pages: programs without ops, that hang, or whose iterations are left out have all sections") {
  const TemporaryFolder folder;
  const std::string cluster =
      R"("cluster": {"topology": "switch", "devices": 2, "bandwidth": "1 GB/s", "latency": "1 us"},
"mesh": {"x": 2}, "check_types": false, "arrays": {"a": {"shape": [256], "dtype": "f32", "init": "zeros"}})";
  const auto page_of = [&](const std::string& scenario) {
    CAPTURE(scenario);
    const std::string to = folder.path() + "/page.html";
    ran({"run", scenario, "--html", to});
    const std::string page = text_of(to);
    check_is_whole(folder, page);
    CHECK(found(page, "<section id=\"", "\"").size() == 9);
    return page;
  };
  const auto with = [&](const std::string& program) {
    return folder.file("f.json", R"({"orrery": 1, )" + cluster + ", " + program + "}");
  };
  // An array that is held all the time is the whole memory.
  const Json memory = chart(page_of(with(R"("program": [])")), "memory");
  CHECK(memory["lines"][0]["bytes"] == Json{1024});
  CHECK(page_of(in_tree("scenarios/hangs/early-exit.json")).find("The program does not end") !=
        std::string::npos);
  const std::string long_loop = page_of(with(R"("program": [
{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000000, "carry": {"h": "a"},
 "body": [{"id": "s", "op": "psum", "of": "h", "axis_name": "x"}], "yield": {"h": "s"}}])"));
  CHECK(long_loop.find("Iterations of loops are left out of this run") != std::string::npos);
  CHECK(long_loop.find("the gaps are theirs") != std::string::npos);
}

TEST_CASE("pages: a plan of memory has a front of memory, and one that nothing fits says so") {
  const TemporaryFolder folder;
  const std::string page =
      ran({"plan", in_tree("scenarios/plan/does-it-fit.json"), "--format", "html"}).out;
  check_is_whole(folder, page);
  const Json front = chart(page, "front");
  CHECK(front["of"] == "peak memory of a device");
  CHECK(front["scale"] == "bytes");
  for (const Json& group : front["groups"])
    for (const Json& point : group["points"])
      CHECK(point["y"] == point["peak"]);
  CHECK(page.find("No point that takes time was asked about") != std::string::npos);

  std::string text = plan_file_text();
  const std::string_view kMemory = R"("memory": "1 MiB")";
  text.replace(text.find(kMemory), kMemory.size(), R"("memory": "1 KiB")");
  const std::string nothing = ran({"plan", folder.file("sum.json", text), "--format", "html"}).out;
  check_is_whole(folder, nothing);
  CHECK(found(nothing, "<section id=\"", "\"").size() == 11);
}

TEST_CASE("pages: accuracy is told of clusters of the catalog as they stand there") {
  const TemporaryFolder folder;
  const std::string to = folder.path() + "/page.html";
  const auto accuracy = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"run", in_tree("scenarios/quickstart.json"), "--html", to};
    words.insert(words.end(), more.begin(), more.end());
    ran(words);
    return text_of(to);
  };
  CHECK(accuracy({"--cluster", "h100-sxm-8", "--cluster-figure", "memory=1 TiB"})
            .find("The cluster is not one of the catalog as it stands there") != std::string::npos);
  CHECK(accuracy({"--cluster", "tpu-v5e"})
            .find("No table of measured times was compared with tpu-v5e") != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
