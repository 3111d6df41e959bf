#include "models/base/characters.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace orrery {
namespace {

TEST_CASE("utf8: the first invalid byte, by the table of RFC 3629") {
  struct Row {
    std::string text;
    std::optional<size_t> at;
  };
  const Row rows[] = {
      {"", {}},
      {"plain", {}},
      {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", {}},    // 2, 3 and 4 bytes
      {"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", {}},  // around the surrogates; the last of all
      {"a\xff", 1},
      {"a\x80", 1},             // no lead
      {"ab\xc3", 2},            // cut
      {"ab\xc3z", 2},           // no tail
      {"\xc0\xaf", 0},          // overlong forms of 2,
      {"\xe0\x9f\xbf", 0},      // 3
      {"\xf0\x8f\xbf\xbf", 0},  // and 4 bytes
      {"\xed\xa0\x80", 0},      // a surrogate
      {"\xf4\x90\x80\x80", 0},  // beyond U+10FFFF
      {"\xf5\x80\x80\x80", 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(not_utf8_at(row.text) == row.at);
  }
}

TEST_CASE("utf8: characters that control a terminal, and their neighbours that do not") {
  CHECK(has_control_character("a\x1b[2J"));
  CHECK(has_control_character("\x7f"));
  CHECK(has_control_character("\xc2\x9b"));  // U+009B, an escape and its bracket in one
  CHECK_FALSE(has_control_character("\xc2\xa0 \xe2\x82\xac"));  // U+00A0 and up
}

TEST_CASE("common id: a star stands for each number in which ids differ") {
  using Ids = std::vector<std::string_view>;
  CHECK(common_id(Ids{"layer0.w1", "layer79.w1"}) == "layer*.w1");
  CHECK(common_id(Ids{"h9", "h10"}) == "h*");
  CHECK(common_id(Ids{"a1b2", "a1b3"}) == "a1b*");
  CHECK(common_id(Ids{"same", "same"}) == "same");
  CHECK(common_id(Ids{"a1b7", "a2b8", "a1b9"}) == "a*b*");  // also one between the ends
}

TEST_CASE("common id: other ids have one star between what they begin and end with alike") {
  using Ids = std::vector<std::string_view>;
  CHECK(common_id(Ids{"wa.c", "wb.c"}) == "w*.c");
  CHECK(common_id(Ids{"first.c", "second.c", "third.c"}) == "*.c");
  CHECK(common_id(Ids{"up_a", "up_bb"}) == "up_*");
  CHECK(common_id(Ids{"aa", "aaa"}) == "aa*");
  CHECK(common_id(Ids{"one", "two"}) == "*");
}

TEST_CASE("alike but for numbers: groups in the order of their first texts") {
  const std::vector<std::string> texts = {"a1", "b", "a20", "a1b", "b"};
  CHECK(alike_but_for_numbers(texts) == std::vector<std::vector<size_t>>{{0, 2}, {1, 4}, {3}});
}

}  // namespace
}  // namespace orrery
