// Limits queries to addresses that do not answer, and decides how long their silence is remembered. Customers choose the
// addresses that we query, so an address that is not a nameserver, such as a victim's, gets only a few queries
// (docs/rules.md "Fair shares").

/** The state of an address, as known to all workers. Times are milliseconds since 1970. */
export interface AddressMemory {
  /** When it last sent a valid reply. */
  readonly repliedAt: number | undefined;
  /** Number of consecutive unanswered queries. */
  readonly silences: number;
  /** When the first of the `asked` queries was sent. */
  readonly windowAt: number;
  readonly asked: number;
  /** Latest end of the open query. */
  readonly openUntil: number | undefined;
}

export type Trial =
  /** It answered within the last day, so the usual limits apply. */
  | { readonly kind: 'proven' }
  /** One query may be sent. `memory` is the state from then on. */
  | { readonly kind: 'go'; readonly memory: AddressMemory }
  /** Another query is open, or there were too many. */
  | { readonly kind: 'wait'; readonly waitMs: number };

const DAY_MS = 86_400_000;
const WINDOW_MS = 60_000;
const ASKED_PER_WINDOW = 3;
/** After this many consecutive unanswered queries, an address is rarely queried. */
const SILENCES = 10;
const RARELY_MS = 600_000;
/** Longer than one query with its retries. A process that ended leaves its query open. */
const OPEN_MS = 12_000;

/** Decides whether an address may be queried now that may never have answered. */
export function judgeTrial(memory: AddressMemory | undefined, now: number): Trial {
  const known = memory ?? NOTHING;
  const { repliedAt, silences, openUntil } = known;
  if (repliedAt !== undefined && now - repliedAt < DAY_MS) return { kind: 'proven' };
  // If the clock went back, an address must not wait for long.
  if (openUntil !== undefined && openUntil > now) {
    return { kind: 'wait', waitMs: Math.min(OPEN_MS, openUntil - now) };
  }
  const windowMs = silences >= SILENCES ? RARELY_MS : WINDOW_MS;
  const most = silences >= SILENCES ? 1 : ASKED_PER_WINDOW;
  const isOver = now - known.windowAt >= windowMs || now < known.windowAt;
  if (!isOver && known.asked >= most) return { kind: 'wait', waitMs: known.windowAt + windowMs - now };
  const window = isOver ? { windowAt: now, asked: 1 } : { windowAt: known.windowAt, asked: known.asked + 1 };
  return { kind: 'go', memory: { ...known, ...window, openUntil: now + OPEN_MS } };
}

const NOTHING: AddressMemory = {
  repliedAt: undefined,
  silences: 0,
  windowAt: 0,
  asked: 0,
  openUntil: undefined,
};

/** Returns the state after a query. */
export function afterTrial(memory: AddressMemory | undefined, replied: boolean, now: number): AddressMemory {
  const known = memory ?? NOTHING;
  return replied
    ? { ...known, repliedAt: now, silences: 0, openUntil: undefined }
    : { ...known, silences: known.silences + 1, openUntil: undefined };
}

/** Fewer consecutive timeouts may be lost packets. */
const SILENCES_TO_REMEMBER = 3;
const REMEMBERED_FIRST_MS = 300_000;
const REMEMBERED_MAX_MS = 3_600_000;

/**
 * Returns how long the `count`th consecutive timeout, counted from 1, is remembered: 5 minutes at first, and at most an
 * hour (RFC 9520 §3.2 requires at least a second).
 */
export function rememberedMs(count: number): number {
  const longer = count - SILENCES_TO_REMEMBER;
  return longer < 0 ? 0 : Math.min(REMEMBERED_MAX_MS, REMEMBERED_FIRST_MS * 2 ** Math.min(longer, 10));
}
