#include "models/base/characters.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace orrery {

namespace {

uint32_t byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Returns the length of the UTF-8 sequence at `at`, or 0 if it is invalid.
size_t sequence_length(std::string_view text, size_t at) {
  const uint32_t lead = byte_at(text, at);
  if (lead < 0x80)
    return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() - at < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte_at(text, at + i) & 0xc0U) != 0x80)
      return 0;
  // The second byte rules out overlong forms, surrogates and code points beyond U+10FFFF.
  const uint32_t second = byte_at(text, at + 1);
  const bool invalid = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                       (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return invalid ? 0 : length;
}

}  // namespace

std::optional<size_t> not_utf8_at(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_length(text, at);
    if (length == 0)
      return at;
    at += length;
  }
  return std::nullopt;
}

bool has_control_character(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const uint32_t byte = byte_at(text, i);
    if (byte < 0x20 || byte == 0x7f)
      return true;
    if (byte == 0xc2 && i + 1 < text.size() && byte_at(text, i + 1) < 0xa0)
      return true;
  }
  return false;
}

namespace {

/// Takes the number, or the text up to the next number, off the front.
std::string_view take_part(std::string_view& text) {
  size_t size = 1;
  while (size < text.size() && is_digit(text[size]) == is_digit(text[0]))
    ++size;
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(size);
  return part;
}

/// Returns how many characters two ids have in common, from the front, or with reverse iterators
/// from the back.
template <class Iterator>
size_t alike_from(Iterator a, Iterator a_end, Iterator b, Iterator b_end) {
  return static_cast<size_t>(std::mismatch(a, a_end, b, b_end).first - a);
}

/// The lengths of the common beginning and the common end of ids. They overlap in none of the ids.
struct CommonEnds {
  size_t begin = 0;  // in characters
  size_t end = 0;
};

CommonEnds common_ends(std::span<const std::string_view> ids) {
  const std::string_view first = ids.front();
  CommonEnds ends{first.size(), first.size()};
  size_t shortest = first.size();
  for (const std::string_view id : ids) {
    ends.begin = std::min(ends.begin, alike_from(first.begin(), first.end(), id.begin(), id.end()));
    ends.end = std::min(ends.end, alike_from(first.rbegin(), first.rend(), id.rbegin(), id.rend()));
    shortest = std::min(shortest, id.size());
  }
  ends.end = std::min(ends.end, shortest - ends.begin);
  return ends;
}

}  // namespace

std::vector<std::string_view> shape_of(std::string_view id) {
  std::vector<std::string_view> shape;
  while (!id.empty()) {
    const std::string_view part = take_part(id);
    shape.push_back(is_digit(part[0]) ? "*" : part);
  }
  return shape;
}

std::string common_id(std::span<const std::string_view> ids) {
  const std::string_view first = ids.front();
  const std::vector<std::string_view> shape = shape_of(first);
  if (std::any_of(ids.begin(), ids.end(),
                  [&](std::string_view id) { return shape_of(id) != shape; })) {
    const CommonEnds ends = common_ends(ids);
    return std::string(first.substr(0, ends.begin)) + "*" +
           std::string(first.substr(first.size() - ends.end));
  }
  std::vector<std::string_view> rest(ids.begin(), ids.end());
  std::string id;
  while (!rest.front().empty()) {
    const std::string_view part = take_part(rest.front());
    bool same = true;
    for (size_t i = 1; i < rest.size(); ++i)
      same = (take_part(rest[i]) == part) && same;
    id += same ? part : std::string_view("*");
  }
  return id;
}

std::vector<std::vector<size_t>> alike_but_for_numbers(std::span<const std::string> texts) {
  std::vector<std::vector<size_t>> groups;
  std::map<std::vector<std::string_view>, size_t> known;  // by shape
  for (size_t t = 0; t < texts.size(); ++t) {
    const auto [at, is_new] = known.try_emplace(shape_of(texts[t]), groups.size());
    if (is_new)
      groups.emplace_back();
    groups[at->second].push_back(t);
  }
  return groups;
}

}  // namespace orrery
