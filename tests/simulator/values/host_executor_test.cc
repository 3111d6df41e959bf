// Compares results of the host executor on one to four devices with values worked out by hand. Each
// table has the result of each device.

#include "simulator/values/host_executor.h"

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "simulator/schedule/stored_schedule.h"
#include "tests/simulator/schedule/stored_copy.h"
#include "tests/simulator/values/host_rig.h"

namespace orrery::test {

namespace {

using Table = std::vector<Numbers>;
using Given = std::vector<std::pair<std::string, Attribute>>;

const Attribute kOverX = Names{"x"};

/// Runs one collective over axis x. There is one device per entry of `inputs`, each with an f32
/// array of `shape`.
Table collective(const std::string& op, const Shape& shape, const Table& inputs, Given given = {}) {
  HostRig rig({{"x", static_cast<int64_t>(inputs.size())}});
  std::vector<Tensor> tensors;
  for (const Numbers& numbers : inputs)
    tensors.push_back(tensor(Dtype::F32, shape, numbers));
  rig.argument("a", std::move(tensors));
  given.emplace_back("axis_name", kOverX);
  rig.op(op, "r", {"a"}, given);
  const HostRun run = rig.run();
  CHECK(run.stop.finished());
  CHECK(run.digest == rig.digest());
  return rig.values(run, "r");
}

const Table kTwo = {{1, 2}, {3, 4}};

/// Returns the values of two devices after these steps. At first, the devices have 1, 2, 4 and 10,
/// 20, 40. The result takes the place of the operand.
Table in_place(const StoredSteps& steps) {
  HostRig rig({{"x", 2}});
  rig.argument("a", Table{{1, 2, 4}, {10, 20, 40}});
  rig.op("psum", "r", {"a"}, {{"axis_name", kOverX}});
  rig.lower();
  Extent extent;
  extent.input = 3;
  extent.in_place = true;
  const StoredSchedule schedule(extent, steps, match_by_channel(steps));
  rig.lowered.collectives[0].schedule = &schedule;
  return rig.values(rig.run(), "r");
}

Step sends(Slice source) {
  Step step;
  step.source = source;
  step.to = Node(1);
  return step;
}

Step receives(Slice target) {
  Step step;
  step.target = target;
  step.from = Node(0);
  return step;
}

TEST_CASE("host: a member that writes nothing in place has its operand as its result") {
  CHECK(in_place({{{sends({Area::Input, 0, 2})}}, {{receives({Area::Output, 1, 2})}}}) ==
        Table{{1, 2, 4}, {10, 1, 2}});
}

TEST_CASE("host: a sum may be stored over a part of one of its terms") {
  Step adds = receives({Area::Output, 1, 2});
  adds.source = Slice{Area::Input, 0, 2};
  adds.combine = Combine::Add;
  CHECK(in_place({{{sends({Area::Input, 0, 2})}}, {{adds}}}) == Table{{1, 2, 4}, {10, 11, 22}});
}

TEST_CASE("host: a long sum may be stored over a part of one of its terms") {
  // This is more than any loop over elements takes in at once.
  constexpr int64_t kCount = 5'000;
  Numbers ones(kCount + 1, 1);
  HostRig rig({{"x", 2}});
  rig.argument("a", Table{ones, ones});
  rig.op("psum", "r", {"a"}, {{"axis_name", kOverX}});
  rig.lower();
  Extent extent;
  extent.input = kCount + 1;
  extent.in_place = true;
  Step adds = receives({Area::Output, 1, kCount});
  adds.source = Slice{Area::Input, 0, kCount};
  adds.combine = Combine::Add;
  const StoredSteps steps = {{{sends({Area::Input, 0, kCount})}}, {{adds}}};
  const StoredSchedule schedule(extent, steps, match_by_channel(steps));
  rig.lowered.collectives[0].schedule = &schedule;
  Numbers sums(kCount + 1, 2);
  sums.front() = 1;
  CHECK(rig.values(rig.run(), "r") == Table{ones, sums});
}

TEST_CASE("host: psum adds over the group") {
  CHECK(collective("psum", {2}, kTwo) == Table{{4, 6}, {4, 6}});
}

TEST_CASE("host: psum by every algorithm") {
  // The first sum is 1 + 10 + 100.
  const Table inputs = {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}};
  const Numbers sums = {111, 222, 333};
  for (const char* algorithm : {"ring", "recursive_doubling", "bidirectional"})
    CHECK(collective("psum", {3}, inputs, {{"algorithm", std::string(algorithm)}}) ==
          Table{sums, sums, sums});
}

TEST_CASE("host: psum over several channels") {
  const Table inputs = {{1, 2, 3, 4, 5}, {10, 20, 30, 40, 50}};
  const Numbers sums = {11, 22, 33, 44, 55};
  CHECK(collective("psum", {5}, inputs, {{"channels", int64_t{2}}}) == Table{sums, sums});
}

TEST_CASE("host: psum of a group of one is the operand") {
  CHECK(collective("psum", {2}, {{1, 2}}) == Table{{1, 2}});
}

TEST_CASE("host: psum of nothing is nothing") {
  CHECK(collective("psum", {0}, {{}, {}}) == Table{{}, {}});
}

TEST_CASE("host: pmax takes the largest over the group") {
  CHECK(collective("pmax", {2}, {{1, 5}, {3, 4}}) == Table{{3, 5}, {3, 5}});
}

TEST_CASE("host: pmean divides the sum by the size of its group") {
  CHECK(collective("pmean", {2}, kTwo) == Table{{2, 3}, {2, 3}});
  CHECK(collective("pmean", {1}, {{1}, {2}, {3}, {7}},
                   {{"axis_index_groups", Lists{{0, 1, 2}, {3}}}}) == Table{{2}, {2}, {2}, {7}});
}

TEST_CASE("host: pargmax by every algorithm") {
  const Table inputs = {{1, 5, 7}, {3, 5, 8}, {2, 4, 9}};
  const Numbers ranks = {1, 0, 2};
  for (const char* algorithm : {"ring", "recursive_doubling", "bidirectional"})
    CHECK(collective("pargmax", {3}, inputs, {{"algorithm", std::string(algorithm)}}) ==
          Table{ranks, ranks, ranks});
}

TEST_CASE("host: all_gather stacks along a new dimension") {
  CHECK(collective("all_gather", {2}, kTwo) == Table{{1, 2, 3, 4}, {1, 2, 3, 4}});
}

TEST_CASE("host: all_gather along the last dimension interleaves") {
  // The result is [[1, 3], [2, 4]].
  CHECK(collective("all_gather", {2}, kTwo, {{"axis", int64_t{1}}}) ==
        Table{{1, 3, 2, 4}, {1, 3, 2, 4}});
}

TEST_CASE("host: a tiled all_gather concatenates along an old dimension") {
  // The operands [[1], [2]] and [[3], [4]] are put side by side: [[1, 3], [2, 4]].
  CHECK(collective("all_gather", {2, 1}, kTwo, {{"axis", int64_t{1}}, {"tiled", true}}) ==
        Table{{1, 3, 2, 4}, {1, 3, 2, 4}});
}

TEST_CASE("host: psum_scatter keeps one index of the sum each") {
  CHECK(collective("psum_scatter", {2}, kTwo) == Table{{4}, {6}});
}

TEST_CASE("host: a tiled psum_scatter keeps one chunk of the sum each") {
  // The sums are [[11, 22, 33, 44]]; the chunks are columns 0, 1 and columns 2, 3.
  CHECK(collective("psum_scatter", {1, 4}, {{1, 2, 3, 4}, {10, 20, 30, 40}},
                   {{"scatter_dimension", int64_t{1}}, {"tiled", true}}) ==
        Table{{11, 22}, {33, 44}});
}

TEST_CASE("host: psum_scatter along a later dimension keeps a column each") {
  // The sum is [[1, 2], [3, 4]] + [[10, 20], [30, 40]] = [[11, 22], [33, 44]].
  CHECK(collective("psum_scatter", {2, 2}, {{1, 2, 3, 4}, {10, 20, 30, 40}},
                   {{"scatter_dimension", int64_t{1}}}) == Table{{11, 33}, {22, 44}});
}

TEST_CASE("host: all_to_all along one dimension exchanges parts") {
  CHECK(collective("all_to_all", {2}, kTwo,
                   {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}}) ==
        Table{{1, 3}, {2, 4}});
}

TEST_CASE("host: a tiled all_to_all splits one dimension and concatenates another") {
  // Device 0 has [[1, 2]], device 1 [[3, 4]]. Columns go to devices, and rows are put below each
  // other.
  CHECK(collective("all_to_all", {1, 2}, kTwo,
                   {{"split_axis", int64_t{1}}, {"concat_axis", int64_t{0}}, {"tiled", true}}) ==
        Table{{1, 3}, {2, 4}});
}

TEST_CASE("host: an untiled all_to_all removes one dimension and inserts another") {
  // Row p of each device goes to device p, where the rows become columns: device 0 has [[1, 5], [2,
  // 6]].
  CHECK(collective("all_to_all", {2, 2}, {{1, 2, 3, 4}, {5, 6, 7, 8}},
                   {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{1}}}) ==
        Table{{1, 5, 2, 6}, {3, 7, 4, 8}});
}

TEST_CASE("host: ppermute leaves zeros where nobody sends") {
  CHECK(collective("ppermute", {2}, kTwo, {{"perm", Lists{{0, 1}}}}) == Table{{0, 0}, {1, 2}});
}

TEST_CASE("host: ppermute may send to the sender itself") {
  CHECK(collective("ppermute", {2}, kTwo, {{"perm", Lists{{0, 0}, {1, 1}}}}) == kTwo);
}

TEST_CASE("host: axis_index_groups name indices inside the group") {
  const Given groups = {{"axis_index_groups", Lists{{0, 3}, {2, 1}}}};
  const Table inputs = {{1}, {2}, {4}, {8}};
  CHECK(collective("psum", {1}, inputs, groups) == Table{{9}, {6}, {6}, {9}});
  // The order in a list is the order of the result.
  CHECK(collective("all_gather", {1}, inputs, groups) == Table{{1, 8}, {4, 2}, {4, 2}, {1, 8}});
}

TEST_CASE("host: groups of a sum may differ in size") {
  CHECK(collective("psum", {1}, {{1}, {2}, {4}, {8}},
                   {{"axis_index_groups", Lists{{0, 1, 2}, {3}}}}) == Table{{7}, {7}, {7}, {8}});
}

TEST_CASE("host: a collective over two axes goes by the order of their names") {
  HostRig rig({{"x", 2}, {"y", 2}});
  rig.argument("a", Table{{1}, {2}, {3}, {4}});  // devices (0,0) (0,1) (1,0) (1,1)
  rig.op("all_gather", "xy", {"a"}, {{"axis_name", Names{"x", "y"}}, {"tiled", true}});
  rig.op("all_gather", "yx", {"a"}, {{"axis_name", Names{"y", "x"}}, {"tiled", true}});
  rig.op("psum", "y", {"a"}, {{"axis_name", Names{"y"}}});
  const HostRun run = rig.run();
  CHECK(rig.values(run, "xy").front() == Numbers{1, 2, 3, 4});
  CHECK(rig.values(run, "yx").front() == Numbers{1, 3, 2, 4});
  CHECK(rig.values(run, "y") == Table{{3}, {3}, {7}, {7}});
}

TEST_CASE("host: a sum of pred counts in s32") {
  HostRig rig({{"x", 3}});
  rig.argument("a", {tensor(Dtype::Pred, {2}, {1, 0}), tensor(Dtype::Pred, {2}, {1, 1}),
                     tensor(Dtype::Pred, {2}, {1, 0})});
  rig.op("psum", "s", {"a"}, {{"axis_name", kOverX}});
  const HostRun run = rig.run();
  CHECK(run.values.at(rig.value("s"), LogicalId(0)) == tensor(Dtype::S32, {2}, {3, 1}));
}

TEST_CASE("host: pmax of pred is or") {
  HostRig rig({{"x", 2}});
  rig.argument("a", {tensor(Dtype::Pred, {3}, {1, 0, 0}), tensor(Dtype::Pred, {3}, {0, 0, 1})});
  rig.op("pmax", "s", {"a"}, {{"axis_name", kOverX}});
  const HostRun run = rig.run();
  CHECK(run.values.at(rig.value("s"), LogicalId(1)) == tensor(Dtype::Pred, {3}, {1, 0, 1}));
}

TEST_CASE("host: the ring folds each chunk from the rank that sends it first") {
  // bf16 has 8 bits: 256 + 1 = 256, but 1 + 1 + 256 = 258. Chunk 0 begins at rank 0, chunk 1 at
  // rank 1 and so on. So element 0 is (1 + 1) + 256, element 1 is (1 + 256) + 1, and element 2 is
  // (256 + 1) + 1.
  HostRig rig({{"x", 3}});
  rig.argument("a", {tensor(Dtype::BF16, {3}, {1, 1, 1}), tensor(Dtype::BF16, {3}, {1, 1, 1}),
                     tensor(Dtype::BF16, {3}, {256, 256, 256})});
  rig.op("psum", "s", {"a"}, {{"axis_name", kOverX}, {"algorithm", std::string("ring")}});
  CHECK(rig.values(rig.run(), "s").front() == Numbers{258, 256, 256});
}

TEST_CASE("host: done gives what the sync collective would, and the future has no value") {
  HostRig rig({{"x", 2}});
  rig.argument("a", kTwo);
  rig.op("psum_start", "s", {"a"}, {{"axis_name", kOverX}});
  rig.op("mul", "m", {"a", "a"});
  rig.op("done", "d", {"s"});
  rig.op("add", "t", {"d", "m"});
  const HostRun run = rig.run();
  CHECK(run.stop.finished());
  CHECK(rig.values(run, "d") == Table{{4, 6}, {4, 6}});
  CHECK(rig.values(run, "t") == Table{{5, 10}, {13, 22}});
  CHECK(!run.values.at(rig.value("s"), LogicalId(0)));
  CHECK(run.digest == rig.digest());
}

TEST_CASE("host: collectives in flight on two streams do not affect each other") {
  HostRig rig({{"x", 2}});
  rig.argument("a", kTwo);
  rig.op("psum_start", "s", {"a"}, {{"axis_name", kOverX}, {"stream", int64_t{0}}});
  rig.op("all_gather_start", "g", {"a"}, {{"axis_name", kOverX}, {"stream", int64_t{1}}});
  rig.op("done", "gd", {"g"});
  rig.op("done", "sd", {"s"});
  const HostRun run = rig.run();
  CHECK(rig.values(run, "sd") == Table{{4, 6}, {4, 6}});
  CHECK(rig.values(run, "gd") == Table{{1, 2, 3, 4}, {1, 2, 3, 4}});
}

TEST_CASE("host: the operand is unchanged") {
  HostRig rig({{"x", 2}});
  rig.argument("a", kTwo);
  rig.op("psum", "s", {"a"}, {{"axis_name", kOverX}});
  CHECK(rig.values(rig.run(), "a") == kTwo);
}

TEST_CASE("host: two threads meet in one collective") {
  HostRig rig({{"x", 2}});
  rig.argument("a", kTwo);
  rig.thread("left", {LogicalId(0)});
  rig.op("add", "twice", {"a", "a"});
  rig.op("psum", "s", {"twice"}, {{"axis_name", kOverX}}, "meet");
  rig.thread("right", {LogicalId(1)});
  rig.op("psum", "t", {"a"}, {{"axis_name", kOverX}}, "meet");
  const HostRun run = rig.run();
  CHECK(run.stop.finished());
  // The sum is 2 x [1, 2] + [3, 4].
  CHECK(numbers(run.values.at(rig.value("s"), LogicalId(0)).value()) == Numbers{5, 8});
  CHECK(numbers(run.values.at(rig.value("t"), LogicalId(1)).value()) == Numbers{5, 8});
  CHECK(!run.values.at(rig.value("s"), LogicalId(1)));
}

TEST_CASE("host: threads that meet in different orders stop, with the values made until then") {
  HostRig rig({{"x", 2}});
  rig.argument("a", kTwo);
  rig.thread("left", {LogicalId(0)});
  rig.op("add", "before", {"a", "a"});
  rig.op("psum", "p1", {"a"}, {{"axis_name", kOverX}}, "one");
  rig.op("pmax", "p2", {"a"}, {{"axis_name", kOverX}}, "two");
  rig.thread("right", {LogicalId(1)});
  rig.op("pmax", "q2", {"a"}, {{"axis_name", kOverX}}, "two");
  rig.op("psum", "q1", {"a"}, {{"axis_name", kOverX}}, "one");
  const HostRun run = rig.run();
  CHECK(!run.stop.finished());
  CHECK(run.stop.waiting().size() == 2);
  CHECK(numbers(run.values.at(rig.value("before"), LogicalId(0)).value()) == Numbers{2, 4});
  CHECK(!run.values.at(rig.value("p1"), LogicalId(0)));
}

/// Returns the result of one local op on one device, of f32 operands.
Tensor local(const std::string& op, const std::vector<Tensor>& operands, const Given& given = {}) {
  HostRig rig({{"x", 1}});
  Names names;
  for (size_t i = 0; i < operands.size(); ++i) {
    names.push_back("a" + std::to_string(i));
    rig.argument(names.back(), std::vector<Tensor>{operands[i]});
  }
  rig.op(op, "r", names, given);
  const HostRun run = rig.run();
  return run.values.at(rig.value("r"), LogicalId(0)).value();
}

Tensor f32(Shape shape, const Numbers& numbers) {
  return tensor(Dtype::F32, std::move(shape), numbers);
}

TEST_CASE("host: local arithmetic") {
  const Tensor a = f32({2}, {1, 2});
  const Tensor b = f32({2}, {10, 20});
  CHECK(local("add", {a, b}) == f32({2}, {11, 22}));
  CHECK(local("sub", {a, b}) == f32({2}, {-9, -18}));
  CHECK(local("mul", {a, b}) == f32({2}, {10, 40}));
}

TEST_CASE("host: local ops of one operand") {
  const Tensor a = f32({2}, {1, 4});
  CHECK(local("neg", {a}) == f32({2}, {-1, -4}));
  CHECK(local("sqrt", {a}) == f32({2}, {1, 2}));
  CHECK(local("rsqrt", {a}) == f32({2}, {1, 0.5}));
  CHECK(local("log", {f32({1}, {1})}) == f32({1}, {0}));
  const Tensor zero = f32({1}, {0});
  CHECK(local("exp", {zero}) == f32({1}, {1}));
  CHECK(local("logistic", {zero}) == f32({1}, {0.5}));
  CHECK(local("sin", {zero}) == zero);
  CHECK(local("cos", {zero}) == f32({1}, {1}));
}

TEST_CASE("host: selections and comparisons") {
  const Tensor a = f32({3}, {1, 2, 3});
  const Tensor b = f32({3}, {3, 2, 1});
  CHECK(local("div", {a, b}) == f32({3}, {1.0F / 3, 1, 3}));
  CHECK(local("max", {a, b}) == f32({3}, {3, 2, 3}));
  CHECK(local("min", {a, b}) == f32({3}, {1, 2, 1}));
  const auto pred = [](const Numbers& numbers) { return tensor(Dtype::Pred, {3}, numbers); };
  CHECK(local("eq", {a, b}) == pred({0, 1, 0}));
  CHECK(local("ne", {a, b}) == pred({1, 0, 1}));
  CHECK(local("lt", {a, b}) == pred({1, 0, 0}));
  CHECK(local("le", {a, b}) == pred({1, 1, 0}));
  CHECK(local("gt", {a, b}) == pred({0, 0, 1}));
  CHECK(local("ge", {a, b}) == pred({0, 1, 1}));
  CHECK(local("select_n", {pred({0, 1, 0}), a, b}) == f32({3}, {1, 2, 3}));
  CHECK(local("select_n", {tensor(Dtype::S32, {3}, {2, 1, 0}), a, b, a}) == f32({3}, {1, 2, 3}));
}

TEST_CASE("host: local conversion") {
  CHECK(local("convert_element_type", {f32({2}, {1.5, -2.5})}, {{"new_dtype", Dtype::S32}}) ==
        tensor(Dtype::S32, {2}, {1, -2}));
}

TEST_CASE("host: pmean over no axes keeps the bits of a NaN") {
  Tensor payload(Dtype::F32, Shape{1});
  set_element_bits(payload, 0, 0x7fc12345);
  HostRig rig({{"x", 2}});
  rig.argument("a", {payload, payload});
  rig.op("pmean", "m", {"a"}, {{"axis_name", Names{}}});
  CHECK(element_bits(*rig.run().values.at(rig.value("m"), LogicalId(0)), 0) == 0x7fc12345);
}

TEST_CASE("host: local movement") {
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(local("reshape", {a}, {{"new_sizes", Integers{3, 2}}}) == f32({3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(local("transpose", {a}, {{"permutation", Integers{1, 0}}}) ==
        f32({3, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(
      local("slice", {a}, {{"start_indices", Integers{0, 1}}, {"limit_indices", Integers{2, 3}}}) ==
      f32({2, 2}, {2, 3, 5, 6}));
  CHECK(local("slice", {a},
              {{"start_indices", Integers{0, 0}},
               {"limit_indices", Integers{2, 3}},
               {"strides", Integers{1, 2}}}) == f32({2, 2}, {1, 3, 4, 6}));
  CHECK(local("concatenate", {a, a}, {{"dimension", int64_t{0}}}) ==
        f32({4, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
}

TEST_CASE("host: a negative start of a slice counts from the end, and is then clamped") {
  const Tensor a = f32({5}, {0, 1, 2, 3, 4});
  const auto start = [](double value) { return tensor(Dtype::S32, {}, {value}); };
  const auto part = [&](double from) {
    return local("dynamic_slice", {a, start(from)}, {{"slice_sizes", Integers{2}}});
  };
  CHECK(part(-3) == f32({2}, {2, 3}));
  CHECK(part(-1) == f32({2}, {3, 4}));
  CHECK(part(-6) == f32({2}, {0, 1}));
  CHECK(local("dynamic_update_slice", {a, f32({2}, {8, 9}), start(-3)}) ==
        f32({5}, {0, 1, 8, 9, 4}));
}

TEST_CASE("host: local products") {
  // [[1, 2], [3, 4]] x [[5], [6]] = [[17], [39]]
  CHECK(local("dot_general", {f32({2, 2}, {1, 2, 3, 4}), f32({2, 1}, {5, 6})},
              {{"dimension_numbers", Lists{{1}, {0}, {}, {}}}}) == f32({2, 1}, {17, 39}));
}

TEST_CASE("host: local sources") {
  CHECK(local("full", {}, {{"shape", Integers{2}}, {"fill_value", 3.0}, {"dtype", Dtype::S8}}) ==
        tensor(Dtype::S8, {2}, {3, 3}));
  CHECK(local("compute", {},
              {{"flops", Flops(1)},
               {"bytes", Bytes(1)},
               {"dtype", Dtype::F32},
               {"shape", Integers{2}}}) == f32({2}, {0, 0}));
}

TEST_CASE("host: a compute returns its first operand where that has its result's type") {
  const Given given{
      {"flops", Flops(1)}, {"bytes", Bytes(1)}, {"dtype", Dtype::F32}, {"shape", Integers{2}}};
  CHECK(local("compute", {f32({2}, {3, 4}), f32({2}, {5, 6})}, given) == f32({2}, {3, 4}));
  CHECK(local("compute", {f32({3}, {3, 4, 5})}, given) == f32({2}, {0, 0}));
}

TEST_CASE("host: axis_index is the index over the named axes") {
  HostRig rig({{"x", 2}, {"y", 2}});
  rig.op("axis_index", "i", {}, {{"axis_name", Names{"y", "x"}}});
  // Device (x, y) has index 2y + x.
  CHECK(rig.values(rig.run(), "i") == Table{{0}, {2}, {1}, {3}});
}

TEST_CASE("host: axis_size is the number of devices along the named axes") {
  HostRig rig({{"x", 2}, {"y", 3}});
  rig.op("axis_size", "y", {}, {{"axis_name", Names{"y"}}});
  rig.op("axis_size", "all", {}, {{"axis_name", Names{"x", "y"}}});
  rig.op("axis_size", "none", {}, {{"axis_name", Names{}}});
  const HostRun run = rig.run();
  CHECK(rig.values(run, "y") == Table(6, {3}));
  CHECK(rig.values(run, "all") == Table(6, {6}));
  CHECK(rig.values(run, "none") == Table(6, {1}));
}

TEST_CASE("host: a compute without a result leaves none") {
  HostRig rig({{"x", 1}});
  rig.op("compute", "c", {}, {{"flops", Flops(1)}, {"bytes", Bytes(1)}, {"dtype", Dtype::F32}});
  CHECK(rig.run().stop.finished());
}

}  // namespace

}  // namespace orrery::test
