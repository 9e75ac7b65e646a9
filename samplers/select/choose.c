/* SPDX-License-Identifier: MIT */
/* samplers/select/choose.c - AUTO's table, and which methods a sampler allows.
 *
 * The choice is a function of the sampler's hooks, the graph's kind and the options alone, never of the machine, or
 * equal seeds would not give equal samples. Degree and k do not enter: docs/stream.md, "AUTO", has the figures. */
#include "samplers/select/choose.h"

#include <csaw/descriptor.h>

bool csaw__static_is_constant(uint32_t traits, bool graph_has_weights) {
    return !(traits & CSAW__TRAIT_STATIC) || ((traits & CSAW__TRAIT_WEIGHT) && !graph_has_weights);
}

bool csaw__kernel_has_alias(uint32_t kernel) {
    return kernel == CSAW__KERNEL_ALIAS || kernel == CSAW__KERNEL_REJECT_ALIAS;
}

const char *csaw_select_name(csaw_select select) {
    static const char *const name[] = {"auto", "uniform", "its", "alias", "reject", "race"};
    return (unsigned)select < sizeof name / sizeof *name ? name[select] : NULL;
}

static csaw_select automatic(uint32_t traits, bool constant) {
    if (!(traits & CSAW__TRAIT_EDGE)) return constant ? CSAW_SELECT_UNIFORM : CSAW_SELECT_ALIAS;
    return traits & CSAW__TRAIT_BOUNDS ? CSAW_SELECT_REJECT : CSAW_SELECT_ITS;
}

csaw_status csaw__choose_kernel(const char *sampler, uint32_t traits, bool graph_has_weights, csaw_select select,
                                bool replace, enum csaw__kernel *out) {
    const bool constant = csaw__static_is_constant(traits, graph_has_weights), dynamic = traits & CSAW__TRAIT_EDGE;
    const bool layer = traits >> CSAW__TRAIT_FLAGS & CSAW_LAYER;
    const bool distinct = traits >> CSAW__TRAIT_FLAGS & CSAW_LAYER_DISTINCT;
    if (layer && select == CSAW_SELECT_AUTO)
        select = constant && !dynamic && !distinct ? CSAW_SELECT_UNIFORM : CSAW_SELECT_ITS;
    CSAW_REQUIRE(!layer || select == CSAW_SELECT_ITS || (select == CSAW_SELECT_UNIFORM && !distinct), CSAW_EINVAL,
                 "selection '%s' does not pick from layers, but sampler '%s' does; use 'its'%s",
                 csaw_select_name(select), sampler, distinct ? "" : ", or 'uniform' if its arcs have equal bias");
    CSAW_REQUIRE(select != CSAW_SELECT_RACE || !replace, CSAW_EINVAL,
                 "selection 'race' picks without replacement, but sampler '%s' is to pick with replacement; use 'its'",
                 sampler);
    if (select == CSAW_SELECT_AUTO) select = automatic(traits, constant);
    switch (select) {
    case CSAW_SELECT_ITS: *out = CSAW__KERNEL_ITS; return CSAW_OK;
    case CSAW_SELECT_RACE: *out = CSAW__KERNEL_RACE; return CSAW_OK;
    case CSAW_SELECT_UNIFORM:
        CSAW_REQUIRE(!dynamic && constant, CSAW_EINVAL,
                     "selection 'uniform' needs arcs of equal bias, but sampler '%s' has %s; use %s", sampler,
                     dynamic ? "an edge_bias" : "a static_bias on this graph",
                     dynamic ? "'its', or 'reject' if it has bounds" : "'alias' or 'its'");
        *out = CSAW__KERNEL_UNIFORM;
        return CSAW_OK;
    case CSAW_SELECT_ALIAS:
        CSAW_REQUIRE(
            !dynamic, CSAW_EINVAL,
            "selection 'alias' needs biases that depend on the arc alone, but sampler '%s' has an edge_bias; use "
            "'its', or 'reject' if it has bounds",
            sampler);
        *out = constant ? CSAW__KERNEL_UNIFORM : CSAW__KERNEL_ALIAS;
        return CSAW_OK;
    case CSAW_SELECT_REJECT:
        CSAW_REQUIRE(dynamic && (traits & CSAW__TRAIT_BOUNDS), CSAW_EINVAL,
                     "selection 'reject' needs an edge_bias with bounds, but sampler '%s' has %s; use %s", sampler,
                     dynamic ? "no bounds" : "no edge_bias", dynamic ? "'its', or add the bounds hook" : "'auto'");
        *out = constant ? CSAW__KERNEL_REJECT : CSAW__KERNEL_REJECT_ALIAS;
        return CSAW_OK;
    case CSAW_SELECT_AUTO: break;
    }
    return csaw__fail(CSAW_EINVAL, "selection %d is not one of 0 .. %d (auto, uniform, its, alias, reject, race)",
                      (int)select, CSAW_SELECT_RACE);
}
