// How often an address may be asked that does not answer, and how long its silence is remembered. Customers choose the
// addresses that we ask, so an address that is no name server, such as a victim's, gets a few questions and no more (docs/rules.md
// "Fair shares"). Pure.

/** What all workers know of an address. Times are milliseconds since 1970. */
export interface AddressMemory {
  /** When it last sent a valid reply. */
  readonly repliedAt: number | undefined;
  /** How many questions in a row brought nothing. */
  readonly silences: number;
  /** When the first of the `asked` questions was sent. */
  readonly windowAt: number;
  readonly asked: number;
  /** A question is open until then at most. */
  readonly openUntil: number | undefined;
}

export type Trial =
  /** It has answered today: the usual limits hold. */
  | { readonly kind: 'proven' }
  /** One question may be sent; `memory` is what is known then. */
  | { readonly kind: 'go'; readonly memory: AddressMemory }
  /** Another question is open, or there were too many. */
  | { readonly kind: 'wait'; readonly waitMs: number };

const DAY_MS = 86_400_000;
const WINDOW_MS = 60_000;
const ASKED_PER_WINDOW = 3;
/** After so many silences in a row an address is asked rarely. */
const SILENCES = 10;
const RARELY_MS = 600_000;
/** Longer than one question takes with its repetitions; a process that ended leaves it open. */
const OPEN_MS = 12_000;

/** Whether an address may be asked now that has perhaps never answered. */
export function judgeTrial(memory: AddressMemory | undefined, now: number): Trial {
  const known = memory ?? NOTHING;
  const { repliedAt, silences, openUntil } = known;
  if (repliedAt !== undefined && now - repliedAt < DAY_MS) return { kind: 'proven' };
  // A clock that went back must not keep an address waiting for long.
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

/** What is known after a question. */
export function afterTrial(memory: AddressMemory | undefined, replied: boolean, now: number): AddressMemory {
  const known = memory ?? NOTHING;
  return replied
    ? { ...known, repliedAt: now, silences: 0, openUntil: undefined }
    : { ...known, silences: known.silences + 1, openUntil: undefined };
}

/** Fewer silences in a row are lost packets. */
const SILENCES_TO_REMEMBER = 3;
const REMEMBERED_FIRST_MS = 300_000;
const REMEMBERED_MAX_MS = 3_600_000;

/**
 * How long a silence is remembered that is the `count`th in a row, from 1: 5 minutes at first, an hour at most (RFC 9520
 * §3.2 asks for at least a second).
 */
export function rememberedMs(count: number): number {
  const longer = count - SILENCES_TO_REMEMBER;
  return longer < 0 ? 0 : Math.min(REMEMBERED_MAX_MS, REMEMBERED_FIRST_MS * 2 ** Math.min(longer, 10));
}
