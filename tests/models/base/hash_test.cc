#include "models/base/hash.h"

#include <set>

#include <doctest/doctest.h>

namespace orrery {

TEST_CASE("hasher: its results never change") {
  // The expected digests are from an independent implementation in Python.
  Hasher hasher;
  CHECK(hasher.text() == "13198a2e03707344243f6a8885a308d3");
  CHECK(hasher.word() == 0xd384ffab7559412aU);
  hasher.add(uint64_t{0});
  CHECK(hasher.text() == "8b588c98aa9cbf062cb0f69f4abea221");
  hasher.add(int64_t{-1});
  CHECK(hasher.text() == "df0fedabcefa609f9478dcbcb9ca8043");
  Hasher of_text;
  of_text.add("hello, world");
  CHECK(of_text.text() == "c1f5a7f4ea076f21e14f8d9e00a1e967");
}

TEST_CASE("hasher: order, length and division of what is added matter") {
  const auto of = [](std::initializer_list<std::string_view> texts) {
    Hasher hasher;
    for (const std::string_view text : texts)
      hasher.add(text);
    return hasher.text();
  };
  const std::set<std::string> results = {
      of({}),         of({""}),       of({"", ""}),   of({"ab"}),
      of({"a", "b"}), of({"b", "a"}), of({"ab", ""}), of({std::string_view("ab\0", 3)}),
      of({"ba"})};
  CHECK(results.size() == 9);
}

TEST_CASE("hasher: both halves see every bit of every word") {
  // Each of the two words has one bit set. The top bits matter most, since a product alone would
  // let them cancel.
  std::set<std::string> lows;
  std::set<std::string> highs;
  for (unsigned first = 0; first < 64; ++first) {
    for (unsigned second = 0; second < 64; ++second) {
      Hasher hasher;
      hasher.add(uint64_t{1} << first);
      hasher.add(uint64_t{1} << second);
      highs.insert(hasher.text().substr(0, 16));
      lows.insert(hasher.text().substr(16));
    }
  }
  CHECK(lows.size() == 64 * 64);
  CHECK(highs.size() == 64 * 64);
}

TEST_CASE("hasher: narrower words count as their values") {
  Hasher narrow;
  narrow.add(uint32_t{7});
  Hasher wide;
  wide.add(uint64_t{7});
  CHECK(narrow.text() == wide.text());
}

}  // namespace orrery
