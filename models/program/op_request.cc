#include "models/program/op_request.h"

#include <utility>

#include <fmt/format.h>

#include "models/program/rules.h"

namespace orrery {

namespace {

constexpr std::string_view kRendezvous = "rendezvous";

std::optional<std::string> take_text(Attributes& attributes, std::string_view name) {
  std::optional<Attribute> text = attributes.take(name);
  return text ? std::optional(std::get<std::string>(std::move(*text))) : std::nullopt;
}

std::optional<uint32_t> take_number(Attributes& attributes, std::string_view name) {
  const std::optional<Attribute> number = attributes.take(name);
  return number ? std::optional(static_cast<uint32_t>(std::get<int64_t>(*number))) : std::nullopt;
}

}  // namespace

Origin OpRequest::key_origin(std::string_view key) const {
  const auto known = key_origins.find(key);
  if (known != key_origins.end())
    return known->second;
  Origin whole = origin_of(name, origin);
  if (!key.empty() && pass == Pass::Forward)
    whole.pointer += fmt::format("/{}", key);
  return whole;
}

Origin OpRequest::result_origin(size_t result) const {
  const auto listed = key_origins.find(fmt::format("id/{}", result));
  return listed != key_origins.end() ? listed->second : key_origin("id");
}

Hints take_hints(Attributes& attributes) {
  return {take_text(attributes, "algorithm"),
          take_text(attributes, "protocol"),
          take_number(attributes, "channels"),
          take_number(attributes, "slots"),
          take_text(attributes, "entry") == kRendezvous ? Entry::Rendezvous : Entry::Eager,
          take_number(attributes, "stream").value_or(0)};
}

Attributes with_hints(Attributes written, OpKind kind, const Hints& hints) {
  const OpRules& rules = orrery::rules(kind);
  if (rules.family != Family::Collective)
    return written;
  if (hints.algorithm)
    written.set("algorithm", *hints.algorithm);
  if (hints.protocol)
    written.set("protocol", *hints.protocol);
  if (hints.channels)
    written.set("channels", int64_t{*hints.channels});
  if (hints.slots)
    written.set("slots", int64_t{*hints.slots});
  if (rules.form.side != Side::Receives)
    written.set("entry", std::string(hints.entry == Entry::Eager ? "eager" : kRendezvous));
  written.set("stream", int64_t{hints.stream});
  return written;
}

Origin origin_of(std::string_view name, const std::optional<Origin>& origin) {
  return origin ? *origin : Origin{fmt::format("/{}", name)};
}

}  // namespace orrery
