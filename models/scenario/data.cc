#include <bit>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/callable.h"
#include "models/base/check.h"
#include "models/base/compiler.h"
#include "models/base/hash.h"
#include "models/program/groups.h"
#include "models/scenario/placement.h"
#include "models/scenario/scenario.h"

namespace orrery {

namespace {

/// Calls use(local index, global index, count) for each run of elements of a part that are adjacent
/// both in the part and in the global array.
template <class Use>
void for_each_run(const Shape& global, const Shape& local, std::span<const int64_t> start,
                  Use use) {
  const size_t rank = local.rank();
  const int64_t length = rank == 0 ? 1 : local[rank - 1];
  const int64_t runs = local.elements() == 0 ? 0 : local.elements() / length;
  for (int64_t run = 0; run < runs; ++run) {
    int64_t rest = run;
    int64_t first = rank == 0 ? 0 : start[rank - 1];
    int64_t stride = rank == 0 ? 1 : global[rank - 1];
    for (size_t i = rank; i-- > 1;) {
      const int64_t extent = local[i - 1];
      first += (start[i - 1] + rest % extent) * stride;
      stride *= global[i - 1];
      rest /= extent;
    }
    use(run * length, first, length);
  }
}

/// Makes the part of which the element at each place of the global array is element_at(place), of
/// arith.h, converted to the dtype.
template <class ElementAt>
Tensor filled(const Mesh& mesh, const Array& array, LogicalId id, ElementAt element_at) {
  const Shape local = local_shape(mesh, array.spec, array.global);
  const std::vector<int64_t> start = local_start(mesh, array.spec, array.global, id);
  Tensor tensor(array.dtype, local);
  dispatch(array.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const std::span<Element> elements = tensor.as<Element>();
    for_each_run(array.global, local, start, [&](int64_t at, int64_t place, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        elements[static_cast<size_t>(at + i)] = arith::convert<Element>(element_at(place + i));
    });
  });
  return tensor;
}

/// Returns 64 random bits for a place in the global array.
uint64_t word_at(uint64_t key, int64_t place) {
  return mix(key + static_cast<uint64_t>(place) * 0x9e3779b97f4a7c15U);
}

/// Returns a sign times a power of two from 2^-4 to 2^-1 times a fraction of 52 bits in [1, 2).
arith::F64 fraction(uint64_t word) {
  constexpr uint64_t kHalf = 1022;  // the biased exponent of 1/2
  const uint64_t exponent = kHalf - ((word >> 52U) & 3U);
  constexpr uint64_t kSign = uint64_t{1} << 63U;
  constexpr uint64_t kBits = (uint64_t{1} << 52U) - 1;
  return {std::bit_cast<double>((word & kSign) | exponent << 52U | (word & kBits))};
}

/// Returns the array of the real and imaginary parts of the elements of a complex array. Its spec
/// is that of the complex array.
Array of_parts(const Array& array) {
  Array parts = array;
  parts.dtype = part_dtype(array.dtype);
  parts.global = array.global.inserted(array.global.rank(), 2);
  return parts;
}

Tensor random_part(const Mesh& mesh, const Array& array, LogicalId id, uint64_t key,
                   RandomInit::Values values) {
  if (is_complex(array.dtype))
    return joined(random_part(mesh, of_parts(array), id, key, values));
  if (is_float(array.dtype) && values == RandomInit::Values::Fractions)
    return filled(mesh, array, id, [=](int64_t place) { return fraction(word_at(key, place)); });
  const IntegerBounds range = small_integers(array.dtype);
  const auto count = static_cast<uint64_t>(range.high - range.low + 1);
  return filled(mesh, array, id, [=](int64_t place) {
    // The high bits of a product are uniform but for one part in 2^60.
    const UInt128 scaled = UInt128{word_at(key, place)} * count;
    return arith::S64{range.low + static_cast<int64_t>(scaled >> 64U)};
  });
}

}  // namespace

Tensor initial_value(const Scenario& scenario, const Array& array, LogicalId id, uint64_t seed) {
  const Mesh& mesh = scenario.program.mesh;
  // The first addend of an unreduced array is its value, the others are zeros.
  if (!array.per_device && mesh.index(id, axis_positions(mesh, array.states.unreduced)) != 0)
    return Tensor(array.dtype, local_shape(mesh, array));
  return std::visit(Overloaded{
                        [&](const IotaInit&) {
                          return filled(mesh, array, id,
                                        [](int64_t place) { return arith::S64{place}; });
                        },
                        [&](const FillInit& init) {
                          return full(array.dtype, local_shape(mesh, array), init.value);
                        },
                        [&](const RandomInit& init) {
                          Hasher hasher;
                          hasher.add(seed);
                          hasher.add(init.seed);
                          hasher.add(std::string_view(init.named.value_or(array.name)));
                          return random_part(mesh, array, id, hasher.word(), init.values);
                        },
                        [&](const PerDeviceInit& init) {
                          if (!array.on)
                            return init.tensors[id.index()];
                          const std::optional<size_t> place = index_among(*array.on, id);
                          ORRERY_CHECK(place.has_value(), "the device has the array");
                          return init.tensors[*place];
                        },
                    },
                    array.init);
}

}  // namespace orrery
