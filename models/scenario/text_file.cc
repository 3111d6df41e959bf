#include "models/scenario/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "models/base/diagnostics.h"

namespace orrery {

std::string load_text(const std::string& path, const Limits& limits) {
  const auto refuse = [&](const std::string& why) { throw InputError(path, {{{}, why}}); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr)
    refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  // One byte more than is accepted tells that there are more.
  const size_t most = static_cast<size_t>(limits.file) + 1;
  std::string text;
  std::string block(size_t{1} << 16U, '\0');
  while (text.size() < most) {
    const size_t count =
        std::fread(block.data(), 1, std::min(block.size(), most - text.size()), file.get());
    text.append(block, 0, count);
    if (count == 0)
      break;
  }
  if (std::ferror(file.get()) != 0)
    refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (text.size() == most)
    refuse(beyond(limits, &Limits::file, "more"));
  return text;
}

}  // namespace orrery
