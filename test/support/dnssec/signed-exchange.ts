// An exchange with an in-memory internet of signed zones: each address answers for its zones, and may be made to lie.

import type { Message } from '../../../src/dns/message/message.ts';
import { foldCase, isWithin, type Name } from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { Exchange, QueryResult, Question } from '../../../src/resolver/exchange/exchange.ts';
import type { SignedZone } from './signed-zone.ts';

export type Alter = (message: Message, question: Question) => Message | undefined;

export class SignedExchange implements Exchange {
  /** All queries in order, for example `DS com.`. */
  readonly asked: string[] = [];
  readonly #zones = new Map<string, SignedZone[]>();
  readonly #alters = new Map<string, Alter>();

  serve(address: string, ...zones: readonly SignedZone[]): this {
    this.#zones.set(address, [...zones]);
    return this;
  }

  /** Alters the replies of an address. Undefined instead of a message means no reply. */
  alter(address: string, alter: Alter): this {
    this.#alters.set(address, alter);
    return this;
  }

  async ask(
    address: string,
    question: Question,
    { onPacket }: { signal: AbortSignal; onPacket: () => void },
  ): Promise<QueryResult> {
    onPacket();
    this.asked.push(`${typeMnemonic(question.type)} ${question.name}`);
    const zone = zoneFor(this.#zones.get(address) ?? [], question);
    if (zone === undefined) return { kind: 'timeout' };
    const answer = zone.answer(question);
    const alter = this.#alters.get(address);
    const message = alter === undefined ? answer : alter(answer, question);
    return message === undefined
      ? { kind: 'timeout' }
      : { kind: 'reply', message, transport: 'udp', rttMs: 1 };
  }

  async close(): Promise<void> {}
}

/** Returns the zone that a server answers from: the deepest one, but for DS the one above the cut (RFC 4035 §3.1.4.1). */
export function zoneFor(
  zones: readonly SignedZone[],
  { name, type }: { readonly name: Name; readonly type: number },
): SignedZone | undefined {
  const wanted = foldCase(name);
  const holding = zones
    .filter(({ apex }) => isWithin(wanted, apex))
    .sort((a, b) => b.apex.length - a.apex.length);
  const above = type === TYPE.DS ? holding.filter(({ apex }) => apex !== wanted) : [];
  return above[0] ?? holding[0];
}
