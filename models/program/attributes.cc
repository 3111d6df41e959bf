#include "models/program/attributes.h"

#include "models/base/check.h"

namespace orrery {

bool holds(const Attribute& attribute, ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Boolean:
      return std::holds_alternative<bool>(attribute);
    case ParameterKind::Integer:
      return std::holds_alternative<int64_t>(attribute);
    case ParameterKind::Number:
      return std::holds_alternative<NumberOrPair>(attribute);
    case ParameterKind::Text:
      return std::holds_alternative<std::string>(attribute);
    case ParameterKind::Names:
      return std::holds_alternative<std::vector<std::string>>(attribute);
    case ParameterKind::Integers:
      return std::holds_alternative<std::vector<int64_t>>(attribute);
    case ParameterKind::IntegerLists:
      return std::holds_alternative<std::vector<std::vector<int64_t>>>(attribute);
    case ParameterKind::DimensionNumbers:
      return std::holds_alternative<std::vector<std::vector<int64_t>>>(attribute) &&
             std::get<std::vector<std::vector<int64_t>>>(attribute).size() == 4;
    case ParameterKind::DtypeName:
      return std::holds_alternative<Dtype>(attribute);
    case ParameterKind::FlopCount:
      return std::holds_alternative<Flops>(attribute);
    case ParameterKind::ByteCount:
      return std::holds_alternative<Bytes>(attribute);
    case ParameterKind::WorkCount:
      return std::holds_alternative<Work>(attribute);
    case ParameterKind::Functions:
      return std::holds_alternative<SharedCoreMap>(attribute);
  }
  fail_check("kind is an enumerator", "a parameter's kind is one of the enumeration", __FILE__,
             __LINE__);
}

std::string_view description(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Boolean:
      return "true or false";
    case ParameterKind::Integer:
      return "an integer";
    case ParameterKind::Number:
      return "a number or [re, im]";
    case ParameterKind::Text:
      return "a string";
    case ParameterKind::Names:
      return "an axis name or a list of them";
    case ParameterKind::Integers:
      return "a list of integers";
    case ParameterKind::IntegerLists:
      return "a list of lists of integers";
    case ParameterKind::DimensionNumbers:
      return "dimension numbers such as [[[1],[0]],[[],[]]]";
    case ParameterKind::DtypeName:
      return "a dtype";
    case ParameterKind::FlopCount:
      return "a count of operations such as \"2 TFLOP\"";
    case ParameterKind::ByteCount:
      return "a size such as \"1 GiB\"";
    case ParameterKind::WorkCount:
      return "an object such as {\"flops\": \"2 TFLOP\", \"bytes\": \"1 GiB\"}";
    case ParameterKind::Functions:
      return "a list of functions such as {\"mesh\": {...}, \"body\": [...]}";
  }
  fail_check("kind is an enumerator", "a parameter's kind is one of the enumeration", __FILE__,
             __LINE__);
}

std::optional<Attribute> Attributes::take(std::string_view name) {
  const auto found = values_.find(name);
  if (found == values_.end())
    return std::nullopt;
  std::optional<Attribute> taken = std::move(found->second);
  values_.erase(found);
  return taken;
}

const Attribute& Attributes::at(std::string_view name) const {
  const auto found = values_.find(name);
  ORRERY_CHECK(found != values_.end(), "an op has the parameters that its rules require");
  return found->second;
}

}  // namespace orrery
