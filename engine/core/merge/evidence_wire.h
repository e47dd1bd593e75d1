/* The numbers of fields in a file of evidence. pythia-evidence(5) says what they hold; the files
 * that write and read them agree here. */
#ifndef PYTHIA_CORE_EVIDENCE_WIRE_H
#define PYTHIA_CORE_EVIDENCE_WIRE_H

/* The first line of a file, before the version and a line break. Only the rest is compressed, so
 * that any version can be told by name. */
#define PYTHIA__EVIDENCE_MAGIC   "pythia evidence "
#define PYTHIA__EVIDENCE_VERSION 2

/* Times and values in a message of rows, unless it is of one row: a reader holds them all. */
#define PYTHIA__EVIDENCE_ROWS_MAX ((size_t)1 << 20)

enum pythia__evidence_field {
    EVIDENCE_HEADER = 1,
    EVIDENCE_POINT = 2,
    EVIDENCE_KEY = 3,
    EVIDENCE_TYPE = 4,
    EVIDENCE_ROWS = 5, /* of the type before */
};

enum pythia__evidence_header {
    HEADER_SETTINGS = 1,
    HEADER_ROWS = 2,
    HEADER_FOLD = 3,
    HEADER_INPUT = 4,
    HEADER_PATH = 5,
    HEADER_COUNT = 6,
    HEADER_LOOP_PASSES = 7,
    HEADER_LOOP_NS = 8,
};

enum pythia__evidence_input {
    INPUT_ID = 1,
    INPUT_SOURCE = 2,
};

enum pythia__evidence_path {
    PATH_PREFIX = 1,
    PATH_TEMPLATE = 2,
};

enum pythia__evidence_count {
    COUNT_NAME = 1,
    COUNT_NUMBER = 2,
};

enum pythia__evidence_point {
    POINT_ID = 1,
    POINT_SERVICE = 2,
    POINT_NAME = 3,
    POINT_PASSES = 4, /* only if its cost is measured */
    POINT_NS = 5,
};

enum pythia__evidence_key {
    KEY_ATTRIBUTE = 1,
    KEY_POINT = 2, /* its place among the points, from 1 */
    KEY_SERVICE = 3,
};

enum pythia__evidence_type {
    TYPE_NAME = 1,
    TYPE_PATH = 2, /* instead of a name: its place among the paths, from 1 */
    TYPE_MOMENTS = 3,
    TYPE_CLIENT = 4,
    TYPE_SKETCH = 5,
    TYPE_HEAVIEST = 6,
    TYPE_LEVELS = 7, /* only if there are too many structures */
    TYPE_STRUCTURE = 8,
};

enum pythia__evidence_structure {
    STRUCTURE_LEVEL = 1,
    STRUCTURE_NAME = 2,
    STRUCTURE_WHOLE = 3,
    STRUCTURE_MOMENTS = 4, /* without: those of the type, and its sketch */
    STRUCTURE_SKETCH = 5,
};

enum pythia__evidence_sketch {
    SKETCH_MIN = 1,
    SKETCH_MAX = 2,
    SKETCH_BINS = 3,
};

enum pythia__evidence_rows {
    ROWS_EVENTS = 1,
    ROWS_IDS = 2,
    ROWS_WEIGHTS = 3, /* without: all 1 */
    ROWS_STARTS = 4,
    ROWS_CLIENT = 5,
    ROWS_TIMES = 6,
    ROWS_VALUES = 7,
};

enum pythia__evidence_values {
    VALUES_KEY = 1,     /* its place among the keys, from 0 */
    VALUES_PRESENT = 2, /* a bit for each row; without: all have it */
    VALUES_TEXT = 3,
    VALUES_CODES = 4, /* without: all are numbers */
    VALUES_WHOLE = 5,
    VALUES_REAL = 6,
};

#endif
