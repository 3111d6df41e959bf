#include "simulator/lower/local_cost.h"

#include <doctest/doctest.h>

#include "tests/simulator/lower/lower_rig.h"

namespace orrery {
namespace {

using test::LowerRig;

/// The figures are 1 us of launch, 1 TB/s of memory, and 10 TFLOP/s for f32 only.

void give_figures(Cluster& cluster) {
  cluster.device.launch = Duration(1'000'000);
  cluster.device.memory_bandwidth = BytesPerSecond(1'000'000'000'000);
  cluster.device.flops[Dtype::F32] = FlopsPerSecond(10'000'000'000'000);
}

test::Parameters work(int64_t flops, int64_t bytes, Dtype dtype) {
  return {{"flops", Flops(flops)}, {"bytes", Bytes(bytes)}, {"dtype", dtype}};
}

TEST_CASE("local cost: launch plus the longer of flops and bytes") {
  LowerRig rig(1);
  give_figures(rig.cluster);
  rig.op("compute", "flops", {}, work(20'000'000, 1'000'000, Dtype::F32))
      .op("compute", "bytes", {}, work(1'000'000, 3'000'000, Dtype::F32))
      .op("compute", "nothing", {}, work(0, 0, Dtype::F32));
  rig.lower();
  CHECK(rig.local("flops") == Duration(1'000'000 + 2'000'000));  // 20 MFLOP at 10 TFLOP/s: 2 us
  CHECK(rig.local("bytes") == Duration(1'000'000 + 3'000'000));  // 3 MB at 1 TB/s: 3 us
  CHECK(rig.local("nothing") == Duration(1'000'000));
}

TEST_CASE("local cost: rounded up to a picosecond") {
  LowerRig rig(1);
  give_figures(rig.cluster);
  rig.cluster.device.launch = Duration(0);
  rig.op("compute", "one", {}, work(1, 0, Dtype::F32))  // 0.1 ps
      .op("compute", "eleven", {}, work(11, 0, Dtype::F32));
  rig.lower();
  CHECK(rig.local("one") == Duration(1));
  CHECK(rig.local("eleven") == Duration(2));
}

TEST_CASE("local cost: a dot multiplies and adds, and reads and writes each array once") {
  LowerRig rig(1);
  give_figures(rig.cluster);
  rig.cluster.device.launch = Duration(0);
  const Attribute matrix = std::vector<std::vector<int64_t>>{{1}, {0}, {}, {}};
  rig.argument("a", Dtype::F32, Shape{100, 200})
      .argument("b", Dtype::F32, Shape{200, 300})
      .op("dot_general", "c", {"a", "b"}, {{"dimension_numbers", matrix}});
  rig.lower();
  // 2 * 100 * 200 * 300 = 12 MFLOP take 1.2 us. 4 (20,000 + 60,000 + 30,000) B = 440 kB take 0.44
  // us.
  CHECK(rig.local("c") == Duration(1'200'000));
}

TEST_CASE("local cost: renaming is free, moving data is not") {
  LowerRig rig(1);
  give_figures(rig.cluster);
  rig.argument("a", Dtype::F32, Shape{1000})
      .op("reshape", "r", {"a"}, {{"new_sizes", std::vector<int64_t>{10, 100}}})
      .op("transpose", "t", {"r"}, {{"permutation", std::vector<int64_t>{1, 0}}});
  rig.lower();
  CHECK(rig.local("r") == Duration(0));
  CHECK(rig.local("t") == Duration(1'000'000 + 8000));  // 4 kB read and 4 kB written at 1 TB/s
}

TEST_CASE("local cost: flops without a rate are an error for ops that are mainly flops") {
  LowerRig rig(1);
  give_figures(rig.cluster);
  rig.op("compute", "c", {}, work(1, 0, Dtype::BF16));
  CHECK(
      rig.error() ==
      "rig.json:7:1: /program/c: compute \"c\": expected a peak rate for bf16 under the cluster's "
      "\"flops\", got only f32");
}

TEST_CASE("local cost: an op without flops needs no rate") {
  LowerRig rig(1);
  rig.op("compute", "c", {}, work(0, 0, Dtype::BF16));
  rig.lower();
  CHECK(rig.local("c") == Duration(0));
}

TEST_CASE("local cost: elementwise ops without a rate cost their bytes only, and are labelled") {
  LowerRig rig(1);
  give_figures(rig.cluster);
  rig.argument("a", Dtype::S32, Shape{1000}).op("add", "s", {"a", "a"});
  rig.lower();
  CHECK(rig.local("s") == Duration(1'000'000 + 12'000));  // three times 4 kB at 1 TB/s
  CHECK(rig.lowered.labels == test::Names{"flops: not given for s32; its elementwise ops and "
                                          "reductions are charged for bytes only"});
}

TEST_CASE("local cost: gradients by the figures of attention are labelled") {
  const auto labels = [](std::optional<AttentionEfficiency> attention, const char* op,
                         test::Names of, test::Names other_results) {
    LowerRig rig(1);
    give_figures(rig.cluster);
    rig.cluster.device.efficiency[Dtype::F32] = {{1, 2}, 0, 0, {}, attention};
    rig.argument("a", Dtype::F32, Shape{4, 2, 8})
        .op(op, "r", std::move(of), {}, {}, std::move(other_results));
    rig.lower();
    return rig.lowered.labels;
  };
  const AttentionEfficiency figures{{1, 4}, 100, Duration(5)};
  CHECK(labels(figures, "dot_product_attention", {"a", "a", "a"}, {}) == test::Names{});
  CHECK(labels({}, "dot_product_attention_vjp", {"a", "a", "a", "a"}, {"s", "t"}) == test::Names{});
  CHECK(labels(figures, "dot_product_attention_vjp", {"a", "a", "a", "a"}, {"s", "t"}) ==
        test::Names{"efficiency: extrapolated to gradients of attention, from figures of "
                    "attention"});
}

TEST_CASE("local cost: products outside of the sizes of the calibration are labelled") {
  const Attribute matrix = std::vector<std::vector<int64_t>>{{1}, {0}, {}, {}};
  // A product of m x 20 and 20 x 30 for each m.
  const auto labels = [&](const CalibratedSizes& calibrated, std::vector<int64_t> rows) {
    LowerRig rig(1);
    give_figures(rig.cluster);
    rig.cluster.device.efficiency[Dtype::F32] = {{1, 2}, 0, 0, {}, {}, calibrated};
    rig.argument("w", Dtype::F32, Shape{20, 30});
    for (const int64_t m : rows) {
      const std::string number = std::to_string(m);
      rig.argument("x" + number, Dtype::F32, Shape{m, 20})
          .op("dot_general", "y" + number, {"x" + number, "w"}, {{"dimension_numbers", matrix}});
    }
    rig.lower();
    return rig.lowered.labels;
  };
  CHECK(labels({}, {10}) == test::Names{});
  CHECK(labels({{"m", {10, 12}}, {"n", {30, 30}}, {"k", {1, 20}}}, {10, 12}) == test::Names{});
  CHECK(labels({{"m", {11, 12}}}, {10, 11, 12}) ==
        test::Names{"efficiency: extrapolated to f32 products of m 10 (calibrated for 11 to 12)"});
  CHECK(labels({{"m", {11, 12}}, {"n", {31, 31}}, {"k", {1, 19}}}, {13, 12, 9}) ==
        test::Names{"efficiency: extrapolated to f32 products of m 9 to 13 (calibrated for 11 to "
                    "12), n 30 (calibrated for 31), k 20 (calibrated for 1 to 19)"});
}

TEST_CASE("local cost: attention outside of the sizes of the calibration is labelled") {
  const auto labels = [](int64_t queries, int64_t keys, const CalibratedSizes& calibrated) {
    LowerRig rig(1);
    give_figures(rig.cluster);
    rig.cluster.device.efficiency[Dtype::F32] = {
        {1, 2}, 0, 0, {}, AttentionEfficiency{{1, 4}, 100, Duration(5), calibrated}};
    rig.argument("q", Dtype::F32, Shape{3, queries, 4, 8})
        .argument("k", Dtype::F32, Shape{3, keys, 2, 8})
        .op("dot_product_attention", "r", {"q", "k", "k"});
    rig.lower();
    return rig.lowered.labels;
  };
  const CalibratedSizes around = {{"batch", {3, 3}},
                                  {"sequence", {512, 1024}},
                                  {"heads", {4, 4}},
                                  {"kv_heads", {2, 2}},
                                  {"head", {8, 8}}};
  CHECK(labels(512, 1024, around) == test::Names{});
  // One query that meets many keys is no sequence that was measured.
  CHECK(labels(1, 1024, around) ==
        test::Names{"efficiency: extrapolated to f32 attention of sequence 1 (calibrated for 512 "
                    "to 1024)"});
  CHECK(labels(512, 1025, around) ==
        test::Names{"efficiency: extrapolated to f32 attention of sequence 1025 (calibrated for "
                    "512 to 1024)"});
  CHECK(labels(1, 2,
               {{"batch", {4, 9}}, {"heads", {1, 3}}, {"kv_heads", {3, 4}}, {"head", {7, 7}}}) ==
        test::Names{"efficiency: extrapolated to f32 attention of batch 3 (calibrated for 4 to 9), "
                    "heads 4 (calibrated for 1 to 3), kv_heads 2 (calibrated for 3 to 4), head 8 "
                    "(calibrated for 7)"});
}

TEST_CASE("local cost: without a memory bandwidth ops cost their flops only, and are labelled") {
  LowerRig rig(1);
  give_figures(rig.cluster);
  rig.cluster.device.memory_bandwidth = std::nullopt;
  rig.argument("a", Dtype::F32, Shape{1000}).op("add", "s", {"a", "a"});
  rig.lower();
  CHECK(rig.local("s") == Duration(1'000'000 + 100));  // 1000 additions at 10 TFLOP/s
  CHECK(rig.lowered.labels ==
        test::Names{"memory_bandwidth: not given; local ops are charged for flops only"});
}

TEST_CASE("local cost: ops that take nothing for want of a rate are named") {
  const auto labels = [](LowerRig& rig, std::initializer_list<const char*> ids) {
    rig.argument("a", Dtype::F32, Shape{1000});
    for (const char* id : ids)
      rig.op("neg", id, {"a"});
    rig.lower();
    CHECK(rig.local("n") == rig.cluster.device.launch.value_or(Duration()));
    return rig.lowered.labels;
  };
  LowerRig one(1);
  one.cluster.device.launch = Duration(0);
  CHECK(labels(one, {"n"}) == test::Names{"\"n\" takes 0 (no memory_bandwidth given)"});
  LowerRig two(1);
  two.cluster.device.launch = Duration(5);
  CHECK(labels(two, {"n", "m"}) ==
        test::Names{"\"n\" and 1 other local op take only a launch (no memory_bandwidth given)"});
  LowerRig three(1);
  three.cluster.device.launch = Duration(0);
  CHECK(labels(three, {"n", "m", "l"}) ==
        test::Names{"\"n\" and 2 other local ops take 0 (no memory_bandwidth given)"});
}

}  // namespace
}  // namespace orrery
