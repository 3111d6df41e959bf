// Tests tools/gpu/check on the mock driver, with small sizes: its record, and that it can fail.

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/mock_cuda/mock_control.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/shell.h"

namespace orrery::test {
namespace {

std::string root() {
  return ORRERY_SOURCE_ROOT;
}

/// A `Carried` is the folder that tools/gpu/carry makes, with three scenarios.
class Carried {
 public:
  Carried() {
    std::filesystem::create_symlink(ORRERY_BINARY, path("orrery"));
    std::filesystem::create_symlink(ORRERY_GPU_PROGRAMS_BINARY, path("gpu_programs"));
    std::filesystem::create_directory(path("scenarios"));
    std::filesystem::create_directory(path("scenarios/hangs"));
    for (const char* const scenario :
         {"quickstart.json", "two-programs-hang.json", "hangs/other-dtype.json"})
      std::filesystem::copy(root() + "/scenarios/" + scenario,
                            path(std::string("scenarios/") + scenario));
    folder_.file("commit", "0123\n");
  }

  /// Returns the record and the messages of progress, on a mock with these settings.
  Launched check(const std::string& settings) const {
    return shell("ORRERY_GPU_CHECK_SMALL=1 ORRERY_LIBCUDA=" + MockControl::library() +
                 " ORRERY_MOCK_CUDA=" + settings + " " + root() + "/tools/gpu/check" + " " +
                 path(""));
  }

 private:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  TemporaryFolder folder_;
};

/// With these settings, copies and kernels share the memory and take the time of their bytes alone.
const std::string kBytesAlone =
    "multiprocessors=100000,bytes_per_second=16000000000,thread_ps=1500,product_ps=100,sharing=1,"
    "copy_ps=1,kernel_ps=1,launch_ps=1";

TEST_CASE("tools/gpu/check: a record of what holds") {
  const Launched checked = Carried().check(kBytesAlone);
  CAPTURE(checked.said);
  CHECK(checked.status == 0);
  const auto has = [&](const std::string& row) {
    CHECK_MESSAGE(checked.said.find("\n" + row) != std::string::npos, row);
  };
  has("| commit | 0123 |\n");
  has("| two-programs-hang.json | left out:  (the program cannot end) |\n");
  has("| hangs/other-dtype.json | left out:  (the input is wrong on purpose) |\n");
  has("| scenarios | passed: 1 have the host's values, bit for bit; 2 left out |\n");
  has("| random programs | passed: 4 random programs, and collectives and local ops of every "
      "dtype; ");
  has("| 2 MiB on virtual devices of 1 MiB | passed: ");
  has("| 4 TiB on the GPUs here | passed: ");
  has("| psum of 64 KiB | ");
  for (const std::string op : {"psum", "all_gather", "all_to_all"}) {
    has("| " + op + " of 65536 bytes | passed: ");
    has("| prediction of " + op + " of 65536 bytes | passed: ");
  }
  has("0 failed.\n");
}

TEST_CASE("tools/gpu/check: what does not hold is told, and the exit status is 1") {
  // One of the copies writes a byte too many.
  const Launched checked = Carried().check(kBytesAlone + ",stray_copy=1");
  CAPTURE(checked.said);
  CHECK(checked.status == 1);
  CHECK(checked.said.find("| **failed**: ") != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
