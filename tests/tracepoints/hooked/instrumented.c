/* A program whose functions tell when they are called: it is built with -finstrument-functions, and
 * calls functions of its own, static ones and such as are called through a pointer. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(void)
{
    volatile int left = 0;
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
