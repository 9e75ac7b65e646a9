/* SPDX-License-Identifier: MIT */
/* tests/data_folder.h - the optional folder of real graphs. */
#ifndef CSAW_TESTS_DATA_FOLDER_H
#define CSAW_TESTS_DATA_FOLDER_H

#include <cstdlib>

/* As CSAW_DATA names it; NULL: it is not set, or empty. */
inline const char *data_folder() {
    const char *const folder = std::getenv("CSAW_DATA");
    return folder && *folder ? folder : nullptr;
}

#endif
