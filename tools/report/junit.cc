#include "tools/report/junit.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "models/base/characters.h"

namespace orrery {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

/// Returns the text with U+FFFD in place of each byte that is not UTF-8.
std::string in_utf8(std::string_view text) {
  std::string out;
  while (const std::optional<size_t> wrong = not_utf8_at(text)) {
    out += text.substr(0, *wrong);
    out += kReplacement;
    text.remove_prefix(*wrong + 1);
  }
  return out.append(text);
}

/// Returns the text with U+FFFD in place of all that XML 1.0 cannot hold: other control characters
/// than tab and line feed (a parser would make a line feed of a carriage return), U+FFFE, U+FFFF.
std::string in_xml(std::string_view given) {
  const std::string text = in_utf8(given);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::string_view three = std::string_view(text).substr(i, 3);
    if (byte < 0x20 && byte != '\t' && byte != '\n') {
      out += kReplacement;
    } else if (three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf") {
      out += kReplacement;
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

void set(pugi::xml_node node, const char* key, std::string_view text) {
  node.append_attribute(key).set_value(in_xml(text).c_str());
}

bool is_failure(JunitOutcome outcome) {
  return outcome == JunitOutcome::Failed || outcome == JunitOutcome::Undecided;
}

struct Counts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(const JunitSuite& suite) {
    for (const JunitCase& each : suite.cases) {
      ++tests;
      failures += is_failure(each.outcome) ? 1 : 0;
      errors += each.outcome == JunitOutcome::WrongInput ? 1 : 0;
      skipped += each.outcome == JunitOutcome::Allowed ? 1 : 0;
    }
  }
  void write(pugi::xml_node node) const {
    node.append_attribute("tests").set_value(tests);
    node.append_attribute("failures").set_value(failures);
    node.append_attribute("errors").set_value(errors);
  }
};

void write_case(pugi::xml_node suite, const JunitCase& each) {
  pugi::xml_node node = suite.append_child("testcase");
  set(node, "name", each.name);
  set(node, "classname", each.classname);
  if (each.outcome == JunitOutcome::Passed)
    return;
  const bool failure = is_failure(each.outcome);
  pugi::xml_node child = node.append_child(
      failure ? "failure" : (each.outcome == JunitOutcome::Allowed ? "skipped" : "error"));
  set(child, "message", each.message);
  if (failure)
    set(child, "type", each.outcome == JunitOutcome::Failed ? "fails" : "undecided");
  child.text().set(
      in_xml(fmt::format("{}\n{}{}", each.message, each.details,
                         each.replay.empty() ? "" : fmt::format("Replay: {}\n", each.replay)))
          .c_str());
}

}  // namespace

std::vector<JunitCase> junit_cases(const std::string& file, const std::vector<Check>& checks,
                                   const std::string& replay) {
  const std::string classname = std::filesystem::path(file).replace_extension().string();
  std::map<std::string, size_t> known;
  std::vector<JunitCase> cases;
  for (const Check& check : checks) {
    JunitCase& each = cases.emplace_back();
    each.name = check.name + (check.of.empty() ? "" : " " + check.of);
    if (const size_t count = ++known[each.name]; count > 1)
      each.name += fmt::format(" ({})", count);
    each.classname = classname;
    if (check.holds())
      continue;
    each.outcome = check.verdict == Verdict::Fails ? JunitOutcome::Failed : JunitOutcome::Undecided;
    each.message = check.said();
    for (const auto& [key, text] : check.witness)
      each.details += fmt::format("  {}: {}\n", key, text);
    each.replay = replay;
  }
  return cases;
}

std::string junit_text(const std::vector<JunitSuite>& suites) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "orrery");
  Counts all;
  for (const JunitSuite& suite : suites)
    all.add(suite);
  all.write(root);
  for (const JunitSuite& suite : suites) {
    pugi::xml_node node = root.append_child("testsuite");
    set(node, "name", suite.name);
    Counts counts;
    counts.add(suite);
    counts.write(node);
    node.append_attribute("skipped").set_value(counts.skipped);
    for (const JunitCase& each : suite.cases)
      write_case(node, each);
  }
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace orrery
