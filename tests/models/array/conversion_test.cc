// Compares the conversions of arith.h with tables made by NumPy and ml_dtypes (tests/data/dtypes).

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"

namespace orrery {

namespace {

struct Row {
  Dtype from;
  Dtype to;
  std::vector<uint64_t> pages;
};

std::vector<Row> rows() {
  std::ifstream file(std::string(ORRERY_SOURCE_ROOT) + "/tests/data/dtypes/conversions.txt");
  std::vector<Row> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string from;
    std::string to;
    words >> from >> to;
    Row row{dtype_named(from).value(), dtype_named(to).value(), {}};
    for (uint64_t page = 0; words >> std::hex >> page;)
      row.pages.push_back(page);
    result.push_back(std::move(row));
  }
  return result;
}

/// Returns all elements of a dtype of 8 or 16 bits, in the order of their bits.
Tensor every_element(Dtype dtype) {
  const int64_t count = dtype == Dtype::Pred ? 2 : int64_t{1} << (8 * itemsize(dtype).count());
  Tensor tensor(dtype, {count});
  for (int64_t i = 0; i < count; ++i)
    set_element_bits(tensor, i, static_cast<uint64_t>(i));
  return tensor;
}

/// Returns one hash per 4096 elements, computed as in make_conversions.py.
std::vector<uint64_t> pages_of(const Tensor& tensor) {
  std::vector<uint64_t> pages;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (i % 4096 == 0)
      pages.push_back(0xcbf29ce484222325U);
    pages.back() = (pages.back() ^ element_bits(tensor, i)) * 0x100000001b3U;
  }
  return pages;
}

}  // namespace

TEST_CASE("convert: of every 8- and 16-bit element, to every dtype, what NumPy and ml_dtypes say") {
  std::set<std::pair<Dtype, Dtype>> seen;
  for (const Row& row : rows()) {
    const std::vector<uint64_t> pages = pages_of(convert(every_element(row.from), row.to));
    REQUIRE(pages.size() == row.pages.size());
    for (size_t page = 0; page < pages.size(); ++page)
      if (pages[page] != row.pages[page])
        FAIL_CHECK(fmt::format("{} to {}: wrong among the elements with bits {:#x} to {:#x}",
                               name(row.from), name(row.to), page * 4096, page * 4096 + 4095));
    seen.emplace(row.from, row.to);
  }
  // There are pred, 4 types of 8 bits and 4 of 16 bits, each converted to the 14 other dtypes.
  CHECK(seen.size() == 9 * 14);
}

}  // namespace orrery
