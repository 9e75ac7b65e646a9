/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_pages.cu - see device_pages.h. Pages are locked in chunks, since a machine may refuse one
 * request for many GiB; a copy never crosses from one chunk to the next. What one plan locked, others hold, too: a page
 * is locked once in a process.
 *
 * The system may end a program that locks more than there is, so the host's memory is asked first. What it has left
 * still counts pages of files that are locked here by now, so these are taken off. */
#include "runtime/engine/device_pages.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "runtime/base/device_status.h"
#include "runtime/base/grow.h"
#include "runtime/base/host_memory.h"

namespace {

const uint64_t chunk_bytes = (uint64_t)1 << 30;

/* Whole pages, those that spans share once. Returns how many ranges. */
int pages_of(const csaw__span *span, int count, csaw__locked *range) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int ranges = 0;
    for (int i = 0; i < count; i++) {
        const uintptr_t begin = (uintptr_t)span[i].begin, end = begin + span[i].bytes;
        if (!span[i].bytes) continue;
        int at = ranges++; /* ascending */
        for (; at && range[at - 1].begin > begin; at--) range[at] = range[at - 1];
        range[at] = {begin / page * page, (end + page - 1) / page * page};
    }
    int merged = 0;
    for (int i = 0; i < ranges; i++) {
        if (merged && range[i].begin <= range[merged - 1].end)
            range[merged - 1].end = std::max(range[merged - 1].end, range[i].end);
        else
            range[merged++] = range[i];
    }
    return merged;
}

/* What is locked in this process, by how many. */
struct shared_chunk {
    csaw__locked pages;
    uint64_t users, of_files; /* of_files: bytes */
};
std::mutex lock_of_all;
std::vector<shared_chunk> all; /* ascending */

uint64_t taken_by(const csaw__locked &pages, uint64_t most) {
    return csaw__host_memory_locking_takes((const void *)pages.begin, pages.end - pages.begin, most);
}

/* Pages that may not be written to are locked for reading, where the driver can. */
cudaError_t lock(const csaw__locked &chunk) {
    void *const begin = (void *)chunk.begin;
    const size_t bytes = chunk.end - chunk.begin;
    const unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
    if (!csaw__alloc_allowed()) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaHostRegister(begin, bytes, flags);
    if (error == cudaSuccess) return error;
    cudaGetLastError(); /* a refused request does not stick */
    error = cudaHostRegister(begin, bytes, flags | cudaHostRegisterReadOnly);
    if (error != cudaSuccess) cudaGetLastError();
    return error;
}

/* The first chunk that ends behind the address. */
std::vector<shared_chunk>::iterator chunk_at(uintptr_t at) {
    return std::upper_bound(all.begin(), all.end(), at,
                            [](uintptr_t value, const shared_chunk &c) { return value < c.pages.end; });
}

/* The chunk that holds the page at `at`, made if there is none, up to `end` at most; *refused: it could not be. */
csaw__locked hold(uintptr_t at, uintptr_t end, bool *refused) {
    auto next = chunk_at(at);
    if (next != all.end() && next->pages.begin <= at) {
        next->users++;
        return next->pages;
    }
    if (next != all.end()) end = std::min(end, next->pages.begin);
    const csaw__locked fresh = {at, std::min<uintptr_t>(end, at + chunk_bytes)};
    *refused = lock(fresh) != cudaSuccess;
    if (!*refused) all.insert(next, {fresh, 1, taken_by(fresh, UINT64_MAX)});
    return fresh;
}

void let_go(const csaw__locked &chunk) {
    const auto found = chunk_at(chunk.begin);
    if (--found->users) return;
    cudaHostUnregister((void *)chunk.begin);
    all.erase(found);
}

/* Of the range, what nobody holds. */
uint64_t taken_beside(const csaw__locked &range, uint64_t most) {
    uint64_t taken = 0;
    uintptr_t at = range.begin;
    for (auto next = chunk_at(at); at < range.end && taken <= most; ++next) {
        const bool last = next == all.end() || next->pages.begin >= range.end;
        const uintptr_t end = last ? range.end : std::max(at, next->pages.begin);
        taken += taken_by({at, end}, most - taken);
        at = last ? end : next->pages.end;
    }
    return taken;
}

/* Whether the host's memory has room for them; it has, where the system does not tell. */
bool find_room(csaw__pages *pages, const csaw__locked *range, int ranges) {
    uint64_t left = csaw__host_memory_left("/proc", "/sys/fs/cgroup"), taken = 0;
    if (!left) return true;
    for (const shared_chunk &chunk : all) left -= std::min(left - 1, chunk.of_files);
    const uint64_t most = left - left / 8;
    for (int r = 0; r < ranges && taken <= most; r++) taken += taken_beside(range[r], most - taken);
    if (taken > most) pages->left = left;
    return taken <= most;
}

csaw_status hold_range(csaw__pages *pages, const csaw__locked &range) {
    for (uintptr_t at = range.begin; at < range.end;) {
        CSAW_TRY(CSAW__GROW(&pages->chunk, &pages->room, pages->count + 1, "a list of page-locked memory"));
        const csaw__locked chunk = hold(at, range.end, &pages->refused);
        if (pages->refused) return CSAW_OK;
        pages->chunk[pages->count++] = chunk;
        at = chunk.end;
    }
    return CSAW_OK;
}

void let_all_go(csaw__pages *pages) {
    for (uint64_t c = 0; c < pages->count; c++) let_go(pages->chunk[c]);
    csaw__free(pages->chunk);
    pages->chunk = nullptr;
    pages->count = pages->room = 0;
}

} // namespace

csaw_status csaw__pages_lock(csaw__pages *pages, const csaw__span *span, int count) {
    const std::lock_guard<std::mutex> guard(lock_of_all);
    csaw__locked range[CSAW__MOST_PIECES];
    const int ranges = pages_of(span, count, range);
    csaw_status status = CSAW_OK;
    *pages = {};
    pages->refused = !find_room(pages, range, ranges);
    for (int r = 0; r < ranges && status == CSAW_OK && !pages->refused; r++) status = hold_range(pages, range[r]);
    if (status != CSAW_OK || pages->refused) let_all_go(pages);
    return status;
}

void csaw__pages_unlock(csaw__pages *pages) {
    const std::lock_guard<std::mutex> guard(lock_of_all);
    let_all_go(pages);
    pages->refused = false;
}

csaw_status csaw__pages_copy(const csaw__pages *pages, const csaw__piece *piece, cudaStream_t stream) {
    uintptr_t from = (uintptr_t)piece->from;
    char *to = (char *)piece->to;
    for (uint64_t left = piece->bytes; left;) {
        const csaw__locked *const chunk =
            std::upper_bound(pages->chunk, pages->chunk + pages->count, from,
                             [](uintptr_t at, const csaw__locked &c) { return at < c.end; });
        const uint64_t now = std::min<uint64_t>(left, chunk->end - from);
        CSAW_CUDA(cudaMemcpyAsync(to, (const void *)from, now, cudaMemcpyHostToDevice, stream));
        from += now;
        to += now;
        left -= now;
    }
    return CSAW_OK;
}
