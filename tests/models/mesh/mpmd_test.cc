// Tests groups of an MPMD mesh, and the orders, transfer groups and thresholds by which lists of
// arrays move, on lists that are worked out by hand.

#include "models/mesh/mpmd.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace orrery {
namespace {

constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max();

std::vector<Bytes> in_bytes(const std::vector<int64_t>& counts) {
  std::vector<Bytes> sizes;
  for (const int64_t count : counts)
    sizes.emplace_back(count);
  return sizes;
}

/// Returns the message of the ShardingError that `make` throws.
template <class Make>
std::string refusal_of(const Make& make) {
  try {
    (void)make();
  } catch (const ShardingError& error) {
    return error.what();
  }
  return "none";
}

MpmdMesh two_by_two() {
  return MpmdMesh(DeviceMesh({{"s", 2}, {"m", 2}}, {}, {.order = {{7, 5, 3, 1}}}), "s");
}

TEST_CASE("MPMD mesh: the devices at places of an axis are row-major in the order of the places") {
  const Mesh mesh({{"x", 2}, {"s", 3}, {"m", 2}});  // device 6 x + 2 s + m
  const auto at = [&](size_t axis, const std::vector<int64_t>& places) {
    std::vector<uint32_t> ids;
    for (const LogicalId id : devices_at(mesh, axis, places))
      ids.push_back(id.index());
    return ids;
  };
  using Numbers = std::vector<uint32_t>;
  CHECK(at(1, {0}) == Numbers{0, 1, 6, 7});
  CHECK(at(1, {0, 2}) == Numbers{0, 1, 4, 5, 6, 7, 10, 11});
  CHECK(at(1, {2, 0}) == Numbers{4, 5, 0, 1, 10, 11, 6, 7});
  CHECK(at(1, {1, 1}) == Numbers{2, 3, 2, 3, 8, 9, 8, 9});
  CHECK(at(1, {}) == Numbers{});
  CHECK(at(0, {1}) == Numbers{6, 7, 8, 9, 10, 11});
  CHECK(at(2, {1}) == Numbers{1, 3, 5, 7, 9, 11});
}

TEST_CASE("MPMD mesh: groups are the places along one axis, and keep physical ids") {
  const MpmdMesh mesh = two_by_two();
  CHECK(mesh.groups() == 2);
  CHECK(mesh.axis() == 0);
  CHECK(mesh.axis_name() == "s");
  CHECK(mesh.group_of(LogicalId(1)) == 0);
  CHECK(mesh.group_of(LogicalId(2)) == 1);
  CHECK(mesh.devices_at(std::vector<int64_t>{1}) == std::vector<int64_t>{3, 1});
  CHECK(mesh.shape_of(3) == std::vector<int64_t>{3, 2});
  CHECK(mesh.places({1, 0, -1, -2, 1}) == std::vector<int64_t>{1, 0, 1, 0, 1});
  CHECK(refusal_of([&] { return mesh.places({0, 2}); }) == "expected groups from -2 to 1, got 2");
  CHECK(refusal_of([&] { return mesh.places({-3}); }) == "expected groups from -2 to 1, got -3");
  CHECK(refusal_of([] {
          return MpmdMesh(DeviceMesh({{"s", 2}}), "t");
        }) == R"(the mesh has no axis "t"; it has "s")");
}

TEST_CASE("MPMD mesh: a sharding over groups is on their devices, with the types of the axes") {
  const std::vector<AxisType> types = {AxisType::Auto, AxisType::Explicit};
  const MpmdMesh mesh(DeviceMesh({{"m", 2}, {"s", 3}}, types), "s");
  const NamedSharding over = mesh.sharding({2, 0}, {.dims = {{"m"}}});
  CHECK(over.parts().mesh == DeviceMesh({{"m", 2}, {"s", 2}}, types, {.order = {{0, 2, 3, 5}}}));
  CHECK(over.parts().spec.text() == "P('m',)");
}

TEST_CASE("MPMD mesh: a sharding is over groups of the mesh, and keeps the rules of one") {
  const MpmdMesh mesh = two_by_two();
  CHECK(refusal_of([&] { return mesh.sharding({}, {}); }) ==
        "expected at least one group, got none");
  CHECK(refusal_of([&] {
          return mesh.sharding({0, 2}, {});
        }) == "expected a group from 0 to 1, got 2");
  CHECK(refusal_of([&] { return mesh.sharding({-1}, {}); }) ==
        "expected a group from 0 to 1, got -1");
  CHECK(refusal_of([&] { return mesh.sharding({0}, {.dims = {{"q"}}}); }) ==
        R"(P('q',): dimension 0: the mesh has no axis "q"; it has "s", "m")");
}

TEST_CASE("MPMD array: its spec is without the axis, and without sets") {
  const auto text = [](PartitionSpec spec) { return without_axis(spec, "s").text(); };
  CHECK(text({}) == "P()");
  CHECK(text({.dims = {{"s"}}}) == "P(None,)");
  CHECK(text({.dims = {{"m"}, {}, {"s"}}}) == "P('m', None, None)");
  CHECK(text({.dims = {{"s", "m"}, {"x", "s", "y"}}}) == "P('m', ('x', 'y'))");
  CHECK(text({.dims = {{"m"}}, .unreduced = {"x"}, .reduced = {"s"}}) == "P('m',)");
  CHECK(refusal_of([] {
          return two_by_two().filtered({.dims = {{"s"}, {}}, .unconstrained = {1}});
        }) ==
        "P('s', UNCONSTRAINED): dimension 1: expected null or axes for an MPMD array, got "
        "UNCONSTRAINED");
  CHECK(open_dimension_error({.dims = {{"m"}}}) == std::nullopt);
  CHECK(open_dimension_error({.dims = {{"m"}, {}}, .unconstrained = {1}}) ==
        "dimension 1: expected null or axes for an MPMD array, got UNCONSTRAINED");
}

TEST_CASE("MPMD array: it moves to group 0 if no group is given") {
  CHECK(target_groups({}) == std::set<int64_t>{0});
  CHECK(target_groups({2, 1}) == std::set<int64_t>{1, 2});
}

TEST_CASE("interleaved order: the groups take turns, each with its largest array") {
  using Groups = std::vector<std::set<int64_t>>;
  using Order = std::vector<size_t>;
  struct Row {
    std::vector<int64_t> sizes;
    Groups groups;
    Order order;
  };
  const std::vector<Row> rows = {
      {{}, {}, {}},
      {{5}, {{0}}, {0}},
      // One group: the largest first, and of equal ones the last.
      {{5, 3}, {{0}, {0}}, {0, 1}},
      {{3, 5}, {{0}, {0}}, {1, 0}},
      {{4, 4}, {{0}, {0}}, {1, 0}},
      {{4, 4, 4}, {{0}, {0}, {0}}, {2, 1, 0}},
      {{0, 5, 0}, {{0}, {0}, {0}}, {1, 2, 0}},
      {{5, 5, 3, 3}, {{0}, {0}, {0}, {0}}, {1, 0, 3, 2}},
      {{3, 5, 3, 5}, {{0}, {0}, {0}, {0}}, {3, 1, 2, 0}},
      // One array for each group: the order in which the groups are first seen.
      {{1, 2, 3}, {{0}, {1}, {2}}, {0, 1, 2}},
      {{1, 2, 3}, {{2}, {1}, {0}}, {0, 1, 2}},
      {{0, 0}, {{0}, {1}}, {0, 1}},
      // Two groups of as many.
      {{1, 2, 3, 4}, {{0}, {0}, {1}, {1}}, {1, 3, 0, 2}},
      {{1, 2, 3, 4}, {{1}, {0}, {1}, {0}}, {2, 3, 0, 1}},
      {{1, 1, 1, 1}, {{0}, {1}, {0}, {1}}, {2, 3, 0, 1}},
      {{7, 7, 7, 7}, {{3}, {3}, {0}, {0}}, {1, 3, 0, 2}},
      // A group that has no more is passed over.
      {{4, 8, 2, 1}, {{0}, {0}, {0}, {1}}, {1, 3, 0, 2}},
      {{6, 5, 4, 3, 2, 1}, {{0}, {0}, {0}, {0}, {1}, {1}}, {0, 4, 1, 5, 2, 3}},
      {{1, 1, 1}, {{5}, {5}, {1}}, {1, 2, 0}},
      // Three groups.
      {{2, 4, 6, 8, 1}, {{0}, {1}, {0}, {1}, {2}}, {2, 3, 4, 0, 1}},
      {{1, 2, 3, 4, 5, 6}, {{0}, {1}, {2}, {0}, {1}, {2}}, {3, 4, 5, 0, 1, 2}},
      // An array for several groups counts for the smallest.
      {{9, 1, 5}, {{1}, {0, 1}, {1}}, {0, 1, 2}},
      {{3, 7, 5}, {{2, 3}, {3}, {2}}, {2, 1, 0}},
      {{10, 20, 30}, {{0, 1, 2}, {1, 2}, {2}}, {0, 1, 2}},
      {{10, 20, 30}, {{2, 0}, {1, 0}, {2}}, {1, 2, 0}},
  };
  CHECK(rows.size() == 25);
  for (const Row& row : rows) {
    CAPTURE(&row - rows.data());
    CHECK(interleaved_order(in_bytes(row.sizes), row.groups) == row.order);
  }
}

TEST_CASE("transfer groups: one ends before the array with which it would exceed the threshold") {
  using Groups = std::vector<std::vector<size_t>>;
  struct Row {
    std::vector<int64_t> sizes;
    int64_t threshold;
    Groups groups;
  };
  const std::vector<Row> rows = {
      {{}, 10, {}},
      {{3}, 10, {{0}}},
      {{10}, 10, {{0}}},
      {{11}, 10, {{0}}},
      // A sum that is equal to the threshold fits.
      {{3, 4}, 7, {{0, 1}}},
      {{3, 4}, 6, {{0}, {1}}},
      {{3, 4, 3}, 7, {{0, 1}, {2}}},
      {{4, 3, 4, 3}, 7, {{0, 1}, {2, 3}}},
      {{1, 1, 1, 1}, 2, {{0, 1}, {2, 3}}},
      {{1, 1, 1, 1}, 3, {{0, 1, 2}, {3}}},
      {{9, 1, 9, 1}, 10, {{0, 1}, {2, 3}}},
      {{9, 1, 9, 1}, 9, {{0}, {1}, {2}, {3}}},
      // An array beyond the threshold is alone, and the next one begins anew.
      {{20, 1, 1}, 10, {{0}, {1, 2}}},
      {{1, 20, 1}, 10, {{0}, {1}, {2}}},
      {{1, 1, 20}, 10, {{0, 1}, {2}}},
      // Under 0 or less all that have bytes are alone. Those without fit together under 0.
      {{1, 1}, 0, {{0}, {1}}},
      {{1, 1}, -5, {{0}, {1}}},
      {{0, 0}, 0, {{0, 1}}},
      {{0, 0}, -1, {{0}, {1}}},
      {{0, 5, 0}, 5, {{0, 1, 2}}},
      {{5, 0, 5}, 5, {{0, 1}, {2}}},
      {{2, 3, 5, 7, 11}, 10, {{0, 1, 2}, {3}, {4}}},
      {{2, 3, 5, 7, 11}, 18, {{0, 1, 2, 3}, {4}}},
      // A sum beyond 64 bits exceeds every threshold.
      {{kMostBytes, kMostBytes}, kMostBytes, {{0}, {1}}},
      {{1, kMostBytes, 0}, kMostBytes, {{0}, {1, 2}}},
  };
  CHECK(rows.size() == 25);
  for (const Row& row : rows) {
    CAPTURE(&row - rows.data());
    CHECK(transfer_groups(in_bytes(row.sizes), Bytes(row.threshold)) == row.groups);
  }
}

/// Law P04.
TEST_CASE("interleaved order: a permutation, descending within each group") {
  test::holds_for_all("interleaved order", [] {
    std::vector<Bytes> sizes;
    std::vector<std::set<int64_t>> groups;
    for (int64_t i = test::in_range<int64_t>(0, 20); i > 0; --i) {
      sizes.emplace_back(test::in_range<int64_t>(0, 6));
      groups.push_back({test::in_range<int64_t>(0, 4), test::in_range<int64_t>(0, 4)});
    }
    const std::vector<size_t> order = interleaved_order(sizes, groups);
    std::vector<size_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<size_t> all(sizes.size());
    std::iota(all.begin(), all.end(), size_t{0});
    RC_ASSERT(sorted == all);
    std::map<int64_t, size_t> last;  // of each smallest group
    for (const size_t i : order) {
      const auto [found, is_first] = last.emplace(*groups[i].begin(), i);
      RC_ASSERT(is_first || sizes[found->second] > sizes[i] ||
                (sizes[found->second] == sizes[i] && found->second > i));
      found->second = i;
    }
  });
}

TEST_CASE("descending order: the largest first, of equal ones the first") {
  using Order = std::vector<size_t>;
  CHECK(descending_order({}) == Order{});
  CHECK(descending_order(in_bytes({5})) == Order{0});
  CHECK(descending_order(in_bytes({1, 2, 3})) == Order{2, 1, 0});
  CHECK(descending_order(in_bytes({2, 3, 2, 3, 1})) == Order{1, 3, 0, 2, 4});
  CHECK(descending_order(in_bytes({0, 0, 0})) == Order{0, 1, 2});
}

/// Law P03.
TEST_CASE("transfer groups: they keep the order and the threshold, and none could be longer") {
  test::holds_for_all("transfer groups", [] {
    std::vector<Bytes> sizes;
    for (int64_t i = test::in_range<int64_t>(0, 20); i > 0; --i)
      sizes.emplace_back(test::in_range<int64_t>(0, 9));
    const Bytes threshold(test::in_range<int64_t>(0, 20));
    size_t next = 0;
    for (const std::vector<size_t>& group : transfer_groups(sizes, threshold)) {
      Bytes sum;
      for (const size_t i : group) {
        RC_ASSERT(i == next++);
        sum += sizes[i];
      }
      RC_ASSERT(group.size() == 1 || (!group.empty() && sum <= threshold));
      const bool is_full = next == sizes.size() || sum + sizes[next] > threshold;
      RC_ASSERT(is_full);
    }
    RC_ASSERT(next == sizes.size());
  });
}

LimitAndPeak memory(int64_t limit, int64_t peak) {
  return {.limit = Bytes(limit), .peak = Bytes(peak)};
}

TEST_CASE("default threshold: a third of the least that is available, rounded down") {
  const auto threshold = [](const std::vector<LimitAndPeak>& devices) {
    return threshold_of_devices(devices).count();
  };
  CHECK(threshold({memory(10, 1)}) == 3);
  CHECK(threshold({memory(10, 0), memory(11, 9)}) == 0);  // 2 / 3
  CHECK(threshold({memory(5, 6)}) == -1);                 // -1 / 3
  CHECK(threshold({memory(5, 8)}) == -1);                 // -3 / 3
  CHECK(threshold({memory(5, 9), memory(9, 0)}) == -2);   // -4 / 3
  CHECK(threshold({memory(16'777'221, 0)}) == 5'592'407);
  CHECK(threshold({memory(kMostBytes, 0)}) == 3'074'457'345'618'258'602);
  CHECK(threshold({memory(0, kMostBytes)}) == -3'074'457'345'618'258'603);
}

TEST_CASE("default threshold: what processes tell each other is rounded to float32") {
  const auto threshold = [](const std::vector<std::vector<LimitAndPeak>>& processes) {
    return threshold_of_processes(processes).count();
  };
  CHECK(threshold({{memory(10, 1)}, {memory(20, 12), memory(30, 0)}}) == 2);  // 8 / 3
  // 2^24 + 5 is between 2^24 + 4 and 2^24 + 6, of which the first has an even last bit.
  CHECK(threshold({{memory(16'777'221, 0)}}) == 5'592'406);
  CHECK(threshold({{memory(16'777'221, 0)}, {memory(16'777'220, 0)}}) == 5'592'406);
  // -(2^25 + 2) becomes -2^25, which is 3 * -11,184,811 + 1.
  CHECK(threshold({{memory(0, 33'554'434)}}) == -11'184'811);
  CHECK(threshold_of_devices(std::vector{memory(0, 33'554'434)}).count() == -11'184'812);
  // 2^62 + 2^38 + 1 is 2^62 + 2^38 as float64, which is between two float32 and becomes 2^62.
  const int64_t twice_rounded = (int64_t{1} << 62) + (int64_t{1} << 38) + 1;
  CHECK(threshold({{memory(twice_rounded, 0)}}) == (int64_t{1} << 62) / 3);
  // 2^63 - 1 becomes 2^63.
  CHECK(threshold({{memory(kMostBytes, 0)}}) == 3'074'457'345'618'258'602);
  CHECK(threshold({{memory(0, kMostBytes)}}) == -3'074'457'345'618'258'603);
}

}  // namespace
}  // namespace orrery
