#include "tools/report/json.h"

#include <memory>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tests/tools/report/sample.h"

namespace orrery::test {
namespace {

TEST_CASE("JSON report: the whole text") {
  const Report sample = sample_report();
  // Entries that do not apply are null. Values come last, one line per device. 0.1 as f32 is the
  // double 0.10000000149011612; a negative zero keeps its sign.
  CHECK(json_text(sample, {outputs(sample), Encoding::Values}) == R"json({
  "report": 1,
  "scenario": "a scatter behind a computation",
  "holds": true,
  "verdict": "holds",
  "fingerprint": "00112233445566778899aabbccddeeff",
  "faults": [],
  "labels": ["launch: 0 (not given)"],
  "time": {
    "makespan_ps": 1500000,
    "by": "sweep",
    "because": "no link can be asked for more than it has",
    "messages": 2,
    "exposed_communication": {"device":0,"exposed_ps":500000,"share_of_makespan":0.3333333333333333},
    "critical_path": [
      {"op":"c","device":0,"start_ps":0,"end_ps":1000000},
      {"op":"s","device":1,"start_ps":1000000,"end_ps":1500000}
    ]
  },
  "ops": [
    {
      "id": "s",
      "op": "psum_scatter_start",
      "type": "future f32[2]{V:x}",
      "algorithm": "ring",
      "because": "the only one for two",
      "bytes": 16,
      "messages": 2,
      "start_ps": 0,
      "entered_ps": 0,
      "end_ps": 1500000,
      "exposed_ps": 500000,
      "hidden_ps": 1000000,
      "slack_ps": 0,
      "algbw_GBps": 0.25,
      "busbw_GBps": 0.125
    },
    {
      "id": "c",
      "op": "compute",
      "type": null,
      "algorithm": null,
      "because": null,
      "bytes": 16,
      "messages": 0,
      "start_ps": 0,
      "entered_ps": 0,
      "end_ps": 1000000,
      "exposed_ps": 0,
      "hidden_ps": 0,
      "slack_ps": 500000,
      "algbw_GBps": null,
      "busbw_GBps": null
    },
    {
      "id": "p",
      "op": "done",
      "type": "f32[2]{V:x}",
      "algorithm": null,
      "because": null,
      "bytes": 0,
      "messages": 0,
      "start_ps": 1000000,
      "entered_ps": 1000000,
      "end_ps": 1500000,
      "exposed_ps": 0,
      "hidden_ps": 0,
      "slack_ps": null,
      "algbw_GBps": null,
      "busbw_GBps": null
    }
  ],
  "devices": [
    {
      "id": 0,
      "peak_bytes": 512,
      "peak_at": "s",
      "arena_bytes": 512,
      "reserved_bytes": 0,
      "transport_bytes": 0,
      "capacity_bytes": 1024,
      "live_at_peak": [
        {"value":"a","bytes":256,"kind":"argument"},
        {"value":"s","bytes":256,"kind":"in_flight"}
      ],
      "computing_ps": 1000000,
      "exposed_ps": 500000,
      "streams": [
        {"stream":0,"busy_ps":1500000}
      ]
    },
    {
      "id": 1,
      "peak_bytes": 512,
      "peak_at": "s",
      "arena_bytes": 512,
      "reserved_bytes": 0,
      "transport_bytes": 0,
      "capacity_bytes": 1024,
      "live_at_peak": [
        {"value":"a","bytes":256,"kind":"argument"},
        {"value":"s","bytes":256,"kind":"in_flight"}
      ],
      "computing_ps": 1000000,
      "exposed_ps": 500000,
      "streams": [
        {"stream":0,"busy_ps":1500000}
      ]
    }
  ],
  "links": [
    {"link":"device 0 -> device 1","from":0,"to":1,"bytes":7500,"utilization":0.1},
    {"link":"device 1 -> device 0","from":1,"to":0,"bytes":7500,"utilization":0.1}
  ],
  "checks": [
    {"name":"DEADLOCK.FREE","holds":true,"verdict":"holds","of":"","message":"the program ends","witness":{}},
    {"name":"MEMORY.CAPACITY","holds":true,"verdict":"holds","of":"","message":"every device holds what it must","witness":{}}
  ],
  "values": {
    "p": {
      "dtype": "f32",
      "shape": [2],
      "per_device": [
        [0.10000000149011612,3.0],
        [-0.0,"NaN"]
      ]
    }
  }
}
)json");
}

TEST_CASE("JSON report: the bound of a collective, with the first links of its cut") {
  Report report = sample_report();
  const auto shared = std::make_shared<ReachedBound>();
  report.ops.front().reached = shared;
  ReachedBound& reached = *shared;
  reached.took = Duration(1'500'000);
  reached.bound = {Duration(300'000),
                   Duration(750'000),
                   Bytes(75'000),
                   {LinkId(0), LinkId(1), LinkId(0), LinkId(1), LinkId(0)}};
  reached.busiest = BusiestLink{LinkId(1), Bytes(60'000), Duration(1'200'000)};
  const std::string text = json_text(report, {});
  const size_t begin = text.find("\"bound\"");
  CHECK(text.substr(begin, text.find("}\n", begin) + 1 - begin) == R"json("bound": {
        "share": 0.5,
        "took_ps": 1500000,
        "latency_ps": 300000,
        "cut_ps": 750000,
        "crossing_bytes": 75000,
        "link_count": 5,
        "links": ["device 0 -> device 1","device 1 -> device 0","device 0 -> device 1","device 1 -> device 0"],
        "busiest": {"link":"device 1 -> device 0","bytes":60000,"takes_ps":1200000})json");
  reached.busiest.reset();
  CHECK(json_text(report, {}).find("\"busiest\": null") != std::string::npos);
}

TEST_CASE("JSON report: bit patterns") {
  const Report sample = sample_report();
  const std::string text = json_text(sample, {outputs(sample), Encoding::Bits});
  CHECK(text.find("\"encoding\": \"bits\",\n") != std::string::npos);
  // 0.1f is 0x3dcccccd, 3.0f 0x40400000, -0.0f 0x80000000, the quiet NaN 0x7fc00000.
  CHECK(text.find("[1036831949,1077936128],\n") != std::string::npos);
  CHECK(text.find("[2147483648,2143289344]\n") != std::string::npos);
}

TEST_CASE("JSON report: integers of 64 bits are written exactly") {
  Report sample = sample_report();
  const ValueId value = sample.scenario->program.outputs[0];
  const auto text = [&](Dtype dtype, uint64_t bits) {
    Tensor tensor(dtype, {1});
    set_element_bits(tensor, 0, bits);
    sample.values->at(value, LogicalId(0)) = tensor;
    return json_text(sample,
                     {{{sample.scenario->program.value(value).name, value}}, Encoding::Values});
  };
  CHECK(text(Dtype::U64, ~uint64_t{0}).find("[18446744073709551615],\n") != std::string::npos);
  CHECK(text(Dtype::S64, 0x8000000000000001U).find("[-9223372036854775807],\n") !=
        std::string::npos);
  CHECK(text(Dtype::S64, 0x20000000000001U).find("[9007199254740993],\n") != std::string::npos);
}

TEST_CASE("JSON report: a complex element is a list of its parts") {
  Report sample = sample_report();
  const ValueId value = sample.scenario->program.outputs[0];
  Tensor tensor(Dtype::C64, {2});
  REQUIRE((parse_element("[1,-0]", tensor, 0) && parse_element("[NaN,0.5]", tensor, 1)));
  sample.values->at(value, LogicalId(0)) = tensor;
  const auto text = [&](Encoding encoding) {
    return json_text(sample, {{{sample.scenario->program.value(value).name, value}}, encoding});
  };
  CHECK(text(Encoding::Values).find(R"([
          [1.0,-0.0],
          ["NaN",0.5]
        ])") != std::string::npos);
  CHECK(text(Encoding::Bits).find(R"([
          [1065353216,2147483648],
          [2143289344,1056964608]
        ])") != std::string::npos);
}

TEST_CASE("JSON report: of a run on GPUs, these, the graph and what was measured") {
  const std::string text = json_text(report_on_gpu(), {});
  // The median of 1.8, 1.9, 2 and 2.6 us is 1.95 us. The op is from 0.4 us on device 1 to 1.5 us.
  CHECK(text.find(R"json(
  "gpus": {
    "driver": "13.0",
    "devices": [
      {"name":"NVIDIA H100 80GB HBM3","compute_capability":"9.0","uuid":"GPU-00112233-4455-6677-8899-aabbccddeeff","memory_bytes":85899345920}
    ],
    "virtual": [
      {"id":0,"gpu":0,"arena_bytes":512,"beside_bytes":256},
      {"id":1,"gpu":0,"arena_bytes":512,"beside_bytes":0}
    ],
    "nodes": 10,
    "graphs": 1,
    "launches": 1,
    "measured": {
      "runs_ps": [2000000,1800000,2600000,1900000],
      "makespan_ps": 1950000,
      "copies": {
        "bytes": 268435456,
        "rates_Bps": [1250000000000]
      },
      "ops": [
        {
          "id": "s",
          "start_ps": 400000,
          "end_ps": 1500000,
          "bytes": 2200000,
          "bytes_per_second": 2000000000000,
          "of_copies": 0.8,
          "simulated_start_ps": 0,
          "simulated_end_ps": 1500000
        }
      ],
      "steps": [
        {
          "op": "s",
          "device": 0,
          "node": 0,
          "channel": 0,
          "step": 1,
          "start_ps": 500000,
          "end_ps": 1200000
        },
        {
          "op": "s",
          "device": 1,
          "node": 1,
          "channel": 0,
          "step": 1,
          "start_ps": 400000,
          "end_ps": 1500000
        }
      ]
    }
  },
  "checks": [)json") != std::string::npos);
}

TEST_CASE("JSON report: of a run on GPUs without measured runs, no measurement") {
  Report report = report_on_gpu();
  report.gpus->measurement.reset();
  CHECK(json_text(report, {}).find("\"launches\": 1,\n    \"measured\": null\n  },\n") !=
        std::string::npos);
}

TEST_CASE("JSON report: with one executor, only its digest") {
  Report sample = sample_report();
  CHECK(json_text(sample, {}).find("\"digest\"") == std::string::npos);
  sample.digest = 0xabc;
  CHECK(json_text(sample, {}).find("\"digest\": \"0000000000000abc\",\n") != std::string::npos);
}

TEST_CASE("JSON report: a program that hangs has no times") {
  Report sample = sample_report();
  sample.completion.reset();
  const std::string text = json_text(sample, {});
  CHECK(text.find("\"time\": null") != std::string::npos);
  CHECK(text.find("\"start_ps\": null") != std::string::npos);
}

TEST_CASE("JSON report: a key that a witness has twice becomes a list") {
  Report sample = failing_report();
  sample.checks.back().witness = {{"waits", "a"}, {"order", "b"}, {"waits", "c"}, {"waits", "d"}};
  const std::string text = json_text(sample, {});
  CHECK(text.find("\"waits\": [\"a\",\"c\",\"d\"],\n") != std::string::npos);
}

TEST_CASE("JSON report: connections say how transport buffers are worked out") {
  Report sample = sample_report();
  sample.memory.kinds[0].connections = {{ConnectionKind::Sends, 32, Bytes(10), Bytes(2), 7, 6}};
  CHECK(json_text(sample, {}).find(R"json(
      "connections": [
        {"kind":"sends","channels":32,"incoming":7,"receiver_bytes":10,"outgoing":6,"sender_bytes":2}
      ],
)json") != std::string::npos);
}

TEST_CASE("JSON list: the reports and their common verdict") {
  CHECK(json_list({"{\n}\n", "{\n}\n"}, Verdict::Undecided) ==
        "{\"reports\": [\n{\n},\n{\n}\n], \"holds\": false, \"verdict\": \"undecided\"}\n");
  CHECK(json_list({"{\n}\n"}, Verdict::Holds) ==
        "{\"reports\": [\n{\n}\n], \"holds\": true, \"verdict\": \"holds\"}\n");
}

}  // namespace
}  // namespace orrery::test
