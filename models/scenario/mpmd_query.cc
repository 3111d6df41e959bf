// This answers queries about MPMD meshes and arrays.

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/mesh/mpmd.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/query_reader.h"

namespace orrery {

namespace {

constexpr IntegerRange kAnyNumber = {std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()};
constexpr IntegerRange kNumberFrom0 = {0, kAnyNumber.high};

/// Throws what cannot be answered. Answers have no stages.
[[noreturn]] void refuse(const std::string& message) {
  throw ShardingError(ShardingStage::Sharding, message);
}

std::string error_json(std::string_view message) {
  return fmt::format("{{\"error\": {}}}", text_json(message));
}

/// An array of a query, and its spec as it is read.
struct QueryArray {
  LocalArray array = {};
  QuerySpec spec = {};
};

/// The mesh of a query, and an array on it.
struct MpmdQuery {
  QueryMesh mesh = {};
  std::string axis = {};
  std::set<int64_t> groups = {};
  QuerySpec spec = {};

  MpmdMesh mesh_made(const Limits& limits) const { return {mesh.made(limits), axis}; }
};

/// An op on an array, which is a scalar s32 of 7, and the use for which it may refuse the op.
using MpmdOp = std::pair<std::string_view, std::optional<MpmdUse>>;
constexpr MpmdOp kOps[] = {
    {"delete", MpmdUse::Delete},           {"is_deleted", MpmdUse::IsDeleted},
    {"to_mpmd_local_array", MpmdUse::Get}, {"first_mpmd_replica", MpmdUse::Get},
    {"block_until_ready", MpmdUse::Get},   {"int", MpmdUse::Number},
    {"format", MpmdUse::Number},           {"repr", std::nullopt},
    {"delete_one", MpmdUse::DeleteFirst},
};

/// Reads the values of queries. Each function adds errors to the diagnostics.
class MpmdReader {
 public:
  explicit MpmdReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  MpmdQuery read_mesh(Fields& fields) {
    MpmdQuery query{.mesh = read_query_mesh(fields, diagnostics_)};
    if (const auto axis = fields.required("mpmd_axis"))
      query.axis = read_text(*axis, "an axis name", diagnostics_).value_or("");
    return query;
  }

  std::vector<int64_t> read_list(Fields& fields, std::string_view key, std::string_view what,
                                 IntegerRange range) {
    const auto node = fields.required(key);
    auto list = node ? read_integers(*node, what, range, diagnostics_) : std::nullopt;
    return std::move(list).value_or(std::vector<int64_t>());
  }

  void read_groups(Fields& fields, MpmdQuery& query) {
    for (const int64_t group : read_list(fields, "mesh_ids", "a group", kAnyNumber))
      query.groups.insert(group);
  }

  QuerySpec read_spec(Fields& fields) {
    const auto node = fields.required("spec");
    return node ? read_query_spec(*node, kSpecEntries, diagnostics_) : QuerySpec();
  }

  /// Reads the mesh, the groups, and the spec with its sets.
  MpmdQuery read_sharding(Fields& fields) {
    MpmdQuery query = read_mesh(fields);
    read_groups(fields, query);
    query.spec = read_spec(fields);
    for (const std::string_view set : {"unreduced", "reduced"})
      (void)read_query_set(fields, set, query.spec, diagnostics_);
    return query;
  }

  std::vector<QueryArray> read_arrays(Fields& fields) {
    std::vector<QueryArray> arrays;
    const auto node = fields.required("arrays");
    if (node && is_list(*node, "a list of arrays", diagnostics_))
      for (const DocumentNode item : *node)
        if (is_object(item, "an object with a group, a spec, a shape and a dtype", diagnostics_))
          arrays.push_back(read_array(item));
    return arrays;
  }

  MpmdArray::Type read_given(Fields& fields) {
    const auto node = fields.optional("given");
    if (!node || !is_object(*node, "an object with a shape and a dtype", diagnostics_))
      return {};
    MpmdArray::Type given;
    Fields type(*node, diagnostics_);
    if (const auto shape = type.optional("shape"))
      given.shape = read_query_shape(*shape, diagnostics_);
    if (const auto dtype = type.optional("dtype"))
      given.dtype = read_dtype(*dtype, diagnostics_);
    type.finish();
    return given;
  }

  std::vector<MpmdOp> read_ops(Fields& fields) {
    std::vector<std::string_view> names;
    for (const auto& [name, use] : kOps)
      names.push_back(name);
    std::vector<MpmdOp> ops;
    const auto node = fields.required("ops");
    if (node && is_list(*node, "a list of ops", diagnostics_))
      for (const DocumentNode item : *node)
        if (const auto word = read_word(item, names, diagnostics_))
          ops.push_back(*std::find_if(std::begin(kOps), std::end(kOps),
                                      [&](const MpmdOp& op) { return op.first == *word; }));
    return ops;
  }

  std::vector<Bytes> read_sizes(Fields& fields) {
    std::vector<Bytes> sizes;
    for (const int64_t size : read_list(fields, "sizes", "a size in bytes", kNumberFrom0))
      sizes.emplace_back(size);
    return sizes;
  }

  std::vector<std::set<int64_t>> read_group_lists(Fields& fields) {
    std::vector<std::set<int64_t>> lists;
    const auto node = fields.required("mesh_ids");
    if (node && is_list(*node, "a list with the groups of each array", diagnostics_))
      for (const DocumentNode item : *node)
        if (const auto groups = read_integers(item, "a group", kNumberFrom0, diagnostics_))
          lists.push_back(target_groups({groups->begin(), groups->end()}));
    return lists;
  }

  /// Reads the devices of one process.
  std::vector<LimitAndPeak> read_devices(DocumentNode node) {
    std::vector<LimitAndPeak> devices;
    if (!is_list(node, "a list of devices", diagnostics_))
      return devices;
    for (const DocumentNode item : node) {
      if (item.kind() != DocumentNode::Kind::List || item.size() != 2)
        expected(item, "the limit and the peak of a device such as [80, 20]", diagnostics_);
      else if (const auto pair = read_integers(item, "bytes", kNumberFrom0, diagnostics_))
        devices.push_back({.limit = Bytes((*pair)[0]), .peak = Bytes((*pair)[1])});
    }
    return devices;
  }

 private:
  QueryArray read_array(DocumentNode node) {
    QueryArray read;
    LocalArray& array = read.array;
    Fields fields(node, diagnostics_);
    if (const auto group = fields.required("group")) {
      if (group->kind() == DocumentNode::Kind::Number)
        array.group = read_integer(*group, "a group", kAnyNumber, diagnostics_).value_or(0);
      else if (group->kind() == DocumentNode::Kind::Text && group->text() == "whole")
        array.on = LocalArray::On::WholeMesh;
      else if (group->kind() == DocumentNode::Kind::Text && group->text() == "single")
        array.on = LocalArray::On::OneDevice;
      else
        expected(*group, "a group, \"whole\" or \"single\"", diagnostics_);
    }
    read.spec = read_spec(fields);
    if (const auto shape = fields.required("shape"))
      array.shape = read_query_shape(*shape, diagnostics_).value_or(Shape());
    if (const auto dtype = fields.required("dtype"))
      array.dtype = read_dtype(*dtype, diagnostics_).value_or(array.dtype);
    fields.finish();
    return read;
  }

  Diagnostics& diagnostics_;
};

std::string devices_json(const MpmdMesh& mesh, int64_t group) {
  return integers_json(mesh.devices_at(std::array{group}));
}

/// Returns the devices of the first replica, or null if it is not held.
std::string first_replica_json(const MpmdArray& array, const MpmdMesh& mesh) {
  const std::optional<int64_t> group = array.first_replica();
  return group ? devices_json(mesh, *group) : "null";
}

/// Returns in which form a process has its replicas.
std::string local_array_json(const MpmdArray& array) {
  const size_t replicas = array.held().size();
  return replicas > 1    ? text_json(fmt::format("list of {}", replicas))
         : replicas == 1 ? "\"array\""
                         : "\"none\"";
}

void add_properties(const MpmdArray& array, const MpmdMesh& mesh, AnswerLine& answer) {
  const std::vector<int64_t> groups(array.groups().begin(), array.groups().end());
  answer.add("mpmd_idxs", integers_json(groups));
  answer.add("spec", spec_json(array.sharding().parts().spec));
  answer.add("shape", integers_json(array.shape().dims()));
  answer.add_text("dtype", name(array.dtype()));
  answer.add("ndim", std::to_string(array.shape().rank()));
  answer.add_flag("is_mpmd_replicated", groups.size() > 1);
  answer.add_flag("is_partially_addressable", !array.held().empty());
  answer.add("held_groups", fmt::format("[{}]", fmt::join(array.held(), ", ")));
  answer.add("sharding_devices", integers_json(mesh.devices_at(groups)));
  // One process compiles for group 0.
  answer.add("local_sharding_devices", devices_json(mesh, 0));
  answer.add("first_mpmd_replica", first_replica_json(array, mesh));
  answer.add("to_mpmd_local_array", local_array_json(array));
}

/// Carries out an op that the array does not refuse, and returns its value.
std::string value_of(std::string_view op, MpmdArray& array, const MpmdMesh& mesh) {
  if (op == "is_deleted")
    return array.is_deleted() ? "true" : "false";
  if (op == "to_mpmd_local_array")
    return local_array_json(array);
  if (op == "first_mpmd_replica")
    return first_replica_json(array, mesh);
  if (op == "int" || op == "format")
    return op == "int" ? "7" : "\"7\"";
  if (op == "repr")
    return text_json(fmt::format("MpmdArray(shape=(), dtype=int32, mpmd_idxs=({}{}), sharding={})",
                                 fmt::join(array.groups(), ", "),
                                 array.groups().size() == 1 ? "," : "", array.sharding().repr()));
  if (op == "delete")
    array.delete_all();
  if (op == "delete_one")
    array.delete_first();
  return "null";
}

/// Returns the answer of a mesh about the devices at these places.
std::string grid_json(const MpmdMesh& mesh, std::span<const int64_t> places) {
  return fmt::format("{{\"shape\": {}, \"devices\": {}}}",
                     integers_json(mesh.shape_of(std::ssize(places))),
                     integers_json(mesh.devices_at(places)));
}

/// Returns the answer about places as numpy.take has them.
std::string submesh_json(const MpmdMesh& mesh, std::vector<int64_t> indices, const Limits& limits) {
  try {
    const std::vector<int64_t> places = mesh.places(std::move(indices));
    const int64_t devices = mesh.mesh().axes().devices() / mesh.groups() * std::ssize(places);
    if (devices > limits.devices)
      refuse(beyond(limits, &Limits::devices, devices));
    return grid_json(mesh, places);
  } catch (const ShardingError& error) {
    return error_json(error.what());
  }
}

/// It is made for each line, reads the keys of a kind and adds the answer.
class MpmdAnswers {
 public:
  MpmdAnswers(DocumentNode root, const Limits& limits, Diagnostics& diagnostics, AnswerLine& answer)
      : limits_(limits),
        diagnostics_(diagnostics),
        answer_(answer),
        fields_(root, diagnostics),
        reader_(diagnostics) {}

  void add() {
    using Kind = std::pair<std::string_view, void (MpmdAnswers::*)()>;
    static constexpr Kind kKinds[] = {{"mesh", &MpmdAnswers::add_mesh},
                                      {"sharding", &MpmdAnswers::add_sharding},
                                      {"array", &MpmdAnswers::add_array},
                                      {"ops", &MpmdAnswers::add_ops},
                                      {"interleaved_order", &MpmdAnswers::add_interleaved_order},
                                      {"group_by_size", &MpmdAnswers::add_group_by_size},
                                      {"threshold", &MpmdAnswers::add_threshold}};
    std::vector<std::string_view> names;
    for (const auto& [name, add_kind] : kKinds)
      names.push_back(name);
    const auto node = fields_.required("kind");
    const auto word = node ? read_word(*node, names, diagnostics_) : std::nullopt;
    for (const auto& [name, add_kind] : kKinds)
      if (word == name)
        (this->*add_kind)();
  }

 private:
  /// Throws InputError if the line is no query of its kind.
  void finish() {
    fields_.finish();
    diagnostics_.throw_if_any();
  }

  void add_mesh() {
    const MpmdQuery query = reader_.read_mesh(fields_);
    std::optional<std::vector<int64_t>> submesh;
    if (const auto node = fields_.optional("submesh_of"))
      submesh = read_integers(*node, "a group", kAnyNumber, diagnostics_);
    finish();
    const MpmdMesh mesh = query.mesh_made(limits_);
    std::string unstacked;
    for (int64_t group = 0; group < mesh.groups(); ++group)
      unstacked += (group > 0 ? ", " : "") + grid_json(mesh, std::array{group});
    std::string group_of;
    for (const LogicalId id : all_devices(mesh.mesh().axes()))
      group_of += fmt::format("{}\"{}\": {}", group_of.empty() ? "" : ", ", mesh.mesh().device(id),
                              mesh.group_of(id));
    answer_.add("mpmd_dim", std::to_string(mesh.groups()));
    answer_.add("unstack", "[" + unstacked + "]");
    answer_.add("group_of", "{" + group_of + "}");
    if (submesh)
      answer_.add("submesh", submesh_json(mesh, std::move(*submesh), limits_));
  }

  void add_sharding() {
    const MpmdQuery query = reader_.read_sharding(fields_);
    finish();
    const MpmdMesh mesh = query.mesh_made(limits_);
    query.spec.check();
    const PartitionSpec spec = mesh.filtered(query.spec.spec);
    answer_.add("filtered", spec_json(spec));
    (void)mesh.sharding(query.groups, spec);
    const std::vector<int64_t> groups(query.groups.begin(), query.groups.end());
    answer_.add("devices", integers_json(mesh.devices_at(groups)));
  }

  void add_array() {
    const MpmdQuery query = reader_.read_sharding(fields_);
    const std::vector<QueryArray> read = reader_.read_arrays(fields_);
    MpmdArray::Type given = reader_.read_given(fields_);
    finish();
    const MpmdMesh mesh = query.mesh_made(limits_);
    query.spec.check();
    std::vector<LocalArray> arrays;
    for (const QueryArray& each : read) {
      try {
        each.spec.check();
      } catch (const ShardingError& error) {
        refuse(fmt::format("array {}: {}", arrays.size(), error.what()));
      }
      arrays.push_back(each.array);
      arrays.back().spec = each.spec.spec;
    }
    add_properties(MpmdArray(mesh, query.groups, query.spec.spec, arrays, std::move(given)), mesh,
                   answer_);
  }

  void add_ops() {
    MpmdQuery query = reader_.read_mesh(fields_);
    reader_.read_groups(fields_, query);
    std::vector<LocalArray> arrays;
    for (const int64_t group : reader_.read_list(fields_, "held", "a group", kAnyNumber))
      arrays.push_back({.group = group});
    const auto ops = reader_.read_ops(fields_);
    finish();
    const MpmdMesh mesh = query.mesh_made(limits_);
    MpmdArray array(mesh, query.groups, {}, arrays, {.shape = Shape(), .dtype = Dtype::S32});
    std::string answers;
    for (const auto& [op, use] : ops) {
      const auto error = use ? array.error_of(*use) : std::nullopt;
      answers += answers.empty() ? "" : ", ";
      answers += error ? error_json(*error) : value_of(op, array, mesh);
      if (std::ssize(answers) > limits_.file)
        refuse(beyond(limits_, &Limits::file, std::ssize(answers)));
    }
    answer_.add("answers", "[" + answers + "]");
  }

  void add_interleaved_order() {
    const std::vector<Bytes> sizes = reader_.read_sizes(fields_);
    const std::vector<std::set<int64_t>> groups = reader_.read_group_lists(fields_);
    finish();
    if (sizes.size() != groups.size())
      refuse(fmt::format("expected the groups of each of {} sizes, got those of {}", sizes.size(),
                         groups.size()));
    answer_.add("order", fmt::format("[{}]", fmt::join(interleaved_order(sizes, groups), ", ")));
  }

  void add_group_by_size() {
    const std::vector<Bytes> sizes = reader_.read_sizes(fields_);
    const auto node = fields_.required("threshold");
    const auto threshold =
        node ? read_integer(*node, "a threshold in bytes", kAnyNumber, diagnostics_) : std::nullopt;
    finish();
    std::string groups;
    for (const std::vector<size_t>& group : transfer_groups(sizes, Bytes(*threshold)))
      groups += fmt::format("{}[{}]", groups.empty() ? "" : ", ", fmt::join(group, ", "));
    answer_.add("groups", "[" + groups + "]");
  }

  void add_threshold() {
    const auto node = fields_.required("limit_and_peak");
    // A device is a list of numbers, a process a list of devices.
    const bool has_items = node && node->kind() == DocumentNode::Kind::List;
    const auto first = has_items ? node->first() : std::nullopt;
    const bool is_by_process =
        first && first->kind() == DocumentNode::Kind::List &&
        (first->size() == 0 || first->first()->kind() == DocumentNode::Kind::List);
    std::vector<std::vector<LimitAndPeak>> processes;
    if (is_by_process)
      for (const DocumentNode process : *node)
        processes.push_back(reader_.read_devices(process));
    else if (node)
      processes.push_back(reader_.read_devices(*node));
    finish();
    for (const std::vector<LimitAndPeak>& devices : processes)
      if (devices.empty())
        refuse("expected at least one device, got none");
    const Bytes threshold =
        is_by_process ? threshold_of_processes(processes) : threshold_of_devices(processes[0]);
    answer_.add("threshold", std::to_string(threshold.count()));
  }

  const Limits& limits_;
  Diagnostics& diagnostics_;
  AnswerLine& answer_;
  Fields fields_;
  MpmdReader reader_;
};

}  // namespace

QueryAnswer answer_mpmd_query(std::string_view line, const Limits& limits) {
  return answered(
      line, limits,
      [&](DocumentNode root, Diagnostics& diagnostics, AnswerLine& answer) {
        MpmdAnswers(root, limits, diagnostics, answer).add();
      },
      [](std::string_view, std::string_view message) { return text_json(message); });
}

}  // namespace orrery
