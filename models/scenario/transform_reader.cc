#include "models/scenario/transform_reader.h"

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

Transform read_vjp(DocumentNode node, Diagnostics& diagnostics) {
  VjpRequest request;
  request.origin = node.origin();
  if (!is_object(node, "an object with \"of\" and \"with_respect_to\"", diagnostics))
    return request;
  Fields fields(node, diagnostics);
  if (const auto of = fields.required("of"))
    request.of = read_named(*of, "an id", diagnostics);
  if (const auto arguments = fields.required("with_respect_to"))
    request.with_respect_to = read_named(*arguments, "the name of an array", diagnostics);
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
    if (!is_object(item, "an object with \"vjp\"", diagnostics))
      return;
    Fields fields(item, diagnostics);
    if (const auto vjp = fields.required("vjp"))
      transforms.push_back(read_vjp(*vjp, diagnostics));
    fields.finish();
  };
  if (node.kind() == DocumentNode::Kind::List) {
    for (const DocumentNode item : node)
      read_one(item);
  } else {
    read_one(node);
  }
  return diagnostics.size() == before ? std::optional(std::move(transforms)) : std::nullopt;
}

std::set<std::string> brought_arrays(const std::vector<Transform>& transforms) {
  std::set<std::string> names;
  for (const Transform& transform : transforms)
    std::visit(Overloaded{[&](const VjpRequest& request) {
                 for (const NamedAt& of : request.of)
                   names.insert("ct_" + of.name);
               }},
               transform);
  return names;
}

Program transformed(Program program, Checks checks, const std::vector<Transform>& transforms,
                    Diagnostics& diagnostics) {
  for (const Transform& transform : transforms) {
    program = std::visit(Overloaded{[&](const VjpRequest& request) {
                           return vjp(program, checks, request, diagnostics);
                         }},
                         transform);
    if (!diagnostics.empty())
      break;
  }
  return program;
}

}  // namespace orrery
