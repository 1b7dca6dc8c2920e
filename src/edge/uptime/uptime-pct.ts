// The share of a time in which no incident was.

interface Span {
  readonly begin: Date;
  readonly end: Date;
}

/** In percent, with three digits behind the point. `incidents` do not overlap. Undefined: no time. */
export function uptimePct({ begin, end }: Span, incidents: readonly Span[]): number | undefined {
  const whole = end.getTime() - begin.getTime();
  if (whole <= 0) return undefined;
  let down = 0;
  for (const incident of incidents) {
    const from = Math.max(incident.begin.getTime(), begin.getTime());
    const to = Math.min(incident.end.getTime(), end.getTime());
    down += Math.max(0, to - from);
  }
  return Math.round(100_000 * (1 - down / whole)) / 1000;
}
