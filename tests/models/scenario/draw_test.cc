#include "models/scenario/draw.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/scenario/known_values.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::KnownValues;

/// A draw as it is read from its text, whose formulas may use the known names.
class DrawRig {
 public:
  explicit DrawRig(std::string draw, std::string known = "{}")
      : known_(std::move(known)),
        text_(std::move(draw)),
        document_(text_, diagnostics_),
        draw_(Draw::read(*document_.root(), known_.names, diagnostics_)) {}

  /// Returns the errors of reading; "" if there are none.
  std::string error() const {
    try {
      diagnostics_.throw_if_any();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  TemplateValue least() const { return draw_->least("f", known_.values); }
  TemplateValue greatest() const { return draw_->greatest("f", known_.values); }
  TemplateValue random(uint64_t seed) const {
    Random random(seed);
    return draw_->random("f", known_.values, random);
  }
  TemplateValue fitted(TemplateValue value) const {
    return draw_->fitted("f", known_.values, std::move(value));
  }
  std::vector<TemplateValue> simpler(const TemplateValue& value) const {
    return draw_->simpler("f", known_.values, value);
  }

  std::string given_text() const { return draw_->given_text("f", known_.values); }

  /// Returns the least value as text, or the message that says why there is none.
  std::string least_text() const {
    try {
      return value_text(least());
    } catch (const InputError& error) {
      return error.what();
    }
  }

 private:
  KnownValues known_;
  std::string text_;
  Diagnostics diagnostics_{"f"};
  Document document_;
  std::optional<Draw> draw_;
};

TemplateValue numbers(const std::vector<int64_t>& all) {
  TemplateValue::List made;
  for (const int64_t number : all)
    made.push_back({number});
  return {std::move(made)};
}

std::string texts(const std::vector<TemplateValue>& values) {
  return value_text(TemplateValue{values});
}

struct Ends {
  std::string draw;
  std::string least;
  std::string greatest;
};

TEST_CASE("draws: each kind has a least and a greatest value") {
  const Ends cases[] = {
      {R"({"from": 1, "to": 8})", "1", "8"},
      {R"({"from": "-n", "to": "${n * n}"})", "-3", "9"},
      {R"({"from": -9223372036854775808, "to": 9223372036854775807})", "-9223372036854775808",
       "9223372036854775807"},
      {R"({"choose": ["f32", null, 0.50, [1], {"k": 1}, true]})", "\"f32\"", "true"},
      {R"({"choose": [0.50, {"k": 1}]})", "0.50", "{..}"},
      {R"({"list": {"from": 2, "to": "n"}, "length": "n - 1"})", "[2, 2]", "[3, 3]"},
      {R"({"list": {"list": {"from": 0, "to": 1}, "length": 1}, "length": 2})", "[[0], [0]]",
       "[[1], [1]]"},
      {R"({"permutation": "n"})", "[0, 1, 2]", "[2, 1, 0]"},
      {R"({"permutation": 0})", "[]", "[]"},
      {R"({"some_of": "n"})", "[]", "[0, 1, 2]"},
  };
  for (const Ends& c : cases) {
    CAPTURE(c.draw);
    const DrawRig rig(c.draw, R"({"n": 3})");
    REQUIRE(rig.error() == "");
    CHECK(value_text(rig.least()) == c.least);
    CHECK(value_text(rig.greatest()) == c.greatest);
  }
}

TEST_CASE("draws: random values are each of the possible ones") {
  const auto all_of = [](const std::string& draw) {
    const DrawRig rig(draw);
    std::vector<std::string> seen;
    for (uint64_t seed = 0; seed < 200; ++seed)
      seen.push_back(value_text(rig.random(seed)));
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    return seen;
  };
  CHECK(all_of(R"({"from": 7, "to": 9})") == std::vector<std::string>{"7", "8", "9"});
  CHECK(all_of(R"({"choose": [null, 0.5]})") == std::vector<std::string>{"0.5", "null"});
  CHECK(all_of(R"({"list": {"from": 0, "to": 1}, "length": 2})") ==
        std::vector<std::string>{"[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"});
  CHECK(all_of(R"({"permutation": 3})") == std::vector<std::string>{"[0, 1, 2]", "[0, 2, 1]",
                                                                    "[1, 0, 2]", "[1, 2, 0]",
                                                                    "[2, 0, 1]", "[2, 1, 0]"});
  CHECK(all_of(R"({"some_of": 2})") == std::vector<std::string>{"[0, 1]", "[0]", "[1]", "[]"});
}

TEST_CASE("draws: a value is made to fit other earlier values") {
  const auto fitted = [](const std::string& draw, TemplateValue value) {
    return value_text(DrawRig(draw).fitted(std::move(value)));
  };
  CHECK(fitted(R"({"from": 2, "to": 4})", {int64_t{1}}) == "2");
  CHECK(fitted(R"({"from": 2, "to": 4})", {int64_t{3}}) == "3");
  CHECK(fitted(R"({"from": 2, "to": 4})", {int64_t{9}}) == "4");
  CHECK(fitted(R"({"choose": [1, 2]})", {int64_t{2}}) == "2");
  const std::string list = R"({"list": {"from": 2, "to": 4}, "length": 3})";
  CHECK(fitted(list, numbers({9, 3})) == "[4, 3, 2]");
  CHECK(fitted(list, numbers({3, 3, 3, 3})) == "[3, 3, 3]");
  CHECK(fitted(R"({"permutation": 3})", numbers({4, 2, 0, 1, 3})) == "[2, 1, 0]");
  CHECK(fitted(R"({"permutation": 4})", numbers({1, 0})) == "[1, 0, 2, 3]");
  CHECK(fitted(R"({"some_of": 3})", numbers({0, 2, 3})) == "[0, 2]");
}

TEST_CASE("draws: simpler values are those that are much simpler, then those that are a little") {
  const auto simpler = [](const std::string& draw, const TemplateValue& value) {
    return texts(DrawRig(draw).simpler(value));
  };
  CHECK(simpler(R"({"from": 2, "to": 99})", {int64_t{12}}) == "[2, 7, 10, 11]");
  CHECK(simpler(R"({"from": 2, "to": 99})", {int64_t{2}}) == "[]");
  CHECK(simpler(R"({"choose": [[1], [2], null, 0.5]})", numbers({2})) == "[[1]]");
  CHECK(simpler(R"({"list": {"from": 0, "to": 9}, "length": 3})", numbers({2, 0, 1})) ==
        "[[0, 0, 1], [1, 0, 1], [2, 0, 0]]");
  CHECK(simpler(R"({"permutation": 3})", numbers({1, 2, 0})) ==
        "[[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1]]");
  CHECK(simpler(R"({"permutation": 3})", numbers({0, 1, 2})) == "[]");
  CHECK(simpler(R"({"some_of": 5})", numbers({0, 2, 3, 4})) ==
        "[[], [3, 4], [0, 2], [2, 3, 4], [0, 3, 4], [0, 2, 4], [0, 2, 3]]");
  // The whole range of 64 bits is halved once per bit.
  const DrawRig whole(R"({"from": -9223372036854775808, "to": 9223372036854775807})");
  CHECK(whole.simpler({std::numeric_limits<int64_t>::max()}).size() == 64);
}

TEST_CASE("draws: the simpler values of a long list are not all made at once") {
  constexpr size_t kMost = 512;
  const auto count = [](const std::string& draw) {
    const DrawRig rig(draw);
    return rig.simpler(rig.greatest()).size();
  };
  CHECK(count(R"({"some_of": 4096})") == kMost);
  CHECK(count(R"({"permutation": 4096})") == kMost);
  CHECK(count(R"({"list": {"from": 0, "to": 1023}, "length": 4096})") == kMost);
}

/// A DrawCase has a draw whose formulas use n, and says which values it may give.
struct DrawCase {
  std::string draw;
  bool (*is_legal)(const TemplateValue& value, int64_t n);
};

bool is_in_range(const TemplateValue& value, int64_t least, int64_t most) {
  const auto* number = std::get_if<int64_t>(&value.is);
  return number != nullptr && *number >= least && *number <= most;
}

/// Returns whether the value is a list of numbers from 0 to n - 1, each larger than the one before.
bool is_ascending(const TemplateValue& value, int64_t n) {
  int64_t least = 0;
  for (const TemplateValue& item : std::get<TemplateValue::List>(value.is)) {
    if (!is_in_range(item, least, n - 1))
      return false;
    least = std::get<int64_t>(item.is) + 1;
  }
  return true;
}

bool is_permutation(const TemplateValue& value, int64_t n) {
  TemplateValue::List items = std::get<TemplateValue::List>(value.is);
  std::sort(items.begin(), items.end(), [](const TemplateValue& a, const TemplateValue& b) {
    return std::get<int64_t>(a.is) < std::get<int64_t>(b.is);
  });
  return static_cast<int64_t>(items.size()) == n && is_ascending({items}, n);
}

bool is_list(const TemplateValue& value, int64_t length,
             bool (*is_item)(const TemplateValue&, int64_t), int64_t n) {
  const auto& items = std::get<TemplateValue::List>(value.is);
  return static_cast<int64_t>(items.size()) == length &&
         std::all_of(items.begin(), items.end(),
                     [&](const TemplateValue& item) { return is_item(item, n); });
}

const DrawCase kDrawCases[] = {
    {R"({"from": "n - 3", "to": "2 * n + 40"})",
     [](const TemplateValue& value, int64_t n) { return is_in_range(value, n - 3, 2 * n + 40); }},
    {R"({"choose": [4, 2, 7]})",
     [](const TemplateValue& value, int64_t) {
       return value == TemplateValue{int64_t{4}} || value == TemplateValue{int64_t{2}} ||
              value == TemplateValue{int64_t{7}};
     }},
    {R"({"permutation": "n"})", is_permutation},
    {R"({"some_of": "n"})", is_ascending},
    {R"({"list": {"from": "-n", "to": 7}, "length": "n"})",
     [](const TemplateValue& value, int64_t n) {
       return is_list(
           value, n, [](const TemplateValue& item, int64_t m) { return is_in_range(item, -m, 7); },
           n);
     }},
    {R"({"list": {"some_of": "n"}, "length": 2})",
     [](const TemplateValue& value, int64_t n) { return is_list(value, 2, is_ascending, n); }},
    {R"({"list": {"permutation": 3}, "length": "n"})",
     [](const TemplateValue& value, int64_t n) {
       return is_list(
           value, n, [](const TemplateValue& item, int64_t) { return is_permutation(item, 3); }, n);
     }},
};

std::string known_n(int64_t n) {
  return fmt::format(R"({{"n": {}}})", n);
}

TEST_CASE("draws: random values are legal, and stay as they are where they fit") {
  test::holds_for_all("legal", [](uint64_t seed) {
    const auto n = test::in_range<int64_t>(0, 12);
    for (const DrawCase& c : kDrawCases) {
      const DrawRig rig(c.draw, known_n(n));
      const TemplateValue value = rig.random(seed);
      RC_ASSERT(c.is_legal(value, n));
      RC_ASSERT(rig.fitted(value) == value);
      RC_ASSERT(rig.random(seed) == value);
    }
  });
}

TEST_CASE("draws: values that are fitted to another earlier value are legal there") {
  test::holds_for_all("fitted", [](uint64_t seed) {
    const auto before = test::in_range<int64_t>(0, 12);
    const auto now = test::in_range<int64_t>(0, 12);
    for (const DrawCase& c : kDrawCases) {
      const TemplateValue value = DrawRig(c.draw, known_n(before)).random(seed);
      RC_ASSERT(c.is_legal(DrawRig(c.draw, known_n(now)).fitted(value), now));
    }
  });
}

TEST_CASE("draws: simpler values are legal, and whichever are taken, they end at the least") {
  test::holds_for_all("simpler", [](uint64_t seed) {
    const auto n = test::in_range<int64_t>(0, 8);
    Random random(seed);
    for (const DrawCase& c : kDrawCases) {
      const DrawRig rig(c.draw, known_n(n));
      TemplateValue value = rig.random(seed);
      std::vector<TemplateValue> simpler = rig.simpler(value);
      // Each number is at most 64 above its least one, and there are at most 16 of them.
      for (int step = 0; step < 64 * 16 && !simpler.empty(); ++step) {
        for (const TemplateValue& each : simpler) {
          RC_ASSERT(each != value);
          RC_ASSERT(c.is_legal(each, n));
        }
        value = simpler[random.below(simpler.size())];
        simpler = rig.simpler(value);
      }
      RC_ASSERT(value == rig.least());
    }
  });
}

struct RefusedDraw {
  std::string draw;
  std::string error;
};

TEST_CASE("draws: one that cannot be read is refused where it is wrong") {
  const std::string all_forms =
      R"(expected a draw: {"from": 1, "to": 8}, {"choose": [..]}, {"list": {..}, "length": 3}, )"
      R"({"permutation": 4} or {"some_of": 4})";
  const std::string forms = all_forms + ", got ";
  const RefusedDraw cases[] = {
      {"3", "f:1:1: " + forms + "3"},
      {"{}", "f:1:1: " + forms + "an object"},
      {R"({"to": 3})", "f:1:1: " + forms + "an object"},
      {R"({"from": 1})", "f:1:1: missing key \"to\""},
      {R"({"from": 1.5, "to": 2})",
       "f:1:10: /from: expected a whole number, or a formula of earlier names, got 1.5"},
      {R"({"from": 1, "to": 9223372036854775808})",
       "f:1:19: /to: expected a whole number, or a formula of earlier names, got "
       "9223372036854775808"},
      {R"({"from": 1, "to": "m"})", "f:1:19: /to: \"m\": expected one of n, got \"m\""},
      {R"({"from": 1, "to": "${n *}"})", "f:1:19: /to: \"n *\": expected a value, got the end"},
      {R"({"from": 1, "to": "${n}${n}"})",
       "f:1:19: /to: \"${n}${n}\": expected a value, got \"$\""},
      {R"({"from": 1, "to": 2, "step": 1})", "f:1:22: /step: unknown key \"step\"; " + all_forms},
      {R"({"choose": [1], "from": 1, "to": 2})",
       "f:1:17: /from: unknown key \"from\"; " + all_forms},
      {R"({"list": {"from": 1, "to": 2}, "lenght": 1})",
       "f:1:1: missing key \"length\"\n"
       "f:1:32: /lenght: unknown key \"lenght\"; did you mean \"length\"?"},
      {R"({"form": 1, "to": 2})", "f:1:2: /form: unknown key \"form\"; did you mean \"from\"?"},
      {R"({"permutations": 2})",
       "f:1:2: /permutations: unknown key \"permutations\"; did you mean \"permutation\"?"},
      {R"({"choose": 3})", "f:1:12: /choose: expected a list of values, the simplest first, got 3"},
      {R"({"choose": []})", "f:1:12: /choose: expected a value or more to choose from, got none"},
      {R"({"choose": ["a", ["x${n}"]]})",
       "f:1:19: /choose/1/0: expected a value without holes, got \"x${n}\""},
      {R"({"choose": [{"${n}": 1}]})",
       "f:1:14: /choose/0/${n}: expected a key without holes, got \"${n}\""},
      {R"({"list": {"from": 1, "to": 2}})", "f:1:1: missing key \"length\""},
      {R"({"list": 4, "length": true})",
       "f:1:10: /list: " + forms +
           "4\nf:1:23: /length: expected a whole number, or a formula of earlier names, got true"},
      {R"({"permutation": [1, 0]})",
       "f:1:17: /permutation: expected a whole number, or a formula of earlier names, got a list"},
      {R"({"some_of": null})",
       "f:1:13: /some_of: expected a whole number, or a formula of earlier names, got null"},
  };
  for (const RefusedDraw& c : cases) {
    CAPTURE(c.draw);
    CHECK(DrawRig(c.draw, R"({"n": 3})").error() == c.error);
  }
}

TEST_CASE("draws: bounds that make no sense are refused where they are known") {
  const RefusedDraw cases[] = {
      {R"({"from": 4, "to": "n"})",
       "f:1:19: /to: expected a number from 4 on, where the range begins, got 3"},
      {R"({"from": "n / 2", "to": 9})", "f:1:10: /from: \"n / 2\": 3 / 2 is not a whole number"},
      {R"({"from": 0, "to": "${n > 2}"})",
       "f:1:19: /to: \"n > 2\": expected a whole number, got true"},
      {R"({"permutation": "n - 4"})",
       "f:1:17: /permutation: expected a length from 0 to 4096, got -1"},
      {R"({"some_of": 4097})", "f:1:13: /some_of: expected a length from 0 to 4096, got 4097"},
      {R"({"list": {"from": 0, "to": 1}, "length": 4097})",
       "f:1:42: /length: expected a length from 0 to 4096, got 4097"},
      // An item with its 63 numbers counts as 64, of which 4096 has 64.
      {R"({"list": {"some_of": 63}, "length": 65})",
       "f:1:37: /length: expected a length from 0 to 64, got 65; an item may have 63 items"},
      {R"({"list": {"choose": [1, [1, 2]]}, "length": 4096})",
       "f:1:45: /length: expected a length from 0 to 1365, got 4096; an item may have 2 items"},
      {R"({"list": {"from": "n", "to": 2}, "length": 1})",
       "f:1:30: /list/to: expected a number from 3 on, where the range begins, got 2"},
  };
  for (const RefusedDraw& c : cases) {
    CAPTURE(c.draw);
    const DrawRig rig(c.draw, R"({"n": 3})");
    REQUIRE(rig.error() == "");
    CHECK(rig.least_text() == c.error);
  }
  CHECK(DrawRig(R"({"list": {"some_of": 63}, "length": 64})").least_text().size() > 64);
}

TEST_CASE("draws: what each gives, for a message") {
  struct Given {
    std::string draw;
    std::string text;
  };
  const Given cases[] = {
      {R"({"from": 1, "to": "2 * n"})", "a whole number from 1 to 6"},
      {R"({"from": 3, "to": "n"})", "3"},
      {R"({"choose": ["f32", null, [1]]})", "one of \"f32\", null, [1]"},
      {R"({"choose": [2]})", "2"},
      {R"({"permutation": "n"})", "a permutation of 0 to 2"},
      {R"({"permutation": 1})", "a permutation of 0"},
      {R"({"permutation": 0})", "an empty list"},
      {R"({"some_of": "n"})", "a list of some of 0 to 2, ascending"},
      {R"({"some_of": 1})", "a list of some of 0, ascending"},
      {R"({"list": {"from": 0, "to": 1}, "length": "n"})",
       "a list of 3, each a whole number from 0 to 1"},
      {R"({"list": {"from": 0, "to": 1}, "length": 0})", "an empty list"},
  };
  for (const Given& c : cases) {
    CAPTURE(c.draw);
    CHECK(DrawRig(c.draw, R"({"n": 3})").given_text() == c.text);
  }
}

TEST_CASE("draws: lists of lists, one in another, are checked in no time") {
  std::string draw = R"({"from": 0, "to": 1})";
  for (int depth = 0; depth < 60; ++depth)
    draw = R"({"list": )" + draw + R"(, "length": 1})";
  const DrawRig rig(draw);
  CHECK(rig.fitted(rig.greatest()) == rig.greatest());
}

}  // namespace
}  // namespace orrery
