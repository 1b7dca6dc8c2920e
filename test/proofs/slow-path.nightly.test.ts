// Mutated messages to the transfer thread cause no exception, no second answer over UDP and no growing memory. A valid
// signed request gets signed answers only, and no message gets a zone that its sender may not transfer.

import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { readTsig, signMessage, type TsigKey, verifyRequest } from '../../src/dns/message/tsig.ts';
import { TsigStreamVerifier } from '../../src/dns/message/tsig-stream.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../src/nameserver/answer/amplification-limit.ts';
import { assemble, queryFor, summarize } from '../support/answer/packets.ts';
import { axfr, type From, ixfr, keyOf, NOW, slowNode, TEXT, unframed } from '../support/answer/slow-node.ts';
import { mutateOctets } from '../support/random/mutate-octets.ts';
import { pick, type Random, randomFrom } from '../support/random/random-zones.ts';
import { watchReads } from '../support/tests/count-reads.ts';
import { heapOctets } from '../support/tests/heap-octets.ts';
import { scale } from '../support/tests/scale.ts';

/** Content of example.test. that only a transfer contains. */
const SECRET = 'a zone transfer';
const ZONE = `${TEXT}s0f9a2 300 TXT "${SECRET}"\n`;
const SOA_RECORD =
  '"secondary.test." 0006 0001 00000000 0016 00 00 00000009 00000000 00000000 00000000 00000000';
const SEEDS = [
  ...['example.test.', 'own.test.', 'apex.test.', 'long.test.'].flatMap((zone) => [
    axfr(zone),
    ixfr(6, zone),
  ]),
  axfr('example.test.', '9:'),
  ixfr(6, 'example.test.', 'OPT(size=4096 do)'),
  ixfr(7),
  queryFor('example.test.', TYPE.SOA, { opt: 'do cookie:2464c4abcf10c957' }),
  queryFor('example.test.', TYPE.SOA),
  queryFor('x1.long.test.', TYPE.TXT),
  assemble('1234 2400 0001 0000 0000 0000 "secondary.test." 0006 0001'),
  assemble(`1234 2400 0001 0001 0000 0000 "secondary.test." 0006 0001 ${SOA_RECORD}`),
  assemble('1234 2400 0001 0000 0000 0001 "example.test." 0006 0001 OPT()'),
  assemble(
    '1234 2800 0001 0000 0001 0000 "example.test." 0006 0001 "a.example.test." 0001 0001 0000003c 0004 c0000205',
  ),
];
const KEYS = ['acme.', 'other.', 'primary.', 'expired.', 'unreadable.', 'unknown.'].map(keyOf);
const FORGED: TsigKey = { ...keyOf('acme.'), secret: Buffer.alloc(32, 'guessed') };
/** The keys of KEYS that peers may sign with. */
const VALID = new Map(['acme.', 'other.'].map((name) => [keyOf(name).name, keyOf(name)]));
const ACME = keyOf('acme.').name;
// Sources of messages: two peers of slowNode, a primary, and a server that is neither.
const PEER_WITHOUT_KEY = '198.51.100.1';
const PEER_OF_ACME = '192.0.2.1';
const SOURCES = [PEER_WITHOUT_KEY, PEER_OF_ACME, '203.0.113.1', '203.0.113.9'];
const MAX_UDP_OCTETS = 1232;
const BATCH = 16;
/** Offsets of the numbers of questions and records in the header. */
const COUNTS = [4, 6, 8, 10];

interface Request extends From {
  readonly octets: Buffer;
}

function randomRequest(random: Random): Request {
  const from = { from: pick(random, SOURCES), tcp: random() < 0.5 };
  let octets = pick(random, SEEDS);
  if (random() < 0.3) octets = mutateOctets(random, octets);
  if (octets.length >= 12 && random() < 0.75) {
    const nowSeconds = random() < 0.95 ? NOW : NOW - 400;
    const key = pick(random, [...KEYS, KEYS[0] as TsigKey, KEYS[0] as TsigKey, FORGED]);
    octets = Buffer.from(signMessage(octets, key, { nowSeconds }).message);
    if (random() < 0.3) octets = mutateOctets(random, octets);
  }
  return { octets, ...from };
}

/** Returns the key of a valid signature, and its MAC. */
function signatureOf(octets: Uint8Array): { key: TsigKey; mac: Uint8Array } | undefined {
  const read = readTsig(octets);
  if (read.kind !== 'found') return undefined;
  const key = VALID.get(read.tsig.keyName);
  if (key === undefined || verifyRequest(octets, read.tsig, key, NOW).kind === 'bad') return undefined;
  return { key, mac: read.tsig.mac };
}

/** Returns a problem of the answer to a request, or undefined. */
function problemOf({ octets, from, tcp }: Request, messages: readonly Uint8Array[]): string | undefined {
  if (octets.length < 12 || (octets[2] as number) >= 0x80)
    return messages.length === 0 ? undefined : 'a message that is not a request is answered';
  if (!tcp && messages.some(({ length }) => length > MAX_UDP_OCTETS)) return 'an answer over UDP is too long';
  const decoded = messages.map(decodeMessage);
  if (decoded.some(({ id, qr }) => id !== octets.readUInt16BE(0) || !qr)) return 'an answer has another id';
  const signature = signatureOf(octets);
  const isSigned = readTsig(octets).kind !== 'none';
  if (signature !== undefined) {
    if (messages.length === 0) return 'a signed request is not answered';
    const verifier = new TsigStreamVerifier(signature.key, signature.mac);
    for (const message of messages)
      if (verifier.accept(message, NOW).kind === 'bad') return 'the answer to a signed request is not signed';
    if (!verifier.isComplete) return 'the last message is not signed';
  } else if (isSigned && decoded.some(({ answers, authorities }) => answers.length + authorities.length > 0))
    return 'a message with an invalid signature gets records';
  const isPeer = from === PEER_WITHOUT_KEY || (from === PEER_OF_ACME && signature?.key.name === ACME);
  const mayTransfer = isPeer && (!isSigned || signature !== undefined);
  if (!mayTransfer && messages.some((message) => Buffer.from(message).includes(SECRET)))
    return 'a zone is transferred to another source or key';
  return undefined;
}

/** Handles the requests together, and returns the messages of each answer. Some peers end the connection early. */
async function answersTo(
  node: ReturnType<typeof slowNode>,
  requests: readonly Request[],
  random: Random,
): Promise<Uint8Array[][]> {
  const answers = new Map(
    requests.map((request) => [node.handle(request.octets, request), [] as Uint8Array[]]),
  );
  const open = new Set(answers.keys());
  for (let round = 0; open.size > 0 || node.posted.length > 0; round++) {
    if (round > 100) throw new Error(`${open.size} messages are not answered`);
    for (const { id, octets, isLast } of node.posted.splice(0)) {
      if (!open.has(id)) throw new Error('a message is answered twice');
      if (octets !== undefined) answers.get(id)?.push(Uint8Array.from(octets)); // the next part uses its memory
      const ends = isLast || random() < 0.1;
      if (ends) open.delete(id);
      if (!isLast && ends) node.transfers.closed(id);
      if (!ends) node.transfers.more(id);
    }
    await nextRound();
  }
  const tcp = requests.map((request) => request.tcp);
  return [...answers.values()].map((parts, i) => (tcp[i] === true ? parts.flatMap(unframed) : parts));
}

function quietNode() {
  const errors: unknown[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => errors.push(fields) };
  return { node: slowNode({ log, zoneText: ZONE, limit: new AmplificationLimit(2 ** 30) }), errors };
}

test('mutated messages', async () => {
  const count = scale(10_000_000, 150_000);
  const random = randomFrom(20_262);
  const { node, errors } = quietNode();
  const outcomes = new Map<string, number>();
  let heapBefore = 0;
  for (let done = 0; done < count; done += BATCH) {
    if (heapBefore === 0 && done > count / 5) heapBefore = await settledHeap();
    const requests = Array.from({ length: BATCH }, () => randomRequest(random));
    for (const [i, messages] of (await answersTo(node, requests, random)).entries()) {
      const request = requests[i] as Request;
      const problem = problemOf(request, messages);
      if (problem !== undefined || errors.length > 0)
        throw new Error(`${problem} (${request.from}): ${request.octets.toString('hex')}`, { cause: errors });
      const [first] = messages;
      const outcome = first === undefined ? 'silence' : (summarize(first).split(' ')[0] as string);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    node.notified.length = 0;
    node.loads.length = 0;
  }
  expect([...outcomes.keys()]).toEqual(
    expect.arrayContaining(['NOERROR', 'FORMERR', 'SERVFAIL', 'NOTIMP', 'REFUSED', 'NOTAUTH', 'silence']),
  );
  expect(node.reports.take().reports.length).toBeLessThan(10);
  expect(Object.values(node.counters.state()).flat().length).toBeLessThan(40);
  expect((await settledHeap()) - heapBefore).toBeLessThan(4 << 20);
});

/** Memory of finished requests is freed only after further rounds of the event loop. */
async function settledHeap(): Promise<number> {
  heapOctets();
  await nextRound();
  return heapOctets();
}

test('the work for a message grows with its length only', async () => {
  const random = randomFrom(20_263);
  const { node } = quietNode();
  const longest = worstMessages();
  let most = 0;
  for (let i = scale(200_000, 10_000) + longest.length; i > 0; i--) {
    const { octets, ...from } =
      i <= longest.length ? { octets: longest[i - 1] as Buffer, tcp: true } : randomRequest(random);
    let reads = 0;
    node.handle(
      watchReads(octets, () => reads++),
      from,
    );
    most = Math.max(most, reads / (octets.length + 1000));
    if (i % BATCH === 0) await nextRound();
    for (const { id, isLast } of node.posted.splice(0)) if (!isLast) node.transfers.closed(id);
  }
  expect(most).toBeLessThan(5);
});

/** Returns messages of 64 KiB whose records have names of 255 octets behind compression pointers. */
function worstMessages(): Buffer[] {
  const question = assemble(`1234 2400 0001 0000 0000 0000 "${'a.'.repeat(126)}" 0006 0001`);
  const records = [
    'c00c 0010 0001',
    'c00c 0010 0001 00000000 0000',
    'c00c 0002 0001 00000000 0002 c00c',
    `c00c 0006 0001 00000000 0018 c00c c00c ${'00'.repeat(20)}`,
  ];
  return records.flatMap((text) => {
    const record = assemble(text);
    const count = Math.floor((0xffff - question.length) / record.length);
    return COUNTS.map((at) => {
      const message = Buffer.concat([question, ...Array.from({ length: count }, () => record)]);
      message.writeUInt16BE(count, at);
      return message;
    });
  });
}
