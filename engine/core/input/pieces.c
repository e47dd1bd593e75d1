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

static int add_piece(struct pythia__pieces *p, const struct pythia__piece *piece)
{
    if (pythia_grow(&p->list, &p->capacity, p->count, sizeof(*p->list)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->list[p->count++] = *piece;
    return PYTHIA_OK;
}

static int add_ranges(struct pythia__pieces *p, struct file_view *v,
                      const struct pythia__layout *layout, const struct pythia_adapter_ops *format,
                      struct pythia__divided_file *of)
{
    uint64_t size = of->file->size_bytes;
    struct pythia__piece_end begin = {0};
    while (begin.next < size) {
        struct pythia__piece_end end = pythia__layout_end(layout, &v->view, begin.next);
        if (end.next >= size)
            end = (struct pythia__piece_end){.next = size};
        const struct pythia__piece piece = {
            .of = of,
            .format = format,
            .range = {.begin = begin.next,
                      .end = end.next < size ? end.next - end.gap : UINT64_MAX,
                      .before = begin.inside ? pythia__layout_before(layout) : PYTHIA_TEXT(""),
                      .after = end.inside ? pythia__layout_after(layout) : PYTHIA_TEXT("")},
            .gap = end.gap};
        int status = add_piece(p, &piece);
        if (status != PYTHIA_OK)
            return status;
        begin = end;
    }
    return PYTHIA_OK;
}

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

static int divide_file(struct pythia__pieces *p, struct file_view *v,
                       const struct pythia_adapter_ops *format, struct pythia__divided_file *of)
{
    const struct pythia__layout *layout = look_at_file(of->file, &format);
    v->file = layout ? open(of->file->path, O_RDONLY | O_CLOEXEC) : -1;
    if (v->file < 0)
        return add_piece(p, &(struct pythia__piece){.of = of});
    int status = add_ranges(p, v, layout, format, of);
    close(v->file);
    return status;
}

int pythia__pieces_find(const struct pythia_input_file *files, size_t count,
                        const struct pythia_adapter_ops *format, struct pythia__pieces *out)
{
    struct file_view *v = pythia_calloc(1, sizeof(*v));
    *out = (struct pythia__pieces){.files = pythia_calloc(count + 1, sizeof(*out->files))};
    int status = v && out->files ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    v->view.read = read_window;
    for (size_t i = 0; i < count; i++) {
        out->files[i].file = &files[i];
        if ((status = divide_file(out, v, format, &out->files[i])) != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(v);
    return status;
}

void pythia__pieces_free(struct pythia__pieces *p)
{
    pythia_free(p->list);
    pythia_free(p->files);
    *p = (struct pythia__pieces){0};
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
