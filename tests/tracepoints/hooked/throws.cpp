/* Exceptions through hooked calls: caught by the function that has made the call, further out, by
 * nobody in between, and thrown again on the way. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cart.h"
#include "library.h"

static int destroyed, caught;

struct Guard {
    ~Guard()
    {
        destroyed++;
    }
};

static void do_throw(void *what)
{
    Guard guard;
    throw std::runtime_error(static_cast<const char *>(what));
}

static void throw_through(void *what)
{
    Guard guard;
    call_back(do_throw, what);
}

static void catch_inside(void *what)
{
    try {
        call_back(do_throw, what);
    } catch (const std::exception &) {
        caught++;
        throw;
    }
}

static void expect(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "%s does not hold\n", what);
        std::exit(1);
    }
}

int main()
{
    static char what[] = "planned";
    void (*const ways[])(void *) = {do_throw, throw_through, catch_inside};
    for (int round = 0; round < 100; round++)
        for (auto way : ways) {
            try {
                Guard guard;
                call_back_outer(way, what);
            } catch (const std::runtime_error &e) {
                caught++;
                expect(std::string(e.what()) == "planned", "what was thrown");
            }
            expect(tiny(round) == round + 1, "a call after an exception");
        }
    expect(caught == 400, "so many exceptions");
    expect(destroyed == 700, "so many destructors");
    shop::Cart cart;
    expect(cart.add(1) == 2 && cart.add(std::string("four")) == 4, "members");
    return 0;
}
