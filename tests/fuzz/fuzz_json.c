/* The cursor: whatever the window, the tokens are the same. */
#include <string.h>

#include "fuzz.h"
#include "pythia/buf.h"
#include "pythia/hash.h"
#include "pythia/json.h"

#define DEPTH_MAX 2000 /* deeper values are passed over */

/* What was read: a hash of all tokens and errors. */
struct reading {
    uint64_t hash, tokens;
    bool too_large; /* a value did not fit into the limit: another window sees other tokens */
};

static void add(struct reading *r, int kind, struct pythia_text text)
{
    r->hash = pythia_hash_mix(r->hash, (uint64_t)kind);
    r->hash = pythia_hash_mix(r->hash, pythia_hash_bytes(text.bytes, text.size));
    r->tokens++;
}

/* Enter a container, read a scalar, or pass over what is too deep. */
static int read_value(struct pythia_json *j, struct reading *r, char *stack, int *depth)
{
    struct pythia_json_value value;
    int c = pythia_json_peek(j);
    if (c < 0)
        return c;
    if (c == '{' || c == '[') {
        struct pythia_text key;
        int status = pythia_json_first_key(j, &key);
        if (status < 0 || *depth == DEPTH_MAX)
            return status < 0 ? status : pythia_json_skip(j);
        add(r, c, (struct pythia_text){"", 0});
        stack[(*depth)++] = (char)c;
        return c == '{' ? pythia_json_object(j) : pythia_json_array(j);
    }
    int status = pythia_json_value(j, &value);
    if (status == PYTHIA_OK)
        add(r, (int)value.kind,
            value.kind >= PYTHIA_JSON_INTEGER ? value.text : (struct pythia_text){"", 0});
    return status;
}

static int read_document(struct pythia_json *j, struct reading *r)
{
    static char stack[DEPTH_MAX];
    int depth = 0, status = read_value(j, r, stack, &depth);
    while (status == PYTHIA_OK && depth > 0) {
        struct pythia_text key = {"", 0};
        status = stack[depth - 1] == '{' ? pythia_json_field(j, &key) : pythia_json_element(j);
        if (status == 1) {
            depth--;
            status = PYTHIA_OK;
        } else if (status == PYTHIA_OK) {
            add(r, 'k', key);
            status = read_value(j, r, stack, &depth);
        }
    }
    return status;
}

/* Read each document; every second one only after making sure that it is whole. */
static struct reading read_all(const uint8_t *bytes, size_t size, size_t limit, size_t piece)
{
    struct reading r = {0};
    struct pythia_memory_source memory;
    struct pythia_json *j;
    int status;
    pythia_memory_source_init(&memory, "input", bytes, size);
    memory.piece = piece;
    MUST(pythia_json_create(&memory.source, limit, &j) == PYTHIA_OK);
    for (size_t documents = 0; (status = pythia_json_document(j)) != 1; documents++) {
        if (status == 0 && documents % 2 && pythia_json_whole(j) < 0) {
            r.too_large |= j->error.status == PYTHIA_ELIMIT;
            pythia_error_clear(&j->error);
        }
        if (status == 0)
            status = read_document(j, &r);
        if (status >= 0)
            continue;
        MUST(j->error.status == status && j->error.line > 0 && j->error.offset <= size);
        r.too_large |= status == PYTHIA_ELIMIT;
        add(&r, 'e', pythia_text_of(j->error.sentence));
        r.hash = pythia_hash_mix(pythia_hash_mix(r.hash, j->error.line), j->error.offset);
        MUST(pythia_json_recover(j) == PYTHIA_OK);
    }
    MUST(r.tokens <= 2 * size + 2);
    pythia_json_destroy(j);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t limit = size > 0 ? 64 + bytes[0] * (size_t)8 : 64;
    struct reading whole = read_all(bytes, size, 0, 0);
    struct reading cut = read_all(bytes, size, limit, size % 61 + 1);
    MUST(!whole.too_large);
    MUST(cut.too_large || (cut.hash == whole.hash && cut.tokens == whole.tokens));
    return 0;
}
