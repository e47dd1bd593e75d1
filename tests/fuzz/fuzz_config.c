/* Settings in YAML: whatever it is, they are read, or it is told in which line and why not; what
 * was read can be checked, and read again gives the same. */
#include <string.h>

#include "fuzz.h"
#include "pythia/status.h"
#include "shared/settings.h"

static int read_once(const uint8_t *bytes, size_t size, struct pythia__settings *s,
                     struct pythia_config **c, struct pythia_error *e)
{
    *s = (struct pythia__settings){0};
    pythia_options_default(pythia__settings_table, s);
    MUST(pythia_config_create(pythia__settings_table, c) == PYTHIA_OK);
    return pythia_config_parse(*c, "settings", (const char *)bytes, size, s, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia__settings s, again;
    struct pythia_config *c, *other;
    struct pythia_error e = {0}, why = {0};
    int status = read_once(bytes, size, &s, &c, &e);
    MUST(status == PYTHIA_OK || status == PYTHIA_EFORMAT || status == PYTHIA_EUSAGE);
    MUST(status == e.status);
    if (status != PYTHIA_OK) {
        MUST(e.line >= 1 && e.line <= size + 2);
        MUST(strcmp(e.source, "settings") == 0);
        MUST(strncmp(e.sentence, "column ", 7) == 0);
    }
    MUST(read_once(bytes, size, &again, &other, &why) == status);
    MUST(strcmp(e.sentence, why.sentence) == 0 && e.line == why.line);
    MUST(s.connections == again.connections && s.body_max == again.body_max &&
         s.always.count == again.always.count);
    MUST(s.connections >= 1 && s.connections <= 65536);
    if (status == PYTHIA_OK) {
        pythia_error_clear(&why);
        /* Names are not looked up: what is listened at is left as it was. */
        s.otlp_grpc = s.otlp_http = s.zipkin = s.control = "off";
        s.control_socket = NULL;
        status = pythia__settings_check(&s, &why);
        MUST(status == PYTHIA_OK || (status == PYTHIA_EUSAGE && why.sentence[0]));
    }
    pythia_config_destroy(c);
    pythia_config_destroy(other);
    return 0;
}
