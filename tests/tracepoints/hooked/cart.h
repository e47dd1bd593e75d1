#ifndef HOOKED_CART_H
#define HOOKED_CART_H

#include <string>

namespace shop
{
class __attribute__((visibility("default"))) Cart
{
  public:
    int add(int item);
    int add(const std::string &item) const;
};
} // namespace shop

#endif
