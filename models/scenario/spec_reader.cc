#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/mesh/named_sharding.h"
#include "models/program/groups.h"
#include "models/scenario/placement.h"

namespace orrery {

namespace {

/// An entry of a spec: the value of one dimension, and the names in it.
struct SpecEntry {
  DocumentNode node;
  std::vector<DocumentNode> axes;  // texts
};

/// Returns the entries, of which no name is checked.
std::vector<SpecEntry> read_entries(DocumentNode node, Diagnostics& diagnostics) {
  std::vector<SpecEntry> entries;
  if (!is_list(node, "a list with null, an axis name or a list of them per dimension", diagnostics))
    return entries;
  for (const DocumentNode item : node) {
    SpecEntry& entry = entries.emplace_back(SpecEntry{item, {}});
    if (item.kind() == DocumentNode::Kind::Text) {
      entry.axes.push_back(item);
    } else if (item.kind() == DocumentNode::Kind::List) {
      for (const DocumentNode axis : item)
        if (read_text(axis, "an axis name", diagnostics))
          entry.axes.push_back(axis);
    } else if (item.kind() != DocumentNode::Kind::Null) {
      expected(item, "null, an axis name or a list of them", diagnostics);
    }
  }
  return entries;
}

/// Trailing dimensions that are not cut carry no information.
PartitionSpec without_trailing(PartitionSpec spec) {
  while (!spec.dims.empty() && spec.dims.back().empty())
    spec.dims.pop_back();
  return spec;
}

PartitionSpec unchecked_spec(const std::vector<SpecEntry>& entries) {
  PartitionSpec spec;
  for (const SpecEntry& entry : entries) {
    std::vector<std::string>& axes = spec.dims.emplace_back();
    for (const DocumentNode axis : entry.axes)
      axes.push_back(axis.text());
  }
  return spec;
}

/// Returns whether the entry leaves its dimension to a compiler.
bool is_open(const SpecEntry& entry, const Mesh& mesh) {
  constexpr std::string_view kOpen = "UNCONSTRAINED";
  // A list of one is its item.
  return entry.axes.size() == 1 && entry.axes[0].text() == kOpen && !mesh.axis(kOpen);
}

/// Returns the error of an axis of the entry, or nothing. Adds the axis to those used before.
std::optional<std::string> axis_error(const SpecEntry& entry, const std::string& axis,
                                      const Mesh& mesh, std::set<std::string>& used) {
  if (is_open(entry, mesh))
    return "expected an axis of type Auto in the mesh where a dimension is UNCONSTRAINED; the axes "
           "of a scenario's mesh are Manual";
  if (auto error = missing_axis_error(mesh, axis))
    return error;
  return repeated_axis_error(axis, used);
}

/// Makes the spec of the entries. Calls visit(node, dimension, axes) with the valid axes of each.
template <class Visit>
PartitionSpec checked_spec(const std::vector<SpecEntry>& entries, const Mesh& mesh, Visit visit,
                           Diagnostics& diagnostics) {
  PartitionSpec spec;
  std::set<std::string> used;
  for (const SpecEntry& entry : entries) {
    std::vector<std::string> axes;
    for (const DocumentNode node : entry.axes) {
      if (auto error = axis_error(entry, node.text(), mesh, used))
        diagnostics.add(node.origin(), std::move(*error));
      else
        axes.push_back(node.text());
    }
    visit(entry.node, spec.dims.size(), axes);
    spec.dims.push_back(std::move(axes));
  }
  return without_trailing(std::move(spec));
}

class CutReader {
 public:
  CutReader(Fields& fields, const UncutArray& array, Diagnostics& diagnostics)
      : fields_(fields), array_(array), diagnostics_(diagnostics) {}

  ArrayCut read() {
    const std::optional<DocumentNode> spec = fields_.optional("spec");
    const std::optional<DocumentNode> hlo = fields_.optional("hlo");
    const bool corrects = !array_.per_device && read_corrected(spec.has_value());
    if (spec && hlo) {
      diagnostics_.add(hlo->key_origin(), "expected \"spec\" or \"hlo\", got both");
      return {};
    }
    if (hlo)
      return {read_hlo(*hlo), {}, hlo, "hlo"};
    if (!spec)
      return {};
    return corrects ? read_to_correct(*spec) : ArrayCut{read_as_is(*spec), {}, spec, "spec"};
  }

 private:
  bool read_corrected(bool has_spec) {
    const std::optional<DocumentNode> node = fields_.optional("corrected");
    if (!node)
      return false;
    const bool corrects = read_boolean(*node, diagnostics_).value_or(false);
    if (corrects && !has_spec)
      diagnostics_.add(node->key_origin(), "expected \"spec\" too, which is corrected");
    return corrects;
  }

  PartitionSpec read_as_is(DocumentNode node) {
    if (array_.shape && node.kind() == DocumentNode::Kind::List)
      if (auto error = rank_error(node.size(), array_.shape->rank(), array_.shape->text())) {
        diagnostics_.add(node.origin(), std::move(*error));
        return {};
      }
    return checked(read_entries(node, diagnostics_));
  }

  ArrayCut read_to_correct(DocumentNode node) {
    std::vector<SpecEntry> entries = read_entries(node, diagnostics_);
    if (array_.mesh == nullptr || !array_.shape)
      return {};
    PartitionSpec given = unchecked_spec(entries);
    const PartitionSpec fit = corrected(given, *array_.shape, *array_.mesh);
    if (entries.size() > array_.shape->rank())
      entries.erase(entries.begin() + static_cast<int64_t>(array_.shape->rank()), entries.end());
    for (size_t d = 0; d < entries.size(); ++d)
      if (!is_open(entries[d], *array_.mesh) && (d >= fit.dims.size() || fit.dims[d].empty()))
        entries[d].axes.clear();
    return {checked(entries), without_trailing(std::move(given)), node, "spec"};
  }

  PartitionSpec read_hlo(DocumentNode node) {
    const auto text =
        read_text(node, "an HLO sharding such as \"{devices=[4,1]<=[4]}\"", diagnostics_);
    if (!text || array_.mesh == nullptr || !array_.shape)
      return {};
    try {
      PartitionSpec spec = spec_of_hlo(*text, *array_.mesh, array_.shape->rank());
      for (size_t d = 0; d < spec.dims.size(); ++d)
        check_entry(node, d, spec.dims[d]);
      if (array_.on)
        check_spanned(node, {spec.unreduced.begin(), spec.unreduced.end()}, *array_.mesh,
                      *array_.on, diagnostics_);
      return spec;
    } catch (const ShardingError& error) {
      diagnostics_.add(node.origin(), error.what());
      return {};
    }
  }

  PartitionSpec checked(const std::vector<SpecEntry>& entries) {
    if (array_.mesh == nullptr)
      return {};
    return checked_spec(
        entries, *array_.mesh,
        [&](DocumentNode node, size_t dimension, const std::vector<std::string>& axes) {
          check_entry(node, dimension, axes);
        },
        diagnostics_);
  }

  void check_entry(DocumentNode node, size_t dimension, const std::vector<std::string>& axes) {
    if (array_.shape && !array_.per_device)
      if (auto error = divisible_error(*array_.mesh, axes, dimension, (*array_.shape)[dimension]))
        diagnostics_.add(node.origin(), std::move(*error));
    if (array_.on)
      check_spanned(node, axes, *array_.mesh, *array_.on, diagnostics_);
  }

  Fields& fields_;
  const UncutArray& array_;
  Diagnostics& diagnostics_;
};

}  // namespace

PartitionSpec read_spec(DocumentNode node, const Mesh& mesh, Diagnostics& diagnostics) {
  return checked_spec(
      read_entries(node, diagnostics), mesh,
      [](DocumentNode, size_t, const std::vector<std::string>&) {}, diagnostics);
}

ArrayCut read_cut(Fields& fields, const UncutArray& array, Diagnostics& diagnostics) {
  return CutReader(fields, array, diagnostics).read();
}

void check_spanned(DocumentNode node, const std::vector<std::string>& axes, const Mesh& mesh,
                   const std::vector<LogicalId>& on, Diagnostics& diagnostics) {
  for (const std::string& axis : axes) {
    const std::array position = {*mesh.axis(axis)};
    for (const Group& group : groups_of(mesh, position, {}, on)) {
      const std::optional<LogicalId> missing = missing_member(group, on);
      if (!missing)
        continue;
      const LogicalId has = *std::find_first_of(group.begin(), group.end(), on.begin(), on.end());
      diagnostics.add(node.origin(),
                      fmt::format("expected an axis that the array's devices span whole, got "
                                  "{}: device {} has the array, device {} does not",
                                  in_quotes(axis), has.index(), missing->index()));
      break;
    }
  }
}

}  // namespace orrery
