#include "tools/report/json_writer.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/support/property.h"

namespace orrery::test {
namespace {

using Json = nlohmann::ordered_json;

/// Defines the layout over a whole tree: a list of numbers of any length, or a small object, is in
/// one line.
bool fits_a_line(const Json& json) {
  if (!json.is_structured())
    return true;
  for (const Json& part : json)
    if (part.is_structured() && !part.empty())
      return false;
  return json.is_array() || json.size() <= 6;
}

std::string laid_out(const Json& json, size_t indent) {
  if (fits_a_line(json))
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text = json.is_array() ? "[" : "{";
  const char* separator = "\n";
  for (const auto& item : json.items()) {
    text += separator + std::string(indent + 2, ' ');
    if (json.is_object())
      text += Json(item.key()).dump() + ": ";
    text += laid_out(item.value(), indent + 2);
    separator = ",\n";
  }
  return text + "\n" + std::string(indent, ' ') + (json.is_array() ? "]" : "}");
}

void write(JsonWriter& writer, const Json& json) {
  if (json.is_object())
    return writer.object([&] {
      for (const auto& item : json.items())
        write(writer.key(item.key()), item.value());
    });
  if (json.is_array())
    return writer.array([&] {
      for (const Json& part : json)
        write(writer, part);
    });
  if (json.is_null())
    return writer.value(nullptr);
  if (json.is_boolean())
    return writer.value(json.get<bool>());
  if (json.is_string())
    return writer.value(json.get<std::string>());
  if (json.is_number_float())
    return writer.value(json.get<double>());
  if (json.is_number_unsigned())
    return writer.value(json.get<uint64_t>());
  writer.value(json.get<int64_t>());
}

std::string written(const Json& json) {
  std::string text;
  JsonWriter writer(text);
  write(writer, json);
  return text;
}

Json scalar() {
  static const std::array<const char*, 5> kTexts = {"", "plain", "\"\\/\n\x01\x7f", "\xc3\xa9 \xff",
                                                    "a b"};
  switch (in_range(0, 6)) {
    case 0:
      return nullptr;
    case 1:
      return any_bool();
    case 2:
      return any_int<int64_t>();
    case 3:
      return any_int<uint64_t>();
    case 4:
      return std::ldexp(static_cast<double>(any_int<int64_t>()), in_range(-80, 20));
    default:
      return kTexts[in_range<size_t>(0, kTexts.size())];
  }
}

Json tree(int depth) {
  const int kind = in_range(0, depth == 0 ? 1 : 3);
  if (kind == 0)
    return scalar();
  Json json = kind == 1 ? Json::array() : Json::object();
  const int items = one_of(0, 0, 1, 2, 6, 7, 8);
  for (int i = 0; i < items; ++i)
    if (kind == 1)
      json.push_back(tree(depth - 1));
    else
      json["key " + std::to_string(i)] = tree(depth - 1);
  return json;
}

TEST_CASE("JSON writer: the layout is the one defined over the whole tree") {
  holds_for_all("any tree", [] {
    const Json json = tree(4);
    RC_ASSERT(written(json) == laid_out(json, 0));
  });
}

TEST_CASE("JSON writer: every character at every position of a string") {
  for (int c = 0; c < 256; ++c)
    for (size_t place = 0; place < 17; ++place) {
      std::string text(17, 'a');
      text[place] = static_cast<char>(c);
      CAPTURE(c);
      CAPTURE(place);
      CHECK(json_quoted(text) == Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
    }
}

TEST_CASE("JSON writer: six members are one line, seven are seven") {
  const auto members = [](int n) {
    std::string text;
    JsonWriter json(text);
    json.object([&] {
      for (int i = 0; i < n; ++i)
        json.key(std::string(1, static_cast<char>('a' + i))).value(i);
    });
    return text;
  };
  CHECK(members(6) == R"({"a":0,"b":1,"c":2,"d":3,"e":4,"f":5})");
  CHECK(members(7) ==
        "{\n  \"a\": 0,\n  \"b\": 1,\n  \"c\": 2,\n  \"d\": 3,\n  \"e\": 4,\n  \"f\": 5,\n"
        "  \"g\": 6\n}");
}

TEST_CASE(
    "JSON writer: an empty array does not break its object into lines, one with an item does") {
  const auto outer = [](int inner) {
    std::string text;
    JsonWriter json(text);
    json.array([&] {
      json.value("first");
      json.array([&] {
        for (int i = 0; i < inner; ++i)
          json.value(i);
      });
    });
    return text;
  };
  CHECK(outer(0) == R"(["first",[]])");
  CHECK(outer(1) == "[\n  \"first\",\n  [0]\n]");
}

TEST_CASE("JSON writer: the extremes of integers, and absent optionals") {
  std::string text;
  JsonWriter json(text);
  json.array([&] {
    json.value(std::numeric_limits<int64_t>::min());
    json.value(std::numeric_limits<uint64_t>::max());
    json.value(std::optional<double>());
    json.value(std::optional<double>(0.5));
  });
  CHECK(text == "[-9223372036854775808,18446744073709551615,null,0.5]");
}

}  // namespace
}  // namespace orrery::test
