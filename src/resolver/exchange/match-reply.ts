// Decides whether received octets answer a query (RFC 5452 §9.1), and what to do next. A message that an off-path attacker could
// have sent is `unrelated`: the real reply may still come.

import { WireError } from '../../dns/errors.ts';
import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { decodeMessage, FLAG, type Message } from '../../dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { decodeName } from '../../dns/name.ts';

type ReplyMatch =
  | { readonly kind: 'reply'; readonly message: Message }
  /** TC is set: retry over TCP (RFC 2181 §9). The rest is ignored, since the message may be truncated anywhere. */
  | { readonly kind: 'truncated' }
  /** Id and question match except for letter case, so the reply may be forged. Never over TCP. */
  | { readonly kind: 'other_case' }
  /** The server does not support EDNS: retry without it (RFC 6891 §7, §6.2.2). */
  | { readonly kind: 'edns_refused' }
  /** The id matches, but the message cannot be parsed. */
  | { readonly kind: 'unreadable'; readonly error: string }
  | { readonly kind: 'unrelated' };

const UNRELATED: ReplyMatch = { kind: 'unrelated' };
const OTHER_CASE: ReplyMatch = { kind: 'other_case' };
const EDNS_REFUSED: ReplyMatch = { kind: 'edns_refused' };
const TRUNCATED: ReplyMatch = { kind: 'truncated' };

const OPCODE_BITS = 0x7800;
/** Length of type and class, which follow the name of a question. */
const QUESTION_TAIL_OCTETS = 4;

/** `query` is the result of `encodeQuery` with its id. Never throws, for any `reply`. */
export function matchReply(query: Uint8Array, reply: Uint8Array, transport: 'udp' | 'tcp'): ReplyMatch {
  if (reply.length < HEADER_OCTETS || uint16(reply, 0) !== uint16(query, 0)) return UNRELATED;
  const flags = uint16(reply, 2);
  if ((flags & FLAG.QR) === 0 || (flags & OPCODE_BITS) !== 0) return UNRELATED;
  const questions = uint16(reply, 4);
  if (questions > 1) return UNRELATED; // RFC 9619 §4
  const rcode = flags & 15;
  const hadEdns = uint16(query, 10) > 0;
  const refusesEdns = hadEdns && (rcode === RCODE.FORMERR || rcode === RCODE.NOTIMP);
  if (questions === 0 || reply.length === HEADER_OCTETS) {
    // Old servers answer an unreadable query with a bare header. It can only cause a retry.
    return refusesEdns ? EDNS_REFUSED : unreadable(`${rcodeMnemonic(rcode)} without the question`);
  }
  const echo = compareQuestions(query, reply);
  if (echo === 'different') return isQuestionReadable(reply) ? UNRELATED : unreadable('its question');
  if (echo === 'other_case' && transport === 'udp') return OTHER_CASE;
  if (refusesEdns) return EDNS_REFUSED;
  if ((flags & FLAG.TC) !== 0) return TRUNCATED;
  foldQuestion(query, reply);
  return readWhole(reply, hadEdns);
}

/** Folds the question's name in the reply. Otherwise names compressed against it would have its mixed case. */
function foldQuestion(query: Uint8Array, reply: Uint8Array): void {
  for (let at = HEADER_OCTETS; query[at] !== 0; ) {
    const end = at + 1 + (query[at] as number);
    for (at++; at < end; at++) reply[at] = fold(reply[at] as number);
  }
}

function readWhole(reply: Uint8Array, hadEdns: boolean): ReplyMatch {
  try {
    const message = decodeMessage(reply);
    return hadEdns && message.rcode === RCODE.BADVERS ? EDNS_REFUSED : { kind: 'reply', message };
  } catch (error) {
    if (error instanceof WireError) return unreadable(error.message);
    throw error;
  }
}

/** Compares octet by octet: the name of a question is never compressed, since no name precedes it. */
function compareQuestions(query: Uint8Array, reply: Uint8Array): 'same' | 'other_case' | 'different' {
  let at = HEADER_OCTETS;
  let echo: 'same' | 'other_case' = 'same';
  // length octets are below "A", so folding does not change them; 0 outside a label ends the name
  for (let left = 0; ; at++) {
    const asked = query[at] as number;
    const echoed = reply[at];
    if (echoed !== asked) {
      if (echoed === undefined || fold(echoed) !== fold(asked)) return 'different';
      echo = 'other_case';
    }
    if (left > 0) left--;
    else if (asked === 0) break;
    else left = asked;
  }
  for (let i = 0; i < QUESTION_TAIL_OCTETS; i++) {
    at++;
    if (reply[at] !== query[at]) return 'different';
  }
  return echo;
}

function isQuestionReadable(reply: Uint8Array): boolean {
  try {
    return decodeName(reply, HEADER_OCTETS).end + QUESTION_TAIL_OCTETS <= reply.length;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

function unreadable(what: string): ReplyMatch {
  return { kind: 'unreadable', error: `the reply cannot be parsed: ${what}` };
}

function fold(octet: number): number {
  return octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
}

function uint16(octets: Uint8Array, at: number): number {
  return ((octets[at] as number) << 8) | (octets[at + 1] as number);
}
