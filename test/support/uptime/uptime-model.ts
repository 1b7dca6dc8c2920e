// When incidents begin and end, written from docs/rules.md "Uptime" over a whole series of minutes, and from no code: for each minute it
// looks back over everything there was.

export interface ModelRules {
  readonly threshold: number;
  readonly window: number;
  readonly requests: number;
  readonly active: number;
  readonly recover: number;
}

/** [requests, failures] of each minute. */
export type Series = readonly (readonly [number, number])[];

export interface ModelIncident {
  readonly started: number;
  readonly openedAt: number;
  ended?: number;
  endedAt?: number;
}

export function incidentsOf(series: Series, rules: ModelRules): ModelIncident[] {
  const kind = ([requests, failures]: readonly [number, number]) =>
    requests === 0 ? ' ' : failures / requests >= rules.threshold / 100 - 1e-12 ? 'D' : 'c';
  const line = series.map(kind).join('');
  const found: ModelIncident[] = [];
  let from = 0; // what was before belongs to an incident that is over
  for (let now = 0; now < line.length; now++) {
    const open = found.at(-1);
    if (open !== undefined && open.endedAt === undefined) {
      const heard = [...line.slice(open.openedAt + 1, now + 1)].flatMap((each, at) =>
        each === ' ' ? [] : [{ each, at: open.openedAt + 1 + at }],
      );
      const last = heard.slice(-rules.recover);
      if (last.length === rules.recover && last.every(({ each }) => each === 'c')) {
        open.ended = last[0]?.at as number;
        open.endedAt = now;
        from = now + 1;
      }
      continue;
    }
    if (line[now] !== 'D') continue;
    const past = line.slice(from, now + 1);
    const forgotten = Math.max(
      past.lastIndexOf('c'),
      // a whole window of silence, wherever it last was
      past.lastIndexOf(' '.repeat(rules.window)) +
        (past.includes(' '.repeat(rules.window)) ? rules.window - 1 : 0),
    );
    const since = past.indexOf('D', forgotten + 1);
    if (since < 0 || past.length - since < rules.window) continue;
    const begin = now - rules.window + 1;
    const window = series.slice(begin, now + 1);
    const requests = window.reduce((sum, [n]) => sum + n, 0);
    const active = window.filter(([n]) => n > 0).length;
    if (requests < rules.requests || active < Math.min(rules.active, rules.window)) continue;
    found.push({ started: begin + line.slice(begin, now + 1).indexOf('D'), openedAt: now });
  }
  return found;
}
