"""Published algorithms as schedules, equal to the built-in ones in every bit and in time (docs/schedules.md)."""
from collections import deque

import equarx


# --- All to all others

@equarx.schedule("my-one-shot", microshards=1)
def one_shot(w):
    """Every rank sends its tensor to all others, and sums all tensors in the order of ranks."""
    own = [w.encode(part) for part in w.parts()]
    sent = []
    for channel in [w.channel(offset) for offset in range(1, w.ranks)]:
        sent.append([w.send(one, channel, begins=one is own[0]) for one in own])
    for one, messages in zip(own, zip(*sent)):
        for message in messages:
            w.wait_scales(message)
        for micro in one.part.micros:
            for message in messages:
                w.wait(message, micro)
            w.reduce(one, micro)
    for part in w.parts():
        w.store(part)


def in_flight(w, parts, channels, send, receive):
    """Sends every part to every channel, and processes the oldest arrival while others are on their way."""
    window = min(max(2 * len(channels), 16), 16 * len(parts))
    under_way = deque()
    for part in parts:
        for channel in channels:
            under_way.append((channel, send(part, channel)))
            if len(under_way) == window:
                receive(*under_way.popleft())
    while under_way:
        receive(*under_way.popleft())


def scatter(w, parts, channels, then=None):
    """Sends each owner its shard; owners sum what arrives. then: phase in which the sums are encoded next."""
    def send(part, channel):
        return w.send(w.encode(part.of(channel.offset)), channel, begins=part.index == 0)

    def receive(channel, sent):
        for micro in sent.part.micros:
            w.wait(sent, micro)
            w.accumulate(sent, micro, scales_for=then if channel is channels[-1] else None)

    in_flight(w, parts, channels, send, receive)


def gather(w, parts, channels, take):
    """Sends the own shard to all others. take: what to do with a shard."""
    own = {part.index: w.encode(part) for part in parts}

    def send(part, channel):
        return w.send(own[part.index], channel, begins=part.index == 0)

    def receive(channel, sent):
        for micro in sent.part.micros:
            w.wait(sent, micro)
            take(sent, micro)

    in_flight(w, parts, channels, send, receive)
    for one in own.values():
        take(one)


@equarx.schedule("my-two-shot", collectives=("all-reduce", "reduce-scatter", "all-gather"), shards=True, microshards=1)
def two_shot(w):
    """Every rank sends each other rank its shard, sums the own one, and sends the sum to all."""
    channels = [w.channel(offset) for offset in range(1, w.ranks)]
    if w.collective != "all-gather":
        scatter(w, w.parts(), channels, then="all-gather" if w.collective == "all-reduce" else None)
    if w.collective == "reduce-scatter":
        for part in w.parts():
            w.store(part)
        return
    w.phase = "all-gather"
    gather(w, w.parts(), channels, w.deliver)


@equarx.schedule("my-exchange", collectives="all-to-all", shards=True, microshards=1)
def exchange(w):
    """Every rank sends each other rank its shard, and keeps the own one as it is."""
    def send(part, channel):
        return w.send(w.encode(part.of(channel.offset)), channel, begins=part.index == 0)

    def receive(channel, sent):
        for micro in sent.part.micros:
            w.wait(sent, micro)
            w.deliver(sent, micro)

    in_flight(w, w.parts(), [w.channel(offset) for offset in range(1, w.ranks)], send, receive)
    w.phase = "all-gather"
    for part in w.parts():
        w.deliver(w.encode(part))


@equarx.schedule("my-quickreduce", shards=True)
def quickreduce(w):
    """Two-shot in a pipeline of parts, whose terms, the own one too, are encoded and summed in the order of ranks."""
    channels = [w.channel(offset) for offset in range(1, w.ranks)]
    parts = w.parts()
    terms, sums = {}, {}

    def send_terms(part):
        own = w.encode(part)
        terms[part] = own, [w.send(w.encode(part.of(channel.offset)), channel, begins=part is parts[0])
                            for channel in channels]

    def send_sum(part):
        own, arrived = terms[part]
        for message in arrived:
            w.wait_scales(message)
        for micro in part.micros:
            for message in arrived:
                w.wait(message, micro)
            w.reduce(own, micro)
        w.phase = "all-gather"
        own = w.encode(part)
        sums[part] = own, [w.send(own, channel, begins=part is parts[0]) for channel in channels]
        w.phase = "reduce-scatter"

    def deliver(part):
        own, arrived = sums[part]
        for message in arrived:
            for micro in part.micros:
                w.wait(message, micro)
                w.deliver(message, micro)
        w.deliver(own)

    for i in range(len(parts) + 4):
        for step, late in ((send_terms, 0), (send_sum, 2), (deliver, 4)):
            if 0 <= i - late < len(parts):
                step(parts[i - late])


def scatter_encoded(w, parts, channels, axis):
    """Like scatter(), but the own term is encoded, too, and terms are summed in the order of ranks."""
    own = {}

    def send(part, channel):
        if channel is channels[0]:
            own[part.index] = w.encode(part)
        return w.send(w.encode(part.of(channel.offset)), channel, begins=part.index == 0)

    def receive(channel, sent):
        for micro in sent.part.micros:
            w.wait(sent, micro)
            if channel is channels[-1]:
                w.reduce(own[sent.part.index], micro, axes=[axis])

    in_flight(w, parts, channels, send, receive)


@equarx.schedule("my-qgz", layout="slices", shards=True, microshards=1)
def qgz(w):
    """qgZ of ZeRO++: hierarchical, with every term encoded once in each stage."""
    slices, chips = w.lengths
    within = [w.channel(w.offset(1, steps)) for steps in range(1, chips)]
    scatter_encoded(w, w.parts(uncut=1), within, axis=1)
    between = [w.channel(w.offset(0, steps)) for steps in range(1, slices)]
    w.phase = "reduce-scatter-between"
    scatter_encoded(w, w.parts(), between, axis=0)
    w.phase = "all-gather-between"
    gather(w, w.parts(), between, w.decode)
    w.phase = "all-gather"
    gather(w, w.parts(uncut=1), within, w.deliver)


@equarx.schedule("my-hierarchical", layout="slices", shards=True, microshards=1)
def hierarchical(w):
    """Two-shot within slices around a two-shot between them."""
    slices, chips = w.lengths
    within = [w.channel(w.offset(1, steps)) for steps in range(1, chips)]
    scatter(w, w.parts(uncut=1), within)
    between = [w.channel(w.offset(0, steps)) for steps in range(1, slices)]
    w.phase = "reduce-scatter-between"
    scatter(w, w.parts(), between, then="all-gather-between")
    w.phase = "all-gather-between"
    gather(w, w.parts(), between, w.decode)
    w.phase = "all-gather"
    gather(w, w.parts(uncut=1), within, w.deliver)


# --- Partners at doubling distances

@equarx.schedule("my-recursive-doubling", layout="hypercube")
def recursive_doubling(w):
    """Partners exchange their whole sums and add both, one axis of the hypercube after the other."""
    for axis in range(len(w.lengths)):
        partner = w.channel(w.offset(axis, 1))
        own = [w.encode(part) for part in w.parts()]
        sent = [w.send(one, partner, begins=one is own[0]) for one in own]
        for one, message in zip(own, sent):
            for micro in one.part.micros:
                w.wait(message, micro)
                w.reduce(one, micro, axes=[axis])
    for part in w.parts():
        w.store(part)


def add_and_send(w, part, arrived, channel):
    """Adds an arrival, if there is one, to the own values of a part, and sends the sum on. Strands take turns."""
    def add(micro):
        w.turn()
        if arrived is not None:
            w.wait(arrived, micro)
            w.add(arrived, micro, scales_for=w.phase)

    if w.has_scales:  # of the whole part, and sent first
        w.turn()
        if arrived is not None:
            w.wait_scales(arrived)
        for micro in part.micros:
            add(micro)
        for micro in part.micros:
            w.turn()
            w.find_scales(part, micro)
        w.turn()
        w.barrier(part)
        w.turn()
    encoded = w.encode_scales(part)
    sent = w.send_scales(encoded, channel, begins=part.index == 0)
    for micro in part.micros:
        if not w.has_scales:
            add(micro)
        w.turn()
        w.encode_micro(encoded, micro)
        w.send_micro(sent, micro)
    return encoded, sent


@equarx.schedule("my-halving-doubling", layout="hypercube", shards=True)
def halving_doubling(w):
    """Partners exchange halves, quarters, ... and sum them; then sums of the same sizes, in reverse."""
    axes = range(len(w.lengths))
    partners = [w.channel(w.offset(axis, 1)) for axis in axes]
    for axis in axes:
        parts = w.parts(uncut=axes[-1] - axis)
        sent = [add_and_send(w, part.of(partners[axis].offset), None, partners[axis])[1] for part in parts]
        for message in sent if axis < axes[-1] else ():
            for micro in message.part.micros:
                w.wait(message, micro)
                w.add(message, micro)
    w.phase = "all-gather"
    own = []
    for part in w.parts():
        encoded, sent[part.index] = add_and_send(w, part, sent[part.index], partners[-1])
        own.append(encoded)
        w.deliver(encoded)
    for axis in reversed(axes):
        for i, arrived in enumerate(sent):
            if axis > 0 and w.has_scales:
                w.barrier(arrived.part)
            w.wait_scales(arrived)
            if axis > 0:  # with everything that has been gathered so far
                sent[i] = w.send_scales(own[i], partners[axis - 1], gathered=axes[axis:], begins=i == 0)
            for micro in arrived.part.micros:
                w.wait(arrived, micro)
                w.deliver(arrived, micro)
                if axis > 0:
                    w.send_micro(sent[i], micro)


@equarx.schedule("my-binomial-tree", layout="hypercube", phases=2, microshards=1, uniform=False)
def binomial_tree(w):
    """Half of the ranks send their sums to the other half, until rank 0 has all; the result takes the way back."""
    rounds = [(w.channel(w.offset(axis, 1)), w.ranks >> axis + 1) for axis in range(len(w.lengths))]
    for channel, senders in rounds:
        sent = {}
        for rank in range(senders, 2 * senders):
            with w.only(rank):
                sent[rank] = [add_and_send(w, part, None, channel)[1] for part in w.parts()]
        for rank in sent:
            with w.only(rank - senders):
                for message in sent[rank]:
                    for micro in message.part.micros:
                        w.wait(message, micro)
                        w.add(message, micro)
    w.phase = "all-gather"
    with w.only(0):
        held = {0: [w.encode_scales(part) for part in w.parts()]}
        for one in held[0]:
            for micro in one.part.micros:
                w.encode_micro(one, micro)
                w.deliver(one, micro)
    for channel, receivers in reversed(rounds):
        for rank in range(receivers, 2 * receivers):
            with w.only(rank - receivers):
                held[rank] = [w.send(one, channel) for one in held[rank - receivers]]
        for rank in range(receivers, 2 * receivers):
            with w.only(rank):
                for message in held[rank]:
                    for micro in message.part.micros:
                        w.wait(message, micro)
                        w.deliver(message, micro)


# --- Along a ring

@equarx.schedule("my-ring", collectives=("all-reduce", "reduce-scatter"), layout="ring", shards=True, segments=2)
def ring(w):
    """Partial sums of each half of the tensor travel round the ring, one half in each direction; then the sums."""
    last = w.ranks - 1
    for segment, way in enumerate((+1, -1)):
        w.strand()
        w.phase = "reduce-scatter"
        channel, own, sent = w.channel(way), [], {}
        for step in range(w.ranks if w.collective == "all-reduce" else last):
            if step == last:
                w.phase = "all-gather"
            for part in w.parts(segment):
                chunk = part.of(way * (last - step) % w.ranks)
                encoded, sent[part.index] = add_and_send(w, chunk, sent.get(part.index), channel)
                for micro in part.micros if step == last else ():
                    w.turn()
                    w.deliver(encoded, micro)
        if w.collective == "reduce-scatter":
            for message in sent.values():
                w.turn()
                w.wait_scales(message)
                for micro in message.part.micros:
                    w.turn()
                    w.wait(message, micro)
                    w.add(message, micro)
                    w.store(message.part, micro)
            continue
        for step in range(last):
            pass_on(w, sent, channel, ends=step == last - 1)


def pass_on(w, sent, channel, ends):
    """Writes arrivals to the result, and sends them on unless they end here."""
    for i, arrived in sent.items():
        w.turn()
        if w.has_scales and not ends:
            w.barrier(arrived.part)
        w.turn()
        w.wait_scales(arrived)
        if not ends:
            sent[i] = w.send_scales(arrived, channel, begins=i == 0)
        for micro in arrived.part.micros:
            w.turn()
            w.wait(arrived, micro)
            if not ends:
                w.send_micro(sent[i], micro)
            w.deliver(arrived, micro)


@equarx.schedule("pass-around", layout="ring")
def pass_around(w):
    """Every tensor travels once round the ring, verbatim; every rank sums all in the order of ranks."""
    channel = w.channel(+1)
    own = passed = [w.encode(part) for part in w.parts()]
    for _ in range(w.ranks - 1):
        passed = [w.send(one, channel, begins=one.part.index == 0) for one in passed]
        for message in passed:
            w.wait(message)
    for one in own:
        for micro in one.part.micros:
            w.reduce(one, micro)
            w.store(one.part, micro)
