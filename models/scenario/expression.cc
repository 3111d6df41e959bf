#include "models/scenario/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/characters.h"
#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/base/quantity.h"

namespace orrery {

struct Expression::Node {
  enum class Kind : uint8_t { Value, Name, Not, Negate, Binary, Item, Call };
  Kind kind = Kind::Value;
  TemplateValue value = {};
  size_t name = 0;        // of the names
  std::string word = {};  // an operator, or a function
  std::vector<Node> operands = {};
};

namespace {

using Node = Expression::Node;
using Values = std::span<const TemplateValue>;

[[noreturn]] void fail(const std::string& message) {
  throw ExpressionError(message);
}

constexpr std::array<std::string_view, 8> kFunctions = {"if",    "min",     "max",  "len",
                                                        "pairs", "inverse", "each", "repeat"};
constexpr size_t kMostOperands = 64;
/// The longest formula has this many bytes. Its tree is no deeper, so that the stack suffices.
constexpr size_t kLongestFormula = 1024;

bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Reads a formula from left to right, with one function for each strength of operators.
class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string> names) : text_(text), names_(names) {
    next();
  }

  Node parse() {
    if (text_.size() > kLongestFormula)
      fail(fmt::format("expected a formula of at most {} bytes, got {}", kLongestFormula,
                       text_.size()));
    Node whole = either();
    if (!token_.empty())
      fail(fmt::format("expected an operator, got {}", got()));
    return whole;
  }

 private:
  /// Goes on to the next token. It is empty at the end.
  void next() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
    const size_t begin = at_;
    if (at_ == text_.size()) {
      token_ = {};
      return;
    }
    const auto in_word = [](char c) { return begins_word(c) || is_digit(c); };
    if (text_[at_] == '\'') {
      at_ = text_.find('\'', at_ + 1);
      if (at_ == std::string_view::npos)
        fail(fmt::format("the text {} is not closed by a \"'\"", in_quotes(text_.substr(begin))));
      ++at_;
    } else if (in_word(text_[at_])) {
      while (at_ < text_.size() && in_word(text_[at_]))
        ++at_;
    } else {
      const std::string_view two = text_.substr(at_, 2);
      at_ += two == "==" || two == "!=" || two == "<=" || two == ">=" ? 2 : 1;
      // A token is no part of a character, since messages name it.
      while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xc0U) == 0x80U)
        ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }

  std::string got() const { return token_.empty() ? "the end" : in_quotes(token_); }

  bool take(std::string_view token) {
    if (token_ != token)
      return false;
    next();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token))
      fail(fmt::format("expected {}, got {}", in_quotes(token), got()));
  }

  /// Reads operands of the next strength with these operators between them, from left to right.
  template <class Operand>
  Node joined(std::initializer_list<std::string_view> operators, Operand operand) {
    Node left = operand();
    while (std::find(operators.begin(), operators.end(), token_) != operators.end()) {
      Node both{.kind = Node::Kind::Binary, .word = std::string(token_)};
      next();
      both.operands.push_back(std::move(left));
      both.operands.push_back(operand());
      left = std::move(both);
    }
    return left;
  }

  Node either() {
    const Depth depth(*this);
    return joined({"or"}, [&] { return joined({"and"}, [&] { return negation(); }); });
  }
  Node negation() {
    if (!take("not"))
      return comparison();
    const Depth depth(*this);
    return {.kind = Node::Kind::Not, .operands = {negation()}};
  }
  Node comparison() {
    return joined({"==", "!=", "<", "<=", ">", ">="}, [&] {
      return joined({"+", "-"}, [&] { return joined({"*", "/", "%"}, [&] { return negated(); }); });
    });
  }
  Node negated() {
    if (!take("-"))
      return item();
    const std::string_view digits = token_;
    if (!digits.empty() && is_digit(digits[0])) {
      next();
      return number('-' + std::string(digits));  // the least number is no negated one
    }
    const Depth depth(*this);
    return {.kind = Node::Kind::Negate, .operands = {negated()}};
  }
  Node item() {
    Node of = primary();
    while (take("[")) {
      Node index = either();
      expect("]");
      of = {.kind = Node::Kind::Item, .operands = {std::move(of), std::move(index)}};
    }
    return of;
  }

  Node primary() {
    if (take("(")) {
      Node inner = either();
      expect(")");
      return inner;
    }
    const std::string_view word = token_;
    if (word.empty() || !(begins_word(word[0]) || is_digit(word[0]) || word[0] == '\''))
      fail(fmt::format("expected a value, got {}", got()));
    next();
    if (word[0] == '\'')
      return constant({std::string(word.substr(1, word.size() - 2))});
    if (is_digit(word[0]))
      return number(word);
    if (word == "true" || word == "false")
      return constant({word == "true"});
    return token_ == "(" ? call(word) : name(word);
  }

  static Node constant(TemplateValue value) {
    return {.kind = Node::Kind::Value, .value = std::move(value)};
  }

  static Node number(std::string_view digits) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end != digits.data() + digits.size())
      fail(fmt::format("expected a whole number, got {}", in_quotes(digits)));
    if (error != std::errc())
      fail(fmt::format("expected a whole number of 64 bits, got {}", in_quotes(digits)));
    return constant({value});
  }

  Node name(std::string_view word) const {
    const auto found = std::find(names_.begin(), names_.end(), word);
    if (found == names_.end()) {
      const std::vector<std::string_view> known(names_.begin(), names_.end());
      fail(known.empty() ? fmt::format("no name is known here, got {}", in_quotes(word))
                         : fmt::format("expected one of {}, got {}{}", fmt::join(known, ", "),
                                       in_quotes(word), did_you_mean(word, known)));
    }
    return {.kind = Node::Kind::Name, .name = static_cast<size_t>(found - names_.begin())};
  }

  Node call(std::string_view word) {
    if (std::find(kFunctions.begin(), kFunctions.end(), word) == kFunctions.end())
      fail(fmt::format("expected one of {}, got {}{}", fmt::join(kFunctions, ", "), in_quotes(word),
                       did_you_mean(word, {kFunctions.begin(), kFunctions.end()})));
    next();  // the parenthesis
    Node made{.kind = Node::Kind::Call, .word = std::string(word)};
    if (token_ != ")") {
      made.operands.push_back(either());
      while (take(","))
        made.operands.push_back(either());
    }
    expect(")");
    check_count(made);
    return made;
  }

  static void check_count(const Node& call) {
    const size_t count = call.operands.size();
    const bool any = call.word == "min" || call.word == "max";
    const size_t wanted = call.word == "if" ? 3 : call.word == "repeat" ? 2 : 1;
    if (any ? count == 0 || count > kMostOperands : count != wanted)
      fail(fmt::format("{}: expected {} in parentheses, got {}", call.word,
                       any           ? fmt::format("1 to {} values", kMostOperands)
                       : wanted == 1 ? "1 value"
                                     : fmt::format("{} values", wanted),
                       count));
  }

  /// Limits how deep a formula is nested, so that the stack suffices.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      constexpr int kDeepest = 64;
      if (++parser_.depth_ > kDeepest)
        fail(fmt::format("expected at most {} levels of nesting, got more", kDeepest));
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser& parser_;
  };

  std::string_view text_;
  std::span<const std::string> names_;
  size_t at_ = 0;
  std::string_view token_;
  int depth_ = 0;
};

// The operators and functions. Each says what it expected, and what it got.

int64_t number(std::string_view of, const TemplateValue& value) {
  const auto* number = std::get_if<int64_t>(&value.is);
  if (number == nullptr)
    fail(fmt::format("{}: expected a whole number, got {}", of, shown(value)));
  return *number;
}

bool boolean(std::string_view of, const TemplateValue& value) {
  const auto* boolean = std::get_if<bool>(&value.is);
  if (boolean == nullptr)
    fail(fmt::format("{}: expected true or false, got {}", of, shown(value)));
  return *boolean;
}

const TemplateValue::List& list(std::string_view of, const TemplateValue& value) {
  const auto* list = std::get_if<TemplateValue::List>(&value.is);
  if (list == nullptr)
    fail(fmt::format("{}: expected a list, got {}", of, shown(value)));
  return *list;
}

int64_t arithmetic(const std::string& op, int64_t a, int64_t b) {
  try {
    if (op == "+")
      return checked_add(a, b);
    if (op == "-")
      return checked_subtract(a, b);
    if (op == "*")
      return checked_multiply(a, b);
    if (b == -1)  // the only divisor with a quotient beyond 64 bits
      return op == "/" ? checked_subtract(0, a) : 0;
  } catch (const Overflow&) {
    fail(fmt::format("{} {} {} is beyond 64 bits", a, op, b));
  }
  if (b == 0)
    fail(fmt::format("{} {} 0 has no value", a, op));
  if (op == "%") {
    const int64_t rest = a % b;  // with the sign of a
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  if (a % b != 0)
    fail(fmt::format("{} / {} is not a whole number", a, b));
  return a / b;
}

bool comparison(const std::string& op, const TemplateValue& a, const TemplateValue& b) {
  if (op == "==" || op == "!=") {
    if (a.is.index() != b.is.index())
      fail(fmt::format("{}: expected two values of one kind, got {} and {}", op, shown(a),
                       shown(b)));
    return (a == b) == (op == "==");
  }
  const int64_t left = number(op, a);
  const int64_t right = number(op, b);
  return op == "<"    ? left < right
         : op == "<=" ? left <= right
         : op == ">"  ? left > right
                      : left >= right;
}

const TemplateValue& item(const TemplateValue& of, const TemplateValue& at) {
  const TemplateValue::List& items = list("[]", of);
  const int64_t index = number("[]", at);
  if (index < 0 || index >= static_cast<int64_t>(items.size()))
    fail(fmt::format("[{}]: the list has {} items", index, items.size()));
  return items[static_cast<size_t>(index)];
}

TemplateValue::List inverse(const TemplateValue::List& p) {
  TemplateValue::List made(p.size(), TemplateValue{int64_t{-1}});
  for (size_t i = 0; i < p.size(); ++i) {
    const int64_t to = number("inverse", p[i]);
    if (to < 0 || to >= static_cast<int64_t>(p.size()) ||
        made[static_cast<size_t>(to)] != TemplateValue{int64_t{-1}})
      fail(fmt::format("inverse: expected each of 0 to {} once, got {}", p.size() - 1,
                       shown(TemplateValue{p})));
    made[static_cast<size_t>(to)] = {static_cast<int64_t>(i)};
  }
  return made;
}

void check_items(const std::string& of, Int128 count) {
  if (count > kMostItems)
    fail(fmt::format("{}: expected a list of at most {} items, got more", of, kMostItems));
}

TemplateValue evaluated(const Node& node, Values values);

TemplateValue called(const Node& call, Values values) {
  if (call.word == "if")
    return evaluated(call.operands[boolean("if", evaluated(call.operands[0], values)) ? 1 : 2],
                     values);
  const TemplateValue first = evaluated(call.operands[0], values);
  if (call.word == "min" || call.word == "max") {
    int64_t best = number(call.word, first);
    for (const Node& operand : std::span(call.operands).subspan(1)) {
      const int64_t other = number(call.word, evaluated(operand, values));
      best = call.word == "min" ? std::min(best, other) : std::max(best, other);
    }
    return {best};
  }
  if (call.word == "repeat") {
    const int64_t count = number("repeat", evaluated(call.operands[1], values));
    if (count < 0)
      fail(fmt::format("repeat: expected 0 times or more, got {}", count));
    check_items("repeat", Int128{count} * all_items(first));
    return {TemplateValue::List(static_cast<size_t>(count), first)};
  }
  const TemplateValue::List& items = list(call.word, first);
  if (call.word == "len")
    return {static_cast<int64_t>(items.size())};
  if (call.word == "inverse")
    return {inverse(items)};
  check_items(call.word, Int128{all_items(first)} + 2 * static_cast<int64_t>(items.size()));
  TemplateValue::List made;
  for (size_t i = 0; i < items.size(); ++i)
    made.push_back(call.word == "each" ? TemplateValue{TemplateValue::List{items[i]}}
                                       : TemplateValue{TemplateValue::List{
                                             TemplateValue{static_cast<int64_t>(i)}, items[i]}});
  return {std::move(made)};
}

TemplateValue evaluated(const Node& node, Values values) {
  switch (node.kind) {
    case Node::Kind::Value:
      return node.value;
    case Node::Kind::Name:
      ORRERY_CHECK(node.name < values.size(), "the names used are known");
      return values[node.name];
    case Node::Kind::Not:
      return {!boolean("not", evaluated(node.operands[0], values))};
    case Node::Kind::Negate:
      return {arithmetic("-", 0, number("-", evaluated(node.operands[0], values)))};
    case Node::Kind::Item:
      return item(evaluated(node.operands[0], values), evaluated(node.operands[1], values));
    case Node::Kind::Call:
      return called(node, values);
    case Node::Kind::Binary:
      break;
  }
  const std::string& op = node.word;
  const TemplateValue left = evaluated(node.operands[0], values);
  if (op == "and" || op == "or") {
    const bool first = boolean(op, left);
    return {first == (op == "or") ? first : boolean(op, evaluated(node.operands[1], values))};
  }
  const TemplateValue right = evaluated(node.operands[1], values);
  constexpr std::string_view kArithmetic = "+-*/%";
  if (kArithmetic.find(op) != std::string_view::npos)
    return {arithmetic(op, number(op, left), number(op, right))};
  return {comparison(op, left, right)};
}

/// Returns whether two values are written alike. An object's members must have one order.
bool is_alike(DocumentNode a, DocumentNode b) {
  if (a.kind() != b.kind() || a.size() != b.size())
    return false;
  if (a.kind() == DocumentNode::Kind::Number)
    return a.number() == b.number();
  for (auto of_a = a.first(), of_b = b.first(); of_a; of_a = of_a->next(), of_b = of_b->next())
    if (of_a->key() != of_b->key() || template_value(*of_a) != template_value(*of_b))
      return false;
  return true;
}

}  // namespace

bool operator==(const TemplateValue& a, const TemplateValue& b) {
  const auto* of_a = std::get_if<DocumentNode>(&a.is);
  const auto* of_b = std::get_if<DocumentNode>(&b.is);
  return of_a != nullptr && of_b != nullptr ? is_alike(*of_a, *of_b) : a.is == b.is;
}

int64_t all_items(const TemplateValue& value) {
  int64_t count = 1;
  if (const auto* items = std::get_if<TemplateValue::List>(&value.is))
    for (const TemplateValue& item : *items)
      count += all_items(item);
  return count;
}

std::vector<std::string_view> formula_words() {
  std::vector<std::string_view> words = {"and", "or", "not", "true", "false"};
  words.insert(words.end(), kFunctions.begin(), kFunctions.end());
  return words;
}

bool is_name(std::string_view text) {
  const std::vector<std::string_view> words = formula_words();
  return !text.empty() && begins_word(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return begins_word(c) || is_digit(c);
  }) && std::find(words.begin(), words.end(), text) == words.end();
}

TemplateValue template_value(DocumentNode node) {
  switch (node.kind()) {
    case DocumentNode::Kind::Boolean:
      return {node.boolean()};
    case DocumentNode::Kind::Text:
      return {node.text()};
    case DocumentNode::Kind::List: {
      TemplateValue::List items;
      for (const DocumentNode item : node)
        items.push_back(template_value(item));
      return {std::move(items)};
    }
    case DocumentNode::Kind::Number: {
      const std::string_view digits = node.number();
      int64_t whole = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), whole);
      if (error == std::errc() && end == digits.data() + digits.size())
        return {whole};
      return {node};
    }
    case DocumentNode::Kind::Null:
    case DocumentNode::Kind::Object:
      return {node};
  }
  fail_check("law_value", "a kind of value", __FILE__, __LINE__);
}

std::string value_text(const TemplateValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value.is))
    return fmt::format("{}", *number);
  if (const auto* boolean = std::get_if<bool>(&value.is))
    return *boolean ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value.is))
    return in_quotes(*text);
  if (const auto* items = std::get_if<TemplateValue::List>(&value.is)) {
    std::vector<std::string> texts;
    for (const TemplateValue& item : *items)
      texts.push_back(value_text(item));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  const auto& node = std::get<DocumentNode>(value.is);
  return node.kind() == DocumentNode::Kind::Number ? std::string(node.number())
         : node.kind() == DocumentNode::Kind::Null ? "null"
                                                   : "{..}";
}

std::string shown(const TemplateValue& value) {
  constexpr size_t kLong = 60;
  std::string text = value_text(value);
  const size_t cut = std::holds_alternative<TemplateValue::List>(value.is) ? text.find(", ", kLong)
                                                                           : std::string::npos;
  return cut == std::string::npos ? text : text.substr(0, cut) + ", ..]";
}

Expression::Expression(std::string_view text, std::span<const std::string> names)
    : text_(text), root_(std::make_shared<const Node>(Parser(text, names).parse())) {}

TemplateValue Expression::value(std::span<const TemplateValue> values) const {
  return evaluated(*root_, values);
}

}  // namespace orrery
