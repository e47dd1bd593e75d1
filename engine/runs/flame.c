/* Frames are nodes of a tree in one array; children of a node are a list sorted by name. Drawing
 * walks the tree with a stack of its own, so that a context 100 000 calls deep is drawn as well. */
#define _GNU_SOURCE /* memrchr */
#include "pythia/flame.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/arena.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

#define NONE UINT32_MAX

struct frame {
    struct pythia_text name; /* in the arena */
    uint32_t parent, first_child, last_child, next_sibling;
    double own[2], all[2]; /* of each side: in the frame itself, and with what is below it */
};

struct pythia_flame {
    struct frame *frames; /* the first is the root */
    size_t count, capacity;
    struct pythia_arena arena;
};

static int add_flame_frame(struct pythia_flame *f, uint32_t parent, struct pythia_text name,
                           uint32_t *to)
{
    if (f->count >= NONE)
        return PYTHIA_ENOMEM;
    char *copy = pythia_arena_alloc(&f->arena, name.size + 1);
    if (!copy || pythia_grow(&f->frames, &f->capacity, f->count, sizeof(*f->frames)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    memcpy(copy, name.bytes, name.size);
    *to = (uint32_t)f->count++;
    f->frames[*to] = (struct frame){.name = {copy, name.size},
                                    .parent = parent,
                                    .first_child = NONE,
                                    .last_child = NONE,
                                    .next_sibling = NONE};
    return PYTHIA_OK;
}

int pythia_flame_create(struct pythia_flame **out)
{
    struct pythia_flame *f = pythia_calloc(1, sizeof(*f));
    uint32_t root;
    if (!f)
        return PYTHIA_ENOMEM;
    if (add_flame_frame(f, NONE, PYTHIA_TEXT("all"), &root) != PYTHIA_OK) {
        pythia_flame_destroy(f);
        return PYTHIA_ENOMEM;
    }
    *out = f;
    return PYTHIA_OK;
}

void pythia_flame_destroy(struct pythia_flame *f)
{
    if (!f)
        return;
    pythia_free(f->frames);
    pythia_arena_free(&f->arena);
    pythia_free(f);
}

/* The child of that name, made in its place among its siblings if it is new. */
static int find_child(struct pythia_flame *f, uint32_t parent, struct pythia_text name,
                      uint32_t *child)
{
    uint32_t last = f->frames[parent].last_child;
    int order = last == NONE ? -1 : pythia_text_compare(f->frames[last].name, name);
    /* Stacks mostly come sorted: then a new frame belongs behind the last one, and a thousand
     * siblings need no walk each. */
    uint32_t before = order < 0 ? last : NONE,
             at = order < 0 ? NONE : f->frames[parent].first_child;
    while (at != NONE && (order = pythia_text_compare(f->frames[at].name, name)) < 0) {
        before = at;
        at = f->frames[at].next_sibling;
    }
    if (at != NONE && order == 0) {
        *child = at;
        return PYTHIA_OK;
    }
    int status = add_flame_frame(f, parent, name, child);
    if (status != PYTHIA_OK)
        return status;
    f->frames[*child].next_sibling = at;
    if (at == NONE)
        f->frames[parent].last_child = *child;
    if (before == NONE)
        f->frames[parent].first_child = *child;
    else
        f->frames[before].next_sibling = *child;
    return PYTHIA_OK;
}

int pythia_flame_add(struct pythia_flame *f, struct pythia_text stack, int side, double value)
{
    uint32_t at = 0;
    while (stack.size > 0) {
        const char *end = memchr(stack.bytes, ';', stack.size);
        size_t size = end ? (size_t)(end - stack.bytes) : stack.size;
        int status = find_child(f, at, (struct pythia_text){stack.bytes, size}, &at);
        if (status != PYTHIA_OK)
            return status;
        stack.bytes += size + (end != NULL);
        stack.size -= size + (end != NULL);
    }
    f->frames[at].own[side] += value;
    for (; at != NONE; at = f->frames[at].parent)
        f->frames[at].all[side] += value;
    return PYTHIA_OK;
}

int pythia_flame_add_folded(struct pythia_flame *f, struct pythia_text folded, int side,
                            struct pythia_error *e)
{
    for (uint64_t line = 1; folded.size > 0; line++) {
        const char *end = memchr(folded.bytes, '\n', folded.size);
        size_t size = end ? (size_t)(end - folded.bytes) : folded.size;
        const char *blank = memrchr(folded.bytes, ' ', size);
        char number[32] = "", *rest = number;
        if (blank && folded.bytes + size - blank <= (ptrdiff_t)sizeof(number))
            memcpy(number, blank + 1, (size_t)(folded.bytes + size - blank - 1));
        double value = strtod(number, &rest);
        if (size > 0 && (rest == number || *rest || !(value >= 0) || !isfinite(value))) {
            pythia_error_place(e, "", line, 0);
            return pythia_error_set(e, PYTHIA_EFORMAT, "is no folded stack with a number after it");
        }
        if (size > 0) {
            struct pythia_text stack = {folded.bytes, (size_t)(blank - folded.bytes)};
            if (pythia_flame_add(f, stack, side, value) != PYTHIA_OK)
                return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
        }
        folded.bytes += size + (end != NULL);
        folded.size -= size + (end != NULL);
    }
    return PYTHIA_OK;
}

/* ---- walking ---- */

/* The next frame in depth-first order, with *depth kept; NONE at the end. */
static uint32_t next_frame(const struct pythia_flame *f, uint32_t at, uint32_t *depth)
{
    if (f->frames[at].first_child != NONE) {
        ++*depth;
        return f->frames[at].first_child;
    }
    while (at != 0 && f->frames[at].next_sibling == NONE) {
        at = f->frames[at].parent;
        --*depth;
    }
    return at == 0 ? NONE : f->frames[at].next_sibling;
}

static void add_stack(const struct pythia_flame *f, uint32_t at, struct pythia_buf *to,
                      uint32_t **path, size_t *capacity)
{
    size_t depth = 0;
    for (; at != 0; at = f->frames[at].parent) {
        if (pythia_grow(path, capacity, depth, sizeof(**path)) != PYTHIA_OK) {
            to->failed = 1;
            return;
        }
        (*path)[depth++] = at;
    }
    while (depth-- > 0) {
        pythia_buf_text_add(to, f->frames[(*path)[depth]].name);
        if (depth > 0)
            pythia_buf_putc(to, ';');
    }
}

int pythia_flame_folded(const struct pythia_flame *f, struct pythia_buf *to)
{
    uint32_t depth = 0, *path = NULL;
    size_t capacity = 0;
    for (uint32_t at = 0; at != NONE; at = next_frame(f, at, &depth)) {
        if (f->frames[at].own[0] < .5 || at == 0)
            continue;
        add_stack(f, at, to, &path, &capacity);
        pythia_buf_printf(to, " %.0f\n", f->frames[at].own[0]);
    }
    pythia_free(path);
    return pythia_buf_status(to);
}

/* ---- drawing ---- */

#define WIDTH     1200.
#define ROW       17
#define HEAD      52
#define NARROWEST .1 /* of a pixel: narrower frames are not seen, and their time is in the parent */

/* The script: a click makes the frame as wide as the picture, Ctrl-F or the text at the top marks
 * frames by a regular expression. It reads place and width from attributes, so that the picture is
 * complete without it. */
static const char script[] =
    "<script><![CDATA[\n"
    "const frames=[...document.querySelectorAll('g.f')],W=1200;\n"
    "const num=(g,a)=>parseFloat(g.dataset[a]);\n"
    "function draw(x0,w0,depth){for(const g of frames){\n"
    " let x=(num(g,'x')-x0)/w0*W,w=num(g,'w')/w0*W;\n"
    " const up=num(g,'d')<depth;if(up&&x<=1e-6&&x+w>=W-1e-6){x=0;w=W;}\n"
    " const off=x+w<=0||x>=W-1e-6;g.style.display=off?'none':'';if(off)continue;\n"
    " const r=g.querySelector('rect'),t=g.querySelector('text');\n"
    " x=Math.max(x,0);w=Math.min(w,W-x);\n"
    " r.setAttribute('x',x);r.setAttribute('width',Math.max(w-.5,.1));g.classList.toggle('up',up);"
    "\n"
    " const room=Math.floor((w-6)/6.6),n=g.dataset.n;t.setAttribute('x',x+3);\n"
    " t.textContent=room<3?'':n.length<=room?n:n.slice(0,room-1)+'…';}}\n"
    "let now=null;function zoom(g){now=g;draw(num(g,'x'),num(g,'w'),num(g,'d'));\n"
    " document.getElementById('reset').style.display=g===frames[0]?'none':'';}\n"
    "frames.forEach(g=>{g.addEventListener('click',()=>zoom(g));\n"
    " g.addEventListener('keydown',e=>{if(e.key==='Enter')zoom(g);});\n"
    " g.addEventListener('mouseover',()=>{document.getElementById('what').textContent="
    "g.querySelector('title').textContent;});});\n"
    "function search(){const q=prompt('Search (regular expression)','');if(q===null)return;\n"
    " let re=null;try{re=q?new RegExp(q,'i'):null;}catch(e){alert(e.message);return;}\n"
    " let last=-1,sum=0;for(const g of frames){const hit=re&&re.test(g.dataset.n);\n"
    "  g.classList.toggle('hit',!!hit);const x=num(g,'x');\n"
    "  if(hit&&x>=last-1e-9){sum+=num(g,'w');last=x+num(g,'w');}}\n"
    " document.getElementById('found').textContent=re?'matched '+(100*sum/W).toFixed(1)+' %':'';}\n"
    "document.getElementById('search').addEventListener('click',search);\n"
    "document.getElementById('reset').addEventListener('click',()=>zoom(frames[0]));\n"
    "window.addEventListener('keydown',e=>{if(e.ctrlKey&&e.key==='f'){e.preventDefault();search();}"
    "if(e.key==='Escape')zoom(frames[0]);});\n"
    "zoom(frames[0]);\n]]></script>\n";

static void begin_picture(const struct pythia_flame_options *o, uint32_t rows,
                          struct pythia_buf *to)
{
    unsigned long height = HEAD + (unsigned long)rows * ROW + 8;
    pythia_buf_printf(to,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
                      "xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 %lu\" "
                      "width=\"1200\" height=\"%lu\" font-family=\"ui-monospace, monospace\" "
                      "font-size=\"11\">\n<title>",
                      height, height);
    pythia_shown_markup(to, pythia_text_of(o->title));
    pythia_buf_puts(to, "</title>\n<style>rect{stroke:#fff;stroke-width:.5}"
                        "text{pointer-events:none;fill:#111}.f{cursor:pointer}"
                        ".f:hover rect,.f:focus rect{stroke:#000;stroke-width:1}.up{opacity:.5}"
                        ".hit rect{fill:#c05bd6}.b{pointer-events:auto;cursor:pointer;fill:#2455a4}"
                        "</style>\n<rect width=\"1200\" height=\"100%\" fill=\"#fff\"/>\n"
                        "<text x=\"6\" y=\"18\" font-size=\"14\">");
    pythia_shown_markup(to, pythia_text_of(o->title));
    pythia_buf_puts(to,
                    "</text>\n<text id=\"search\" class=\"b\" x=\"1140\" y=\"18\">Search</text>\n"
                    "<text id=\"reset\" class=\"b\" x=\"1070\" y=\"18\" "
                    "style=\"display:none\">Show all</text>\n<text id=\"found\" x=\"1060\" "
                    "y=\"38\"></text>\n<text id=\"what\" x=\"6\" y=\"38\"></text>\n");
}

/* Names get one of twelve warm colours by their bytes, the same in each picture. In a comparison
 * white is no change, red is more, blue less; full colour from a change of a tenth of the whole. */
static void add_colour(const struct frame *frame, const struct frame *root, bool diff,
                       struct pythia_buf *to)
{
    if (!diff) {
        unsigned hash = 5381;
        for (size_t i = 0; i < frame->name.size; i++)
            hash = hash * 33 + (unsigned char)frame->name.bytes[i];
        pythia_buf_printf(to, "hsl(%u,78%%,%u%%)", 18 + hash % 12 * 3, 62 + hash / 12 % 4 * 3);
        return;
    }
    double scale = root->all[0] > root->all[1] ? root->all[0] : root->all[1];
    double change = scale > 0 ? (frame->all[1] - frame->all[0]) / scale : 0;
    double strength = fmin(fabs(change) / .1, 1);
    pythia_buf_printf(to, "hsl(%d,85%%,%.0f%%)", change > 0 ? 5 : 212, 95 - 35 * strength);
}

static void add_svg_number(double value, const struct pythia_flame_options *o,
                           struct pythia_buf *to)
{
    pythia_buf_printf(to, "%.*f %s", value / o->scale < 100 ? 3 : 0, value / o->scale, o->unit);
}

static void draw_frame(const struct frame *frame, const struct frame *root, double x, double width,
                       uint32_t depth, const struct pythia_flame_options *o, struct pythia_buf *to)
{
    int side = o->diff;
    unsigned y = HEAD + depth * ROW;
    pythia_buf_printf(to,
                      "<g class=\"f\" tabindex=\"0\" data-x=\"%.3f\" data-w=\"%.3f\" "
                      "data-d=\"%u\" data-n=\"",
                      x, width, depth);
    pythia_shown_markup(to, frame->name);
    pythia_buf_puts(to, "\"><title>");
    pythia_shown_markup(to, frame->name);
    pythia_buf_puts(to, ": ");
    add_svg_number(frame->all[side], o, to);
    pythia_buf_printf(to, ", %.1f %%", 100 * frame->all[side] / root->all[side]);
    if (o->diff) {
        pythia_buf_puts(to, "; before ");
        add_svg_number(frame->all[0], o, to);
    }
    pythia_buf_printf(to, "</title><rect x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%d\" fill=\"",
                      x, y, fmax(width - .5, .1), ROW - 1);
    add_colour(frame, root, o->diff, to);
    size_t fits = width > 24 ? (size_t)((width - 6) / 6.6) : 0;
    pythia_buf_printf(to, "\"/><text x=\"%.3f\" y=\"%u\">", x + 3, y + 12);
    struct pythia_text shown = frame->name;
    if (shown.size > fits)
        shown.size = 0; /* bytes are no columns: the script shortens names by characters */
    pythia_shown_markup(to, shown);
    pythia_buf_puts(to, "</text></g>\n");
}

struct placed {
    uint32_t frame, depth;
    double x;
};

/* In a comparison the widths are those of the second side: what is there now. */
static int draw_frames(const struct pythia_flame *f, const struct pythia_flame_options *o,
                       uint32_t *rows, struct pythia_buf *to)
{
    const struct frame *root = &f->frames[0];
    int side = o->diff;
    double pixels = root->all[side] > 0 ? WIDTH / root->all[side] : 0;
    struct placed *stack = NULL;
    size_t count = 0, capacity = 0;
    if (pythia_grow(&stack, &capacity, count, sizeof(*stack)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    stack[count++] = (struct placed){0, 0, 0};
    while (count > 0) {
        struct placed p = stack[--count];
        const struct frame *frame = &f->frames[p.frame];
        double width = frame->all[side] * pixels, x = p.x;
        if (width < NARROWEST)
            continue;
        *rows = p.depth + 1 > *rows ? p.depth + 1 : *rows;
        draw_frame(frame, root, p.x, width, p.depth, o, to);
        for (uint32_t at = frame->first_child; at != NONE; at = f->frames[at].next_sibling) {
            if (pythia_grow(&stack, &capacity, count, sizeof(*stack)) != PYTHIA_OK) {
                pythia_free(stack);
                return PYTHIA_ENOMEM;
            }
            stack[count++] = (struct placed){at, p.depth + 1, x};
            x += f->frames[at].all[side] * pixels;
        }
    }
    pythia_free(stack);
    return PYTHIA_OK;
}

int pythia_flame_svg(const struct pythia_flame *f, const struct pythia_flame_options *o,
                     struct pythia_buf *to)
{
    struct pythia_buf frames = {0};
    uint32_t rows = 0;
    int status = draw_frames(f, o, &rows, &frames);
    if (status != PYTHIA_OK || (status = pythia_buf_status(&frames)) != PYTHIA_OK)
        goto out;
    begin_picture(o, rows, to);
    if (rows == 0)
        pythia_buf_puts(to, "<text x=\"6\" y=\"60\">There is no time to show.</text>\n");
    pythia_buf_text_add(to, pythia_buf_text(&frames));
    if (rows > 0)
        pythia_buf_puts(to, script);
    pythia_buf_puts(to, "</svg>\n");
    status = pythia_buf_status(to);
out:
    pythia_buf_free(&frames);
    return status;
}
