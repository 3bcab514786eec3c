// The links of a traced collective over time, from the events of "run --trace".

/// Messages of a run on all chips. Counts are of the simulated chips: "3 of 8 chips simulated".
export function allMessages({ messages, simulation_reason: reason }) {
  const [, simulated, chips] = /^(\d+) of (\d+) chips/.exec(reason ?? "") ?? [];
  return simulated ? Math.round(messages * chips / simulated) : messages;
}

/// "(0,0)->(1,0) (2)" -> ["(0,0)", "(1,0)"]: rows of one link direction have numbers.
function endsOf(track) {
  const [from, to] = track.replace(/ \(\d+\)$/, "").split("->");
  return to === undefined ? null : [from, to];
}

/// Reads a trace. Returns the end of the collective in microseconds, and the transfers of each link direction.
export function readTrace(text) {
  const { traceEvents, otherData } = JSON.parse(text);
  const run = otherData.runs[0];
  const tracks = new Map();
  const links = new Map();
  for (const event of traceEvents) {
    if (event.pid !== run.links_pid) continue;
    if (event.name === "thread_name") tracks.set(event.tid, endsOf(event.args.name));
  }
  for (const ends of tracks.values()) if (ends) links.set(ends.join("->"), { from: ends[0], to: ends[1], spans: [] });
  for (const { ph, pid, tid, ts, dur, args } of traceEvents) {
    const ends = pid === run.links_pid && ph === "X" && tracks.get(tid);
    if (ends) links.get(ends.join("->")).spans.push({ start: ts, end: ts + dur, content: args.content, bytes: args.bytes });
  }
  const all = [...links.values()];
  for (const link of all) link.spans.sort((a, b) => a.start - b.start);
  return { label: run.label, end: run.time_s * 1e6, links: all, activity: activityOf(all, run.time_s * 1e6) };
}

/// The transfer that a link carries at a time, or null. Rows of shared links overlap: the latest one that has begun.
export function spanAt({ spans }, time) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].start <= time) low = middle + 1;
    else high = middle;
  }
  for (let i = low - 1; i >= Math.max(0, low - 4); --i) if (spans[i].end > time) return spans[i];
  return null;
}

const kMoments = 240;  // of the picture of activity

/// Number of busy link directions at moments of equal distance.
function activityOf(links, end) {
  const counts = new Array(kMoments).fill(0);
  for (const link of links)
    counts.forEach((_, i) => { if (spanAt(link, (i + 0.5) * end / kMoments)) ++counts[i]; });
  return counts;
}

/// Start of the next transfer after a time on any link, or of the last one before it: for steps by key.
export function neighbourMoment({ links, end }, time, step) {
  const starts = links.flatMap(({ spans }) => spans.map(({ start }) => start));
  const onward = starts.filter((start) => (step > 0 ? start > time + 1e-6 : start < time - 1e-6));
  if (onward.length === 0) return step > 0 ? end : 0;
  return onward.reduce((best, start) => (step > 0 ? Math.min(best, start) : Math.max(best, start)));
}
