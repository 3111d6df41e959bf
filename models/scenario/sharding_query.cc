#include "models/scenario/sharding_query.h"

#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/base/diagnostics.h"
#include "models/mesh/named_sharding.h"
#include "models/program/value.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

std::string token(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A line of JSON: an object whose members are added one by one.
class AnswerLine {
 public:
  void add(std::string_view key, std::string_view json) {
    text_ += fmt::format("{}\"{}\": {}", text_.size() > 1 ? ", " : "", key, json);
  }
  void add_text(std::string_view key, std::string_view text) { add(key, token(text)); }
  void add_flag(std::string_view key, bool flag) { add(key, flag ? "true" : "false"); }
  void add_error(std::string_view stage, std::string_view message) {
    add("error", fmt::format("{{\"stage\": {}, \"message\": {}}}", token(stage), token(message)));
  }
  std::string finished() && { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

std::string names_json(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + token(name);
  return "[" + text + "]";
}

std::string spec_json(const PartitionSpec& spec) {
  std::string text;
  for (const std::vector<std::string>& axes : spec.dims)
    text += (text.empty() ? "" : ", ") + (axes.empty()       ? "null"
                                          : axes.size() == 1 ? token(axes[0])
                                                             : names_json(axes));
  return "[" + text + "]";
}

/// The mesh and the spec of a query, and what its keys ask for. A member that is refused when it is
/// made, such as a name that is null, is kept as that error until all of the line is read.
struct ShardingQuery {
  std::vector<Axis> axes;
  std::optional<std::vector<AxisType>> types;
  MeshDevices devices;
  std::optional<std::string> mesh_error;
  std::optional<Shape> shape;
  PartitionSpec spec;
  std::optional<std::string> spec_error;
  std::optional<std::string> sharding_error;
  bool open_spec = false;  // "AUTO"
  std::optional<std::string> memory_kind;
  std::optional<std::vector<LogicalId>> logical_device_ids;
  bool repr = false;
  bool corrected = false;
};

/// Says which keys a sharding has beside those of its mesh and its spec.
enum class Keys : uint8_t { Whole, OfPair };

class QueryReader {
 public:
  explicit QueryReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// Reads the keys of the mesh.
  void read_mesh(Fields& fields, ShardingQuery& query) {
    if (const auto node = fields.required("mesh"))
      read_axes(*node, query);
    if (const auto node = fields.optional("device_order"))
      if (auto order = read_integers(*node, "a device", {kLeast, kMost}, diagnostics_))
        query.devices.order = std::move(*order);
    if (const auto node = fields.optional("axis_types"))
      read_types(*node, query);
    if (const auto node = fields.optional("abstract"))
      query.devices.abstract = read_boolean(*node, diagnostics_).value_or(false);
  }

  ShardingQuery read_sharding(DocumentNode node, Keys keys) {
    ShardingQuery query;
    Fields fields(node, diagnostics_);
    read_mesh(fields, query);
    if (const auto shape =
            keys == Keys::Whole ? fields.required("shape") : fields.optional("shape"))
      query.shape = read_shape(*shape);
    if (const auto spec = fields.required("spec"))
      read_entries(*spec, keys, query);
    for (const auto& [key, set] : {std::pair("unreduced", &query.spec.unreduced),
                                   std::pair("reduced", &query.spec.reduced)}) {
      if (const auto names = fields.optional(key)) {
        read_set(*names, key, *set, query);
        refuse_beside_open(query, *names, key,
                           names->kind() == DocumentNode::Kind::List && names->size() > 0);
      }
    }
    if (const auto kind = fields.optional("memory_kind"))
      query.memory_kind = read_text(*kind, "a kind of memory", diagnostics_);
    if (const auto ids = fields.optional("logical_device_ids")) {
      query.logical_device_ids = read_ids(*ids);
      refuse_beside_open(query, *ids, "logical_device_ids", true);
    }
    if (keys == Keys::Whole) {
      for (const auto& [key, flag] :
           {std::pair("repr", &query.repr), std::pair("corrected", &query.corrected)}) {
        if (const auto asked = fields.optional(key)) {
          *flag = read_boolean(*asked, diagnostics_).value_or(false);
          refuse_beside_open(query, *asked, key, *flag);
        }
      }
    }
    fields.finish();
    return query;
  }

  size_t read_rank(Fields& fields) {
    constexpr IntegerRange kRanks = {0, int64_t{kMostDimensions}};
    const auto node = fields.required("ndim");
    return static_cast<size_t>(
        node ? read_integer(*node, "a rank", kRanks, diagnostics_).value_or(0) : 0);
  }

  void read_entries(DocumentNode node, Keys keys, ShardingQuery& query) {
    query.open_spec =
        keys == Keys::Whole && node.kind() == DocumentNode::Kind::Text && node.text() == "AUTO";
    if (query.open_spec ||
        !is_list(node,
                 keys == Keys::Whole
                     ? "a list with null, an axis name or a list of them per dimension, or \"AUTO\""
                     : "a list with null, an axis name or a list of them per dimension",
                 diagnostics_))
      return;
    const auto is_open = [](DocumentNode item) {
      return item.kind() == DocumentNode::Kind::Text && item.text() == "UNCONSTRAINED";
    };
    for (const DocumentNode entry : node) {
      const size_t dimension = query.spec.dims.size();
      std::vector<std::string>& axes = query.spec.dims.emplace_back();
      // A list of one is its item.
      const bool alone = entry.kind() == DocumentNode::Kind::List && entry.size() == 1;
      if (is_open(alone ? *entry.first() : entry)) {
        query.spec.unconstrained.insert(dimension);
      } else if (entry.kind() == DocumentNode::Kind::List) {
        if (alone && entry.first()->kind() == DocumentNode::Kind::Null)
          continue;
        for (const DocumentNode axis : entry)
          read_entry_axis(axis, dimension, axes, query);
      } else if (entry.kind() == DocumentNode::Kind::Text) {
        if (!entry.text().empty())
          axes.push_back(entry.text());
      } else if (entry.kind() != DocumentNode::Kind::Null) {
        expected(entry, "null, an axis name or a list of them", diagnostics_);
      }
    }
  }

 private:
  void read_axes(DocumentNode node, ShardingQuery& query) {
    if (!is_list(node, "a list of axes such as [\"x\", 4]", diagnostics_))
      return;
    if (node.size() > static_cast<size_t>(kMostMeshAxes))
      diagnostics_.add(node.origin(),
                       fmt::format("expected at most {} axes, got {}", kMostMeshAxes, node.size()));
    for (const DocumentNode axis : node) {
      if (axis.kind() != DocumentNode::Kind::List || axis.size() != 2) {
        expected(axis, "an axis such as [\"x\", 4]", diagnostics_);
        continue;
      }
      const DocumentNode name = *axis.first();
      const auto size = read_integer(*name.next(), "an axis size", {kLeast, kMost}, diagnostics_);
      if (name.kind() == DocumentNode::Kind::Null)
        refuse(query.mesh_error,
               fmt::format("expected a name for axis {}, got null", query.axes.size()));
      else if (name.kind() != DocumentNode::Kind::Text)
        expected(name, "an axis name", diagnostics_);
      query.axes.push_back(
          {name.kind() == DocumentNode::Kind::Text ? name.text() : "", size.value_or(1)});
    }
  }

  void read_types(DocumentNode node, ShardingQuery& query) {
    if (!is_list(node, "a list of axis types", diagnostics_))
      return;
    query.types.emplace();
    for (const DocumentNode item : node) {
      const auto word = read_text(item, "an axis type", diagnostics_);
      const auto type = word == "auto"       ? AxisType::Auto
                        : word == "explicit" ? AxisType::Explicit
                                             : AxisType::Manual;
      query.types->push_back(type);
      if (word && type == AxisType::Manual && word != "manual")
        refuse(query.mesh_error,
               fmt::format("expected the type auto, explicit or manual for axis {}, got {}",
                           query.types->size() - 1, in_quotes(*word)));
    }
  }

  /// Refuses a key that asks for something where all dimensions are open.
  void refuse_beside_open(const ShardingQuery& query, DocumentNode node, std::string_view key,
                          bool asks) {
    if (query.open_spec && asks)
      diagnostics_.add(node.key_origin(),
                       fmt::format("expected no {} beside the spec AUTO, which only sdy answers",
                                   in_quotes(key)));
  }

  std::optional<Shape> read_shape(DocumentNode node) {
    auto dims = read_integers(node, "an extent", {0, kMost}, diagnostics_);
    if (dims && dims->size() > kMostDimensions) {
      diagnostics_.add(node.origin(), fmt::format("expected at most {} dimensions, got {}",
                                                  kMostDimensions, dims->size()));
      return std::nullopt;
    }
    return dims ? std::optional(Shape(std::move(*dims))) : std::nullopt;
  }

  void read_entry_axis(DocumentNode axis, size_t dimension, std::vector<std::string>& axes,
                       ShardingQuery& query) {
    if (axis.kind() == DocumentNode::Kind::Text)
      axes.push_back(axis.text());
    else if (axis.kind() == DocumentNode::Kind::List)
      refuse(query.spec_error,
             fmt::format("dimension {}: expected axis names in the list, got a list", dimension));
    else if (axis.kind() == DocumentNode::Kind::Null)
      refuse(
          query.sharding_error,
          fmt::format("dimension {}: expected axes of the mesh in the list, got null", dimension));
    else
      expected(axis, "an axis name", diagnostics_);
  }

  void read_set(DocumentNode node, std::string_view key, std::set<std::string>& set,
                ShardingQuery& query) {
    if (!is_list(node, "a list of axis names", diagnostics_))
      return;
    for (const DocumentNode axis : node) {
      if (axis.kind() == DocumentNode::Kind::Null)
        refuse(query.spec_error, fmt::format("{}: expected axis names, got null", key));
      else if (const auto name = read_text(axis, "an axis name", diagnostics_))
        set.insert(*name);
    }
  }

  std::vector<LogicalId> read_ids(DocumentNode node) {
    constexpr IntegerRange kIds = {0, int64_t{std::numeric_limits<uint32_t>::max()}};
    const auto numbers = read_integers(node, "a device's place in the mesh", kIds, diagnostics_);
    std::vector<LogicalId> ids;
    for (const int64_t number : numbers.value_or(std::vector<int64_t>()))
      ids.emplace_back(static_cast<size_t>(number));
    return ids;
  }

  /// Keeps the first error.
  static void refuse(std::optional<std::string>& kept, std::string message) {
    if (!kept)
      kept = std::move(message);
  }

  Diagnostics& diagnostics_;
};

/// Makes the mesh. Throws ShardingError.
DeviceMesh mesh_of(const ShardingQuery& query, const Limits& limits) {
  if (query.mesh_error)
    throw ShardingError(ShardingStage::Mesh, *query.mesh_error);
  DeviceMesh mesh(query.axes, query.types, query.devices);
  if (mesh.axes().devices() > limits.devices)
    throw ShardingError(ShardingStage::Mesh,
                        beyond(limits, &Limits::devices, int64_t{mesh.axes().devices()}));
  return mesh;
}

/// Throws ShardingError if the spec is one of no mesh.
void check_spec(const ShardingQuery& query) {
  if (query.spec_error)
    throw ShardingError(ShardingStage::Spec, *query.spec_error);
  check_places(query.spec);
  if (query.sharding_error)
    throw ShardingError(ShardingStage::Sharding, *query.sharding_error);
}

/// Makes the parts of the sharding. Throws ShardingError.
ShardingParts parts_of(const ShardingQuery& query, const Limits& limits) {
  DeviceMesh mesh = mesh_of(query, limits);
  check_spec(query);
  return {std::move(mesh), query.spec, query.memory_kind, query.logical_device_ids};
}

/// Adds the members that `add` makes. Returns the error in the place of those that it cannot make.
template <class Add>
std::optional<ShardingError> error_of(const Add& add) {
  try {
    add();
  } catch (const ShardingError& error) {
    return error;
  }
  return std::nullopt;
}

std::string slice_json(std::span<const Interval> slice) {
  std::string text;
  for (const Interval& each : slice)
    fmt::format_to(std::back_inserter(text), "{}[{}, {}]", text.empty() ? "" : ", ", each.begin,
                   each.end);
  return "[" + text + "]";
}

void add_shards(const std::vector<Shard>& shards, AnswerLine& answer) {
  std::string index = "{";
  std::string replicas = "{";
  for (const Shard& shard : shards) {
    const std::string_view between = index.size() > 1 ? ", " : "";
    fmt::format_to(std::back_inserter(index), "{}\"{}\": {}", between, shard.device,
                   slice_json(shard.slice));
    fmt::format_to(std::back_inserter(replicas), "{}\"{}\": {}", between, shard.device,
                   shard.replica);
  }
  answer.add("index", index + "}");
  answer.add("replica_ids", replicas + "}");
}

/// Adds what the sharding means for the shape. Throws the first error after all that there is.
void add_sharding(const NamedSharding& sharding, const ShardingQuery& query, AnswerLine& answer) {
  const size_t rank = query.shape->rank();
  std::optional<ShardingError> error = error_of([&] {
    answer.add("shard_shape",
               fmt::format("[{}]", fmt::join(sharding.shard_shape(*query.shape).dims(), ", ")));
    add_shards(sharding.shards(*query.shape), answer);
  });
  const std::optional<ShardingError> no_hlo = error_of([&] {
    const HloSharding hlo = sharding.hlo_sharding(rank);
    answer.add_text("hlo", hlo.text());
    answer.add_text("hlo_v1", hlo.text_v1());
  });
  const std::optional<ShardingError> no_sdy = error_of([&] {
    answer.add_text("sdy", sharding.sdy_sharding(rank).text());
    answer.add_text("sdy_modified", sharding.typed_sdy_sharding(rank).text());
  });
  answer.add_flag("fully_replicated", sharding.is_fully_replicated());
  if (query.repr)
    answer.add_text("repr", sharding.repr());
  if (error)
    throw ShardingError(*error);
}

/// Returns the corrected spec. Throws ShardingError as the sharding of these parts with its entries
/// does: what it drops is checked too.
PartitionSpec corrected_spec(const ShardingParts& parts, const Shape& shape) {
  const NamedSharding fit = corrected_sharding(shape, parts.spec, parts.mesh);
  (void)fit.update([&](ShardingParts& all) {
    all.spec.unreduced = parts.spec.unreduced;
    all.spec.reduced = parts.spec.reduced;
    all.logical_device_ids = parts.logical_device_ids;
  });
  return fit.parts().spec;
}

void answer_sharding(const ShardingQuery& query, const Limits& limits, AnswerLine& answer) {
  if (query.open_spec) {
    (void)mesh_of(query, limits);
    answer.add_text("sdy", open_array(query.shape->rank()).text());
    return;
  }
  ShardingParts parts = parts_of(query, limits);
  if (query.corrected)
    answer.add("spec", spec_json(corrected_spec(parts, *query.shape)));
  else
    add_sharding(NamedSharding(std::move(parts)), query, answer);
}

/// Makes the sharding of one of two queries. Its place in the line stands before its errors.
NamedSharding one_of_pair(const ShardingQuery& query, const Limits& limits, size_t rank,
                          size_t place) {
  try {
    NamedSharding sharding(parts_of(query, limits));
    (void)sharding.hlo_sharding(rank);
    return sharding;
  } catch (const ShardingError& error) {
    throw ShardingError(error.stage(), fmt::format("/equivalent/{}: {}", place, error.what()));
  }
}

/// Throws ShardingError of stage Hlo unless the text is that of the spec on the mesh, whose axes
/// have types.
void check_text(const std::string& hlo, const DeviceMesh& mesh, const PartitionSpec& spec,
                size_t rank) {
  std::optional<HloSharding> typed;
  const std::optional<ShardingError> none = error_of([&] {
    typed = NamedSharding({mesh, spec}).hlo_sharding(rank);
  });
  if (none)
    throw ShardingError(ShardingStage::Hlo, none->what());
  if (!(*typed == HloSharding::parse(hlo)))
    throw ShardingError(ShardingStage::Hlo,
                        fmt::format("expected {} for {} on {}, got {}", in_quotes(typed->text()),
                                    spec.text(), mesh.text(), in_quotes(hlo)));
}

void answer_object(DocumentNode root, const Limits& limits, Diagnostics& diagnostics,
                   AnswerLine& answer) {
  QueryReader reader(diagnostics);
  if (root.find("equivalent")) {
    Fields fields(root, diagnostics);
    const DocumentNode pair = *fields.required("equivalent");
    const size_t rank = reader.read_rank(fields);
    std::vector<ShardingQuery> queries;
    if (pair.kind() != DocumentNode::Kind::List || pair.size() != 2)
      expected(pair, "a list of two queries", diagnostics);
    else
      for (const DocumentNode each : pair)
        if (is_object(each, "an object with a mesh and a spec", diagnostics))
          queries.push_back(reader.read_sharding(each, Keys::OfPair));
    fields.finish();
    diagnostics.throw_if_any();
    const NamedSharding a = one_of_pair(queries[0], limits, rank, 0);
    const NamedSharding b = one_of_pair(queries[1], limits, rank, 1);
    answer.add_flag("equivalent", a.is_equivalent_to(b, rank));
    answer.add_flag("equal", a == b);
  } else if (root.find("hlo")) {
    Fields fields(root, diagnostics);
    ShardingQuery query;
    const auto hlo = read_text(*fields.required("hlo"), "an HLO sharding", diagnostics);
    reader.read_mesh(fields, query);
    const size_t rank = reader.read_rank(fields);
    fields.finish();
    diagnostics.throw_if_any();
    const DeviceMesh mesh = mesh_of(query, limits);
    const PartitionSpec spec = spec_of_hlo(*hlo, mesh.axes(), rank);
    if (query.types)
      check_text(*hlo, mesh, spec, rank);
    answer.add("spec", spec_json(spec));
    answer.add("unreduced", names_json(std::vector(spec.unreduced.begin(), spec.unreduced.end())));
  } else {
    const ShardingQuery query = reader.read_sharding(root, Keys::Whole);
    diagnostics.throw_if_any();
    answer_sharding(query, limits, answer);
  }
}

/// Returns the first error of the line, with its place.
std::string message_of(const InputError& error) {
  const Diagnostic& first = error.diagnostics().front();
  std::string place = first.origin.at ? fmt::format("column {}: ", first.origin.at->column) : "";
  if (!first.origin.pointer.empty())
    place += first.origin.pointer + ": ";
  return place + first.message;
}

}  // namespace

ShardingAnswer answer_sharding_query(std::string_view line, const Limits& limits) {
  // An HLO text names each device, so it may be as long as its line.
  Limits of_line = limits;
  of_line.text = limits.file;
  AnswerLine answer;
  try {
    Diagnostics diagnostics("");
    const Document document(line, diagnostics, of_line, ControlCharacters::Refused, TextIs::Line);
    if (const auto root = document.root()) {
      if (is_object(*root, "a query, an object", diagnostics))
        answer_object(*root, limits, diagnostics, answer);
    }
    diagnostics.throw_if_any();
  } catch (const InputError& error) {
    AnswerLine refused;
    refused.add_error("query", message_of(error));
    return {std::move(refused).finished(), false};
  } catch (const ShardingError& error) {
    answer.add_error(name(error.stage()), error.what());
  }
  return {std::move(answer).finished(), true};
}

PartitionSpec read_spec_text(std::string_view json, std::string_view file, const Limits& limits) {
  Diagnostics diagnostics{std::string(file)};
  const Document document(json, diagnostics, limits, ControlCharacters::Refused, TextIs::Line);
  ShardingQuery query;
  if (const auto root = document.root())
    QueryReader(diagnostics).read_entries(*root, Keys::OfPair, query);
  diagnostics.throw_if_any();
  check_spec(query);
  return query.spec;
}

}  // namespace orrery
