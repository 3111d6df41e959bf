#pragma once

// These write the parameters of ops as a scenario has them, and the numbers and lists in them.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/program/attributes.h"
#include "models/scenario/json_text.h"

namespace orrery {

JsonText integer_text(int64_t value);
/// Writes a number, or "Infinity", "-Infinity", "NaN", or a pair of them.
JsonText number_text(double value);
JsonText number_text(const NumberOrPair& value);
JsonText names_text(const std::vector<std::string>& names);
/// Writes a single name by itself, and several as a list.
JsonText name_or_names_text(const std::vector<std::string>& names);
JsonText integers_text(std::span<const int64_t> values);

template <class Items, class Write>
JsonText list_text(const Items& items, Write write) {
  std::vector<JsonText> texts;
  for (const auto& item : items)
    texts.push_back(write(item));
  return JsonText::list(std::move(texts));
}

JsonText attribute_text(const Attribute& attribute, ParameterKind kind);

/// Returns the keys of an mpmd_map that are its own, with their values.
std::vector<std::pair<std::string, JsonText>> core_map_members(const CoreMap& map);

}  // namespace orrery
