#include "models/scenario/transform_reader.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/overloaded.h"
#include "models/scenario/fields.h"

namespace orrery {

namespace {

/// A list of names, or one name, each with its place.
std::vector<NamedAt> read_named(DocumentNode node, std::string_view what,
                                Diagnostics& diagnostics) {
  std::vector<NamedAt> named;
  const auto add = [&](DocumentNode item) {
    if (auto name = read_text(item, what, diagnostics))
      named.push_back({std::move(*name), item.origin()});
  };
  if (node.kind() != DocumentNode::Kind::List) {
    add(node);
    return named;
  }
  std::set<std::string> seen;
  for (const DocumentNode item : node) {
    add(item);
    if (!named.empty() && !seen.insert(named.back().name).second)
      diagnostics.add(item.origin(),
                      fmt::format("expected each name once, got {}", in_quotes(named.back().name)));
  }
  if (node.size() == 0)
    diagnostics.add(node.origin(), fmt::format("expected {} or more, got none", what));
  return named;
}

/// What transforms that go back have.
template <class Request>
Request read_cotangents(DocumentNode node, Fields& fields, Diagnostics& diagnostics) {
  Request request;
  request.origin = node.origin();
  if (const auto of = fields.required("of"))
    request.of = read_named(*of, "an id", diagnostics);
  if (const auto arguments = fields.required("with_respect_to"))
    request.with_respect_to = read_named(*arguments, "the name of an array", diagnostics);
  return request;
}

constexpr const char* kCotangents = "an object with \"of\" and \"with_respect_to\"";

Transform read_transpose(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, kCotangents, diagnostics))
    return TransposeRequest();
  Fields fields(node, diagnostics);
  auto request = read_cotangents<TransposeRequest>(node, fields, diagnostics);
  fields.finish();
  return request;
}

Transform read_vjp(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, kCotangents, diagnostics))
    return VjpRequest();
  Fields fields(node, diagnostics);
  auto request = read_cotangents<VjpRequest>(node, fields, diagnostics);
  if (const auto recompute = fields.optional("recompute")) {
    if (recompute->kind() == DocumentNode::Kind::Text && recompute->text() == "all")
      request.recompute_all = true;
    else
      request.recompute = read_named(*recompute, "an id", diagnostics);
  }
  if (const auto overlap = fields.optional("overlap"))
    request.overlap = read_boolean(*overlap, diagnostics).value_or(false);
  fields.finish();
  return request;
}

}  // namespace

std::optional<std::vector<Transform>> read_transforms(DocumentNode node, Diagnostics& diagnostics) {
  const size_t before = diagnostics.size();
  std::vector<Transform> transforms;
  const auto read_one = [&](DocumentNode item) {
    constexpr const char* kOne = "an object with \"transpose\" or \"vjp\"";
    if (!is_object(item, kOne, diagnostics))
      return;
    Fields fields(item, diagnostics);
    const std::optional<DocumentNode> transposed = fields.optional("transpose");
    const std::optional<DocumentNode> differentiated = fields.optional("vjp");
    fields.finish();
    if (transposed.has_value() == differentiated.has_value())
      diagnostics.add(item.origin(),
                      fmt::format("expected {}, got {}", kOne, transposed ? "both" : "neither"));
    else if (transposed)
      transforms.push_back(read_transpose(*transposed, diagnostics));
    else
      transforms.push_back(read_vjp(*differentiated, diagnostics));
  };
  if (node.kind() == DocumentNode::Kind::List) {
    for (const DocumentNode item : node)
      read_one(item);
  } else {
    read_one(node);
  }
  return diagnostics.size() == before ? std::optional(std::move(transforms)) : std::nullopt;
}

std::map<std::string, Origin> brought_arrays(const std::vector<Transform>& transforms) {
  std::map<std::string, Origin> names;
  for (const Transform& transform : transforms)
    std::visit(
        [&](const auto& request) {
          for (const NamedAt& of : request.of)
            names.emplace("ct_" + of.name, of.origin);
        },
        transform);
  return names;
}

Program transformed(Program program, Checks checks, const std::vector<Transform>& transforms,
                    Diagnostics& diagnostics) {
  for (const Transform& transform : transforms) {
    program = std::visit(Overloaded{[&](const TransposeRequest& request) {
                                      return transpose(program, checks, request, diagnostics);
                                    },
                                    [&](const VjpRequest& request) {
                                      return vjp(program, checks, request, diagnostics);
                                    }},
                         transform);
    if (!diagnostics.empty())
      break;
  }
  return program;
}

}  // namespace orrery
