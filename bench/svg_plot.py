# SPDX-License-Identifier: MIT
"""bench/svg_plot.py - what the plots of this folder share: colours, axes, text, the frame of an SVG file."""
import html
import math

COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # Okabe, Ito, 2008: for all eyes


def ticks(low, high, steps=(1, 2, 5)):
    """1, 2 and 5 times powers of ten within the range."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [tick for tick in every if low <= tick * 1.0001 and tick <= high * 1.0001]


def number_text(value):
    for limit, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= limit:
            return f"{value / limit:g}{suffix}"
    return f"{value:g}"


class Axis:
    """Logarithmic, from the least to the largest value with some room around."""

    def __init__(self, values, begin, end):
        low, high = math.log10(min(values)), math.log10(max(values))
        room = max(0.05 * (high - low), 0.04)
        self.low, self.high, self.begin, self.end = low - room, high + room, begin, end

    def at(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        return ticks(10**self.low, 10**self.high)


def text(x, y, words, size=13, anchor="middle", more="", color="#222222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" {more}>'
            f"{html.escape(words)}</text>")


def picture(width, height, left, title, subtitle, shapes):
    """The text of an SVG file: title and subtitle on top, from the place left, and the shapes."""
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="DejaVu Sans, Verdana, Arial, sans-serif">', '<rect width="100%" height="100%" fill="#ffffff"/>',
            text(left, 26, title, 17, "start"), text(left, 46, subtitle, 12, "start", color="#666666")]
    return "\n".join(head + shapes + ["</svg>\n"])
