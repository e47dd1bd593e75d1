/* Where exported text goes: a file, a database, a picture, a collector. */
#ifndef PYTHIA_CLI_EXPORT_SINK_H
#define PYTHIA_CLI_EXPORT_SINK_H

#include "pythia/header_file.h"
#include "pythia/text.h"
#include "shared/output.h"

struct pythia_flame;
struct sqlite3;

enum pythia__sink_kind {
    PYTHIA__SINK_FILE,
    PYTHIA__SINK_DATABASE,  /* gets statements */
    PYTHIA__SINK_PICTURE,   /* gets folded stacks */
    PYTHIA__SINK_COLLECTOR, /* gets documents, a line each */
};

struct pythia__export_sink {
    enum pythia__sink_kind kind;
    const char *url;               /* of the collector */
    struct pythia_headers headers; /* of each request to it; owned by whoever has read them */
    struct pythia__output output;
    struct sqlite3 *database;
    struct pythia_flame *flame;
};

/* Begin to write, as the kind says, to a file (NULL or "-": stdout, but for a database) or to the
 * collector, which gets each text as a document of its own. _end comes after a failure, too. All
 * return PYTHIA_OK, PYTHIA_ENOMEM or, logged, PYTHIA_EIO. */
int pythia__export_sink_begin(struct pythia__export_sink *s, const char *path);
int pythia__export_sink_add(struct pythia__export_sink *s, struct pythia_text text);
/* If `status` is PYTHIA_OK, all has been added: put the file in its place; else leave none. */
int pythia__export_sink_end(struct pythia__export_sink *s, int status);

#endif
