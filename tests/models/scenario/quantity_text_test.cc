#include "models/scenario/quantity_text.h"

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

struct Reading {
  std::string_view text;
  Dimension dimension;
  int64_t count;
};

TEST_CASE("quantities: texts and the base units they stand for") {
  const Reading cases[] = {
      {"1 ps", Dimension::Time, 1},
      {"1.5 us", Dimension::Time, 1'500'000},
      {"0.36 us", Dimension::Time, 360'000},
      {"2 s", Dimension::Time, 2'000'000'000'000},
      {"0 ns", Dimension::Time, 0},
      {"256 B", Dimension::Size, 256},
      {"64 kB", Dimension::Size, 64'000},
      {"64 KiB", Dimension::Size, 65'536},
      {"1.5 KiB", Dimension::Size, 1'536},
      {"80 GiB", Dimension::Size, 80LL << 30},
      {"50 GB/s", Dimension::Rate, 50'000'000'000},
      {"50GB/s", Dimension::Rate, 50'000'000'000},
      {"400 Gb/s", Dimension::Rate, 50'000'000'000},  // eight bits a byte
      {"3.35 TB/s", Dimension::Rate, 3'350'000'000'000},
      {"2 TFLOP", Dimension::Work, 2'000'000'000'000},
      {"19.5 TFLOP/s", Dimension::WorkRate, 19'500'000'000'000},
      {"1.000 B", Dimension::Size, 1},
      {"0009 B", Dimension::Size, 9},
      {"9223372036854775807 B", Dimension::Size, 9'223'372'036'854'775'807},
  };
  for (const Reading& c : cases) {
    CAPTURE(c.text);
    const QuantityReading reading = read_quantity(c.text, c.dimension);
    CHECK(reading.error == "");
    CHECK(reading.count == c.count);
  }
}

struct Refusal {
  std::string_view text;
  Dimension dimension;
  std::string_view error;
};

TEST_CASE("quantities: what is refused, and in which words") {
  const Refusal cases[] = {
      {"50 GB", Dimension::Rate, "expected a rate such as \"50 GB/s\", got \"50 GB\""},
      {"50 gb/s", Dimension::Rate, "expected a rate such as \"50 GB/s\", got \"50 gb/s\""},
      {"1 us", Dimension::Size, "expected a size such as \"80 GiB\", got \"1 us\""},
      {"64 KB", Dimension::Size, "expected a size such as \"80 GiB\", got \"64 KB\""},
      {"-1 us", Dimension::Time, "expected a time such as \"1 us\", got \"-1 us\""},
      {"1 us ", Dimension::Time, "expected a time such as \"1 us\", got \"1 us \""},
      {"1  us", Dimension::Time, "expected a time such as \"1 us\", got \"1  us\""},
      {"1. us", Dimension::Time, "expected a time such as \"1 us\", got \"1. us\""},
      {"1e3 us", Dimension::Time, "expected a time such as \"1 us\", got \"1e3 us\""},
      {"us", Dimension::Time, "expected a time such as \"1 us\", got \"us\""},
      {"", Dimension::Work, "expected a count of operations such as \"2 TFLOP\", got \"\""},
      {"2 TFLOP", Dimension::WorkRate,
       "expected a compute rate such as \"989 TFLOP/s\", got \"2 TFLOP\""},
      {"0.5 ps", Dimension::Time, "expected a whole number of ps, got \"0.5 ps\""},
      {"0.0001 KiB", Dimension::Size, "expected a whole number of B, got \"0.0001 KiB\""},
      {"9223372036854775808 B", Dimension::Size,
       "expected less than 2^63 B, got \"9223372036854775808 B\""},
      {"99999999999999999999999 GB/s", Dimension::Rate,
       "expected less than 2^63 B/s, got \"99999999999999999999999 GB/s\""},
      {"0.00000000000000000000000001 s", Dimension::Time,
       "expected a whole number of ps, got \"0.00000000000000000000000001 s\""},
  };
  for (const Refusal& c : cases) {
    const QuantityReading reading = read_quantity(c.text, c.dimension);
    CHECK_FALSE(reading.count.has_value());
    CHECK(reading.error == c.error);
  }
}

TEST_CASE("quantities: the shortest text, in the larger unit where two are as short") {
  CHECK(quantity_text(Duration(0)) == "0 ps");
  CHECK(quantity_text(Duration(999)) == "999 ps");
  CHECK(quantity_text(Duration(1'000)) == "1 ns");
  CHECK(quantity_text(Duration(360'000)) == "360 ns");
  CHECK(quantity_text(Duration(1'500'000)) == "1.5 us");
  CHECK(quantity_text(Duration(1'234'567)) == "1234567 ps");
  CHECK(quantity_text(Bytes(1536)) == "1536 B");
  CHECK(quantity_text(Bytes(3LL << 19)) == "1.5 MiB");
  CHECK(quantity_text(Bytes(256)) == "256 B");
  CHECK(quantity_text(Bytes(64'000)) == "64 kB");
  CHECK(quantity_text(Bytes(80LL << 30)) == "80 GiB");
  CHECK(quantity_text(BytesPerSecond(50'000'000'000)) == "50 GB/s");
  CHECK(quantity_text(BytesPerSecond(3'350'000'000'000)) == "3.35 TB/s");
  CHECK(quantity_text(Flops(2'000'000'000'000)) == "2 TFLOP");
  CHECK(quantity_text(FlopsPerSecond(989'000'000'000'000)) == "989 TFLOP/s");
}

TEST_CASE("quantities: a text that was written reads back to the same") {
  test::holds_for_all("read(write(x)) == x", [](uint64_t seed) {
    Random random(seed);
    for (const Dimension dimension : {Dimension::Time, Dimension::Size, Dimension::Rate,
                                      Dimension::Work, Dimension::WorkRate}) {
      // All magnitudes are equally likely, and round numbers are frequent.
      int64_t count = static_cast<int64_t>(random.next() >> (1 + random.below(63)));
      if (random.below(2) == 0)
        count = static_cast<int64_t>(random.below(1000)) *
                units(dimension)[random.below(units(dimension).size() - 1)].scale;
      RC_ASSERT(read_quantity(quantity_text(count, dimension), dimension).count == count);
    }
  });
}

}  // namespace
}  // namespace orrery
