// A resolver for the generated zones: it has all of them, follows aliases, and has an address for each external name. For
// programs that use a single server, and for scans of zones whose own servers are down.

import { decodeMessage, type Message, type MessageRecord } from '../../src/dns/message/message.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { foldCase, type Name, nameInRdata, parseName } from '../../src/dns/name.ts';
import { rdataNames } from '../../src/dns/record/rdata.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import type { RecordSet, Zone } from '../../src/zone/zone.ts';
import { encodeMessage } from '../../test/support/answer/encode-message.ts';
import type { CorpusZone } from '../../test/support/corpus/scan-corpus.ts';
import { findAnswer } from '../../test/support/reference/find-answer.ts';
import { type Place, type Seat, sitDown } from '../../test/support/world/fake-internet.ts';

export interface RecursiveServer {
  readonly place: Place;
  /** Number of queries, including repeated ones. */
  asked: number;
  close(): Promise<void>;
}

const MAX_ALIASES = 8;
const MIN_UDP_OCTETS = 512;
const MAX_OCTETS = 65_535;
/** Address of every external name that a generated zone mentions. */
const ADDRESS_ELSEWHERE = Uint8Array.of(198, 18, 0, 1);

interface Known {
  readonly zones: Map<Name, Zone>;
  readonly elsewhere: Set<Name>;
}

export async function startRecursive(
  corpus: readonly CorpusZone[],
  place: Place,
  delayMs: number,
): Promise<RecursiveServer> {
  const known: Known = { zones: new Map(), elsewhere: new Set() };
  for (const { zone, children, records, ns } of corpus) {
    for (const each of [zone, ...children]) known.zones.set(each.apex, each);
    for (const { type, rdata } of records) {
      for (const target of rdataNames(type, rdata)) known.elsewhere.add(foldCase(target));
    }
    for (const server of ns) known.elsewhere.add(parseName(server));
  }
  const server = { asked: 0 };
  const seat: Seat = await sitDown(place, {
    receive(bytes, transport) {
      const query = readQuery(bytes);
      if (query === undefined) return [];
      server.asked++;
      const room = transport === 'tcp' ? MAX_OCTETS : (query.edns?.udpPayloadSize ?? MIN_UDP_OCTETS);
      const reply = encodeMessage(replyTo(query, known), Math.max(MIN_UDP_OCTETS, room));
      return [{ bytes: reply, delayMs, elsewhere: false }];
    },
    refusesTcp: () => false,
    deliver(packet, send) {
      if (packet.delayMs === 0) send();
      else setTimeout(send, packet.delayMs);
    },
  });
  return Object.assign(server, { place: seat.place, close: () => seat.close() });
}

function readQuery(bytes: Uint8Array): Message | undefined {
  try {
    const query = decodeMessage(bytes);
    return query.qr || query.questions.length !== 1 ? undefined : query;
  } catch {
    return undefined;
  }
}

function replyTo(query: Message, known: Known): Message {
  const [question] = query.questions;
  const found = question && resolve(known, foldCase(question.name), question.type);
  return {
    ...query,
    qr: true,
    aa: false,
    ra: true,
    rcode: found?.rcode ?? RCODE.SERVFAIL,
    answers: found?.answers ?? [],
    authorities: found?.authorities ?? [],
    additionals: [],
    ...(query.edns !== undefined && { edns: { ...query.edns, udpPayloadSize: 1232, options: [] } }),
  };
}

interface Resolved {
  readonly rcode: number;
  readonly answers: readonly MessageRecord[];
  readonly authorities: readonly MessageRecord[];
}

function resolve({ zones, elsewhere }: Known, asked: Name, type: number): Resolved {
  const answers: MessageRecord[] = [];
  let name = asked;
  for (let links = 0; links < MAX_ALIASES; links++) {
    const answer = findAnswer(zones, name, type);
    if (answer.kind === 'refused') {
      if (!elsewhere.has(name)) return { rcode: RCODE.NXDOMAIN, answers, authorities: [] };
      if (type === TYPE.A)
        answers.push({ owner: name, type, class: CLASS.IN, ttl: 300, rdata: ADDRESS_ELSEWHERE });
      return { rcode: RCODE.NOERROR, answers, authorities: [] };
    }
    answers.push(...recordsIn(answer.answer));
    if (answer.kind === 'referral') {
      const isOfCut = type === TYPE.NS && answer.authority[0]?.owner === name; // the same NS set that the zone below has
      return {
        rcode: RCODE.NOERROR,
        answers: isOfCut ? recordsIn(answer.authority) : answers,
        authorities: [],
      };
    }
    const last = answer.answer.at(-1);
    if (answer.kind !== 'answer' || last?.type !== TYPE.CNAME || type === TYPE.CNAME) {
      return { rcode: answer.rcode, answers, authorities: recordsIn(answer.authority) };
    }
    name = foldCase(nameInRdata(last.rdata[0] as Uint8Array));
  }
  return { rcode: RCODE.SERVFAIL, answers: [], authorities: [] };
}

function recordsIn(sets: readonly RecordSet[]): MessageRecord[] {
  return sets.flatMap(({ owner, type, ttl, rdata }) =>
    rdata.map((octets) => ({ owner, type, class: CLASS.IN, ttl, rdata: octets })),
  );
}
