// Plants differences of each kind. Each must be found at its first location, and nothing else may
// be reported.

#include "tools/report/difference.h"

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tests/models/array/tensors.h"

namespace orrery::test {
namespace {

using Names = std::vector<std::string>;

Tensor floats(float first, float second) {
  Tensor tensor(Dtype::F32, Shape{2});
  set_element_from_double(tensor, 0, first);
  set_element_from_double(tensor, 1, second);
  return tensor;
}

RecordedOp op(const std::string& id, int64_t end_on_0, int64_t end_on_1) {
  RecordedOp op;
  op.id = id;
  op.op = "psum";
  op.algorithm = "ring";
  op.messages = 4;
  op.span = RecordedSpan{Instant(), Instant(std::max(end_on_0, end_on_1))};
  op.by_device = {{LogicalId(0), {Instant(), Instant(end_on_0)}},
                  {LogicalId(1), {Instant(), Instant(end_on_1)}}};
  return op;
}

/// Returns a record of two devices, with an array "a", and the ops "p" and "q", in this order.
RunRecord record() {
  RunRecord record;
  record.file = "run.json";
  record.fingerprint = "00";
  record.makespan = Instant(30);
  record.ops = {op("p", 10, 12), op("q", 20, 30)};
  record.devices = {{LogicalId(0), Bytes(512), "p", Bytes(512)},
                    {LogicalId(1), Bytes(512), "p", Bytes(512)}};
  record.checks = {{"DEADLOCK.FREE", "/program", Verdict::Holds, "it ends"},
                   {"VALUES.EQUAL", "/expect/0", Verdict::Holds, "they are equal"}};
  for (const char* name : {"a", "p", "q"})
    record.values.push_back({name, Dtype::F32, Shape{2}, {floats(1, 2), floats(3, 4)}});
  return record;
}

/// Returns the only finding.
Finding only(const RunRecord& a, const RunRecord& b) {
  const RunComparison comparison = compare(a, b);
  REQUIRE(comparison.findings.size() == 1);
  CHECK_FALSE(comparison.same());
  return comparison.findings.front();
}

TEST_CASE("diff: the same") {
  const RunComparison comparison = compare(record(), record());
  CHECK(comparison.same());
  CHECK(comparison.not_compared.empty());
}

TEST_CASE("diff: another op under the same id") {
  RunRecord b = record();
  b.ops[1].op = "pmax";
  const Finding finding = only(record(), b);
  CHECK(finding.aspect == Aspect::Op);
  CHECK(finding.first.at == "q");
  CHECK(finding.first.a == "psum");
  CHECK(finding.first.b == "pmax");
}

TEST_CASE("diff: another algorithm, and another number of messages") {
  RunRecord b = record();
  b.ops[0].algorithm = "direct";
  b.ops[1].messages = 8;
  const Finding finding = only(record(), b);
  CHECK(finding.aspect == Aspect::Algorithm);
  CHECK(finding.first.at == "p");
  CHECK(finding.first.a == "ring, 4 messages");
  CHECK(finding.first.b == "direct, 4 messages");
  CHECK(finding.places == Names{"p", "q"});
}

TEST_CASE("diff: a value's element, with the device and the distance") {
  RunRecord b = record();
  // The float after 4 is 4 + 2^-21.
  set_element_bits(*b.values[2].per_device[1], 1, element_bits(floats(0, 4), 1) + 1);
  const Finding finding = only(record(), b);
  CHECK(finding.aspect == Aspect::Value);
  CHECK(finding.first.at == "q");
  CHECK(finding.first.device == LogicalId(1));
  CHECK(finding.first.what == "element 1");
  CHECK(finding.first.a == "4");
  CHECK(finding.first.b == "4.0000005");
  CHECK(finding.first.note == "1 ulp apart; 1 of 2 elements differs");
  CHECK(finding.places == Names{"q"});
}

TEST_CASE("diff: the first value is the one made first, whatever its position in the list") {
  RunRecord a = record();
  // One program's list comes before the other's, but "q" ends first.
  a.ops = {op("p", 100, 100), op("q", 20, 30)};
  RunRecord b = a;
  b.values[1].per_device[0] = floats(9, 9);
  b.values[2].per_device[0] = floats(1, 9);
  b.values[2].per_device[1] = floats(9, 9);
  const Finding finding = only(a, b);
  CHECK(finding.first.at == "q");
  CHECK(finding.first.device == LogicalId(0));  // at 20, and on device 1 at 30
  CHECK(finding.first.what == "element 1");
  CHECK(finding.places == Names{"p", "q"});
  // Arrays come before everything else.
  b.values[0].per_device[1] = floats(9, 4);
  CHECK(only(a, b).first.at == "a");
}

TEST_CASE("diff: another dtype with the same numbers") {
  RunRecord b = record();
  for (std::optional<Tensor>& tensor : b.values[1].per_device) {
    Tensor narrow(Dtype::BF16, Shape{2});
    for (int64_t i = 0; i < 2; ++i)
      set_element_from_double(narrow, i, element_as_double(*tensor, i));
    tensor = narrow;
  }
  b.values[1].dtype = Dtype::BF16;
  const Finding finding = only(record(), b);
  CHECK(finding.aspect == Aspect::Type);
  CHECK(finding.first.a == "f32[2]");
  CHECK(finding.first.b == "bf16[2]");
}

TEST_CASE("diff: all arrays and ops that differ are named, arrays first") {
  RunRecord b = record();
  for (RecordedValue& value : b.values)
    for (std::optional<Tensor>& tensor : value.per_device)
      tensor = floats(7, 7);
  CHECK(only(record(), b).places == Names{"a", "p", "q"});
}

TEST_CASE(
    "diff: values of different shapes are different types, and their elements are not compared") {
  RunRecord b = record();
  b.values[1].shape = Shape{1};
  for (std::optional<Tensor>& tensor : b.values[1].per_device)
    tensor = Tensor(Dtype::F32, Shape{1});
  CHECK(only(record(), b).first.b == "f32[1]");
}

TEST_CASE("diff: a time, on its device; start before end") {
  RunRecord b = record();
  b.ops[1].by_device[1].second.end = Instant(35);
  Finding finding = only(record(), b);
  CHECK(finding.aspect == Aspect::Time);
  CHECK(finding.first.at == "q");
  CHECK(finding.first.device == LogicalId(1));
  CHECK(finding.first.what == "end");
  CHECK(finding.first.a == "30 ps");
  CHECK(finding.first.b == "35 ps");
  CHECK(finding.first.note == "5 ps later");
  b.ops[1].by_device[1].second.start = Instant(5);
  finding = only(record(), b);
  CHECK(finding.first.what == "start");
  CHECK(finding.first.b == "5 ps");
}

TEST_CASE("diff: a value that other devices have") {
  RunRecord other = record();
  other.values[1].per_device[0].reset();
  other.fingerprint = "01";
  const Finding found = only(record(), other);
  CHECK(found.first.what == "is there");
  CHECK(found.first.device == LogicalId(0));
  CHECK(found.first.a == "yes");
  CHECK(found.first.b == "no");
}

TEST_CASE("diff: a saved report has times over all devices") {
  RunRecord b = record();
  for (RecordedOp& op : b.ops)
    op.by_device.clear();
  CHECK(compare(record(), b).same());
  b.ops[0].span->end = Instant(13);
  const Finding finding = only(record(), b);
  CHECK(finding.first.at == "p");
  CHECK_FALSE(finding.first.device);
  CHECK(finding.first.a == "12 ps");
}

TEST_CASE("diff: a gradient goes by its name, not by that of the op that makes it") {
  RunRecord a = record();
  a.values[2].other_name = "ct_w";
  RunRecord b = a;
  b.values[2].per_device[0] = floats(1, 3);
  const Finding finding = only(a, b);
  CHECK(finding.first.at == "ct_w");
  CHECK(finding.places == Names{"ct_w"});
  b.values.pop_back();
  CHECK(compare(a, b).not_compared == Names{"Values that B does not have: \"ct_w\"."});
  CHECK(compare(b, a).not_compared == Names{"Values that A does not have: \"ct_w\"."});
}

TEST_CASE("diff: each entry of a value is compared, where those of one record differ") {
  RunRecord a = record();
  RunRecord b = record();
  b.values.push_back(b.values[2]);
  b.values[3].per_device[1] = floats(3, 5);
  for (const Finding& finding : {only(a, b), only(b, a)}) {
    CHECK(finding.first.at == "q");
    CHECK(finding.first.device == LogicalId(1));
  }
}

TEST_CASE("diff: the whole array of an output may differ where its parts do not") {
  RunRecord a = record();
  RunRecord b = record();
  a.values[1].whole = floats(1, 2);
  b.values[1].whole = floats(1, 3);
  Finding finding = only(a, b);
  CHECK(finding.aspect == Aspect::Value);
  CHECK(finding.first.at == "p");
  CHECK_FALSE(finding.first.device);
  CHECK(finding.first.what == "element 1 of the whole array");
  CHECK(finding.first.a == "2");
  CHECK(finding.first.b == "3");
  // With another spec the array has another shape.
  b.values[1].whole = Tensor(Dtype::F32, {2, 1});
  finding = only(a, b);
  CHECK(finding.aspect == Aspect::Type);
  CHECK(finding.first.what == "type of the whole array");
  CHECK(finding.first.a == "f32[2]");
  CHECK(finding.first.b == "f32[2,1]");
}

TEST_CASE("diff: where the parts differ, they come before the whole array") {
  RunRecord a = record();
  RunRecord b = record();
  a.values[1].whole = floats(1, 2);
  b.values[1].whole = floats(1, 3);
  b.values[1].per_device[1] = floats(3, 5);
  const Finding finding = only(a, b);
  CHECK(finding.first.device == LogicalId(1));
  CHECK(finding.places == Names{"p"});
}

TEST_CASE("diff: a whole array that one record lacks is not compared") {
  RunRecord a = record();
  a.values[1].whole = floats(1, 2);
  const RunComparison comparison = compare(a, record());
  CHECK(comparison.same());
  CHECK(comparison.not_compared == Names{"The whole array of \"p\": B has none."});
}

TEST_CASE("diff: memory, at its device") {
  RunRecord b = record();
  b.devices[1].peak = Bytes(1024);
  b.devices[1].peak_at = "q";
  Finding finding = only(record(), b);
  CHECK(finding.aspect == Aspect::Memory);
  CHECK(finding.first.device == LogicalId(1));
  CHECK(finding.first.a == "512 B at p");
  CHECK(finding.first.b == "1 KiB at q");
  CHECK(finding.places == Names{"1"});
  b = record();
  b.devices[0].arena = Bytes(513);
  finding = only(record(), b);
  CHECK(finding.first.what == "arena");
  CHECK(finding.first.b == "513 B");
}

TEST_CASE("diff: a verdict, with its message where it does not hold") {
  RunRecord b = record();
  b.checks[1].verdict = Verdict::Fails;
  b.checks[1].message = "they are not";
  const Finding finding = only(record(), b);
  CHECK(finding.aspect == Aspect::Verdict);
  CHECK(finding.first.at == "VALUES.EQUAL /expect/0");
  CHECK(finding.first.a == "holds");
  CHECK(finding.first.b == "does not hold");
  CHECK(finding.first.note == "they are not");
}

TEST_CASE("diff: a check that is undecided in one run, with why") {
  RunRecord b = record();
  b.checks[1].verdict = Verdict::Undecided;
  b.checks[1].message = "there are no values";
  const Finding finding = only(record(), b);
  CHECK(finding.first.b == "is undecided");
  CHECK(finding.first.note == "there are no values");
  CHECK(only(b, record()).first.note == "there are no values");
}

TEST_CASE("diff: a check of only one run counts where it does not hold") {
  RunRecord b = record();
  b.checks.push_back({"ROUTE.LEFT", "/faults", Verdict::Holds, "all have a way"});
  CHECK(compare(record(), b).same());
  b.checks.back().verdict = Verdict::Fails;
  CHECK(only(record(), b).first.a == "not checked");
  CHECK(only(b, record()).first.b == "not checked");
}

TEST_CASE("diff: where an op differs in several ways, the likelier cause comes first") {
  RunRecord b = record();
  b.checks[0].verdict = Verdict::Fails;
  b.devices[0].peak = Bytes(256);
  b.ops[0].by_device[0].second.end = Instant(11);
  b.ops[0].algorithm = "direct";
  b.values[1].per_device[0] = floats(5, 2);
  const RunComparison comparison = compare(record(), b);
  std::vector<Aspect> order;
  for (const Finding& finding : comparison.findings)
    order.push_back(finding.aspect);
  CHECK(order == std::vector{Aspect::Algorithm, Aspect::Value, Aspect::Time, Aspect::Memory,
                             Aspect::Verdict});
}

TEST_CASE("diff: ops of one run alone") {
  RunRecord b = record();
  b.ops[1].id = "r";
  b.values.pop_back();
  const RunComparison comparison = compare(record(), b);
  CHECK(comparison.only_in_a == Names{"q"});
  CHECK(comparison.only_in_b == Names{"r"});
  CHECK(comparison.findings.empty());
  CHECK(comparison.not_compared.empty());
  CHECK_FALSE(comparison.same());
}

TEST_CASE("diff: parts that one record lacks are named, and are no difference") {
  RunRecord b = record();
  b.values.clear();
  RunComparison comparison = compare(record(), b);
  CHECK(comparison.same());
  CHECK(comparison.not_compared ==
        Names{"Values: B has none. (A run with data off or over its budget, and a program that "
              "does not "
              "end, have none. A saved report has what `run --format json --values all` kept.)"});
  b = record();
  b.values.pop_back();
  CHECK(compare(record(), b).not_compared == Names{"Values that B does not have: \"q\"."});
  CHECK(compare(b, record()).not_compared == Names{"Values that A does not have: \"q\"."});
  b = record();
  b.devices.pop_back();
  CHECK(compare(record(), b).not_compared ==
        Names{"Devices: A has 2, B has 1; those of both are compared."});
}

TEST_CASE(
    "diff: two records without values are the same, and that values were not compared is told") {
  RunRecord a = record();
  a.values.clear();
  const RunComparison comparison = compare(a, a);
  CHECK(comparison.same());
  CHECK(comparison.not_compared ==
        Names{"Values: neither A nor B has any. (A run with data off or over its budget, and a "
              "program that does not end, have none. A saved report has what `run --format json "
              "--values all` kept.)"});
}

TEST_CASE("diff: different fingerprints are a difference, even if nothing else differs") {
  RunRecord b = record();
  b.fingerprint = "01";
  CHECK_FALSE(compare(record(), b).same());
  CHECK(compare(record(), b).unexplained);
}

TEST_CASE("diff: a program that does not end is compared in issue order") {
  RunRecord a = record();
  for (RecordedOp& op : a.ops) {
    op.span.reset();
    op.by_device.clear();
  }
  a.makespan.reset();
  RunRecord b = record();
  b.ops[0].algorithm = "direct";
  b.ops[1].algorithm = "direct";
  CHECK(only(a, b).first.at == "p");
}

TEST_CASE("difference: a setting is told, and is no difference of the results") {
  RunRecord a = record();
  RunRecord b = record();
  a.settings = {{"memory.reuse", "none"}, {"memory.alignment", "256 B"}};
  b.settings = {{"memory.reuse", "xla"}, {"memory.alignment", "256 B"}};
  const RunComparison comparison = compare(a, b);
  CHECK(comparison.same());
  REQUIRE(comparison.settings.size() == 1);
  CHECK(comparison.settings[0].key == "memory.reuse");
  CHECK(comparison.settings[0].a == "none");
  CHECK(comparison.settings[0].b == "xla");
  // A saved report has no settings.
  b.settings.clear();
  CHECK(compare(a, b).settings.empty());
}

}  // namespace
}  // namespace orrery::test
