#include "tests/tools/report/sample.h"

#include <limits>
#include <memory>

#include "models/array/text.h"
#include "models/scenario/reader.h"
#include "tests/models/array/tensors.h"

namespace orrery::test {
namespace {

constexpr const char* kScenario = R"({
  "orrery": 1,
  "name": "a scatter behind a computation",
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us",
              "memory": "1 KiB", "memory_bandwidth": "1 TB/s", "flops": {"bf16": "1 TFLOP/s"}},
  "mesh": {"x": 2},
  "arrays": {"a": {"shape": [8], "dtype": "f32", "spec": ["x"], "init": "iota"}},
  "program": [
    {"id": "s", "op": "psum_scatter_start", "of": "a", "axis_name": "x", "scatter_dimension": 0, "tiled": true},
    {"id": "c", "op": "compute", "flops": "2 MFLOP", "bytes": "16 B", "dtype": "bf16"},
    {"id": "p", "op": "done", "of": "s"}
  ],
  "outputs": ["p"]
})";

Instant at(int64_t picoseconds) {
  return Instant(picoseconds);
}

std::vector<OpReport> ops() {
  OpReport scatter;
  scatter.op = OpId(0);
  scatter.choice = Choice{"ring", "the only one for two"};
  scatter.bytes = Bytes(16);
  scatter.messages = 2;
  scatter.end = at(1'500'000);
  scatter.exposed = Duration(500'000);
  scatter.hidden = Duration(1'000'000);
  scatter.slack = Duration();
  scatter.algbw_GBps = 0.25;
  scatter.busbw_GBps = 0.125;
  OpReport compute;
  compute.op = OpId(1);
  compute.bytes = Bytes(16);
  compute.end = at(1'000'000);
  compute.slack = Duration(500'000);
  OpReport done;
  done.op = OpId(2);
  done.start = at(1'000'000);
  done.entered = at(1'000'000);
  done.end = at(1'500'000);
  return {scatter, compute, done};
}

ListMemory memory() {
  ListMemory memory;
  memory.thread = ThreadId(0);
  memory.live = {Bytes(512), Bytes(512), Bytes(512)};
  memory.peak = Bytes(512);
  memory.peak_at = OpId(0);
  memory.live_at_peak = {{"a", Bytes(256), HeldAs::Argument}, {"s", Bytes(256), HeldAs::InFlight}};
  memory.arena = Bytes(512);
  return memory;
}

}  // namespace

Report sample_report() {
  Report report;
  report.scenario = std::make_shared<const Scenario>(read_scenario("sample.json", kScenario));
  report.fingerprint = "00112233445566778899aabbccddeeff";
  report.labels = {"launch: 0 (not given)"};
  report.completion.emplace();
  report.completion->makespan = at(1'500'000);
  report.completion->messages = 2;
  report.completion->by = TimedBy::Sweep;
  report.completion->because = "no link can be asked for more than it has";
  std::vector<std::vector<OpSpan>> spans;
  for (const OpReport& op : ops())
    spans.emplace_back(2, OpSpan{op.start, op.entered, op.end});
  report.completion->spans = OpSpans(std::move(spans));
  report.critical_path = {
      {{OpId(1), LogicalId(0), at(0), at(1'000'000)}, report.scenario->program.op(OpId(1)).name},
      {{OpId(0), LogicalId(1), at(1'000'000), at(1'500'000)},
       report.scenario->program.op(OpId(0)).name}};
  report.ops = ops();
  const ListMemory held = memory();
  report.memory.lists = {held};
  report.memory.kinds = {
      {{0}, held.peak, held.peak_at, held.live_at_peak, Bytes(), Bytes(), {}, held.arena}};
  report.memory.kind_of = {0, 0};
  for (uint32_t d = 0; d < 2; ++d)
    report.devices.push_back(
        {LogicalId(d),
         {ThreadId(0)},
         Bytes(1024),
         {Duration(1'000'000), Duration(500'000), {{StreamId(0), Duration(1'500'000)}}}});
  // 50 GB/s for 1.5 us could carry 75,000 bytes.
  report.links = {{LinkId(0), Bytes(7'500), 7'500}, {LinkId(1), Bytes(7'500), 7'500}};
  report.checks = {{"DEADLOCK.FREE", Verdict::Holds, "", "the program ends", {}},
                   {"MEMORY.CAPACITY", Verdict::Holds, "", "every device holds what it must", {}}};

  const ValueId p = report.scenario->program.outputs.front();
  report.values.emplace(report.scenario->program);
  for (uint32_t d = 0; d < 2; ++d) {
    Tensor tensor(Dtype::F32, Shape{2});
    set_element_from_double(tensor, 0, d == 0 ? 0.1 : -0.0);
    set_element_from_double(tensor, 1, d == 0 ? 3 : std::numeric_limits<double>::quiet_NaN());
    report.values->at(p, LogicalId(d)) = std::move(tensor);
  }
  return report;
}

Report report_on_gpu() {
  Report report = sample_report();
  cuda::GpuFacts& gpus = report.gpus.emplace();
  gpus.driver = 13000;
  cuda::GpuInfo& gpu = gpus.gpus.emplace_back();
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.major = 9;
  gpu.uuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";
  gpu.memory = Bytes(int64_t{80} << 30);
  gpus.memory = {{0, Bytes(512), Bytes(256)}, {0, Bytes(512), Bytes(0)}};
  gpus.nodes = 10;
  gpus.graphs = 1;
  gpus.launches = 1;
  cuda::Measurement& measured = gpus.measurement.emplace();
  // 1.1 us at 2 TB/s, where copies read and write at 2.5 TB/s.
  measured.moved[OpId(0)] = Bytes(2'200'000);
  measured.copies = {{BytesPerSecond(1'250'000'000'000)}, std::nullopt, Bytes(int64_t{256} << 20)};
  measured.runs = {Duration(2'000'000), Duration(1'800'000), Duration(2'600'000),
                   Duration(1'900'000)};
  const auto step = [&](uint32_t device, int64_t begin, int64_t end) {
    const StepRef ref = {Node(device), Channel(0), 1};
    measured.spans[{LogicalId(device), {OpId(0), ref}}] = {Duration(begin), Duration(end)};
  };
  step(0, 500'000, 1'200'000);
  step(1, 400'000, 1'500'000);
  return report;
}

std::vector<NamedValue> outputs(const Report& report) {
  std::vector<NamedValue> named;
  for (const ValueId value : report.scenario->program.outputs)
    named.push_back({report.scenario->program.value(value).name, value});
  return named;
}

Report failing_report() {
  Report report = sample_report();
  report.verdict = Verdict::Fails;
  report.checks.push_back({"VALUES.CLOSE",
                           Verdict::Fails,
                           "/expect/0",
                           "p and q differ on device 1 at [0]",
                           {{"device", "1"}, {"index", "[0]"}}});
  return report;
}

}  // namespace orrery::test
