// The ways in which a query can be sent, and the order in which they are tried.
//
//   UDP with EDNS, in mixed case ──> once more ──> TCP ──> what the server may still accept
//
// TCP comes before every weaker way over UDP, because a forger must guess fewer bits of a query in lower case. A server
// that is known to answer the ordinary way never receives a weaker query, so dropping its packets does not help a forger.

import type { Need } from '../../checks/delegation/evidence.ts';

export interface Way {
  readonly transport: 'udp' | 'tcp';
  readonly edns: boolean;
  /** True if the letters have random case. Never over TCP, where a forger would have to guess sequence numbers. */
  readonly mixed: boolean;
}

export const ORDINARY: Way = { transport: 'udp', edns: true, mixed: true };
/** The last resort over UDP, which any server that answers at all accepts. */
const PLAIN: Way = { transport: 'udp', edns: false, mixed: false };

/** How an attempt ended. */
export type Ended =
  | 'replied'
  /** REFUSED or SERVFAIL to a query in mixed case: some servers compare names with their case. */
  | 'refused'
  /** TC is set over UDP. */
  | 'truncated'
  | 'other_case'
  | 'edns_refused'
  /** No usable reply in time. Over TCP, the connection was established. */
  | 'silent'
  /** No program listens at the UDP port, or the TCP connection was not established or was closed. */
  | 'closed'
  | 'failed';

/** Knowledge about a server. */
export type Known =
  | { readonly kind: 'unknown' }
  /** It has answered the ordinary way. */
  | { readonly kind: 'ordinary' }
  /** It has not. The ways are tried in this order. */
  | { readonly kind: 'needs'; readonly ways: readonly Way[] };

interface Outcome {
  readonly way: Way;
  readonly ended: Ended;
}

/** Yields each way to try and is resumed with how the attempt ended. */
export type Ways = Generator<Way, void, Ended>;

export function* waysFor(known: Known): Ways {
  if (known.kind === 'needs') {
    for (const way of known.ways) if ((yield* tryWay(way)).ended === 'replied') return;
    return;
  }
  const { way, ended } = yield* tryTwice(ORDINARY);
  if (ended === 'replied' || ended === 'failed') return;
  const tcp = yield* tryWay(overTcp(way));
  if (tcp.ended !== 'silent' && tcp.ended !== 'closed') return;
  if (known.kind === 'ordinary' || ended === 'closed') return;
  if (ended !== 'silent') yield* tryWay({ ...way, mixed: false });
  else if (tcp.ended === 'closed') yield* tryWay(PLAIN);
  else if (tcp.way.edns) yield* tryWay({ ...tcp.way, edns: false });
}

/** Tries only this way, for a caller that tests if the server accepts it. */
export function* onlyWay(first: Way): Ways {
  const { way, ended } = yield* tryTwice(first);
  if (ended === 'other_case') yield* tryWay(overTcp(way));
}

/** Repeats a query over UDP, because packets get lost and one timeout means little. */
function* tryTwice(first: Way): Generator<Way, Outcome, Ended> {
  const outcome = yield* tryWay(first);
  return outcome.ended === 'silent' && first.transport === 'udp' ? yield* tryWay(outcome.way) : outcome;
}

/** Tries a way, and the change that the server requests: without EDNS (RFC 6891 §7), or over TCP (RFC 2181 §9). */
function* tryWay(way: Way): Generator<Way, Outcome, Ended> {
  const ended = yield way;
  if (ended === 'edns_refused') return yield* tryWay({ ...way, edns: false });
  if (ended !== 'truncated' || way.transport === 'tcp') return { way, ended };
  const tcp = yield* tryWay(overTcp(way));
  return tcp.ended === 'replied' ? tcp : { way: tcp.way, ended: 'failed' };
}

function overTcp({ edns }: Way): Way {
  return { transport: 'tcp', edns, mixed: false };
}

/** Returns ways that are stronger than the one that was answered and that may also work. Later queries try one each. */
export function betterThan(way: Way): readonly Way[] {
  if (!isSameWay(way, PLAIN)) return [];
  return [
    { ...PLAIN, mixed: true },
    { ...PLAIN, edns: true },
  ];
}

export function isSameWay(a: Way, b: Way): boolean {
  return a.transport === b.transport && a.edns === b.edns && a.mixed === b.mixed;
}

/** Returns the changes that the server needed. `tried` ends with the answered attempt. */
export function needsOf(tried: readonly Outcome[]): readonly Need[] {
  const last = tried.at(-1)?.way ?? ORDINARY;
  // A reply that is too large for UDP comes over TCP from any server.
  const { transport, mixed } = tried.find(({ ended }) => ended === 'truncated')?.way ?? last;
  return [
    ...(transport === 'tcp' ? (['tcp'] as const) : []),
    ...(last.edns ? [] : (['no_edns'] as const)),
    ...(transport === 'udp' && !mixed ? (['lower_case'] as const) : []),
  ];
}
