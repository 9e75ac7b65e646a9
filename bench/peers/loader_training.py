# SPDX-License-Identifier: MIT
"""bench/peers/loader_training.py - GraphSAGE of two layers, by each contender's, for loader_peers.py."""
import statistics
import time

import torch
from loader_adapters import by_layer, peer_conv


class Sage(torch.nn.Module):
    def __init__(self, conv, args):
        super().__init__()
        self.convs = torch.nn.ModuleList([conv(args.cols, args.hidden), conv(args.hidden, args.classes)])

    def forward(self, x, layers, sizes):
        for conv, a, (rows, cols, _) in zip(self.convs, layers, sizes):
            x = conv((x[:cols], x[:rows]), a)
            if conv is self.convs[0]:
                x = x.relu()
        return x


class Training:
    """A contender's epoch; of csaw with in_flight."""

    def __init__(self, who, in_flight, state):
        self.who, self.in_flight = who, in_flight
        self.name = f"{who.name}, in_flight {in_flight}" if in_flight else who.name
        self.model = Sage(who.conv, who.work.args)
        self.model.load_state_dict(state)
        self.model.to(who.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), 1e-3)
        self.y = who.work.y.to(who.device)

    def output(self, batch):
        return self.model(batch.x, self.who.layers(batch), by_layer(batch))

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.output(batch), self.y[batch.n_id[:batch.batch_size]])
        loss.backward()
        self.optimizer.step()

    def run(self):
        for batch in self.who.epoch(in_flight=self.in_flight):
            self.step(batch)


ASKED = 0.2  # seconds between two questions to NVML
LEAD = 1  # seconds at first in which it may still tell of what was before


def busy(training, seconds):
    """The share of time in which the GPU ran any kernel, as NVML tells, while epochs go on for LEAD + seconds; None
    where it does not tell."""
    shares, begin = [], time.perf_counter()
    asked = begin + LEAD
    while True:
        for batch in training.who.epoch(in_flight=training.in_flight):
            training.step(batch)
            now = time.perf_counter()
            if now < asked:
                continue
            if now > begin + LEAD + seconds and shares:
                return statistics.mean(shares)
            try:
                shares.append(torch.cuda.utilization(training.who.device) / 100)
            except Exception:  # no nvidia-ml-py, no NVML, or no such figure of this GPU
                return None
            asked = now + ASKED


def exact_output(state, batch, args):
    """The network in float64, edge by edge."""
    model = Sage(peer_conv()[0], args).double().to(batch.x.device)
    model.load_state_dict(state)
    sizes = by_layer(batch)
    return model(batch.x.double(), [batch.edge_index[:, :edges] for _, _, edges in sizes], sizes).detach()
