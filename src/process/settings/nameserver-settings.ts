// Settings of the nameserver only.

import { randomBytes } from 'node:crypto';
import { availableParallelism, hostname, totalmem } from 'node:os';
import { address, listenAddress } from './address-shapes.ts';
import { NONE, setting } from './setting.ts';
import { bytes, integer, list, matching, oneOf, onOrOff, rate, type Shape, shape } from './shapes.ts';

const NAMESERVER = ['nameserver'] as const;
const MAX_DNS_THREADS = 100;
const MIN_IMAGE_BYTES = 16 * 1024 ** 2;
const MAX_IMAGE_BYTES = 16 * 1024 ** 3;
const MAX_TRANSFERS = 1000;
const MAX_NOTIFY_RATE = 100_000;
const USUAL_IMAGE_OCTETS = 4 * 1024 ** 3;

const cookieSecret: Shape<Uint8Array> = shape(
  'secrets of 32 hex digits each', // RFC 9018 §4.4
  (text) => (/^[0-9a-f]{32}$/i.test(text) ? Buffer.from(text, 'hex') : undefined),
);

export const NAMESERVER_SETTINGS = {
  dnsListen: setting({
    name: 'DNS_LISTEN',
    readers: NAMESERVER,
    schema: list(listenAddress),
    byDefault: '127.0.0.1:5300,[::1]:5300',
    is: 'comma list of addresses with ports, for UDP and TCP',
  }),
  nodeName: setting({
    name: 'NODE_NAME',
    readers: NAMESERVER,
    schema: matching(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
      'at most 63 letters, digits, dots, hyphens and underscores',
    ),
    byDefault: { words: "the host's name", make: defaultNodeName },
    is: 'the name of this nameserver in NSID, `id.server` and `zonefleet node list`',
  }),
  /** Number of threads that answer over UDP. */
  dnsThreads: setting({
    name: 'DNS_THREADS',
    readers: NAMESERVER,
    schema: integer(1, MAX_DNS_THREADS, `a number of threads from 1 to ${MAX_DNS_THREADS}`),
    byDefault: { words: 'the number of cores', make: availableParallelism },
    is: 'number of threads that answer over UDP, 1 to 100',
  }),
  /** How UDP threads access the system. `auto` decides at the start. */
  dnsIo: setting({
    name: 'DNS_IO',
    readers: NAMESERVER,
    schema: oneOf(['auto', 'koffi', 'dgram'], 'auto, koffi or dgram'),
    byDefault: 'auto',
    is: 'how the node receives and sends UDP',
  }),
  /** Reserved for zones. Memory is used as they fill it. */
  imageBytes: setting({
    name: 'IMAGE_BYTES',
    readers: NAMESERVER,
    schema: bytes(MIN_IMAGE_BYTES, MAX_IMAGE_BYTES, 'bytes, or a number with K, M or G, from 16M to 16G'),
    byDefault: {
      words: '4 GiB, or half of the memory of the machine or container if that is less',
      make: defaultImageBytes,
    },
    is: 'the maximum memory for all zones, 16M to 16G',
  }),
  /** 16 octets each. The first signs. */
  cookieSecrets: setting({
    name: 'COOKIE_SECRETS',
    readers: NAMESERVER,
    schema: list(cookieSecret),
    byDefault: { words: 'random at each start', make: (): Uint8Array[] => [randomBytes(16)] },
    is: 'comma list of 32 hex digits each (RFC 9018)',
    isSecret: true,
  }),
  /** Maximum UDP answers per second of one kind to one network. Undefined means no limit. */
  responsesPerSecond: setting({
    name: 'RRL',
    readers: NAMESERVER,
    schema: rate('answers per second'),
    byDefault: '400',
    is: 'maximum UDP answers per second of one kind',
  }),
  /** Maximum UDP octets per second to one network in addition to those that its queries permit. Undefined means no limit. */
  amplifiedOctetsPerSecond: setting({
    name: 'RRL_OCTETS',
    readers: NAMESERVER,
    schema: rate('octets per second'),
    byDefault: '20000',
    is: 'maximum UDP octets per second to one IPv4 /24 or IPv6 /56 in addition to those that its queries permit',
  }),
  /** If true, answers are counted by domain, type and rcode. */
  dnsCounts: setting({
    name: 'DNS_COUNTS',
    readers: NAMESERVER,
    schema: onOrOff,
    byDefault: 'on',
    is: '`on`: the node counts its answers by domain for the analytics',
  }),
  transfers: setting({
    name: 'TRANSFERS',
    readers: NAMESERVER,
    schema: oneOf(['off', 'answer', 'notify'], 'off, answer or notify'),
    byDefault: 'notify',
    is: '`answer`: the node answers zone transfers of peers; `notify`: it also sends NOTIFY to them',
  }),
  transfersMax: setting({
    name: 'TRANSFERS_MAX',
    readers: NAMESERVER,
    schema: integer(1, MAX_TRANSFERS, `a number from 1 to ${MAX_TRANSFERS}`),
    byDefault: '20',
    is: 'maximum number of concurrent zone transfers, 1 to 1000',
  }),
  notifyRate: setting({
    name: 'NOTIFY_RATE',
    readers: NAMESERVER,
    schema: integer(1, MAX_NOTIFY_RATE, `a number from 1 to ${MAX_NOTIFY_RATE}`),
    byDefault: '200',
    is: 'maximum NOTIFY messages per second to one peer, 1 to 100000',
  }),
  /** True if nodes forward dynamic updates to the API. */
  dnsUpdate: setting({
    name: 'DNS_UPDATE',
    readers: ['nameserver', 'API'],
    schema: onOrOff,
    byDefault: 'off',
    is: '`on`: TSIG keys can change records by dynamic update. `npm start` sets `on`',
  }),
  /** Undefined means the first listen address. */
  notifySource: setting({
    name: 'NOTIFY_SOURCE',
    readers: NAMESERVER,
    schema: address,
    byDefault: NONE,
    is: 'the source address of NOTIFY messages',
  }),
};

function defaultNodeName(): string {
  return (
    hostname()
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 63) || 'node'
  );
}

function defaultImageBytes(): number {
  // 0, or more than the machine has, means no limit.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const half = Math.floor(Math.min(limit, totalmem()) / 2);
  return Math.max(MIN_IMAGE_BYTES, Math.min(USUAL_IMAGE_OCTETS, half));
}
