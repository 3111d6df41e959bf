#include "tools/report/json.h"

#include <doctest/doctest.h>

#include "tests/tools/report/sample.h"

namespace orrery::test {
namespace {

TEST_CASE("JSON report: the whole of it") {
  const Sample sample = sample_report();
  // What does not apply is null; the values come last, one line a device. 0.1 as f32 is the double
  // 0.10000000149011612; a negative zero keeps its sign.
  CHECK(json_text(sample.report, {sample.scenario->program.outputs, Encoding::Values}) == R"(@)");
}

TEST_CASE("JSON report: bit patterns") {
  const Sample sample = sample_report();
  const std::string text =
      json_text(sample.report, {sample.scenario->program.outputs, Encoding::Bits});
  // 0.1f is 0x3dcccccd, 3.0f 0x40400000, -0.0f 0x80000000, the quiet NaN 0x7fc00000.
  CHECK(text.find("[1036831949,1077936128],\n") != std::string::npos);
  CHECK(text.find("[2147483648,2143289344]\n") != std::string::npos);
}

TEST_CASE("JSON report: a program that hangs has no times") {
  Sample sample = sample_report();
  sample.report.completion.reset();
  const std::string text = json_text(sample.report, {});
  CHECK(text.find("\"time\": null") != std::string::npos);
  CHECK(text.find("\"start_ps\": null") != std::string::npos);
}

TEST_CASE("JSON list: the reports under one verdict") {
  CHECK(json_list({"{\n}\n", "{\n}\n"}, false) ==
        "{\"reports\": [\n{\n},\n{\n}\n], \"holds\": false}\n");
}

}  // namespace
}  // namespace orrery::test
