// SPDX-License-Identifier: MIT
// fuzz/load_npz.cc - csaw_graph_load() with format "npz". Half of the inputs have the checksums of their stored members
// put right, or no change of an array would be seen.
#include <zlib.h>

#include <vector>

#include "load.h"

static uint64_t number_at(const std::vector<uint8_t> &zip, uint64_t at, int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; i++) value |= static_cast<uint64_t>(zip[at + i]) << 8 * i;
    return value;
}

// Of every entry of the central directory whose data stand as they are (APPNOTE.TXT of PKWARE, 4.3.7 and 4.3.12).
static void put_checksums_right(std::vector<uint8_t> &zip) {
    for (uint64_t entry = 0; entry + 46 <= zip.size(); entry++) {
        if (memcmp(&zip[entry], "PK\1\2", 4) != 0 || number_at(zip, entry + 10, 2) != 0) continue;
        const uint64_t local = number_at(zip, entry + 42, 4), bytes = number_at(zip, entry + 20, 4);
        if (local + 30 > zip.size()) continue;
        const uint64_t begin = local + 30 + number_at(zip, local + 26, 2) + number_at(zip, local + 28, 2);
        if (begin + bytes > zip.size()) continue;
        const uint32_t sum = static_cast<uint32_t>(crc32(0, zip.data() + begin, static_cast<uInt>(bytes)));
        memcpy(&zip[entry + 16], &sum, sizeof sum);
        memcpy(&zip[local + 14], &sum, sizeof sum);
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static std::vector<uint8_t> zip;
    if (size == 0) return 0;
    zip.assign(data + 1, data + size);
    if (!(data[0] & 32)) put_checksums_right(zip);
    fuzz_the_file().write(zip.data(), zip.size());
    fuzz_load("npz", nullptr, data[0]);
    return 0;
}
