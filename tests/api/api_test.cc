#include <cstdio>
#include <memory>
#include <string>

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

TEST_CASE("library: a program of the API runs, and its report is read") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(ORRERY_API_EXAMPLE, "r"),
                                                             &pclose);
  char line[256] = "";
  REQUIRE(std::fgets(line, sizeof line, pipe.get()) != nullptr);
  // The makespan is 6 steps of 1 us and 80 ps.
  CHECK(std::string(line).find("makespan 6000480 ps, total [12, 16], ") == 0);
  CHECK(std::string(line).find(" checks hold\n") != std::string::npos);
}

TEST_CASE("library: the example in its header runs a scenario") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(ORRERY_HEADER_EXAMPLE, "r"),
                                                             &pclose);
  char line[256] = "";
  REQUIRE(std::fgets(line, sizeof line, pipe.get()) != nullptr);
  CHECK(std::string(line).find(" ps\n") != std::string::npos);
  REQUIRE(std::fgets(line, sizeof line, pipe.get()) != nullptr);
  CHECK(std::string(line).find(" B on a device\n") != std::string::npos);
  // There is no third line, since every check of the quickstart holds.
  CHECK(std::fgets(line, sizeof line, pipe.get()) == nullptr);
}

}  // namespace
}  // namespace orrery::test
