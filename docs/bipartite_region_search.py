#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/bipartite_region_search.py - prints the table of bipartite-region-search.md, and draws its picture.

    python3 docs/bipartite_region_search.py docs/bipartite-region-search.svg

Method: no sampling. The law of one pick after the candidates of `taken` is computed from the lengths of what leads to
each candidate, in rational numbers; the law of k picks by enumeration. The laws that are compared: successive sampling,
the search as printed, ours, and ours with the picks put in the order of their slots (floating point, 8 rounds)."""
import sys
from fractions import Fraction
from itertools import product

EXAMPLES = [
    ("3, 6, 2, 2, 2", 2, [3, 6, 2, 2, 2]),  # C-SAW, figure 1
    ("100, 10, 5, 3, 2, 1, 1", 3, [100, 10, 5, 3, 2, 1, 1]),
    ("1, 2, 3, 4, 5, 6", 3, [1, 2, 3, 4, 5, 6]),
    ("1, 2, 4, 8, 16, 32", 3, [1, 2, 4, 8, 16, 32]),
    ("1, 1, 1, 1, 1, 1", 3, [1] * 6),
    ("1000, 1000, 1, 1, 1, 1", 3, [1000, 1000, 1, 1, 1, 1]),
]


def borders(p):
    out = [Fraction(0)]
    for share in p:
        out.append(out[-1] + share)
    return out


def region_of(edge, r):
    return max(i for i in range(len(edge) - 1) if edge[i] <= r)


def successive(p, taken):
    return [Fraction(0) if i in taken else share for i, share in enumerate(p)]


def printed(p, taken):
    """r' hits the taken region (l, h) of width delta: r = r' * (1 - delta), plus delta if that is not below l."""
    edge, out = borders(p), successive(p, taken)
    for s in taken:
        low, high, delta = edge[s], edge[s + 1], p[s]
        bends = [b / (1 - delta) for b in edge] + [(b - delta) / (1 - delta) for b in edge]
        cuts = sorted({low, high} | {b for b in bends if low < b < high})
        for a, b in zip(cuts, cuts[1:]):
            r = (a + b) / 2 * (1 - delta)
            other = region_of(edge, r + delta if r >= low else r)
            if other not in taken:
                out[other] += b - a
    return out


def ours(p, taken):
    """A second number, uniform on what is outside the taken region."""
    out = successive(p, taken)
    for s in taken:
        for i, share in enumerate(p):
            if i not in taken:
                out[i] += p[s] * share / (1 - p[s])
    return out


def law_of_sequences(bias, k, pick):
    p = [Fraction(b, sum(bias)) for b in bias]
    trials = Fraction(0)
    heads = {(): Fraction(1)}
    for _ in range(k):
        longer = {}
        for head, probability in heads.items():
            next_one = pick(p, set(head))
            total = sum(next_one)
            trials += probability / total
            for i, share in enumerate(next_one):
                if share:
                    longer[head + (i,)] = probability * share / total
        heads = longer
    return heads, trials / k


def repeated(p, taken):
    return successive(p, taken)


def slot_order(bias, k, rounds=8):
    """Ours, round by round; the picks by slot. State: which slot has which candidate."""
    p = [b / sum(bias) for b in bias]
    states = {(None,) * k: 1.0}
    for _ in range(rounds):
        after = {}
        for state, probability in states.items():
            taken = {c for c in state if c is not None}
            one = [float(x) for x in ours([Fraction(b, sum(bias)) for b in bias], taken)]
            trial = [(c, x) for c, x in enumerate(one) if x] + [(None, 1 - sum(one))]
            open_slots = [s for s in range(k) if state[s] is None]
            for outcome in product(trial, repeat=len(open_slots)):
                chance, then, now = probability, list(state), set()
                for slot, (candidate, x) in zip(open_slots, outcome):
                    chance *= x
                    if candidate is not None and candidate not in now:
                        then[slot] = candidate
                        now.add(candidate)
                if chance > 0:
                    after[tuple(then)] = after.get(tuple(then), 0.0) + chance
        states = after
    done = {}
    while states:
        state, probability = states.popitem()
        if None not in state:
            done[state] = done.get(state, 0.0) + probability
            continue
        slot, left = state.index(None), sum(x for c, x in enumerate(p) if c not in state)
        for c, x in enumerate(p):
            if c not in state:
                then = state[:slot] + (c,) + state[slot + 1:]
                states[then] = states.get(then, 0.0) + probability * x / left
    return done


def of_sets(law):
    out = {}
    for sequence, probability in law.items():
        key = frozenset(sequence)
        out[key] = out.get(key, 0) + probability
    return out


def distance(a, b):
    return float(sum(abs(a.get(x, 0) - b.get(x, 0)) for x in set(a) | set(b)) / 2)


def svg(rows):
    """One row an example: total variation of the printed search, and ours."""
    left, top, scale, step = 292, 92, 1500, 44
    height = top + step * len(rows) + 62
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{height}" viewBox="0 0 860 {height}" '
           'font-family="DejaVu Sans, Verdana, Arial, sans-serif">',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           '<text x="24" y="34" font-size="18" fill="#202020">Selecting k without replacement: how far from the law</text>',
           '<text x="24" y="58" font-size="13" fill="#505050">Total variation between the law of the selected sets and '
           'successive sampling, exact</text>',
           f'<text x="24" y="{top - 6}" font-size="12" fill="#505050">biases, k</text>']
    for tick in range(0, 4):
        x = left + tick * scale / 10
        out.append(f'<line x1="{x:.0f}" y1="{top}" x2="{x:.0f}" y2="{top + step * len(rows)}" stroke="#dcdcdc"/>')
        out.append(f'<text x="{x:.0f}" y="{top - 6}" font-size="12" text-anchor="middle" fill="#505050">{tick / 10:g}</text>')
    for i, (name, k, tv_printed, tv_ours) in enumerate(rows):
        y = top + i * step
        out.append(f'<text x="24" y="{y + 26}" font-size="13" fill="#202020">{name}; k = {k}</text>')
        for tv, colour, dy in ((tv_printed, "#d55e00", 7), (tv_ours, "#0072b2", 23)):
            width = tv * scale
            if width:
                out.append(f'<rect x="{left}" y="{y + dy}" width="{width:.1f}" height="13" fill="{colour}"/>')
            out.append(f'<text x="{left + width + 6:.1f}" y="{y + dy + 11}" font-size="12" fill="{colour}">'
                       f'{format(tv, ".3f") if tv else "0"}</text>')
    y = top + step * len(rows) + 28
    for x, colour, label in ((24, "#d55e00", "bipartite region search as printed (C-SAW, SC\'20, section IV-B)"),
                             (600, "#0072b2", "csaw, all methods")):
        out.append(f'<rect x="{x}" y="{y}" width="13" height="13" fill="{colour}"/>')
        out.append(f'<text x="{x + 20}" y="{y + 11}" font-size="13" fill="#202020">{label}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    rows = []
    print("| biases | k | printed | csaw | by slots, as a sequence | trials per pick | repeated |")
    print("|---|---|---|---|---|---|---|")
    for name, k, bias in EXAMPLES:
        law, again = law_of_sequences(bias, k, repeated)
        wrong, _ = law_of_sequences(bias, k, printed)
        right, trials = law_of_sequences(bias, k, ours)
        row = (name, k, distance(of_sets(wrong), of_sets(law)), distance(of_sets(right), of_sets(law)))
        by_slot = distance({s: float(x) for s, x in law.items()}, slot_order(bias, k))
        print(f"| {name} | {k} | {row[2]:.3f} | {row[3]:g} | {by_slot:.3f} | {float(trials):.2f} | {float(again):.2f} |")
        rows.append(row)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(svg(rows))


if __name__ == "__main__":
    main()
