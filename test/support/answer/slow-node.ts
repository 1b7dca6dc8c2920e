// The part of the transfer thread that answers messages, without sockets and database: its keys, peers and zones.

import { setImmediate as nextRound } from 'node:timers/promises';
import { signMessage, type TsigKey } from '../../../src/dns/message/tsig.ts';
import { parseName, printName } from '../../../src/dns/name.ts';
import { addressOctets } from '../../../src/dns/record/network.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { AmplificationLimit } from '../../../src/nameserver/answer/amplification-limit.ts';
import { TRANSPORT } from '../../../src/nameserver/answer/transports.ts';
import { ReaderSlot } from '../../../src/nameserver/image/image.ts';
import { EncodedZones } from '../../../src/nameserver/transfer/encoding/encoded-zones.ts';
import type { EncodedHistory } from '../../../src/nameserver/transfer/encoding/zone-history.ts';
import type { FromTransferThread } from '../../../src/nameserver/transfer/messages.ts';
import { AnswerPoster } from '../../../src/nameserver/transfer/post-answers.ts';
import { SlowAnswerer } from '../../../src/nameserver/transfer/slow-answerer.ts';
import { TransferConfig } from '../../../src/nameserver/transfer/transfer-config.ts';
import { TransferCounters } from '../../../src/nameserver/transfer/transfer-counters.ts';
import { TransferReports } from '../../../src/nameserver/transfer/transfer-reports.ts';
import { Transfers } from '../../../src/nameserver/transfer/transfers.ts';
import type { UpdateQueue } from '../../../src/nameserver/transfer/updates/update-queue.ts';
import type { Log } from '../../../src/process/reconnect.ts';
import { sealTsigKey } from '../../../src/store/secrets/tsig-secrets.ts';
import type { StoredTransferConfig } from '../../../src/store/transfers/load-config.ts';
import { markOf, type ZoneRecord } from '../../../src/zone/zone.ts';
import { collectingLog } from '../processes/follow.ts';
import { zoneOfRecords } from '../zone/sign-zone.ts';
import { recordsOf, zoneOf } from '../zone/zone-text.ts';
import { assemble, queryFor } from './packets.ts';
import { answeringNode } from './test-node.ts';

const NOW_MS = 1_700_000_000_000;
export const NOW = NOW_MS / 1000;
const SECRETS = [{ name: 'one', secret: Buffer.alloc(32, 9) }];
const secretOf = (name: string) => Buffer.alloc(32, name);
export const keyOf = (name: string): TsigKey => ({
  name: parseName(name),
  algorithm: 'hmac-sha256',
  secret: secretOf(name),
});
export const TEXT = '@ 300 SOA ns host 7 3600 600 86400 60\n@ 300 NS ns\nns 300 A 192.0.2.1\n';
const LONG = Array.from({ length: 400 }, (_, i) => `x${i} 60 TXT "${'x'.repeat(250)}"`).join('\n');

function storedKey(id: number, name: string, more: object = {}) {
  const sealed = sealTsigKey(SECRETS, name, secretOf(name))!;
  return {
    ...sealed,
    id,
    algorithm: 'hmac-sha256' as const,
    isServed: true,
    expiresAtMs: undefined,
    ...more,
  };
}
const storedPeer = (id: number, networks: string[], keyId?: number, addresses: string[] = []) => ({
  id,
  accountId: undefined,
  name: `peer-${id}`,
  addresses,
  port: 53,
  networks,
  keyId,
  tls: id === 6 ? ('strict' as const) : ('off' as const),
});
const STORED: StoredTransferConfig = {
  version: 1,
  keys: [
    storedKey(1, 'acme.'),
    storedKey(2, 'expired.', { expiresAtMs: NOW_MS - 1 }),
    storedKey(3, 'unreadable.', { wrap: 'two' }),
    storedKey(4, 'primary.', { isServed: false }),
    storedKey(5, 'other.'),
  ],
  peers: [
    storedPeer(1, ['192.0.2.0/24'], 1),
    storedPeer(2, ['198.51.100.0/24']),
    storedPeer(3, [], 4, ['203.0.113.1']),
    storedPeer(4, [], 5),
    storedPeer(6, ['203.0.113.64/32']),
  ],
  policies: new Map([
    [1, [1, 2, 4, 6].map((peerId) => ({ peerId, transfers: peerId !== 4, notified: true }))],
    [2, []],
  ]),
  defaultPolicy: 1,
  policyOfZone: new Map([[2, 2]]),
  peersOfZone: new Map([[2, [{ peerId: 4, transfers: true, notified: false }]]]),
  primaries: new Map([[parseName('secondary.test.'), [3]]]),
  updateKeys: new Map([[parseName('example.test.'), new Set([1, 5])]]),
};

interface Options {
  readonly stored?: StoredTransferConfig | undefined;
  readonly history?: EncodedHistory;
  readonly limit?: AmplificationLimit;
  readonly most?: number;
  readonly log?: Log;
  /** False for a node with TRANSFERS=off. */
  readonly hasTransfers?: boolean;
  /** Undefined for a node that takes no dynamic updates. */
  readonly updates?: (parts: {
    poster: AnswerPoster;
    counters: TransferCounters;
  }) => Pick<UpdateQueue, 'add'>;
  /** The records of example.test. */
  readonly zoneText?: string;
}

export function slowNode(options: Options = {}) {
  const {
    stored = STORED,
    history = { kind: 'missing', why: 'purged' },
    limit,
    most = 20,
    log = collectingLog(),
  } = options;
  const settings = {
    nodeName: 'node-1',
    version: '1',
    cookieSecrets: [Buffer.alloc(16)],
    rateLimit: undefined,
    amplificationLimit: undefined,
    tcpIdleTimeoutMs: 10_000,
  };
  const apexOnly = zoneOfRecords(parseName('apex.test.'), [
    ...recordsOf(TEXT, 'apex.test.'),
    markOf(parseName('apex.test.')),
  ]);
  const { image, writer, answerer, reader } = answeringNode(
    [
      zoneOf('example.test.', options.zoneText ?? TEXT),
      apexOnly,
      zoneOf('own.test.', TEXT),
      zoneOf('long.test.', TEXT + LONG),
      { ...zoneOf('private.test.', TEXT), isPrivate: true },
    ],
    settings,
  );
  writer.markNotServed(parseName('big.test.'), { id: 9, version: 1, mark: 0 });
  const zones = new EncodedZones(image, new ReaderSlot(image, 1));
  const posted: Extract<FromTransferThread, { kind: 'answer' }>[] = [];
  const poster = new AnswerPoster(
    (message) => posted.push(message as never),
    limit,
    () => NOW_MS,
  );
  const [counters, reports] = [new TransferCounters(), new TransferReports()];
  const loads: number[] = [];
  const load = async (_: unknown, serial: number) => {
    loads.push(serial);
    return history;
  };
  const transfers = new Transfers({ zones, history: { load }, poster, reports, counters, most, log });
  const config = stored && new TransferConfig(stored, SECRETS);
  const notified: unknown[] = [];
  const slow = new SlowAnswerer({
    answerer,
    reader,
    config: () => (options.stored === undefined && 'stored' in options ? undefined : config),
    zones,
    transfers: options.hasTransfers === false ? undefined : transfers,
    updates: options.updates?.({ poster, counters }),
    poster,
    reports,
    counters,
    onNotify: (apex, serial) => notified.push([printName(apex), serial]),
    log,
    nowMs: () => NOW_MS,
  });
  let id = 0;
  const handle = (octets: Uint8Array, { from = '203.0.113.9', tcp = true, tls }: From = {}) => {
    const address = addressOctets(from) as Uint8Array;
    const over = tls === undefined ? { transport: tcp ? TRANSPORT.TCP : TRANSPORT.UDP } : OVER_TLS[tls];
    slow.handle({ id: ++id, octets, address, ...over });
    return id;
  };
  const ask = async (octets: Uint8Array, from?: From) => {
    const of = handle(octets, from);
    await nextRound();
    return of;
  };
  /** Returns the messages of an answer, and takes all of its parts. */
  const take = (of: number): Uint8Array[] => {
    const messages: Uint8Array[] = [];
    for (let part = 0; ; part++) {
      const answer = posted.filter((message) => message.id === of)[part];
      if (answer === undefined) return messages;
      if (answer.octets !== undefined) messages.push(...unframed(answer.octets));
      if (answer.isLast) return messages;
      transfers.more(of);
    }
  };
  const answers = async (octets: Uint8Array, from?: From) => {
    const of = await ask(octets, from);
    if (from?.tcp === false)
      return posted.flatMap((one) => (one.id === of && one.octets ? [one.octets] : []));
    return take(of);
  };
  return { handle, ask, take, answers, posted, transfers, counters, reports, log, notified, loads };
}

export interface From {
  readonly from?: string;
  readonly tcp?: boolean;
  /** `dot`: over TLS 1.3 with the ALPN protocol "dot". `other`: over another TLS connection. */
  readonly tls?: 'dot' | 'other' | undefined;
}

const OVER_TLS = {
  dot: { transport: TRANSPORT.TLS, isXot: true },
  other: { transport: TRANSPORT.TLS, isXot: false },
} as const;

/** Returns the messages of a part of an answer over TCP. */
export function unframed(octets: Uint8Array): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at < octets.length; ) {
    const length = ((octets[at] as number) << 8) | (octets[at + 1] as number);
    messages.push(octets.slice(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return messages;
}

export const signed = (octets: Uint8Array, name: string, nowSeconds = NOW) =>
  signMessage(octets, keyOf(name), { nowSeconds });
export const axfr = (zone = 'example.test.', opt?: string) =>
  queryFor(zone, TYPE.AXFR, opt === undefined ? {} : { opt });
/** An IXFR query with an SOA in the authority section. */
export function ixfr(serial: number, zone = 'example.test.', opt = ''): Buffer {
  const [soa] = recordsOf(`@ 0 SOA . . ${serial} 0 0 0 0`, zone) as [ZoneRecord];
  const rdata = Buffer.from(soa.rdata).toString('hex');
  const count = opt === '' ? '0000' : '0001';
  return assemble(
    `1234 0000 0001 0000 0001 ${count} "${zone}" 00fb 0001 "${zone}" 0006 0001 00000000 ${(rdata.length / 2).toString(16).padStart(4, '0')} ${rdata} ${opt}`,
  );
}
