#include "pieces.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "piece_layout.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* A file that is looked at. */
struct file_view {
    struct pythia__view view; /* first, so that one is the other */
    int file;
    char bytes[PYTHIA__VIEW_BYTES];
};

static bool read_window(struct pythia__view *view, uint64_t at, size_t wanted)
{
    struct file_view *v = (struct file_view *)view;
    size_t size = 0;
    while (size < wanted) {
        ssize_t got = pread(v->file, v->bytes + size, wanted - size, (off_t)(at + size));
        if (got < 0)
            return false;
        if (got == 0)
            break;
        size += (size_t)got;
    }
    v->view.window = (struct pythia_text){v->bytes, size};
    return true;
}

/* ---- dividing ---- */

struct pythia__pieces {
    const struct pythia_input_file *files;
    size_t count;
    const struct pythia_adapter_ops *format; /* of all files; NULL: not known */
    struct pythia__divided_file *divided;    /* owned: of each file */
    size_t found;
    /* The file whose pieces are being found: */
    size_t at;
    const struct pythia__layout *layout; /* NULL: it has not been looked at */
    const struct pythia_adapter_ops *format_at;
    struct pythia__piece_end begin; /* of the next piece */
    struct file_view view;
};

/* The layout and the format of a file that is worth dividing; NULL: it is small, or cannot be
 * divided. Errors are ignored here, as they come again when the file is decoded. */
static const struct pythia__layout *look_at_file(const struct pythia_input_file *file,
                                                 const struct pythia_adapter_ops **format)
{
    const struct pythia__layout *layout = NULL;
    struct pythia_error why = {0};
    struct pythia_input_stream *stream = NULL;
    struct pythia_text head;
    if (file->size_bytes < 2 * PYTHIA__PIECE_BYTES ||
        pythia_input_open(file, PYTHIA_EXPANSION_MAX, NULL, &stream, &why) != PYTHIA_OK)
        return NULL;
    if (!pythia_input_is_packed(stream) && pythia_input_head(stream, &head, &why) == PYTHIA_OK) {
        if (!*format)
            *format = pythia_adapter_like(head);
        layout = *format ? pythia__layout_find(*format, head) : NULL;
    }
    pythia_input_close(stream);
    return layout;
}

/* Look at the file whose turn it is, and open it if it is to be divided. */
static void begin_file(struct pythia__pieces *p)
{
    const struct pythia_input_file *file = &p->files[p->at];
    p->format_at = p->format;
    p->layout = look_at_file(file, &p->format_at);
    p->view.file = p->layout ? open(file->path, O_RDONLY | O_CLOEXEC) : -1;
    if (p->view.file < 0)
        p->layout = NULL;
    p->begin = (struct pythia__piece_end){0};
}

static void end_file(struct pythia__pieces *p)
{
    if (p->layout)
        close(p->view.file);
    p->layout = NULL;
    p->at++;
}

/* The next piece of a file that is divided. */
static struct pythia__piece find_range(struct pythia__pieces *p)
{
    const uint64_t size = p->files[p->at].size_bytes;
    const struct pythia__piece_end begin = p->begin;
    struct pythia__piece_end end = pythia__layout_end(p->layout, &p->view.view, begin.next);
    bool last = end.next >= size;
    if (last)
        end = (struct pythia__piece_end){.next = size};
    p->begin = end;
    return (struct pythia__piece){
        .format = p->format_at,
        .range = {.begin = begin.next,
                  .end = last ? UINT64_MAX : end.next - end.gap,
                  .before = begin.inside ? pythia__layout_before(p->layout) : PYTHIA_TEXT(""),
                  .after = end.inside ? pythia__layout_after(p->layout) : PYTHIA_TEXT("")},
        .gap = end.gap,
        .last = last};
}

int pythia__pieces_next(struct pythia__pieces *p, struct pythia__piece *out)
{
    if (p->at == p->count)
        return 1;
    if (!p->layout)
        begin_file(p);
    *out = p->layout ? find_range(p) : (struct pythia__piece){.last = true};
    out->of = &p->divided[p->at];
    out->number = p->found++;
    if (out->last)
        end_file(p);
    return PYTHIA_OK;
}

int pythia__pieces_create(const struct pythia_input_file *files, size_t count,
                          const struct pythia_adapter_ops *format, struct pythia__pieces **out)
{
    struct pythia__pieces *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    *p = (struct pythia__pieces){.files = files,
                                 .count = count,
                                 .format = format,
                                 .divided = pythia_calloc(count + 1, sizeof(*p->divided)),
                                 .view.view.read = read_window};
    if (!p->divided) {
        pythia_free(p);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        p->divided[i].file = &files[i];
    *out = p;
    return PYTHIA_OK;
}

void pythia__pieces_destroy(struct pythia__pieces *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++)
        *p->files[i].failed |= atomic_load(&p->divided[i].failed);
    if (p->layout) /* decoding was given up */
        close(p->view.file);
    pythia_free(p->divided);
    pythia_free(p);
}

/* ---- places of errors ---- */

static uint64_t count_lines_before(const char *path, uint64_t size)
{
    struct file_view *v = pythia_calloc(1, sizeof(*v));
    uint64_t lines_before = 0, at = 0;
    int file = v ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    for (; file >= 0 && at < size; at += v->view.window.size) {
        v->file = file;
        struct pythia_text text =
            read_window(&v->view, at, sizeof(v->bytes)) ? v->view.window : PYTHIA_TEXT("");
        if (text.size == 0)
            break;
        size_t left = text.size < size - at ? text.size : (size_t)(size - at);
        for (const char *c = text.bytes, *end = c + left; (c = memchr(c, '\n', (size_t)(end - c)));
             c++)
            lines_before++;
    }
    if (file >= 0)
        close(file);
    pythia_free(v);
    return lines_before;
}

void pythia__piece_place(const struct pythia__piece *piece, struct pythia_error *why)
{
    const struct pythia_input_range *range = &piece->range;
    if (range->begin == 0 || (why->line == 0 && why->offset == 0))
        return;
    if (why->line > 0)
        why->line += count_lines_before(piece->of->file->path, range->begin);
    why->offset += range->begin - range->before.size;
}
