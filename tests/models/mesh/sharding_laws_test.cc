// Tests the laws of shardings on random ones: meshes of 1 to 4 axes of 1 to 8 devices in any order,
// of which many have size 1, and all specs.

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <doctest/doctest.h>

#include "models/mesh/named_sharding.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

template <class T>
void shuffle(std::vector<T>& items) {
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[test::in_range<size_t>(0, i)]);
}

/// Returns a mesh of at most 256 devices.
DeviceMesh any_device_mesh() {
  std::vector<Axis> axes(test::in_range<size_t>(1, 5));
  std::vector<AxisType> types;
  int64_t devices = 1;
  for (size_t a = 0; a < axes.size(); ++a) {
    const int64_t size = test::in_range(0, 3) == 0
                             ? 1
                             : test::in_range<int64_t>(1, std::min<int64_t>(9, 257 / devices));
    axes[a] = {std::string(1, static_cast<char>('a' + a)), size};
    types.push_back(test::any_bool() ? AxisType::Auto : AxisType::Explicit);
    devices *= size;
  }
  MeshDevices order;
  if (test::any_bool()) {
    order.order.emplace(static_cast<size_t>(devices));
    std::iota(order.order->begin(), order.order->end(), int64_t{10});
    shuffle(*order.order);
  }
  return DeviceMesh(std::move(axes), std::move(types), std::move(order));
}

/// A Fitted is a sharding, and a shape that it fits.
struct Fitted {
  NamedSharding sharding;
  Shape shape;
};

enum class Extents : uint8_t { NotEmpty, Any };

/// Each axis cuts one of up to three dimensions, or is unreduced, or copies.
Fitted any_fitted(Extents extents) {
  ShardingParts parts = {any_device_mesh()};
  const Mesh& mesh = parts.mesh.axes();
  std::vector<int64_t> dims;
  for (size_t d = test::in_range<size_t>(0, 4); d > 0; --d)
    dims.push_back(test::in_range<int64_t>(extents == Extents::Any ? 0 : 1, 4));
  parts.spec.dims.resize(dims.size());
  for (size_t a = 0; a < mesh.axes().size(); ++a) {
    const Axis& axis = mesh.axes()[a];
    const auto dimension = test::in_range<size_t>(0, dims.size() + 2);
    if (dimension == dims.size() && parts.mesh.type(a) == AxisType::Explicit) {
      parts.spec.unreduced.insert(axis.name);
    } else if (dimension < dims.size()) {
      std::vector<std::string>& names = parts.spec.dims[dimension];
      names.insert(names.begin() + test::in_range<std::ptrdiff_t>(0, std::ssize(names) + 1),
                   axis.name);
      dims[dimension] *= axis.size;
    }
  }
  while (!parts.spec.dims.empty() && parts.spec.dims.back().empty() && test::any_bool())
    parts.spec.dims.pop_back();
  if (test::any_bool()) {
    parts.logical_device_ids = all_devices(mesh);
    shuffle(*parts.logical_device_ids);
  }
  return {NamedSharding(std::move(parts)), Shape(std::move(dims))};
}

/// Calls `visit` with the row-major number of each element of a slice.
template <class Visit>
void for_each_element(const Shape& shape, const std::vector<Interval>& slice, const Visit& visit,
                      size_t dimension = 0, int64_t before = 0) {
  if (dimension == shape.rank()) {
    visit(before);
    return;
  }
  for (int64_t i = slice[dimension].begin; i < slice[dimension].end; ++i)
    for_each_element(shape, slice, visit, dimension + 1, before * shape[dimension] + i);
}

using Slice = std::vector<std::pair<int64_t, int64_t>>;

Slice slice_of(const Shard& shard) {
  Slice slice;
  for (const Interval& each : shard.slice)
    slice.emplace_back(each.begin, each.end);
  return slice;
}

/// Returns the product of the sizes of the axes that cut.
int64_t parts_of(const NamedSharding& sharding) {
  const Mesh& mesh = sharding.parts().mesh.axes();
  int64_t parts = 1;
  for (const std::vector<std::string>& axes : sharding.parts().spec.dims)
    parts *= mesh.size(axis_positions(mesh, axes));
  return parts;
}

TEST_CASE("S01: an array whose parts are laid where their slices say is the whole") {
  test::holds_for_all("S01", [] {
    const Fitted cut = any_fitted(Extents::Any);
    const Shape local = cut.sharding.shard_shape(cut.shape);
    std::vector<int64_t> whole(static_cast<size_t>(cut.shape.elements()), -1);
    for (const Shard& shard : cut.sharding.shards(cut.shape)) {
      int64_t elements = 0;
      for_each_element(cut.shape, shard.slice, [&](int64_t element) {
        whole[static_cast<size_t>(element)] = element;  // the element of the array sharded
        ++elements;
      });
      RC_ASSERT(elements == local.elements());
    }
    for (size_t i = 0; i < whole.size(); ++i)
      RC_ASSERT(whole[i] == static_cast<int64_t>(i));
  });
}

TEST_CASE("S02: each element is on as many devices as the mesh has for each part") {
  test::holds_for_all("S02", [] {
    const Fitted cut = any_fitted(Extents::NotEmpty);
    std::vector<int64_t> covered(static_cast<size_t>(cut.shape.elements()), 0);
    for (const Shard& shard : cut.sharding.shards(cut.shape))
      for_each_element(cut.shape, shard.slice,
                       [&](int64_t element) { ++covered[static_cast<size_t>(element)]; });
    const int64_t each = cut.sharding.parts().mesh.axes().devices() / parts_of(cut.sharding);
    for (const int64_t times : covered)
      RC_ASSERT(times == each);
  });
}

TEST_CASE("S03: the copies of each slice of each addend are numbered 0, 1, ... in device order") {
  test::holds_for_all("S03", [] {
    const Fitted cut = any_fitted(Extents::NotEmpty);
    const Mesh& mesh = cut.sharding.parts().mesh.axes();
    int64_t addends = 1;
    for (const std::string& axis : cut.sharding.parts().spec.unreduced)
      addends *= mesh.axes()[*mesh.axis(axis)].size;
    std::map<Slice, std::vector<int64_t>> replicas;
    for (const Shard& shard : cut.sharding.shards(cut.shape))
      replicas[slice_of(shard)].push_back(shard.replica);
    const int64_t copies = mesh.devices() / parts_of(cut.sharding) / addends;
    for (auto& [slice, numbers] : replicas) {
      if (addends == 1)
        RC_ASSERT(std::is_sorted(numbers.begin(), numbers.end()));
      std::sort(numbers.begin(), numbers.end());
      RC_ASSERT(static_cast<int64_t>(numbers.size()) == copies * addends);
      for (size_t i = 0; i < numbers.size(); ++i)
        RC_ASSERT(numbers[i] == static_cast<int64_t>(i) / addends);
    }
  });
}

TEST_CASE("S05: the devices of the HLO text, tile by tile, are those of the index map") {
  test::holds_for_all("S05", [] {
    const Fitted cut = any_fitted(Extents::NotEmpty);
    const HloSharding hlo = cut.sharding.hlo_sharding(cut.shape.rank());
    const std::vector<Shard> shards = cut.sharding.shards(cut.shape);
    if (!hlo.devices()) {
      RC_ASSERT(parts_of(cut.sharding) == 1);
      return;
    }
    const std::vector<LogicalId> list = hlo.device_list();
    RC_ASSERT(list.size() == shards.size());
    // A tile's devices follow each other, and tiles are in the order of their slices.
    const size_t per_tile = list.size() / static_cast<size_t>(parts_of(cut.sharding));
    Slice before;
    for (size_t i = 0; i < list.size(); ++i) {
      const Slice slice = slice_of(shards[list[i].index()]);
      const bool is_first = i % per_tile == 0;
      RC_ASSERT((is_first ? i == 0 || before < slice : before == slice));
      before = slice;
    }
  });
}

TEST_CASE("S06: both HLO texts, read again, are the same sharding") {
  test::holds_for_all("S06", [] {
    const Fitted cut = any_fitted(Extents::Any);
    const HloSharding hlo = cut.sharding.hlo_sharding(cut.shape.rank());
    RC_ASSERT(HloSharding::parse(hlo.text()) == hlo);
    RC_ASSERT(HloSharding::parse(hlo.text()).text() == hlo.text());
    RC_ASSERT(HloSharding::parse(hlo.text_v1()) == hlo);
    RC_ASSERT(HloSharding::parse(hlo.text_v1()).text_v1() == hlo.text_v1());
  });
}

TEST_CASE("S07: the blocks of a dimension follow the index over its axes") {
  test::holds_for_all("S07", [] {
    Fitted cut = any_fitted(Extents::NotEmpty);
    const NamedSharding sharding =
        cut.sharding.update([](ShardingParts& parts) { parts.logical_device_ids.reset(); });
    const Mesh& mesh = sharding.parts().mesh.axes();
    const Shape local = sharding.shard_shape(cut.shape);
    const std::vector<Shard> shards = sharding.shards(cut.shape);
    for (size_t d = 0; d < sharding.parts().spec.dims.size(); ++d) {
      const std::vector<size_t> axes = axis_positions(mesh, sharding.parts().spec.dims[d]);
      for (uint32_t place = 0; place < mesh.devices(); ++place)
        RC_ASSERT(shards[place].slice[d].begin == mesh.index(LogicalId(place), axes) * local[d]);
    }
  });
}

/// Returns a spec with names that the mesh may lack or the shape may not admit, each once.
PartitionSpec any_spec() {
  std::vector<std::string> names = {"a", "b", "c", "d", "q"};
  shuffle(names);
  PartitionSpec spec;
  spec.dims.resize(test::in_range<size_t>(0, 5));
  for (size_t d = 0; d < spec.dims.size(); ++d) {
    for (size_t k = test::in_range<size_t>(0, 3); k > 0 && !names.empty(); --k) {
      spec.dims[d].push_back(names.back());
      names.pop_back();
    }
    if (spec.dims[d].empty() && test::any_bool())
      spec.unconstrained.insert(d);
  }
  return spec;
}

TEST_CASE("S08: a corrected spec is its own correction, and always fits") {
  test::holds_for_all("S08", [] {
    const DeviceMesh mesh = any_device_mesh();
    std::vector<int64_t> dims;
    for (size_t d = test::in_range<size_t>(0, 5); d > 0; --d)
      dims.push_back(test::in_range<int64_t>(0, 9));
    const Shape shape(dims);
    const NamedSharding sharding = corrected_sharding(shape, any_spec(), mesh);
    const PartitionSpec& spec = sharding.parts().spec;
    RC_ASSERT(corrected(spec, shape, mesh.axes()) == spec);
    RC_ASSERT(sharding.shard_shape(shape).rank() == shape.rank());
  });
}

TEST_CASE("an HLO text made from a spec gives an equivalent spec back") {
  test::holds_for_all("back from HLO", [] {
    const Fitted cut = any_fitted(Extents::Any);
    const NamedSharding sharding =
        cut.sharding.update([](ShardingParts& parts) { parts.logical_device_ids.reset(); });
    const size_t rank = cut.shape.rank();
    const PartitionSpec back =
        spec_of_hlo(sharding.hlo_sharding(rank).text(), sharding.parts().mesh.axes(), rank);
    // The text does not tell which of several axes of one size are unreduced, which may be Auto.
    const NamedSharding again = sharding.update([&](ShardingParts& parts) {
      std::vector<Axis> axes(parts.mesh.axes().axes().begin(), parts.mesh.axes().axes().end());
      const std::vector<AxisType> types(axes.size(), AxisType::Explicit);
      MeshDevices devices;
      devices.order.emplace();
      for (const LogicalId id : all_devices(parts.mesh.axes()))
        devices.order->push_back(parts.mesh.device(id));
      parts.mesh = DeviceMesh(std::move(axes), types, std::move(devices));
      parts.spec = back;
    });
    RC_ASSERT(again.is_equivalent_to(sharding, rank));
  });
}

TEST_CASE("array mapping: a spec without open dimensions comes back, but for trailing None") {
  test::holds_for_all("array mapping", [] {
    PartitionSpec spec = any_fitted(Extents::Any).sharding.parts().spec;
    while (!spec.dims.empty() && spec.dims.back().empty())
      spec.dims.pop_back();
    spec.unreduced.clear();
    RC_ASSERT(spec_of(array_mapping(spec)) == spec);
  });
}

}  // namespace
}  // namespace orrery
