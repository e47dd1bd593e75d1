/* A main for a fuzzer without libFuzzer: each file that is named, and each in a folder that is
 * named, or below it, is run once. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <ftw.h>
#include <string.h>

#include "fuzz.h"

static size_t files;

static int replay(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    if (kind != FTW_F)
        return 0;
    size_t size = (size_t)about->st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    MUST(bytes && file && fread(bytes, 1, size, file) == size);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    files++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], replay, 16, FTW_PHYS) != 0) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
    printf("%zu inputs\n", files);
    return files > 0 ? 0 : 1;
}
