/* A program of somebody else: the variance of 1, 2, 3, 4 is 5/3. */
#include <math.h>
#include <pythia/moments.h>

int main(void)
{
    struct pythia_moments m = {0};
    for (int i = 1; i <= 4; i++)
        pythia_moments_add(&m, i);
    return fabs(pythia_moments_variance(&m) - 5.0 / 3) > 1e-12;
}
