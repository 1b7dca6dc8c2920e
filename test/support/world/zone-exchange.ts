// A small internet in memory with the exchange's interface: each address serves zones like the reference, or as the test
// requires. It never waits, and a query to an unknown address is an error.

import type { Message, MessageRecord } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { type Name, parseName, printName, ROOT } from '../../../src/dns/name.ts';
import { CLASS, TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { unwatchAbort, watchAbort } from '../../../src/resolver/exchange/abort-watch.ts';
import type { Exchange, QueryResult, Question } from '../../../src/resolver/exchange/exchange.ts';
import type { RecordSet, Zone } from '../../../src/zone/zone.ts';
import { type Answer, findAnswer } from '../reference/find-answer.ts';
import { recordsOf, zoneOf } from '../zone/zone-text.ts';

/** Behaviour of an address for a query. Undefined: its zones' data. */
export type Conduct = (question: {
  readonly name: string;
  readonly type: string;
  /** Returns the zones' data. */
  readonly honest: () => Message;
}) => Message | 'silent' | 'hangs' | 'bad' | undefined;

const SOA = 'ns.nic. admin.nic. 1 7200 900 1209600 600';

/** Returns the zone with an added SOA. `$TTL` is an hour, and the negative TTL ten minutes. */
export function zone(origin: string, text: string): Zone {
  return zoneOf(origin, `$TTL 3600\n@ SOA ${SOA}\n${text}`);
}

export class ZoneExchange implements Exchange {
  /** `address name TYPE`, in order. */
  readonly asked: string[] = [];
  packets = 0;
  isClosed = false;
  readonly #zones = new Map<string, Map<Name, Zone>>();
  readonly #conducts = new Map<string, Conduct>();
  #gate: Promise<void> | undefined;

  /** Adds zones to the address. A zone with the same name replaces the previous one. */
  serve(address: string, ...zones: Zone[]): this {
    const served = this.#zones.get(address) ?? new Map<Name, Zone>();
    for (const each of zones) served.set(each.apex, each);
    this.#zones.set(address, served);
    return this;
  }

  behave(address: string, conduct: Conduct): this {
    this.#conducts.set(address, conduct);
    if (!this.#zones.has(address)) this.#zones.set(address, new Map());
    return this;
  }

  hold(): { release: () => void } {
    let release: () => void = () => {};
    this.#gate = new Promise((resolve) => {
      release = () => {
        this.#gate = undefined;
        resolve();
      };
    });
    return { release };
  }

  takeAsked(): string[] {
    return this.asked.splice(0);
  }

  async ask(
    address: string,
    { name, type }: Question,
    { signal, onPacket }: { signal: AbortSignal; onPacket: () => void },
  ): Promise<QueryResult> {
    signal.throwIfAborted();
    const zones = this.#zones.get(address);
    const question = { name: printName(name), type: typeMnemonic(type) };
    const text = `${address} ${question.name} ${question.type}`;
    if (zones === undefined) throw new Error(`no server has that address: ${text}`);
    this.asked.push(text);
    this.#send(signal, onPacket);
    const honest = () => replyOf(zones, name, type);
    const reply = this.#conducts.get(address)?.({ ...question, honest }) ?? honest();
    await unlessAborted(this.#gate ?? Promise.resolve(), signal);
    if (reply === 'hangs') return unlessAborted(new Promise<never>(() => {}), signal);
    if (reply === 'bad') return { kind: 'bad', error: 'refused by the kernel' };
    if (reply !== 'silent') return { kind: 'reply', message: reply, transport: 'udp', rttMs: 10 };
    this.#send(signal, onPacket); // the retry
    return { kind: 'timeout' };
  }

  #send(signal: AbortSignal, onPacket: () => void): void {
    onPacket();
    signal.throwIfAborted();
    this.packets++;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    watchAbort(signal, abort);
    void promise.then(resolve).finally(() => unwatchAbort(signal, abort));
  });
}

function replyOf(zones: ReadonlyMap<Name, Zone>, name: Name, type: number): Message {
  const answer = findAnswer(zones, name, type);
  return reply({
    aa: answer.authoritative,
    rcode: answer.rcode,
    answers: recordsIn(answer.answer),
    authorities: recordsIn([...answer.authority, ...dsBeside(answer)]),
    additionals: recordsIn([...answer.glue, ...answer.additional]),
  });
}

/** A signed parent sends the child's DS with its referral (RFC 4035 §3.1.4.1). */
export function dsBeside({ kind, authority, zone }: Answer): RecordSet[] {
  const cut = kind === 'referral' ? authority[0]?.owner : undefined;
  const ds = cut === undefined ? undefined : zone?.nodes.get(cut)?.sets.get(TYPE.DS);
  return ds === undefined ? [] : [ds];
}

export function reply(parts: Partial<Message>): Message {
  return {
    id: 0,
    qr: true,
    opcode: 0,
    aa: false,
    tc: false,
    rd: false,
    ra: false,
    ad: false,
    cd: false,
    rcode: RCODE.NOERROR,
    questions: [],
    answers: [],
    authorities: [],
    additionals: [],
    ...parts,
  };
}

/** Returns an authoritative answer with these records. */
export function answering(text = ''): Message {
  return reply({ aa: true, answers: recordsOf(text).map((record) => ({ ...record, class: CLASS.IN })) });
}

export function recordsIn(sets: readonly Omit<RecordSet, 'class'>[]): MessageRecord[] {
  return sets.flatMap(({ owner, type, ttl, rdata }) =>
    rdata.map((octets) => ({ owner, type, class: CLASS.IN, ttl, rdata: octets })),
  );
}

export function name(text: string): Name {
  return parseName(text, ROOT);
}
