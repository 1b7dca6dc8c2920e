// Transfers from primaries on loopback: a fake one that lies, and NSD and Knot.

import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../src/dns/message/message.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import {
  readTsig,
  signMessage,
  type TsigAlgorithm,
  type TsigKey,
  verifyRequest,
} from '../../src/dns/message/tsig.ts';
import { TsigStreamSigner } from '../../src/dns/message/tsig-stream.ts';
import { parseName } from '../../src/dns/name.ts';
import { networksOf } from '../../src/dns/record/network.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import type { Primary, PrimaryOptions } from '../../src/resolver/transfer/primary.ts';
import { querySoa } from '../../src/resolver/transfer/query-soa.ts';
import { type TransferOrder, transferZone } from '../../src/resolver/transfer/transfer-zone.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { applyDifferences, touchedSets } from '../../src/zone/transfer/apply-difference.ts';
import type { TransferResult } from '../../src/zone/transfer/read-transfer.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { encodeMessage } from '../support/answer/encode-message.ts';
import { framed } from '../support/answer/sockets.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { startTransferPeer, TRANSFER_PROGRAMS } from '../support/peers/transfer-peers.ts';
import { holdTimers } from '../support/tests/hold-timers.ts';
import { until } from '../support/tests/until.ts';
import {
  type Behaviour,
  type MisbehavingServer,
  misbehave,
  type Seen,
} from '../support/world/misbehaving-server.ts';
import { replyTo } from '../support/world/world-server.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');
const FOREVER = new AbortController().signal;
const OPTIONS: PrimaryOptions = { signal: FOREVER, allowed: 'any' };
const AXFR: TransferOrder = { apex: APEX, form: 'axfr', serial: undefined, maxRecords: 1000 };
const IXFR: TransferOrder = { ...AXFR, form: 'ixfr', serial: 3 };

const keyOf = (name: string, algorithm: TsigAlgorithm = 'hmac-sha256'): TsigKey => ({
  name: parseName(name),
  algorithm,
  secret: Buffer.from('0123456789abcdef0123456789abcdef'),
});
const KEY = keyOf('key.');

const soa = (serial: number) => recordsOf(`@ SOA ns host ${serial} 2 3 4 5`, 'example.');
const NS = recordsOf('@ NS ns\nns A 192.0.2.1', 'example.');

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function reply({ query }: Seen, records: readonly ZoneRecord[], change: Partial<Message> = {}): Uint8Array {
  const answers = records.map((record) => ({ ...record, class: CLASS.IN }));
  return encodeMessage(replyTo({ ...query, additionals: [] }, { aa: true, answers, ...change }));
}

/** Signs the messages of an answer. Throws unless the query is signed with the key. */
function signerFor({ octets }: Seen, key = KEY): TsigStreamSigner {
  const found = readTsig(octets);
  if (found.kind !== 'found') throw new Error('the query is not signed');
  expect(verifyRequest(octets, found.tsig, key, now())).toEqual({ kind: 'ok' });
  return new TsigStreamSigner(key, found.tsig.mac);
}

const now = () => Math.floor(Date.now() / 1000);

async function primaryWith(
  behaviour: Behaviour,
  key?: TsigKey,
): Promise<{ primary: Primary; server: MisbehavingServer }> {
  const server = await misbehave(behaviour);
  closers.push(() => server.close());
  return { primary: { address: server.address, port: server.port, key }, server };
}

/** A primary that sends these messages over TCP. */
const sending = (messages: (seen: Seen) => readonly Uint8Array[], key?: TsigKey) =>
  primaryWith({ tcp: (seen, socket) => socket.write(framed(...messages(seen))) }, key);

describe('a query for the SOA', () => {
  const answer = (seen: Seen) => reply(seen, soa(7));
  const signed = (seen: Seen) => signerFor(seen).sign(answer(seen), now());
  const refused = (seen: Seen) => reply(seen, [], { rcode: RCODE.REFUSED });
  const truncated = (seen: Seen) => reply(seen, [], { tc: true });
  const wrong = (seen: Seen) => {
    const octets = Uint8Array.from(signed(seen));
    octets[octets.length - 20] = (octets[octets.length - 20] as number) ^ 1;
    return octets;
  };
  const otherId = (seen: Seen) => {
    const octets = answer(seen);
    octets[0] = (octets[0] as number) ^ 1;
    return octets;
  };
  const foreign = (seen: Seen) => reply(seen, recordsOf('sub SOA ns host 7 2 3 4 5', 'example.'));
  const secondary = (seen: Seen) => reply(seen, soa(7), { aa: false });

  const cases: readonly [
    string,
    { udp: (seen: Seen) => Uint8Array; tcp?: (seen: Seen) => Uint8Array; key?: TsigKey },
    object,
    string[],
  ][] = [
    ['over UDP', { udp: answer }, { kind: 'soa', serial: 7 }, ['udp']],
    ['with a signature', { udp: signed, key: KEY }, { kind: 'soa', serial: 7 }, ['udp']],
    ['over TCP if the reply is truncated', { udp: truncated, tcp: answer }, { serial: 7 }, ['udp', 'tcp']],
    [
      'over TCP if the signature is wrong',
      { udp: wrong, tcp: signed, key: KEY },
      { serial: 7 },
      ['udp', 'tcp'],
    ],
    ['REFUSED', { udp: refused }, { code: 'PRIMARY_REFUSED', message: ' answered REFUSED to SOA' }, ['udp']],
    [
      'REFUSED without a signature',
      { udp: refused, tcp: refused, key: KEY },
      {
        code: 'PRIMARY_REFUSED',
        message: ' answered REFUSED without a signature',
      },
      ['udp', 'tcp'],
    ],
    [
      'a wrong signature',
      { udp: wrong, tcp: wrong, key: KEY },
      { code: 'PRIMARY_TSIG', message: ' answered NOERROR without a valid signature: BADSIG' },
      ['udp', 'tcp'],
    ],
    [
      'another query',
      { udp: truncated, tcp: otherId },
      { code: 'TRANSFER_INVALID', message: ' sent a reply that does not answer the query' },
      ['udp', 'tcp'],
    ],
    [
      'no SOA',
      { udp: foreign },
      { code: 'TRANSFER_INVALID', message: ' sent no authoritative answer with the SOA' },
      ['udp'],
    ],
    ['without AA', { udp: secondary }, { code: 'TRANSFER_INVALID' }, ['udp']],
  ];
  it.each(cases)('is answered %s', async (_, { udp, tcp, key }, expected, transports) => {
    const { primary, server } = await primaryWith(
      {
        udp: (seen, send) => send(udp(seen)),
        ...(tcp && { tcp: (seen, socket) => socket.write(framed(tcp(seen))) }),
      },
      key,
    );
    const found = await querySoa(primary, APEX, OPTIONS);
    const from = `127.0.0.1:${server.port}`;
    expect(
      found.kind === 'failed' ? { ...found, message: found.message.replace(from, '') } : found,
    ).toMatchObject(expected);
    expect(server.seen.map(({ transport }) => transport)).toEqual(transports);
  });

  it('ignores replies with another id, is repeated after 3 seconds, and then sent over TCP', async () => {
    const timers = holdTimers(3000);
    closers.push(async () => timers.release());
    const { primary, server } = await primaryWith({
      udp: (seen, send) => send(otherId(seen)),
      tcp: (seen, socket) => socket.write(framed(answer(seen))),
    });
    const found = querySoa(primary, APEX, OPTIONS);
    for (const count of [1, 2]) {
      await until(() => server.seen.length === count, 'the packet has arrived');
      await setTimeout(20);
      timers.fire();
    }
    expect(await found).toMatchObject({ kind: 'soa', serial: 7 });
    expect(server.seen.map(({ transport }) => transport)).toEqual(['udp', 'udp', 'tcp']);
    expect(new Set(server.seen.map(({ query }) => query.id)).size).toBeGreaterThan(1);
  });

  it('is not sent to an address that is not public unless the caller allows it', async () => {
    const { primary, server } = await primaryWith({ udp: (seen, send) => send(answer(seen)) });
    const options = { ...OPTIONS, allowed: [] };
    const refusal = { kind: 'failed', code: 'PRIMARY_ADDRESS' };
    expect(await querySoa(primary, APEX, options)).toMatchObject(refusal);
    expect(await transferZone(primary, AXFR, options)).toMatchObject(refusal);
    expect(server.seen).toEqual([]);
    const loopback = { ...OPTIONS, allowed: networksOf('127.0.0.0/8') };
    expect(await querySoa(primary, APEX, loopback)).toMatchObject({ kind: 'soa' });
  });
});

describe('a transfer', () => {
  const whole = (seen: Seen) => [
    reply(seen, soa(5)),
    reply(seen, NS),
    reply(seen, soa(5), { questions: [] }),
  ];

  it('sends the serial of the copy, and reads the answer in pieces of one octet', async () => {
    const { primary, server } = await primaryWith({
      tcp: async (seen, socket) => {
        socket.setNoDelay(true);
        const octets = framed(
          reply(seen, [...soa(5), ...soa(3)]),
          reply(seen, [...soa(5), ...NS, ...soa(5)]),
        );
        for (const octet of octets) {
          socket.write(Uint8Array.of(octet));
          if (octet % 8 === 0) await setTimeout(0);
        }
      },
    });
    const result = await transferZone(primary, IXFR, OPTIONS);
    expect(result).toMatchObject({
      kind: 'differences',
      serial: 5,
      differences: [{ serialBefore: 3, serialAfter: 5, added: [{}, {}, {}] }],
    });
    const [{ query }] = server.seen as [Seen];
    expect(query).toMatchObject({
      questions: [{ name: APEX, type: TYPE.IXFR, class: CLASS.IN }],
      authorities: [{ owner: APEX, type: TYPE.SOA, class: CLASS.IN }],
    });
    expect(Buffer.from(query.authorities[0]?.rdata as Uint8Array).readUInt32BE(2)).toBe(3);
  });

  it('comes from the source address of its family', async () => {
    const from: (string | undefined)[] = [];
    const { primary } = await primaryWith({
      tcp: (seen, socket: Socket) => {
        from.push(socket.remoteAddress);
        socket.write(framed(...whole(seen)));
      },
      udp: (seen, send) => send(reply(seen, soa(5))),
    });
    const options = { ...OPTIONS, sources: ['::1', '127.0.0.2', '127.0.0.3'] };
    expect(await querySoa(primary, APEX, options)).toMatchObject({ kind: 'soa' });
    expect(await transferZone(primary, AXFR, options)).toMatchObject({ kind: 'zone', serial: 5 });
    expect(from).toEqual(['127.0.0.2']);
  });

  /** Signs the first and the last message only. */
  const signedEnds = (seen: Seen, unsigned: readonly Uint8Array[]) => {
    const first = Buffer.from(signerFor(seen).sign(reply(seen, soa(5)), now()));
    const last = reply(seen, soa(5));
    const options = { nowSeconds: now(), requestMac: macOf(first), isTimersOnly: true };
    // The digest covers the unsigned messages before the last one (RFC 8945 §5.3.1).
    const { mac } = signMessage(Buffer.concat([...unsigned, last]), KEY, options);
    const { message } = signMessage(last, KEY, options);
    message.set(mac, message.length - TSIG_TAIL_OCTETS - mac.length);
    return [first, ...unsigned, message];
  };
  const many = (seen: Seen, count: number) => Array.from({ length: count }, () => reply(seen, NS));
  const all = (seen: Seen, count: number) => {
    const signer = signerFor(seen);
    return [reply(seen, soa(5)), ...many(seen, count), reply(seen, soa(5))].map((one) =>
      signer.sign(one, now()),
    );
  };
  const flipped = (messages: readonly Uint8Array[]) => {
    const octets = Buffer.from(messages[1] as Uint8Array);
    octets.writeUInt8(octets.readUInt8(2) ^ 4, 2); // AA
    return messages.with(1, octets);
  };

  it.each<[string, (seen: Seen) => readonly Uint8Array[], string]>([
    ['in every message', (seen) => all(seen, 3), 'zone'],
    ['in the first and last of 101 messages', (seen) => signedEnds(seen, many(seen, 99)), 'zone'],
    [
      'in the first and last of 102 messages',
      (seen) => signedEnds(seen, many(seen, 100)),
      'PRIMARY_TSIG answered NOERROR without a valid signature: 100 consecutive messages are not signed',
    ],
    [
      'in no message',
      whole,
      'PRIMARY_TSIG answered NOERROR without a valid signature: the first message is not signed',
    ],
    [
      'in all but the last message',
      (seen) => [...all(seen, 1).slice(0, 2), reply(seen, soa(5))],
      'PRIMARY_TSIG sent a last message that is not signed',
    ],
    [
      'in every message, of which one has another octet',
      (seen) => flipped(all(seen, 3)),
      'PRIMARY_TSIG answered NOERROR without a valid signature: BADSIG',
    ],
    [
      'in a message that ends the transfer early, but not in the message before it',
      (seen) => signedEnds(seen, []).with(0, reply(seen, soa(5))),
      'PRIMARY_TSIG answered NOERROR without a valid signature: the first message is not signed',
    ],
  ])('has a signature %s', async (_, messages, expected) => {
    const { primary, server } = await sending(messages, KEY);
    expect(summaryOf(await transferZone(primary, AXFR, OPTIONS), server)).toBe(expected);
  });

  it('ends with the reason that the primary caused', async () => {
    const endless = (seen: Seen, socket: Socket) => {
      socket.write(framed(reply(seen, soa(5))));
      const more = framed(reply(seen, NS, { questions: [] }));
      const fill = () => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', fill);
      fill();
    };
    const limits = { ...AXFR, maxOctets: 100_000, maxRecords: 1_000_000 };
    for (const [tcp, order, expected] of [
      [undefined, AXFR, 'PRIMARY_SILENT did not keep the connection: connection refused (ECONNREFUSED)'],
      [(_, socket) => socket.end(), AXFR, 'PRIMARY_SILENT closed the connection after 0 messages'],
      [
        (seen, socket) => socket.end(framed(reply(seen, soa(5))).subarray(0, 30)),
        AXFR,
        'PRIMARY_SILENT closed the connection after 0 messages',
      ],
      [
        (seen, socket) => socket.end(framed(reply(seen, soa(5)), reply(seen, NS))),
        AXFR,
        'PRIMARY_SILENT closed the connection after 2 messages',
      ],
      [
        (seen, socket) => socket.end(framed(reply(seen, [], { rcode: RCODE.NOTAUTH }))),
        IXFR,
        'PRIMARY_REFUSED answered NOTAUTH to IXFR',
      ],
      [(_, socket) => socket.end(Buffer.alloc(2)), AXFR, /^TRANSFER_INVALID sent an unreadable message: /],
      [endless, AXFR, 'TRANSFER_TOO_LARGE sent more than 1000 records'],
      [endless, limits, 'TRANSFER_TOO_LARGE sent more than 100000 octets'],
      [
        (seen, socket) => socket.write(framed(reply(seen, soa(2)))),
        IXFR,
        'PRIMARY_SERIAL_BACK has the serial 2, which is older than 3',
      ],
    ] satisfies [Behaviour['tcp'] | undefined, TransferOrder, string | RegExp][]) {
      const { primary, server } = await primaryWith(tcp === undefined ? {} : { tcp });
      const summary = summaryOf(await transferZone(primary, order, OPTIONS), server);
      if (typeof expected === 'string') expect(summary).toBe(expected);
      else expect(summary).toMatch(expected);
    }
  });

  it.each([
    [60_000, 'sent no complete message for 60 s'],
    [1_800_000, 'did not complete the answer in 1800 s'],
  ])('of a primary that sends single octets ends after %s ms', async (limitMs, expected) => {
    const timers = holdTimers(limitMs);
    closers.push(async () => timers.release());
    let closed = false;
    const { primary, server } = await primaryWith({
      tcp: (seen, socket) => {
        socket.on('close', () => {
          closed = true;
        });
        socket.write(framed(reply(seen, soa(5))).subarray(0, 9));
      },
    });
    const result = transferZone(primary, AXFR, OPTIONS);
    await until(() => server.seen.length === 1, 'the query has arrived');
    await setTimeout(20);
    timers.fire();
    expect(summaryOf(await result, server)).toBe(`PRIMARY_SILENT ${expected}`);
    await until(() => closed, 'the connection is closed');
  });

  it('ends with the connection if the signal aborts', async () => {
    const abort = new AbortController();
    let closed = false;
    const { primary, server } = await primaryWith({
      udp: () => {},
      tcp: (seen, socket) => {
        socket.on('close', () => {
          closed = true;
        });
        socket.write(framed(reply(seen, soa(5))));
      },
    });
    const options = { ...OPTIONS, signal: abort.signal };
    const result = transferZone(primary, AXFR, options);
    const asked = querySoa(primary, APEX, options);
    asked.catch(() => {}); // awaited below
    await until(() => server.seen.length === 2, 'the queries have arrived');
    abort.abort(new Error('stopped'));
    await expect(result).rejects.toThrow('stopped');
    await expect(asked).rejects.toThrow('stopped');
    await expect(transferZone(primary, AXFR, options)).rejects.toThrow('stopped');
    await until(() => closed, 'the connection is closed');
  });
});

const summaryOf = (result: TransferResult, { port }: MisbehavingServer) =>
  result.kind === 'failed'
    ? `${result.code} ${result.message.replace(`127.0.0.1:${port} `, '')}`
    : result.kind;

/** Octets of a TSIG record after its MAC. */
const TSIG_TAIL_OCTETS = 6;

function macOf(message: Uint8Array): Uint8Array {
  const found = readTsig(message);
  if (found.kind !== 'found') throw new Error('the message is not signed');
  return found.tsig.mac;
}

describe.each(['nsd', 'knot', 'bind', 'powerdns'] as const)('%s as a primary', (name) => {
  const isPresent = isInstalled(TRANSFER_PROGRAMS[name]);
  const key = { name: 'key', algorithm: 'hmac-sha512', secret: Buffer.from(KEY.secret).toString('base64') };
  const text = (serial: number, more: string) =>
    `$TTL 300\n@ SOA ns host ${serial} 60 60 600000 60\n@ NS ns\nns A 192.0.2.1\n` +
    `${Array.from({ length: 2000 }, (_, i) => `n${i} TXT "${'x'.repeat(i % 200)}"`).join('\n')}\n${more}\n`;

  it.skipIf(!isPresent)(
    `transfers a zone, and then its differences, which lead to the same zone${isPresent ? '' : ' (skipped: not installed)'}`,
    async () => {
      const peer = await startTransferPeer(name, {
        zones: ['example'],
        primary: undefined,
        key,
        files: { 'example.zone': text(3, 'a A 192.0.2.7\nb CNAME a') },
      });
      closers.push(() => peer.stop());
      const primary = { address: '127.0.0.1', port: peer.port, key: keyOf('key.', 'hmac-sha512') };
      const order = { ...AXFR, maxRecords: 10_000 };
      const serial = async () => {
        const found = await querySoa(primary, APEX, OPTIONS);
        return found.kind === 'soa' ? found.serial : 0;
      };
      await until(async () => (await serial()) === 3, 'the zone is loaded');
      const old = await transferZone(primary, order, OPTIONS);
      if (old.kind !== 'zone') throw new Error(JSON.stringify(old));
      expect(buildZone(APEX, old.records)).toMatchObject({
        kind: 'built',
        zone: { serial: 3, records: 2005 },
      });
      const ixfr = { ...order, form: 'ixfr', serial: 3 } as const;
      expect(await transferZone(primary, ixfr, OPTIONS)).toEqual({ kind: 'current', serial: 3 });

      await peer.rewrite('example', `${text(4, 'a 60 A 192.0.2.7\nB A 192.0.2.8')}`);
      await until(async () => (await serial()) === 4, 'the new version is loaded');
      let latest = await transferZone(primary, order, OPTIONS);
      // For a moment, processes of NSD with the former version still accept connections.
      await until(async () => {
        latest = await transferZone(primary, order, OPTIONS);
        const built = latest.kind === 'zone' ? buildZone(APEX, latest.records) : undefined;
        return built?.kind === 'built' && built.zone.serial === 4;
      }, 'the new version is transferred');
      const change = await transferZone(primary, ixfr, OPTIONS);
      if (latest.kind !== 'zone' || change.kind === 'failed')
        throw new Error(JSON.stringify([latest, change]));
      expect(change.kind).toBe(name === 'powerdns' ? 'zone' : 'differences');
      if (change.kind !== 'differences') return;
      const touched = touchedSets(change.differences);
      expect(touched.length).toBeLessThan(10);
      const isTouched = ({ owner, type }: ZoneRecord) =>
        touched.some((set) => set.owner === owner && set.type === type);
      const applied = applyDifferences(old.records.filter(isTouched), change.differences);
      if (applied.kind !== 'applied') throw new Error(applied.message);
      const untouched = old.records.filter((record) => !isTouched(record));
      const sorted = (records: readonly ZoneRecord[]) =>
        records.map((record) => JSON.stringify(record)).sort();
      expect(sorted([...untouched, ...applied.sets.flatMap(({ records }) => records)])).toEqual(
        sorted(latest.records),
      );

      const stranger = { ...primary, key: { ...primary.key, secret: Buffer.from('other') } };
      const refusals = [
        await querySoa(stranger, APEX, OPTIONS),
        await transferZone(stranger, order, OPTIONS),
      ];
      for (const refusal of refusals)
        expect(refusal).toMatchObject({ code: 'PRIMARY_TSIG', message: expect.stringContaining('BADSIG') });
      const elsewhere = await transferZone(primary, { ...order, apex: parseName('other.') }, OPTIONS);
      expect(elsewhere).toMatchObject({ code: 'PRIMARY_REFUSED' });
    },
  );
});
