/* SPDX-License-Identifier: MIT */
/* runtime/engine/writer.h - what csaw_writer_write() does once it has the walks in host memory. */
#ifndef CSAW_ENGINE_WRITER_H
#define CSAW_ENGINE_WRITER_H

#include "runtime/base/status.h"

csaw_status csaw__writer_put(csaw_writer *writer, const csaw_walks *walks);

#endif
