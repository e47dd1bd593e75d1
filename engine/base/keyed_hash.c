/* SipHash: four words, mixed by additions, rotations and exclusive ors; two rounds for each 8 bytes
 * of the message, whose last word has the size in its highest byte, and four at the end. */
#include "pythia/keyed_hash.h"

struct state {
    uint64_t v[4];
};

static uint64_t read_little(const unsigned char *at, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

static uint64_t turn_left(uint64_t word, unsigned left)
{
    return word << left | word >> (64 - left);
}

/* Half a round: a and b are mixed, and c and d. */
static void mix_half(struct state *s, int a, int b, unsigned b_left, int c, int d, unsigned d_left)
{
    s->v[a] += s->v[b];
    s->v[c] += s->v[d];
    s->v[b] = turn_left(s->v[b], b_left) ^ s->v[a];
    s->v[d] = turn_left(s->v[d], d_left) ^ s->v[c];
    s->v[a] = turn_left(s->v[a], 32);
}

static void do_rounds(struct state *s, int count)
{
    while (count-- > 0) {
        mix_half(s, 0, 1, 13, 2, 3, 16);
        mix_half(s, 2, 1, 17, 0, 3, 21);
    }
}

static void take_hash_word(struct state *s, uint64_t word)
{
    s->v[3] ^= word;
    do_rounds(s, 2);
    s->v[0] ^= word;
}

uint64_t pythia_keyed_hash(const struct pythia_hash_key *key, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t low = read_little(key->bytes, 8), high = read_little(key->bytes + 8, 8);
    struct state s = {{low ^ UINT64_C(0x736f6d6570736575), high ^ UINT64_C(0x646f72616e646f6d),
                       low ^ UINT64_C(0x6c7967656e657261), high ^ UINT64_C(0x7465646279746573)}};
    size_t left = size;
    for (; left >= 8; left -= 8, at += 8)
        take_hash_word(&s, read_little(at, 8));
    take_hash_word(&s, read_little(at, left) | (uint64_t)size << 56);
    s.v[2] ^= 0xff;
    do_rounds(&s, 4);
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}
