#include "models/scenario/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "models/array/arith.h"
#include "models/base/check.h"
#include "models/scenario/syntax.h"

namespace orrery {

namespace {

// An object with more unknown keys is no scenario with typos, and a message for each is no help.
constexpr size_t kMostUnknownKeys = 20;

std::string cut(std::string_view digits) {
  constexpr size_t kLongest = 40;
  return digits.size() <= kLongest ? std::string(digits)
                                   : std::string(digits.substr(0, kLongest)) + "...";
}

enum class Fit : uint8_t { No, Rounded, Exact };

/// Returns whether `digits` is an integer of this type, and whether `value` converts to it exactly.
template <class Int>
Fit fit(std::string_view digits, double value) {
  Int whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (error != std::errc() || end != digits.data() + digits.size())
    return Fit::No;
  return arith::truncate<Int>(value) == whole ? Fit::Exact : Fit::Rounded;
}

/// Returns the amount read at `node`, if it was read and lies in the range.
std::optional<int64_t> within(DocumentNode node, const QuantityReading& reading,
                              Dimension dimension, QuantityRange range, Diagnostics& diagnostics) {
  if (!reading.count)
    diagnostics.add(node.origin(), reading.error);
  else if (*reading.count < range.least)
    expected(node, "at least " + quantity_text(range.least, dimension), diagnostics);
  else if (*reading.count > range.most)
    expected(node, "at most " + quantity_text(range.most, dimension), diagnostics);
  else
    return reading.count;
  return std::nullopt;
}

/// Returns whether `text` is `key` followed by `suffix`.
bool is_joined(std::string_view text, std::string_view key, std::string_view suffix) {
  return text.size() == key.size() + suffix.size() && text.substr(0, key.size()) == key &&
         text.substr(key.size()) == suffix;
}

std::optional<DocumentNode> find_suffixed(DocumentNode object, std::string_view key,
                                          const QuantityUnit& unit) {
  for (const DocumentNode member : object)
    if (is_joined(member.key(), key, unit.suffix))
      return member;
  return std::nullopt;
}

/// Returns whether a key of the object is `key` with more behind it. Few are.
bool has_longer(DocumentNode object, std::string_view key) {
  for (const DocumentNode member : object)
    if (const std::string& longer = member.key();
        longer.size() > key.size() && longer.starts_with(key))
      return true;
  return false;
}

/// Returns whether the value is a number with an exponent: 1e3.
bool has_exponent(DocumentNode node) {
  return node.kind() == DocumentNode::Kind::Number &&
         node.number().find_first_of("eE") != std::string_view::npos;
}

enum class Beyond : uint8_t { No, Below, Above };
/// Returns whether the value is a whole number that 64 bits cannot hold.
Beyond beyond_64_bits(DocumentNode node) {
  if (node.kind() != DocumentNode::Kind::Number)
    return Beyond::No;
  const std::string_view digits = node.number();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc::result_out_of_range || end != digits.data() + digits.size())
    return Beyond::No;
  return digits.starts_with('-') ? Beyond::Below : Beyond::Above;
}

/// Returns the range that a value is not in, or only the end that it exceeds: " of at least 1".
std::string range_text(DocumentNode node, IntegerRange range) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (range.high < kMost)
    return fmt::format(" from {} to {}", range.low, range.high);
  const Beyond beyond = beyond_64_bits(node);
  if (beyond == Beyond::Above)
    return fmt::format(" of at most {}", range.high);
  return range.low == kLeast && beyond == Beyond::No ? ""
                                                     : fmt::format(" of at least {}", range.low);
}

}  // namespace

std::string got(DocumentNode node) {
  switch (node.kind()) {
    case DocumentNode::Kind::Null:
      return "null";
    case DocumentNode::Kind::Boolean:
      return node.boolean() ? "true" : "false";
    case DocumentNode::Kind::Number:
      return cut(node.number());
    case DocumentNode::Kind::Text:
      return in_quotes(node.text());
    case DocumentNode::Kind::List:
      return "a list";
    case DocumentNode::Kind::Object:
      break;
  }
  return "an object";
}

void expected(DocumentNode node, std::string_view what, Diagnostics& diagnostics) {
  diagnostics.add(node.origin(), fmt::format("expected {}, got {}", what, got(node)));
}

std::optional<std::string> read_text(DocumentNode node, std::string_view what,
                                     Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::Text) {
    expected(node, what, diagnostics);
    return std::nullopt;
  }
  return node.text();
}

std::optional<std::string_view> read_word(DocumentNode node,
                                          const std::vector<std::string_view>& words,
                                          Diagnostics& diagnostics) {
  const bool is_text = node.kind() == DocumentNode::Kind::Text;
  if (is_text)
    for (const std::string_view word : words)
      if (node.text() == word)
        return word;
  std::string all;
  for (size_t i = 0; i < words.size(); ++i)
    all += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  diagnostics.add(node.origin(), fmt::format("expected {}, got {}{}", all, got(node),
                                             is_text ? did_you_mean(node.text(), words) : ""));
  return std::nullopt;
}

std::optional<bool> read_boolean(DocumentNode node, Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::Boolean) {
    expected(node, "true or false", diagnostics);
    return std::nullopt;
  }
  return node.boolean();
}

std::optional<int64_t> read_integer(DocumentNode node, std::string_view what, IntegerRange range,
                                    Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Number) {
    const std::string_view digits = node.number();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size() && value >= range.low &&
        value <= range.high)
      return value;
  }
  diagnostics.add(node.origin(),
                  fmt::format("expected {}{}, got {}{}", what, range_text(node, range), got(node),
                              has_exponent(node) ? "; write it without an exponent" : ""));
  return std::nullopt;
}

std::optional<double> read_number(DocumentNode node, Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Text) {
    if (node.text() == "Infinity")
      return std::numeric_limits<double>::infinity();
    if (node.text() == "-Infinity")
      return -std::numeric_limits<double>::infinity();
    if (node.text() == "NaN")
      return std::numeric_limits<double>::quiet_NaN();
  }
  if (node.kind() != DocumentNode::Kind::Number) {
    const std::string_view word = node.kind() == DocumentNode::Kind::Text
                                      ? not_finite_named(node.text())
                                      : std::string_view();
    diagnostics.add(
        node.origin(),
        fmt::format("expected a number, \"Infinity\", \"-Infinity\" or \"NaN\", got {}{}",
                    got(node), word.empty() ? "" : fmt::format("; did you mean \"{}\"?", word)));
    return std::nullopt;
  }
  const std::string_view digits = node.number();
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    expected(node, "a number that 64 bits can hold", diagnostics);
    return std::nullopt;
  }
  if (std::max(fit<int64_t>(digits, value), fit<uint64_t>(digits, value)) == Fit::Rounded) {
    expected(node, "a whole number that a 64-bit float holds exactly, such as those up to 2^53",
             diagnostics);
    return std::nullopt;
  }
  return value;
}

std::optional<NumberOrPair> read_number_or_pair(DocumentNode node, Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::List) {
    const std::optional<double> value = read_number(node, diagnostics);
    return value ? std::optional<NumberOrPair>(*value) : std::nullopt;
  }
  if (node.size() != 2) {
    diagnostics.add(
        node.origin(),
        fmt::format("expected a number or [real part, imaginary part], got a list of {}",
                    node.size()));
    return std::nullopt;
  }
  std::vector<double> parts;
  for (const DocumentNode part : node)
    if (const std::optional<double> value = read_number(part, diagnostics))
      parts.push_back(*value);
  if (parts.size() != 2)
    return std::nullopt;
  return NumberOrPair(parts[0], parts[1]);
}

std::optional<Dtype> read_dtype(DocumentNode node, Diagnostics& diagnostics) {
  const std::optional<std::string> text = read_text(node, "a dtype such as \"f32\"", diagnostics);
  if (!text)
    return std::nullopt;
  const std::optional<Dtype> dtype = dtype_named(*text);
  if (!dtype) {
    std::string list;
    for (const Dtype known : all_dtypes())
      list += fmt::format("{}{}", list.empty() ? "" : ", ", name(known));
    diagnostics.add(node.origin(), fmt::format("expected a dtype (one of {}), got {}{}", list,
                                               in_quotes(*text), dtype_hint(*text)));
  }
  return dtype;
}

std::string dtype_hint(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Dtype known : all_dtypes())
    names.push_back(name(known));
  return did_you_mean(text, names);
}

bool is_list(DocumentNode node, std::string_view what, Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::List)
    return true;
  expected(node, what, diagnostics);
  return false;
}

bool is_object(DocumentNode node, std::string_view what, Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Object)
    return true;
  expected(node, what, diagnostics);
  return false;
}

std::optional<std::vector<int64_t>> read_integers(DocumentNode node, std::string_view what,
                                                  IntegerRange range, Diagnostics& diagnostics) {
  if (!is_list(node, "a list of whole numbers", diagnostics))
    return std::nullopt;
  std::vector<int64_t> values;
  for (const DocumentNode item : node) {
    const std::optional<int64_t> value = read_integer(item, what, range, diagnostics);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<std::vector<std::string>> read_names(DocumentNode node, std::string_view what,
                                                   Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Text)
    return std::vector{node.text()};
  if (!is_list(node, fmt::format("{} or a list of them", what), diagnostics))
    return std::nullopt;
  std::vector<std::string> names;
  for (const DocumentNode item : node) {
    std::optional<std::string> text = read_text(item, what, diagnostics);
    if (!text)
      return std::nullopt;
    names.push_back(std::move(*text));
  }
  return names;
}

bool Fields::is_known(std::string_view key) const {
  return std::any_of(known_.begin(), known_.end(), [&](const Known& known) {
    if (key == known.key)
      return true;
    if (!known.dimension || !key.starts_with(known.key))
      return false;
    const auto all = units(*known.dimension);
    return std::any_of(all.begin(), all.end(), [&](const QuantityUnit& unit) {
      return is_joined(key, known.key, unit.suffix);
    });
  });
}

std::vector<std::string> Fields::known_keys(bool suffixed) const {
  std::vector<std::string> keys;
  const auto add = [&](std::string key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      keys.push_back(std::move(key));
  };
  for (const Known& known : known_)
    add(std::string(known.key));
  for (const Known& known : known_)
    if (suffixed && known.dimension)
      for (const QuantityUnit& unit : units(*known.dimension))
        add(fmt::format("{}{}", known.key, unit.suffix));
  return keys;
}

std::optional<DocumentNode> Fields::optional(std::string_view key) {
  know(key);
  return object_.find(key);
}

std::optional<DocumentNode> Fields::required(std::string_view key) {
  const std::optional<DocumentNode> found = optional(key);
  if (!found)
    diagnostics_.add(object_.origin(), fmt::format("missing key \"{}\"", key));
  return found;
}

std::optional<int64_t> Fields::optional_quantity(std::string_view key, Dimension dimension,
                                                 QuantityRange range, BareNumber bare) {
  know(key, dimension);
  std::optional<DocumentNode> found = object_.find(key);
  const QuantityUnit* unit = nullptr;
  const bool any_suffixed = has_longer(object_, key);
  for (const QuantityUnit& candidate : units(dimension)) {
    if (!any_suffixed)
      break;
    const std::optional<DocumentNode> here = find_suffixed(object_, key, candidate);
    if (!here)
      continue;
    if (found) {
      diagnostics_.add(here->key_origin(),
                       fmt::format("\"{}\" is already given by \"{}\"", key, found->key()));
      continue;
    }
    found = here;
    unit = &candidate;
  }
  if (!found)
    return std::nullopt;
  const bool number = found->kind() == DocumentNode::Kind::Number;
  if (unit == nullptr && number && bare == BareNumber::BaseUnits)
    unit = &units(dimension).front();
  if (unit == nullptr && found->kind() == DocumentNode::Kind::Text)
    return within(*found, read_quantity(found->text(), dimension), dimension, range, diagnostics_);
  if (unit == nullptr) {
    expected(*found, example(dimension), diagnostics_);
    return std::nullopt;
  }
  if (!number) {
    expected(*found, fmt::format("a whole number of {}", unit->name), diagnostics_);
    return std::nullopt;
  }
  return within(*found, read_count(found->number(), *unit, dimension), dimension, range,
                diagnostics_);
}

std::optional<DocumentNode> Fields::find_quantity(std::string_view key, Dimension dimension) const {
  std::optional<DocumentNode> found = object_.find(key);
  for (const QuantityUnit& unit : units(dimension))
    if (!found)
      found = find_suffixed(object_, key, unit);
  return found;
}

std::optional<int64_t> Fields::required_quantity(std::string_view key, Dimension dimension,
                                                 QuantityRange range) {
  if (!has_quantity(key, dimension)) {
    know(key);
    diagnostics_.add(object_.origin(), fmt::format("missing key \"{}\"", key));
  }
  return optional_quantity(key, dimension, range);
}

void Fields::finish() {
  size_t unknown = 0;
  for (const DocumentNode member : object_) {
    const std::string& key = member.key();
    if (is_known(key) || ++unknown > kMostUnknownKeys)
      continue;
    std::string hint;
    for (const Known& known : known_)
      if (hint.empty() && known.dimension)
        hint = suffix_hint(key, known.key, *known.dimension);
    const std::vector<std::string> candidates = known_keys(true);
    if (hint.empty())
      hint = did_you_mean(key, {candidates.begin(), candidates.end()});
    if (hint.empty() && !known_.empty())
      hint = fmt::format("; expected one of \"{}\"", fmt::join(known_keys(false), "\", \""));
    diagnostics_.add(member.key_origin(), fmt::format("unknown key {}{}", in_quotes(key), hint));
  }
  if (unknown > kMostUnknownKeys)
    diagnostics_.add(object_.origin(),
                     fmt::format("{} more unknown keys", unknown - kMostUnknownKeys));
}

}  // namespace orrery
