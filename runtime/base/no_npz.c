/* SPDX-License-Identifier: MIT */
/* runtime/base/no_npz.c - what a build without libzip answers to those who load a scipy.sparse file. */
#include "runtime/base/load_formats.h"

csaw_status csaw__npz_read(const char *path, const char *bytes, uint64_t count, csaw__edge_list *list) {
    (void)bytes, (void)count, (void)list;
    return csaw__fail(CSAW_EUNSUPPORTED,
                      "%s: is an npz file, and this csaw was built without libzip; install libzip and "
                      "build again, or save the matrix as MatrixMarket (scipy.io.mmwrite)",
                      path);
}
