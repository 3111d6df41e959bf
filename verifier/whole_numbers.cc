#include "verifier/whole_numbers.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "models/array/kernels.h"
#include "models/base/overloaded.h"
#include "verifier/oracle/folds.h"

namespace orrery {

namespace {

bool is_whole(const Tensor& tensor) {
  const Tensor wide = convert(tensor, Dtype::F64);
  const std::span<const double> elements = wide.as<double>();
  return std::all_of(elements.begin(), elements.end(),
                     [](double element) { return element == std::trunc(element); });
}

bool is_whole(const Array& array) {
  return std::visit(
      Overloaded{[](const IotaInit&) { return true; },
                 [](const FillInit& init) { return init.value == std::trunc(init.value); },
                 [](const RandomInit& init) { return init.values == RandomInit::Values::Integers; },
                 [](const PerDeviceInit& init) {
                   return std::all_of(init.tensors.begin(), init.tensors.end(),
                                      [](const Tensor& tensor) { return is_whole(tensor); });
                 }},
      array.init);
}

}  // namespace

bool sums_whole_numbers(const Scenario& scenario, std::span<const ValueId> values) {
  const Program& program = scenario.program;
  bool sums = false;
  std::set<ValueId> read(values.begin(), values.end());
  for (const ValueId value : values) {
    for (const OpId id : ops_behind(program, value)) {
      const Op& op = program.op(id);
      sums = sums || terms(program, op) > 1;
      read.insert(op.operands.begin(), op.operands.end());
    }
  }
  bool floats = false;
  for (size_t a = 0; a < scenario.arrays.size(); ++a) {
    const Array& array = scenario.arrays[a];
    if (!is_float(array.dtype) || read.count(program.arguments[a].value) == 0)
      continue;
    if (!is_whole(array))
      return false;
    floats = true;
  }
  return sums && floats;
}

}  // namespace orrery
