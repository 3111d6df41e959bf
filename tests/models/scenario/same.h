#pragma once

// Compares two scenarios, apart from positions in the file.

#include <algorithm>
#include <string>
#include <variant>

#include "models/scenario/scenario.h"

namespace orrery::test {

inline bool same_init(const Init& a, const Init& b) {
  if (a.index() != b.index())
    return false;
  if (const auto* fill = std::get_if<FillInit>(&a))
    return fill->value == std::get<FillInit>(b).value;
  if (const auto* random = std::get_if<RandomInit>(&a))
    return random->seed == std::get<RandomInit>(b).seed &&
           random->values == std::get<RandomInit>(b).values &&
           random->named == std::get<RandomInit>(b).named;
  if (const auto* literal = std::get_if<PerDeviceInit>(&a))
    return literal->tensors == std::get<PerDeviceInit>(b).tensors;
  return true;
}

inline std::vector<std::string> names_of(const ComparedValues& compared) {
  std::vector<std::string> names;
  for (const ComparedValue& value : compared.values)
    names.push_back(value.name);
  return names;
}

inline bool same_comparison(const ComparedValues& a, const ComparedValues& b) {
  return names_of(a) == names_of(b) && a.devices == b.devices;
}

inline bool same_expectation(const Expectation& a, const Expectation& b) {
  if (a.what.index() != b.what.index())
    return false;
  if (const auto* what = std::get_if<ExpectEqual>(&a.what))
    return same_comparison(*what, std::get<ExpectEqual>(b.what));
  if (const auto* what = std::get_if<ExpectClose>(&a.what))
    return same_comparison(*what, std::get<ExpectClose>(b.what));
  if (const auto* what = std::get_if<ExpectValues>(&a.what)) {
    const auto& other = std::get<ExpectValues>(b.what);
    return what->value.name == other.value.name && what->per_device == other.per_device;
  }
  if (const auto* what = std::get_if<ExpectMakespan>(&a.what)) {
    const auto& other = std::get<ExpectMakespan>(b.what);
    return what->at_least == other.at_least && what->at_most == other.at_most;
  }
  if (const auto* what = std::get_if<ExpectPeakMemory>(&a.what)) {
    const auto& other = std::get<ExpectPeakMemory>(b.what);
    return what->at_least == other.at_least && what->at_most == other.at_most;
  }
  if (const auto* what = std::get_if<ExpectBufferedMessages>(&a.what))
    return what->at_most == std::get<ExpectBufferedMessages>(b.what).at_most;
  return std::get<ExpectHolds>(a.what).properties == std::get<ExpectHolds>(b.what).properties;
}

inline bool same_op(const Op& a, const Op& b) {
  return a.name == b.name && a.kind == b.kind && a.issue == b.issue &&
         a.attributes == b.attributes && a.operands == b.operands && a.results == b.results &&
         a.donated == b.donated && a.site == b.site;
}

template <class Items, class Same>
bool all_same(const Items& a, const Items& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

/// Returns the first part in which the scenarios differ; "" if they are the same.
inline std::string difference(const Scenario& a, const Scenario& b) {
  const auto equal = [](const auto& x, const auto& y) { return x == y; };
  const Program& p = a.program;
  const Program& q = b.program;
  if (a.name != b.name || a.checks != b.checks || !(a.memory == b.memory))
    return "name, checks or memory";
  if (a.cluster.name != b.cluster.name || a.catalog_cluster != b.catalog_cluster)
    return "the cluster's name";
  if (!(a.cluster.device == b.cluster.device) || a.cluster.sources != b.cluster.sources)
    return "the cluster's figures";
  if (a.cluster.fabric.devices() != b.cluster.fabric.devices() ||
      a.cluster.fabric.links() != b.cluster.fabric.links() ||
      a.cluster.fabric.ways() != b.cluster.fabric.ways() ||
      a.cluster.fabric.switch_names() != b.cluster.fabric.switch_names() ||
      !all_same(a.cluster.fabric.reducing_switches(), b.cluster.fabric.reducing_switches(), equal))
    return "the fabric";
  if (!all_same(p.mesh.axes(), q.mesh.axes(), equal))
    return "the mesh";
  if (p.numerics != q.numerics)
    return "numerics";
  if (!all_same(a.arrays, b.arrays, [](const Array& x, const Array& y) {
        return x.name == y.name && x.dtype == y.dtype && x.global == y.global && x.spec == y.spec &&
               x.per_device == y.per_device && x.joined == y.joined &&
               x.uncorrected == y.uncorrected && x.on == y.on && same_init(x.init, y.init);
      }))
    return "arrays";
  if (!all_same(p.ops, q.ops, same_op))
    return "ops";
  if (!all_same(p.values, q.values, [](const Value& x, const Value& y) {
        return x.name == y.name && x.type == y.type && x.buffer == y.buffer && x.offset == y.offset;
      }))
    return "values";
  if (!all_same(p.threads, q.threads, [](const Thread& x, const Thread& y) {
        return x.name == y.name && x.devices == y.devices && x.issue_order == y.issue_order;
      }))
    return "threads";
  if (!all_same(p.sites, q.sites, [](const Site& x, const Site& y) {
        return x.name == y.name && x.ops == y.ops && x.groups == y.groups;
      }))
    return "sites";
  if (p.outputs != q.outputs)
    return "outputs";
  if (a.faults != b.faults)
    return "faults";
  return all_same(a.expectations, b.expectations, same_expectation) ? "" : "expectations";
}

}  // namespace orrery::test
