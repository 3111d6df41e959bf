// ragged_all_to_all: its values against point-to-point copies, and its laws. JAX on the CPU cannot
// run it. (ragged_tables_test.cc has tables that do not agree, ragged_sizes_test.cc those that are
// not known.)

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/hash.h"
#include "models/fabric/fabric.h"
#include "models/program/builder.h"
#include "simulator/lower/lower.h"
#include "simulator/time/engine.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/program/lists.h"
#include "tests/models/program/random_tables.h"
#include "tests/simulator/slot_protocol.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery::test {
namespace {

/// Where the groups are: along the only axis, along the outer of two, or lists of its ranks.
enum class Groups : uint8_t { Axis, OuterAxis, Listed };

struct Form {
  uint32_t ranks = 2;
  Groups groups = Groups::Axis;
  Issue issue = Issue::Sync;
  bool cut = false;  // messages, to slots of 64 B
};

/// A program of one exchange, and of what each group is to have.
class Exchange {
 public:
  Exchange(const Form& form, Dtype dtype, Shape row, std::vector<RaggedGroup> tables,
           Random& random)
      : form_(form), builder_(Mesh(axes()), Checks::States, diagnostics_) {
    const auto rows = [&](int64_t count) { return row.inserted(0, count); };
    const RaggedGroup& first = tables.front();
    add("operand", any(dtype, rows(first.operand_rows), random));
    add("output", any(dtype, rows(first.output_rows), random));
    const auto table = [&](const char* name, std::vector<int64_t> SliceTables::*member) {
      std::vector<Tensor> values;
      for (uint32_t d = 0; d < devices(); ++d) {
        const auto [group, rank] = place(d);
        const std::vector<int64_t>& list = tables[group].ranks[rank].*member;
        Tensor& value = values.emplace_back(Dtype::S32, Shape{static_cast<int64_t>(list.size())});
        std::transform(list.begin(), list.end(), value.as<int32_t>().begin(),
                       [](int64_t entry) { return static_cast<int32_t>(entry); });
      }
      add(name, std::move(values));
    };
    table("input_offsets", &SliceTables::input_offsets);
    table("send_sizes", &SliceTables::send_sizes);
    table("output_offsets", &SliceTables::output_offsets);
    table("recv_sizes", &SliceTables::recv_sizes);
  }

  Scenario scenario() {
    std::vector<LogicalId> all;
    for (uint32_t d = 0; d < devices(); ++d)
      all.emplace_back(d);
    builder_.thread("all", all);
    OpRequest request;
    request.name = form_.issue == Issue::Sync ? "r" : "f";
    request.kind = OpKind::RaggedAllToAll;
    request.issue = form_.issue;
    request.operands = {"operand",    "output",         "input_offsets",
                        "send_sizes", "output_offsets", "recv_sizes"};
    request.attributes.set("axis_name", Names{"x"});
    if (form_.groups == Groups::Listed)
      request.attributes.set("axis_index_groups", lists());
    builder_.op(request);
    if (form_.issue == Issue::Start) {
      OpRequest done;
      done.name = "r";
      done.kind = OpKind::Done;
      done.operands = {"f"};
      builder_.op(done);
    }
    const LinkFigures link{BytesPerSecond(1'000'000'000), Duration(1'000)};
    Cluster cluster{"rig", fully_connected_fabric(devices(), link), {}};
    if (form_.cut)
      cluster.transport = TransportFigures{{slot_protocol(kSmallestSlot)}};
    Program program = builder_.finish();
    diagnostics_.throw_if_any();
    return {"ragged",
            "ragged",
            std::move(cluster),
            false,
            Checks::States,
            {},
            std::move(program),
            arrays_,
            {},
            {},
            {}};
  }

  /// The group and the rank of a device.
  std::pair<size_t, size_t> place(uint32_t device) const {
    switch (form_.groups) {
      case Groups::Axis:
        return {0, device};
      case Groups::OuterAxis:
        return {device % 2, device / 2};
      case Groups::Listed:
        break;  // the odd ones in descending order
    }
    return device % 2 == 0 ? std::pair<size_t, size_t>(0, device / 2)
                           : std::pair<size_t, size_t>(1, form_.ranks - 1 - device / 2);
  }
  uint32_t devices() const { return form_.ranks * groups(); }
  uint32_t groups() const { return form_.groups == Groups::Axis ? 1 : 2; }

 private:
  std::vector<Axis> axes() const {
    if (form_.groups == Groups::OuterAxis)
      return {{"x", form_.ranks}, {"y", 2}};
    return {{"x", devices()}};
  }
  Lists lists() const {
    Lists lists(2, std::vector<int64_t>(form_.ranks));
    for (uint32_t d = 0; d < devices(); ++d)
      lists[place(d).first][place(d).second] = d;
    return lists;
  }
  std::vector<Tensor> any(Dtype dtype, const Shape& shape, Random& random) const {
    std::vector<Tensor> tensors;
    for (uint32_t d = 0; d < devices(); ++d)
      tensors.push_back(random_normalish(dtype, shape, random));
    return tensors;
  }
  void add(const std::string& name, std::vector<Tensor> tensors) {
    Array array;
    array.name = name;
    array.dtype = tensors.front().dtype();
    array.global = tensors.front().shape();
    array.per_device = true;
    Names varying;
    for (const Axis& axis : axes())
      varying.push_back(axis.name);
    builder_.argument(name, array.dtype, array.global, varying);
    array.init = PerDeviceInit{std::move(tensors)};
    arrays_.push_back(std::move(array));
  }

  const Form form_;
  Diagnostics diagnostics_{"ragged"};
  ProgramBuilder builder_;
  std::vector<Array> arrays_;
};

using Row = std::vector<std::byte>;

std::vector<Row> rows_of(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.shape()[0]);
  const size_t size = count == 0 ? 0 : tensor.bytes().size() / count;
  std::vector<Row> rows;
  for (size_t i = 0; i < count; ++i)
    rows.emplace_back(tensor.bytes().begin() + static_cast<ptrdiff_t>(i * size),
                      tensor.bytes().begin() + static_cast<ptrdiff_t>((i + 1) * size));
  return rows;
}

const Tensor& value(const Report& report, std::string_view name, uint32_t device) {
  return *report.values->at(values_by_name(report.scenario->program).at(name), LogicalId(device));
}

/// Whether the event engine gives the times of the report, which were swept.
void check_engine(const Report& report) {
  if (report.completion->by != TimedBy::Sweep)
    return;
  const Scenario& scenario = *report.scenario;
  Diagnostics diagnostics("ragged");
  const Lowered lowered = lower(scenario.program, scenario.cluster, diagnostics);
  const Completion simulated =
      simulate(scenario.program, lowered, scenario.cluster.fabric, EngineOptions());
  CHECK(simulated.spans == report.completion->spans);
  CHECK(simulated.digest == report.completion->digest);
}

/// Returns how many rows were exchanged.
int64_t check_exchange(const Form& form, Dtype dtype, size_t slices, Random& random) {
  std::vector<RaggedGroup> tables;
  for (int g = 0; g < (form.groups == Groups::Axis ? 1 : 2); ++g)
    tables.push_back(random_tables(random, form.ranks, slices, form.cut ? 40 : 4));
  // Groups have operands of one shape.
  for (RaggedGroup& group : tables)
    for (const RaggedGroup& other : tables) {
      group.operand_rows = std::max(group.operand_rows, other.operand_rows);
      group.output_rows = std::max(group.output_rows, other.output_rows);
    }
  const Shape row = random.below(2) == 0 ? Shape() : Shape{random.between(1, 3)};
  Exchange exchange(form, dtype, row, tables, random);
  RunOptions options;
  options.data = Data::On;
  const Report report = run(exchange.scenario(), options);
  for (const Check& check : report.checks)
    if (!check.holds())
      FAIL_CHECK(check.message);
  const std::set<std::string> names = [&] {
    std::set<std::string> all;
    for (const Check& check : report.checks)
      all.insert(check.name);
    return all;
  }();
  for (const char* name : {"TABLES.AGREED", "RACE.FREE", "SCHEDULE.DIGEST", "SCHEDULE.PROVED",
                           "VALUES.ORACLE", "DEADLOCK.FREE"})
    CHECK_MESSAGE(names.count(name) == 1, name);
  check_engine(report);

  int64_t exchanged = 0;
  for (uint32_t g = 0; g < exchange.groups(); ++g) {
    std::vector<uint32_t> devices(form.ranks);
    for (uint32_t d = 0; d < exchange.devices(); ++d)
      if (exchange.place(d).first == g)
        devices[exchange.place(d).second] = d;
    std::vector<std::vector<Row>> operands;
    std::vector<std::vector<Row>> outputs;
    for (const uint32_t d : devices) {
      operands.push_back(rows_of(value(report, "operand", d)));
      outputs.push_back(rows_of(value(report, "output", d)));
    }
    const auto expected = point_to_point(tables[g], operands, outputs);
    for (uint32_t rank = 0; rank < form.ranks; ++rank)
      CHECK(rows_of(value(report, "r", devices[rank])) == expected[rank]);
    for (const SliceTables& rank : tables[g].ranks)
      for (const int64_t rows : rank.send_sizes)
        exchanged += rows;
  }
  return exchanged;
}

TEST_CASE("ragged: every dtype, grouping and form is a set of point-to-point copies (R04, R05)") {
  int64_t exchanged = 0;
  for (uint32_t ranks = 1; ranks <= 5; ++ranks)
    for (const Groups groups : {Groups::Axis, Groups::OuterAxis, Groups::Listed})
      for (size_t slices = 1; slices <= 3; ++slices)
        for (size_t d = 0; d < all_dtypes().size(); ++d) {
          const bool cut = (ranks + slices) % 2 == 0;
          const Issue issue = d % 2 == 0 ? Issue::Sync : Issue::Start;
          if ((d + ranks + slices) % 3 != 0)
            continue;  // each dtype in its turn
          Random random(mix(((ranks * 3 + static_cast<uint64_t>(groups)) * 4 + slices) * 64 + d));
          INFO(fmt::format("{} ranks, grouping {}, {} slices, {}{}", ranks,
                           static_cast<int>(groups), slices, name(all_dtypes()[d]),
                           cut ? ", cut" : ""));
          exchanged += check_exchange({ranks, groups, issue, cut}, all_dtypes()[d], slices, random);
        }
  CHECK(exchanged > 10'000);
}

TEST_CASE(
    "ragged: of equal dense slices it takes as long as all_to_all, and has its values (R02)") {
  ScenarioParts parts;
  parts.policy = "{}";
  const std::string arrays =
      R"("a": {"shape": [64, 3], "dtype": "f32", "spec": ["x"], "init": "iota"})";
  parts.arrays = fmt::format("{{{}}}", arrays);
  parts.program = R"([{"id": "r", "op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 0,
                       "concat_axis": 0, "tiled": true, "algorithm": "direct"}])";
  const Ran dense = run_parts(parts);
  parts.arrays = fmt::format(
      R"({{{}, "o": {{"shape": [64, 3], "dtype": "f32", "spec": ["x"], "init": 0}},
          "starts": {{"local_shape": [4], "dtype": "s32",
                      "per_device": [[0, 4, 8, 12], [0, 4, 8, 12], [0, 4, 8, 12], [0, 4, 8, 12]]}},
          "sizes": {{"local_shape": [4], "dtype": "s32",
                     "per_device": [[4, 4, 4, 4], [4, 4, 4, 4], [4, 4, 4, 4], [4, 4, 4, 4]]}},
          "places": {{"local_shape": [4], "dtype": "s32",
                      "per_device": [[0, 0, 0, 0], [4, 4, 4, 4], [8, 8, 8, 8], [12, 12, 12, 12]]}}}})",
      arrays);
  parts.program = R"([{"id": "r", "op": "ragged_all_to_all", "axis_name": "x",
                       "of": ["a", "o", "starts", "sizes", "places", "sizes"]}])";
  const Ran ragged = run_parts(parts);
  CHECK(ragged.broken() == Names{});
  CHECK(ragged.report.completion->makespan == dense.report.completion->makespan);
  for (uint32_t d = 0; d < 4; ++d)
    CHECK(rows_of(value(ragged.report, "r", d)) == rows_of(value(dense.report, "r", d)));
  CHECK(ragged.report.ops.front().bytes == dense.report.ops.front().bytes);
  CHECK(ragged.report.ops.front().busbw_GBps == dense.report.ops.front().busbw_GBps);
}
}  // namespace
}  // namespace orrery::test
