/* How much memory may be used, in made-up machines that are folders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "shared/machine.h"

static char root[256];

/* Write a file and the folders that it is in. */
static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int begin(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%s/machine-XXXXXX", folder ? folder : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    char command[512];
    snprintf(command, sizeof(command), "rm -r '%s'", root);
    return system(command);
}

static void without_cgroups_it_is_the_physical_memory(void **state)
{
    (void)state;
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(pythia__machine_memory(root), physical);
    put("proc/self/cgroup", "0::/system.slice/pythiad.service\nnonsense\n");
    put("sys/fs/cgroup/system.slice/pythiad.service/memory.max", "max\n");
    assert_int_equal(pythia__machine_memory(root), physical);
}

static void the_least_limit_above_holds(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/system.slice/pythiad.service\n");
    put("sys/fs/cgroup/system.slice/pythiad.service/memory.max", "8388608\n");
    assert_int_equal(pythia__machine_memory(root), 8388608);
    put("sys/fs/cgroup/system.slice/memory.max", "4194304\n");
    assert_int_equal(pythia__machine_memory(root), 4194304);
}

static void a_container_sees_its_limit_at_the_top(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/docker/of/the/host\n");
    put("sys/fs/cgroup/memory.max", "2097152\n");
    assert_int_equal(pythia__machine_memory(root), 2097152);
}

static void version_1_has_a_controller(void **state)
{
    (void)state;
    put("proc/self/cgroup", "3:cpu,cpuacct:/other\n2:hugetlb,memory:/group\n1:memoryless:/no\n");
    put("sys/fs/cgroup/memory/group/memory.limit_in_bytes", "1048576\n");
    put("sys/fs/cgroup/memory/no/memory.limit_in_bytes", "4096\n");
    assert_int_equal(pythia__machine_memory(root), 1048576);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_cgroups_it_is_the_physical_memory, begin, end),
        cmocka_unit_test_setup_teardown(the_least_limit_above_holds, begin, end),
        cmocka_unit_test_setup_teardown(a_container_sees_its_limit_at_the_top, begin, end),
        cmocka_unit_test_setup_teardown(version_1_has_a_controller, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
