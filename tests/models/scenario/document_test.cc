#include "models/scenario/document.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace orrery {
namespace {

/// Returns the errors as "line:column: pointer: message" lines.
std::string errors_of(std::string_view text, const Limits& limits = {}) {
  Diagnostics diagnostics("f");
  const Document document(text, diagnostics, limits);
  CHECK(document.root().has_value() == diagnostics.empty());
  try {
    diagnostics.throw_if_any();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string place(const Origin& origin) {
  return fmt::format("{}:{} {}", origin.at->line, origin.at->column, origin.pointer);
}

TEST_CASE("document: every value knows where it begins") {
  Diagnostics diagnostics("f");
  const Document document(R"({"a": [10, -2.5e3, "x\"y\\"],
  "b": {"c": true, "d": null},
  // a comment, with "quotes" in it
  "e": /* and another */ []})",
                          diagnostics);
  REQUIRE(diagnostics.empty());
  const DocumentNode root = *document.root();
  CHECK(place(root.origin()) == "1:1 ");
  const DocumentNode a = *root.find("a");
  CHECK(place(a.origin()) == "1:7 /a");
  CHECK(place(a.key_origin()) == "1:2 /a");
  const DocumentNode first = *a.first();
  CHECK(place(first.origin()) == "1:8 /a/0");
  CHECK(first.number() == "10");
  const DocumentNode second = *first.next();
  CHECK(place(second.origin()) == "1:12 /a/1");
  CHECK(second.number() == "-2.5e3");
  const DocumentNode third = *second.next();
  CHECK(place(third.origin()) == "1:20 /a/2");
  CHECK(third.text() == "x\"y\\");
  CHECK_FALSE(third.next().has_value());
  const DocumentNode d = *root.find("b")->find("d");
  CHECK(place(d.key_origin()) == "2:20 /b/d");
  CHECK(place(d.origin()) == "2:25 /b/d");
  CHECK(d.kind() == DocumentNode::Kind::Null);
  CHECK(root.find("b")->find("c")->boolean());
  CHECK(place(root.find("e")->origin()) == "4:26 /e");
  CHECK(root.find("e")->size() == 0);
}

TEST_CASE("document: a number keeps its digits") {
  Diagnostics diagnostics("f");
  const Document document("[-0, 18446744073709551616, 0.1000, 1E5,7]", diagnostics);
  REQUIRE(diagnostics.empty());
  std::string digits;
  const DocumentNode root = *document.root();
  for (const DocumentNode item : root)
    digits += std::string(item.number()) + " ";
  CHECK(digits == "-0 18446744073709551616 0.1000 1E5 7 ");
}

TEST_CASE("document: a number that ends the text") {
  Diagnostics diagnostics("f");
  const Document document("42", diagnostics);
  REQUIRE(diagnostics.empty());
  CHECK(document.root()->number() == "42");
}

TEST_CASE("document: pointers escape as RFC 6901 says, and stay on their line") {
  Diagnostics diagnostics("f");
  const Document document(R"({"a/b~c\n": 1})", diagnostics, Limits(), ControlCharacters::Accepted);
  REQUIRE(diagnostics.empty());
  CHECK(document.root()->first()->origin().pointer == "/a~1b~0c\\u000a");
}

TEST_CASE("document: the first of duplicate keys counts, and the others are reported") {
  Diagnostics diagnostics("f");
  const Document document("{\"k\": {\"twice\": 1,\n \"twice\": [2, {\"z\": 3}], \"last\": 4}}",
                          diagnostics);
  REQUIRE(diagnostics.size() == 1);
  CHECK_THROWS_WITH(diagnostics.throw_if_any(),
                    "f:2:2: /k/twice: duplicate key \"twice\"; the first is at 1:8");
  const DocumentNode k = *document.root()->find("k");
  CHECK(k.size() == 2);
  CHECK(k.find("twice")->number() == "1");
  CHECK(k.find("last")->number() == "4");
}

struct Refused {
  std::string_view text;
  std::string_view error;
};

TEST_CASE("document: text that is not JSON is refused at the first unexpected token") {
  const Refused cases[] = {
      {"", "f:1:1: expected a value, got the end of the file"},
      {" // only a comment\n", "f:2:1: expected a value, got the end of the file"},
      {"\xEF\xBB\xBF]", "f:1:4: expected a value, got \"]\""},
      {"{",
       "f:1:2: expected a key in quotes or \"}\", got the end of the file (the object begun "
       "at 1:1 is not closed)"},
      {"{a: 1}", "f:1:2: expected a key in quotes or \"}\", got \"a\""},
      {"{\"a\" 1}", "f:1:6: expected \":\", got \"1\""},
      {"{\"a\":}", "f:1:6: expected a value, got \"}\""},
      {"{\"a\": 1,}", "f:1:9: expected a key in quotes, got \"}\""},
      {"{\"a\": 1 \"b\": 2}", "f:1:9: expected \",\" or \"}\", got \"b\""},
      {"{\"a\": {\"b\": 1}",
       "f:1:15: expected \",\" or \"}\", got the end of the file (the object "
       "begun at 1:1 is not closed)"},
      {"[1, 2",
       "f:1:6: expected \",\" or \"]\", got the end of the file (the list begun at 1:1 is "
       "not closed)"},
      {"[1 2]", "f:1:4: expected \",\" or \"]\", got \"2\""},
      {"[1-2]", "f:1:3: expected \",\" or \"]\", got \"-2\""},
      {"[01]", "f:1:3: expected \",\" or \"]\", got \"1\""},
      {"[,]", "f:1:2: expected a value or \"]\", got \",\""},
      {"[1, ]", "f:1:5: expected a value, got \"]\""},
      {"[1.]", "f:1:2: expected a value or \"]\", got \"1.\""},
      {"{\"k\": [tru]}", "f:1:8: /k: expected a value or \"]\", got \"tru\""},
      {"[NaN]", "f:1:2: /0: expected a value or \"]\", got \"NaN\"; write \"NaN\", in quotes"},
      {"{\"k\": [1, -inf]}",
       "f:1:11: /k/1: expected a value, got \"-inf\"; write \"-Infinity\", in quotes"},
      {"{\"k\": +Infinity}",
       "f:1:7: /k: expected a value, got \"+Infinity\"; write \"Infinity\", in quotes"},
      {"{nan: 1}", "f:1:2: expected a key in quotes or \"}\", got \"nan\""},
      {"{\"k\": 1 nan}", "f:1:9: expected \",\" or \"}\", got \"nan\""},
      {"nan", "f:1:1: expected a value, got \"nan\""},
      {"[1] [2]", "f:1:5: expected the end of the file, got \"[\""},
      {"[1e400]",
       "f:1:2: /0: expected a number that 64 bits can hold, got 1e400; infinity is written "
       "\"Infinity\""},
      {"{\"k\": {\"a/b\": [0, -1e999]}}",
       "f:1:19: /k/a~1b/1: expected a number that 64 bits can hold, got -1e999; infinity is "
       "written \"-Infinity\""},
      {"{\"k\": 1e999}", "f:1:7: /k: expected a number that 64 bits can hold, got 1e999"},
      {"[\"ab", "f:1:2: expected a value or \"]\", got a string that is not closed"},
      {"[\"", "f:1:2: expected a value or \"]\", got a string that is not closed"},
      {"[\"a\nb\"]",
       "f:1:2: expected a value or \"]\", got a string that is not closed on its line"},
      {"[\"a\tb\"]",
       "f:1:2: expected a value or \"]\", got a string with a control character in it "
       "(write it as an escape, such as \\t)"},
      {"[\"a\\qb\"]",
       "f:1:2: expected a value or \"]\", got a string with a faulty escape or bytes "
       "that are not UTF-8"},
      {"[\"a\xFF\"]",
       "f:1:2: expected a value or \"]\", got a string with a faulty escape or bytes "
       "that are not UTF-8"},
      {"//\r1e400", "f:1:4: expected a number that 64 bits can hold, got 1e400"},
      {std::string_view("[1]\0]", 5), "f:1:4: expected text, got a byte of 0"},
      {"[1, /* ", "f:1:5: expected a value, got a comment that is not closed"},
  };
  for (const Refused& c : cases) {
    CAPTURE(c.text);
    CHECK(errors_of(c.text) == c.error);
  }
}

TEST_CASE("document: a text beyond a limit is refused at the position that exceeds it") {
  Limits limits;
  limits.nesting = 2;
  CHECK(errors_of("[[1]]", limits) == "");
  CHECK(
      errors_of("[[[1]]]", limits) ==
      "f:1:3: /0: expected at most 2 levels of nesting, got more (--limit nesting=N allows more)");
  limits = {};
  limits.values = 3;
  CHECK(errors_of("[1, 2]", limits) == "");
  CHECK(errors_of("[1, 2, 3]", limits) ==
        "f:1:8: expected at most 3 values in a file, got more (--limit values=N allows more)");
}

TEST_CASE("messages: a quoted text stays on one line and is cut where it is long") {
  CHECK(in_quotes("a\nb") == "\"a\\u000ab\"");
  CHECK(in_quotes(std::string(60, 'x')) == "\"" + std::string(60, 'x') + "\"");
  CHECK(in_quotes(std::string(61, 'x')) == "\"" + std::string(60, 'x') + "...\"");
  // The cut is not inside the two bytes of an e with an acute accent.
  CHECK(in_quotes(std::string(59, 'x') + "\xC3\xA9z") == "\"" + std::string(59, 'x') + "...\"");
}

}  // namespace
}  // namespace orrery
