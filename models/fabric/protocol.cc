#include "models/fabric/protocol.h"

#include <array>

#include "models/base/compiler.h"

namespace orrery {
namespace {

struct Form {
  std::string_view name;
  std::string_view key;
  DataShare share;
};
constexpr std::array<Form, 3> kProtocols = {
    {{"Simple", "simple", {1, 1}}, {"LL", "ll", {1, 2}}, {"LL128", "ll128", {15, 16}}}};

std::optional<Protocol> with(std::string_view Form::*spelling, std::string_view text) {
  for (size_t i = 0; i < kProtocols.size(); ++i)
    if (kProtocols[i].*spelling == text)
      return static_cast<Protocol>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].name;
}

std::optional<Protocol> protocol_named(std::string_view text) {
  return with(&Form::name, text);
}

std::string_view key_of(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].key;
}

std::optional<Protocol> protocol_of_key(std::string_view text) {
  return with(&Form::key, text);
}

std::vector<std::string_view> protocol_keys() {
  std::vector<std::string_view> keys;
  for (const Form& form : kProtocols)
    keys.push_back(form.key);
  return keys;
}

Bytes on_wire(Bytes data, DataShare share) {
  if (share.data == share.wire)
    return data;
  return Bytes(checked_narrow(ceil_divide(Int128{data.count()} * share.wire, Int128{share.data})));
}

DataShare data_share(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].share;
}

}  // namespace orrery
