#include "models/fabric/fabric.h"

namespace orrery {

Fabric ring_fabric(uint32_t devices, LinkFigures link) {
  return Fabric(std::make_shared<const Torus>(std::vector{TorusDimension{devices, true, link}}));
}

Fabric line_fabric(uint32_t devices, LinkFigures link) {
  return Fabric(std::make_shared<const Torus>(std::vector{TorusDimension{devices, false, link}}));
}

Fabric fully_connected_fabric(uint32_t devices, LinkFigures link) {
  return Fabric(std::make_shared<const FullMesh>(devices, link));
}

Fabric switch_fabric(uint32_t devices, LinkFigures link) {
  return Fabric(std::make_shared<const Tree>(std::vector{TreeLevel{devices, 1, 1, link}}));
}

}  // namespace orrery
