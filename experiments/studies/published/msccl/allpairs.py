#!/usr/bin/env python3
"""Writes an in-place AllReduce between all pairs of GPUs as an MSCCL schedule.

Every GPU sends its part of the buffer to each other one, adds the parts received to its own, chunk
by chunk in all of its thread blocks, and sends the sum back. A further instance repeats all of it
on a channel and chunks of its own.
"""
import argparse
import sys


def step(kind, source=("i", -1), destination=("o", -1), count=0, after=None):
    """`after`: thread block and step."""
    return {"type": kind, "source": source, "destination": destination, "count": count, "after": after, "signals": 0}


def waits(after, last):
    """Steps that wait for all of these; `last` waits for the last one itself, as MSCCL requires."""
    last["after"] = after[-1]
    return [step("nop", after=other) for other in after[:-1]] + [last]


def thread_blocks(rank, gpus, instances):
    """(send, recv, channel, steps) of all thread blocks of a GPU, by peer (itself first) and
    channel."""
    peers = [rank] + [peer for peer in range(gpus) if peer != rank]
    others = peers[1:]
    number = {(peer, channel): peers.index(peer) * instances + channel
              for peer in peers for channel in range(instances)}
    blocks = {}
    for channel in range(instances):
        chunk, scratch = channel * gpus * gpus, channel * gpus * (gpus - 1)
        slot = {peer: scratch + at * gpus for at, peer in enumerate(others)}
        sums = {}  # by peer: the step at which its thread block has finished its sum
        for peer in peers:
            steps = []
            if peer != rank:
                steps.append(step("s", ("i", chunk + peer * gpus), ("s", 0), gpus))
                steps.append(step("r", ("i", chunk + rank * gpus), ("s", slot[peer]), gpus))
                steps[-1]["signals"] = 1
            additions = [step("re", ("s", slot[other] + peer), ("i", chunk + rank * gpus + peer), 1)
                         for other in others]
            arrivals = [(number[other, channel], 1) for other in others if other != peer]
            steps += waits(arrivals, additions[0]) if arrivals else [additions[0]]
            steps += additions[1:]
            steps[-1]["signals"] = 1
            sums[peer] = (number[peer, channel], len(steps) - 1)
            blocks[peer, channel] = steps
        for peer in others:
            send = step("s", ("i", chunk + rank * gpus), ("i", chunk + rank * gpus), gpus)
            blocks[peer, channel] += waits([sums[other] for other in peers if other != peer], send)
            blocks[peer, channel].append(
                step("r", ("i", chunk + peer * gpus), ("i", chunk + peer * gpus), gpus))
    for (peer, channel), steps in sorted(blocks.items(), key=lambda block: number[block[0]]):
        end = -1 if peer == rank else peer
        yield end, end, channel, steps


def schedule(gpus, instances, protocol):
    chunks = gpus * gpus * instances
    lines = [f'<algo name="allreduce_allpairs_{gpus}_x{instances}" proto="{protocol}" nchannels="{instances}" '
             f'nchunksperloop="{chunks}" ngpus="{gpus}" coll="allreduce" inplace="1" outofplace="0" minBytes="0" '
             'maxBytes="0">']
    for rank in range(gpus):
        lines.append(f'  <gpu id="{rank}" i_chunks="{chunks}" o_chunks="0" '
                     f's_chunks="{gpus * (gpus - 1) * instances}">')
        for block, (send, receive, channel, steps) in enumerate(thread_blocks(rank, gpus, instances)):
            lines.append(f'    <tb id="{block}" send="{send}" recv="{receive}" chan="{channel}">')
            for index, one in enumerate(steps):
                after = one["after"] or (-1, -1)
                lines.append(
                    f'      <step s="{index}" type="{one["type"]}" srcbuf="{one["source"][0]}" '
                    f'srcoff="{one["source"][1]}" dstbuf="{one["destination"][0]}" dstoff="{one["destination"][1]}" '
                    f'cnt="{one["count"]}" depid="{after[0]}" deps="{after[1]}" hasdep="{one["signals"]}"/>')
            lines.append("    </tb>")
        lines.append("  </gpu>")
    return "\n".join(lines + ["</algo>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--protocol", choices=["Simple", "LL", "LL128"], default="Simple")
    arguments = parser.parse_args()
    if arguments.gpus < 2 or arguments.instances < 1:
        parser.error("--gpus has to be 2 or more, and --instances 1 or more")
    sys.stdout.write(schedule(arguments.gpus, arguments.instances, arguments.protocol))


if __name__ == "__main__":
    main()
