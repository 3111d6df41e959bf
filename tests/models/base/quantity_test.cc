#include "models/base/quantity.h"

#include <array>

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace orrery {

namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// 2^20 B / 50e9 B/s = 2^20 * 20 ps.
static_assert(transfer_time(Bytes(1 << 20), BytesPerSecond(50'000'000'000)) ==
              Duration(20'971'520));

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Duration>);
static_assert(!Addable<Bytes, BytesPerSecond>);
static_assert(Addable<Instant, Duration>);
static_assert(!Addable<Instant, Instant>);
static_assert(!Comparable<Bytes, Flops>);

}  // namespace

TEST_CASE("quantity: arithmetic is that of the counts") {
  CHECK(Bytes(5) + Bytes(7) == Bytes(12));
  CHECK(Bytes(5) - Bytes(7) == Bytes(-2));
  CHECK(Bytes(5) * 7 == Bytes(35));
  CHECK(7 * Bytes(5) == Bytes(35));
  CHECK(Bytes(5) < Bytes(7));
  Bytes total;
  total += Bytes(9);
  total -= Bytes(2);
  CHECK(total == Bytes(7));
}

TEST_CASE(
    "quantity: a result that leaves 64 bits throws Overflow, and the last that fits does not") {
  CHECK(Bytes(kMost - 1) + Bytes(1) == Bytes(kMost));
  CHECK_THROWS_WITH_AS(Bytes(kMost) + Bytes(1), "a sum leaves the 64-bit range", Overflow);
  CHECK(Bytes(kLeast + 1) - Bytes(1) == Bytes(kLeast));
  CHECK_THROWS_WITH_AS(Bytes(kLeast) - Bytes(1), "a difference leaves the 64-bit range", Overflow);
  // 2^62 * 2 = 2^63 is one more than the largest value.
  CHECK(Bytes(int64_t{1} << 62) * -2 == Bytes(kLeast));
  CHECK_THROWS_WITH_AS(Bytes(int64_t{1} << 62) * 2, "a product leaves the 64-bit range", Overflow);
  CHECK(checked_narrow(Int128{kMost}) == kMost);
  CHECK_THROWS_WITH_AS(checked_narrow(Int128{kMost} + 1), "a quantity leaves the 64-bit range",
                       Overflow);
  CHECK(checked_narrow(Int128{kLeast}) == kLeast);
  CHECK_THROWS_AS(checked_narrow(Int128{kLeast} - 1), Overflow);
}

TEST_CASE("ceil_divide: rounds up, and exact quotients stay") {
  struct Row {
    int64_t a, b, quotient;
  };
  const std::array<Row, 7> rows = {{{0, 1, 0},
                                    {0, 5, 0},
                                    {1, 5, 1},
                                    {4, 5, 1},
                                    {5, 5, 1},
                                    {6, 5, 2},
                                    {kMost, 2, int64_t{1} << 62}}};  // (2^63 - 1) / 2, rounded up
  for (const Row& row : rows) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    CHECK(ceil_divide(row.a, row.b) == row.quotient);
    CHECK(static_cast<int64_t>(ceil_divide(Int128{row.a}, Int128{row.b})) == row.quotient);
  }
}

TEST_CASE("transfer_time: rounds up to a whole picosecond") {
  CHECK(transfer_time(Bytes(0), BytesPerSecond(3)) == Duration(0));
  // 10^12 / 3 = 333,333,333,333 and a third.
  CHECK(transfer_time(Bytes(1), BytesPerSecond(3)) == Duration(333'333'333'334));
  CHECK(transfer_time(Bytes(3), BytesPerSecond(3)) == Duration(kPicosecondsPerSecond));
  CHECK(transfer_time(Bytes(1), BytesPerSecond(kMost)) == Duration(1));
}

TEST_CASE("transfer_time: the longest time that fits is given, the next throws") {
  // At 1 B/s a byte takes 10^12 ps; 2^63 - 1 is 9,223,372,036,854,775,807.
  CHECK(transfer_time(Bytes(9'223'372), BytesPerSecond(1)) ==
        Duration(9'223'372 * kPicosecondsPerSecond));
  CHECK_THROWS_AS(transfer_time(Bytes(9'223'373), BytesPerSecond(1)), Overflow);
  CHECK_THROWS_AS(transfer_time(Bytes(kMost), BytesPerSecond(1)), Overflow);
  // The product with 10^12 needs more than 64 bits; the quotient does not.
  CHECK(transfer_time(Bytes(kMost), BytesPerSecond(kMost)) == Duration(kPicosecondsPerSecond));
}

TEST_CASE("compute_time: work divided by rate, rounded up") {
  // 2 TFLOP at 989 TFLOP/s: 2/989 s = 2,022,244,691.6 ps.
  CHECK(compute_time(Flops(2'000'000'000'000), FlopsPerSecond(989'000'000'000'000)) ==
        Duration(2'022'244'692));
  CHECK(compute_time(Flops(0), FlopsPerSecond(1)) == Duration(0));
  CHECK_THROWS_AS(compute_time(Flops(kMost), FlopsPerSecond(1)), Overflow);
}

TEST_CASE("align_up: the next multiple, or the size itself") {
  CHECK(align_up(Bytes(0), Bytes(256)) == Bytes(0));
  CHECK(align_up(Bytes(1), Bytes(256)) == Bytes(256));
  CHECK(align_up(Bytes(256), Bytes(256)) == Bytes(256));
  CHECK(align_up(Bytes(257), Bytes(256)) == Bytes(512));
  CHECK_THROWS_AS(align_up(Bytes(kMost), Bytes(256)), Overflow);
}

TEST_CASE("instant: moves by durations, and time between instants runs forward") {
  const Instant start(100);
  CHECK(start + Duration(20) == Instant(120));
  CHECK(Instant(120) - start == Duration(20));
  CHECK(start - start == Duration(0));
  CHECK_THROWS_AS(start - Instant(101), InternalError);
  CHECK_THROWS_AS(Instant(kMost) + Duration(1), Overflow);
}

TEST_CASE("transfer_time: splitting a message never makes it faster, and costs at most 1 ps") {
  test::holds_for_all("split in two", [] {
    const auto first = test::in_range<int64_t>(0, int64_t{1} << 40);
    const auto second = test::in_range<int64_t>(0, int64_t{1} << 40);
    const auto rate = BytesPerSecond(test::in_range<int64_t>(1'000'000, int64_t{1} << 50));
    const Duration whole = transfer_time(Bytes(first + second), rate);
    const Duration parts = transfer_time(Bytes(first), rate) + transfer_time(Bytes(second), rate);
    RC_ASSERT(whole <= parts);
    RC_ASSERT(parts <= whole + Duration(1));
  });
}

}  // namespace orrery
