#include "models/scenario/draw.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/scenario/fields.h"
#include "models/scenario/holes.h"

namespace orrery {
namespace {

/// At most so many simpler values are made of one. Those beyond are made when the others are.
constexpr size_t kMostSimpler = 512;

constexpr const char* kForms =
    R"(a draw: {"from": 1, "to": 8}, {"choose": [..]}, {"list": {..}, "length": 3}, )"
    R"({"permutation": 4} or {"some_of": 4})";

/// Adds an error if there is a key that is none of these, which the form of the draw has.
void refuse_others(DocumentNode node, const std::vector<std::string_view>& keys,
                   Diagnostics& diagnostics) {
  for (const DocumentNode member : node) {
    const std::string& key = member.key();
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      continue;
    const std::string hint = did_you_mean(key, keys);
    diagnostics.add(member.key_origin(),
                    fmt::format("unknown key {}{}", in_quotes(key),
                                hint.empty() ? fmt::format("; expected {}", kForms) : hint));
    return;
  }
}

/// Adds the error of an object that has no form of a draw: its mistyped key, if there is one.
void refuse_formless(DocumentNode node, Diagnostics& diagnostics) {
  for (const DocumentNode member : node) {
    const std::string& key = member.key();
    const std::string hint =
        did_you_mean(key, {"from", "choose", "list", "permutation", "some_of"});
    if (hint.empty())
      continue;
    diagnostics.add(member.key_origin(), fmt::format("unknown key {}{}", in_quotes(key), hint));
    return;
  }
  expected(node, kForms, diagnostics);
}

TemplateValue::List numbers(int64_t count) {
  TemplateValue::List all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back({i});
  return all;
}

const TemplateValue::List& items(const TemplateValue& value) {
  return std::get<TemplateValue::List>(value.is);
}

/// Returns the whole numbers between least and value from which a search for a smaller number goes
/// on: least, half way, three quarters of the way, .., value - 1.
std::vector<TemplateValue> towards(int64_t least, int64_t value) {
  std::vector<TemplateValue> smaller;
  for (UInt128 distance = static_cast<UInt128>(Int128{value} - least); distance > 0; distance /= 2)
    smaller.push_back({static_cast<int64_t>(Int128{value} - static_cast<Int128>(distance))});
  return smaller;
}

/// Returns the lists without some items: without all, without each half, quarter, .., item.
std::vector<TemplateValue> shorter(const TemplateValue::List& whole) {
  std::vector<TemplateValue> made;
  for (size_t count = whole.size(); count > 0; count /= 2)
    for (size_t begin = 0; begin + count <= whole.size() && made.size() < kMostSimpler;
         begin += count) {
      TemplateValue::List rest = whole;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                 rest.begin() + static_cast<std::ptrdiff_t>(begin + count));
      made.push_back({std::move(rest)});
    }
  return made;
}

/// Returns a permutation of fewer numbers that is much like this one: first those that stay in
/// their places are left out, then the last ones. The others keep their order.
TemplateValue::List smaller_permutation(const TemplateValue::List& permutation, size_t count) {
  size_t excess = permutation.size() - count;
  TemplateValue::List kept;
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (excess > 0 && permutation[i] == TemplateValue{static_cast<int64_t>(i)})
      --excess;
    else
      kept.push_back(permutation[i]);
  }
  kept.resize(count);
  TemplateValue::List renumbered;
  for (const TemplateValue& item : kept)
    renumbered.push_back({static_cast<int64_t>(
        std::count_if(kept.begin(), kept.end(), [&](const TemplateValue& other) {
          return std::get<int64_t>(other.is) < std::get<int64_t>(item.is);
        }))});
  return renumbered;
}

/// Returns permutations that are closer to the identity: itself, and those with one more number in
/// its place.
std::vector<TemplateValue> closer_to_identity(const TemplateValue::List& permutation) {
  const TemplateValue::List identity = numbers(static_cast<int64_t>(permutation.size()));
  if (permutation == identity)
    return {};
  std::vector<TemplateValue> made = {{identity}};
  std::vector<size_t> place_of(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    place_of[static_cast<size_t>(std::get<int64_t>(permutation[i].is))] = i;
  for (size_t i = permutation.size(); i-- > 0 && made.size() < kMostSimpler;) {
    if (permutation[i] == identity[i])
      continue;
    TemplateValue::List closer = permutation;
    std::swap(closer[i], closer[place_of[i]]);
    if (closer != identity)
      made.push_back({std::move(closer)});
  }
  return made;
}

}  // namespace

std::optional<Draw::Bound> Draw::read_bound(DocumentNode node, std::span<const std::string> names,
                                            Diagnostics& diagnostics) {
  const bool is_number = std::holds_alternative<int64_t>(template_value(node).is);
  if (!is_number && node.kind() != DocumentNode::Kind::Text) {
    expected(node, "a whole number, or a formula of earlier names", diagnostics);
    return std::nullopt;
  }
  const std::string_view text = is_number ? node.number() : without_braces(node.text());
  try {
    return Bound{Expression(text, names), node.origin()};
  } catch (const ExpressionError& error) {
    diagnostics.add(node.origin(), in_formula(text, error));
    return std::nullopt;
  }
}

std::optional<Draw> Draw::read(DocumentNode node, std::span<const std::string> names,
                               Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::Object) {
    expected(node, kForms, diagnostics);
    return std::nullopt;
  }
  const size_t before = diagnostics.size();
  Fields fields(node, diagnostics);
  Draw draw;
  const auto bound = [&](const std::optional<DocumentNode>& of) {
    if (of)
      if (std::optional<Bound> read = read_bound(*of, names, diagnostics))
        draw.bounds_.push_back(std::move(*read));
  };
  std::vector<std::string_view> keys;
  if (const auto choices = fields.optional("choose")) {
    keys = {"choose"};
    draw.kind_ = Kind::Choice;
    if (is_list(*choices, "a list of values, the simplest first", diagnostics)) {
      refuse_holes(*choices, diagnostics);
      for (const DocumentNode choice : *choices) {
        draw.choices_.push_back(template_value(choice));
        draw.choice_items_ = std::max(draw.choice_items_, all_items(draw.choices_.back()));
      }
      if (draw.choices_.empty())
        diagnostics.add(choices->origin(), "expected a value or more to choose from, got none");
    }
  } else if (const auto of = fields.optional("list")) {
    keys = {"list", "length"};
    draw.kind_ = Kind::List;
    if (std::optional<Draw> item = read(*of, names, diagnostics))
      draw.of_ = std::make_shared<const Draw>(std::move(*item));
    bound(fields.required("length"));
  } else if (const auto count = fields.optional("permutation")) {
    keys = {"permutation"};
    draw.kind_ = Kind::Permutation;
    bound(count);
  } else if (const auto most = fields.optional("some_of")) {
    keys = {"some_of"};
    draw.kind_ = Kind::SomeOf;
    bound(most);
  } else if (const auto from = fields.optional("from")) {
    keys = {"from", "to"};
    bound(from);
    bound(fields.required("to"));
  } else {
    refuse_formless(node, diagnostics);
    return std::nullopt;
  }
  refuse_others(node, keys, diagnostics);
  return diagnostics.size() == before ? std::optional(std::move(draw)) : std::nullopt;
}

int64_t Draw::number(const Bound& bound, std::string_view file,
                     std::span<const TemplateValue> known) {
  std::string wrong;
  try {
    const TemplateValue value = bound.expression.value(known);
    if (const auto* number = std::get_if<int64_t>(&value.is))
      return *number;
    wrong = fmt::format("{}: expected a whole number, got {}", in_quotes(bound.expression.text()),
                        shown(value));
  } catch (const ExpressionError& error) {
    wrong = in_formula(bound.expression.text(), error);
  }
  throw InputError(file, {{bound.origin, wrong}});
}

Draw::Range Draw::range(std::string_view file, std::span<const TemplateValue> known) const {
  const Range range = {number(bounds_[0], file, known), number(bounds_[1], file, known)};
  if (range.least > range.most)
    throw InputError(file, {{bounds_[1].origin,
                             fmt::format("expected a number from {} on, where the range begins, "
                                         "got {}",
                                         range.least, range.most)}});
  return range;
}

Draw::Sizes Draw::sizes(std::string_view file, std::span<const TemplateValue> known) const {
  if (kind_ == Kind::Number || kind_ == Kind::Choice)
    return {0, choice_items_};
  const int64_t count = number(bounds_[0], file, known);
  const int64_t each = of_ ? of_->sizes(file, known).items : 1;
  const int64_t most = kMostDrawn / each;
  if (count < 0 || count > most)
    throw InputError(
        file,
        {{bounds_[0].origin,
          fmt::format("expected a length from 0 to {}, got {}{}", most, count,
                      each == 1 ? "" : fmt::format("; an item may have {} items", each - 1))}});
  return {count, 1 + count * each};
}

int64_t Draw::length(std::string_view file, std::span<const TemplateValue> known) const {
  return sizes(file, known).length;
}

TemplateValue Draw::least(std::string_view file, std::span<const TemplateValue> known) const {
  switch (kind_) {
    case Kind::Number:
      return {range(file, known).least};
    case Kind::Choice:
      return choices_.front();
    case Kind::List:
      return {
          TemplateValue::List(static_cast<size_t>(length(file, known)), of_->least(file, known))};
    case Kind::Permutation:
      return {numbers(length(file, known))};
    case Kind::SomeOf:
      length(file, known);
      break;
  }
  return {TemplateValue::List()};
}

TemplateValue Draw::greatest(std::string_view file, std::span<const TemplateValue> known) const {
  switch (kind_) {
    case Kind::Number:
      return {range(file, known).most};
    case Kind::Choice:
      return choices_.back();
    case Kind::List:
      return {TemplateValue::List(static_cast<size_t>(length(file, known)),
                                  of_->greatest(file, known))};
    case Kind::Permutation: {
      TemplateValue::List reversed = numbers(length(file, known));
      std::reverse(reversed.begin(), reversed.end());
      return {std::move(reversed)};
    }
    case Kind::SomeOf:
      break;
  }
  return {numbers(length(file, known))};
}

TemplateValue Draw::random(std::string_view file, std::span<const TemplateValue> known,
                           Random& random) const {
  switch (kind_) {
    case Kind::Number: {
      const Range of = range(file, known);
      return {random.between(of.least, of.most)};
    }
    case Kind::Choice:
      return choices_[random.below(choices_.size())];
    case Kind::List: {
      TemplateValue::List drawn;
      for (int64_t i = length(file, known); i > 0; --i)
        drawn.push_back(of_->random(file, known, random));
      return {std::move(drawn)};
    }
    case Kind::Permutation: {
      TemplateValue::List shuffled = numbers(length(file, known));
      for (size_t i = shuffled.size(); i > 1; --i)
        std::swap(shuffled[i - 1], shuffled[random.below(i)]);
      return {std::move(shuffled)};
    }
    case Kind::SomeOf:
      break;
  }
  TemplateValue::List some = numbers(length(file, known));
  std::erase_if(some, [&](const TemplateValue&) { return random.below(2) == 0; });
  return {std::move(some)};
}

std::optional<TemplateValue> Draw::given(std::string_view file,
                                         std::span<const TemplateValue> known,
                                         const TemplateValue& value) const {
  if (kind_ == Kind::Choice) {
    const auto choice = std::find(choices_.begin(), choices_.end(), value);
    return choice == choices_.end() ? std::nullopt : std::optional(*choice);
  }
  if (kind_ == Kind::Number) {
    const Range of = range(file, known);
    const auto* number = std::get_if<int64_t>(&value.is);
    return number != nullptr && *number >= of.least && *number <= of.most ? std::optional(value)
                                                                          : std::nullopt;
  }
  const auto* all = std::get_if<TemplateValue::List>(&value.is);
  const int64_t count = length(file, known);
  if (all == nullptr || (kind_ != Kind::SomeOf && all->size() != static_cast<size_t>(count)))
    return std::nullopt;
  if (kind_ == Kind::List) {
    TemplateValue::List made;
    for (const TemplateValue& item : *all) {
      std::optional<TemplateValue> of_item = of_->given(file, known, item);
      if (!of_item)
        return std::nullopt;
      made.push_back(std::move(*of_item));
    }
    return TemplateValue{std::move(made)};
  }
  std::set<int64_t> seen;
  for (const TemplateValue& item : *all) {
    const auto* number = std::get_if<int64_t>(&item.is);
    const bool ascends = kind_ == Kind::Permutation || seen.empty() ||
                         (number != nullptr && *number > *seen.rbegin());
    if (number == nullptr || *number < 0 || *number >= count || !ascends ||
        !seen.insert(*number).second)
      return std::nullopt;
  }
  return value;
}

std::string Draw::given_text(std::string_view file, std::span<const TemplateValue> known) const {
  if (kind_ == Kind::Number) {
    const Range of = range(file, known);
    return of.least == of.most ? fmt::format("{}", of.least)
                               : fmt::format("a whole number from {} to {}", of.least, of.most);
  }
  if (kind_ == Kind::Choice) {
    std::vector<std::string> texts;
    for (const TemplateValue& choice : choices_)
      texts.push_back(shown(choice));
    return texts.size() == 1 ? texts[0] : fmt::format("one of {}", fmt::join(texts, ", "));
  }
  const int64_t count = length(file, known);
  if (count == 0)
    return "an empty list";
  if (kind_ == Kind::List)
    return fmt::format("a list of {}, each {}", count, of_->given_text(file, known));
  const std::string all = count == 1 ? std::string("0") : fmt::format("0 to {}", count - 1);
  return kind_ == Kind::Permutation ? fmt::format("a permutation of {}", all)
                                    : fmt::format("a list of some of {}, ascending", all);
}

TemplateValue Draw::fitted(std::string_view file, std::span<const TemplateValue> known,
                           TemplateValue value) const {
  if (kind_ == Kind::Number) {
    const Range of = range(file, known);
    return {std::clamp(std::get<int64_t>(value.is), of.least, of.most)};
  }
  if (kind_ == Kind::Choice)
    return value;
  const int64_t count = length(file, known);
  auto& all = std::get<TemplateValue::List>(value.is);
  if (kind_ == Kind::List) {
    all.resize(static_cast<size_t>(count), of_->least(file, known));
    for (TemplateValue& item : all)
      item = of_->fitted(file, known, std::move(item));
    return value;
  }
  if (kind_ == Kind::Permutation && all.size() > static_cast<size_t>(count))
    return {smaller_permutation(all, static_cast<size_t>(count))};
  std::erase_if(all,
                [&](const TemplateValue& item) { return std::get<int64_t>(item.is) >= count; });
  if (kind_ == Kind::SomeOf)
    return value;
  std::vector<bool> has(static_cast<size_t>(count));
  for (const TemplateValue& item : all)
    has[static_cast<size_t>(std::get<int64_t>(item.is))] = true;
  for (int64_t i = 0; i < count; ++i)
    if (!has[static_cast<size_t>(i)])
      all.push_back({i});
  return value;
}

std::vector<TemplateValue> Draw::simpler(std::string_view file,
                                         std::span<const TemplateValue> known,
                                         const TemplateValue& value) const {
  switch (kind_) {
    case Kind::Number:
      return towards(range(file, known).least, std::get<int64_t>(value.is));
    case Kind::Choice:
      return {choices_.begin(), std::find(choices_.begin(), choices_.end(), value)};
    case Kind::Permutation:
      return closer_to_identity(items(value));
    case Kind::SomeOf:
      return shorter(items(value));
    case Kind::List:
      break;
  }
  std::vector<TemplateValue> made;
  for (size_t i = 0; i < items(value).size(); ++i)
    for (TemplateValue& item : of_->simpler(file, known, items(value)[i])) {
      if (made.size() == kMostSimpler)
        return made;
      TemplateValue::List with = items(value);
      with[i] = std::move(item);
      made.push_back({std::move(with)});
    }
  return made;
}

}  // namespace orrery
