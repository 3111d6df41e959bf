// This part of builder.h makes ops of a reshard between the whole mesh and groups of an MPMD mesh.
// reshard_checks.cc has what it refuses.
//
// An array goes to another spec dimension by dimension. Its axes before and after have a common
// beginning, by which the blocks stay where they are. The device gathers its block over the axes
// that are left before, and cuts its part by those that are left after. A cut is made as soon as
// no other dimension has its axes, so that less is gathered.
//
// To groups, the array is on the whole mesh by the filtered spec, and a held_on frees it on the
// devices of other groups. Back from groups, a held_or_zeros and a pbroadcast give all devices the
// array of the first group.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/mesh/mpmd.h"
#include "models/program/builder.h"
#include "models/program/rules.h"

namespace orrery {

namespace {

using Names = std::vector<std::string>;

/// Returns how many of the first names are the same in both lists.
size_t common_beginning(const Names& a, const Names& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

Names names_from(const Names& names, size_t begin) {
  return {names.begin() + static_cast<ptrdiff_t>(begin), names.end()};
}

/// Returns whether any entry names the axis.
bool names(const std::vector<Names>& entries, const std::string& axis) {
  return std::any_of(entries.begin(), entries.end(), [&](const Names& entry) {
    return std::find(entry.begin(), entry.end(), axis) != entry.end();
  });
}

/// Makes the ops of one transfer group after another.
class ReshardOps {
 public:
  /// `like` has the title, the places and the number of the reshard, which all its ops share.
  ReshardOps(const Mesh& mesh, Checks checks, const Reshard& reshard, OpRequest like)
      : mesh_(mesh), checks_(checks), reshard_(reshard), like_(std::move(like)) {}

  /// Returns the ops of a transfer group. `locals` has the shape of each array's part on a device.
  std::vector<OpRequest> transfer(const std::vector<size_t>& group,
                                  const std::vector<Shape>& locals) {
    ops_.clear();
    storage_of_.clear();
    std::vector<Moving> all;
    std::map<std::string, uint32_t> streams;  // by source: those who read one run in order
    for (const size_t array : group) {
      const Reshard::Array& moved = reshard_.arrays[array];
      const auto number = static_cast<uint32_t>(streams.size() % (kMostStream + 1));
      Moving& moving = all.emplace_back(
          Moving{moved, moved.from, {}, {}, {}, streams.emplace(moved.from, number).first->second});
      moving.extents.assign(locals[array].dims().begin(), locals[array].dims().end());
      moving.cut = moved.given.dims;
      moving.wanted = reshard_.to == Reshard::To::Mesh
                          ? moved.wanted.dims
                          : without_axis(moved.wanted, reshard_.axis).dims;
      moving.cut.resize(moving.extents.size());
      moving.wanted.resize(moving.extents.size());
    }
    for (bool moves = true; moves;) {
      // The local ops come first, so that none reads a source while a start is in flight that takes
      // it over.
      std::vector<std::pair<Moving*, OpRequest>> started;
      for (Moving& moving : all)
        if (std::optional<OpRequest> collective = next_collective(moving))
          started.emplace_back(&moving, std::move(*collective));
      for (auto& [moving, collective] : started)
        moving->now = add(std::move(collective));
      for (auto& [moving, collective] : started)
        moving->now = add(OpKind::Done, {moving->now});
      moves = !started.empty();
    }
    for (size_t i = 0; i < all.size(); ++i)
      end(all[i], std::any_of(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end(),
                              [&](const Moving& other) {
                                return storage_of(other.now) == storage_of(all[i].now);
                              }));
    donate_sources(group);
    return std::move(ops_);
  }

 private:
  /// A Moving is an array on its way.
  struct Moving {
    const Reshard::Array& array;
    std::string now;               // the name of its value
    std::vector<int64_t> extents;  // of the part on a device
    std::vector<Names> cut;        // the axes that cut each dimension now
    std::vector<Names> wanted;     // and at last
    uint32_t stream;
    bool is_copied = false;  // its first copy was sent to all
  };

  /// Adds an op to the list, and returns its name.
  std::string add(OpRequest request) {
    request.name = fmt::format("{}.{}", reshard_.name(), ++count_);
    ops_.push_back(request);
    return request.name;
  }
  std::string add(OpKind kind, Names operands, Attributes attributes = {}) {
    return add(request(kind, std::move(operands), std::move(attributes)));
  }
  OpRequest request(OpKind kind, Names operands, Attributes attributes) const {
    OpRequest request = like_;
    request.kind = kind;
    request.operands = std::move(operands);
    request.attributes = std::move(attributes);
    return request;
  }

  OpRequest start(OpKind kind, const Moving& moving, const Names& axes, Attributes attributes) {
    attributes.set("axis_name", axes);
    attributes.set("stream", int64_t{moving.stream});
    OpRequest collective = request(kind, {moving.now}, std::move(attributes));
    collective.issue = Issue::Start;
    if (!reshard_.site.empty())
      collective.site = fmt::format("{}, op {}", reshard_.site, ++sites_);
    return collective;
  }

  /// Adds the local ops up to the array's next collective, and returns that, or nothing if there is
  /// none.
  std::optional<OpRequest> next_collective(Moving& moving) {
    if (auto copies = copy_first(moving))
      return copies;
    for (bool cuts = true; cuts;) {
      cuts = false;
      for (size_t d = 0; d < moving.cut.size(); ++d)
        if (can_cut(moving, d)) {
          cut(moving, d);
          cuts = true;
        }
    }
    for (size_t d = 0; d < moving.cut.size(); ++d) {
      const size_t kept = common_beginning(moving.cut[d], moving.wanted[d]);
      if (kept == moving.cut[d].size())
        continue;
      const Names axes = names_from(moving.cut[d], kept);
      moving.cut[d].resize(kept);
      moving.extents[d] *= size(axes);
      Attributes attributes;
      attributes.set("axis", static_cast<int64_t>(d));
      attributes.set("tiled", true);
      return start(OpKind::AllGatherInvariant, moving, axes, std::move(attributes));
    }
    return std::nullopt;
  }

  /// Sends the array of the first group, or the first of copies that may differ, to all.
  std::optional<OpRequest> copy_first(Moving& moving) {
    if (std::exchange(moving.is_copied, true))
      return std::nullopt;
    const bool to_mesh = reshard_.to == Reshard::To::Mesh;
    Names others;  // the axes along which there are copies, but for that of groups on the way back
    for (const Axis& axis : mesh_.axes())
      if (moving.array.reads_first_copy && !names(moving.cut, axis.name) &&
          !(to_mesh && axis.name == reshard_.axis))
        others.push_back(axis.name);
    Names axes = others;
    if (to_mesh)
      axes.insert(axes.begin(), reshard_.axis);
    if (size(axes) == 1)
      return std::nullopt;
    const int64_t group = to_mesh ? *moving.array.groups.begin() : 0;
    if (to_mesh) {
      Attributes devices;
      devices.set("devices", devices_of({group}));
      moving.now = add(OpKind::HeldOrZeros, {moving.now}, std::move(devices));
    }
    Attributes attributes;
    attributes.set("source", group * size(others));
    return start(OpKind::Pbroadcast, moving, axes, std::move(attributes));
  }

  bool can_cut(const Moving& moving, size_t dimension) const {
    const Names& now = moving.cut[dimension];
    const Names& wanted = moving.wanted[dimension];
    if (common_beginning(now, wanted) < now.size() || now.size() == wanted.size())
      return false;
    const Names axes = names_from(wanted, now.size());
    return std::none_of(moving.cut.begin(), moving.cut.end(), [&](const Names& other) {
      return std::find_first_of(other.begin(), other.end(), axes.begin(), axes.end()) !=
             other.end();
    });
  }

  /// Takes the device's part of a dimension. The dimension becomes two, of the parts and within
  /// them, so that a part begins at the device's index.
  void cut(Moving& moving, size_t dimension) {
    const Names axes = names_from(moving.wanted[dimension], moving.cut[dimension].size());
    const int64_t parts = size(axes);
    moving.cut[dimension] = moving.wanted[dimension];
    if (parts == 1) {
      if (checks_ == Checks::Shapes)
        return;
      Attributes attributes;
      attributes.set("axis_name", axes);
      moving.now = add_view(OpKind::Pvary, moving.now, std::move(attributes));
      return;
    }
    const auto at = static_cast<ptrdiff_t>(dimension);
    moving.extents[dimension] /= parts;
    std::vector<int64_t> extents = moving.extents;
    extents.insert(extents.begin() + at, parts);
    const std::string whole = reshaped(moving.now, extents);
    extents[dimension] = 1;
    Names operands(extents.size() + 1, zero());
    operands.front() = whole;
    operands[dimension + 1] = index(axes);
    Attributes attributes;
    attributes.set("slice_sizes", extents);
    moving.now = reshaped(add(OpKind::DynamicSlice, std::move(operands), std::move(attributes)),
                          moving.extents);
  }

  std::string reshaped(const std::string& value, const std::vector<int64_t>& extents) {
    Attributes attributes;
    attributes.set("new_sizes", extents);
    return add_view(OpKind::Reshape, value, std::move(attributes));
  }

  /// Adds an op whose result lies in the storage of its operand.
  std::string add_view(OpKind kind, const std::string& of, Attributes attributes) {
    const std::string storage = storage_of(of);
    const std::string view = add(kind, {of}, std::move(attributes));
    storage_of_.emplace(view, storage);
    return view;
  }
  /// Returns the name of the value in whose storage this one lies.
  const std::string& storage_of(const std::string& name) const {
    const auto found = storage_of_.find(name);
    return found == storage_of_.end() ? name : found->second;
  }

  const std::string& zero() {
    if (zero_.empty()) {
      Attributes attributes;
      attributes.set("shape", std::vector<int64_t>());
      attributes.set("fill_value", 0.0);
      attributes.set("dtype", Dtype::S32);
      zero_ = add(OpKind::Full, {}, std::move(attributes));
    }
    return zero_;
  }

  const std::string& index(const Names& axes) {
    std::string& name = indices_[axes];
    if (name.empty()) {
      Attributes attributes;
      attributes.set("axis_name", axes);
      name = add(OpKind::AxisIndex, {}, std::move(attributes));
    }
    return name;
  }

  /// Adds the op that makes the result. A value that is needed again is copied.
  void end(Moving& moving, bool is_needed_again) {
    if (is_needed_again) {
      Attributes attributes;
      attributes.set("start_indices", std::vector<int64_t>(moving.extents.size(), 0));
      attributes.set("limit_indices", moving.extents);
      moving.now = add(OpKind::Slice, {moving.now}, std::move(attributes));
    }
    Attributes attributes;
    std::set<int64_t> places = moving.array.groups;
    if (reshard_.to == Reshard::To::Mesh) {
      for (int64_t place = 0; place < size({reshard_.axis}); ++place)
        places.insert(place);
      if (!names(moving.wanted, reshard_.axis))
        attributes.set("equal_along", Names{reshard_.axis});
    }
    attributes.set("devices", devices_of(places));
    OpRequest held = request(OpKind::HeldOn, {moving.now}, std::move(attributes));
    held.first_result = moving.array.to;
    add(std::move(held));
  }

  /// Lets the last op that reads a source take it over.
  void donate_sources(const std::vector<size_t>& group) {
    for (const size_t array : group) {
      const std::string& source = reshard_.arrays[array].from;
      const auto reads = [&](const std::string& name) { return storage_of(name) == source; };
      const auto last = std::find_if(ops_.rbegin(), ops_.rend(), [&](const OpRequest& op) {
        return std::any_of(op.operands.begin(), op.operands.end(), reads);
      });
      for (const std::string& operand : last->operands)
        if (reads(operand) && last->donated.empty())
          last->donated.push_back(operand);
    }
  }

  int64_t size(const Names& axes) const { return mesh_.size(axis_positions(mesh_, axes)); }

  std::vector<int64_t> devices_of(const std::set<int64_t>& groups) const {
    const std::vector<int64_t> places(groups.begin(), groups.end());
    std::vector<int64_t> devices;
    for (const LogicalId id : devices_at(mesh_, *mesh_.axis(reshard_.axis), places))
      devices.push_back(id.index());
    return devices;
  }

  const Mesh& mesh_;
  const Checks checks_;
  const Reshard& reshard_;
  const OpRequest like_;
  std::vector<OpRequest> ops_;                     // of the transfer group
  std::map<std::string, std::string> storage_of_;  // of views
  std::string zero_;                               // the name of a 0
  std::map<Names, std::string> indices_;           // the names of indices over axes
  uint32_t count_ = 0;                             // of ops
  uint32_t sites_ = 0;
};

}  // namespace

void ProgramBuilder::reshard(Reshard reshard, OpRequest keys) {
  ORRERY_CHECK(!reshard.arrays.empty(), "a reshard moves an array");
  const ThreadId thread(program_.threads.size() - 1);
  reshard.thread = thread;
  const auto refuse = [&] {
    for (size_t r = 0; r < reshard.arrays.size(); ++r)
      (void)define(reshard.arrays[r].to, keys.result_origin(r),
                   {std::nullopt, false, thread, keys.origin});
  };
  if (!check_reshard(reshard, keys))
    return refuse();
  std::vector<Shape> locals;
  for (const Reshard::Array& array : reshard.arrays)
    locals.push_back(program_.value(*defined_.find(array.from)->second.value).type.shape);
  OpRequest like;
  like.title = keys.title;
  like.origin = keys.origin;
  like.reshard = static_cast<uint32_t>(program_.reshards.size());
  program_.reshards.push_back(reshard);
  ReshardOps ops(program_.mesh, checks_, reshard, like);
  std::vector<OpRequest> requests;
  for (const std::vector<size_t>& group : reshard.transfers)
    std::ranges::move(ops.transfer(group, locals), std::back_inserter(requests));
  const auto is_taken = [&](const std::string& name) {
    return defined_.contains(name) ||
           std::any_of(reshard.arrays.begin(), reshard.arrays.end(),
                       [&](const Reshard::Array& array) { return array.to == name; });
  };
  for (const OpRequest& request : requests)
    if (is_taken(request.name)) {
      add_error(keys, "id",
                fmt::format("expected no \"{}\" beside \"{}\", which has the ops \"{}.1\" to "
                            "\"{}.{}\"",
                            request.name, reshard.name(), reshard.name(), reshard.name(),
                            requests.size()));
      program_.reshards.pop_back();
      return refuse();
    }
  for (OpRequest& request : requests) {
    if (!request.first_result.empty())
      (void)define(request.name, origin_of(request.name, keys.origin),
                   {std::nullopt, true, thread, keys.origin});
    op(std::move(request));
  }
}

}  // namespace orrery
