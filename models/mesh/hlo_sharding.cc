#include "models/mesh/hlo_sharding.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/diagnostics.h"

namespace orrery {

namespace {

constexpr std::array<Subgroup, 3> kSubgroups = {Subgroup::Manual, Subgroup::Unreduced,
                                                Subgroup::Replicated};

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Appends a dimension. It is joined to the last one if its ids go on with that one's stride.
void append(std::vector<IotaDim>& iota, IotaDim next) {
  if (next.size == 1)
    return;
  if (!iota.empty() && iota.back().stride == next.size * next.stride)
    iota.back() = {iota.back().size * next.size, next.stride};
  else
    iota.push_back(next);
}

/// Takes the minor dimensions of this size off. Returns nothing if none together have it; some are
/// lost then.
std::optional<std::vector<IotaDim>> take_minor(std::vector<IotaDim>& iota, int64_t size) {
  std::vector<IotaDim> taken;
  while (size > 1) {
    IotaDim& last = iota.back();
    if (size % last.size == 0) {
      size /= last.size;
      taken.push_back(last);
      iota.pop_back();
    } else if (last.size % size == 0) {
      taken.push_back({size, last.stride});
      last = {last.size / size, last.stride * size};
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  std::reverse(taken.begin(), taken.end());
  return taken;
}

int64_t id_at(std::span<const IotaDim> iota, int64_t position) {
  int64_t id = 0;
  for (size_t i = iota.size(); i-- > 0;) {
    id += position % iota[i].size * iota[i].stride;
    position /= iota[i].size;
  }
  return id;
}

std::vector<LogicalId> listed(std::span<const IotaDim> iota, int64_t devices) {
  std::vector<LogicalId> list;
  list.reserve(static_cast<size_t>(devices));
  for (int64_t p = 0; p < devices; ++p)
    list.emplace_back(static_cast<size_t>(id_at(iota, p)));
  return list;
}

/// Sorts the ids within each group of this size.
void sort_groups(std::vector<LogicalId>& list, int64_t size) {
  for (auto group = list.begin(); group != list.end(); group += size)
    std::sort(group, group + size);
}

/// A Tiling is the devices as a text has them: in row-major order of `dims`, the last of which are
/// those of `subgroups`.
struct Tiling {
  std::vector<int64_t> dims;
  std::vector<Subgroup> subgroups;
  std::vector<IotaDim> iota;
  std::vector<LogicalId> list;  // instead of iota, unless empty

  int64_t devices() const { return product(dims); }
  size_t rank() const { return dims.size() - subgroups.size(); }
  /// Lists the devices of iota.
  void make_list();
  /// Puts the dimensions of subgroups into the order of Subgroup.
  void order_subgroups();
  /// Sorts the devices of each group of `size` that hold the same.
  void sort_replicated(int64_t size);
};

void Tiling::make_list() {
  if (devices() > HloSharding::kMostListed)
    throw HloShardingError(fmt::format(
        "expected at most {} devices where a subgroup divides no dimension of the iota, got {}",
        HloSharding::kMostListed, devices()));
  list = listed(iota, devices());
  iota.clear();
}

void Tiling::order_subgroups() {
  std::vector<size_t> order(subgroups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto size = [&](size_t i) { return dims[rank() + i]; };
  std::erase_if(order, [&](size_t i) { return size(i) == 1; });
  const auto before = [&](size_t a, size_t b) { return subgroups[a] < subgroups[b]; };
  if (std::is_sorted(order.begin(), order.end(), before))
    return;
  std::vector<IotaDim> tiles = iota;
  std::vector<std::vector<IotaDim>> parts(subgroups.size());
  bool divided = list.empty();
  for (size_t i = subgroups.size(); i-- > 0 && divided;) {
    std::optional<std::vector<IotaDim>> part = take_minor(tiles, size(i));
    divided = part.has_value();
    if (divided)
      parts[i] = std::move(*part);
  }
  std::stable_sort(order.begin(), order.end(), before);
  if (divided) {
    iota = std::move(tiles);
    for (const size_t i : order)
      for (const IotaDim part : parts[i])
        append(iota, part);
    return;
  }
  if (list.empty())
    make_list();
  // Whole tiles stay where they are. `from` has the old position of each new one.
  std::vector<int64_t> strides(subgroups.size());
  int64_t stride = 1;
  for (size_t i = subgroups.size(); i-- > 0; stride *= size(i))
    strides[i] = stride;
  std::vector<IotaDim> from;
  append(from, {devices() / stride, stride});
  for (const size_t i : order)
    append(from, {size(i), strides[i]});
  std::vector<LogicalId> moved;
  moved.reserve(list.size());
  for (size_t p = 0; p < list.size(); ++p)
    moved.push_back(list[static_cast<size_t>(id_at(from, static_cast<int64_t>(p)))]);
  list = std::move(moved);
}

void Tiling::sort_replicated(int64_t size) {
  if (size == 1)
    return;
  if (list.empty()) {
    std::vector<IotaDim> groups = iota;
    if (std::optional<std::vector<IotaDim>> group = take_minor(groups, size)) {
      std::sort(group->begin(), group->end(),
                [](const IotaDim& a, const IotaDim& b) { return a.stride > b.stride; });
      iota = std::move(groups);
      for (const IotaDim dim : *group)
        append(iota, dim);
      return;
    }
    make_list();
  }
  sort_groups(list, size);
}

}  // namespace

HloSharding::HloSharding(const Mesh& mesh, const AxisCut& cut, std::span<const LogicalId> ids)
    : name_(std::nullopt) {
  ORRERY_CHECK(ids.empty() || ids.size() == mesh.devices(), "ids are those of the mesh");
  std::vector<IotaDim> axes;
  axes.reserve(mesh.axes().size());
  int64_t stride = mesh.devices();
  for (const Axis& axis : mesh.axes())
    axes.push_back({axis.size, stride /= axis.size});
  std::vector<bool> used(axes.size());
  const auto use = [&](size_t axis) {
    ORRERY_CHECK(axis < axes.size() && !used[axis], "a cut names axes of its mesh once");
    used[axis] = true;
    append(iota_, axes[axis]);
    return axes[axis].size;
  };
  dims_.reserve(cut.dims.size());
  for (const std::vector<size_t>& dim : cut.dims) {
    int64_t& parts = dims_.emplace_back(1);
    for (const size_t axis : dim)
      parts *= use(axis);
  }
  std::vector<Subgroup> subgroups(axes.size(), Subgroup::Replicated);
  const auto put = [&](std::span<const size_t> those, Subgroup subgroup) {
    for (const size_t axis : those) {
      ORRERY_CHECK(axis < axes.size() && !used[axis] && subgroups[axis] == Subgroup::Replicated,
                   "a cut names axes of its mesh once");
      subgroups[axis] = subgroup;
    }
  };
  put(cut.unreduced, Subgroup::Unreduced);
  put(cut.manual, Subgroup::Manual);
  for (const Subgroup subgroup : kSubgroups)
    for (size_t axis = 0; axis < axes.size(); ++axis)
      if (!used[axis] && subgroups[axis] == subgroup)
        copies(subgroup) *= use(axis);
  name_if_alone();
  if (name_ || ids.empty())
    return;
  list_.reserve(ids.size());
  for (int64_t p = 0; p < std::ssize(ids); ++p)
    list_.push_back(ids[static_cast<size_t>(id_at(iota_, p))]);
  iota_.clear();
  sort_groups(list_, copies(Subgroup::Replicated));
}

std::vector<IotaDim> HloSharding::transposed(std::span<const int64_t> shape,
                                             std::span<const size_t> order) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  std::vector<IotaDim> iota;
  for (const size_t i : order)
    append(iota, {shape[i], strides[i]});
  return iota;
}

HloSharding HloSharding::tiled(std::vector<int64_t> dims, std::vector<Subgroup> subgroups,
                               std::vector<IotaDim> iota, std::vector<LogicalId> list) {
  Tiling tiling{std::move(dims), std::move(subgroups), std::move(iota), std::move(list)};
  HloSharding made;
  made.name_.reset();
  made.dims_.assign(tiling.dims.begin(),
                    tiling.dims.begin() + static_cast<std::ptrdiff_t>(tiling.rank()));
  for (size_t i = 0; i < tiling.subgroups.size(); ++i)
    made.copies(tiling.subgroups[i]) *= tiling.dims[tiling.rank() + i];
  made.name_if_alone();
  if (made.name_)
    return made;
  tiling.order_subgroups();
  tiling.sort_replicated(made.copies(Subgroup::Replicated));
  made.iota_ = std::move(tiling.iota);
  made.list_ = std::move(tiling.list);
  return made;
}

void HloSharding::name_if_alone() {
  const auto several = std::count_if(copies_.begin(), copies_.end(), [](auto n) { return n > 1; });
  if (several > 1 || product(dims_) > 1)
    return;
  Subgroup name = Subgroup::Replicated;  // of one device too
  for (const Subgroup subgroup : kSubgroups)
    if (copies(subgroup) > 1)
      name = subgroup;
  *this = HloSharding();
  name_ = name;
}

std::optional<int64_t> HloSharding::devices() const {
  if (!name_)
    return product(dims_) * product(copies_);
  return stated_ ? std::optional(stated_->devices) : std::nullopt;
}

std::optional<size_t> HloSharding::rank() const {
  if (!name_)
    return dims_.size();
  return stated_ ? std::optional(stated_->rank) : std::nullopt;
}

std::vector<LogicalId> HloSharding::device_list() const {
  ORRERY_CHECK(!name_, "a name has no devices");
  if (!list_.empty())
    return list_;
  return listed(iota_, *devices());
}

int64_t HloSharding::position_of(LogicalId device) const {
  if (!list_.empty())
    return std::find(list_.begin(), list_.end(), device) - list_.begin();
  int64_t position = 0;
  for (const IotaDim& dim : iota_)
    position = position * dim.size + int64_t{device.index()} / dim.stride % dim.size;
  return position;
}

AxisCut HloSharding::cut_over(const Mesh& mesh) const {
  if (name_ == Subgroup::Manual || copies(Subgroup::Manual) > 1)
    throw HloShardingError(
        fmt::format("expected a sharding without manual devices, got {}", in_quotes(text())));
  if (const auto count = devices(); count && *count != int64_t{mesh.devices()})
    throw HloShardingError(fmt::format("expected a sharding of {} devices, got {} of {}",
                                       mesh.devices(), in_quotes(stated_ ? stated_->text : text()),
                                       *count));
  AxisCut cut;
  cut.dims.resize(dims_.size());
  std::vector<int64_t> blocks(mesh.axes().size());  // between neighbours on each axis
  for (size_t axis = 0; axis < mesh.axes().size(); ++axis) {
    if (mesh.axes()[axis].size == 1)
      continue;
    if (name_) {
      if (name_ == Subgroup::Unreduced)
        cut.unreduced.push_back(axis);
      continue;
    }
    // The neighbour of device 0 on this axis differs from it by what the axis does.
    int64_t at = position_of(mesh.with_index(LogicalId(0), std::span(&axis, 1), 1));
    at /= copies(Subgroup::Replicated);
    if (at % copies(Subgroup::Unreduced) > 0) {
      cut.unreduced.push_back(axis);
      continue;
    }
    at /= copies(Subgroup::Unreduced);
    for (size_t dim = dims_.size(); dim-- > 0 && blocks[axis] == 0; at /= dims_[dim]) {
      blocks[axis] = at % dims_[dim];
      if (blocks[axis] > 0)
        cut.dims[dim].push_back(axis);
    }
  }
  for (std::vector<size_t>& axes : cut.dims)
    std::stable_sort(axes.begin(), axes.end(),
                     [&](size_t a, size_t b) { return blocks[a] > blocks[b]; });
  if (HloSharding(mesh, cut) != *this)
    throw HloShardingError(
        fmt::format("expected tiles that axes of the mesh cut, got {}", in_quotes(text())));
  return cut;
}

bool operator==(const HloSharding& a, const HloSharding& b) {
  if (a.name_ != b.name_ || a.dims_ != b.dims_ || a.copies_ != b.copies_)
    return false;
  if (a.list_.empty() == b.list_.empty())
    return a.iota_ == b.iota_ && a.list_ == b.list_;
  const HloSharding& listed = a.list_.empty() ? b : a;
  const HloSharding& iota = a.list_.empty() ? a : b;
  for (size_t p = 0; p < listed.list_.size(); ++p)
    if (int64_t{listed.list_[p].index()} != id_at(iota.iota_, static_cast<int64_t>(p)))
      return false;
  return true;
}

}  // namespace orrery
