// Stage 1 of simdjson (Langdale and Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal
// 28(6), 2019): the places of all structure at some 3 GB/s. Walking them is left to C (json.c),
// which can then cut a document of any size into windows; simdjson's own walkers want a whole
// document in memory.
#include "structure.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <simdjson.h>

#include "simdjson_library.h"

// This file has no exceptions and no operators new and delete, so that the program does not need
// the C++ library before simdjson does.
struct pythia__structure {
    const struct pythia__simdjson *library;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

static const simdjson::implementation &find_implementation(const struct pythia__simdjson *library)
{
    using active = simdjson::internal::atomic_ptr<const simdjson::implementation>;
    return **static_cast<active *>(library->get_active_implementation());
}

struct pythia__structure *pythia__structure_create(size_t capacity)
{
    const struct pythia__simdjson *library = pythia__simdjson_load();
    void *memory = library ? std::malloc(sizeof(pythia__structure)) : nullptr;
    if (!memory)
        return nullptr;
    auto *s = new (memory) pythia__structure{library, nullptr};
    if (find_implementation(library).create_dom_parser_implementation(capacity, 1, s->parser)) {
        pythia__structure_destroy(s);
        return nullptr;
    }
    return s;
}

void pythia__structure_destroy(struct pythia__structure *s)
{
    if (s)
        s->~pythia__structure();
    std::free(s);
}

// How many indexes there really are: of text that goes on, simdjson leaves out what is behind the
// last whole document, and documents are larger than windows. Behind the last index stands the
// size of the text, twice.
static size_t count_indexes(const uint32_t *indexes)
{
    size_t count = 0;
    while (indexes[count] != indexes[count + 1])
        count++;
    return count;
}

enum pythia__structure_result pythia__structure_find(struct pythia__structure *s, const char *text,
                                                     size_t size, int partial,
                                                     const uint32_t **indexes, size_t *count)
{
    auto mode = partial ? simdjson::stage1_mode::streaming_partial : simdjson::stage1_mode::regular;
    uint32_t *all = s->parser->structural_indexes.get();
    all[0] = all[1] = 0; // what count_indexes sees where simdjson gives up at once
    s->parser->n_structural_indexes = 0;
    auto error = s->parser->stage1(reinterpret_cast<const uint8_t *>(text), size, mode);
    *indexes = all;
    *count = partial ? count_indexes(all) : s->parser->n_structural_indexes;
    switch (error) {
    case simdjson::SUCCESS:
        return PYTHIA__STRUCTURE_OK;
    case simdjson::CAPACITY: // of partial text: no whole document in it, which is no fault of the
                             // text
    case simdjson::EMPTY:    // the same, behind white space
        if (partial && *count > 0)
            return pythia__structure_is_utf8(s, text, size) ? PYTHIA__STRUCTURE_OK
                                                            : PYTHIA__STRUCTURE_BAD_UTF8;
        *count = 0;
        return error == simdjson::EMPTY ? PYTHIA__STRUCTURE_EMPTY : PYTHIA__STRUCTURE_NO_MEMORY;
    case simdjson::UTF8_ERROR:
        return PYTHIA__STRUCTURE_BAD_UTF8;
    case simdjson::MEMALLOC:
        return PYTHIA__STRUCTURE_NO_MEMORY;
    default:
        return PYTHIA__STRUCTURE_BROKEN;
    }
}

int pythia__structure_is_utf8(const struct pythia__structure *s, const char *text, size_t size)
{
    return s->library->validate_utf8(text, size);
}
