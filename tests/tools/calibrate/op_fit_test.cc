// Tests fits of products of matrices to times that are made from known figures, and the tables.

#include "tools/calibrate/op_fit.h"

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/base/random.h"
#include "simulator/schedule/durations.h"

namespace orrery::test {
namespace {

constexpr size_t kOps = 80;

Cluster base() {
  Cluster cluster{"one", switch_fabric(1, {BytesPerSecond(1), Duration()}), {}};
  cluster.device.memory_bandwidth = BytesPerSecond(3'000'000'000'000);
  cluster.device.flops[Dtype::BF16] = FlopsPerSecond(1'000'000'000'000'000);
  cluster.device.flops[Dtype::F8E4M3FN] = FlopsPerSecond(2'000'000'000'000'000);
  return cluster;
}

/// Returns products of random sizes with the times that the device takes.
std::vector<MeasuredOp> products_on(const DeviceFigures& device, Dtype dtype) {
  Random random(5);
  std::vector<MeasuredOp> products;
  const auto size = [&] { return int64_t{1} << random.between(5, 14); };
  for (size_t i = 0; i < kOps; ++i) {
    const int64_t m = size();
    const int64_t n = size();
    const int64_t k = size();
    Cost cost{Flops(2 * m * n * k), {}, dtype};
    const int64_t bytes = dtype == Dtype::BF16 ? 2 : 1;  // results have two in any case
    cost.bytes = Bytes((m * k + k * n) * bytes + m * n * 2);
    cost.product = {m * n, k};
    products.push_back(
        {MeasuredKind::Product, dtype, {m, n, k}, local_duration(cost, device).takes});
  }
  return products;
}

/// Returns causal attention of random sizes with the times that the device takes.
std::vector<MeasuredOp> attention_on(const DeviceFigures& device) {
  Random random(6);
  std::vector<MeasuredOp> calls;
  for (size_t i = 0; i < kOps; ++i) {
    const int64_t batch = random.between(1, 8);
    const int64_t sequence = int64_t{1} << random.between(7, 14);
    const int64_t key_heads = random.between(1, 4);
    const int64_t heads = key_heads * random.between(1, 4);
    Cost cost{
        Flops(2 * 2 * batch * heads * (sequence * (sequence + 1) / 2) * 128), {}, Dtype::BF16};
    cost.bytes = Bytes(2 * 2 * batch * sequence * (heads + key_heads) * 128);
    cost.attention = AttentionSizes{.keys = sequence};
    calls.push_back({MeasuredKind::Attention,
                     Dtype::BF16,
                     {batch, sequence, heads, key_heads, 128},
                     local_duration(cost, device).takes});
  }
  return calls;
}

OpFitOptions options() {
  OpFitOptions options;
  options.date = "2026-01-02";
  options.source = "a test";
  options.validates = false;
  return options;
}

TEST_CASE("op fit: figures are found again") {
  DeviceFigures device = base().device;
  device.memory_share = {7, 10};
  device.efficiency[Dtype::BF16] = {{4, 5}, 120, 300, Duration(3'000'000)};
  const OpFit fit = fit_ops(base(), products_on(device, Dtype::BF16), options());
  // The search ends when its error changes by less than 1e-5. Figures make up for each other by
  // then to a few parts in a hundred.
  constexpr double kClose = 0.05;
  CHECK(fit.cluster.device.memory_share.part == doctest::Approx(700).epsilon(kClose));
  REQUIRE(fit.works.size() == 1);
  const FlopsEfficiency& found = fit.cluster.device.efficiency.at(Dtype::BF16);
  CHECK(found.share.part == doctest::Approx(800).epsilon(kClose));
  CHECK(static_cast<double>(found.launch->count()) == doctest::Approx(3e6).epsilon(kClose));
  CHECK(!found.attention);
  CHECK(fit.works[0].errors.times == kOps);
  CHECK(fit.works[0].errors.mean < kClose / 5);
  CHECK(fit.works[0].left_out.times == 0);
}

TEST_CASE("op fit: figures of attention are found again, and those of products are kept") {
  DeviceFigures device = base().device;
  device.efficiency[Dtype::BF16] = {{4, 5}, 120, 300, Duration(3'000'000)};
  device.efficiency[Dtype::BF16].attention = {{3, 5}, 700, Duration(20'000'000)};
  Cluster start = base();
  start.device.efficiency[Dtype::BF16] = {{1, 3}, 7, 8, Duration(9)};
  start.device.memory_share = {2, 3};
  device.memory_share = {2, 3};
  const OpFit fit = fit_ops(start, attention_on(device), options());
  constexpr double kClose = 0.05;  // as above
  const FlopsEfficiency& found = fit.cluster.device.efficiency.at(Dtype::BF16);
  REQUIRE(found.attention);
  CHECK(found.attention->share.part == doctest::Approx(600).epsilon(kClose));
  CHECK(static_cast<double>(found.attention->half_keys) == doctest::Approx(700).epsilon(kClose));
  CHECK(static_cast<double>(found.attention->launch->count()) ==
        doctest::Approx(2e7).epsilon(kClose));
  CHECK(found.share == Share{1, 3});
  CHECK(found.half_depth == 7);
  CHECK(found.calibrated.empty());
  CHECK(found.attention->calibrated.at("head") == SizeRange{128, 128});
  CHECK(found.attention->calibrated.at("sequence") == SizeRange{128, 16'384});
  // Attention does not tell what memory reaches.
  CHECK(fit.cluster.device.memory_share == Share{2, 3});
  REQUIRE(fit.cluster.sources.size() == 3);
  CHECK(fit.cluster.sources.front().figure == "efficiency/bf16/attention/half_keys");
}

TEST_CASE(
    "op fit: each dtype has figures, whose sources are told, and every product is left out once") {
  DeviceFigures device = base().device;
  device.efficiency[Dtype::BF16] = {{4, 5}, 120, 300, Duration(3'000'000)};
  device.efficiency[Dtype::F8E4M3FN] = {{3, 5}, 500, 900, Duration(9'000'000)};
  std::vector<MeasuredOp> products = products_on(device, Dtype::BF16);
  for (const MeasuredOp& product : products_on(device, Dtype::F8E4M3FN))
    products.push_back(product);
  OpFitOptions validated = options();
  validated.validates = true;
  validated.evaluations = 100;
  const OpFit fit = fit_ops(base(), products, validated);
  REQUIRE(fit.works.size() == 2);
  for (const WorkFit& found : fit.works) {
    CHECK(found.ops.size() == kOps);
    CHECK(found.left_out.times == kOps);
  }
  CHECK(fit.cluster.device.efficiency.size() == 2);
  REQUIRE(fit.cluster.sources.size() == 9);
  CHECK(fit.cluster.sources.front().figure == "efficiency/bf16/half_depth");
  const FigureSource& memory = fit.cluster.sources.back();
  CHECK(memory.figure == "efficiency/memory");
  CHECK(memory.label == kCalibrated);
  CHECK(memory.source == fmt::format("{} ops, a test", 2 * kOps));
  CHECK(memory.date == "2026-01-02");
}

std::string refused(const std::string& text) {
  try {
    read_op_table("f", text, {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("op table: columns come in any order, and other keys are not read") {
  const std::vector<MeasuredOp> products = read_op_table(
      "f",
      R"({"id": 1, "matmul": {"source": "s", "columns": ["time_us", "k", "n", "m", "gpu", "dtype"],
"rows": [[1.5, 1, 2, 3, "h", "bfloat16"], [0.000001, 4, 5, 6, null, "f32"]]}})",
      {});
  REQUIRE(products.size() == 2);
  CHECK(products[0].dtype == Dtype::BF16);
  CHECK(products[0].sizes == std::vector<int64_t>{3, 2, 1});
  CHECK(products[0].time == Duration(1'500'000));
  CHECK(products[1].time == Duration(1));
}

TEST_CASE("op table: attention is of bf16, unless a column says another dtype") {
  const std::vector<MeasuredOp> calls = read_op_table("f", R"({"attention": {
"columns": ["batch", "sequence", "heads", "kv_heads", "head", "time_us", "dtype"],
"rows": [[1, 2, 4, 2, 5, 6, "f8e4m3fn"]]}})",
                                                      {});
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].work == MeasuredKind::Attention);
  CHECK(calls[0].dtype == Dtype::F8E4M3FN);
  CHECK(calls[0].sizes == std::vector<int64_t>{1, 2, 4, 2, 5});
  CHECK(work_text(calls[0]) == "attention f8e4m3fn");
  CHECK(read_op_table("f", R"({"attention": {
"columns": ["batch", "sequence", "heads", "kv_heads", "head", "time_us"],
"rows": [[1, 2, 4, 2, 5, 6]]}})",
                      {})[0]
            .dtype == Dtype::BF16);
}

TEST_CASE("op table: what is wrong is told") {
  CHECK(refused("[]") == "f:1:1: expected an object with \"matmul\" or \"attention\", got a list");
  CHECK(refused(R"({"matmul": 1})") ==
        "f:1:12: /matmul: expected an object with \"columns\" and \"rows\", got 1");
  CHECK(refused(R"({"attention": {}})") ==
        "f:1:15: /attention: expected \"columns\" with \"batch\", \"sequence\", \"heads\", "
        "\"kv_heads\", \"head\" and \"time_us\", each once, got an object");
  CHECK(
      refused(R"({"matmul": {}})") ==
      "f:1:12: /matmul: expected \"columns\" with \"dtype\", \"m\", \"n\", \"k\" and \"time_us\", "
      "each once, got an object");
  CHECK(refused(R"({"matmul": {"columns": ["m", "m", "n", "k", "dtype", "time_us"]}})") ==
        "f:1:24: /matmul/columns: expected \"columns\" with \"dtype\", \"m\", \"n\", \"k\" and "
        "\"time_us\", each once, got a list");
  const std::string columns = R"({"matmul": {"columns": ["dtype", "m", "n", "k", "time_us"], )";
  CHECK(refused(columns + R"("rows": []}})") ==
        "f:1:69: /matmul/rows: expected \"rows\": a list of at least one row, got a list");
  CHECK(refused(columns + R"("rows": [1, ["bf61", 0, 1, 1, 0]]}})") ==
        "f:1:70: /matmul/rows/0: expected a row of 5 values, as \"columns\" has, got 1\n"
        "f:1:74: /matmul/rows/1/0: expected a dtype such as \"bf16\", got \"bf61\"\n"
        "f:1:82: /matmul/rows/1/1: expected a size from 1 to 1073741824, got 0\n"
        "f:1:91: /matmul/rows/1/4: expected a time in us, from 0.000001 to 1000000000, got 0");
}

TEST_CASE("op table: an op that does not exist, or is too large, is refused at its row") {
  const std::string calls = R"({"attention": {
"columns": ["batch", "sequence", "heads", "kv_heads", "head", "time_us", "dtype"], "rows": [)";
  CHECK(refused(calls + R"([1, 1, 32, 7, 1, 1, "bf16"], [1, 1, 1, 1, 1, 1, "s8"]]}})") ==
        "f:2:93: /attention/rows/0: expected attention of floats, with heads that are a multiple "
        "of kv_heads, got a list\n"
        "f:2:122: /attention/rows/1: expected attention of floats, with heads that are a multiple "
        "of kv_heads, got a list");
  CHECK(refused(calls + R"([1048576, 1048576, 32, 8, 128, 1, "bf16"]]}})") ==
        "f:2:93: /attention/rows/0: expected sizes of less than 2^63 flops, got a list");
  CHECK(refused(R"({"matmul": {"columns": ["dtype", "m", "n", "k", "time_us"],
"rows": [["bf16", 1073741824, 1073741824, 1073741824, 1]]}})") ==
        "f:2:10: /matmul/rows/0: expected sizes of less than 2^63 flops, got a list");
}

}  // namespace
}  // namespace orrery::test
