// Replies of one address of a small internet: the zones that it serves, with our own answers, changed by its faults. The
// client must query as docs/rules.md "Delegation check" requires; other queries are recorded as wrong.

import { decodeMessage, FLAG, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, isWithin, type Name, prependLabel, printName } from '../../../src/dns/name.ts';
import { CLASS, TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { encodeMessage } from '../answer/encode-message.ts';
import { findAnswer } from '../reference/find-answer.ts';
import type { Fault, FaultKind, Script, ServerScript } from './read-world.ts';
import { dsBeside, recordsIn, reply } from './zone-exchange.ts';

export type Transport = 'udp' | 'tcp';

export interface Seen {
  readonly address: string;
  readonly name: Name;
  /** Spelling of the name in the query. */
  readonly spelled: Name;
  readonly type: number;
  readonly id: number;
  readonly transport: Transport;
  readonly edns: boolean;
}

/** One reply packet. `elsewhere` is sent from another port than the queried one. */
export interface Packet {
  readonly bytes: Uint8Array;
  readonly delayMs: number;
  readonly elsewhere: boolean;
}

/** Faults that prevent a usable reply over UDP. */
const NO_REPLIES: readonly FaultKind[] = [
  ...['silent', 'silent-udp', 'silent-on-edns', 'silent-on-case', 'closed'],
  ...['wrong-id', 'wrong-question', 'wrong-source', 'garbage', 'garbage-on-edns', 'loop-pointer', 'short'],
] as FaultKind[];
const MIN_UDP_OCTETS = 512; // RFC 1035 §4.2.1
const MAX_OCTETS = 65_535;
const SIZE_ASKED = 1232;

export class WorldServer {
  readonly #script: ServerScript;
  readonly #zoneOf: (apex: Name, variant: string | undefined) => Zone;
  readonly #report: (violation: string) => void;
  /** Number of queries that each fault affected. */
  readonly #met = new Map<Fault, number>();
  /** Number of replies from the zones, by type. */
  readonly #turns = new Map<number, number>();
  /** True once it has refused EDNS or given no usable reply: from then on it may be queried without EDNS. */
  #hasFailed = false;

  constructor(
    script: ServerScript,
    zoneOf: (apex: Name, variant: string | undefined) => Zone,
    report: (violation: string) => void,
  ) {
    this.#script = script;
    this.#zoneOf = zoneOf;
    this.#report = report;
  }

  /** Returns the reply packets and the query, which is undefined for an invalid message. `isDown`: no packet arrives. */
  receive(
    bytes: Uint8Array,
    transport: Transport,
    isDown = false,
  ): { seen: Seen; packets: Packet[] } | undefined {
    if (isDown) this.#hasFailed = true;
    const query = this.#read(bytes, transport);
    const question = query?.questions[0];
    if (query === undefined || question === undefined) return undefined;
    const name = foldCase(question.name);
    const { type } = question;
    const edns = query.edns !== undefined;
    const seen = {
      address: this.#script.address,
      name,
      spelled: question.name,
      type,
      id: query.id,
      transport,
      edns,
    };
    if (this.#script.never.some((barred) => isWithin(name, barred))) {
      this.#wrong(`${printName(name)} ${typeMnemonic(type)} must not be queried here`);
    }
    const faults = this.#faultsFor(name);
    return { seen, packets: this.#reply(query, name, type, transport, faults) };
  }

  #read(bytes: Uint8Array, transport: Transport): Message | undefined {
    let query: Message;
    try {
      query = decodeMessage(bytes);
    } catch (error) {
      this.#wrong(`a query cannot be parsed: ${(error as Error).message}`);
      return undefined;
    }
    const { questions, edns } = query;
    if (query.qr || query.opcode !== 0 || questions.length !== 1)
      this.#wrong('it does not have exactly one question');
    if (questions[0]?.class !== CLASS.IN) this.#wrong('a query has another class');
    if (query.rd !== this.#script.recursive || query.aa || query.tc)
      this.#wrong(`a query has ${query.rd ? '' : 'no '}RD, AA or TC`);
    if (edns === undefined) {
      if (!this.#hasFailed) this.#wrong('a query has no EDNS');
    } else if (!edns.dnssecOk || (transport === 'udp' && edns.udpPayloadSize !== SIZE_ASKED)) {
      this.#wrong('a query has no DO bit or another payload size');
    }
    return query;
  }

  #wrong(what: string): void {
    this.#report(`${this.#script.address} (${printName(this.#script.name)}): ${what}`);
  }

  /** Returns the faults that still apply, by kind, and counts them. */
  #faultsFor(name: Name): ReadonlyMap<FaultKind, Fault> {
    const faults = new Map<FaultKind, Fault>();
    for (const fault of this.#script.faults) {
      if (fault.on !== undefined && !isWithin(name, fault.on)) continue;
      const met = (this.#met.get(fault) ?? 0) + 1;
      this.#met.set(fault, met);
      if (met <= fault.first) faults.set(fault.kind, fault);
    }
    return faults;
  }

  #reply(
    query: Message,
    name: Name,
    type: number,
    transport: Transport,
    faults: ReadonlyMap<FaultKind, Fault>,
  ): Packet[] {
    if (NO_REPLIES.some((kind) => faults.has(kind))) this.#hasFailed = true;
    const spelled = query.questions[0]?.name ?? name;
    const isMixed = spelled !== foldCase(spelled);
    if (faults.has('silent') || faults.has(`silent-${transport}`)) return [];
    if (query.edns !== undefined && faults.has('silent-on-edns')) return [];
    if (isMixed && faults.has('silent-on-case')) return [];
    const packet = (bytes: Uint8Array, elsewhere = false): Packet => ({
      bytes,
      delayMs: faults.get('slow')?.value ?? 0,
      elsewhere,
    });
    const message =
      isMixed && faults.has('refused-on-case')
        ? replyTo(query, { rcode: RCODE.REFUSED })
        : this.#message(query, name, type, transport, faults);
    const room =
      transport === 'tcp' ? MAX_OCTETS : (message.edns && query.edns?.udpPayloadSize) || MIN_UDP_OCTETS;
    const bytes = encodeMessage(message, room);
    const isGarbage = faults.has('garbage') || (query.edns !== undefined && faults.has('garbage-on-edns'));
    if (isGarbage) return [packet(garbageFor(query))];
    if (faults.has('loop-pointer')) return [packet(loopFor(query))];
    if (faults.has('short')) return [packet(bytes.subarray(0, 7))];
    if (faults.has('wrong-id')) return [packet(withOtherId(bytes))];
    if (faults.has('wrong-question')) return [packet(encodeMessage(withOtherQuestion(message), room))];
    if (faults.has('wrong-source')) return [packet(bytes, true)];
    if (faults.has('lower-case')) return [packet(encodeMessage(withFoldedQuestion(message), room))];
    const before: Packet[] = [];
    if (transport === 'udp') {
      const lie = replyTo(query, { aa: true, rcode: RCODE.NXDOMAIN }); // the forged answer
      if (faults.has('forged-id')) before.push(packet(withOtherId(encodeMessage(lie))));
      if (faults.has('forged-question')) before.push(packet(encodeMessage(withOtherQuestion(lie))));
      if (faults.has('forged-case')) before.push(packet(encodeMessage(withFoldedQuestion(lie))));
    }
    return [...before, packet(bytes), ...(faults.has('twice') ? [packet(bytes)] : [])];
  }

  #message(
    query: Message,
    name: Name,
    type: number,
    transport: Transport,
    faults: ReadonlyMap<FaultKind, Fault>,
  ): Message {
    const rcode = faults.get('rcode')?.value;
    if (rcode !== undefined) {
      if (WITHOUT_EDNS_PLEASE.has(rcode)) this.#hasFailed = true;
      return replyTo(query, { rcode });
    }
    if (query.edns !== undefined && (faults.has('formerr-on-edns') || faults.has('formerr-header'))) {
      this.#hasFailed = true;
      const questions = faults.has('formerr-header') ? [] : query.questions;
      return withoutEdns(replyTo(query, { rcode: RCODE.FORMERR, questions }));
    }
    if (faults.has('lame') || (transport === 'tcp' && faults.has('lame-tcp'))) return replyTo(query, {});
    if (faults.has('upward-referral')) return replyTo(query, { authorities: ROOT_REFERRAL });
    let message = this.#honest(query, name, type, faults);
    for (const { section, record } of this.#script.adds) {
      if (section === 'answer') message = { ...message, answers: [...message.answers, asSent(record)] };
      else if (section === 'authority')
        message = { ...message, authorities: [...message.authorities, asSent(record)] };
      else message = { ...message, additionals: [...message.additionals, asSent(record)] };
    }
    if (faults.has('no-aa')) message = { ...message, aa: false, ra: true };
    if (['ignores-edns', 'formerr-on-edns', 'formerr-header'].some((kind) => faults.has(kind as FaultKind)))
      message = withoutEdns(message);
    if (faults.has('huge')) message = { ...message, additionals: [...message.additionals, ...padding()] };
    if (transport === 'udp' && (faults.has('truncate') || faults.has('huge'))) {
      return { ...message, tc: true, answers: [], authorities: [], additionals: [] };
    }
    const isCutShort = faults.has('half-always') || (transport === 'udp' && faults.has('half'));
    return isCutShort ? halfOf(message) : message;
  }

  #honest(query: Message, name: Name, type: number, faults: ReadonlyMap<FaultKind, Fault>): Message {
    const script = this.#script.scripts.find((other) => other.name === name && other.type === type);
    if (script !== undefined) return replyTo(query, fromScript(script));
    const zones = new Map<Name, Zone>();
    const turn = this.#turns.get(type) ?? 0;
    this.#turns.set(type, turn + 1);
    for (const { apex, variants } of this.#script.serves)
      zones.set(apex, this.#zoneOf(apex, variants[turn % variants.length]));
    const answer = findAnswer(zones, name, type);
    if (answer.kind === 'refused') {
      this.#wrong(`${printName(name)} ${typeMnemonic(type)} is outside its zones`);
      return replyTo(query, { rcode: RCODE.REFUSED });
    }
    const isEmptyNode = answer.kind === 'nodata' && answer.zone?.nodes.get(name)?.sets.size === 0;
    const { recursive } = this.#script;
    return replyTo(query, {
      aa: answer.authoritative && !recursive,
      ra: recursive,
      rcode: isEmptyNode && faults.has('nxdomain-for-ent') ? RCODE.NXDOMAIN : answer.rcode,
      answers: recordsIn(answer.answer),
      authorities: recordsIn([...answer.authority, ...dsBeside(answer)]),
      additionals: recordsIn([...answer.glue, ...answer.additional]),
    });
  }
}

const ROOT_REFERRAL: MessageRecord[] = [
  {
    owner: '\0' as Name,
    type: TYPE.NS,
    class: CLASS.IN,
    ttl: 518400,
    rdata: Buffer.from('\x01a\x04root\0', 'latin1'),
  },
];

/** RFC 6891 §7, RFC 1035: such a server may be queried again without EDNS. */
const WITHOUT_EDNS_PLEASE: ReadonlySet<number> = new Set([RCODE.FORMERR, RCODE.NOTIMP, RCODE.BADVERS]);

/** Returns the first record of each section, with TC. */
function halfOf(message: Message): Message {
  const { answers, authorities, additionals } = message;
  return {
    ...message,
    tc: true,
    answers: answers.slice(0, 1),
    authorities: authorities.slice(0, 1),
    additionals: additionals.slice(0, 1),
  };
}

export function replyTo(query: Message, parts: Partial<Message>): Message {
  const edns =
    query.edns === undefined ? {} : { edns: { ...query.edns, udpPayloadSize: SIZE_ASKED, options: [] } };
  return reply({ id: query.id, rd: query.rd, questions: query.questions, ...edns, ...parts });
}

function withoutEdns({ edns: _, ...message }: Message): Message {
  return message;
}

function fromScript({ aa, rcode, sections }: Script): Partial<Message> {
  return {
    aa,
    rcode,
    answers: sections.answer.map(asSent),
    authorities: sections.authority.map(asSent),
    additionals: sections.additional.map(asSent),
  };
}

function asSent(record: ZoneRecord): MessageRecord {
  return { ...record, class: CLASS.IN };
}

function withOtherId(bytes: Uint8Array): Uint8Array {
  const other = Uint8Array.from(bytes);
  other[0] = (other[0] as number) ^ 0x55;
  return other;
}

function withOtherQuestion(message: Message): Message {
  const [question] = message.questions;
  if (question === undefined) return message;
  const name = prependLabel('other', question.name) ?? question.name;
  return { ...message, questions: [{ ...question, name }] };
}

function withFoldedQuestion(message: Message): Message {
  return { ...message, questions: message.questions.map((one) => ({ ...one, name: foldCase(one.name) })) };
}

/** The header of a reply that claims to have records, followed by invalid octets. */
function garbageFor(query: Message): Uint8Array {
  const bytes = Buffer.alloc(64, 0xbf);
  bytes.writeUInt16BE(query.id, 0);
  bytes.writeUInt16BE(FLAG.QR | FLAG.AA, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(3, 6);
  return bytes;
}

/** A question whose name is a pointer to itself. */
function loopFor(query: Message): Uint8Array {
  const bytes = Buffer.alloc(18);
  bytes.writeUInt16BE(query.id, 0);
  bytes.writeUInt16BE(FLAG.QR | FLAG.AA, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(0xc00c, 12);
  bytes.writeUInt16BE(TYPE.NS, 14);
  bytes.writeUInt16BE(CLASS.IN, 16);
  return bytes;
}

/** As many records as fill a message to the maximum length of a TCP frame. */
function padding(): MessageRecord[] {
  const text = Buffer.alloc(256, 0x78);
  text[0] = 255;
  return Array.from({ length: 300 }, (_, i) => ({
    owner: `${String.fromCharCode(4)}${String(i).padStart(4, '0')}\0` as Name,
    type: TYPE.TXT,
    class: CLASS.IN,
    ttl: 60,
    rdata: text,
  }));
}
