/* A program that loads plugins: by path, by name, again and again; and calls what it finds in them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call(void *handle, int n)
{
    int (*run)(int);
    void *found = handle ? dlsym(handle, "plugin_run") : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    memcpy(&run, &found, sizeof(found));
    return run(n);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++) {
            void *handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
            if (call(handle, 20) != 42)
                return 1;
            dlclose(handle);
        }
    return dlopen("no such plugin", RTLD_NOW) == NULL && dlerror() ? 0 : 3;
}
