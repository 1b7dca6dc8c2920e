// The history of checks as spans of time: what was seen from when to when, and where the status changed.

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
  /** Of the first check in it. */
  readonly id: number;
  readonly verdict: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** How often it was seen. */
  readonly looks: number;
}

export interface Transition {
  readonly id: number;
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
}

/**
 * `checks`: the newest first, as the API lists them. What was seen counts until something else was seen, the newest until
 * now. The oldest spans come first.
 */
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

/** Where a check changed the status, the oldest first. */
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
 * Lays spans side by side over `width`, each as wide as it is long but at least `least`, so that a short one stays visible.
 * With more spans than have room at `least`, all are equally wide.
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

/** Where a moment is among placed spans. */
export function placeMoment(spans: readonly PlacedSpan[], atMs: number): number {
  const first = spans[0];
  if (first === undefined || atMs <= first.fromMs) return 0;
  for (const { fromMs, toMs, x, width } of spans) {
    if (atMs < toMs) return x + (toMs === fromMs ? 0 : ((atMs - fromMs) / (toMs - fromMs)) * width);
  }
  const last = spans[spans.length - 1] as PlacedSpan;
  return last.x + last.width;
}
