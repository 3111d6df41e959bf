#pragma once

// One visitor of a std::variant, made of a lambda for each alternative.

namespace orrery {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace orrery
