// Computes rates of nodes from their totals, and hourly shares of lost domains.

interface Totals {
  readonly name: string;
  readonly started_at: string;
  readonly seen_at: string;
  readonly answered?: number | undefined;
  readonly dropped?: number | undefined;
}

export interface Rates {
  readonly answered: number;
  readonly dropped: number;
}

/** Rates per second. Nodes that were seen once, have restarted, or do not report are omitted. */
export function ratesOf(
  before: readonly Totals[] | undefined,
  after: readonly Totals[],
): ReadonlyMap<string, Rates> {
  const rates = new Map<string, Rates>();
  for (const node of after) {
    const last = before?.find(({ name }) => name === node.name);
    if (last === undefined || last.started_at !== node.started_at) continue;
    const seconds = (Date.parse(node.seen_at) - Date.parse(last.seen_at)) / 1000;
    const more = (of: 'answered' | 'dropped') => (node[of] ?? Number.NaN) - (last[of] ?? Number.NaN);
    const [answered, dropped] = [more('answered'), more('dropped')];
    if (seconds > 0 && answered >= 0 && dropped >= 0)
      rates.set(node.name, { answered: answered / seconds, dropped: dropped / seconds });
  }
  return rates;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Shares from 0 to 1 for the last 24 hours, oldest first. */
export function turnedByHour(
  hours: readonly { readonly hour: string; readonly checked: number; readonly turned: number }[],
  nowMs: number,
): number[] {
  const byHour = new Map(
    hours.map(({ hour, checked, turned }) => [Date.parse(hour), turned / Math.max(1, checked)]),
  );
  const last = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return Array.from({ length: HOURS }, (_, i) => byHour.get(last - (HOURS - 1 - i) * HOUR_MS) ?? 0);
}
