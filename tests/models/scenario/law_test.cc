#include "models/scenario/law.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/json_text.h"

namespace orrery {
namespace {

/// Returns what the function throws as wrong input; "" if it throws nothing.
template <class Function>
std::string input_error(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Holes of any document.

std::string line_of(DocumentNode node) {
  return json_of(node).line();
}

/// Returns the places of all values, as "line:column pointer" lines.
std::string places_of(DocumentNode node) {
  const Origin origin = node.origin();
  std::string places =
      fmt::format("{}:{} {}\n", origin.at->line, origin.at->column, origin.pointer);
  for (const DocumentNode member : node) {
    if (node.kind() == DocumentNode::Kind::Object)
      CHECK(member.key_origin().pointer == member.origin().pointer);
    places += places_of(member);
  }
  return places;
}

/// Fills the document, whose member "known" has the names with their values and no holes. Returns
/// what `of` makes of the root, or the message that refuses the document or a value.
std::string filled(const std::string& text, std::string (*of)(DocumentNode),
                   const Limits& limits = {}) {
  Diagnostics diagnostics("f");
  const Document document(text, diagnostics, limits);
  std::vector<std::string> names;
  std::vector<TemplateValue> values;
  const DocumentNode known = *document.root()->find("known");
  for (const DocumentNode member : known) {
    names.push_back(member.key());
    values.push_back(template_value(member));
  }
  std::string result;
  const std::string error = input_error([&] {
    const std::vector<std::string_view> apart = {"known"};
    const Holes holes(document, names, apart, diagnostics);
    diagnostics.throw_if_any();
    result = of(*holes.filled(values, diagnostics, limits)->root());
  });
  return error.empty() ? result : error;
}

/// Returns the hole's text as it is filled where several names are known.
std::string filled_hole(const std::string& text) {
  const std::string filled_text = filled(R"({"known": {"n": 3, "t": "bf16", "p": [1, null, [0.50]],
"none": null, "half": 0.50, "yes": true, "o": {"k": [1e3, "x"], "e": {}}},
"h": )" + text + "}",
                                         line_of);
  return filled_text.starts_with("{\"h\": ") ? filled_text.substr(6, filled_text.size() - 7)
                                             : filled_text;
}

struct HoleCase {
  std::string text;
  std::string filled;
};

TEST_CASE("holes: a text that is one hole takes a value and its type, a longer text takes a text") {
  const HoleCase cases[] = {
      {R"("${n}")", "3"},
      {R"("${ n * n }")", "9"},
      {R"("${-n}")", "-3"},
      {R"("${n > 2}")", "true"},
      {R"("${t}")", "\"bf16\""},
      {R"("${'a b'}")", "\"a b\""},
      {R"("${'a}b'}")", "\"a}b\""},
      {R"("${t}: ${'}'}${n}}")", "\"bf16: }3}\""},
      {R"("${'a}")", "f:3:6: /h: \"'a\": the text \"'a\" is not closed by a \"'\""},
      {R"("${'a'")", "f:3:6: /h: expected \"}\" after \"${\", got \"${'a'\""},
      {R"("${p}")", "[1, null, [0.50]]"},
      {R"("${each(p)}")", "[[1], [null], [[0.50]]]"},
      {R"("${none}")", "null"},
      {R"("${half}")", "0.50"},
      {R"("${o}")", R"({"k": [1e3, "x"], "e": {}})"},
      {R"("${repeat(o, 2)}")", R"([{"k": [1e3, "x"], "e": {}}, {"k": [1e3, "x"], "e": {}}])"},
      {R"("w${n}")", "\"w3\""},
      {R"("${n}.${t}é")", "\"3.bf16é\""},
      {R"("${n}${n}")", "\"33\""},
      {R"(["${n}", "$n", "{n}", "$${n}", 2, {"k": "${n}"}])",
       R"([3, "$n", "{n}", "$3", 2, {"k": 3}])"},
      {R"("w${half}")", "\"w0.50\""},
      {R"("w${p[0]}${each(p)[2][0][0]}")", "\"w10.50\""},
      {R"("w${yes}.${n < 3}")", "\"wtrue.false\""},
      {R"("w${p}")",
       "f:3:6: /h: \"p\": expected a number, a boolean or a text within a longer text, got [1, "
       "null, [0.50]]"},
      {R"("w${none}")",
       "f:3:6: /h: \"none\": expected a number, a boolean or a text within a longer text, got "
       "null"},
      {R"("w${o}")",
       "f:3:6: /h: \"o\": expected a number, a boolean or a text within a longer text, got {..}"},
      {R"("w${p[0] / 0}")", "f:3:6: /h: \"p[0] / 0\": 1 / 0 has no value"},
      {R"(["${n / 2}", "x${t}${t + 1}"])",
       "f:3:7: /h/0: \"n / 2\": 3 / 2 is not a whole number\n"
       "f:3:19: /h/1: \"t + 1\": +: expected a whole number, got \"bf16\""},
      {R"("${n")", "f:3:6: /h: expected \"}\" after \"${\", got \"${n\""},
      {R"("a${n}b${n")", "f:3:6: /h: expected \"}\" after \"${\", got \"${n\""},
      {R"("${}")", "f:3:6: /h: \"\": expected a value, got the end"},
      {R"("${m}")", "f:3:6: /h: \"m\": expected one of n, t, p, none, half, yes, o, got \"m\""},
      {R"({"k": {"a${n}": 1}})", "f:3:13: /h/k/a${n}: expected a key without holes, got \"a${n}\""},
  };
  for (const HoleCase& c : cases) {
    CAPTURE(c.text);
    CHECK(filled_hole(c.text) == c.filled);
  }
  CHECK(filled(R"({"known": {}, "${n}": 1})", line_of) ==
        "f:1:15: /${n}: expected a key without holes, got \"${n}\"");
}

TEST_CASE("holes: what fills one stands where it stands") {
  CHECK(filled(R"({"known": {"o": {"k": [5, 6]}, "n": 3},
"a": ["x", "${n}",
  "${o}"], "b": "${repeat(n, 2)}", "c": {"d": 7}})",
               places_of) ==
        "1:1 \n"
        "2:6 /a\n2:7 /a/0\n2:12 /a/1\n"
        "3:3 /a/2\n3:3 /a/2/k\n3:3 /a/2/k/0\n3:3 /a/2/k/1\n"
        "3:17 /b\n3:17 /b/0\n3:17 /b/1\n3:41 /c\n3:47 /c/d\n");
}

TEST_CASE("holes: what fills them counts towards the limits") {
  Limits limits;
  limits.values = 10;
  // The root, the list, and its 8 items. "known" with n is left out.
  const std::string text = R"({"known": {"n": 8},
"a": "${repeat(0, n)}"})";
  CHECK(filled(text, line_of, limits) == R"({"a": [0, 0, 0, 0, 0, 0, 0, 0]})");
  limits.values = 9;
  CHECK(filled(text, line_of, limits) ==
        "f:2:6: expected at most 9 values in a file, got more (--limit values=N allows more)");
  limits = {};
  limits.nesting = 3;
  // The value is as deep as the limit where it is written, and one deeper where it is put.
  for (const char* const value : {"[5]", "{\"k\": 5}"}) {
    const std::string known = fmt::format(R"({{"known": {{"o": {}}},)", value) + "\n";
    CHECK(filled(known + R"("a": {"b": "${o}"}})", line_of, limits) ==
          fmt::format(R"({{"a": {{"b": {}}}}})", value));
    CHECK(filled(known + R"("a": {"b": {"c": "${o}"}}})", line_of, limits) ==
          "f:2:18: /a/b: expected at most 3 levels of nesting, got more (--limit nesting=N allows "
          "more)");
  }
  CHECK(filled(R"({"known": {"n": 1}, "a": {"b": ["${repeat(0, n)}"]}})", line_of, limits) ==
        "f:1:33: /a/b: expected at most 3 levels of nesting, got more (--limit nesting=N allows "
        "more)");
  limits = {};
  limits.text = 12;
  CHECK(filled(R"({"known": {"t": "abcdef"}, "a": "${t}${t}"})", line_of, limits) ==
        R"({"a": "abcdefabcdef"})");
  CHECK(filled(R"({"known": {"t": "abcdef"}, "a": "-${t}${t}"})", line_of, limits) ==
        "f:1:33: /a: expected at most 12 B in a text, got 13 B (--limit text=SIZE allows more)");
}

TEST_CASE("holes: large ones end at the limit of values") {
  std::string holes;
  for (int i = 0; i < 20; ++i)
    holes += (i == 0 ? "" : ", ") + std::string("\"${repeat(0, 65536)}\"");
  Limits limits;
  limits.values = 1 << 20;
  // Besides the root and the list, 15 lists of 65,537 values fit; the hole of the next is at
  // 21 + 15 * 23.
  CHECK(filled(R"({"known": {}, "a": [)" + holes + "]}", line_of, limits) ==
        "f:1:366: expected at most 1048576 values in a file, got more (--limit values=N allows "
        "more)");
}

// Laws.

/// A SmallLaw has one key per line. "forall" is in line 2, "where" in 3, "mesh" in 4, "arrays" in
/// 5, "program" in 6, and `expect` in 7.
struct SmallLaw {
  std::string forall = R"({"n": {"from": 1, "to": 4}, "dtype": {"choose": ["f32", "s32"]}})";
  std::string where = R"("n > 1")";
  std::string mesh = R"({"x": "${n}"})";
  std::string arrays = R"({"a": {"shape": ["${2 * n}"], "dtype": "${dtype}", "spec": ["x"]}})";
  std::string program = R"([{"id": "sum${n}", "op": "psum", "of": "a", "axis_name": "x"}])";
  std::string expect = R"("expect": [{"holds": ["deadlock_free"]}])";

  std::string text() const {
    return "{\"orrery\": 1, \"name\": \"law\",\n\"forall\": " + forall + ",\n\"where\": " + where +
           ",\n\"mesh\": " + mesh + ",\n\"arrays\": " + arrays + ",\n\"program\": " + program +
           ",\n" + expect + "}\n";
  }
};

std::string law_error(const std::string& text, const Limits& limits = {}) {
  return input_error([&] { (void)Law("f", text, limits); });
}

ScenarioDefaults ring_defaults() {
  ScenarioDefaults defaults;
  defaults.cluster = [](uint32_t devices) {
    return Cluster{.name = "made",
                   .fabric = ring_fabric(devices, {BytesPerSecond(1'000'000), Duration(1)}),
                   .device = {}};
  };
  return defaults;
}

std::string scenario_error(const std::string& text, const std::vector<TemplateValue>& values) {
  const Law law("f", text);
  return input_error([&] { (void)law.scenario(values, ring_defaults()); });
}

const std::vector<TemplateValue> kThree = {{int64_t{3}}, {std::string("s32")}};

TEST_CASE("laws: one has its names, in order, and what is drawn for them") {
  const Law law("f", SmallLaw().text());
  CHECK(law.file() == "f");
  CHECK(law.name() == "law");
  CHECK_FALSE(law.has_cluster());
  CHECK(law.names() == std::vector<std::string>{"n", "dtype"});
  REQUIRE(law.draws().size() == 2);
  CHECK(law.draws()[0].kind() == Draw::Kind::Number);
  CHECK(law.draws()[1].choices().size() == 2);
}

TEST_CASE("laws: values make a scenario, with what the law leaves open") {
  const Law law("f", SmallLaw().text());
  ScenarioDefaults defaults = ring_defaults();
  defaults.init = RandomInit{42, RandomInit::Values::Integers};
  const Scenario made = law.scenario(kThree, defaults);
  CHECK(made.file == "f");
  CHECK(made.program.mesh.devices() == 3);
  CHECK(made.cluster.name == "made");
  CHECK(made.cluster.fabric.devices() == 3);
  REQUIRE(made.arrays.size() == 1);
  CHECK(made.arrays[0].global == Shape({6}));
  CHECK(made.arrays[0].dtype == Dtype::S32);
  REQUIRE(std::holds_alternative<RandomInit>(made.arrays[0].init));
  CHECK(std::get<RandomInit>(made.arrays[0].init).seed == 42);
  CHECK(made.program.op(OpId(0)).name == "sum3");
}

TEST_CASE("laws: what the text says comes before what it could leave open") {
  SmallLaw law;
  law.arrays = R"({"a": {"shape": [4], "dtype": "f32", "spec": [], "init": "iota"}})";
  law.expect = R"("cluster": {"devices": "${n}", "topology": "ring", "bandwidth": "1 GB/s",
"latency": "1 us"}, )" +
               law.expect;
  const Law read("f", law.text());
  CHECK(read.has_cluster());
  const Scenario made = read.scenario(kThree, ring_defaults());
  CHECK(made.cluster.name != "made");
  CHECK(std::holds_alternative<IotaInit>(made.arrays[0].init));
}

TEST_CASE("laws: without a cluster in the law, who makes the scenario must give one") {
  const Law law("f", SmallLaw().text());
  CHECK(input_error([&] { (void)law.scenario(kThree, {}); }) == "f:1:1: missing key \"cluster\"");
}

TEST_CASE("laws: where says which values count") {
  const Law law("f", SmallLaw().text());
  CHECK(law.admits(kThree));
  CHECK_FALSE(law.admits(std::vector<TemplateValue>{{int64_t{1}}, {std::string("s32")}}));
  const auto admits_error = [](const std::string& where) {
    SmallLaw small;
    small.where = where;
    const Law read("f", small.text());
    return input_error([&] { CHECK(read.admits(kThree)); });
  };
  CHECK(admits_error(R"("${n == 3}")") == "");
  CHECK(admits_error(R"("${'}' == '}'}")") == "");
  CHECK(admits_error(R"("n + 1")") ==
        "f:3:10: /where: \"n + 1\": expected true or false, got 4 (with n = 3, dtype = \"s32\")");
  CHECK(admits_error(R"("n / 2 == 1")") ==
        "f:3:10: /where: \"n / 2 == 1\": 3 / 2 is not a whole number (with n = 3, dtype = "
        "\"s32\")");
  CHECK(law.where() == "n > 1");
  std::string without = SmallLaw().text();
  const size_t begin = without.find("\"where\"");
  const Law any("f", without.erase(begin, without.find('\n', begin) + 1 - begin));
  CHECK(any.admits(std::vector<TemplateValue>{{int64_t{1}}, {std::string("s32")}}));
  CHECK(any.where() == "");
}

struct RefusedLaw {
  SmallLaw law;
  std::string error;
};

TEST_CASE("laws: one that cannot be read is refused where it is wrong") {
  const RefusedLaw cases[] = {
      {{.expect = R"("outputs": [])"}, "f:1:1: missing key \"expect\""},
      {{.expect = R"("expect": [])"}, "f:7:11: /expect: expected at least 1 expectation, got none"},
      {{.forall = "[]"},
       "f:2:11: /forall: expected an object with what is drawn for each name, got a list\n"
       "f:3:10: /where: \"n > 1\": no name is known here, got \"n\""},
      {{.forall = R"({"if": {"from": 1, "to": 2}, "n": {"from": "if", "to": "k"}})"},
       "f:2:12: /forall/if: expected a name of letters, digits and _ that formulas may use, got "
       "\"if\"\n"
       "f:2:66: /forall/n/to: \"k\": expected one of if, got \"k\""},
      // A draw may use earlier names only.
      {{.forall = R"({"m": {"from": "n", "to": 2}, "n": {"from": "n", "to": "m"}})"},
       "f:2:26: /forall/m/from: \"n\": no name is known here, got \"n\"\n"
       "f:2:55: /forall/n/from: \"n\": expected one of m, got \"n\""},
      {{.forall = R"({"n": {"from": 1, "to": 2}, "n": {"from": 3, "to": 4}, "dtype": 1})"},
       "f:2:39: /forall/n: duplicate key \"n\"; the first is at 2:12\n"
       "f:2:75: /forall/dtype: expected a draw: {\"from\": 1, \"to\": 8}, {\"choose\": [..]}, "
       "{\"list\": {..}, \"length\": 3}, {\"permutation\": 4} or {\"some_of\": 4}, got 1"},
      {{.where = "true"}, "f:3:10: /where: expected a formula, got true"},
      {{.where = R"("${n >}")"}, "f:3:10: /where: \"n >\": expected a value, got the end"},
      {{.mesh = R"({"x": "${m}"})"}, "f:4:15: /mesh/x: \"m\": expected one of n, dtype, got \"m\""},
      {{.mesh = R"({"x": "${n"})"}, "f:4:15: /mesh/x: expected \"}\" after \"${\", got \"${n\""},
      {{.mesh = R"({"${dtype}": 2})"},
       "f:4:10: /mesh/${dtype}: expected a key without holes, got \"${dtype}\""},
  };
  for (const RefusedLaw& c : cases) {
    CAPTURE(c.error);
    CHECK(law_error(c.law.text()) == c.error);
  }
  CHECK(law_error("[]") == "f:1:1: expected a law, an object, got a list");
  CHECK(law_error("{}") == "f:1:1: missing key \"expect\"\nf:1:1: missing key \"forall\"");
  CHECK(law_error("{") ==
        "f:1:2: expected a key in quotes or \"}\", got the end of the file (the object begun at "
        "1:1 is not closed)");
}

TEST_CASE("laws: what is wrong in a scenario is refused where the law has it") {
  const std::string kDtypes =
      "expected a dtype (one of pred, s8, s16, s32, s64, u8, u16, u32, u64, f16, bf16, f32, f64, "
      "f8e4m3fn, f8e5m2, c64, c128)";
  const std::vector<TemplateValue> one = {{int64_t{1}}, {std::string("u33")}};
  CHECK(scenario_error(SmallLaw().text(), one) ==
        "f:5:50: /arrays/a/dtype: " + kDtypes + ", got \"u33\"; did you mean \"u32\"?");
  SmallLaw law;
  law.mesh = R"({"x": 2, "y": "${n - 3}"})";
  CHECK(scenario_error(law.text(), kThree) ==
        "f:4:23: /mesh/y: expected an axis size of at least 1, got 0");
  law = {};
  law.program = R"([{"id": "a1", "op": "neg", "of": "a"},
  {"id": "${'b'}", "op": "psum", "of": "${'c'}", "axis_name": "x"}])";
  CHECK(scenario_error(law.text(), kThree) ==
        "f:7:40: /program/1/of: expected the id of an array or of an earlier op, got \"c\"");
  law = {};
  law.expect = R"("expect": "${repeat(0, n - 3)}")";
  CHECK(scenario_error(law.text(), kThree) ==
        "f:7:11: /expect: expected at least 1 expectation, got none");
  law = {};
  law.expect += R"(, "unknown${''}": 1)";
  CHECK(law_error(law.text()) ==
        "f:7:43: /unknown${''}: expected a key without holes, got \"unknown${''}\"");
  law = {};
  law.expect += R"(, "chunks": "${n}")";
  CHECK(law_error(law.text()).starts_with("f:7:43: /chunks: unknown key \"chunks\""));
  law = {};
  law.forall = R"({"n": {"choose": [3]}, "o": {"choose": [{"shape": [6], "dtype": "f33"}]}})";
  law.arrays = R"({"a": "${o}"})";
  const Law read("f", law.text());
  const std::vector<TemplateValue> chosen = {{int64_t{3}}, read.draws()[1].choices()[0]};
  CHECK(input_error([&] { (void)read.scenario(chosen, ring_defaults()); }) ==
        "f:5:17: /arrays/a/dtype: " + kDtypes + ", got \"f33\"; did you mean \"f32\"?");
}

TEST_CASE("laws: a mistyped key is refused as such, and the keys of a law are known too") {
  std::string text = SmallLaw().text();
  text.replace(text.find("where"), 5, "wher");
  CHECK(law_error(text) == "f:3:1: /wher: unknown key \"wher\"; did you mean \"where\"?");
  SmallLaw mistyped;
  mistyped.expect = R"("expct": [])";
  CHECK(law_error(mistyped.text()) ==
        "f:1:1: missing key \"expect\"\n"
        "f:7:1: /expct: unknown key \"expct\"; did you mean \"expect\"?");
  // A law has the keys of a scenario, and these two.
  const std::string scenario = R"({"orrery": 1, "cluster": {"devices": 2, "topology": "ring",
"bandwidth": "1 GB/s", "latency": "1 us"}, "mesh": {"x": 2}, "program": [], "xylophone": 1})";
  const std::string of_scenario = input_error([&] { (void)read_scenario("f", scenario); });
  REQUIRE(of_scenario.find("unknown key \"xylophone\"; expected one of \"orrery\", ") !=
          std::string::npos);
  SmallLaw law;
  law.expect += R"(, "xylophone": 1)";
  const auto keys = [](const std::string& error) { return error.substr(error.find("unknown")); };
  CHECK(keys(law_error(law.text())) == keys(of_scenario) + ", \"forall\", \"where\"");
}

TEST_CASE("laws: a formula without a value is refused where it stands") {
  SmallLaw law;
  law.mesh = R"({"x": "${n / 2}"})";
  CHECK(scenario_error(law.text(), kThree) ==
        "f:4:15: /mesh/x: \"n / 2\": 3 / 2 is not a whole number");
}

TEST_CASE("laws: a law must keep the limits") {
  const std::string text = SmallLaw().text();
  Limits limits;
  limits.file = static_cast<int64_t>(text.size());
  CHECK(law_error(text, limits) == "");
  --limits.file;
  CHECK(law_error(text, limits) ==
        fmt::format("f: expected at most {} B in a file, got {} B (--limit file=SIZE allows more)",
                    text.size() - 1, text.size()));
  limits = {};
  limits.nesting = 3;
  CHECK(law_error(text, limits) ==
        "f:2:59: /forall/dtype: expected at most 3 levels of nesting, got more (--limit nesting=N "
        "allows more)");
}

TEST_CASE("laws: a text is a law if it is an object with forall") {
  CHECK(is_law(SmallLaw().text(), {}));
  CHECK(is_law(R"({"forall": 1})", {}));
  CHECK_FALSE(is_law(R"({"mesh": {"forall": 2}})", {}));
  CHECK_FALSE(is_law(R"(["forall"])", {}));
  CHECK_FALSE(is_law(R"({"forall": )", {}));
  CHECK_FALSE(is_law("", {}));
}

}  // namespace
}  // namespace orrery
