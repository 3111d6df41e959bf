// This reads the reshards between the whole mesh and groups of an MPMD mesh (ProgramReader).

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/mesh/mpmd.h"
#include "models/program/iteration_name.h"
#include "models/scenario/fields.h"
#include "models/scenario/placement.h"
#include "models/scenario/program_reader.h"

namespace orrery {

namespace {

/// Requires a list with one item for each array, if it is known how many there are.
bool is_list_for(DocumentNode node, std::string_view what, size_t arrays,
                 Diagnostics& diagnostics) {
  if (!is_list(node, what, diagnostics))
    return false;
  if (node.size() == arrays || arrays == 0)  // the ids are missing
    return true;
  diagnostics.add(node.origin(), fmt::format("expected {}, one for each of {} ids, got {}", what,
                                             arrays, node.size()));
  return false;
}

/// Returns whether the specs cut each dimension by the same axes.
bool cut_alike(PartitionSpec a, PartitionSpec b) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  a.dims.resize(rank);
  b.dims.resize(rank);
  return a.dims == b.dims;
}

/// Returns the groups that the devices are, or nothing if they are not all devices of some groups.
std::optional<std::set<int64_t>> groups_of_devices(const Mesh& mesh, size_t axis,
                                                   const std::vector<LogicalId>& devices) {
  std::set<int64_t> groups;
  for (const LogicalId device : devices)
    groups.insert(mesh.coordinate(device, axis));
  const std::vector<int64_t> places(groups.begin(), groups.end());
  if (devices_at(mesh, axis, places) != devices)
    return std::nullopt;
  return groups;
}

}  // namespace

/// Notes how the result of a logically_stacked is cut, if it is known of the operand. The operand's
/// entries come first, the missing ones as null. Returns false with an error if the operand is cut
/// by the axis already, so that it has no copies to stack.
bool ProgramReader::know_stacked(const OpRequest& request) {
  if (request.operands.size() != 1 || !request.attributes.has("mpmd_axis"))
    return true;
  const std::string axis = request.attributes.text("mpmd_axis");
  const std::optional<size_t> position = mesh_.axis(axis);
  const auto known = shardings_.find(request.operands.front());
  if (!position || known == shardings_.end() || known->second.axis)
    return true;
  const auto type = builder_.type_of(known->first, request.key_origin("of"));
  const int64_t at =
      request.attributes.has("array_axis") ? request.attributes.integer("array_axis") : 0;
  if (!type || at < 0 || at > static_cast<int64_t>(type->shape.rank()))
    return true;
  const bool strict = request.attributes.has("strict") && request.attributes.boolean("strict");
  if ((strict || mesh_.axes()[*position].size > 1) &&
      without_axis(known->second.spec, axis) != known->second.spec) {
    diagnostics_.add(request.key_origin("of"),
                     fmt::format("{}: expected an array whose spec does not name axis {}, so that "
                                 "its copies can be stacked, got {}",
                                 op_title(request.kind, request.issue, request.name),
                                 in_quotes(axis), known->second.spec.text()));
    return false;
  }
  KnownSharding stacked = known->second;
  stacked.spec = without_axis(stacked.spec, axis);
  stacked.spec.dims.resize(type->shape.rank());
  stacked.spec.dims.insert(stacked.spec.dims.begin() + at, {axis});
  shardings_.insert_or_assign(request.name, std::move(stacked));
  return true;
}

/// Reads "from": the sharding of each operand.
std::vector<KnownSharding> ProgramReader::read_given_shardings(DocumentNode node, size_t arrays) {
  std::vector<KnownSharding> given;
  if (!is_list_for(node, "a list of shardings such as {\"spec\": [\"x\"]}", arrays, diagnostics_))
    return given;
  for (const DocumentNode item : node) {
    KnownSharding& sharding = given.emplace_back();
    if (!is_object(item, "a sharding such as {\"spec\": [\"x\"]}", diagnostics_))
      continue;
    Fields fields(item, diagnostics_);
    if (const auto spec = fields.required("spec"))
      sharding.spec = read_spec(*spec, mesh_, diagnostics_);
    fields.finish();
  }
  return given;
}

/// Reads "shardings": where each array goes.
void ProgramReader::read_group_shardings(DocumentNode node, Reshard& reshard) {
  constexpr std::string_view kForm = "shardings such as {\"mesh_ids\": [0], \"spec\": [\"x\"]}";
  const std::optional<size_t> axis = mesh_.axis(reshard.axis);
  if (!is_list_for(node, kForm, reshard.arrays.size(), diagnostics_) || !axis)
    return;
  size_t next = 0;
  for (const DocumentNode item : node) {
    Reshard::Array unnamed;
    Reshard::Array& array = next < reshard.arrays.size() ? reshard.arrays[next++] : unnamed;
    if (!is_object(item, "a sharding such as {\"mesh_ids\": [0], \"spec\": [\"x\"]}", diagnostics_))
      continue;
    Fields fields(item, diagnostics_);
    const auto ids = fields.required("mesh_ids");
    if (const auto groups =
            ids ? read_integers(*ids, "a group", {0, mesh_.axes()[*axis].size - 1}, diagnostics_)
                : std::nullopt)
      array.groups = target_groups({groups->begin(), groups->end()});
    if (const auto spec = fields.required("spec"))
      array.wanted = read_spec(*spec, mesh_, diagnostics_);
    fields.finish();
  }
}

/// Finds how each operand is cut before. Adds an error for an operand whose sharding is not known.
void ProgramReader::find_shardings(const OpRequest& keys, Reshard& reshard,
                                   const std::vector<KnownSharding>& stated) {
  const auto refuse = [&](std::string message) {
    diagnostics_.add(keys.key_origin("of"), fmt::format("{}: {}", keys.title, message));
  };
  const size_t axis = *mesh_.axis(reshard.axis);
  for (size_t i = 0; i < reshard.arrays.size(); ++i) {
    Reshard::Array& array = reshard.arrays[i];
    if (is_invalid(array.from))
      continue;
    const auto found = shardings_.find(array.from);
    const KnownSharding* const known = !stated.empty()             ? &stated[i]
                                       : found == shardings_.end() ? nullptr
                                                                   : &found->second;
    if (reshard.to == Reshard::To::Groups) {
      if (!stated.empty() && found != shardings_.end() && !found->second.axis &&
          !cut_alike(found->second.spec, stated[i].spec)) {
        refuse(fmt::format("expected no \"from\" for {}, which is cut by {}, got {}",
                           in_quotes(array.from), found->second.spec.text(),
                           stated[i].spec.text()));
        continue;
      }
      if (known == nullptr || known->axis) {
        if (builder_.value_of(array.from, keys.key_origin("of")))
          refuse(
              fmt::format("expected an array with a spec, the result of an mpmd_to_spmd_reshard, "
                          "or \"from\", got {}",
                          in_quotes(array.from)));
        continue;
      }
      array.given = known->spec;
      array.reads_first_copy = found != shardings_.end() && found->second.copies_differ;
      continue;
    }
    std::optional<std::set<int64_t>> groups;
    if (known != nullptr && known->axis == reshard.axis)
      groups = known->groups;
    else if (known != nullptr && !known->axis)
      groups = groups_of_devices(mesh_, axis, known->on ? *known->on : all_devices(mesh_));
    const bool cuts = known != nullptr && without_axis(known->spec, reshard.axis) != known->spec;
    if (groups && !cuts) {
      array.given = known->spec;
      array.groups = *groups;
      array.reads_first_copy = known->copies_differ;
    } else if (builder_.value_of(array.from, keys.key_origin("of"))) {
      refuse(
          fmt::format("expected an array on whole groups of axis {}, with a spec without it, or "
                      "the result of an spmd_to_mpmd_reshard, got {}",
                      in_quotes(reshard.axis), in_quotes(array.from)));
    }
  }
}

void ProgramReader::read_reshard(DocumentNode node, Scope& scope) {
  const size_t before = diagnostics_.size();
  Fields fields(node, diagnostics_);
  Reshard reshard;
  OpRequest keys;
  keys.origin = reshard.origin = node.origin();
  note_keys(node, "", keys.key_origins);
  const std::string op(fields.required("op")->text());
  reshard.to = op == kToGroupsOp ? Reshard::To::Groups : Reshard::To::Mesh;
  std::vector<std::string> ids;
  if (const auto id = fields.required("id");
      id && is_list(*id, "a list with an id for each array", diagnostics_) && id->size() == 0)
    diagnostics_.add(id->origin(), "expected an id for each array, got []");
  else if (id && id->kind() == DocumentNode::Kind::List)
    ids = read_ids(*id, scope, keys);
  if (scope.outside != nullptr)
    diagnostics_.add(node.origin(),
                     fmt::format("{} \"{}\": expected no loop around it: it donates its operands",
                                 op, ids.empty() ? "" : ids.front()));
  keys.name = ids.empty() ? "" : scope.prefix + ids.front();
  keys.title = fmt::format("{} \"{}\"", op, without_indices(keys.name));
  std::vector<std::string> operands;
  if (const auto of = fields.required("of");
      of && is_list_for(*of, "a list of ids", ids.size(), diagnostics_))
    if (const auto names = read_names(*of, "an id", diagnostics_))
      operands = resolved(*names, of->origin(), scope);
  reshard.arrays.resize(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    reshard.arrays[i].to = scope.prefix + ids[i];
    if (i > 0)
      keys.other_results.push_back(reshard.arrays[i].to);
    if (operands.size() == ids.size())
      reshard.arrays[i].from = operands[i];
  }
  if (const auto axis = fields.required("mpmd_axis"))
    if (const auto name = read_text(*axis, "an axis name", diagnostics_)) {
      reshard.axis = *name;
      if (const auto error = missing_axis_error(mesh_, *name))
        diagnostics_.add(axis->origin(), *error);
    }
  std::vector<KnownSharding> stated;
  if (reshard.to == Reshard::To::Groups) {
    if (const auto from = fields.optional("from")) {
      stated = read_given_shardings(*from, ids.size());
      reshard.states_given = true;
    }
    if (const auto shardings = fields.required("shardings"))
      read_group_shardings(*shardings, reshard);
    if (const auto counts = fields.optional("threshold_counts"))
      reshard.counts_targets =
          read_word(*counts, {"source", "target"}, diagnostics_) == std::string_view("target");
  } else if (const auto specs = fields.required("specs");
             specs && is_list_for(*specs, "a list of specs", ids.size(), diagnostics_)) {
    size_t next = 0;
    for (const DocumentNode item : *specs) {
      PartitionSpec spec = read_spec(item, mesh_, diagnostics_);
      if (next < reshard.arrays.size())
        reshard.arrays[next++].wanted = std::move(spec);
    }
  }
  if (const auto threshold = fields.optional_quantity("threshold", Dimension::Size))
    reshard.threshold = Bytes(*threshold);
  if (const auto site = fields.optional("site"))
    if (const auto name = read_text(*site, "a name", diagnostics_)) {
      reshard.site = *name;
      if (name->empty())
        diagnostics_.add(site->origin(), "expected a name that is not empty");
    }
  fields.finish();
  for (size_t i = 0; i < ids.size(); ++i)
    define(scope, ids[i], reshard.arrays[i].to, keys.result_origin(i));
  if (diagnostics_.size() == before)
    find_shardings(keys, reshard, stated);
  const bool reads_invalid =
      std::any_of(reshard.arrays.begin(), reshard.arrays.end(),
                  [&](const Reshard::Array& array) { return is_invalid(array.from); });
  if (diagnostics_.size() != before || reads_invalid) {
    for (const Reshard::Array& array : reshard.arrays)
      invalid_.insert(array.to);
    complete_ = false;
    return;
  }
  for (const Reshard::Array& array : reshard.arrays) {
    KnownSharding known;
    known.spec = array.wanted;
    if (reshard.to == Reshard::To::Groups) {
      known.spec = without_axis(array.wanted, reshard.axis);
      known.axis = reshard.axis;
      known.groups = array.groups;
    }
    shardings_.insert_or_assign(array.to, std::move(known));
  }
  const uint32_t ops = builder_.size().ops;
  builder_.reshard(std::move(reshard), std::move(keys));
  if (const uint32_t made = builder_.size().ops - ops; made > 1)
    fits(node, made - 1, 0);  // one was counted with the list
}

}  // namespace orrery
