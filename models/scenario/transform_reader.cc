#include "models/scenario/transform_reader.h"

#include <array>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/callable.h"
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

/// {"x": 0, "y": null}
std::vector<BatchAxis> read_batch_axes(DocumentNode node, Diagnostics& diagnostics) {
  std::vector<BatchAxis> axes;
  if (!is_object(node, "an object with a dimension or null for each name", diagnostics))
    return axes;
  for (const DocumentNode member : node) {
    BatchAxis axis{{member.key(), member.origin()}, std::nullopt};
    if (member.kind() != DocumentNode::Kind::Null)
      axis.dimension = read_integer(member, "a dimension or null",
                                    {0, std::numeric_limits<int64_t>::max()}, diagnostics);
    axes.push_back(std::move(axis));
  }
  return axes;
}

Transform read_batch(DocumentNode node, Diagnostics& diagnostics) {
  BatchRequest request;
  request.origin = node.origin();
  if (!is_object(node, "an object with \"size\", \"axis_name\", \"in_axes\", \"out_axes\"",
                 diagnostics))
    return request;
  Fields fields(node, diagnostics);
  if (const auto size = fields.optional("size"))
    request.size = read_integer(*size, "the size of the batch",
                                {1, std::numeric_limits<int64_t>::max()}, diagnostics);
  if (const auto axis = fields.optional("axis_name"))
    if (auto name = read_text(*axis, "an axis name", diagnostics)) {
      if (name->empty())
        diagnostics.add(axis->origin(), "expected an axis name that is not empty");
      request.axis_name = {std::move(*name), axis->origin()};
    }
  if (const auto axes = fields.optional("in_axes"))
    request.in_axes = read_batch_axes(*axes, diagnostics);
  if (const auto axes = fields.optional("out_axes"))
    request.out_axes = read_batch_axes(*axes, diagnostics);
  fields.finish();
  return request;
}

}  // namespace

std::optional<std::vector<Transform>> read_transforms(DocumentNode node, Diagnostics& diagnostics) {
  const size_t before = diagnostics.size();
  std::vector<Transform> transforms;
  const auto read_one = [&](DocumentNode item) {
    constexpr const char* kOne = "an object with \"batch\", \"transpose\" or \"vjp\"";
    if (!is_object(item, kOne, diagnostics))
      return;
    using Reader = Transform (*)(DocumentNode, Diagnostics&);
    constexpr std::array<std::pair<const char*, Reader>, 3> kReaders = {
        {{"batch", read_batch}, {"transpose", read_transpose}, {"vjp", read_vjp}}};
    Fields fields(item, diagnostics);
    std::vector<std::pair<DocumentNode, Reader>> given;
    for (const auto& [key, reader] : kReaders)
      if (const auto transform = fields.optional(key))
        given.emplace_back(*transform, reader);
    fields.finish();
    if (given.size() == 1)
      transforms.push_back(given.front().second(given.front().first, diagnostics));
    else
      diagnostics.add(item.origin(),
                      fmt::format("expected {}, got {}", kOne, given.empty() ? "none" : "several"));
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
    std::visit(Overloaded{[](const BatchRequest&) {},
                          [&](const auto& request) {
                            for (const NamedAt& of : request.of)
                              names.emplace("ct_" + of.name, of.origin);
                          }},
               transform);
  return names;
}

Program transformed(Program program, Checks checks, const std::vector<Transform>& transforms,
                    Diagnostics& diagnostics) {
  for (const Transform& transform : transforms) {
    program = std::visit(Overloaded{[&](const BatchRequest& request) {
                                      return batch(program, checks, request, diagnostics);
                                    },
                                    [&](const TransposeRequest& request) {
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
