// SPDX-License-Identifier: MIT
// fuzz/load_csaw.cc - csaw_graph_load() with format "csaw", and csaw_graph_verify_file(). Zeros fill the pages of a
// .csaw file, and checksums refuse any change, so an input is a model of a file: a byte of bits, the header's first
// bytes with room for nine sections, then the first bytes of every other page. The bits say which of the values that
// depend on others stay as they are; all others are put right.
#include <algorithm>

#include "load.h"
#include "runtime/base/checksum.h"
#include "runtime/base/csaw_layout.h"

namespace {

enum { KEEP_HEADER_CHECKSUM = 1, KEEP_SECTION_CHECKSUMS = 2, KEEP_FILE_BYTES = 4, KEEP_GRAPH_CHECKSUM = 8 };
enum { HEADER_BYTES = 72 + 9 * 32, PAGE_BYTES = 64, MAX_PAGES = 16, PAGE = CSAW__FILE_PAGE };

union {
    csaw__file_header header;
    uint8_t byte[(1 + MAX_PAGES) * PAGE];
} image;

size_t expand(const uint8_t *model, size_t size) {
    const size_t wanted = size <= HEADER_BYTES ? 0 : (size - HEADER_BYTES + PAGE_BYTES - 1) / PAGE_BYTES;
    const size_t pages = std::min<size_t>(wanted, MAX_PAGES);
    size_t used = std::min<size_t>(size, HEADER_BYTES), last = PAGE;
    memset(&image, 0, (1 + pages) * PAGE);
    memcpy(image.byte, model, used);
    for (size_t page = 1; page <= pages; page++, used += last) {
        last = std::min<size_t>(size - used, PAGE_BYTES);
        memcpy(image.byte + page * PAGE, model + used, last);
    }
    return pages * PAGE + (last < PAGE_BYTES ? last : PAGE); // a file ends with its last section
}

void put_sections_right(size_t file_bytes) {
    for (uint64_t s = 0; s < std::min<uint64_t>(image.header.num_sections, CSAW__FILE_SECTIONS); s++) {
        csaw__file_section *section = &image.header.section[s];
        if (section->offset <= file_bytes && section->bytes <= file_bytes - section->offset)
            section->checksum = csaw__checksum(image.byte + section->offset, section->bytes);
    }
}

void write_file(uint8_t bits, size_t file_bytes) {
    if (!(bits & KEEP_HEADER_CHECKSUM))
        image.header.checksum = csaw__xxh64(&image.header, sizeof image.header - sizeof image.header.checksum);
    fuzz_the_file().write(&image, file_bytes);
}

csaw_graph *load() {
    csaw_graph *graph = nullptr;
    csaw_load_options options = {};
    options.size = sizeof options;
    options.format = "csaw";
    return csaw_graph_load(fuzz_the_file().path.c_str(), &options, &graph) == CSAW_OK ? graph : nullptr;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const size_t file_bytes = expand(data + 1, size - 1);
    if (!(data[0] & KEEP_FILE_BYTES)) image.header.file_bytes = file_bytes;
    if (!(data[0] & KEEP_SECTION_CHECKSUMS)) put_sections_right(file_bytes);
    write_file(data[0], file_bytes);
    csaw_graph *graph = load();
    if (!graph) return 0;
    const uint64_t checksum = csaw__graph_checksum(graph);
    csaw_graph_free(graph);
    if (!(data[0] & KEEP_GRAPH_CHECKSUM) && checksum != image.header.graph_checksum) {
        image.header.graph_checksum = checksum;
        write_file(data[0], file_bytes);
    }
    if (csaw_graph_verify_file(fuzz_the_file().path.c_str()) != CSAW_OK) return 0;
    graph = load();
    if (!graph) abort();
    fuzz_check(graph);
    csaw_graph_free(graph);
    return 0;
}
