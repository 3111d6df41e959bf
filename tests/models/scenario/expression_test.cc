#include "models/scenario/expression.h"

#include <limits>
#include <optional>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/compiler.h"
#include "tests/models/scenario/known_values.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::KnownValues;

constexpr std::string_view kNames = R"({"n": 6, "p": [2, 0, 1], "twice": [2, 0, 0], "words": ["a"],
  "dtype": "bf16", "yes": true, "none": null, "nil": null, "half": 0.5, "o": {"k": [1, 0.5]},
  "same_o": {"k": [1, 0.5]}, "other_o": {"k": [1, 0.25]}, "spec": [null, "x"], "spec2": [null, "x"],
  "long": [[1000000, 1000001], [1000002, 1000003], [1000004, 1000005], [1000006, 1000007], [8]]})";

/// Returns the value of the formula as text, or the message that refuses it.
std::string result(std::string_view formula) {
  const KnownValues known{std::string(kNames)};
  try {
    return value_text(Expression(formula, known.names).value(known.values));
  } catch (const ExpressionError& error) {
    return error.what();
  }
}

/// Returns the message that refuses a formula where it is read, with few names.
std::string parse_error(std::string_view formula) {
  const std::vector<std::string> names = {"n", "rows"};
  try {
    (void)Expression(formula, names);
    return "";
  } catch (const ExpressionError& error) {
    return error.what();
  }
}

/// Returns the text `times` times, with one more text between.
std::string repeated(const std::string& text, int times, const std::string& between = "") {
  std::string all;
  for (int i = 0; i < times; ++i)
    all += (i == 0 ? "" : between) + text;
  return all;
}

struct FormulaCase {
  std::string_view formula;
  std::string_view result;
};

TEST_CASE("formulas: each operator and function has its value") {
  const FormulaCase cases[] = {
      {"7", "7"},
      {" 7 ", "7"},
      {"n", "6"},
      {"dtype", "\"bf16\""},
      {"''", "\"\""},
      {"'é'", "\"é\""},
      {"true", "true"},
      {"none", "null"},
      {"half", "0.5"},
      {"o", "{..}"},
      {"2 + 3", "5"},
      {"2 - 3", "-1"},
      {"2 * 3", "6"},
      {"6 / 3", "2"},
      {"-6 / 3", "-2"},
      {"0 / 5", "0"},
      {"5 / -1", "-5"},
      // A remainder has the sign of the divisor, so that (i - 1) % n is a rank.
      {"7 % 3", "1"},
      // The way to round a division down and up.
      {"(7 - 7 % 3) / 3", "2"},
      {"(7 + -7 % 3) / 3", "3"},
      {"(6 + -6 % 3) / 3", "2"},
      {"-7 % 3", "2"},
      {"7 % -3", "-2"},
      {"-7 % -3", "-1"},
      {"-6 % 3", "0"},
      {"7 % -1", "0"},
      {"- 5", "-5"},
      {"--5", "5"},
      {"-n", "-6"},
      {"not yes", "false"},
      {"not not yes", "true"},
      {"1 == 1", "true"},
      {"1 != 1", "false"},
      {"1 < 1", "false"},
      {"1 <= 1", "true"},
      {"2 > 1", "true"},
      {"1 >= 2", "false"},
      {"yes and false", "false"},
      {"yes or false", "true"},
      {"dtype == 'bf16'", "true"},
      {"dtype != 'f32'", "true"},
      {"p == twice", "false"},
      {"p[0]", "2"},
      {"pairs(p)[1][0]", "1"},
      {"if(yes, 1, 'b')", "1"},
      {"if(n < 0, 1, 'b')", "\"b\""},
      {"min(3, 1, 2)", "1"},
      {"max(3)", "3"},
      {"len(p)", "3"},
      {"pairs(p)", "[[0, 2], [1, 0], [2, 1]]"},
      {"inverse(p)", "[1, 2, 0]"},
      {"each(p)", "[[2], [0], [1]]"},
      {"repeat(0, 3)", "[0, 0, 0]"},
      {"repeat(p, 2)", "[[2, 0, 1], [2, 0, 1]]"},
      {"repeat(0, 0)", "[]"},
      {"inverse(repeat(0, 0))", "[]"},
  };
  for (const FormulaCase& c : cases) {
    CAPTURE(c.formula);
    CHECK(result(c.formula) == c.result);
  }
}

TEST_CASE("formulas: stronger operators come first, and equal ones go from left to right") {
  const FormulaCase cases[] = {
      {"2 + 3 * 4", "14"},
      {"(2 + 3) * 4", "20"},
      {"2 * 3 + 4", "10"},
      {"10 - 4 - 3", "3"},
      {"10 - (4 - 3)", "9"},
      {"12 / 6 * 2", "4"},
      {"8 - 7 % 4", "5"},
      {"-7 % 3 + 1", "3"},
      {"-(7 % 3)", "-1"},
      {"2 * -3", "-6"},
      {"1 + 1 < 3 - 0", "true"},
      {"1 < 2 == yes", "true"},
      {"not 1 == 2", "true"},
      {"not yes or yes", "true"},
      {"yes or yes and false", "true"},
      {"(yes or yes) and false", "false"},
      {"-p[0]", "-2"},
      {"n*n/p[0]", "18"},
  };
  for (const FormulaCase& c : cases) {
    CAPTURE(c.formula);
    CHECK(result(c.formula) == c.result);
  }
}

TEST_CASE("formulas: numbers have 64 bits, and what goes beyond has no value") {
  const FormulaCase cases[] = {
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775806 + 1", "9223372036854775807"},
      {"9223372036854775807 + 1", "9223372036854775807 + 1 is beyond 64 bits"},
      {"-9223372036854775807 - 1", "-9223372036854775808"},
      {"-9223372036854775808 - 1", "-9223372036854775808 - 1 is beyond 64 bits"},
      {"3037000499 * 3037000499", "9223372030926249001"},
      {"3037000500 * 3037000500", "3037000500 * 3037000500 is beyond 64 bits"},
      {"-4611686018427387904 * 2", "-9223372036854775808"},
      {"-9223372036854775808 / -1", "-9223372036854775808 / -1 is beyond 64 bits"},
      {"-9223372036854775808 % -1", "0"},
      {"-(-9223372036854775808)", "0 - -9223372036854775808 is beyond 64 bits"},
      {"9223372036854775806 % 9223372036854775807", "9223372036854775806"},
      {"-1 % 9223372036854775807", "9223372036854775806"},
      {"1 % -9223372036854775808", "-9223372036854775807"},
  };
  for (const FormulaCase& c : cases) {
    CAPTURE(c.formula);
    CHECK(result(c.formula) == c.result);
  }
}

TEST_CASE("formulas: if, and, or work out only what is needed") {
  const FormulaCase cases[] = {
      {"if(yes, 1, 1 / 0)", "1"},
      {"if(false, 1 / 0, 1)", "1"},
      {"false and 1 / 0 == 1", "false"},
      {"true or 1 / 0 == 1", "true"},
      {"true and 1 / 0 == 1", "1 / 0 has no value"},
      {"false or 1 / 0 == 1", "1 / 0 has no value"},
  };
  for (const FormulaCase& c : cases) {
    CAPTURE(c.formula);
    CHECK(result(c.formula) == c.result);
  }
}

TEST_CASE("formulas: null, objects and other numbers are equal if they are written alike") {
  const FormulaCase cases[] = {
      {"none == nil", "true"},       {"half == half", "true"},
      {"o == same_o", "true"},       {"o == other_o", "false"},
      {"none == o", "false"},        {"spec == spec2", "true"},
      {"spec == each(p)", "false"},  {"each(spec) == each(spec2)", "true"},
      {"pairs(spec) == p", "false"},
  };
  for (const FormulaCase& c : cases) {
    CAPTURE(c.formula);
    CHECK(result(c.formula) == c.result);
  }
}

TEST_CASE("formulas: one that cannot be read is refused with what was expected") {
  const FormulaCase cases[] = {
      {"", "expected a value, got the end"},
      {"  ", "expected a value, got the end"},
      {"n +", "expected a value, got the end"},
      {"#", "expected a value, got \"#\""},
      {"+ 1", "expected a value, got \"+\""},
      {"min(1,)", "expected a value, got \")\""},
      {"n rows", "expected an operator, got \"rows\""},
      {"n = 2", "expected an operator, got \"=\""},
      {"1.5", "expected an operator, got \".\""},
      {"n × 2", "expected an operator, got \"×\""},
      {"(n", "expected \")\", got the end"},
      {"n[0)", "expected \"]\", got \")\""},
      {"len(n", "expected \")\", got the end"},
      {"'bf16", "the text \"'bf16\" is not closed by a \"'\""},
      {"9223372036854775808", "expected a whole number of 64 bits, got \"9223372036854775808\""},
      {"-9223372036854775809", "expected a whole number of 64 bits, got \"-9223372036854775809\""},
      {"12ab", "expected a whole number, got \"12ab\""},
      {"columns", "expected one of n, rows, got \"columns\""},
      {"rowss", "expected one of n, rows, got \"rowss\"; did you mean \"rows\"?"},
      {"1 == not true", "expected one of n, rows, got \"not\""},
      {"n(1)", "expected one of if, min, max, len, pairs, inverse, each, repeat, got \"n\""},
      {"mim(1, 2)",
       "expected one of if, min, max, len, pairs, inverse, each, repeat, got \"mim\"; did you mean "
       "\"min\"?"},
      {"if(true, 1)", "if: expected 3 values in parentheses, got 2"},
      {"repeat(1)", "repeat: expected 2 values in parentheses, got 1"},
      {"len()", "len: expected 1 value in parentheses, got 0"},
      {"min()", "min: expected 1 to 64 values in parentheses, got 0"},
  };
  for (const FormulaCase& c : cases) {
    CAPTURE(c.formula);
    CHECK(parse_error(c.formula) == c.result);
  }
  CHECK(parse_error("max(" + repeated("n", 64, ", ") + ")") == "");
  CHECK(parse_error("max(" + repeated("n", 65, ", ") + ")") ==
        "max: expected 1 to 64 values in parentheses, got 65");
  CHECK_THROWS_WITH_AS(Expression("n", {}), "no name is known here, got \"n\"", ExpressionError);
}

TEST_CASE("formulas: one without a value is refused with what was expected") {
  const FormulaCase cases[] = {
      {"1 + yes", "+: expected a whole number, got true"},
      {"dtype * 2", "*: expected a whole number, got \"bf16\""},
      {"1 + none", "+: expected a whole number, got null"},
      {"1 + half", "+: expected a whole number, got 0.5"},
      {"1 + o", "+: expected a whole number, got {..}"},
      {"1 + p", "+: expected a whole number, got [2, 0, 1]"},
      {"1 + long",
       "+: expected a whole number, got [[1000000, 1000001], [1000002, 1000003], [1000004, "
       "1000005], [1000006, ..]"},
      {"-yes", "-: expected a whole number, got true"},
      {"'a' < 'b'", "<: expected a whole number, got \"a\""},
      {"1 < 2 < 3", "<: expected a whole number, got true"},
      {"1 == yes", "==: expected two values of one kind, got 1 and true"},
      {"none != 'x'", "!=: expected two values of one kind, got null and \"x\""},
      {"not 1", "not: expected true or false, got 1"},
      {"1 and yes", "and: expected true or false, got 1"},
      {"false or 1", "or: expected true or false, got 1"},
      {"if(1, 2, 3)", "if: expected true or false, got 1"},
      {"min(1, 'a')", "min: expected a whole number, got \"a\""},
      {"n[0]", "[]: expected a list, got 6"},
      {"p[yes]", "[]: expected a whole number, got true"},
      {"p[3]", "[3]: the list has 3 items"},
      {"p[-1]", "[-1]: the list has 3 items"},
      {"len(n)", "len: expected a list, got 6"},
      {"pairs(dtype)", "pairs: expected a list, got \"bf16\""},
      {"inverse(twice)", "inverse: expected each of 0 to 2 once, got [2, 0, 0]"},
      {"inverse(repeat(1, 1))", "inverse: expected each of 0 to 0 once, got [1]"},
      {"inverse(words)", "inverse: expected a whole number, got \"a\""},
      {"1 / 0", "1 / 0 has no value"},
      {"1 % 0", "1 % 0 has no value"},
      {"7 / 2", "7 / 2 is not a whole number"},
      {"repeat(0, -1)", "repeat: expected 0 times or more, got -1"},
      {"repeat(0, 65537)", "repeat: expected a list of at most 65536 items, got more"},
      {"repeat(p, 9223372036854775807)",
       "repeat: expected a list of at most 65536 items, got more"},
      // The 256 lists have 256 items each, and are items themselves.
      {"repeat(repeat(0, 256), 256)", "repeat: expected a list of at most 65536 items, got more"},
      {"each(repeat(0, 65536))", "each: expected a list of at most 65536 items, got more"},
      {"pairs(repeat(0, 65536))", "pairs: expected a list of at most 65536 items, got more"},
  };
  for (const FormulaCase& c : cases) {
    CAPTURE(c.formula);
    CHECK(result(c.formula) == c.result);
  }
  CHECK(result("len(repeat(repeat(0, 255), 256))") == "256");
}

TEST_CASE("formulas: the longest and the deepest have values, longer and deeper ones are refused") {
  CHECK(result(repeated("1", 512, "+")) == "512");
  CHECK(result("1" + repeated("+1", 511) + " ") == "512");
  CHECK(result(repeated("1", 513, "+")) == "expected a formula of at most 1024 bytes, got 1025");
  CHECK(result("repeat(n, 3)" + repeated("[0]", 300)) == "[]: expected a list, got 6");
  const auto nested = [](const std::string& open, int depth, const std::string& close) {
    return repeated(open, depth) + "7" + repeated(close, depth);
  };
  const std::string error = "expected at most 64 levels of nesting, got more";
  CHECK(result(nested("(", 63, ")")) == "7");
  CHECK(result(nested("(", 64, ")")) == error);
  CHECK(result(nested("max(", 63, ")")) == "7");
  CHECK(result(nested("max(", 64, ")")) == error);
  CHECK(result(nested("- ", 64, "")) == "7");
  CHECK(result(nested("- ", 65, "")) == error);
  CHECK(result(repeated("not ", 62) + "yes") == "true");
  CHECK(result(repeated("not ", 64) + "yes") == error);
  CHECK(result(nested("p[", 64, "]")) == error);
  CHECK(result(repeated("(", 1024)) == error);
}

TEST_CASE("formulas: a name has letters, digits and _, and is no word of formulas") {
  for (const std::string_view name : {"n", "N", "_", "a1", "not_", "iff"}) {
    CAPTURE(name);
    CHECK(is_name(name));
  }
  for (const std::string_view name : {"", "1a", "a-b", "a b", "é", "and", "or", "not", "true",
                                      "false", "if", "min", "max", "len", "repeat"}) {
    CAPTURE(name);
    CHECK_FALSE(is_name(name));
  }
}

/// A Sketch is a formula of a number, with the value that it must have: none if it goes beyond 64
/// bits. Weaker operators than its own stand in parentheses.
struct Sketch {
  enum class Strength : uint8_t { Sum, Product, Negation, Word } strength = Strength::Word;
  std::string text;
  std::optional<int64_t> value;
};

std::optional<int64_t> in_64_bits(Int128 wide) {
  const auto narrow = static_cast<int64_t>(wide);
  return narrow == wide ? std::optional(narrow) : std::nullopt;
}

Sketch any_number() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t value = test::one_of<int64_t>(test::in_range(-9, 10), test::in_range(-9, 10),
                                              test::any_int<int64_t>(), int64_t{1} << 31U, kMost,
                                              kMost - 1, -kMost, -kMost - 1);
  return {value < 0 ? Sketch::Strength::Negation : Sketch::Strength::Word, fmt::format("{}", value),
          value};
}

Sketch joined(const Sketch& a, char op, const Sketch& b) {
  const auto strength = op == '*' ? Sketch::Strength::Product : Sketch::Strength::Sum;
  std::optional<int64_t> value;
  if (a.value && b.value)
    value = in_64_bits(op == '+'   ? Int128{*a.value} + *b.value
                       : op == '-' ? Int128{*a.value} - *b.value
                                   : Int128{*a.value} * *b.value);
  const auto part = [](const Sketch& of, bool closed) {
    return closed ? of.text : "(" + of.text + ")";
  };
  return {
      strength,
      fmt::format("{} {} {}", part(a, a.strength >= strength), op, part(b, b.strength > strength)),
      value};
}

Sketch any_sketch(int depth) {
  using Strength = Sketch::Strength;
  if (depth == 0 || test::evenly_below(5) == 0)
    return any_number();
  const Sketch a = any_sketch(depth - 1);
  const Sketch b = any_sketch(depth - 1);
  const bool both = a.value && b.value;
  switch (test::evenly_below(6)) {
    case 0:
      return joined(a, '+', b);
    case 1:
      return joined(a, '-', b);
    case 2:
      return joined(a, '*', b);
    case 3:
      return {Strength::Word, fmt::format("min({}, {})", a.text, b.text),
              both ? std::optional(std::min(*a.value, *b.value)) : std::nullopt};
    case 4:
      return {Strength::Word, fmt::format("max({}, {})", a.text, b.text),
              both ? std::optional(std::max(*a.value, *b.value)) : std::nullopt};
    default: {
      const Sketch then = any_sketch(depth - 1);
      const Sketch otherwise = any_sketch(depth - 1);
      return {Strength::Word,
              fmt::format("if({} < {}, {}, {})", a.text, b.text, then.text, otherwise.text),
              !both                 ? std::nullopt
              : *a.value < *b.value ? then.value
                                    : otherwise.value};
    }
  }
}

TEST_CASE("formulas: random ones have the value of whole numbers, or none beyond 64 bits") {
  test::holds_for_all("value or overflow", [] {
    const Sketch sketch = any_sketch(3);
    if (sketch.text.size() > 1024)
      return;
    const std::string got = result(sketch.text);
    if (sketch.value)
      RC_ASSERT(got == fmt::format("{}", *sketch.value));
    else
      RC_ASSERT(got.ends_with(" is beyond 64 bits"));
  });
}

}  // namespace
}  // namespace orrery
