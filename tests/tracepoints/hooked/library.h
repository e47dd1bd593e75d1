/* Functions of all sorts of signatures, in a library, for a program that knows nothing of trace
 * points. */
#ifndef HOOKED_LIBRARY_H
#define HOOKED_LIBRARY_H

#ifdef __cplusplus
extern "C" {
#endif
#define VISIBLE __attribute__((visibility("default")))

struct large {
    long word[9];
};
struct two_doubles {
    double a, b;
};
struct mixed {
    long a;
    double b;
};
struct two_longs {
    long a, b;
};
struct three_floats {
    float a, b, c;
};

VISIBLE long many_integers(long a, long b, long c, long d, long e, long f, long g, long h, long i,
                           long j);
VISIBLE double many_doubles(double a, double b, double c, double d, double e, double f, double g,
                            double h, double i, double j);
VISIBLE double interleaved(int a, double b, long c, float d, char e, double f, short g, double h,
                           long i, double j, long k, double l, long m, double n, long o, double p,
                           long q, double r);
VISIBLE struct large large_of(struct large by_value, long add);
VISIBLE struct two_doubles two_doubles_of(double a);
VISIBLE struct mixed mixed_of(long a, double b);
VISIBLE struct two_longs two_longs_of(long a);
VISIBLE struct three_floats three_floats_of(float a);
VISIBLE long double long_double_of(long double a, int b);
VISIBLE double sum_of(int count, ...); /* doubles */
VISIBLE int print_to(char *out, int size, const char *format, ...);
VISIBLE int fails_with(int number); /* -1, and errno */
VISIBLE long factorial(long n);
VISIBLE long factorial_below(long n);
VISIBLE long first_of_chain(long n); /* its last act is to jump to second_of_chain */
VISIBLE long second_of_chain(long n);
VISIBLE void call_back(void (*f)(void *), void *argument);
VISIBLE void call_back_outer(void (*f)(void *), void *argument);
/* Use so much memory more, or (negative) give it back; write so much to a file. */
VISIBLE void grow(long bytes);
VISIBLE int store(const char *path, long bytes);
VISIBLE const char *greeting(const char *name, const char *unused);
VISIBLE unsigned char small_numbers(signed char a, unsigned short b, int c, unsigned char d);
VISIBLE int handle(const char *kind); /* calls func2 */
VISIBLE long func1(int n);
VISIBLE long func2(int n);
VISIBLE void spin(long ns);
VISIBLE int tiny(int a);

/* What vector registers a call hands over and gets back: bytes of each, doubled, and 0 if the
 * processor has none so wide. */
VISIBLE int wide_vectors(int bits);

#ifdef __cplusplus
}
#endif
#endif
