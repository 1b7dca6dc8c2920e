// Converts incidents to parts of a period for the timeline.

interface Incident {
  readonly id: number;
  readonly started_at: string;
  readonly ended_at?: string | undefined;
}

export interface Span {
  readonly id: number;
  /** Fractions of the period, from 0 to 1. */
  readonly from: number;
  readonly length: number;
  readonly isOpen: boolean;
}

const HOUR_MS = 3_600_000;
export const PERIOD_MS = {
  '3h': 3 * HOUR_MS,
  '6h': 6 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
} as const;

/** Minimum length, so that a short incident is visible. */
const LEAST = 0.004;

export function spansOf(incidents: readonly Incident[], nowMs: number, periodMs: number): readonly Span[] {
  const first = nowMs - periodMs;
  const place = (ms: number) => Math.min(1, Math.max(0, (ms - first) / periodMs));
  return incidents.flatMap(({ id, started_at: started, ended_at: ended }) => {
    const end = ended === undefined ? nowMs : Date.parse(ended);
    if (end < first) return [];
    const from = place(Date.parse(started));
    const length = Math.max(LEAST, place(end) - from);
    return [{ id, from: Math.min(from, 1 - length), length, isOpen: ended === undefined }];
  });
}

export function secondsOf({ started_at: started, ended_at: ended }: Incident, nowMs: number): number {
  const end = ended === undefined ? nowMs : Date.parse(ended);
  return Math.max(0, Math.round((end - Date.parse(started)) / 1000));
}
