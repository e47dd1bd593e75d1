/* Whether keys go with durations: the tests of one pair of bases. */
#include <math.h>

#include "association_keys.h"
#include "pythia/cca.h"
#include "pythia/status.h"

struct pythia_column pythia_association_column(const struct pythia_association_input *input,
                                               const struct pythia_association_result *result)
{
    struct pythia_column column = input->keys[result->column];
    column.categorical = result->categorical;
    return column;
}

const struct pythia__basis *pythia__key_x(const struct pythia__key *key)
{
    return key->shrunk_x.q ? &key->shrunk_x : &key->x;
}

const struct pythia__basis *pythia__key_y(const struct pythia__keys *run,
                                          const struct pythia__key *key)
{
    return key->shrunk_y.q ? &key->shrunk_y : &run->y;
}

int pythia__keys_correlate(struct pythia__keys *run, const struct pythia__basis *x,
                           const struct pythia__basis *y)
{
    pythia__basis_cross(x, y, NULL, run->room.cosines);
    return pythia__basis_svd(run->room.cosines, x->rank, y->rank, run->room.r, run->room.u,
                             run->room.v, run->room.work);
}

double pythia__join_p(double a, double b)
{
    return isnan(a) || isnan(b) ? fmin(a, b) : fmin(2 * fmin(a, b), fmax(a, b));
}

double pythia__keys_p(struct pythia__keys *run, const struct pythia__basis *x,
                      const struct pythia__basis *y, size_t rows, size_t lost)
{
    size_t count = x->rank < y->rank ? x->rank : y->rank;
    if (count == 0 || rows <= run->lost + lost || pythia__keys_correlate(run, x, y) != PYTHIA_OK)
        return NAN;
    struct pythia_cca_root t;
    pythia_cca_test_root(run->room.r, count, rows - run->lost - lost, x->rank, y->rank, 0, &t);
    return t.wilks.p;
}
