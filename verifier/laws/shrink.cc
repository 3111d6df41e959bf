#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "models/array/kernels.h"
#include "models/base/diagnostics.h"
#include "models/scenario/placement.h"
#include "models/scenario/scenario.h"
#include "verifier/laws/verify.h"

namespace orrery {
namespace {

/// Every copy of one drawn element: in the parts of several devices, and in arrays that have the
/// same elements.
struct Element {
  struct Copy {
    size_t array;
    size_t tensor;  // of the array's PerDeviceInit
    int64_t index;
  };
  std::vector<Copy> copies;
};

/// Gives the arrays with drawn elements per device. Returns their elements.
std::vector<Element> give_per_device(Scenario& scenario) {
  const Mesh& mesh = scenario.program.mesh;
  // By the name and the seed by which an array's elements are drawn, and the place in the array.
  std::map<std::tuple<std::string, uint64_t, int64_t>, Element> by_place;
  const Scenario given = scenario;
  // Addends of an unreduced array are no parts of it, so arrays with its elements keep these too.
  std::set<std::string> unreduced;
  for (const Array& array : scenario.arrays)
    if (const auto* random = std::get_if<RandomInit>(&array.init);
        random != nullptr && !array.states.unreduced.empty())
      unreduced.insert(random->named.value_or(array.name));
  for (size_t a = 0; a < scenario.arrays.size(); ++a) {
    Array& array = scenario.arrays[a];
    const auto* random = std::get_if<RandomInit>(&given.arrays[a].init);
    if (random == nullptr)
      continue;
    const std::string name = random->named.value_or(array.name);
    if (unreduced.contains(name))
      continue;
    Array places = array;
    places.dtype = Dtype::S64;
    places.init = IotaInit{};
    PerDeviceInit parts;
    for (size_t d = 0; d < mesh.devices(); ++d) {
      const LogicalId device(d);
      if (array.on && !std::binary_search(array.on->begin(), array.on->end(), device))
        continue;
      const Tensor place = initial_value(given, places, device, 0);
      for (int64_t i = 0; i < place.elements(); ++i)
        by_place[{name, random->seed, place.as<int64_t>()[static_cast<size_t>(i)]}]
            .copies.push_back({a, parts.tensors.size(), i});
      parts.tensors.push_back(initial_value(given, given.arrays[a], device, 0));
    }
    std::vector<std::string> cut_along;
    for (const auto& entry : array.spec.dims)
      cut_along.insert(cut_along.end(), entry.begin(), entry.end());
    array.states.varying = std::move(cut_along);
    array.global = local_shape(mesh, array);
    array.spec = {};
    array.uncorrected.reset();
    array.per_device = true;
    array.init = std::move(parts);
  }
  std::vector<Element> elements;
  for (auto& [place, element] : by_place)
    elements.push_back(std::move(element));
  return elements;
}

/// Returns whether some array alone has more drawn elements than are shrunk.
bool has_many_drawn(const Scenario& scenario) {
  return std::any_of(scenario.arrays.begin(), scenario.arrays.end(), [](const Array& array) {
    return std::holds_alternative<RandomInit>(array.init) &&
           array.global.elements() > static_cast<int64_t>(kMostShrunk);
  });
}

/// Returns the bytes of an element in a tensor.
template <class AnyTensor>
auto bytes_of(AnyTensor& tensor, const Element::Copy& copy) {
  const auto size = static_cast<size_t>(itemsize(tensor.dtype()).count());
  return tensor.bytes().subspan(static_cast<size_t>(copy.index) * size, size);
}

/// Returns whether the element is neither 0 nor the value, where one of its copies is.
bool is_other(const Scenario& scenario, const Element& element, double value) {
  const auto has = [&](const Element::Copy& copy, double number) {
    const Tensor& tensor =
        std::get<PerDeviceInit>(scenario.arrays[copy.array].init).tensors[copy.tensor];
    const Tensor one = full(tensor.dtype(), Shape({}), number);
    const std::span<const std::byte> bytes = bytes_of(tensor, copy);
    return std::equal(bytes.begin(), bytes.end(), one.bytes().begin());
  };
  return !has(element.copies.front(), 0) &&
         !std::all_of(element.copies.begin(), element.copies.end(),
                      [&](const Element::Copy& copy) { return has(copy, value); });
}

void set(Scenario& scenario, const Element& element, double value) {
  for (const Element::Copy& copy : element.copies) {
    Tensor& tensor = std::get<PerDeviceInit>(scenario.arrays[copy.array].init).tensors[copy.tensor];
    const Tensor one = full(tensor.dtype(), Shape({}), value);
    std::copy(one.bytes().begin(), one.bytes().end(), bytes_of(tensor, copy).begin());
  }
}

/// Returns as how many tries a run of the scenario counts.
int64_t tries_of(const Scenario& scenario) {
  Int128 bytes = 0;
  for (const Value& value : scenario.program.values)
    bytes +=
        Int128{value.type.size().count()} * static_cast<int64_t>(scenario.program.mesh.devices());
  return static_cast<int64_t>(std::min<Int128>(1 + bytes / kBytesOfTry, kMostTries));
}

class Shrinker {
 public:
  Shrinker(const Law& law, LawCase failing, Check check, StillFails still_fails)
      : law_(law),
        still_fails_(still_fails),
        least_(std::move(failing)),
        check_(std::move(check)) {}

  Shrunk shrink() {
    while (shrink_values() || shrink_rest() || shrink_pairs()) {
    }
    Scenario scenario = scenario_of(law_, least_);
    shrink_elements(scenario);
    return {std::move(least_), std::move(scenario), std::move(check_), ended_early_};
  }

 private:
  /// Returns whether one more smaller case may be tried, where `most` tries may be spent so far.
  bool may_try(int64_t most) {
    ended_early_ = ended_early_ || tries_ >= most;
    return tries_ < most;
  }

  /// Takes the scenario if the check still fails there.
  bool takes(const Scenario& scenario) {
    if (!may_try(kMostTries))
      return false;
    tries_ += tries_of(scenario);
    std::optional<Check> fails;
    try {
      fails = still_fails_(scenario);
    } catch (const InputError&) {
      return false;  // a smaller case may be no scenario that runs
    }
    if (fails)
      check_ = std::move(*fails);
    return fails.has_value();
  }

  /// Takes the case with its values made to fit each other.
  bool takes(LawCase smaller, int64_t most = kMostTries) {
    try {
      smaller.values = fitted_values(law_, std::move(smaller.values));
      if (!law_.admits(smaller.values) || !may_try(most) || !takes(scenario_of(law_, smaller)))
        return false;
    } catch (const InputError&) {
      return false;  // a draw, a formula or the scenario may make no sense
    }
    least_ = std::move(smaller);
    return true;
  }

  /// Makes some value simpler. Returns whether one was.
  bool shrink_values() {
    bool any = false;
    for (size_t i = 0; i < least_.values.size(); ++i)
      while (shrink_value(i))
        any = true;
    return any;
  }

  bool shrink_value(size_t i) {
    for (TemplateValue& value : simpler(least_, i)) {
      LawCase smaller = least_;
      smaller.values[i] = std::move(value);
      // Other elements may show the fault where these do not.
      for (uint64_t data = 0; data < 3; ++data) {
        LawCase with = smaller;
        with.data = data == 0 ? smaller.data : data;
        if (takes(std::move(with)))
          return true;
      }
    }
    return false;
  }

  /// Makes two values simpler at once, where none alone can be. Returns whether two were. At least
  /// half of all tries are left for the elements.
  bool shrink_pairs() {
    for (size_t i = 0; i < least_.values.size(); ++i)
      for (size_t j = i + 1; j < least_.values.size(); ++j)
        if (shrink_pair(i, j))
          return true;
    return false;
  }

  /// Makes the values of two names simpler, of which j is the later one.
  bool shrink_pair(size_t i, size_t j) {
    for (const TemplateValue& simpler_i : simpler(least_, i)) {
      LawCase with_i = least_;
      with_i.values[i] = simpler_i;
      try {
        with_i.values = fitted_values(law_, std::move(with_i.values));
      } catch (const InputError&) {
        continue;  // a later draw makes no sense
      }
      for (const TemplateValue& simpler_j : simpler(with_i, j)) {
        LawCase with_both = with_i;
        with_both.values[j] = simpler_j;
        if (takes(std::move(with_both), kMostTries / 2))
          return true;
        if (ended_early_)
          return false;
      }
    }
    return false;
  }

  std::vector<TemplateValue> simpler(const LawCase& than, size_t i) const {
    return law_.draws()[i].simpler(law_.file(), std::span(than.values).first(i), than.values[i]);
  }

  /// Makes what the law leaves open plain. Returns whether anything was.
  bool shrink_rest() {
    bool any = false;
    const auto change = [&](auto member, auto plain) {
      LawCase smaller = least_;
      if (smaller.*member == plain)
        return;
      smaller.*member = plain;
      any = takes(std::move(smaller)) || any;
    };
    change(&LawCase::algorithms, std::optional<uint64_t>());
    change(&LawCase::cluster, DrawnCluster());
    return any;
  }

  /// Makes drawn elements of the scenario's arrays 0 or 1.
  void shrink_elements(Scenario& scenario) {
    ended_early_ = ended_early_ || has_many_drawn(scenario);
    if (has_many_drawn(scenario))
      return;
    Scenario given = scenario;
    const std::vector<Element> elements = give_per_device(given);
    ended_early_ = ended_early_ || elements.size() > kMostShrunk;
    if (elements.size() > kMostShrunk || elements.empty() || !takes(given))
      return;
    scenario = std::move(given);
    for (const double value : {0.0, 1.0})
      for (size_t count = elements.size(); count > 0; count /= 2)
        for (size_t begin = 0; begin < elements.size(); begin += count) {
          std::vector<const Element*> others;  // of this block
          for (size_t e = begin; e < std::min(begin + count, elements.size()); ++e)
            if (is_other(scenario, elements[e], value))
              others.push_back(&elements[e]);
          if (others.empty())
            continue;
          if (!may_try(kMostTries))
            return;
          Scenario smaller = scenario;
          for (const Element* element : others)
            set(smaller, *element, value);
          if (takes(smaller))
            scenario = std::move(smaller);
        }
  }

  const Law& law_;
  StillFails still_fails_;
  LawCase least_;
  Check check_;
  int64_t tries_ = 0;
  bool ended_early_ = false;  // something smaller was not tried
};

}  // namespace

Shrunk shrunk(const Law& law, LawCase failing, Check check, StillFails still_fails) {
  return Shrinker(law, std::move(failing), std::move(check), still_fails).shrink();
}

}  // namespace orrery
