#include "models/scenario/expectation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/holders.h"
#include "models/program/loops.h"
#include "models/scenario/fields.h"
#include "models/scenario/literal.h"

namespace orrery {

namespace {

constexpr std::array kProperties = {Property::DeadlockFree, Property::RaceFree, Property::NoLeak,
                                    Property::Proved};

class ExpectReader {
 public:
  ExpectReader(const Program* program, Diagnostics& diagnostics)
      : program_(program), diagnostics_(diagnostics) {
    if (program == nullptr)
      return;
    values_ = values_by_name(*program);
    holders_ = Holders(*program);
  }

  std::vector<Expectation> read(DocumentNode list) {
    if (!is_list(list, "a list of expectations", diagnostics_))
      return {};
    for (const DocumentNode node : list) {
      if (is_object(node, kForm, diagnostics_))
        read_one(node);
    }
    return std::move(expectations_);
  }

 private:
  static constexpr std::string_view kForm = "an expectation such as {\"close\": [\"x\", \"y\"]}";

  void read_one(DocumentNode node) {
    Fields fields(node, diagnostics_);
    const std::optional<DocumentNode> equal = fields.optional("equal");
    const std::optional<DocumentNode> close = fields.optional("close");
    const std::optional<DocumentNode> values = fields.optional("values");
    const std::optional<DocumentNode> makespan = fields.optional("makespan");
    const std::optional<DocumentNode> peak = fields.optional("peak_memory");
    const std::optional<DocumentNode> buffered = fields.optional("buffered_messages");
    const std::optional<DocumentNode> holds = fields.optional("holds");
    size_t kinds = 0;
    for (const auto& kind : {equal, close, values, makespan, peak, buffered, holds})
      kinds += kind.has_value() ? 1 : 0;
    if (values) {
      if (const auto encoding = read_encoding(fields, diagnostics_))
        read_values(node, *values, *encoding);
    }
    ComparedDevices devices = ComparedDevices::Same;
    if (equal || close)
      devices = read_devices(fields);
    fields.finish();
    if (kinds != 1 && (kinds > 1 || node.size() == 0)) {
      diagnostics_.add(
          node.origin(),
          fmt::format("expected one of \"equal\", \"close\", \"values\", \"makespan\", "
                      "\"peak_memory\", \"buffered_messages\", \"holds\", got {}",
                      kinds == 0 ? "none" : "several"));
      return;
    }
    if (equal)
      add(node, ExpectEqual{{read_pair(*equal), devices}});
    if (close)
      add(node, ExpectClose{{read_pair(*close), devices}});
    if (makespan)
      add(node, read_bounds<ExpectMakespan, Duration>(*makespan, Dimension::Time));
    if (peak)
      add(node, read_bounds<ExpectPeakMemory, Bytes>(*peak, Dimension::Size));
    if (buffered)
      add(node, read_buffered(*buffered));
    if (holds)
      add(node, ExpectHolds{read_properties(*holds)});
  }

  ComparedDevices read_devices(Fields& fields) {
    const std::optional<DocumentNode> node = fields.optional("devices");
    if (!node || (node->kind() == DocumentNode::Kind::Text && node->text() == "same"))
      return ComparedDevices::Same;
    if (node->kind() != DocumentNode::Kind::Text || node->text() != "common")
      expected(*node, "\"same\" or \"common\"", diagnostics_);
    return ComparedDevices::Common;
  }

  template <class What>
  void add(DocumentNode node, What what) {
    expectations_.push_back({node.origin(), std::move(what)});
  }

  std::optional<ValueId> find(std::string_view name, const Origin& origin) {
    if (program_ == nullptr)
      return std::nullopt;
    const auto found = values_.find(name);
    if (found == values_.end()) {
      std::vector<std::string_view> names;
      for (const auto& [known, id] : values_)
        names.push_back(known);
      const std::string iterations = iterations_hint(*program_, name);
      diagnostics_.add(origin,
                       fmt::format("expected the id of a value, got {}{}", in_quotes(name),
                                   iterations.empty() ? did_you_mean(name, names) : iterations));
      return std::nullopt;
    }
    if (program_->value(found->second).type.future) {
      diagnostics_.add(origin,
                       fmt::format("{} is a future: expect what its done gives", in_quotes(name)));
      return std::nullopt;
    }
    if (program_->value(found->second).type.token) {
      diagnostics_.add(origin, fmt::format("{} is a token: it has no elements", in_quotes(name)));
      return std::nullopt;
    }
    return found->second;
  }

  /// Returns a value's own name, where `name` may be another of its names.
  std::string own_name(std::optional<ValueId> value, const std::string& name) const {
    return value ? program_->value(*value).name : name;
  }

  /// Returns the id of the op that a result's name begins with: "l" of "l.h".
  static std::string_view op_of(std::string_view name) { return name.substr(0, name.find('.')); }

  std::vector<ComparedValue> read_pair(DocumentNode list) {
    std::vector<ComparedValue> compared;
    if (!is_list(list, "a list of ids", diagnostics_))
      return compared;
    if (list.size() < 2)
      diagnostics_.add(list.origin(), fmt::format("expected at least 2 ids, got {}", list.size()));
    std::optional<ValueId> first;
    std::string first_written;
    std::map<std::string, std::string> seen;  // how each value was written
    for (const DocumentNode item : list) {
      const std::optional<std::string> given = read_text(item, "an id", diagnostics_);
      if (!given)
        continue;
      const std::optional<ValueId> id = find(*given, item.origin());
      const std::string name = own_name(id, *given);
      // A loop that never runs has the values that it begins with, under ids of its own.
      if (const auto [earlier, fresh] = seen.emplace(name, *given);
          !fresh && op_of(earlier->second) == op_of(*given))
        diagnostics_.add(
            item.origin(),
            earlier->second == *given
                ? fmt::format("expected another id: {} is compared already", in_quotes(*given))
                : fmt::format("expected another value: {} and {} name the same one",
                              in_quotes(*given), in_quotes(earlier->second)));
      if (id && first) {
        const ValueType& a = program_->value(*first).type;
        const ValueType& b = program_->value(*id).type;
        if (a.dtype != b.dtype || a.shape != b.shape)
          diagnostics_.add(
              item.origin(),
              fmt::format("expected a value like {}, {}{}, got {}, {}{}", in_quotes(first_written),
                          orrery::name(a.dtype), a.shape.text(), in_quotes(*given),
                          orrery::name(b.dtype), b.shape.text()));
      } else if (id) {
        first = id;
        first_written = *given;
      }
      compared.push_back({name, *given});
    }
    return compared;
  }

  void read_values(DocumentNode node, DocumentNode values, Encoding encoding) {
    if (!is_object(values, "an object with one list of elements per device for each id",
                   diagnostics_))
      return;
    if (values.size() == 0)
      diagnostics_.add(values.origin(), "expected the id of a value as key, got none");
    for (const DocumentNode member : values) {
      const std::optional<ValueId> id = find(member.key(), member.key_origin());
      if (!id)
        continue;
      Encoding form = encoding;
      if (auto tensors = member.kind() == DocumentNode::Kind::Object
                             ? read_printed(member, *id, form)
                             : read_held(member, *id, form))
        add(node,
            ExpectValues{{own_name(id, member.key()), member.key()}, std::move(*tensors), form});
    }
  }

  /// Reads a value as a report prints it. Its dtype and its shape, if given, must be those of the
  /// value; its encoding replaces `encoding`.
  std::optional<std::vector<Tensor>> read_printed(DocumentNode node, ValueId id,
                                                  Encoding& encoding) {
    const size_t before = diagnostics_.size();
    const ValueType& type = program_->value(id).type;
    Fields fields(node, diagnostics_);
    if (const auto given = fields.optional("dtype")) {
      const std::optional<Dtype> dtype = read_dtype(*given, diagnostics_);
      if (dtype && *dtype != type.dtype)
        expected(*given, fmt::format("{}, the dtype of the value", name(type.dtype)), diagnostics_);
    }
    if (const auto given = fields.optional("shape")) {
      const auto extents = read_integers(*given, "an extent",
                                         {0, std::numeric_limits<int64_t>::max()}, diagnostics_);
      if (extents && !std::ranges::equal(*extents, type.shape.dims()))
        diagnostics_.add(given->origin(),
                         fmt::format("expected {}, the shape of the value on a device, got [{}]",
                                     type.shape.text(), fmt::join(*extents, ",")));
    }
    if (fields.optional("encoding"))
      encoding = read_encoding(fields, diagnostics_).value_or(encoding);
    (void)fields.optional("global");  // made of the parts
    (void)fields.optional("id");      // another name of the value
    const std::optional<DocumentNode> lists = fields.required("per_device");
    fields.finish();
    if (!lists || diagnostics_.size() != before)
      return std::nullopt;
    return read_held(*lists, id, encoding);
  }

  /// Reads one list per device that has the value, or one per device of the mesh, which is null for
  /// a device that does not have the value.
  std::optional<std::vector<Tensor>> read_held(DocumentNode lists, ValueId id, Encoding encoding) {
    if (!is_list(lists, "one list of elements per device", diagnostics_))
      return std::nullopt;
    const std::span<const LogicalId> holders = holders_.of(id);
    const uint32_t devices = program_->mesh.devices();
    if (lists.size() != holders.size() && lists.size() != devices) {
      diagnostics_.add(
          lists.origin(),
          holders.size() == devices
              ? fmt::format("expected {} lists, one per device, got {}", devices, lists.size())
              : fmt::format("expected {} lists, one per device that has the value, or "
                            "{} with null for the others, got {}",
                            holders.size(), devices, lists.size()));
      return std::nullopt;
    }
    const ValueType& type = program_->value(id).type;
    const LiteralType literal{type.dtype, type.shape, encoding, holders.size()};
    std::vector<Tensor> tensors;
    uint32_t place = 0;
    for (const DocumentNode list : lists) {
      const uint32_t index = place++;
      const LogicalId device = lists.size() == devices ? LogicalId(index) : holders[index];
      const bool has = std::binary_search(holders.begin(), holders.end(), device);
      if (!has && list.kind() != DocumentNode::Kind::Null) {
        diagnostics_.add(list.origin(), fmt::format("expected null, since device {} does not have "
                                                    "the value, got {}",
                                                    device.index(), got(list)));
      } else if (has && list.kind() == DocumentNode::Kind::Null) {
        diagnostics_.add(
            list.origin(),
            fmt::format("expected a list of elements, since device {} has the value, got null",
                        device.index()));
        return std::nullopt;
      } else if (has) {
        if (std::optional<Tensor> tensor = read_tensor(list, literal, diagnostics_))
          tensors.push_back(std::move(*tensor));
      }
    }
    if (tensors.size() != holders.size())
      return std::nullopt;
    return tensors;
  }

  template <class Bounds, class Amount>
  Bounds read_bounds(DocumentNode node, Dimension dimension) {
    Bounds bounds;
    if (!is_object(node, "an object with \"at_most\", \"at_least\" or both", diagnostics_))
      return bounds;
    Fields fields(node, diagnostics_);
    const auto least = fields.optional_quantity("at_least", dimension);
    const auto most = fields.optional_quantity("at_most", dimension);
    fields.finish();
    if (node.size() == 0)
      diagnostics_.add(node.origin(), "expected \"at_most\", \"at_least\" or both, got neither");
    if (least && most && *least > *most)
      diagnostics_.add(
          node.origin(),
          fmt::format("expected \"at_least\" to be no more than \"at_most\", {}, got {}",
                      quantity_text(*most, dimension), quantity_text(*least, dimension)));
    if (least)
      bounds.at_least = Amount(*least);
    if (most)
      bounds.at_most = Amount(*most);
    return bounds;
  }

  ExpectBufferedMessages read_buffered(DocumentNode node) {
    if (!is_object(node, "an object with \"at_most\"", diagnostics_))
      return {};
    Fields fields(node, diagnostics_);
    const std::optional<DocumentNode> most = fields.required("at_most");
    fields.finish();
    if (!most)
      return {};
    constexpr IntegerRange kRange = {0, std::numeric_limits<int64_t>::max()};
    return {read_integer(*most, "a number of messages", kRange, diagnostics_).value_or(0)};
  }

  std::vector<Property> read_properties(DocumentNode list) {
    std::vector<Property> properties;
    if (!is_list(list, "a list of properties", diagnostics_))
      return properties;
    std::vector<std::string_view> names;
    std::string all;
    for (const Property property : kProperties) {
      names.push_back(property_name(property));
      all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", property_name(property));
    }
    if (list.size() == 0)
      diagnostics_.add(list.origin(),
                       fmt::format("expected at least one property (of {}), got none", all));
    for (const DocumentNode item : list) {
      bool known = false;
      for (const Property property : kProperties) {
        if (item.kind() != DocumentNode::Kind::Text || item.text() != property_name(property))
          continue;
        known = true;
        if (std::find(properties.begin(), properties.end(), property) != properties.end())
          diagnostics_.add(item.origin(), fmt::format("expected each property once, got {} again",
                                                      in_quotes(item.text())));
        else
          properties.push_back(property);
      }
      if (!known)
        diagnostics_.add(
            item.origin(),
            fmt::format(
                "expected a property (one of {}), got {}{}", all, got(item),
                item.kind() == DocumentNode::Kind::Text ? did_you_mean(item.text(), names) : ""));
    }
    return properties;
  }

  const Program* program_;
  Diagnostics& diagnostics_;
  std::map<std::string_view, ValueId> values_;
  Holders holders_;
  std::vector<Expectation> expectations_;
};

}  // namespace

std::string_view property_name(Property property) {
  switch (property) {
    case Property::DeadlockFree:
      return "deadlock_free";
    case Property::RaceFree:
      return "race_free";
    case Property::NoLeak:
      return "no_leak";
    case Property::Proved:
      break;
  }
  return "proved";
}

void for_each_compared(Expectation& expectation, FunctionRef<void(ComparedValue& value)> visit) {
  std::visit(Overloaded{[&](ExpectValues& what) { visit(what.value); },
                        [&](ExpectEqual& what) { std::ranges::for_each(what.values, visit); },
                        [&](ExpectClose& what) { std::ranges::for_each(what.values, visit); },
                        [](auto&) {}},
             expectation.what);
}

std::vector<Expectation> read_expectations(DocumentNode node, const Program* program,
                                           Diagnostics& diagnostics) {
  return ExpectReader(program, diagnostics).read(node);
}

}  // namespace orrery
