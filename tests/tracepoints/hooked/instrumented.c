/* A program whose functions tell when they are called: it is built with -finstrument-functions, and
 * calls functions of its own, static ones and such as are called through a pointer. With "grow" it
 * takes 8 MiB, and gives them back. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static jmp_buf outside;

static __attribute__((noinline)) int inner(int n)
{
    return n + 1;
}

__attribute__((noinline)) int middle(int n);
int middle(int n)
{
    return inner(n) + inner(n);
}

static __attribute__((noinline)) int deep(int n)
{
    static volatile int jumps = 1;
    if (n == 0 && jumps)
        longjmp(outside, 1);
    return n == 0 ? 0 : deep(n - 1) + 1;
}

static __attribute__((noinline)) int recursive(int n)
{
    return n == 0 ? 0 : recursive(n - 1) + 1;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static char *memory;

static __attribute__((noinline)) void grow(size_t bytes)
{
    if (memory) {
        munmap(memory, bytes);
        memory = NULL;
        return;
    }
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(4);
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)memory)[i] = 1;
}

static __attribute__((noinline)) void leave_growing(size_t bytes)
{
    grow(bytes);
    longjmp(outside, 1);
}

int main(int argc, char **argv)
{
    volatile int left = 0;
    if (argc > 1 && strcmp(argv[1], "grow") == 0) {
        grow((size_t)8 << 20);
        grow((size_t)8 << 20);
        if (setjmp(outside) == 0)
            leave_growing((size_t)8 << 20);
        return 0;
    }
    int numbers[] = {3, 1, 2};
    if (middle(1) != 4 || recursive(4) != 4)
        return 1;
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(outside) == 0)
            deep(3);
        else
            left++;
        if (inner(left) != left + 1)
            return 2;
    }
    qsort(numbers, 3, sizeof(int), compare);
    return left == 3 && numbers[0] == 1 ? 0 : 3;
}
