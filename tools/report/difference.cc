#include "tools/report/difference.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/text.h"
#include "models/scenario/quantity_text.h"
#include "tools/report/figures.h"

namespace orrery {

namespace {

/// This is the position of a difference in the order of compare().
struct Key {
  enum class Section : uint8_t { Arguments, Ops, Memory, Verdicts } section = Section::Ops;
  Instant end;
  size_t position = 0;
  uint32_t device = 0;
  Aspect aspect = Aspect::Op;

  friend auto operator<=>(const Key&, const Key&) = default;
};

/// The differences found in one aspect so far.
struct AspectDifferences {
  Key first_key;
  Difference first;
  std::map<std::pair<Key::Section, size_t>, std::string> places;  // by position
};

std::string type_text(const RecordedValue& value) {
  return fmt::format("{}{}", name(value.dtype), value.shape.text());
}

std::string ulps_text(uint64_t ulps) {
  return fmt::format("{} ulp{}", ulps, ulps == 1 ? "" : "s");
}

std::string note(const TensorDifference& difference, int64_t elements) {
  std::string text;
  if (difference.ulps)
    text = ulps_text(*difference.ulps) + " apart; ";
  text += fmt::format("{} of {} element{} differ{}", difference.count, elements,
                      elements == 1 ? "" : "s", difference.count == 1 ? "s" : "");
  if (difference.count > 1 && difference.most_ulps)
    text += fmt::format(", by at most {}", ulps_text(*difference.most_ulps));
  return text;
}

/// Says that there are no values to compare. `which` is a subject with its verb.
std::string no_values_text(std::string_view which) {
  return fmt::format(
      "Values: {}. (A run with data off or over its budget, and a program that does not end, have "
      "none. A saved report has what `run --format json --values all` kept.)",
      which);
}

class Comparer {
 public:
  Comparer(const RunRecord& a, const RunRecord& b) : a_(a), b_(b) {
    for (const RecordedOp& op : b.ops)
      ops_of_b_.emplace(op.id, &op);
    for (size_t i = 0; i < a.ops.size(); ++i)
      positions_.emplace(a.ops[i].id, i);
  }

  RunComparison run() {
    compare_settings();
    compare_ops();
    compare_values();
    compare_devices();
    compare_checks();
    std::vector<const decltype(found_)::value_type*> in_order;
    for (const auto& entry : found_)
      in_order.push_back(&entry);
    std::sort(in_order.begin(), in_order.end(), [](const auto* x, const auto* y) {
      return x->second.first_key < y->second.first_key;
    });
    for (const auto* entry : in_order) {
      Finding& finding =
          result_.findings.emplace_back(Finding{entry->first, entry->second.first, {}});
      for (const auto& [position, place] : entry->second.places)
        finding.places.push_back(place);
    }
    result_.unexplained = result_.same() && a_.fingerprint != b_.fingerprint;
    return std::move(result_);
  }

 private:
  /// Counts a difference. `make` describes it and is called only if the key is the first so far.
  template <class Make>
  void add(Aspect aspect, Key key, const std::string& place, Make make) {
    key.aspect = aspect;
    const auto [at, is_new] = found_.try_emplace(aspect);
    AspectDifferences& found = at->second;
    found.places.emplace(std::pair(key.section, key.position), place);
    if (!is_new && found.first_key < key)
      return;
    found.first_key = key;
    found.first = make();
  }

  /// Returns the key of an op of A that ends at `end`, on one device or on all.
  static Key op_key(size_t position, std::optional<LogicalId> device, Instant end) {
    return {Key::Section::Ops, end, position, device ? device->index() : 0, {}};
  }
  /// Returns the key of an op as a whole, which comes before those of its devices.
  Key op_key(size_t position) const {
    const RecordedOp& op = a_.ops[position];
    Instant end = op.span ? op.span->end : Instant();
    for (const auto& [device, span] : op.by_device)
      end = std::min(end, span.end);
    return op_key(position, std::nullopt, end);
  }

  void compare_settings() {
    for (const RecordedSetting& a : a_.settings)
      for (const RecordedSetting& b : b_.settings)
        if (a.key == b.key && a.text != b.text)
          result_.settings.push_back({a.key, a.text, b.text});
  }

  void compare_ops() {
    for (size_t i = 0; i < a_.ops.size(); ++i) {
      const auto found = ops_of_b_.find(a_.ops[i].id);
      if (found == ops_of_b_.end())
        result_.only_in_a.push_back(a_.ops[i].id);
      else
        compare_op(i, *found->second);
    }
    for (const RecordedOp& op : b_.ops)
      if (positions_.find(op.id) == positions_.end())
        result_.only_in_b.push_back(op.id);
  }

  void compare_op(size_t position, const RecordedOp& b) {
    const RecordedOp& a = a_.ops[position];
    if (a.op != b.op)
      add(Aspect::Op, op_key(position), a.id,
          [&] { return Difference{a.id, std::nullopt, "op", a.op, b.op, ""}; });
    if (a.algorithm != b.algorithm || a.messages != b.messages) {
      const auto text = [](const RecordedOp& op) {
        return fmt::format("{}, {} messages", op.algorithm.value_or("none"), op.messages);
      };
      add(Aspect::Algorithm, op_key(position), a.id,
          [&] { return Difference{a.id, std::nullopt, "algorithm", text(a), text(b), ""}; });
    }
    compare_spaces(position, b);
    if (a.by_device.empty() || b.by_device.empty()) {
      if (a.span && b.span)
        compare_span(position, std::nullopt, *a.span, *b.span);
      return;
    }
    auto in_b = b.by_device.begin();
    for (const auto& [device, span] : a.by_device) {
      while (in_b != b.by_device.end() && in_b->first < device)
        ++in_b;
      if (in_b != b.by_device.end() && in_b->first == device)
        compare_span(position, device, span, in_b->second);
    }
  }

  void compare_spaces(size_t position, const RecordedOp& b) {
    const RecordedOp& a = a_.ops[position];
    std::set<std::string> spaces;
    for (const auto& [space, peak] : a.spaces)
      spaces.insert(space);
    for (const auto& [space, peak] : b.spaces)
      spaces.insert(space);
    const auto held = [](const RecordedOp& op, const std::string& space) {
      const auto found = op.spaces.find(space);
      return found == op.spaces.end() ? Bytes() : found->second;
    };
    for (const std::string& space : spaces)
      if (held(a, space) != held(b, space))
        add(Aspect::Space, op_key(position), a.id, [&] {
          return Difference{a.id,
                            std::nullopt,
                            space,
                            quantity_text(held(a, space)),
                            quantity_text(held(b, space)),
                            ""};
        });
  }

  void compare_span(size_t position, std::optional<LogicalId> device, const RecordedSpan& a,
                    const RecordedSpan& b) {
    const auto differ = [&](const char* what, Instant in_a, Instant in_b) {
      const std::string& id = a_.ops[position].id;
      add(Aspect::Time, op_key(position, device, a.end), id, [&] {
        return Difference{id,
                          device,
                          what,
                          quantity_text(in_a - Instant()),
                          quantity_text(in_b - Instant()),
                          in_a < in_b ? time_text(in_b - in_a, true) + " later"
                                      : time_text(in_a - in_b, true) + " earlier"};
      });
    };
    if (a.start != b.start)
      differ("start", a.start, b.start);
    else if (a.end != b.end)
      differ("end", a.end, b.end);
  }

  void compare_values() {
    if (a_.values.empty() || b_.values.empty()) {
      result_.not_compared.push_back(no_values_text(!a_.values.empty() ? "B has none"
                                                    : !b_.values.empty()
                                                        ? "A has none"
                                                        : "neither A nor B has any"));
      return;
    }
    std::set<std::string_view> of_a;
    std::multimap<std::string_view, const RecordedValue*> of_b;
    for (const RecordedValue& value : b_.values)
      of_b.emplace(value.name, &value);
    size_t argument = 0;
    std::vector<std::string> only_a;
    for (const RecordedValue& value : a_.values) {
      const auto op = positions_.find(value.name);
      const bool is_op = op != positions_.end();
      const auto [other, end] = of_b.equal_range(value.name);
      if (other == end && (!is_op || ops_of_b_.contains(value.name)))
        only_a.push_back(value.shown_name());
      for (auto each = other; each != end; ++each)
        compare_value(is_op ? std::optional(op->second) : std::nullopt, argument, value,
                      *each->second);
      of_a.insert(value.name);
      argument += is_op ? 0 : 1;
    }
    std::vector<std::string> only_b;
    for (const RecordedValue& value : b_.values)
      if (!of_a.contains(value.name) &&
          (!ops_of_b_.contains(value.name) || positions_.contains(value.name)))
        only_b.push_back(value.shown_name());
    tell_missing("B", only_a);
    tell_missing("A", only_b);
  }

  void tell_missing(std::string_view from, const std::vector<std::string>& values) {
    if (!values.empty())
      result_.not_compared.push_back(
          fmt::format("Values that {} does not have: \"{}\".", from, fmt::join(values, "\", \"")));
  }

  void compare_value(std::optional<size_t> op, size_t argument, const RecordedValue& a,
                     const RecordedValue& b) {
    const Key whole = op ? op_key(*op) : Key{Key::Section::Arguments, {}, argument, 0, {}};
    if (a.dtype != b.dtype || a.shape != b.shape)
      add(Aspect::Type, whole, a.shown_name(), [&] {
        return Difference{a.shown_name(), std::nullopt, "type", type_text(a), type_text(b), ""};
      });
    Key after_parts = whole;
    after_parts.device = std::numeric_limits<uint32_t>::max();
    if (op && a_.ops[*op].span)
      after_parts.end = a_.ops[*op].span->end;
    compare_whole(after_parts, a, b);
    if (a.shape != b.shape)
      return;
    for (uint32_t d = 0; d < std::min(a.per_device.size(), b.per_device.size()); ++d) {
      const std::optional<Tensor>& in_a = a.per_device[d];
      const std::optional<Tensor>& in_b = b.per_device[d];
      Key key = whole;
      key.device = d;
      if (op)
        key.end = end_on(a_.ops[*op], LogicalId(d));
      if (in_a.has_value() != in_b.has_value())
        add(Aspect::Value, key, a.shown_name(), [&] {
          return Difference{a.shown_name(),      LogicalId(d),        "is there",
                            in_a ? "yes" : "no", in_b ? "yes" : "no", ""};
        });
      if (!in_a || !in_b)
        continue;
      const std::optional<TensorDifference> difference = first_difference(*in_a, *in_b);
      if (!difference)
        continue;
      add(Aspect::Value, key, a.shown_name(), [&] {
        return Difference{a.shown_name(),
                          LogicalId(d),
                          fmt::format("element {}", difference->element),
                          element_text(*in_a, difference->element),
                          element_text(*in_b, difference->element),
                          note(*difference, in_a->elements())};
      });
    }
  }

  /// Compares the arrays that the parts of all devices make. If the specs differ, the arrays may
  /// differ though the parts do not.
  void compare_whole(const Key& key, const RecordedValue& a, const RecordedValue& b) {
    if (a.whole.has_value() != b.whole.has_value()) {
      result_.not_compared.push_back(fmt::format("The whole array of \"{}\": {} has none.",
                                                 a.shown_name(), a.whole ? "B" : "A"));
      return;
    }
    if (!a.whole)
      return;
    if (a.whole->dtype() != b.whole->dtype() || a.whole->shape() != b.whole->shape()) {
      const auto text = [](const Tensor& whole) {
        return fmt::format("{}{}", name(whole.dtype()), whole.shape().text());
      };
      add(Aspect::Type, key, a.shown_name(), [&] {
        return Difference{a.shown_name(), std::nullopt,   "type of the whole array",
                          text(*a.whole), text(*b.whole), ""};
      });
      return;
    }
    if (const std::optional<TensorDifference> difference = first_difference(*a.whole, *b.whole))
      add(Aspect::Value, key, a.shown_name(), [&] {
        return Difference{a.shown_name(),
                          std::nullopt,
                          fmt::format("element {} of the whole array", difference->element),
                          element_text(*a.whole, difference->element),
                          element_text(*b.whole, difference->element),
                          note(*difference, a.whole->elements())};
      });
  }

  static Instant end_on(const RecordedOp& op, LogicalId device) {
    const auto at =
        std::lower_bound(op.by_device.begin(), op.by_device.end(), device,
                         [](const auto& entry, LogicalId wanted) { return entry.first < wanted; });
    if (at != op.by_device.end() && at->first == device)
      return at->second.end;
    return op.span ? op.span->end : Instant();
  }

  void compare_devices() {
    std::map<LogicalId, const RecordedDevice*> of_b;
    for (const RecordedDevice& device : b_.devices)
      of_b.emplace(device.id, &device);
    if (a_.devices.size() != b_.devices.size())
      result_.not_compared.push_back(
          fmt::format("Devices: A has {}, B has {}; those of both are "
                      "compared.",
                      a_.devices.size(), b_.devices.size()));
    for (const RecordedDevice& a : a_.devices) {
      const auto found = of_b.find(a.id);
      if (found == of_b.end())
        continue;
      const RecordedDevice& b = *found->second;
      const Key key{Key::Section::Memory, {}, a.id.index(), a.id.index(), {}};
      const std::string place = std::to_string(a.id.index());
      const auto peak = [](const RecordedDevice& device) {
        return quantity_text(device.peak) + (device.peak_at ? " at " + *device.peak_at : "");
      };
      if (a.peak != b.peak)
        add(Aspect::Memory, key, place,
            [&] { return Difference{"", a.id, "peak", peak(a), peak(b), ""}; });
      else if (a.arena != b.arena)
        add(Aspect::Memory, key, place, [&] {
          return Difference{"", a.id, "arena", quantity_text(a.arena), quantity_text(b.arena), ""};
        });
    }
  }

  /// Compares verdicts. A check that only one run has counts if it does not hold.
  void compare_checks() {
    std::map<std::pair<std::string, std::string>, const RecordedCheck*> of_b;
    for (const RecordedCheck& check : b_.checks)
      of_b.emplace(std::pair(check.name, check.of), &check);
    size_t position = 0;
    const auto differ = [&](const RecordedCheck* in_a, const RecordedCheck* in_b) {
      const RecordedCheck& check = in_a != nullptr ? *in_a : *in_b;
      const std::string place = fmt::format("{} {}", check.name, check.of);
      const auto verdict = [](const RecordedCheck* of) {
        return std::string(of == nullptr ? "not checked" : in_words(of->verdict));
      };
      add(Aspect::Verdict, Key{Key::Section::Verdicts, {}, position, 0, {}}, place, [&] {
        // The message is that of the check that does not hold.
        const RecordedCheck& broken =
            in_b == nullptr || (in_a != nullptr && in_a->verdict > in_b->verdict) ? *in_a : *in_b;
        return Difference{place,         std::nullopt,  "verdict",
                          verdict(in_a), verdict(in_b), broken.message};
      });
    };
    for (const RecordedCheck& a : a_.checks) {
      const auto found = of_b.find({a.name, a.of});
      const RecordedCheck* const b = found == of_b.end() ? nullptr : found->second;
      if (a.verdict != (b != nullptr ? b->verdict : Verdict::Holds))
        differ(&a, b);
      if (b != nullptr)
        of_b.erase(found);
      ++position;
    }
    for (const RecordedCheck& b : b_.checks) {
      const auto left = of_b.find({b.name, b.of});
      if (left != of_b.end() && left->second == &b && b.verdict != Verdict::Holds)
        differ(nullptr, &b);
      ++position;
    }
  }

  const RunRecord& a_;
  const RunRecord& b_;
  std::map<std::string, const RecordedOp*> ops_of_b_;
  std::map<std::string, size_t> positions_;  // by id: the positions of A's ops
  std::map<Aspect, AspectDifferences> found_;
  RunComparison result_;
};

}  // namespace

std::string_view name(Aspect aspect) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "op", "type", "algorithm", "value", "time", "space", "memory", "verdict"};
  return kNames[static_cast<size_t>(aspect)];
}

RunComparison compare(const RunRecord& a, const RunRecord& b) {
  return Comparer(a, b).run();
}

}  // namespace orrery
