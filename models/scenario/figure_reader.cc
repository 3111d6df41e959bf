#include "models/scenario/figure_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace orrery {
namespace {

/// Reads a text of digits alone.
std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.front() == '-' || error != std::errc() ||
      end != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// The terms of a share are small, so that the arithmetic with them stays exact.
constexpr int64_t kMostShare = 1'000'000;

std::optional<DataShare> share_of(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<int64_t> data = whole_number(text.substr(0, slash));
  const std::optional<int64_t> wire =
      slash == std::string_view::npos ? 1 : whole_number(text.substr(slash + 1));
  if (!data || !wire || *data < 1 || *data > *wire || *wire > kMostShare)
    return std::nullopt;
  return DataShare{*data, *wire};
}

}  // namespace

void FigureReader::read_source(Fields& figure, const std::string& called) {
  FigureSource source{called, "", "", ""};
  const std::pair<std::string_view, std::string*> texts[] = {
      {"label", &source.label}, {"source", &source.source}, {"date", &source.date}};
  for (const auto& [key, text] : texts)
    if (const auto member = figure.required(key))
      *text = read_text(*member, "a text", diagnostics_).value_or("");
  figure.finish();
  sources_.push_back(std::move(source));
}

void FigureReader::share_source(const std::string& called, const std::string& also) {
  if (called == also)
    return;
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [&](const FigureSource& each) { return each.figure == called; });
  if (found == sources_.end())
    return;
  FigureSource source = *found;
  source.figure = also;
  sources_.push_back(std::move(source));
}

void FigureReader::forget_source(std::string_view called) {
  std::erase_if(sources_, [&](const FigureSource& each) { return each.figure == called; });
}

std::optional<int64_t> FigureReader::quantity(Fields& fields, std::string_view key,
                                              Dimension dimension, QuantityRange range,
                                              const std::string& called) {
  const std::optional<DocumentNode> node = fields.object().find(key);
  if (!node || node->kind() != DocumentNode::Kind::Object)
    return fields.optional_quantity(key, dimension, range);
  fields.optional(key);
  Fields figure(*node, diagnostics_);
  const std::optional<int64_t> value = figure.required_quantity("value", dimension, range);
  read_source(figure, called);
  return value;
}

std::optional<DocumentNode> FigureReader::value(DocumentNode figure, const std::string& called) {
  if (figure.kind() != DocumentNode::Kind::Object)
    return figure;
  Fields fields(figure, diagnostics_);
  const std::optional<DocumentNode> value = fields.required("value");
  read_source(fields, called);
  return value;
}

std::optional<int64_t> FigureReader::integer(Fields& fields, std::string_view key,
                                             std::string_view what, IntegerRange range,
                                             const std::string& called) {
  const std::optional<DocumentNode> figure = fields.optional(key);
  const std::optional<DocumentNode> node = figure ? value(*figure, called) : std::nullopt;
  return node ? read_integer(*node, what, range, diagnostics_) : std::nullopt;
}

std::optional<DataShare> FigureReader::share(Fields& fields, std::string_view key,
                                             const std::string& called) {
  const std::optional<DocumentNode> figure = fields.optional(key);
  const std::optional<DocumentNode> node = figure ? value(*figure, called) : std::nullopt;
  if (!node)
    return std::nullopt;
  const std::optional<DataShare> share =
      node->kind() == DocumentNode::Kind::Text ? share_of(node->text()) : std::nullopt;
  if (!share)
    expected(*node,
             fmt::format("a share such as \"15/16\", at most 1, with terms up to {}", kMostShare),
             diagnostics_);
  return share;
}

std::vector<FigureSource> FigureReader::sources() && {
  std::sort(sources_.begin(), sources_.end(),
            [](const FigureSource& a, const FigureSource& b) { return a.figure < b.figure; });
  return std::move(sources_);
}

}  // namespace orrery
