// This answers queries about shardings.

#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/mesh/named_sharding.h"
#include "models/program/value.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/query_reader.h"

namespace orrery {

namespace {

/// The mesh and the spec of a query, and what its keys ask for.
struct ShardingQuery {
  QueryMesh mesh;
  QuerySpec spec;
  std::optional<Shape> shape;
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
  QueryMesh read_mesh(Fields& fields) {
    QueryMesh mesh = read_query_mesh(fields, diagnostics_);
    if (const auto node = fields.optional("abstract"))
      mesh.devices.abstract = read_boolean(*node, diagnostics_).value_or(false);
    return mesh;
  }

  ShardingQuery read_sharding(DocumentNode node, Keys keys) {
    ShardingQuery query;
    Fields fields(node, diagnostics_);
    query.mesh = read_mesh(fields);
    if (const auto shape =
            keys == Keys::Whole ? fields.required("shape") : fields.optional("shape"))
      query.shape = read_query_shape(*shape, diagnostics_);
    if (const auto spec = fields.required("spec"))
      read_spec(*spec, keys, query);
    for (const std::string_view key : {"unreduced", "reduced"})
      if (const auto names = read_query_set(fields, key, query.spec, diagnostics_))
        refuse_beside_open(query, *names, key,
                           names->kind() == DocumentNode::Kind::List && names->size() > 0);
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

 private:
  void read_spec(DocumentNode node, Keys keys, ShardingQuery& query) {
    query.open_spec =
        keys == Keys::Whole && node.kind() == DocumentNode::Kind::Text && node.text() == "AUTO";
    if (!query.open_spec)
      query.spec = read_query_spec(
          node, fmt::format("{}{}", kSpecEntries, keys == Keys::Whole ? ", or \"AUTO\"" : ""),
          diagnostics_);
  }

  /// Refuses a key that asks for something where all dimensions are open.
  void refuse_beside_open(const ShardingQuery& query, DocumentNode node, std::string_view key,
                          bool asks) {
    if (query.open_spec && asks)
      diagnostics_.add(node.key_origin(),
                       fmt::format("expected no {} beside the spec AUTO, which only sdy answers",
                                   in_quotes(key)));
  }

  std::vector<LogicalId> read_ids(DocumentNode node) {
    constexpr IntegerRange kIds = {0, int64_t{std::numeric_limits<uint32_t>::max()}};
    const auto numbers = read_integers(node, "a device's place in the mesh", kIds, diagnostics_);
    std::vector<LogicalId> ids;
    for (const int64_t number : numbers.value_or(std::vector<int64_t>()))
      ids.emplace_back(static_cast<size_t>(number));
    return ids;
  }

  Diagnostics& diagnostics_;
};

/// Makes the parts of the sharding. Throws ShardingError.
ShardingParts parts_of(const ShardingQuery& query, const Limits& limits) {
  DeviceMesh mesh = query.mesh.made(limits);
  query.spec.check();
  return {std::move(mesh), query.spec.spec, query.memory_kind, query.logical_device_ids};
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
    answer.add("shard_shape", integers_json(sharding.shard_shape(*query.shape).dims()));
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
    (void)query.mesh.made(limits);
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
    const auto hlo = read_text(*fields.required("hlo"), "an HLO sharding", diagnostics);
    const QueryMesh read = reader.read_mesh(fields);
    const size_t rank = reader.read_rank(fields);
    fields.finish();
    diagnostics.throw_if_any();
    const DeviceMesh mesh = read.made(limits);
    const PartitionSpec spec = spec_of_hlo(*hlo, mesh.axes(), rank);
    if (read.types)
      check_text(*hlo, mesh, spec, rank);
    answer.add("spec", spec_json(spec));
    answer.add("unreduced", names_json(std::vector(spec.unreduced.begin(), spec.unreduced.end())));
  } else {
    const ShardingQuery query = reader.read_sharding(root, Keys::Whole);
    diagnostics.throw_if_any();
    answer_sharding(query, limits, answer);
  }
}

}  // namespace

QueryAnswer answer_sharding_query(std::string_view line, const Limits& limits) {
  // An HLO text names each device, so it may be as long as its line.
  Limits of_line = limits;
  of_line.text = limits.file;
  return answered(
      line, of_line,
      [&](DocumentNode root, Diagnostics& diagnostics, AnswerLine& answer) {
        answer_object(root, limits, diagnostics, answer);
      },
      [](std::string_view stage, std::string_view message) {
        return fmt::format("{{\"stage\": {}, \"message\": {}}}", text_json(stage),
                           text_json(message));
      });
}

PartitionSpec read_spec_text(std::string_view json, std::string_view file, const Limits& limits) {
  Diagnostics diagnostics{std::string(file)};
  const Document document(json, diagnostics, limits, ControlCharacters::Refused, TextIs::Line);
  QuerySpec query;
  if (const auto root = document.root())
    query = read_query_spec(*root, kSpecEntries, diagnostics);
  diagnostics.throw_if_any();
  query.check();
  return query.spec;
}

}  // namespace orrery
