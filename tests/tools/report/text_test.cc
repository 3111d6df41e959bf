#include "tools/report/text.h"

#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "tests/tools/report/sample.h"

namespace orrery::test {
namespace {

TEST_CASE("text report: the whole text, without colours") {
  const Report sample = sample_report();
  CHECK(report_text(sample, Style()) ==
        R"text(✓ HOLDS  1.5 µs, 33.3 % of it exposed communication, peak 512 B of 1 KiB (50.0 %)
  a scatter behind a computation
  ring of 2 · 2 devices · mesh x=2 · 3 ops

TIME  1.5 µs
  by sweep: no link can be asked for more than it has
  communication exposed for 500 ns on device 0, 33.3 % of the makespan
  id  op                  start     end  bytes  algbw  busbw  exposed  hidden   slack
  s   psum_scatter_start    0 s  1.5 µs   16 B    0.2    0.1   500 ns    1 µs     0 s
  └ ring: the only one for two; 2 messages
  c   compute               0 s    1 µs   16 B                                 500 ns
  p   done                 1 µs  1.5 µs

TIMELINE
  s  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
  c  ███████████████████████████████████████████████████████████████

CRITICAL PATH
  device 0: c 1 µs → device 1: s 500 ns

LINKS  bytes, and the share of what the makespan has room for
  device 0 -> device 1 and 1 like it  7.324 KiB (10.0 %)

MEMORY  live bytes at the peak
  devices 0-1  ████████████░░░░░░░░░░░░  512 B of 1 KiB (50.0 %), at s
    a 256 B argument · s 256 B in_flight
    placed in an arena of 512 B

CHECKS
  ✓ DEADLOCK.FREE    the program ends
  ✓ MEMORY.CAPACITY  every device holds what it must

ASSUMED
  · launch: 0 (not given)

2 checks hold  fingerprint 00112233445566778899aabbccddeeff
)text");
}

/// Returns the lines of the op table that say what share of its bound an op reached.
std::string bound_lines(const Report& report, const TextOptions& options = {}) {
  const std::string text = report_text(report, Style(), options);
  std::string lines;
  for (size_t at = text.find("of its bound"); at != std::string::npos;
       at = text.find("of its bound", at + 1)) {
    const size_t begin = text.rfind("└", at);
    lines += text.substr(begin, text.find("\n  c ", begin) + 1 - begin);
  }
  return lines;
}

TEST_CASE("text report: the share of its bound that a collective reached") {
  TextOptions whole;
  whole.checks = ShownChecks::All;
  Report report = sample_report();
  CHECK(bound_lines(report, whole).empty());
  const auto shared = std::make_shared<ReachedBound>();
  report.ops.front().reached = shared;
  ReachedBound& reached = *shared;
  reached.took = Duration(1'500'000);
  reached.bound = {Duration(300'000), Duration(1'350'000), Bytes(67'500), {LinkId(0)}};
  reached.busiest = BusiestLink{LinkId(0), Bytes(67'500), Duration(1'350'000)};
  CHECK(bound_lines(report).empty());
  CHECK(bound_lines(report, whole) ==
        "└ 90.0 % of its bound: 65.92 KiB over device 0 -> device 1 take 1.35 µs\n");
  reached.bound.cut = Duration(200'000);
  CHECK(bound_lines(report).empty());
  CHECK(bound_lines(report, whole) == "└ 20.0 % of its bound: 300 ns of latency\n");
}

TEST_CASE("text report: a collective that links keep from its bound is told with the busiest") {
  Report report = sample_report();
  const auto shared = std::make_shared<ReachedBound>();
  report.ops.front().reached = shared;
  ReachedBound& reached = *shared;
  reached.took = Duration(1'500'000);
  reached.bound = {Duration(), Duration(150'000), Bytes(15'000), {LinkId(0), LinkId(1)}};
  reached.busiest = BusiestLink{LinkId(1), Bytes(70'000), Duration(1'400'000)};
  CHECK(bound_lines(report) ==
        "└ 10.0 % of its bound: 14.65 KiB over 2 links (device 0 -> device 1, ...) take 150 ns; "
        "device 1 ->\n"
        "    device 0 alone takes 1.4 µs for its 68.36 KiB\n");
}

/// Returns the section from its heading to the next.
std::string gpus_section(const Report& report, const Style& style = Style()) {
  const std::string text = report_text(report, style);
  const size_t begin = text.find("\nGPUS\n");
  return text.substr(begin, text.find("\nMEMORY") - begin);
}

TEST_CASE("text report: of a run on GPUs, these, the graph, and measured beside simulated times") {
  // The median of 1.8, 1.9, 2 and 2.6 us is 1.95 us. The op is from 0.4 us on device 1 to 1.5 us.
  CHECK(gpus_section(report_on_gpu()) == R"text(
GPUS
  measured 1.95 µs, the median of 4 runs, which took 1.8 µs to 2.6 µs; simulated 1.5 µs
  NVIDIA H100 80GB HBM3 (compute capability 9.0, 80 GiB), CUDA 13.0
  2 virtual devices, arenas of 1 KiB in all, 256 B beside them
  10 nodes in 1 graph
  copies of 256 MiB: 1250.0 GB/s, so that they read and write 2500.0 GB/s: 100 %
  ops are measured in one more run, with events in its graph: 1.1 µs
  id  op                  simulated, µs  measured, µs    GB/s  of copies
  s   psum_scatter_start           1.50          1.10  2000.0     80.0 %
  not shown: 2 ops without kernels and copies
)text");
}

TEST_CASE("text report: GPUs that are alike are counted; graphs that are launched again too") {
  Report report = report_on_gpu();
  report.gpus->gpus.push_back(report.gpus->gpus.front());
  report.gpus->graphs = 2;
  report.gpus->launches = 1001;
  report.gpus->measurement->runs.resize(1);
  report.gpus->measurement->copies->in_gpu.push_back(BytesPerSecond(750'000'000'000));
  report.gpus->measurement->copies->to_next = BytesPerSecond(50'000'000'000);
  const std::string text = gpus_section(report, Style(Colours::Plain, Letters::Ascii));
  CHECK(text.find("  measured 2 us, in one run; simulated 1.5 us\n") != std::string::npos);
  CHECK(text.find("  2 x NVIDIA H100 80GB HBM3 (compute") != std::string::npos);
  CHECK(text.find("  10 nodes in 2 graphs, launched 1,001 times in a run\n") != std::string::npos);
  CHECK(text.find("simulated, us  measured, us    GB/s  of copies\n") != std::string::npos);
  // The op moves 2 of 4 TB/s.
  CHECK(text.find("  copies of 256 MiB: 2000.0 GB/s on 2 GPUs, so that they read and write 4000.0 "
                  "GB/s: 100 %; 50.0 GB/s from GPU 0 to GPU 1\n") != std::string::npos);
  CHECK(text.find(" 50.0 %\n") != std::string::npos);
}

TEST_CASE("text report: without a rate of copies there is no share of it") {
  Report report = report_on_gpu();
  report.gpus->measurement->copies.reset();
  const std::string text = gpus_section(report);
  CHECK(text.find("  copies not measured: too little memory is free\n") != std::string::npos);
  CHECK(text.find("1.10  2000.0\n") != std::string::npos);
}

TEST_CASE("text report: exposed time of several programs is a share of all their time") {
  Report report = sample_report();
  // 500 ns are exposed in two programs of 1.5 us each.
  report.devices[0].threads = {ThreadId(0), ThreadId(0)};
  report.devices[1].times.exposed = Duration();
  CHECK(report_text(report, Style())
            .find("exposed for 500 ns on device 0, 16.7 % of the makespan of each of its 2 "
                  "programs") != std::string::npos);
  // The device with the largest share counts: 300 ns in one program.
  report.devices[1].times.exposed = Duration(300'000);
  CHECK(report_text(report, Style())
            .find("exposed for 300 ns on device 1, 20.0 % of the makespan\n") != std::string::npos);
}

TEST_CASE("text report: a program without ops has no share of the time") {
  Report report = sample_report();
  Scenario scenario = *report.scenario;
  const ThreadId empty(scenario.program.threads.size());
  scenario.program.threads.push_back(scenario.program.threads.front());
  scenario.program.threads.back().issue_order.clear();
  report.scenario = std::make_shared<const Scenario>(std::move(scenario));
  for (DeviceReport& device : report.devices)
    device.threads.push_back(empty);
  CHECK(report_text(report, Style()).find("33.3 % of the makespan\n") != std::string::npos);
}

TEST_CASE("text report: an undecided check has a mark of its own, and the headline says so") {
  Report sample = sample_report();
  sample.checks[1] = {"VALUES.EQUAL", Verdict::Undecided, "/expect/0", "there are no values", {}};
  sample.verdict = Verdict::Undecided;
  const std::string text = report_text(sample, Style());
  CHECK(text.rfind("? UNDECIDED  1.5 µs, ", 0) == 0);
  CHECK(text.find("  ? VALUES.EQUAL   /expect/0  there are no values\n") != std::string::npos);
  CHECK(text.find("\n1 of 2 checks is undecided  fingerprint") != std::string::npos);
  sample.checks[0].verdict = Verdict::Fails;
  CHECK(report_text(sample, Style()).find("\n1 of 2 checks fail, 1 is undecided  fingerprint") !=
        std::string::npos);
}

TEST_CASE("summary: the remark is the check that decides the verdict") {
  Report sample = sample_report();
  sample.checks = {{"VALUES.EQUAL", Verdict::Undecided, "/expect/0", "there are no values", {}},
                   {"TIME.MAKESPAN", Verdict::Fails, "/expect/1", "it is late", {}}};
  sample.verdict = Verdict::Fails;
  CHECK(summary_line(sample, Style()).remark == "TIME.MAKESPAN: it is late");
  CHECK(summary_text({summary_line(sample, Style())}, Style()).find("✗") != std::string::npos);
  sample.checks.pop_back();
  sample.verdict = Verdict::Undecided;
  CHECK(summary_line(sample, Style()).remark == "VALUES.EQUAL: there are no values");
}

TEST_CASE("text report: the digest of the only executor stands last") {
  Report sample = sample_report();
  sample.digest = 0xabc;
  const std::string text = report_text(sample, Style());
  const std::string last =
      "schedule digest 0000000000000abc: one executor ran, nothing was compared\n";
  CHECK(text.substr(text.size() - last.size()) == last);
}

TEST_CASE("text report: faults are listed before their effects") {
  Report sample = sample_report();
  sample.faults = {"Device 1 starts late, at 5 us."};
  CHECK(report_text(sample, Style()).find(R"text( 3 ops

FAULTS
  · Device 1 starts late, at 5 µs.

TIME )text") != std::string::npos);
}

/// Returns two devices of which each has its own thread, and values of these names.
std::string memory_of_two(const std::vector<Held>& first, const std::vector<Held>& second) {
  Report report = sample_report();
  report.memory.kinds.resize(1, report.memory.kinds.front());
  report.memory.kinds.push_back(report.memory.kinds.front());
  report.memory.kinds[0].live_at_peak = first;
  report.memory.kinds[1].live_at_peak = second;
  report.memory.kind_of = {0, 1};
  return memory_text(report, Style());
}

TEST_CASE("text report: devices whose memory differs in names only share their lines") {
  const std::vector<Held> own = {{"s0_f", Bytes(256), HeldAs::Argument},
                                 {"first", Bytes(256), HeldAs::InFlight}};
  const std::string text = memory_of_two(
      own, {{"s1_f", Bytes(256), HeldAs::Argument}, {"other", Bytes(256), HeldAs::InFlight}});
  CHECK(text.find("devices 0-1  ") != std::string::npos);
  CHECK(text.find("s*_f 256 B argument · its own value 256 B in_flight\n") != std::string::npos);
  // A size that differs keeps them apart.
  const std::string apart = memory_of_two(
      own, {{"s1_f", Bytes(256), HeldAs::Argument}, {"other", Bytes(255), HeldAs::InFlight}});
  CHECK(apart.find("  device 0  ") != std::string::npos);
  CHECK(apart.find("  device 1  ") != std::string::npos);
}

TEST_CASE("text report: transport buffers are worked out, with the source of their figures") {
  Report report = sample_report();
  DeviceMemory& memory = report.memory.kinds[0];
  memory.connections = {{ConnectionKind::Collectives, 3, Bytes(1024), Bytes(), 1, 0},
                        {ConnectionKind::Sends, 32, Bytes(10 << 20), Bytes(2 << 20), 7, 7}};
  memory.transport = Bytes(3072) + Bytes(int64_t{2688} << 20);
  memory.reserved = memory.transport;
  Scenario scenario = *report.scenario;
  scenario.cluster.transport.emplace().connections = {{ConnectionKind::Sends, {{}, Bytes(1), {}}}};
  scenario.cluster.sources = {
      {"transport/connections/sends/receiver", "library default", "code", "2026-01-01"}};
  report.scenario = std::make_shared<const Scenario>(std::move(scenario));
  const std::string text = memory_text(report, Style());
  CHECK(text.find(
            "reserved 2.625 GiB (transport buffers)\n"
            "    transport buffers of collectives: 3 channels x 1 connection in x 1 KiB\n"
            "    = 3 KiB (the protocols' slots)\n"
            "    transport buffers of sends: 32 channels x (7 connections in x 10 MiB + 7 out x "
            "2 MiB)\n"
            "    = 2.625 GiB (library default)\n"
            "    placed in an arena of 512 B\n") != std::string::npos);
}

TEST_CASE("text report: plain letters for terminals without Unicode") {
  const Report sample = sample_report();
  const std::string text = report_text(sample, Style(Colours::Plain, Letters::Ascii));
  for (const char c : text)
    CHECK(static_cast<unsigned char>(c) < 0x80U);
}

TEST_CASE("text report: no line of a usual report is wider than 100 columns") {
  const Report sample = sample_report();
  const std::string text = report_text(sample, Style());
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    CHECK(columns(text.substr(at, text.find('\n', at) - at)) <= 100);
}

TEST_CASE("text report: failures are named with their witness, in red") {
  const Report sample = failing_report();
  const std::string text = report_text(sample, Style(Colours::Ansi, Letters::Unicode));
  CHECK(text.find("\033[1;31mDOES NOT HOLD\033[0m") != std::string::npos);
  CHECK(text.find("\033[1;31mVALUES.CLOSE\033[0m") != std::string::npos);
  CHECK(text.find("device\033[0m: 1\n") != std::string::npos);
  CHECK(text.find("\033[1;31m1 of 3 checks fail\033[0m") != std::string::npos);
}

TEST_CASE("summary: a line a scenario, the first failing check, the count") {
  const Report good = sample_report();
  Report bad = failing_report();
  Scenario named = *bad.scenario;
  named.file = "bad.json";
  bad.scenario = std::make_shared<const Scenario>(std::move(named));
  const std::vector<SummaryLine> lines = {
      summary_line(good, Style()),
      summary_line(bad, Style()),
      {"worse.json", Verdict::Fails, "", "", "the input is wrong"}};
  CHECK(summary_text(lines, Style()) ==
        "   scenario     makespan   peak\n"
        "✓  sample.json    1.5 µs  512 B\n"
        "✗  bad.json       1.5 µs  512 B  VALUES.CLOSE: p and q differ on device 1 at [0]\n"
        "✗  worse.json                    the input is wrong\n"
        "\n"
        "1 of 3 scenarios hold\n");
}

TEST_CASE("summary: those that are undecided are counted") {
  const auto summary = [](std::vector<Verdict> verdicts) {
    std::vector<SummaryLine> lines;
    for (const Verdict verdict : verdicts)
      lines.push_back({"f.json", verdict, "1 us", "1 B", ""});
    const std::string text = summary_text(lines, Style());
    return text.substr(text.find("\n\n") + 2);
  };
  CHECK(summary({Verdict::Holds, Verdict::Undecided}) == "1 of 2 scenarios hold, 1 is undecided\n");
  CHECK(summary({Verdict::Fails, Verdict::Undecided, Verdict::Undecided}) ==
        "0 of 3 scenarios hold, 2 are undecided\n");
  CHECK(summary({Verdict::Holds, Verdict::Holds}) == "2 of 2 scenarios hold\n");
}

}  // namespace
}  // namespace orrery::test
