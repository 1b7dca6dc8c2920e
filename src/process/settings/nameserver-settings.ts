// Settings of the nameserver only.

import { randomBytes } from 'node:crypto';
import { availableParallelism, hostname, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { type ListenAddress, parseListenAddress } from '../listen-address.ts';
import { address, listenAddress } from './address-shapes.ts';
import { NONE, NOTHING_LISTED, setting } from './setting.ts';
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

const interfaceName: Shape<string> = shape('names of network interfaces', (text) =>
  /^[^\s/,:]{1,15}$/.test(text) && text !== '.' && text !== '..' ? text : undefined,
);

const file: Shape<string> = shape('a file', (text) => resolve(text));

const loopbackAddress: Shape<ListenAddress> = shape('a loopback address with a port', (text) => {
  const parsed = parseListenAddress(text);
  const isLoopback = parsed?.address === '::1' || parsed?.address.startsWith('127.');
  return isLoopback ? parsed : undefined;
});

/** Where Frame Streams are written. */
export type FrameReader =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number };

const frameReader: Shape<FrameReader> = shape('unix:/path or tcp:host:port', (text) => {
  const [, path] = /^unix:(\/.+)$/.exec(text) ?? [];
  if (path !== undefined) return { kind: 'unix', path };
  const [, bracketed, plain, port] = /^tcp:(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535
    ? undefined
    : { kind: 'tcp', host, port: number };
});

const sampleFraction: Shape<number> = shape('1/N with N from 1 to 1000000', (text) => {
  const [, interval] = /^1\/([1-9]\d{0,6})$/.exec(text) ?? [];
  return interval === undefined || Number(interval) > 1_000_000 ? undefined : Number(interval);
});

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
    schema: oneOf(['auto', 'koffi', 'dgram', 'xdp'], 'auto, koffi, dgram or xdp'),
    byDefault: 'auto',
    is: 'how the node receives and sends UDP',
  }),
  /** The interfaces at which packets are taken with `DNS_IO=xdp`. */
  xdpInterfaces: setting({
    name: 'XDP_INTERFACES',
    readers: NAMESERVER,
    schema: list(interfaceName),
    byDefault: NOTHING_LISTED,
    is: 'with `DNS_IO=xdp`: comma list of network interfaces at which the node takes its UDP queries before the kernel does',
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
  dotListen: setting({
    name: 'DOT_LISTEN',
    readers: NAMESERVER,
    schema: list(listenAddress),
    byDefault: NOTHING_LISTED,
    is: 'comma list of addresses with ports for DNS over TLS and for zone transfers over TLS, usually `0.0.0.0:853,[::]:853`. See [encrypted-transports.md](operating/encrypted-transports.md)',
  }),
  dohListen: setting({
    name: 'DOH_LISTEN',
    readers: NAMESERVER,
    schema: list(listenAddress),
    byDefault: NOTHING_LISTED,
    is: 'comma list of addresses with ports for DNS over HTTPS, at the path `/dns-query`. See [encrypted-transports.md](operating/encrypted-transports.md)',
  }),
  dohPlainListen: setting({
    name: 'DOH_PLAIN_LISTEN',
    readers: NAMESERVER,
    schema: list(loopbackAddress),
    byDefault: NOTHING_LISTED,
    is: 'comma list of loopback addresses with ports for DNS over HTTP without TLS, behind a proxy. See [encrypted-transports.md](operating/encrypted-transports.md)',
  }),
  dnsTlsCert: setting({
    name: 'DNS_TLS_CERT',
    readers: NAMESERVER,
    schema: file,
    byDefault: NONE,
    is: 'PEM file with the certificate chain for `DOT_LISTEN` and `DOH_LISTEN`, which is loaded again when it changes. See [encrypted-transports.md](operating/encrypted-transports.md#certificates)',
  }),
  dnsTlsKey: setting({
    name: 'DNS_TLS_KEY',
    readers: NAMESERVER,
    schema: file,
    byDefault: NONE,
    is: 'PEM file with the key of `DNS_TLS_CERT`',
  }),
  dnstap: setting({
    name: 'DNSTAP',
    readers: NAMESERVER,
    schema: frameReader,
    byDefault: NONE,
    is: 'where sampled queries and answers are sent in dnstap format, `unix:/path` or `tcp:host:port`',
  }),
  /** One in this many answers is sampled. */
  sampleInterval: setting({
    name: 'DNSTAP_SAMPLE',
    readers: NAMESERVER,
    schema: sampleFraction,
    byDefault: '1/100',
    is: 'the fraction of answers for `DNSTAP` and `QUERY_LOG`, like `1/100`',
  }),
  queryLog: setting({
    name: 'QUERY_LOG',
    readers: NAMESERVER,
    schema: file,
    byDefault: NONE,
    is: 'file to which sampled queries are appended as lines of JSON',
  }),
  queryLogClient: setting({
    name: 'QUERY_LOG_CLIENT',
    readers: NAMESERVER,
    schema: oneOf(['prefix', 'full'], 'prefix or full'),
    byDefault: 'prefix',
    is: '`prefix`: the query log has the /24 or /48 network of a client; `full`: its address',
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
