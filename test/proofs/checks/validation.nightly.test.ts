// Unbound and the resolver agree on what is secure, insecure and bogus, for random chains of valid and faulty zones.
// Each difference has a known reason, and the resolver is the stricter one.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { decodeMessage, FLAG, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, isWithin, labelCount, type Name, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { createExchange } from '../../../src/resolver/exchange/exchange.ts';
import { createResolver, type Resolver } from '../../../src/resolver/resolver.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { zoneFor } from '../../support/dnssec/signed-exchange.ts';
import { SignedZone } from '../../support/dnssec/signed-zone.ts';
import {
  dsOf,
  KEY_SIGNING_KEY,
  makeKey,
  REVOKED,
  type SigningKey,
  type SigningTime,
  withFlags,
  ZONE_KEY,
} from '../../support/dnssec/signing.ts';
import { askMany, isInstalled } from '../../support/peers/peers.ts';
import { pick, type Random, randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { startUnbound } from '../../support/validators/unbound.ts';
import { recursive, type ValidatingResolver } from '../../support/validators/validator.ts';
import { type Place, type Seat, sitDown } from '../../support/world/fake-internet.ts';
import { ROOT_A } from '../../support/world/test-resolver.ts';
import { name } from '../../support/world/zone-exchange.ts';

interface Chain {
  readonly asked: Name;
  /** The type to query a validator for: DS, or CNAME itself, because its target is irrelevant. */
  readonly type: number;
  /** From the top-level domain down. */
  readonly zones: readonly SignedZone[];
  /** DS records of the top-level domain in the root. */
  readonly ds: readonly Uint8Array[];
  /** Description of the random choices. */
  readonly drawn: readonly string[];
  /** Changes that the servers of the last zone make to their answers about the name, and to their keys. */
  readonly alter: (message: Message, type: number) => Message;
}

/** Addresses of the servers of each level below the root. */
const LEVEL_ADDRESSES = ['192.5.6.30', '192.42.93.30'] as const;

const ALGORITHMS = [8, 10, 13, 14, 15];
/** An unassigned number. */
const UNKNOWN_ALGORITHM = 23;
const DAY = 86_400;

const KINDS = {
  'delegation with DS': 'signed',
  'delegation without DS': 'plain',
  'delegation without DS below an empty non-terminal': 'under.hollow',
  'no delegation': 'a',
  'empty non-terminal': 'ent',
  'empty non-terminal above an unsigned delegation': 'hollow',
  'name that is not there': 'none',
  'deep name that is not there': 'x.y.none',
  'name below an empty non-terminal': 'c.ent',
  alias: 'cname',
  'alias from a wildcard': 'x.wild',
  'wildcard without NS': 'x.typed',
  'name below a DNAME': 'x.to',
} as const;

const CONTENT = `signed NS ns.elsewhere.
plain NS ns.elsewhere.
under.hollow NS ns.elsewhere.
a A 192.0.2.1
a.b.ent A 192.0.2.1
cname CNAME a
to DNAME tgt
x.tgt NS ns.elsewhere.
*.wild CNAME a
*.typed TXT "no delegation"
`;

/** Keys are expensive to create, so chains share some. */
class KeyRing {
  readonly #keys = new Map<number, SigningKey[]>();

  draw(random: Random, algorithm: number, flags: number): SigningKey {
    const kept = this.#keys.get(algorithm) ?? Array.from({ length: 3 }, () => makeKey(algorithm));
    this.#keys.set(algorithm, kept);
    return withFlags(pick(random, kept), flags);
  }
}

function randomChain(random: Random, index: number, keys: KeyRing, now: number): Chain {
  const drawn: string[] = [];
  const tld = name(`t${index}`);
  const levels = random() < 0.6 ? 1 : 2;
  let child =
    levels === 2 ? randomZone(random, name(`p.t${index}`), keys, { now, drawn, isLast: true }) : undefined;
  const top = randomZone(random, tld, keys, { now, drawn, isLast: child === undefined, child });
  child ??= top;
  const zones = child === top ? [top.zone] : [top.zone, child.zone];
  const kind = pick(random, Object.keys(KINDS) as (keyof typeof KINDS)[]);
  const asked = name(`${KINDS[kind]}.${levels === 2 ? 'p.' : ''}t${index}`);
  const fault = random() < 0.55 ? 'none' : pick(random, Object.keys(FAULTS));
  drawn.push(`asked: ${kind}`, `fault: ${fault}`);
  const last = zones.at(-1) as SignedZone;
  const seed = Math.floor(random() * 256);
  const alter = (message: Message, type: number) => alterFor(fault, message, type, { last, seed });
  const isAlias = kind.startsWith('alias');
  return { asked, type: isAlias ? TYPE.CNAME : TYPE.DS, zones, ds: top.ds, drawn, alter };
}

interface MadeZone {
  readonly zone: SignedZone;
  readonly ds: readonly Uint8Array[];
}

function randomZone(
  random: Random,
  apex: Name,
  ring: KeyRing,
  options: { now: number; drawn: string[]; isLast: boolean; child?: MadeZone | undefined },
): MadeZone {
  const { now, drawn, isLast, child } = options;
  const algorithm = random() < 0.06 ? UNKNOWN_ALGORITHM : pick(random, ALGORITHMS);
  const isSplit = random() < 0.5;
  const entry = ring.draw(random, algorithm, KEY_SIGNING_KEY);
  const others = isSplit ? [ring.draw(random, algorithm, ZONE_KEY)] : [];
  const isRevoked = random() < 0.02;
  const signer = isRevoked ? withFlags(entry, KEY_SIGNING_KEY | REVOKED) : entry;
  const isUnsigned = random() < 0.06;
  const time = randomTime(random, now);
  const denial = randomDenial(random);
  const { ds, words } = randomDs(random, apex, { entry: signer, ring, algorithm, isUnsigned });
  drawn.push(
    `${isLast ? 'parent' : 'above'}: ${isUnsigned ? 'unsigned' : `algorithm ${algorithm}${isSplit ? ' split' : ''}`}`,
    ...(isRevoked ? ['revoked key'] : []),
    `DS: ${words}`,
    `time: ${time.words}`,
    `denial: ${denialWords(denial)}`,
  );
  const own = isLast ? CONTENT : 'p NS ns.p\nns.p A 192.42.93.30\n';
  const signed = ['signed', 'x.tgt'].map(
    (label) => [name(`${label}.${printName(apex)}`), DS_OF_A_CHILD] as const,
  );
  const below = isLast ? signed : [[name(`p.${printName(apex)}`), child?.ds ?? []] as const];
  const zone = new SignedZone({
    apex,
    text: `@ NS a.gtld.\n${own}`,
    ds: new Map(below),
    keys: { entry: [signer], others },
    time,
    denial,
    isUnsigned,
  });
  return { zone, ds };
}

const DS_OF_A_CHILD = [dsOf(name('elsewhere'), makeKey(13))];

function randomDs(
  random: Random,
  apex: Name,
  {
    entry,
    ring,
    algorithm,
    isUnsigned,
  }: { entry: SigningKey; ring: KeyRing; algorithm: number; isUnsigned: boolean },
): { ds: readonly Uint8Array[]; words: string } {
  if (isUnsigned)
    return random() < 0.2 ? { ds: [dsOf(apex, entry)], words: 'left over' } : { ds: [], words: 'none' };
  const other = makeKey(13);
  const foreign = ring.draw(random, UNKNOWN_ALGORITHM, KEY_SIGNING_KEY);
  const roll = random();
  if (roll < 0.6) return { ds: [dsOf(apex, entry)], words: 'right' };
  if (roll < 0.66) return { ds: [], words: 'missing' };
  if (roll < 0.7) return { ds: [dsOf(apex, other)], words: 'of another key' };
  if (roll < 0.74) return { ds: [dsOf(name('other'), entry)], words: 'of another zone' };
  if (roll < 0.78) return { ds: [dsOf(apex, entry, 1)], words: 'SHA-1' };
  if (roll < 0.82) return { ds: [dsOf(apex, entry, 4)], words: 'SHA-384' };
  if (roll < 0.86) return { ds: [dsOf(apex, entry, 1), dsOf(apex, entry, 2)], words: 'SHA-1 and SHA-256' };
  if (roll < 0.88)
    return { ds: [dsOf(apex, entry, 1), dsOf(apex, other, 2)], words: 'SHA-1 right, SHA-256 wrong' };
  if (roll < 0.91) return { ds: [dsOf(apex, entry, 200)], words: 'unknown digest' };
  if (roll < 0.94) return { ds: [dsOf(apex, foreign)], words: 'unknown algorithm' };
  if (roll < 0.97)
    return { ds: [dsOf(apex, other), dsOf(apex, entry)], words: `a spare key and algorithm ${algorithm}` };
  return { ds: [dsOf(apex, foreign), dsOf(apex, entry)], words: 'unknown algorithm and right' };
}

function randomTime(random: Random, now: number): SigningTime & { words: string } {
  const life = pick(random, [2 * 3600, DAY, 30 * DAY, 365 * DAY]);
  const skew = Math.min(DAY, Math.max(3600, life / 10));
  const roll = random();
  if (roll < 0.82) return { inception: now - life / 2, expiration: now + life / 2, words: 'valid' };
  const [share, verdict] = roll < 0.88 ? [0.5, 'within the skew'] : [1.5, 'beyond the skew'];
  const offset = Math.round(skew * (share as number));
  return random() < 0.5
    ? { inception: now - offset - life, expiration: now - offset, words: `expired ${verdict}` }
    : { inception: now + offset, expiration: now + offset + life, words: `not yet, ${verdict}` };
}

function randomDenial(random: Random): DenialStyle {
  if (random() < 0.45) return { kind: 'nsec' };
  const iterations = random() < 0.12 ? pick(random, [101, 150, 500]) : pick(random, [0, 0, 1, 10, 100]);
  const salt = Uint8Array.from({ length: pick(random, [0, 1, 8, 40]) }, () => Math.floor(random() * 256));
  return { kind: 'nsec3', iterations, salt, optOut: random() < 0.4 };
}

function denialWords(denial: DenialStyle): string {
  if (denial.kind === 'nsec') return 'NSEC';
  return `NSEC3 ${denial.iterations} iterations${denial.optOut ? ' opt-out' : ''}`;
}

interface Altering {
  readonly last: SignedZone;
  readonly seed: number;
}

type Alter = (message: Message, altering: Altering) => Message;

const isDenial = (record: MessageRecord) => record.type === TYPE.NSEC || record.type === TYPE.NSEC3;
const isProof = (record: MessageRecord) =>
  isDenial(record) || covers(record, TYPE.NSEC) || covers(record, TYPE.NSEC3);
const stripSignatures: Alter = (message) => kept(message, (record) => record.type !== TYPE.RRSIG);
const spoilLast = (is: (record: MessageRecord) => boolean): Alter => {
  return (message) =>
    mapped(message, (record) => (is(record) ? spoilt(record, record.rdata.length - 1) : record));
};
const spoilSignatures = spoilLast(({ type }) => type === TYPE.RRSIG);

const FAULTS: Readonly<Record<string, Alter>> = {
  'signatures stripped': stripSignatures,
  'signatures spoilt': spoilSignatures,
  'proof stripped': (message) => kept(message, (record) => !isProof(record)),
  'one record of the proof stripped': (message, { seed }) => {
    const owners = [...new Set(message.authorities.filter(isDenial).map(({ owner }) => owner))];
    const gone = owners[seed % Math.max(1, owners.length)];
    return kept(message, (record) => !(isProof(record) && record.owner === gone));
  },
  'proof of another name': (message, { last }) => {
    const other = last.answer({ name: name(`zzz.${printName(last.apex)}`), type: TYPE.DS });
    const rest = message.authorities.filter((record) => !isProof(record));
    return { ...message, authorities: [...rest, ...other.authorities.filter(isProof)] };
  },
  'types of the proof changed': spoilLast(isDenial),
  'DS set stripped': (message) =>
    kept(message, (record) => record.type !== TYPE.DS && !covers(record, TYPE.DS)),
  'DS set changed': (message) =>
    mapped(message, (record) => (record.type === TYPE.DS ? spoilt(record, 10) : record)),
  'alias changed': (message, { last }) =>
    mapped(message, (record) =>
      record.type === TYPE.CNAME || record.type === TYPE.DNAME
        ? { ...record, rdata: Uint8Array.from(Buffer.from(last.apex, 'latin1')) }
        : record,
    ),
  'keys without signatures': stripSignatures,
  'keys with spoilt signatures': spoilSignatures,
  'signature of another type': (message, { last }) => {
    const { answers } = last.answer({ name: last.apex, type: TYPE.SOA });
    const soa = answers.find(({ type }) => type === TYPE.RRSIG)?.rdata.subarray(18);
    return mapped(message, (record) =>
      record.type !== TYPE.RRSIG || soa === undefined
        ? record
        : { ...record, rdata: Uint8Array.from([...record.rdata.subarray(0, 18), ...soa]) },
    );
  },
};

/** The same answers about the queried name, for NS and DS. */
function alterFor(fault: string, message: Message, type: number, altering: Altering): Message {
  const aboutKeys = type === TYPE.DNSKEY;
  if (aboutKeys !== fault.startsWith('keys')) return message;
  return FAULTS[fault]?.(message, altering) ?? message;
}

function covers({ type, rdata }: MessageRecord, covered: number): boolean {
  return type === TYPE.RRSIG && rdata[0] === 0 && rdata[1] === covered;
}

function kept(message: Message, keep: (record: MessageRecord) => boolean): Message {
  return { ...message, answers: message.answers.filter(keep), authorities: message.authorities.filter(keep) };
}

function mapped(message: Message, map: (record: MessageRecord) => MessageRecord): Message {
  return { ...message, answers: message.answers.map(map), authorities: message.authorities.map(map) };
}

function spoilt(record: MessageRecord, at: number): MessageRecord {
  const rdata = Uint8Array.from(record.rdata);
  rdata[at] = (rdata[at] as number) ^ 4;
  return { ...record, rdata };
}

function rootFor(chains: readonly Chain[], key: SigningKey, now: number): SignedZone {
  const lines = chains.map(({ zones }) => `${printName((zones[0] as SignedZone).apex)} NS a.gtld.`);
  return new SignedZone({
    apex: name('.'),
    text: `@ NS a.root.\na.root. A 198.41.0.4\na.gtld. A ${LEVEL_ADDRESSES[0]}\n${lines.join('\n')}\n`,
    ds: new Map(chains.map(({ zones, ds }) => [(zones[0] as SignedZone).apex, ds])),
    keys: { entry: [key], others: [] },
    time: { inception: now - DAY, expiration: now + 30 * DAY },
    denial: { kind: 'nsec' },
  });
}

/** The chain of a query. */
function chainOf(chains: readonly Chain[], asked: Name): Chain | undefined {
  const wanted = foldCase(asked);
  const top = /t(\d+)\0$/.exec(wanted)?.[1];
  const chain = top === undefined ? undefined : chains[Number(top)];
  return chain !== undefined && isWithin(wanted, (chain.zones[0] as SignedZone).apex) ? chain : undefined;
}

const MIN_UDP_OCTETS = 512;
const MAX_OCTETS = 65_535;
const LEVELS = 3;

interface ChainInternet {
  /** Servers of the root, and of each level below it. */
  readonly ports: readonly number[];
  close(): Promise<void>;
}

async function serveChains(root: SignedZone, chains: readonly Chain[]): Promise<ChainInternet> {
  const seats: Seat[] = [];
  for (let level = 0; level < LEVELS; level++) {
    const answer = (asked: Name, type: number): Message | undefined => {
      if (level === 0) return root.answer({ name: asked, type });
      const chain = chainOf(chains, asked);
      const zone = chain?.zones[level - 1];
      if (chain === undefined || zone === undefined || zoneFor([zone], { name: asked, type }) === undefined)
        return undefined;
      const message = zone.answer({ name: asked, type });
      const isAltered = zone === chain.zones.at(-1) && (asked === chain.asked || type === TYPE.DNSKEY);
      return isAltered ? chain.alter(message, type) : message;
    };
    seats.push(await serveAt({ address: '127.0.0.1', port: 0 }, answer));
  }
  return {
    ports: seats.map(({ place }) => place.port),
    close: async () => {
      for (const seat of seats) await seat.close();
    },
  };
}

/** UDP and TCP on one port. No answer means silence. */
function serveAt(place: Place, answer: (asked: Name, type: number) => Message | undefined): Promise<Seat> {
  return sitDown(place, {
    receive(bytes, transport) {
      const query = decodeMessage(bytes);
      const question = query.questions[0];
      const message = question && answer(foldCase(question.name), question.type);
      if (message === undefined) return [];
      const room = transport === 'tcp' ? MAX_OCTETS : (query.edns?.udpPayloadSize ?? MIN_UDP_OCTETS);
      const { id, questions } = query;
      const edns = { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] };
      const reply = encodeMessage({ ...message, id, questions, edns }, Math.max(MIN_UDP_OCTETS, room));
      return [{ bytes: reply, delayMs: 0, elsewhere: false }];
    },
    refusesTcp: () => false,
    deliver: (_, send) => send(),
  });
}

const missing = isInstalled('unbound') ? '' : ' (skipped: needs unbound)';
const CHAINS = scale(2000, 150);
const AT_ONCE = 20;
const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_122);

type Security = 'secure' | 'insecure' | 'bogus';

/** Result of a check of the name: about the parent, and about its answer. */
function ours({ security, failure, servers }: Evidence): Security {
  const [server] = servers;
  if (failure !== undefined || server === undefined) return 'bogus';
  if (!['referral', 'nodata', 'nxdomain', 'alias'].includes(server.outcome)) return 'bogus';
  return security === 'secure' ? (server.proof ?? 'bogus') : 'insecure';
}

function theirs(reply: Uint8Array | undefined): Security | 'nothing' {
  if (reply === undefined) return 'nothing';
  const { rcode } = decodeMessage(reply);
  if (rcode === RCODE.SERVFAIL) return 'bogus';
  return ((reply[3] as number) & FLAG.AD) !== 0 ? 'secure' : 'insecure';
}

/** True if the two differ on purpose. */
function isMeant({ drawn, asked, zones }: Chain, mine: Security, other: string): boolean {
  if (mine !== 'bogus') return false;
  const has = (words: string) => drawn.some((each) => each.includes(words));
  // A DS record of a revoked key is not trusted here (RFC 5011 §2.1); Unbound checks REVOKE in its anchors only. A SHA-1
  // digest is ignored if there is a SHA-256 one (RFC 4509 §3), by Unbound with harden-algo-downgrade only.
  if (has('revoked key') || has('SHA-1 right, SHA-256 wrong')) return true;
  // Unbound searches for an unsigned zone between the parent and the name. Opt-out and costly hashes do not rule one out,
  // but the reply is from the parent itself.
  const isDeep = labelCount(asked) > labelCount((zones.at(-1) as SignedZone).apex) + 1;
  const parent = drawn.find((each) => each.startsWith('denial')) ?? '';
  return other === 'insecure' && isDeep && /NSEC3 (101|150|500) iterations|opt-out/.test(parent);
}

describe.skipIf(missing !== '')(`the resolver and Unbound${missing}`, () => {
  const now = Math.floor(Date.now() / 1000);
  const key = makeKey(13);
  const anchor = dsOf(name('.'), key);
  let chains: readonly Chain[] = [];
  let internet: ChainInternet;
  let unbound: ValidatingResolver;
  let resolver: Resolver;

  beforeAll(async () => {
    const random = randomFrom(SEED);
    const keys = new KeyRing();
    chains = Array.from({ length: CHAINS }, (_, i) => randomChain(random, i, keys, now));
    internet = await serveChains(rootFor(chains, key, now), chains);
    const stubs = chains.flatMap(({ zones }) =>
      zones.map(({ apex }, i) => ({ zone: printName(apex), port: internet.ports[i + 1] as number })),
    );
    const root = { zone: '.', port: internet.ports[0] as number };
    unbound = await startUnbound({
      anchors: [`. IN DS ${printRdata(TYPE.DS, anchor)}`],
      reached: { stubs: [root, ...stubs] },
    });
    const places = [ROOT_A, ...LEVEL_ADDRESSES];
    resolver = createResolver({
      exchange: createExchange({
        port: 53,
        route: (address) => ({
          address: '127.0.0.1',
          port: internet.ports[places.indexOf(address)] as number,
        }),
      }),
      rootServers: [{ name: name('a.root'), addresses: [ROOT_A] }],
      allowed: [],
      rates: { take: async () => {} },
      hasIpv6: () => false,
      trustAnchors: () => [anchor],
    });
  });

  afterAll(async () => {
    await resolver?.close();
    await unbound?.stop();
    await internet?.close();
  });

  it(`agree on ${CHAINS} random chains`, async () => {
    const mine = new Map<Chain, Evidence>();
    for (let from = 0; from < chains.length; from += AT_ONCE) {
      const part = chains.slice(from, from + AT_ONCE);
      const seen = await Promise.all(part.map(({ asked }) => resolver.observeDelegation(asked)));
      for (const [i, chain] of part.entries()) mine.set(chain, seen[i] as Evidence);
    }
    const queries = chains.map(({ asked, type }) => recursive(asked, type));
    const replies = await askMany(unbound.port, queries, { tries: 4, timeoutMs: 15_000 });

    const counts = new Map<string, number>();
    const unexplained: string[] = [];
    for (const [i, chain] of chains.entries()) {
      const evidence = mine.get(chain) as Evidence;
      const [we, they] = [ours(evidence), theirs(replies[i])];
      counts.set(`${we} ${they}`, (counts.get(`${we} ${they}`) ?? 0) + 1);
      if (we === they) continue;
      if (isMeant(chain, we, they)) continue;
      const why = evidence.failure?.message ?? evidence.servers[0]?.error ?? evidence.servers[0]?.outcome;
      unexplained.push(
        `${printName(chain.asked)} we: ${we} (${why}), Unbound: ${they}; ${chain.drawn.join(', ')}`,
      );
    }
    expect(unexplained).toEqual([]);
    // Where the two differ, the resolver is the stricter one.
    expect(
      counts.get('secure insecure') ?? counts.get('secure bogus') ?? counts.get('insecure bogus'),
    ).toBeUndefined();
    for (const each of ['secure', 'insecure', 'bogus'])
      expect(counts.get(`${each} ${each}`) ?? 0).toBeGreaterThan(chains.length / 20);
  });
});
