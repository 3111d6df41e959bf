// Tests the settings of a mock in another process.

#include "tests/support/mock_cuda/environment.h"

#include <stdexcept>

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

using mock_cuda::settings_of;

TEST_CASE("mock environment: what it names is set, and all else is as usual") {
  const MockCudaSettings settings = settings_of("devices=2,memory=65536");
  CHECK(settings.devices == 2);
  CHECK(settings.memory == 65536);
  CHECK(settings.seed == MockCudaSettings{}.seed);
  CHECK(settings_of("").devices == 1);
}

TEST_CASE("mock environment: an unknown name, and what is no number") {
  for (const char* const text : {"device=2", "devices", "devices=", "devices=2x", "devices=2,,"})
    CHECK_THROWS_AS(settings_of(text), std::invalid_argument);
}

}  // namespace
}  // namespace orrery::test
