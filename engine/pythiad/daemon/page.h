/* The files of the page, which the build has put into the program. */
#ifndef PYTHIA_PYTHIAD_PAGE_H
#define PYTHIA_PYTHIAD_PAGE_H

#include "listen/http_server.h"

#define PYTHIA__PAGE_FOLDER "/page/"

/* Answer with the page for "/", with one of its files for a path below PYTHIA__PAGE_FOLDER, or with
 * 404. The files say nothing of what pythiad knows: the page asks for that, with a token where one
 * is needed, so whoever reaches the listener may have them. */
void pythia__page_handle(void *context, struct pythia__http_exchange *x);

#endif
