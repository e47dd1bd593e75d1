/* What hooked_plugins loads: it calls the library, and is called itself. */
#include "library.h"

VISIBLE int plugin_run(int n);
VISIBLE int plugin_helper(int n);

int plugin_helper(int n)
{
    return tiny(n);
}

int plugin_run(int n)
{
    return plugin_helper(n) + tiny(n);
}
