// The check history as periods with the same result, and the status changes.

export interface TimelineCheck {
  readonly id: number;
  readonly finished_at: string;
  readonly last_seen_at: string;
  readonly repeated: number;
  readonly verdict: string;
  readonly status_before: string;
  readonly status_after: string;
}

export interface Span {
  /** Time of the first check in the period. */
  readonly id: number;
  readonly verdict: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Number of checks with this result. */
  readonly looks: number;
}

export interface Transition {
  readonly id: number;
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
}

/** `checks` are sorted newest first. A result is assumed until the next different one, the newest until now. Returns periods sorted oldest first. */
export function spansOf(checks: readonly TimelineCheck[], nowMs: number): readonly Span[] {
  const spans: Span[] = [];
  for (const check of [...checks].reverse()) {
    const fromMs = Date.parse(check.finished_at);
    const looks = check.repeated + 1;
    const before = spans.at(-1);
    if (before !== undefined) spans[spans.length - 1] = { ...before, toMs: Math.max(before.fromMs, fromMs) };
    if (before?.verdict === check.verdict) {
      spans[spans.length - 1] = { ...before, toMs: fromMs, looks: before.looks + looks };
    } else {
      spans.push({ id: check.id, verdict: check.verdict, fromMs, toMs: fromMs, looks });
    }
  }
  const newest = spans.at(-1);
  if (newest !== undefined) spans[spans.length - 1] = { ...newest, toMs: Math.max(newest.toMs, nowMs) };
  return spans;
}

/** Returns the checks that changed the status, oldest first. */
export function transitionsOf(checks: readonly TimelineCheck[]): readonly Transition[] {
  return [...checks]
    .reverse()
    .filter(({ status_before, status_after }) => status_before !== status_after)
    .map(({ id, finished_at, status_before, status_after }) => ({
      id,
      atMs: Date.parse(finished_at),
      from: status_before,
      to: status_after,
    }));
}

export interface PlacedSpan extends Span {
  readonly x: number;
  readonly width: number;
}

/**
 * Places periods next to each other in `width`, proportional to their length but at least `least` wide, so that short ones stay
 * visible. If there are too many for `least`, all have the same width.
 */
export function placeSpans(spans: readonly Span[], width: number, least: number): readonly PlacedSpan[] {
  if (spans.length * least >= width) {
    const each = width / Math.max(1, spans.length);
    return spans.map((span, i) => ({ ...span, x: i * each, width: each }));
  }
  const whole = spans.reduce((sum, { fromMs, toMs }) => sum + (toMs - fromMs), 0);
  const free = width - spans.length * least;
  let x = 0;
  return spans.map((span) => {
    const share = whole === 0 ? 1 / spans.length : (span.toMs - span.fromMs) / whole;
    const placed = { ...span, x, width: least + free * share };
    x += placed.width;
    return placed;
  });
}

/** Returns the position of a time among placed periods. */
export function placeMoment(spans: readonly PlacedSpan[], atMs: number): number {
  const first = spans[0];
  if (first === undefined || atMs <= first.fromMs) return 0;
  for (const { fromMs, toMs, x, width } of spans) {
    if (atMs < toMs) return x + (toMs === fromMs ? 0 : ((atMs - fromMs) / (toMs - fromMs)) * width);
  }
  const last = spans[spans.length - 1] as PlacedSpan;
  return last.x + last.width;
}
