#include "verifier/expect/expect.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/array/text.h"
#include "models/base/amount_text.h"
#include "models/program/dependent_values.h"
#include "models/scenario/expectation.h"
#include "models/scenario/quantity_text.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"
#include "verifier/definition/compare.h"
#include "verifier/definition/sums.h"

namespace orrery {

namespace {

enum class Nans : uint8_t { Alike, ByBits };

bool same(const Tensor& a, const Tensor& b, Nans nans) {
  return nans == Nans::Alike ? a == b : same_bits(a, b);
}

/// Returns the row-major index of the first element that differs. Requires that there is one.
int64_t first_different(const Tensor& a, const Tensor& b, Nans nans) {
  if (is_complex(a.dtype()))
    return first_different(parts(a), parts(b), nans) / 2;
  const auto same = [&](int64_t element) {
    return element_bits(a, element) == element_bits(b, element) ||
           (nans == Nans::Alike && element_text(a, element) == "NaN" &&
            element_text(b, element) == "NaN");
  };
  int64_t element = 0;
  while (same(element))
    ++element;
  return element;
}

/// Returns the element as text. A NaN has its bits with it, since there are many NaNs.
std::string text_of(const Tensor& tensor, int64_t element, Nans nans) {
  if (is_complex(tensor.dtype())) {
    const Tensor both = parts(tensor);
    return fmt::format("[{},{}]", text_of(both, 2 * element, nans),
                       text_of(both, 2 * element + 1, nans));
  }
  const std::string text = element_text(tensor, element);
  return text == "NaN" && nans == Nans::ByBits
             ? fmt::format("NaN (bits {:#x})", element_bits(tensor, element))
             : text;
}

/// Returns the failed check for a difference in one element on one device.
Check differs(CheckKind kind, const std::string& of, LogicalId device, int64_t element,
              std::pair<std::string, std::string> left, std::pair<std::string, std::string> right,
              const std::string& more = {}) {
  return failed(kind, of,
                fmt::format("On device {}, element {}: {} has {}, {} has {}{}.", device.index(),
                            element, left.first, left.second, right.first, right.second, more),
                {{"device", std::to_string(device.index())},
                 {"element", std::to_string(element)},
                 {left.first, left.second},
                 {right.first, right.second}});
}

/// Returns the value's name in the scenario, in quotes.
std::string shown(const ComparedValue& value) {
  return quoted(value.written);
}

std::string list_text(const std::vector<ComparedValue>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + shown(values[i]);
  return text;
}

std::string amount_text(Duration time) {
  return time_text(time, true);
}
std::string amount_text(Bytes size) {
  return size_text(size);
}

template <class Amount>
Check within(CheckKind kind, const std::string& of, std::string_view what, Amount amount,
             std::optional<Amount> least, std::optional<Amount> most) {
  const auto outside = [&](std::string_view side, Amount limit) {
    const auto [is, bound] = told_apart(amount, limit);
    return failed(kind, of, fmt::format("The {} is {}, {} {}.", what, is, side, bound),
                  {{std::string(what), quantity_text(amount)}, {"limit", quantity_text(limit)}});
  };
  if (least && amount < *least)
    return outside("below", *least);
  if (most && amount > *most)
    return outside("above", *most);
  return passed(kind, of, fmt::format("The {} is {}.", what, amount_text(amount)));
}

/// Returns the checks that a property consists of.
std::vector<CheckKind> checks_of(Property property) {
  switch (property) {
    case Property::DeadlockFree:
      return {CheckKind::TablesAgreed, CheckKind::DeadlockFree, CheckKind::OrderAgreed,
              CheckKind::StreamsOrdered, CheckKind::RouteLeft};
    case Property::RaceFree:
      return {CheckKind::RaceFree, CheckKind::DonationUse};
    case Property::NoLeak:
      return {CheckKind::LeakFree};
    case Property::Proved:
      return {CheckKind::ScheduleProved};
  }
  return {};
}

/// Returns why a run has none of a property's checks.
std::string_view nothing_to_check(Property property, bool tables_agree, bool ends) {
  if (!tables_agree)
    return "the tables of a ragged exchange do not agree";
  if (!ends)
    return "the program cannot end";
  return property == Property::Proved
             ? "the program has no collectives, so there is nothing to prove"
             : "nothing of it was checked";
}

}  // namespace

std::vector<ComparedValue> compared_values(const Expectation& expectation) {
  if (const auto* equal = std::get_if<ExpectEqual>(&expectation.what))
    return equal->values;
  if (const auto* close = std::get_if<ExpectClose>(&expectation.what))
    return close->values;
  if (const auto* literal = std::get_if<ExpectValues>(&expectation.what))
    return {literal->value};
  return {};
}

Expectations::Expectations(const Evidence& evidence) : evidence_(evidence) {
  const std::vector<Value>& values = evidence.scenario.program.values;
  for (size_t i = 0; i < values.size(); ++i)
    values_by_name_.emplace(values[i].name, ValueId(i));
  for (const Check& check : evidence.checks) {
    const Check*& verdict = verdicts_.emplace(check.name, &check).first->second;
    if (check.verdict > verdict->verdict)
      verdict = &check;
  }
}

std::optional<std::string> Expectations::opaque(const Expectation& expectation) {
  const std::vector<ComparedValue> compared = compared_values(expectation);
  if (compared.empty() || !evidence_.values)
    return std::nullopt;
  if (!opaque_)
    opaque_ = opaque_values(evidence_.scenario.program);
  const auto name = [&](OpId op) { return evidence_.scenario.program.op(op).name; };
  for (const ComparedValue& value : compared)
    if (const auto op = opaque_->find(id(value)); op != opaque_->end())
      return name(op->second) == value.written
                 ? fmt::format("It is not decided: the result of {} is a stand-in.", shown(value))
                 : fmt::format(
                       "It is not decided: {} depends on \"{}\", whose result is a "
                       "stand-in.",
                       shown(value), name(op->second));
  return std::nullopt;
}

Check Expectations::check(const Expectation& expectation) {
  const std::string& of = expectation.origin.pointer;
  if (const std::optional<std::string> why = opaque(expectation))
    return undecided(std::holds_alternative<ExpectEqual>(expectation.what) ? CheckKind::ValuesEqual
                     : std::holds_alternative<ExpectClose>(expectation.what)
                         ? CheckKind::ValuesClose
                         : CheckKind::ValuesLiteral,
                     of, *why);
  if (const auto* equal = std::get_if<ExpectEqual>(&expectation.what))
    return this->equal(of, *equal);
  if (const auto* close = std::get_if<ExpectClose>(&expectation.what))
    return this->close(of, *close);
  if (const auto* literal = std::get_if<ExpectValues>(&expectation.what))
    return this->literal(of, *literal);
  if (const auto* makespan = std::get_if<ExpectMakespan>(&expectation.what))
    return this->makespan(of, *makespan);
  if (const auto* peak = std::get_if<ExpectPeakMemory>(&expectation.what))
    return peak_memory(of, *peak);
  if (const auto* buffered = std::get_if<ExpectBufferedMessages>(&expectation.what))
    return buffered_messages(of, *buffered);
  return holds_all(of, std::get<ExpectHolds>(expectation.what));
}

const std::optional<Tensor>& Expectations::tensor(const ComparedValue& value,
                                                  LogicalId device) const {
  return evidence_.values->at(id(value), device);
}

const DeviceValues& Expectations::bounds() {
  if (!bounds_)
    bounds_ = evidence_.error_bounds();
  return *bounds_;
}

std::variant<Check, std::string> Expectations::compare_each(CheckKind kind, const std::string& of,
                                                            const ComparedValues& expected,
                                                            Compare compare) const {
  const ComparedValue& first = expected.values.front();
  uint32_t fewest = 0;  // devices on which two values were compared
  uint32_t most = 0;
  for (size_t other = 1; other < expected.values.size(); ++other) {
    const ComparedValue& second = expected.values[other];
    uint32_t compared = 0;
    for (uint32_t d = 0; d < evidence_.scenario.program.mesh.devices(); ++d) {
      const LogicalId device(d);
      const std::optional<Tensor>& a = tensor(first, device);
      const std::optional<Tensor>& b = tensor(second, device);
      if (a && b) {
        ++compared;
        if (std::optional<Check> check = compare(device, second, *a, *b))
          return std::move(*check);
      } else if ((a || b) && expected.devices == ComparedDevices::Same) {
        const auto& [has, lacks] = a ? std::tie(first, second) : std::tie(second, first);
        return failed(
            kind, of,
            fmt::format("Device {} has {} and not {}. \"devices\": \"common\" compares "
                        "them on the devices that have both.",
                        d, shown(has), shown(lacks)),
            {{"device", std::to_string(d)}, {"has", has.written}, {"lacks", lacks.written}});
      }
    }
    if (compared == 0)
      return failed(kind, of,
                    fmt::format("No device has both {} and {}.", shown(first), shown(second)));
    fewest = other == 1 ? compared : std::min(fewest, compared);
    most = other == 1 ? compared : std::max(most, compared);
  }
  const int64_t elements = evidence_.scenario.program.value(id(first)).type.shape.elements();
  const std::string devices =
      fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most);
  return fmt::format("{} device{}, {} element{} each", devices, most == 1 ? "" : "s", elements,
                     elements == 1 ? "" : "s");
}

Check Expectations::equal(const std::string& of, const ExpectEqual& expected) {
  constexpr CheckKind kKind = CheckKind::ValuesEqual;
  if (!evidence_.values)
    return undecided(kKind, of, evidence_.undecided);
  const auto compare = [&](LogicalId device, const ComparedValue& other, const Tensor& a,
                           const Tensor& b) -> std::optional<Check> {
    if (same(a, b, Nans::ByBits))
      return std::nullopt;
    const int64_t element = first_different(a, b, Nans::ByBits);
    return differs(kKind, of, device, element,
                   {shown(expected.values.front()), text_of(a, element, Nans::ByBits)},
                   {shown(other), text_of(b, element, Nans::ByBits)});
  };
  const std::variant<Check, std::string> compared = compare_each(kKind, of, expected, compare);
  if (const auto* check = std::get_if<Check>(&compared))
    return *check;
  const std::string& where = std::get<std::string>(compared);
  std::vector<ValueId> values;
  for (const ComparedValue& value : expected.values)
    values.push_back(id(value));
  const bool exact = !evidence_.leaves_out &&
                     sums_are_exact(evidence_.scenario.program, *evidence_.values, values);
  return passed(kKind, of,
                fmt::format("{} are bitwise equal on {}.", list_text(expected.values), where),
                exact ? "They sum numbers of few bits, which is exact in any order; sums of other "
                        "numbers may differ."
                      : "");
}

/// Names the sums of the compared values that differ in length.
std::string Expectations::sums_text(const std::vector<ComparedValue>& values) const {
  std::string text;
  for (size_t i = 1; i < values.size(); ++i) {
    const std::string sums =
        different_sums(evidence_.scenario.program, id(values.front()), id(values[i]));
    if (!sums.empty())
      text += fmt::format("{}{}", text.empty() ? "" : "; ", sums);
  }
  return text.empty() ? "All their sums have the same lengths."
                      : fmt::format("Sums that only one of them makes: {}.", text);
}

Check Expectations::close(const std::string& of, const ExpectClose& expected) {
  constexpr CheckKind kKind = CheckKind::ValuesClose;
  if (!evidence_.values)
    return undecided(kKind, of, evidence_.undecided);
  const ComparedValue& first = expected.values.front();
  Nearness::Difference largest;
  std::optional<Check> open;  // the first difference that bounds do not decide
  const auto compare = [&](LogicalId device, const ComparedValue& other, const Tensor& a,
                           const Tensor& b) -> std::optional<Check> {
    if (a == b)
      return std::nullopt;  // within any bounds, which cost more than the program
    const Tensor& bound_a = *bounds().at(id(first), device);
    const Tensor& bound_b = *bounds().at(id(other), device);
    const Nearness near = nearness(a, bound_a, b, bound_b);
    if (near.largest.found > largest.found)
      largest = near.largest;
    if (!near.wrong && (!near.undecided || open))
      return std::nullopt;
    const int64_t element = near.wrong.value_or(near.undecided.value_or(0));
    const auto i = static_cast<size_t>(element);
    const double bound = bound_a.as<double>()[i] + bound_b.as<double>()[i];
    const Verdict verdict = near.wrong ? Verdict::Fails : Verdict::Undecided;
    Check check = differs(kKind, of, device, element, {shown(first), element_text(a, element)},
                          {shown(other), element_text(b, element)},
                          is_inexact(a.dtype()) || bound > 0
                              ? "; their roundings allow " + allowed_text(verdict, bound)
                              : "; they are not rounded");
    if (near.wrong)
      return check;
    check.verdict = Verdict::Undecided;
    open = std::move(check);
    return std::nullopt;
  };
  const std::variant<Check, std::string> compared = compare_each(kKind, of, expected, compare);
  if (const auto* check = std::get_if<Check>(&compared))
    return *check;
  const std::string& where = std::get<std::string>(compared);
  if (open)
    return std::move(*open);
  if (largest.found == 0)
    return passed(kKind, of, fmt::format("{} are equal on {}.", list_text(expected.values), where));
  return passed(
      kKind, of,
      fmt::format("{} on {} differ by at most {:.3g}, where their roundings allow {:.3g}. {}",
                  list_text(expected.values), where, largest.found, largest.allowed,
                  sums_text(expected.values)));
}

Check Expectations::literal(const std::string& of, const ExpectValues& expected) const {
  constexpr CheckKind kKind = CheckKind::ValuesLiteral;
  if (!evidence_.values)
    return undecided(kKind, of, evidence_.undecided);
  size_t at = 0;  // among the devices that have the value
  for (uint32_t d = 0; d < evidence_.scenario.program.mesh.devices(); ++d) {
    const std::optional<Tensor>& got = tensor(expected.value, LogicalId(d));
    if (!got)
      continue;
    const Tensor& want = expected.per_device[at++];
    const Nans nans = expected.encoding == Encoding::Bits ? Nans::ByBits : Nans::Alike;
    if (same(*got, want, nans))
      continue;
    const int64_t element = first_different(*got, want, nans);
    return differs(kKind, of, LogicalId(d), element,
                   {shown(expected.value), text_of(*got, element, nans)},
                   {"the value given", text_of(want, element, nans)});
  }
  return passed(kKind, of, fmt::format("{} has the values given.", shown(expected.value)));
}

Check Expectations::makespan(const std::string& of, const ExpectMakespan& expected) const {
  if (!evidence_.completion)
    return undecided(CheckKind::TimeMakespan, of, evidence_.undecided);
  return within(CheckKind::TimeMakespan, of, "makespan", evidence_.completion->makespan - Instant(),
                expected.at_least, expected.at_most);
}

Check Expectations::peak_memory(const std::string& of, const ExpectPeakMemory& expected) const {
  return within(CheckKind::MemoryPeak, of, "peak memory", evidence_.memory.largest_peak(),
                expected.at_least, expected.at_most);
}

Check Expectations::buffered_messages(const std::string& of,
                                      const ExpectBufferedMessages& expected) const {
  const auto tables = verdicts_.find(info(CheckKind::TablesAgreed).name);
  if (tables != verdicts_.end() && !tables->second->holds())
    return undecided(CheckKind::SendsBuffered, of, evidence_.undecided);
  return sends_buffered(evidence_.counted, evidence_.lowered_counted,
                        evidence_.completion.has_value(), expected.at_most, of);
}

Check Expectations::holds_all(const std::string& of, const ExpectHolds& expected) const {
  std::string properties;
  std::optional<Check> open;  // the first that is undecided
  const auto tables = verdicts_.find(info(CheckKind::TablesAgreed).name);
  const bool tables_agree = tables == verdicts_.end() || tables->second->holds();
  for (const Property property : expected.properties) {
    bool checked = false;
    for (const CheckKind kind : checks_of(property)) {
      const auto verdict = verdicts_.find(info(kind).name);
      if (verdict == verdicts_.end())
        continue;
      checked = true;
      const Check& check = *verdict->second;
      if (check.verdict == Verdict::Fails)
        return failed(CheckKind::PropertyHolds, of,
                      fmt::format("{} does not hold: {}", property_name(property), check.message),
                      check.witness);
      if (check.verdict == Verdict::Undecided && !open)
        open = undecided(CheckKind::PropertyHolds, of,
                         fmt::format("{} is undecided: {}", property_name(property), check.message),
                         check.witness);
    }
    if (!checked && !open)
      open = undecided(
          CheckKind::PropertyHolds, of,
          fmt::format("{} is undecided: {}.", property_name(property),
                      nothing_to_check(property, tables_agree, evidence_.completion.has_value())));
    properties += fmt::format("{}{}", properties.empty() ? "" : ", ", property_name(property));
  }
  if (open)
    return std::move(*open);
  return passed(CheckKind::PropertyHolds, of, fmt::format("These hold: {}.", properties));
}

}  // namespace orrery
