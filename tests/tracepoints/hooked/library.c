#define _GNU_SOURCE
#include "library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

long many_integers(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

double many_doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                    double i, double j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

double interleaved(int a, double b, long c, float d, char e, double f, short g, double h, long i,
                   double j, long k, double l, long m, double n, long o, double p, long q, double r)
{
    return a + b + (double)c + (double)d + e + f + g + h + (double)i + j + (double)k + l +
           (double)m + n + (double)o + p + (double)q + r;
}

struct large large_of(struct large by_value, long add)
{
    for (int i = 0; i < 9; i++)
        by_value.word[i] += add;
    return by_value;
}

struct two_doubles two_doubles_of(double a)
{
    return (struct two_doubles){a, 2 * a};
}

struct mixed mixed_of(long a, double b)
{
    return (struct mixed){a + 1, b + 1};
}

struct two_longs two_longs_of(long a)
{
    return (struct two_longs){a, -a};
}

struct three_floats three_floats_of(float a)
{
    return (struct three_floats){a, a + 1, a + 2};
}

long double long_double_of(long double a, int b)
{
    return a * b;
}

double sum_of(int count, ...)
{
    double sum = 0;
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double);
    va_end(list);
    return sum;
}

int print_to(char *out, int size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int used = vsnprintf(out, (size_t)size, format, list);
    va_end(list);
    return used;
}

int fails_with(int number)
{
    errno = number;
    return -1;
}

/* By way of another, or compilers would make a loop of it. */
long factorial(long n)
{
    return n < 2 ? 1 : (long)((unsigned long)n * (unsigned long)factorial_below(n));
}

long factorial_below(long n)
{
    return factorial(n - 1);
}

long second_of_chain(long n)
{
    return n + 2;
}

long first_of_chain(long n)
{
    return second_of_chain(n * 10);
}

void call_back(void (*f)(void *), void *argument)
{
    f(argument);
    spin(1); /* no jump as the last act */
}

void call_back_outer(void (*f)(void *), void *argument)
{
    call_back(f, argument);
    spin(1);
}

void grow(long bytes)
{
    static char *pages;
    static size_t used;
    if (bytes < 0) {
        munmap(pages, used);
        return;
    }
    used = (size_t)bytes;
    pages = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; pages != MAP_FAILED && i < used; i += 1024)
        pages[i] = 1;
}

int store(const char *path, long bytes)
{
    char block[65536] = {1};
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while (file >= 0 && bytes > 0 && write(file, block, sizeof(block)) == (ssize_t)sizeof(block))
        bytes -= (long)sizeof(block);
    return file < 0 || fsync(file) != 0 || close(file) != 0;
}

const char *greeting(const char *name, const char *unused)
{
    (void)unused;
    return name ? "hello" : NULL;
}

unsigned char small_numbers(signed char a, unsigned short b, int c, unsigned char d)
{
    return (unsigned char)(a + b + c + d);
}

static void sleep_ms(long ms)
{
    struct timespec left = {0, ms * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

int handle(const char *kind)
{
    return (int)strlen(kind) + (int)func2(0);
}

long func1(int n)
{
    sleep_ms(15);
    return func2(n) + 1;
}

long func2(int n)
{
    if (n > 0)
        sleep_ms(25);
    return n;
}

void spin(long ns)
{
    struct timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
}

int tiny(int a)
{
    return a + 1;
}

/* ---- vectors ---- */

typedef int of_256 __attribute__((vector_size(32)));
typedef int of_512 __attribute__((vector_size(64)));

VISIBLE of_256 twice_256(of_256 a, of_256 b, of_256 c);
__attribute__((target("avx2"))) of_256 twice_256(of_256 a, of_256 b, of_256 c)
{
    return a + 2 * b + 3 * c;
}

VISIBLE of_512 twice_512(of_512 a, of_512 b, of_512 c);
__attribute__((target("avx512f"))) of_512 twice_512(of_512 a, of_512 b, of_512 c)
{
    return a + 2 * b + 3 * c;
}

__attribute__((target("avx2"))) static int wide_256(void)
{
    of_256 a = {1, 2, 3, 4, 5, 6, 7, 8}, b = a * 100, c = a * 1000;
    for (int round = 0; round < 100; round++) {
        of_256 d = twice_256(a, b, c);
        for (int i = 0; i < 8; i++)
            if (d[i] != (i + 1) * 3201)
                return 1;
    }
    return 256;
}

__attribute__((target("avx512f"))) static int wide_512(void)
{
    of_512 a, b, c;
    for (int i = 0; i < 16; i++) {
        a[i] = i + 1;
        b[i] = (i + 1) * 100;
        c[i] = (i + 1) * 1000;
    }
    for (int round = 0; round < 100; round++) {
        of_512 d = twice_512(a, b, c);
        for (int i = 0; i < 16; i++)
            if (d[i] != (i + 1) * 3201)
                return 1;
    }
    return 512;
}

int wide_vectors(int bits)
{
    __builtin_cpu_init();
    if (bits == 256)
        return __builtin_cpu_supports("avx2") ? wide_256() : 0;
    return __builtin_cpu_supports("avx512f") ? wide_512() : 0;
}
