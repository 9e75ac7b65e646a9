/* SPDX-License-Identifier: MIT */
/* runtime/base/host_memory.c - see host_memory.h. A group is bound by its own limit and by those of all above it, of
 * which a container sees some; so each folder between this process's and the root is looked at, if it is there. */
#include "runtime/base/host_memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

/* False: there is no such file, or it has no number ("max"). */
static bool read_number(const char *folder, const char *name, uint64_t *out) {
    char path[2 * LONGEST_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "r");
    if (!file) return false;
    const bool found = fscanf(file, "%" SCNu64, out) == 1;
    fclose(file);
    return found;
}

/* What groups leave, from `path` in `root` up to root itself; at most `left`. */
static uint64_t left_of_groups(const char *root, const char *path, const char *limit_name, const char *use_name,
                               uint64_t left) {
    char folder[LONGEST_PATH];
    uint64_t limit, used;
    snprintf(folder, sizeof folder, "%s%s", root, strcmp(path, "/") == 0 ? "" : path);
    while (strlen(folder) >= strlen(root)) {
        if (read_number(folder, limit_name, &limit) && read_number(folder, use_name, &used)) {
            const uint64_t here = limit > used ? limit - used : 0;
            left = here < left ? here : left;
        }
        *strrchr(folder, '/') = '\0';
    }
    return left;
}

static uint64_t available(const char *proc) {
    char path[LONGEST_PATH], line[256];
    uint64_t kib = 0;
    snprintf(path, sizeof path, "%s/meminfo", proc);
    FILE *const file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) break;
    if (file) fclose(file);
    return kib * 1024;
}

uint64_t csaw__host_memory_left(const char *proc, const char *cgroup) {
    char path[LONGEST_PATH], line[LONGEST_PATH], root[LONGEST_PATH];
    uint64_t left = available(proc);
    snprintf(path, sizeof path, "%s/self/cgroup", proc);
    FILE *const file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) { /* number:controllers:/path */
        line[strcspn(line, "\n")] = '\0';
        char *const controllers = strchr(line, ':');
        char *const at = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!at) continue;
        *at = '\0';
        if (controllers[1] == '\0') left = left_of_groups(cgroup, at + 1, "memory.max", "memory.current", left);
        if (strcmp(controllers + 1, "memory") != 0) continue; /* of version 1 */
        snprintf(root, sizeof root, "%.4000s/memory", cgroup);
        left = left_of_groups(root, at + 1, "memory.limit_in_bytes", "memory.usage_in_bytes", left);
    }
    if (file) fclose(file);
    return left;
}

/* What Linux tells of a page of this process: 8 bytes, in the order of addresses (admin-guide/mm/pagemap.rst). */
static const uint64_t is_present = (uint64_t)1 << 63, is_swapped = (uint64_t)1 << 62, is_of_file = (uint64_t)1 << 61;

uint64_t csaw__host_memory_locking_takes(const void *begin, uint64_t bytes, uint64_t most) {
    enum { AT_ONCE = 4096 };
    uint64_t entry[AT_ONCE], taken = 0;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = ((uintptr_t)begin + bytes + page - 1) / page;
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    for (uint64_t at = (uintptr_t)begin / page; at < end && taken <= most;) {
        const uint64_t count = end - at < AT_ONCE ? end - at : AT_ONCE;
        if (pread(file, entry, count * sizeof *entry, (off_t)(at * sizeof *entry)) != (ssize_t)(count * sizeof *entry))
            break;
        for (uint64_t i = 0; i < count; i++)
            taken += entry[i] & is_of_file || !(entry[i] & (is_present | is_swapped)) ? page : 0;
        at += count;
    }
    close(file);
    return taken;
}
