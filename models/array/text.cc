#include "models/array/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/base/check.h"

namespace orrery {

namespace {

/// Calls `use` with a reference to the element under its own type.
template <class AnyTensor, class Use>
decltype(auto) with_element(AnyTensor& tensor, int64_t index, Use use) {
  ORRERY_CHECK(0 <= index && index < tensor.elements(),
               "the index is one of the tensor's elements");
  return dispatch(tensor.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    return use(tensor.template as<E>()[static_cast<size_t>(index)]);
  });
}

template <class Number>
std::string shortest(Number value) {
  std::array<char, 32> buffer{};
  const std::to_chars_result end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

/// Reads all of `text` as a number, as in JSON. "01" and ".5" are numbers too.
template <class Number>
std::optional<Number> parsed(std::string_view text) {
  // from_chars also accepts "inf", "nan(...)" and the like.
  if (text.find_first_not_of("+-.0123456789eE") != std::string_view::npos)
    return std::nullopt;
  Number value{};
  const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

bool says_zero(std::string_view number) {
  return number.substr(0, number.find_first_of("eE")).find_first_of("123456789") ==
         std::string_view::npos;
}

/// Returns nothing if E has no infinity.
template <class E>
std::optional<E> infinite(bool negative) {
  const E element = arith::convert<E>(arith::F64{negative ? -HUGE_VAL : HUGE_VAL});
  return std::isinf(arith::widen(element)) ? std::optional(element) : std::nullopt;
}

/// Returns the element that `text` denotes. Numbers out of range are handled here, since libraries
/// differ on them.
template <class E>
std::optional<E> read_float(std::string_view text) {
  if (text == "NaN")
    return arith::round<E>(std::nan(""));
  if (text == "Infinity" || text == "-Infinity")
    return infinite<E>(text[0] == '-');
  using Read = std::conditional_t<std::is_same_v<E, arith::F32>, float, double>;
  const std::optional<Read> number = parsed<Read>(text);
  if (!number)
    return std::nullopt;
  const E element = arith::round<E>(*number);
  if (!std::isfinite(arith::widen(element)) || (arith::widen(element) == 0 && !says_zero(text)))
    return std::nullopt;
  return element;
}

/// Reads both parts, as in "[1,-2.5]".
template <class E>
std::optional<E> read_complex(std::string_view text) {
  using Component = typename E::Component;
  const size_t comma = text.find(',');
  if (text.size() < 2 || text.front() != '[' || text.back() != ']' ||
      comma == std::string_view::npos)
    return std::nullopt;
  const std::optional<Component> re = read_float<Component>(text.substr(1, comma - 1));
  const std::optional<Component> im =
      read_float<Component>(text.substr(comma + 1, text.size() - comma - 2));
  if (!re || !im)
    return std::nullopt;
  return E{*re, *im};
}

template <class E>
std::optional<E> read(std::string_view text) {
  if constexpr (arith::kIsComplex<E>) {
    return read_complex<E>(text);
  } else if constexpr (arith::kIsFloat<E>) {
    return read_float<E>(text);
  } else if constexpr (std::is_same_v<E, arith::Pred>) {
    if (text == "true" || text == "1")
      return E{1};
    if (text == "false" || text == "0")
      return E{0};
    return std::nullopt;
  } else {
    const auto value = parsed<decltype(E::value)>(text);
    return value ? std::optional<E>(E{*value}) : std::nullopt;
  }
}

/// Returns the shortest decimal that rounds to a finite element narrower than f32: at most 5
/// digits.
template <class E>
std::string shortest_narrow(E element) {
  const auto value = static_cast<double>(arith::widen(element));
  for (int digits_after_first = 0;; ++digits_after_first) {
    ORRERY_CHECK(digits_after_first < 17, "17 digits tell all doubles apart");
    std::array<char, 32> buffer{};
    const std::to_chars_result end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                      std::chars_format::scientific, digits_after_first);
    double candidate = 0;
    std::from_chars(buffer.data(), end.ptr, candidate);
    if (arith::bits_of(arith::round<E>(candidate)) == arith::bits_of(element))
      return shortest(candidate);
  }
}

template <class E>
std::string write(E element) {
  if constexpr (std::is_same_v<E, arith::Pred>) {
    return element.value != 0 ? "true" : "false";
  } else if constexpr (arith::kIsInteger<E>) {
    return shortest(element.value);
  } else if constexpr (arith::kIsComplex<E>) {
    return "[" + write(element.re) + "," + write(element.im) + "]";
  } else {
    const auto value = arith::widen(element);
    if (std::isnan(value))
      return "NaN";
    if (std::isinf(value))
      return value < 0 ? "-Infinity" : "Infinity";
    if constexpr (sizeof(E) == sizeof(value))
      return shortest(value);
    else
      return shortest_narrow(element);
  }
}

}  // namespace

std::string element_text(const Tensor& tensor, int64_t index) {
  return with_element(tensor, index, [](auto element) { return write(element); });
}

bool parse_element(std::string_view text, Tensor& tensor, int64_t index) {
  return with_element(tensor, index, [&]<class E>(E& element) {
    const std::optional<E> value = read<E>(text);
    if (value)
      element = *value;
    return value.has_value();
  });
}

double element_as_double(const Tensor& tensor, int64_t index) {
  return with_element(tensor, index,
                      [](auto element) { return arith::convert<arith::F64>(element).value; });
}

int64_t element_as_int64(const Tensor& tensor, int64_t index) {
  return with_element(tensor, index,
                      [](auto element) { return arith::convert<arith::S64>(element).value; });
}

void set_element_from_int64(Tensor& tensor, int64_t index, int64_t value) {
  with_element(tensor, index,
               [&]<class E>(E& element) { element = arith::convert<E>(arith::S64{value}); });
}

Tensor parts(const Tensor& tensor) {
  ORRERY_CHECK(is_complex(tensor.dtype()), "the elements have parts");
  Tensor result(part_dtype(tensor.dtype()), tensor.shape().inserted(tensor.shape().rank(), 2));
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), result.bytes().begin());
  return result;
}

Tensor joined(const Tensor& parts) {
  const std::optional<Dtype> dtype = complex_of(parts.dtype());
  ORRERY_CHECK(dtype && parts.shape().rank() > 0 && parts.shape()[parts.shape().rank() - 1] == 2,
               "two parts make an element");
  Tensor result(*dtype, parts.shape().without(parts.shape().rank() - 1));
  std::copy(parts.bytes().begin(), parts.bytes().end(), result.bytes().begin());
  return result;
}

uint64_t element_bits(const Tensor& tensor, int64_t index) {
  return with_element(tensor, index, []<class E>(E element) -> uint64_t {
    if constexpr (arith::kIsComplex<E>)
      fail_check("the element is one number", "the bits of parts are asked for", __FILE__,
                 __LINE__);
    else
      return arith::bits_of(element);
  });
}

void set_element_bits(Tensor& tensor, int64_t index, uint64_t bits) {
  with_element(tensor, index, [&]<class E>(E& element) {
    if constexpr (arith::kIsComplex<E>) {
      fail_check("the element is one number", "the bits of parts are set", __FILE__, __LINE__);
    } else {
      using Bits = decltype(arith::bits_of(element));
      ORRERY_CHECK((bits & ~uint64_t{static_cast<Bits>(~Bits{0})}) == 0,
                   "the bits are of the element's width");
      const auto narrow = static_cast<Bits>(bits);
      std::memcpy(&element, &narrow, sizeof(E));
    }
  });
}

std::optional<int64_t> differing_element(const Tensor& a, const Tensor& b) {
  const std::span<const std::byte> x = a.bytes();
  const auto at = std::mismatch(x.begin(), x.end(), b.bytes().begin()).first - x.begin();
  if (at == std::ssize(x))
    return std::nullopt;
  return at / itemsize(a.dtype()).count();
}

std::string differing_text(const Tensor& a, const Tensor& b, int64_t element) {
  const auto text = [&](const Tensor& tensor) {
    const std::string value = element_text(tensor, element);
    return value != "NaN" ? value
                          : "NaN (bits " + std::to_string(element_bits(tensor, element)) + ")";
  };
  return text(a) + " and " + text(b);
}

}  // namespace orrery
