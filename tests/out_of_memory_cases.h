/* SPDX-License-Identifier: MIT */
/* tests/out_of_memory_cases.h - plans on a simulated device, and a look inside at what it was asked to do. */
#ifndef CSAW_OUT_OF_MEMORY_CASES_H
#define CSAW_OUT_OF_MEMORY_CASES_H

#include "runtime/engine/parts.h"
#include "tests/sample_equality.h"

namespace out_of_memory {

using reference::Library;

inline csaw_plan_options simulated(int partitions, int resident) {
    csaw_plan_options out = reference::plan_on("simulated", 1, partitions);
    out.resident = resident;
    return out;
}

// 1, 2, 4, 17 partitions, of which 1, 2, all are resident.
inline std::vector<csaw_plan_options> plans() {
    std::vector<csaw_plan_options> out;
    for (int partitions : {1, 2, 4, 17})
        for (int resident : {1, 2, 0})
            if (resident < partitions) out.push_back(simulated(partitions, resident));
    return out;
}

inline csaw__parts *inside(const Library &library) { return library.get()->parts; }

inline csaw__parts *inside(const csaw_plan *plan) { return plan->parts; }

using equality::rmat;

inline csaw_plan_options in_memory(uint64_t bytes) {
    csaw_plan_options out = reference::plan_on("simulated", 1, 0);
    out.gpu_memory = bytes;
    return out;
}

} // namespace out_of_memory

#endif
