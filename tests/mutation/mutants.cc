// Holds the number of the active mutant, and the mutants that a run reached.

#include "tests/mutation/mutants.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace mutants {
namespace {

/// The destructor writes the file when the process ends.
struct Reached {
  std::vector<bool> numbers;

  ~Reached() {
    const char* const name = std::getenv("ORRERY_MUTANTS_REACHED");
    std::FILE* const file = name != nullptr ? std::fopen(name, "w") : nullptr;
    if (file == nullptr)
      return;
    for (std::size_t number = 0; number < numbers.size(); ++number)
      if (numbers[number])
        std::fprintf(file, "%zu\n", number);
    std::fclose(file);
  }
};

int from_environment() {
  const char* const number = std::getenv("ORRERY_MUTANT");
  if (number != nullptr)
    return std::atoi(number);
  return std::getenv("ORRERY_MUTANTS_REACHED") != nullptr ? -1 : 0;
}

}  // namespace

const int active = from_environment();

void reached(int number) {
  static Reached all;
  if (all.numbers.size() <= static_cast<std::size_t>(number))
    all.numbers.resize(static_cast<std::size_t>(number) + 1);
  all.numbers[static_cast<std::size_t>(number)] = true;
}

}  // namespace mutants
