/* SPDX-License-Identifier: MIT */
/* runtime/engine/layer_exchange.h - layers of a batch whose rows come and go with their partitions. */
#ifndef CSAW_ENGINE_LAYER_EXCHANGE_H
#define CSAW_ENGINE_LAYER_EXCHANGE_H

#include "samplers/select/far_rounds.h"

/* An owner's: entries first .. end - 1 of the frontier. */
typedef struct csaw__far_layer {
    uint64_t first, end, arcs;
    uint32_t owner;
    double largest, scale; /* bias; of masses */
    csaw__far_choice choice;
} csaw__far_layer;

typedef enum csaw__layer_pass {
    CSAW__LARGEST, /* bias of a layer */
    CSAW__SUMS,    /* of the masses of an entry */
    CSAW__DRAWS    /* the arcs on which numbers fall */
} csaw__layer_pass;

/* Of one thread. Arrays grow as needed and are kept from batch to batch. */
typedef struct csaw__layer_exchange {
    csaw__layer_pass pass;
    csaw__far_layer *layer; /* [num_layers], by owner */
    uint32_t *of;           /* [owners] its layer, if that is exchanged */
    uint64_t *item;         /* [num_items] entries that are looked at in a pass */
    uint64_t *other;        /* [num_others] entries of layers that are not exchanged */
    uint64_t *upto;         /* [entries] sum of masses, then inclusive sums of each layer's */
    double *row;            /* biases of the row that is looked at */
    csaw__hit *hit;         /* these three: csaw__far_choice's of all layers, one behind the other */
    csaw__stretch *taken;
    uint32_t *open;
    uint64_t num_layers, num_items, num_others;
    uint64_t layer_room, of_room, item_room, other_room, upto_room, row_room, hit_room, taken_room, open_room;
} csaw__layer_exchange;

void csaw__layer_exchange_free(csaw__layer_exchange *exchange);

#endif
