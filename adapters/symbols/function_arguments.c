/* The System V ABI passes the first six integers and addresses in registers, in the order in which
 * a function declares them, whatever floats are between. A structure by value is passed in pieces,
 * by what its members are, so nothing behind one is numbered; and a large one that is returned
 * takes the first register. */
#include "pythia/function_arguments.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pythia/late_library.h"
#include "pythia/status.h"

static struct {
    __typeof__(dwfl_begin) *begin;
    __typeof__(dwfl_end) *end;
    __typeof__(dwfl_report_begin_add) *report_begin_add;
    __typeof__(dwfl_report_offline) *report_offline;
    __typeof__(dwfl_report_end) *report_end;
    __typeof__(dwfl_module_nextcu) *module_nextcu;
    __typeof__(dwfl_standard_find_debuginfo) *find_debuginfo;
    __typeof__(dwfl_offline_section_address) *section_address;
    __typeof__(dwarf_getfuncs) *getfuncs;
    __typeof__(dwarf_diename) *diename;
    __typeof__(dwarf_tag) *tag;
    __typeof__(dwarf_child) *child;
    __typeof__(dwarf_siblingof) *siblingof;
    __typeof__(dwarf_attr_integrate) *attr_integrate;
    __typeof__(dwarf_formref_die) *formref_die;
    __typeof__(dwarf_formstring) *formstring;
    __typeof__(dwarf_formudata) *formudata;
    __typeof__(dwarf_peel_type) *peel_type;
    __typeof__(dwarf_aggregate_size) *aggregate_size;
} dw;

static bool load_libdw(void)
{
    const struct pythia_late_function functions[] = {
        {"dwfl_begin", &dw.begin},
        {"dwfl_end", &dw.end},
        {"dwfl_report_begin_add", &dw.report_begin_add},
        {"dwfl_report_offline", &dw.report_offline},
        {"dwfl_report_end", &dw.report_end},
        {"dwfl_module_nextcu", &dw.module_nextcu},
        {"dwfl_standard_find_debuginfo", &dw.find_debuginfo},
        {"dwfl_offline_section_address", &dw.section_address},
        {"dwarf_getfuncs", &dw.getfuncs},
        {"dwarf_diename", &dw.diename},
        {"dwarf_tag", &dw.tag},
        {"dwarf_child", &dw.child},
        {"dwarf_siblingof", &dw.siblingof},
        {"dwarf_attr_integrate", &dw.attr_integrate},
        {"dwarf_formref_die", &dw.formref_die},
        {"dwarf_formstring", &dw.formstring},
        {"dwarf_formudata", &dw.formudata},
        {"dwarf_peel_type", &dw.peel_type},
        {"dwarf_aggregate_size", &dw.aggregate_size},
    };
    unsetenv("DEBUGINFOD_URLS"); /* of which libdw would ask servers */
    return pythia_late_load(PYTHIA_DW_LIBRARY, false, functions,
                            sizeof(functions) / sizeof(functions[0]));
}

struct reading {
    bool (*wanted)(const void *context, const char *name);
    const void *context;
    int (*each)(void *to, const char *name, const struct pythia_function_argument *arguments,
                size_t count);
    void *to;
    int status;
};

/* How a value is passed, and what a register holds of it. */
enum passing { PASSED_AS_INT, PASSED_AS_WORD, PASSED_AS_TEXT, PASSED_AS_FLOAT, PASSED_OTHERWISE };

/* The type of a DIE, without typedef, const and the like. False: it has none (void). */
static bool find_type(Dwarf_Die *of, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die named;
    return dw.attr_integrate(of, DW_AT_type, &attribute) && dw.formref_die(&attribute, &named) &&
           dw.peel_type(&named, type) == 0;
}

static Dwarf_Word find_encoding(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    return dw.attr_integrate(type, DW_AT_encoding, &attribute) &&
                   dw.formudata(&attribute, &encoding) == 0
               ? encoding
               : 0;
}

static bool is_char(Dwarf_Die *type)
{
    Dwarf_Word encoding = dw.tag(type) == DW_TAG_base_type ? find_encoding(type) : 0;
    return encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
}

static enum passing find_passing(Dwarf_Die *type)
{
    Dwarf_Die to;
    Dwarf_Word size = 0, encoding;
    switch (dw.tag(type)) {
    case DW_TAG_pointer_type:
        return find_type(type, &to) && is_char(&to) ? PASSED_AS_TEXT : PASSED_AS_WORD;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return PASSED_AS_WORD;
    case DW_TAG_enumeration_type:
    case DW_TAG_base_type:
        encoding = find_encoding(type);
        if (dw.aggregate_size(type, &size) != 0 || size == 0 || size > 8 ||
            encoding == DW_ATE_complex_float)
            return PASSED_OTHERWISE;
        if (encoding == DW_ATE_float)
            return PASSED_AS_FLOAT;
        return size <= 4 ? PASSED_AS_INT : PASSED_AS_WORD;
    default:
        return PASSED_OTHERWISE;
    }
}

/* Number the arguments of a function. */
static size_t list_arguments(Dwarf_Die *function,
                             struct pythia_function_argument out[PYTHIA_FUNCTION_ARGUMENTS_MAX])
{
    Dwarf_Die die, type;
    uint8_t number = 0;
    size_t count = 0;
    if ((find_type(function, &type) && find_passing(&type) == PASSED_OTHERWISE) ||
        dw.child(function, &die) != 0)
        return 0;
    do {
        if (dw.tag(&die) != DW_TAG_formal_parameter)
            continue;
        enum passing passing = find_type(&die, &type) ? find_passing(&type) : PASSED_OTHERWISE;
        const char *name = dw.diename(&die);
        if (passing == PASSED_OTHERWISE || number == PYTHIA_FUNCTION_ARGUMENTS_MAX)
            break;
        if (passing == PASSED_AS_FLOAT)
            continue;
        if (name)
            out[count++] = (struct pythia_function_argument){.name = name,
                                                             .number = number,
                                                             .is_int = passing == PASSED_AS_INT,
                                                             .text = passing == PASSED_AS_TEXT};
        number++;
    } while (dw.siblingof(&die, &die) == 0);
    return count;
}

/* The name of the symbol: that of C++ is mangled. */
static const char *find_symbol_name(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *linkage = dw.attr_integrate(function, DW_AT_linkage_name, &attribute)
                              ? dw.formstring(&attribute)
                              : NULL;
    return linkage ? linkage : dw.diename(function);
}

static int visit_function(Dwarf_Die *function, void *context)
{
    struct reading *r = context;
    struct pythia_function_argument arguments[PYTHIA_FUNCTION_ARGUMENTS_MAX];
    const char *name = find_symbol_name(function);
    if (!name || !r->wanted(r->context, name))
        return DWARF_CB_OK;
    size_t count = list_arguments(function, arguments);
    if (count > 0)
        r->status = r->each(r->to, name, arguments, count);
    return r->status < 0 ? DWARF_CB_ABORT : DWARF_CB_OK;
}

int pythia_function_arguments_read(const char *path,
                                   bool (*wanted)(const void *context, const char *name),
                                   const void *context,
                                   int (*each)(void *to, const char *name,
                                               const struct pythia_function_argument *arguments,
                                               size_t count),
                                   void *to, struct pythia_error *e)
{
    static Dwfl_Callbacks callbacks; /* libdw keeps the address */
    struct reading r = {wanted, context, each, to, PYTHIA_OK};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return pythia_error_set(e, PYTHIA_EIO, "%s", strerror(errno));
    close(file);
    if (!load_libdw())
        return pythia_error_set(e, PYTHIA_EIO, "libdw of elfutils is not installed");
    callbacks.find_debuginfo = dw.find_debuginfo;
    callbacks.section_address = dw.section_address;
    Dwfl *dwfl = dw.begin(&callbacks);
    if (!dwfl)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    dw.report_begin_add(dwfl);
    Dwfl_Module *module = dw.report_offline(dwfl, path, path, -1);
    dw.report_end(dwfl, NULL, NULL);
    Dwarf_Addr bias;
    for (Dwarf_Die *unit = NULL; module && r.status >= 0;) {
        unit = dw.module_nextcu(module, unit, &bias);
        if (!unit)
            break;
        (void)dw.getfuncs(unit, visit_function, &r, 0);
    }
    dw.end(dwfl);
    if (!module)
        return pythia_error_set(e, PYTHIA_EIO, "it is no program or library");
    return r.status < 0 ? r.status : PYTHIA_OK;
}
