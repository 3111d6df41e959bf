#pragma once

// Physical quantities are distinct checked 64-bit integers. Simulated time is whole picoseconds.
// There is no floating point here. Arithmetic that leaves the range throws Overflow.
//
// Every other folder uses this one, which knows nothing of programs or devices. Time, sizes and
// rates are in quantity.h, and amount_text.h prints them. An index into a list is an Id (id.h), so
// that a device and a rank do not mix. Three headers tell who is to blame for a failure. A wrong
// input is collected in Diagnostics and thrown once as InputError (diagnostics.h). An amount that
// does not fit is an Overflow (here). A bug of our own fails an ORRERY_CHECK (check.h). The same
// input gives the same bytes of output: the hashes of hash.h and the random numbers of random.h are
// the same on every machine.

#include <compare>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "models/base/check.h"
#include "models/base/compiler.h"

namespace orrery {

/// An Overflow says that a quantity derived from the input does not fit 64 bits. run() reports it
/// as wrong input.
class Overflow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_overflow(const char* what);

constexpr int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw_overflow("a sum leaves the 64-bit range");
  return sum;
}
constexpr int64_t checked_subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference))
    throw_overflow("a difference leaves the 64-bit range");
  return difference;
}
constexpr int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw_overflow("a product leaves the 64-bit range");
  return product;
}

/// Narrows a 128-bit result to 64 bits. Throws Overflow if it does not fit.
constexpr int64_t checked_narrow(Int128 wide) {
  if (wide > std::numeric_limits<int64_t>::max() || wide < std::numeric_limits<int64_t>::min())
    throw_overflow("a quantity leaves the 64-bit range");
  return static_cast<int64_t>(wide);
}

/// Returns a / b rounded up. Requires a >= 0 and b > 0.
constexpr int64_t ceil_divide(int64_t a, int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}
constexpr Int128 ceil_divide(Int128 a, Int128 b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// A Quantity is an amount of one unit. Amounts of different units do not mix.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t count) : count_(count) {}

  constexpr int64_t count() const { return count_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(checked_add(a.count_, b.count_));
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(checked_subtract(a.count_, b.count_));
  }
  friend constexpr Quantity operator*(Quantity a, int64_t times) {
    return Quantity(checked_multiply(a.count_, times));
  }
  friend constexpr Quantity operator*(int64_t times, Quantity a) { return a * times; }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

 private:
  int64_t count_ = 0;
};

using Duration = Quantity<struct PicosecondUnit>;  // 63 bits of picoseconds: about 106 days
using Bytes = Quantity<struct ByteUnit>;
using BytesPerSecond = Quantity<struct BytePerSecondUnit>;
using Flops = Quantity<struct FlopUnit>;  // floating point operations, a count
using FlopsPerSecond = Quantity<struct FlopPerSecondUnit>;

inline constexpr int64_t kPicosecondsPerSecond = 1'000'000'000'000;

/// An Instant is a point in simulated time, in picoseconds since the start of the run. A Duration
/// is added to it, and two instants have a difference. Two instants have no sum.
class Instant {
 public:
  constexpr Instant() = default;
  constexpr explicit Instant(int64_t picoseconds) : picoseconds_(picoseconds) {}

  constexpr int64_t picoseconds() const { return picoseconds_; }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Duration d) {
    return Instant(checked_add(t.picoseconds_, d.count()));
  }
  /// Returns the time from `from` to `to`. Requires from <= to.
  friend constexpr Duration operator-(Instant to, Instant from) {
    ORRERY_CHECK(from <= to, "time between two instants runs forward");
    return Duration(to.picoseconds_ - from.picoseconds_);
  }

 private:
  int64_t picoseconds_ = 0;
};

/// Rates are counted in at most this many parts of a byte per second. So a size in the units of
/// max_min.h still fits 128 bits.
inline constexpr int64_t kMostRateParts = 512;

/// Returns the time to move `size` at `rate`, rounded up to a whole picosecond. So a transfer never
/// ends early, and only an empty one takes zero time. `rate` counts units of 1 / `parts` bytes per
/// second. Requires size >= 0, rate > 0, and parts from 1 to kMostRateParts.
constexpr Duration transfer_time(Bytes size, BytesPerSecond rate, int64_t parts = 1) {
  return Duration(checked_narrow(ceil_divide(
      Int128{size.count()} * (Int128{kPicosecondsPerSecond} * parts), Int128{rate.count()})));
}

/// Returns the time to compute `work` at `rate`, rounded up to a whole picosecond. Requires work >=
/// 0 and rate > 0.
constexpr Duration compute_time(Flops work, FlopsPerSecond rate) {
  return Duration(checked_narrow(
      ceil_divide(Int128{work.count()} * kPicosecondsPerSecond, Int128{rate.count()})));
}

/// Returns `size` rounded up to a multiple of `alignment`. Requires size >= 0 and alignment > 0.
constexpr Bytes align_up(Bytes size, Bytes alignment) {
  return Bytes(checked_multiply(ceil_divide(size.count(), alignment.count()), alignment.count()));
}

}  // namespace orrery
