#include "models/scenario/json_text.h"

#include <nlohmann/json.hpp>

#include "models/scenario/document.h"

namespace orrery {

namespace {

std::string string_token(std::string_view value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

constexpr size_t kBetween = 2;  // ", " and ": "

}  // namespace

JsonText JsonText::raw(std::string token) {
  JsonText made;
  made.flat_ = token.size();
  made.token_ = std::move(token);
  return made;
}

JsonText JsonText::text(std::string_view value) {
  return raw(string_token(value));
}

JsonText JsonText::list(std::vector<JsonText> items) {
  JsonText made;
  made.brackets_ = "[]";
  made.flat_ = 2;
  for (const JsonText& item : items)
    made.flat_ += item.flat_ + kBetween;
  made.flat_ -= items.empty() ? 0 : kBetween;
  made.items_ = std::move(items);
  return made;
}

JsonText JsonText::object(std::vector<std::pair<std::string, JsonText>> members) {
  std::vector<JsonText> items;
  std::vector<std::string> keys;
  size_t key_columns = 0;
  for (auto& [key, value] : members) {
    keys.push_back(string_token(key));
    key_columns += keys.back().size() + kBetween;
    items.push_back(std::move(value));
  }
  JsonText made = list(std::move(items));
  made.brackets_ = "{}";
  made.keys_ = std::move(keys);
  made.flat_ += key_columns;
  return made;
}

void JsonText::write_flat(std::string& out) const {
  if (brackets_.empty()) {
    out += token_;
    return;
  }
  out += brackets_[0];
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i > 0)
      out += ", ";
    if (!keys_.empty())
      out += keys_[i] + ": ";
    items_[i].write_flat(out);
  }
  out += brackets_[1];
}

void JsonText::write(std::string& out, size_t indent, size_t column, size_t width,
                     bool outermost) const {
  constexpr size_t kComma = 1;
  if (items_.empty() || (!outermost && column + flat_ + kComma <= width)) {
    write_flat(out);
    return;
  }
  const size_t inner = indent + 2;
  out += brackets_[0];
  for (size_t i = 0; i < items_.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    out.append(inner, ' ');
    size_t begin = inner;
    if (!keys_.empty()) {
      out += keys_[i] + ": ";
      begin += keys_[i].size() + kBetween;
    }
    items_[i].write(out, inner, begin, width, false);
  }
  out += '\n';
  out.append(indent, ' ');
  out += brackets_[1];
}

std::string JsonText::lines(size_t width) const {
  std::string out;
  write(out, 0, 0, width, true);
  out += '\n';
  return out;
}

std::string JsonText::line() const {
  std::string out;
  write_flat(out);
  return out;
}

JsonText json_of(DocumentNode node) {
  switch (node.kind()) {
    case DocumentNode::Kind::Null:
      return JsonText::raw("null");
    case DocumentNode::Kind::Boolean:
      return JsonText::raw(node.boolean() ? "true" : "false");
    case DocumentNode::Kind::Number:
      return JsonText::raw(std::string(node.number()));
    case DocumentNode::Kind::Text:
      return JsonText::text(node.text());
    case DocumentNode::Kind::List: {
      std::vector<JsonText> items;
      for (const DocumentNode item : node)
        items.push_back(json_of(item));
      return JsonText::list(std::move(items));
    }
    case DocumentNode::Kind::Object:
      break;
  }
  std::vector<std::pair<std::string, JsonText>> members;
  for (const DocumentNode member : node)
    members.emplace_back(member.key(), json_of(member));
  return JsonText::object(std::move(members));
}

}  // namespace orrery
