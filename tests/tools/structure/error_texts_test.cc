// Tests that every rule by which a program or a scenario is refused has a test with the message.

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/structure/source_tree.h"

namespace orrery::test {
namespace {

/// Returns the texts between placeholders. "expected {} {{, got {}" has "expected ", " {, got " and
/// "".
std::vector<std::string> pieces_of(const std::string& format) {
  std::vector<std::string> pieces(1);
  for (size_t i = 0; i < format.size(); ++i) {
    const bool doubled = i + 1 < format.size() && format[i] == format[i + 1];
    if (format[i] == '{' && !doubled) {
      i = format.find('}', i);
      pieces.emplace_back();
      continue;
    }
    i += doubled && (format[i] == '{' || format[i] == '}') ? 1 : 0;
    pieces.back() += format[i];
  }
  return pieces;
}

/// Returns whether `text` has the pieces, one after another.
bool has(std::string_view text, const std::vector<std::string>& pieces) {
  size_t at = 0;
  for (const std::string& piece : pieces) {
    at = text.find(piece, at);
    if (at == text.npos)
      return false;
    at += piece.size();
  }
  return true;
}

bool is_message(const std::string& text) {
  return text.find("expected ") != text.npos;
}

TEST_CASE("error texts: the scan joins literals, and knows raw ones, escapes and placeholders") {
  CHECK(string_literals("f(\"a\\\"b\" // \"no\"\n \"c\", R\"x(d\")x\", '\"', 1'000, \"e\")") ==
        std::vector<std::string>{"a\"bc", "d\"", "e"});
  CHECK(pieces_of("expected {} {{x}}, got {:d}") ==
        std::vector<std::string>{"expected ", " {x}, got ", ""});
  CHECK(has("x: expected 3 ranks, got 4", pieces_of("expected {} ranks, got {}")));
  CHECK_FALSE(has("x: expected 3 ranks, got 4", pieces_of("expected {} ranks of {}, got {}")));
}

TEST_CASE(
    "error texts: what models/mesh, program, transform and scenario refuse with is in a test") {
  std::vector<std::string> messages;
  std::vector<std::string> tested;
  for (const SourceFile& file : source_files({".h", ".cc"})) {
    const bool of_tests = file.path.starts_with("tests/");
    const bool of_rules =
        file.path.starts_with("models/mesh/") || file.path.starts_with("models/program/") ||
        file.path.starts_with("models/transform/") || file.path.starts_with("models/scenario/");
    if (!of_tests && !of_rules)
      continue;
    for (std::string& literal : string_literals(file.text))
      if (is_message(literal))
        (of_tests ? tested : messages).push_back(std::move(literal));
  }
  CHECK(messages.size() > 150);
  std::string untested;
  for (const std::string& message : messages) {
    const std::vector<std::string> pieces = pieces_of(message);
    bool found = false;
    for (const std::string& text : tested)
      found = found || has(text, pieces);
    untested += found ? "" : message + "\n";
  }
  CHECK(untested == "");
}

}  // namespace
}  // namespace orrery::test
