// What validators are asked, what they trust, and what they say of an answer.

import { decodeMessage, FLAG } from '../../../src/dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { type Name, ROOT } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { linesOf } from '../answer/observed-answer.ts';
import { queryFor } from '../answer/queries.ts';
import { askMany, askTcp } from '../peers/peers.ts';

interface Stub {
  readonly zone: string;
  /** Default: 127.0.0.1. */
  readonly address?: string;
  readonly port: number;
}

/** The names that a validator reaches, and the keys that it trusts. */
export interface Space {
  /** DS records with their owners, in presentation form. */
  readonly anchors: readonly string[];
  /** Zones whose server is known; or the address of a root server, from which all is found on port 53. */
  readonly reached: { readonly stubs: readonly Stub[] } | { readonly root: string };
}

export type RootSpace = Space & { readonly reached: { readonly root: string } };

interface Question {
  readonly name: Name;
  readonly type: number;
}

export type Security = 'secure' | 'insecure' | 'bogus';

export interface Verdict {
  readonly security: Security;
  readonly rcode: string;
  /** Without TTLs and signatures; absent: the validator prints something else. */
  readonly answer?: readonly string[];
  readonly reason?: string;
}

/** The heading of what caches that use NSEC records for other names (RFC 8198) take for NXDOMAIN, of NSD's zones too. */
export const BARE_WILDCARD_ROW = 'wildcard NODATA at an empty non-terminal';

/** The heading of what Unbound takes for bogus, of NSD's answers too: it signs again as a wildcard what a wildcard gave. */
export const WILDCARD_NAME_ROW = 'from a wildcard, for the name of a wildcard';

/** The heading of another one: asked for the CNAME that a DNAME makes, it finds no key for it. */
export const DNAME_CNAME_ROW = 'the CNAME of a DNAME';

/** The heading of what BIND never accepts from a zone with NSEC3, NSD's answers included: an alias has neither an NSEC nor NODATA. */
export const NSEC_AT_ALIAS_ROW = 'NSEC at an alias';

/** A question with the kind of answer that it gets, as the headings in fixtures/validated say. */
interface JudgedQuestion extends Question {
  readonly row: string;
}

export interface ExpectedVerdict extends JudgedQuestion {
  readonly rcode: string;
  readonly security: Security;
}

export interface Validator {
  readonly name: string;
  /** Absent: it can judge every answer. */
  readonly judges?: (question: JudgedQuestion) => boolean;
  ask(questions: readonly Question[]): Promise<Verdict[]>;
  forget(): Promise<void>;
  stop(): Promise<void>;
}

export interface ValidatingResolver extends Validator {
  readonly port: number;
}

const TIMEOUT_MS = 20_000;
const EXTENDED_ERROR = 15;

/** A question to a resolver that shall say with AD whether its answer is secure (RFC 6840 §5.7). */
export function recursive(asked: Name, type: number): Uint8Array {
  const query = queryFor({ name: asked, type, udpPayloadSize: 1232 });
  query[2] = (query[2] as number) | (FLAG.RD >> 8);
  query[3] = (query[3] as number) | FLAG.AD;
  return query;
}

export async function answers(port: number): Promise<boolean> {
  const [reply] = await askMany(port, [recursive(ROOT, TYPE.SOA)], { tries: 1, timeoutMs: 200 });
  return reply !== undefined;
}

export async function askResolver(port: number, questions: readonly Question[]): Promise<Verdict[]> {
  const queries = questions.map(({ name, type }) => recursive(name, type));
  const replies = await askMany(port, queries, { tries: 2, timeoutMs: TIMEOUT_MS });
  return Promise.all(
    replies.map(async (reply, i) => {
      const isCut = reply !== undefined && decodeMessage(reply).tc;
      return verdictOf(isCut ? await askTcp(port, queries[i] as Uint8Array) : reply);
    }),
  );
}

function verdictOf(reply: Uint8Array | undefined): Verdict {
  if (reply === undefined) return { security: 'bogus', rcode: 'no answer' };
  const { rcode, ad, answers, edns } = decodeMessage(reply);
  const error = edns?.options.find(({ code }) => code === EXTENDED_ERROR)?.value;
  return {
    security: rcode === RCODE.SERVFAIL ? 'bogus' : ad ? 'secure' : 'insecure',
    rcode: rcodeMnemonic(rcode),
    answer: linesOf(answers.filter(({ type }) => type !== TYPE.RRSIG)).map(withoutTtl),
    ...(error && {
      reason: `EDE ${Buffer.from(error).readUInt16BE()} ${Buffer.from(error.subarray(2)).toString()}`,
    }),
  };
}

export function withoutTtl(line: string): string {
  return line.replace(/^(\S+) \d+ /, '$1 ');
}
