// Tests shardings by hand, and every error whole. sharding_laws_test.cc has the laws.

#include "models/mesh/named_sharding.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

namespace orrery {
namespace {

using enum AxisType;

// On the mesh x = 4, y = 2 device d is at (d / 2, d % 2).
const std::vector<Axis> kXy = {{"x", 4}, {"y", 2}};

DeviceMesh mesh(std::vector<AxisType> types = {Auto, Auto}) {
  return DeviceMesh(kXy, std::move(types));
}
const DeviceMesh kAbstract(kXy, {}, {.abstract = true});

NamedSharding sharding(const PartitionSpec& spec, std::vector<AxisType> types = {Auto, Auto}) {
  return NamedSharding({mesh(std::move(types)), spec});
}

std::vector<LogicalId> logical_ids(const std::vector<size_t>& numbers) {
  std::vector<LogicalId> all;
  for (const size_t number : numbers)
    all.emplace_back(number);
  return all;
}

/// Returns "stage: message" of the error that `make` throws, or "".
template <class Make>
std::string error(const Make& make) {
  try {
    (void)make();
  } catch (const ShardingError& refused) {
    return std::string(name(refused.stage())) + ": " + refused.what();
  }
  return "";
}

std::string sharding_refused(const PartitionSpec& spec,
                             std::vector<AxisType> types = {Auto, Auto}) {
  return error([&] { return sharding(spec, std::move(types)); });
}

std::string slices_text(const std::vector<Shard>& shards) {
  std::string text;
  for (const Shard& shard : shards) {
    text += (text.empty() ? "" : " ") + std::to_string(shard.device) + ":";
    for (const Interval& each : shard.slice)
      text += "[" + std::to_string(each.begin) + "," + std::to_string(each.end) + ")";
    text += "#" + std::to_string(shard.replica);
  }
  return text;
}

TEST_CASE("named sharding: an axis cuts once, which is checked first") {
  CHECK(sharding_refused({{{"x"}, {"q"}, {"x"}}}) ==
        "sharding: P('x', 'q', 'x'): dimension 2: axis \"x\" already cuts this array");
  CHECK(sharding_refused({{{"x", "x"}}}) ==
        "sharding: P(('x', 'x'),): dimension 0: axis \"x\" already cuts this array");
}

TEST_CASE("named sharding: an axis of an entry is in the mesh, which is checked second") {
  CHECK(sharding_refused({{{"x"}, {"q"}, {}}, {2}, {"p"}}, {Explicit, Explicit}) ==
        "sharding: P('x', 'q', UNCONSTRAINED, unreduced={'p'}): dimension 1: the mesh has no axis "
        "\"q\"; it has \"x\", \"y\"");
}

TEST_CASE("named sharding: an entry may have axes of several types") {
  CHECK(sharding_refused({{{"x", "y"}}}, {Auto, Explicit}) == "");
}

TEST_CASE("named sharding: a dimension is open only where an axis is Auto, checked third") {
  const PartitionSpec open = {{{}, {}}, {1}, {"p"}};
  CHECK(sharding_refused({{{}}, {0}}, {Explicit, Auto}) == "");
  CHECK(sharding_refused(open, {Explicit, Manual}) ==
        "sharding: P(None, UNCONSTRAINED, unreduced={'p'}): dimension 1: expected an axis of type "
        "Auto in the mesh where a dimension is UNCONSTRAINED, got types Explicit, Manual");
  CHECK(error([] {
          return NamedSharding({DeviceMesh({}), {{{}}, {0}}});
        }) ==
        "sharding: P(UNCONSTRAINED,): dimension 0: expected an axis of type Auto in the mesh where "
        "a dimension is UNCONSTRAINED, got types none");
}

TEST_CASE("named sharding: unreduced axes, then reduced ones, are Explicit axes of the mesh") {
  CHECK(
      sharding_refused({{}, {}, {"p"}, {"q"}}) ==
      "sharding: P(unreduced={'p'}, reduced={'q'}): unreduced: the mesh has no axis \"p\"; it has "
      "\"x\", \"y\"");
  CHECK(sharding_refused({{}, {}, {"x"}, {"q"}}) ==
        "sharding: P(unreduced={'x'}, reduced={'q'}): unreduced: expected axes of type Explicit, "
        "got \"x\" of Auto");
  CHECK(sharding_refused({{}, {}, {"x"}, {"y"}}, {Explicit, Manual}) ==
        "sharding: P(unreduced={'x'}, reduced={'y'}): reduced: expected axes of type Explicit, got "
        "\"y\" of Manual");
  CHECK(sharding_refused({{}, {}, {"x"}, {"q"}}, {Explicit, Auto}) ==
        "sharding: P(unreduced={'x'}, reduced={'q'}): reduced: the mesh has no axis \"q\"; it has "
        "\"x\", \"y\"");
  CHECK(sharding_refused({{}, {}, {"x"}, {"y"}}, {Explicit, Explicit}) == "");
}

TEST_CASE("named sharding: logical ids have each device once, checked last") {
  const auto with_ids = [](const std::vector<size_t>& numbers) {
    return error([&] {
      return NamedSharding(
          {.mesh = DeviceMesh({{"x", 3}}), .logical_device_ids = logical_ids(numbers)});
    });
  };
  CHECK(with_ids({0, 1}) == "sharding: P(): expected a logical id for each of 3 devices, got 2");
  CHECK(with_ids({0, 1, 3}) == "sharding: P(): expected logical ids from 0 to 2, got 3");
  CHECK(with_ids({1, 2, 1}) == "sharding: P(): expected each logical id once, got 1 twice");
  CHECK(with_ids({1, 2, 0}) == "");
}

TEST_CASE("named sharding: update changes parts and checks them again") {
  const NamedSharding first = sharding({{{"x"}}});
  const NamedSharding second = first.update([](ShardingParts& parts) { parts.spec = {{{"y"}}}; });
  CHECK(second.parts().spec == PartitionSpec{{{"y"}}});
  CHECK(second.parts().mesh == first.parts().mesh);
  CHECK(error([&] { return first.update([](ShardingParts& parts) { parts.spec = {{{"q"}}}; }); }) ==
        "sharding: P('q',): dimension 0: the mesh has no axis \"q\"; it has \"x\", \"y\"");
}

TEST_CASE("named sharding: the memory is the device's, unless another kind is given") {
  const NamedSharding first = sharding({});
  CHECK(first.parts().memory_kind == "device");
  CHECK(first.with_memory_kind("pinned_host").parts().memory_kind == "pinned_host");
  CHECK(first.with_memory_kind("device") == first);
  CHECK(first.with_memory_kind("pinned_host") != first);
  CHECK_FALSE(NamedSharding({kAbstract}).parts().memory_kind.has_value());
}

TEST_CASE("named sharding: repr is JAX's") {
  CHECK(sharding({{{"x"}}}).repr() ==
        "NamedSharding(mesh=Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto)), spec=P('x',), "
        "memory_kind=device)");
  CHECK(NamedSharding({kAbstract, {{{"x"}, {"y"}}}}).repr() ==
        "NamedSharding(mesh=AbstractMesh('x': 4, 'y': 2, axis_types=(Auto, Auto)), spec=P('x', "
        "'y'))");
  CHECK(NamedSharding({.mesh = DeviceMesh({{"x", 2}}), .logical_device_ids = logical_ids({1, 0})})
            .repr() ==
        "NamedSharding(mesh=Mesh('x': 2, axis_types=(Auto,)), spec=P(), memory_kind=device, "
        "logical_device_ids=(1, 0))");
}

TEST_CASE("shard shape: each extent is divided by the axes of its entry, and by no unreduced one") {
  CHECK(sharding({{{"x", "y"}, {}}}).shard_shape({16, 3}) == Shape{2, 3});
  CHECK(sharding({{{"y"}}, {}, {"x"}}, {Explicit, Auto}).shard_shape({16, 3}) == Shape{8, 3});
}

TEST_CASE("shard shape: a spec has at most as many entries as the shape, also None") {
  const auto of = [](const Shape& shape) {
    return error([&] { return sharding({{{}, {}}}).shard_shape(shape); });
  };
  CHECK(of({3}) == "shape: P(None, None): expected at most one entry per dimension of [3], got 2");
  CHECK(of({}) == "shape: P(None, None): expected at most one entry per dimension of [], got 2");
  CHECK(of({3, 3, 3}) == "");
}

TEST_CASE("shard shape: extents are divisible") {
  CHECK(error([] {
          return sharding({{{}, {"y", "x"}}}).shard_shape({3, 12});
        }) ==
        "shape: P(None, ('y', 'x')): expected dimension 1 of extent 12 to be divisible by 8, the "
        "size of \"y\", \"x\"");
}

TEST_CASE("shard shape: along a manual axis of several devices there is no whole array") {
  CHECK(error([] {
          return sharding({}, {Manual, Auto}).shard_shape({4});
        }) ==
        "shape: P(): expected no Manual axis of several devices for a whole array, got \"x\" of 4");
  CHECK(NamedSharding({DeviceMesh({{"x", 1}}, {{Manual}}), {{{"x"}}}}).shard_shape({4}) ==
        Shape{4});
}

TEST_CASE("shards: blocks in row-major order of the axes, copies counted") {
  // Over (y, x) device 2 x + y has block 4 y + x; here there are only blocks of y.
  CHECK(slices_text(
            NamedSharding({DeviceMesh({{"x", 2}, {"y", 2}}), {{{}, {"y"}}}}).shards({3, 4})) ==
        "0:[0,3)[0,2)#0 1:[0,3)[2,4)#0 2:[0,3)[0,2)#1 3:[0,3)[2,4)#1");
}

TEST_CASE("shards: the devices of an order have the blocks of their places") {
  const DeviceMesh shuffled({{"x", 4}}, {}, {.order = {{12, 3, 9, 0}}});
  CHECK(slices_text(NamedSharding({shuffled, {{{"x"}}}}).shards({4})) ==
        "12:[0,1)#0 3:[1,2)#0 9:[2,3)#0 0:[3,4)#0");
}

TEST_CASE("shards: with logical ids, block d is at place ids[d], and copies count by place") {
  const DeviceMesh four({{"x", 2}, {"y", 2}});
  // Blocks 0, 0, 1, 1 of ids 0 to 3 are at places 3, 1, 0, 2.
  CHECK(slices_text(
            NamedSharding(
                {.mesh = four, .spec = {{{"x"}}}, .logical_device_ids = logical_ids({3, 1, 0, 2})})
                .shards({2})) == "0:[1,2)#0 1:[0,1)#0 2:[1,2)#1 3:[0,1)#1");
}

TEST_CASE("shards: addends along an unreduced axis are no copies of each other") {
  const DeviceMesh four({{"x", 2}, {"y", 2}}, {{Explicit, Auto}});
  CHECK(slices_text(NamedSharding({four, {{{}}, {}, {"x"}}}).shards({2})) ==
        "0:[0,2)#0 1:[0,2)#1 2:[0,2)#0 3:[0,2)#1");
}

TEST_CASE("shards: the blocks of an empty dimension are one slice") {
  CHECK(slices_text(NamedSharding({DeviceMesh({{"x", 2}}), {{{"x"}}}}).shards({0})) ==
        "0:[0,0)#0 1:[0,0)#1");
}

TEST_CASE("shards: an abstract mesh has none, and addresses none") {
  const NamedSharding abstract({kAbstract, {{{"x"}}}});
  CHECK(error([&] { return abstract.shards({4}); }) ==
        "map: P('x',): expected a mesh of devices, got an abstract one");
  CHECK(error([&] { return abstract.is_fully_addressable(); }) ==
        "map: P('x',): expected a mesh of devices, got an abstract one");
  CHECK(sharding({}).is_fully_addressable());
}

TEST_CASE("fully replicated: nothing is cut in several parts, and nothing is unreduced") {
  CHECK(sharding({{{}, {}}, {1}}).is_fully_replicated());
  CHECK_FALSE(sharding({{{"y"}}}).is_fully_replicated());
  const DeviceMesh ones({{"x", 1}, {"y", 2}}, {{Explicit, Explicit}});
  CHECK(NamedSharding({ones, {{{"x"}}}}).is_fully_replicated());
  // An unreduced axis of size 1 counts, unless there is one device.
  CHECK_FALSE(NamedSharding({ones, {{}, {}, {"x"}}}).is_fully_replicated());
  CHECK(
      NamedSharding({DeviceMesh({{"x", 1}}, {{Explicit}}), {{}, {}, {"x"}}}).is_fully_replicated());
}

TEST_CASE("hlo: what cuts, what is unreduced, what is manual") {
  CHECK(sharding({{{"y"}}}).hlo_sharding(2).text() ==
        "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  CHECK(sharding({{{"y"}}, {}, {"x"}}, {Explicit, Auto}).hlo_sharding(2).text() ==
        "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dims={unreduced}}");
  CHECK(sharding({{{"y"}}}, {Manual, Auto}).hlo_sharding(1).text() ==
        "{devices=[2,4]<=[4,2]T(1,0) last_tile_dims={manual}}");
  CHECK(sharding({}).hlo_sharding(2).text() == "{replicated}");
}

TEST_CASE("hlo: logical ids are listed, those of copies ascending") {
  CHECK(NamedSharding({.mesh = mesh(),
                       .spec = {{{"x"}}},
                       .logical_device_ids = logical_ids({7, 6, 5, 4, 3, 2, 1, 0})})
            .hlo_sharding(1)
            .text() == "{devices=[4,2]6,7,4,5,2,3,0,1 last_tile_dim_replicate}");
}

TEST_CASE("hlo: an entry has no manual axis of several devices, and the rank is checked") {
  CHECK(
      error([] {
        return sharding({{{}, {"x"}}}, {Manual, Auto}).hlo_sharding(2);
      }) ==
      "shape: P(None, 'x'): dimension 1: expected no Manual axis of several devices, got \"x\" of "
      "4");
  CHECK(error([] {
          return sharding({{{}, {}}}).hlo_sharding(1);
        }) ==
        "shape: P(None, None): expected at most one entry per dimension of an array of rank 1, got "
        "2");
  CHECK(NamedSharding({DeviceMesh({{"x", 1}, {"y", 2}}, {{Manual, Auto}}), {{{"x", "y"}}}})
            .hlo_sharding(1)
            .text() == "{devices=[2]<=[2]}");
}

TEST_CASE("sdy: entries are closed, unconstrained ones open, unreduced axes in mesh order") {
  const NamedSharding made = sharding({{{"y"}, {}}, {1}}, {Explicit, Auto});
  CHECK(made.sdy_sharding(3).text() == "SdyArray([{'y'}, {?}, {}])");
  const DeviceMesh explicit_mesh({{"b", 2}, {"a", 2}}, {{Explicit, Explicit}});
  CHECK(NamedSharding({explicit_mesh, {{}, {}, {"a", "b"}}}).sdy_sharding(1).unreduced_axes ==
        std::vector<std::string>{"b", "a"});
  CHECK(
      error([&] { return made.sdy_sharding(1); }) ==
      "shape: P('y', UNCONSTRAINED): expected at most one entry per dimension of an array of rank "
      "1, got 2");
}

TEST_CASE("sdy by types: with an Auto axis all is open, and unnamed Explicit axes copy") {
  const DeviceMesh typed({{"d", 2}, {"c", 2}, {"b", 2}, {"a", 2}, {"auto", 2}},
                         {{Explicit, Explicit, Explicit, Explicit, Auto}});
  const NamedSharding made({typed, {{{"a"}, {}}, {}, {"b"}, {"c"}}});
  CHECK(made.typed_sdy_sharding(2).text() ==
        "SdyArray([{'a', ?}, {?}], replicated_axes=frozenset({'d'}))");
  CHECK(made.typed_sdy_sharding(2).unreduced_axes == std::vector<std::string>{"b"});
  const NamedSharding all_explicit = sharding({{{"x"}}}, {Explicit, Explicit});
  CHECK(all_explicit.typed_sdy_sharding(2) == all_explicit.sdy_sharding(2));
}

TEST_CASE("equivalent: trailing None and axes of size 1 do not matter, memory and devices do") {
  const NamedSharding first = sharding({{{"x"}}});
  CHECK(first.is_equivalent_to(sharding({{{"x"}, {}}}), 2));
  CHECK_FALSE(first.is_equivalent_to(sharding({{{"y"}}}), 2));
  CHECK_FALSE(first.is_equivalent_to(first.with_memory_kind("pinned_host"), 2));
  CHECK_FALSE(first.is_equivalent_to(NamedSharding({kAbstract, {{{"x"}}}, "device"}), 2));
  CHECK_FALSE(first.is_equivalent_to(
      NamedSharding({DeviceMesh(kXy, {}, {.order = {{1, 0, 2, 3, 4, 5, 6, 7}}}), {{{"x"}}}}), 2));
  CHECK(NamedSharding({DeviceMesh({{"a", 4}, {"b", 2}}), {{{"a", "b"}}}})
            .is_equivalent_to(NamedSharding({DeviceMesh({{"c", 8}, {"d", 1}}), {{{"c"}}}}), 1));
}

TEST_CASE("equivalent: two abstract meshes are compared by their shardings") {
  CHECK(NamedSharding({kAbstract, {{{"x"}}}})
            .is_equivalent_to(NamedSharding({kAbstract, {{{"x"}, {}}}}), 2));
}

TEST_CASE("corrected sharding: an axis that is named twice remains an error") {
  CHECK(corrected_sharding({8, 3}, {{{"x"}, {"y"}}}, mesh()).parts().spec ==
        PartitionSpec{{{"x"}, {}}});
  CHECK(error([] {
          return corrected_sharding({8, 8}, {{{"x"}, {"x"}}}, mesh());
        }) == "sharding: P('x', 'x'): dimension 1: axis \"x\" already cuts this array");
}

TEST_CASE("spec of HLO: names in mesh order, without axes of size 1 and trailing None") {
  const Mesh three({{"x", 2}, {"one", 1}, {"y", 3}});
  CHECK(spec_of_hlo("{devices=[1,6,1]<=[6]}", three, 3) == PartitionSpec{{{}, {"x", "y"}}});
  CHECK(spec_of_hlo("{replicated}", three, 2) == PartitionSpec());
  CHECK(spec_of_hlo("{devices=[1,1,6]<=[6] last_tile_dim_replicate}", three, 2) == PartitionSpec());
  CHECK(spec_of_hlo("{devices=[3,2]<=[2,3]T(1,0) last_tile_dims={unreduced}}", three, 1) ==
        PartitionSpec{{{"y"}}, {}, {"x"}});
}

TEST_CASE("spec of HLO: a text of another rank, of other devices, or no text, is an error") {
  const Mesh four({{"x", 4}});
  CHECK(error([&] { return spec_of_hlo("{devices=[4]<=[4]}", four, 2); }) ==
        "hlo: expected a sharding of arrays of rank 2, got one of rank 1");
  CHECK(error([&] {
          return spec_of_hlo("{devices=[1,1,4]<=[4] last_tile_dim_replicate}", four, 5);
        }) == "hlo: expected a sharding of arrays of rank 5, got one of rank 2");
  CHECK(error([&] {
          return spec_of_hlo("{devices=[4]<=[4] last_tile_dims={unreduced}}", four, 1);
        }) == "hlo: expected a sharding of arrays of rank 1, got one of rank 0");
  CHECK(error([&] { return spec_of_hlo("{devices=[2,2]<=[4]}", four, 2); }).starts_with("hlo: "));
  CHECK(error([&] { return spec_of_hlo("{devices=[2]<=[2]}", four, 1); }).starts_with("hlo: "));
  CHECK(error([&] { return spec_of_hlo("replicated", four, 1); }).starts_with("hlo: "));
}

}  // namespace
}  // namespace orrery
