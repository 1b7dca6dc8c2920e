// All settings, from the environment, in two steps: each is read and checked by itself, then all faults are reported
// together. Unknown variables are ignored, since other programs set some too. The table is docs/settings.md.

import { randomBytes } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { availableParallelism, hostname, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { foldCase, type Name, parentOf, parseName, prependLabel, printName, ROOT } from '../dns/name.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import { StartFault } from './start-fault.ts';

export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

export interface Config {
  /** Undefined: the embedded server of `npm start`. */
  readonly databaseUrl: string | undefined;
  /** The server for feed and zone loads; undefined: the same as `databaseUrl`. */
  readonly databaseReadUrl: string | undefined;
  readonly dataDirectory: string;
  readonly dnsListen: readonly ListenAddress[];
  /** True when the addresses are defaults, so one that the machine lacks may be left out. */
  readonly dnsListenIsDefault: boolean;
  readonly metricsListen: ListenAddress;
  /** Further host names under which METRICS_LISTEN may be asked, in lower case. */
  readonly metricsHosts: readonly string[];
  readonly apiListen: readonly ListenAddress[];
  /** Connections open at once, of all callers and of one; undefined: the limit for one is that for all. */
  readonly apiConnections: number;
  readonly apiConnectionsPerNetwork: number | undefined;
  /** Becomes a key of the first global admin. */
  readonly bootstrapApiKey: string | undefined;
  /** For each key; undefined: no limit. */
  readonly apiRequestsPerMinute: number | undefined;
  readonly sessionSecret: string;
  /** The queue and what workers share are there; undefined: in Postgres. */
  readonly redisUrl: string | undefined;
  /** A file like IANA's; undefined: the one that is shipped. */
  readonly rootHints: string | undefined;
  /** The port on which the servers of other zones are asked. */
  readonly dnsPortOut: number;
  /** Networks in CIDR notation that may be asked although they are private. */
  readonly resolverAllow: readonly string[];
  /** Public resolvers that are asked besides; none: only authoritative servers are. */
  readonly publicResolvers: readonly ListenAddress[];
  /** A MaxMind database with the countries of addresses; undefined: countries are not looked up. */
  readonly countryDb: 'shipped' | { readonly path: string } | undefined;
  readonly checkRules: {
    readonly movedAfterMs: number;
    readonly movedGraceMs: number;
    readonly pendingMaxMs: number;
    readonly unverifiedMaxMs: number;
  };
  /** Checks that one worker process runs at a time. */
  readonly checkConcurrency: number;
  /** The queue's board, a loopback address; undefined: there is none. */
  readonly boardListen: ListenAddress | undefined;
  /** True when the address is the default: it is optional, and skipped when another program has it. */
  readonly boardListenIsDefault: boolean;
  /** Customers may have domains such as `example.com` and `test`. */
  readonly allowReservedNames: boolean;
  readonly nodeName: string;
  /** Threads that answer over UDP. */
  readonly dnsThreads: number;
  /** How UDP threads reach the system; `auto` decides at the start. */
  readonly dnsIo: 'auto' | 'koffi' | 'dgram';
  /** Reserved for zones; memory is taken as they fill it. */
  readonly imageBytes: number;
  /** 16 octets each; the first signs. */
  readonly cookieSecrets: readonly Uint8Array[];
  /** UDP answers a second of one kind to one network; undefined: no limit. */
  readonly responsesPerSecond: number | undefined;
  /** UDP octets a second to one network beyond what its questions pay for; undefined: no limit. */
  readonly amplifiedOctetsPerSecond: number | undefined;
  /** What answers are made of: stored by `migrate`, read from Postgres by everyone else. Names as folded text with a dot. */
  readonly answers: {
    readonly nameserverSets: readonly (readonly string[])[];
    readonly edgeIpv4: readonly string[];
    readonly edgeIpv6: readonly string[];
    readonly soaRname: string;
  };
  /** Undefined: the user that root's processes become is chosen at their start. 'off': root stays root. */
  readonly runAs: string | undefined;
  /** By the name of a database role: `migrate` gives it this password. */
  readonly rolePasswords: Readonly<Record<string, string>>;
  readonly logLevel: LogLevel;
  /** Warnings that are logged once at the start. */
  readonly warnings: readonly string[];
}

const DEFAULTS = {
  DATA_DIR: './data',
  DNS_LISTEN: '127.0.0.1:5300,[::1]:5300',
  METRICS_LISTEN: '127.0.0.1:9153',
  API_LISTEN: '127.0.0.1:8053',
  API_CONNECTIONS: '2000',
  API_CONNECTIONS_PER_ADDRESS: '200',
  API_RATE: '300',
  DNS_PORT_OUT: '53',
  PUBLIC_RESOLVERS: '8.8.8.8,1.1.1.1,9.9.9.9,208.67.222.222',
  COUNTRY_DB: 'shipped',
  MOVED_AFTER: '24h',
  MOVED_GRACE: '14d',
  PENDING_MAX: '28d',
  UNVERIFIED_MAX: '28d',
  CHECK_CONCURRENCY: '200',
  BOARD_LISTEN: '127.0.0.1:9170',
  ALLOW_RESERVED_NAMES: 'off',
  RRL: '400',
  RRL_OCTETS: '20000',
  DNS_IO: 'auto',
  // Demo values: reserved names (RFC 2606) and documentation addresses (RFC 5737, RFC 3849).
  NAMESERVER_SETS: 'ns1.zonefleet.example,ns2.zonefleet.example;ns1.zonefleet.test,ns2.zonefleet.test',
  EDGE_IPV4: '192.0.2.80,198.51.100.80',
  EDGE_IPV6: '2001:db8:80::1,2001:db8:80::2',
  LOG_LEVEL: 'info',
} as const;

export class ConfigError extends StartFault {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the settings have ${faults.length === 1 ? 'a fault' : 'faults'}:\n${faults.join('\n')}`);
    this.faults = faults;
  }
}

/** Thrown by a setting's shape: what was expected. */
class Expected extends Error {}

export function readConfig(env: NodeJS.ProcessEnv): Config {
  const faults: string[] = [];
  const setting = <T>(name: string, shape: (text: string) => T, byDefault: () => T): T => {
    const text = env[name]?.trim();
    if (text === undefined || (text === '' && !MAY_BE_EMPTY.has(name))) return byDefault();
    try {
      return shape(text);
    } catch (error) {
      if (!(error instanceof Expected)) throw error;
      const got = SECRET.has(name) ? '' : `, not "${text}"`;
      faults.push(`${name}: expected ${error.message}${got}`);
      return undefined as T; // never seen: faults throw below
    }
  };
  const demo = <T>(name: keyof typeof DEFAULTS, shape: (text: string) => T): T =>
    setting(name, shape, () => shape(DEFAULTS[name]));

  const nameserverSets = demo('NAMESERVER_SETS', shapeNameserverSets);
  const config: Config = {
    databaseUrl: setting('DATABASE_URL', shapeDatabaseUrl, () => undefined),
    databaseReadUrl: setting('DATABASE_READ_URL', shapeDatabaseUrl, () => undefined),
    dataDirectory: demo('DATA_DIR', (text) => resolve(text)),
    dnsListen: demo('DNS_LISTEN', (text) => list(text).map(shapeListen)),
    dnsListenIsDefault: !env.DNS_LISTEN?.trim(),
    metricsListen: demo('METRICS_LISTEN', shapeListen),
    metricsHosts: setting('METRICS_HOSTS', shapeHosts, () => []),
    apiListen: demo('API_LISTEN', (text) => list(text).map(shapeListen)),
    apiConnections: demo('API_CONNECTIONS', shapeConnections),
    apiConnectionsPerNetwork: demo('API_CONNECTIONS_PER_ADDRESS', (text) => shapeRate(text, 'connections')),
    bootstrapApiKey: setting('BOOTSTRAP_API_KEY', shapeApiKey, () => undefined),
    apiRequestsPerMinute: demo('API_RATE', (text) => shapeRate(text, 'requests a minute')),
    sessionSecret: setting('SESSION_SECRET', shapeSecret, () => randomBytes(32).toString('hex')),
    redisUrl: setting('REDIS_URL', shapeRedisUrl, () => undefined),
    rootHints: setting<string | undefined>(
      'ROOT_HINTS',
      (text) => resolve(text),
      () => undefined,
    ),
    dnsPortOut: demo('DNS_PORT_OUT', shapePort),
    publicResolvers: demo('PUBLIC_RESOLVERS', shapeResolvers),
    countryDb: demo('COUNTRY_DB', shapeCountryDb),
    resolverAllow: setting('RESOLVER_ALLOW', shapeNetworks, () => []),
    checkRules: {
      movedAfterMs: demo('MOVED_AFTER', shapeSpan),
      movedGraceMs: demo('MOVED_GRACE', shapeSpan),
      pendingMaxMs: demo('PENDING_MAX', shapeSpan),
      unverifiedMaxMs: demo('UNVERIFIED_MAX', shapeSpan),
    },
    checkConcurrency: demo('CHECK_CONCURRENCY', shapeConcurrency),
    boardListen: demo('BOARD_LISTEN', shapeBoardListen),
    boardListenIsDefault: !env.BOARD_LISTEN?.trim(),
    allowReservedNames: demo('ALLOW_RESERVED_NAMES', shapeSwitch),
    nodeName: setting('NODE_NAME', shapeNodeName, defaultNodeName),
    dnsThreads: setting('DNS_THREADS', shapeThreads, availableParallelism),
    dnsIo: demo('DNS_IO', shapeDnsIo),
    imageBytes: setting('IMAGE_BYTES', shapeImageBytes, defaultImageBytes),
    cookieSecrets: setting('COOKIE_SECRETS', shapeCookieSecrets, () => [randomBytes(16)]),
    responsesPerSecond: demo('RRL', (text) => shapeRate(text, 'answers a second')),
    amplifiedOctetsPerSecond: demo('RRL_OCTETS', (text) => shapeRate(text, 'octets a second')),
    answers: {
      nameserverSets,
      edgeIpv4: demo('EDGE_IPV4', (text) => shapeAddresses(text, isIPv4, 'IPv4')),
      edgeIpv6: demo('EDGE_IPV6', (text) => shapeAddresses(text, isIPv6, 'IPv6')),
      soaRname: setting('SOA_RNAME', shapeMailbox, () => defaultRname(nameserverSets)),
    },
    runAs: setting<string | undefined>('RUN_AS', shapeRunAs, () => undefined),
    rolePasswords: setting<Record<string, string>>('ROLE_PASSWORDS', shapeRolePasswords, () => ({})),
    logLevel: demo('LOG_LEVEL', shapeLogLevel),
    warnings: nameserverSets?.length === 1 ? [ONE_SET] : [],
  };
  if (config.databaseReadUrl !== undefined && config.databaseUrl === undefined && faults.length === 0) {
    faults.push('DATABASE_READ_URL: expected DATABASE_URL beside it, the primary that this standby follows');
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

const MAX_DNS_THREADS = 100;
const MIN_IMAGE_BYTES = 16 * 1024 ** 2;
const MAX_IMAGE_BYTES = 16 * 1024 ** 3;

const MAX_CHECK_CONCURRENCY = 5000;
const MIN_API_CONNECTIONS = 10;
const MAX_API_CONNECTIONS = 100_000;

const ONE_SET =
  'NAMESERVER_SETS has one set: a name that already points to it cannot be given another, ' +
  'so whoever creates such a domain first gets it';
/** Settings for which an empty value means "none"; for all others it means unset. */
const MAY_BE_EMPTY = new Set(['EDGE_IPV4', 'EDGE_IPV6', 'PUBLIC_RESOLVERS']);
/** Never repeated in a message. */
const SECRET = new Set([
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  'COOKIE_SECRETS',
  'BOOTSTRAP_API_KEY',
  'SESSION_SECRET',
  'ROLE_PASSWORDS',
]);

function list(text: string, separator = ','): string[] {
  return text.split(separator).map((item) => item.trim());
}

function shapeDatabaseUrl(text: string): string {
  if (!/^postgres(ql)?:\/\/\S+$/.test(text)) {
    throw new Expected('a URL like postgresql://user:password@host:5432/database');
  }
  return text;
}

function shapeRedisUrl(text: string): string {
  if (!/^rediss?:\/\/\S+$/.test(text)) throw new Expected('a URL like redis://:password@host:6379/0');
  return text;
}

function shapeListen(text: string): ListenAddress {
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const valid = (v4 !== undefined && isIPv4(v4)) || (v6 !== undefined && isIPv6(v6));
  if (!valid || Number(port) < 1 || Number(port) > 65535) {
    throw new Expected('addresses like 127.0.0.1:5300 or [::1]:5300');
  }
  return { address: (v4 ?? v6) as string, port: Number(port) };
}

/** `host`, `host:port`, `[v6]:port`. */
function shapeResolvers(text: string): ListenAddress[] {
  if (text === '' || text === 'off') return [];
  return list(text).map((item) => {
    if (isIPv4(item) || (isIPv6(item) && !item.includes('%'))) return { address: item, port: 53 };
    try {
      return shapeListen(item);
    } catch {
      throw new Expected('addresses like 9.9.9.9, 9.9.9.9:53 or [2620:fe::fe]:53, or off');
    }
  });
}

function shapeCountryDb(text: string): Config['countryDb'] {
  if (text === 'off') return undefined;
  return text === 'shipped' ? 'shipped' : { path: resolve(text) };
}

/** Only loopback addresses: everyone who reaches the board can read the queue, since there is no log-in. */
function shapeBoardListen(text: string): ListenAddress | undefined {
  if (text === 'off') return undefined;
  const listen = shapeListen(text);
  if (!/^127\.|^::1$/.test(listen.address)) {
    throw new Expected('a loopback address like 127.0.0.1:9170 or [::1]:9170, or off');
  }
  return listen;
}

function shapePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65535) throw new Expected('a port from 1 to 65535');
  return port;
}

function shapeNetworks(text: string): string[] {
  const networks = list(text);
  const isNetwork = (network: string) => {
    const [address = '', length, ...more] = network.split('/');
    const most = isIPv4(address) ? 32 : isIPv6(address) && !address.includes('%') ? 128 : -1;
    return /^\d{1,3}$/.test(length ?? '') && Number(length) <= most && more.length === 0;
  };
  if (!networks.every(isNetwork)) throw new Expected('networks like 10.0.0.0/8 or fd00::/8');
  return networks;
}

const SPAN_UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function shapeSpan(text: string): number {
  const [, digits, unit] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new Expected('a time like 90s, 30m, 24h or 14d');
  return Number(digits) * SPAN_UNITS[unit as keyof typeof SPAN_UNITS];
}

function shapeHosts(text: string): string[] {
  const hosts = list(text.toLowerCase());
  if (!hosts.every((host) => host.length <= 253 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host))) {
    throw new Expected('host names like node1.example.net');
  }
  return hosts;
}

function shapeConnections(text: string): number {
  const connections = Number(text);
  if (!/^\d{1,6}$/.test(text) || connections < MIN_API_CONNECTIONS || connections > MAX_API_CONNECTIONS) {
    throw new Expected(`a number of connections from ${MIN_API_CONNECTIONS} to ${MAX_API_CONNECTIONS}`);
  }
  return connections;
}

function shapeConcurrency(text: string): number {
  const concurrency = Number(text);
  if (!/^\d{1,4}$/.test(text) || concurrency < 1 || concurrency > MAX_CHECK_CONCURRENCY) {
    throw new Expected(`a number of checks from 1 to ${MAX_CHECK_CONCURRENCY}`);
  }
  return concurrency;
}

function shapeNodeName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(text)) {
    throw new Expected('at most 63 letters, digits, dots, hyphens and underscores');
  }
  return text;
}

function defaultNodeName(): string {
  return (
    hostname()
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 63) || 'node'
  );
}

function shapeThreads(text: string): number {
  const threads = Number(text);
  if (!/^\d{1,3}$/.test(text) || threads < 1 || threads > MAX_DNS_THREADS) {
    throw new Expected(`a number of threads from 1 to ${MAX_DNS_THREADS}`);
  }
  return threads;
}

function shapeDnsIo(text: string): Config['dnsIo'] {
  if (text === 'auto' || text === 'koffi' || text === 'dgram') return text;
  throw new Expected('auto, koffi or dgram');
}

function shapeImageBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,15})([KMG]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * 1024 ** ' KMG'.indexOf(unit.toUpperCase() || ' ');
  if (!(bytes >= MIN_IMAGE_BYTES && bytes <= MAX_IMAGE_BYTES)) {
    throw new Expected('bytes, or a number with K, M or G, from 16M to 16G');
  }
  return bytes;
}

/** 4 GiB, or half of the memory that the machine or the container has when that is less. */
function defaultImageBytes(): number {
  // 0, or more than there is: no limit.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const half = Math.floor(Math.min(limit, totalmem()) / 2);
  return Math.max(MIN_IMAGE_BYTES, Math.min(4 * 1024 ** 3, half));
}

function shapeCookieSecrets(text: string): Uint8Array[] {
  return list(text).map((secret) => {
    if (!/^[0-9a-f]{32}$/i.test(secret)) throw new Expected('secrets of 32 hex digits each'); // RFC 9018 §4.4
    return Buffer.from(secret, 'hex');
  });
}

function shapeRate(text: string, unit: string): number | undefined {
  if (text === 'off') return undefined;
  const rate = Number(text);
  if (!/^\d{1,9}$/.test(text) || rate < 1) throw new Expected(`${unit}, 1 or more, or off`);
  return rate;
}

function shapeApiKey(text: string): string {
  if (!/^svc_[0-9A-Za-z]{40}$/.test(text)) throw new Expected('svc_ and 40 letters and digits');
  return text;
}

function shapeSecret(text: string): string {
  if (text.length < 16) throw new Expected('at least 16 characters');
  return text;
}

function shapeRunAs(text: string): string {
  if (/^(off|root|0)$/i.test(text)) return 'off';
  const name = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}';
  if (!new RegExp(`^${name}(:${name})?$`).test(text)) throw new Expected('a user, user:group, or off');
  return text;
}

/** Accepts only characters without a meaning in a URL. */
function shapeRolePasswords(text: string): Record<string, string> {
  const found = list(text).map((item) => /^(node|api|worker):([A-Za-z0-9._~-]{8,128})$/.exec(item));
  const passwords = Object.fromEntries(
    found.map((match) => [`zonefleet_${match?.[1]}`, match?.[2] as string]),
  );
  if (found.includes(null) || Object.keys(passwords).length < found.length) {
    throw new Expected('node:PASSWORD,api:PASSWORD,worker:PASSWORD, each of 8 or more letters, digits, ._~-');
  }
  return passwords;
}

function shapeSwitch(text: string): boolean {
  if (/^(on|true|yes|1)$/i.test(text)) return true;
  if (/^(off|false|no|0)$/i.test(text)) return false;
  throw new Expected('on or off');
}

function shapeAddresses(text: string, is: (text: string) => boolean, family: string): string[] {
  if (text === '') return [];
  const addresses = list(text);
  if (!addresses.every((address) => is(address) && !address.includes('%'))) {
    throw new Expected(`${family} addresses`);
  }
  if (new Set(addresses).size < addresses.length) throw new Expected(`each ${family} address once`);
  return addresses;
}

function shapeNameserverSets(text: string): string[][] {
  const sets = list(text, ';').map((set) => list(set).map(shapeHostName));
  if (sets.some((set) => new Set(set).size < set.length)) throw new Expected('each name once in a set');
  const distinct = new Set(sets.map((set) => [...set].sort().join()));
  if (distinct.size < sets.length) throw new Expected('sets that differ');
  return sets;
}

function shapeHostName(text: string): string {
  const name = /^[a-z0-9-]+(\.[a-z0-9-]+)+\.?$/i.test(text) && shapeName(text);
  if (!name) throw new Expected('host names like ns1.example.net');
  return printName(name);
}

/** The mailbox of RFC 1035 §3.3.13. */
function shapeMailbox(text: string): string {
  const name = !/(?<!\\)@/.test(text) && shapeName(text);
  if (!name)
    throw new Expected('a name like hostmaster.example.net, with a dot for the @ of the mail address');
  return printName(name);
}

/** A name with or without its final dot, folded; undefined when it is none, or the root. */
function shapeName(text: string): Name | undefined {
  try {
    const name = foldCase(parseName(text.endsWith('.') ? text : `${text}.`));
    return name === ROOT ? undefined : name;
  } catch {
    return undefined;
  }
}

function defaultRname(nameserverSets: readonly (readonly string[])[] | undefined): string {
  const first = nameserverSets?.[0]?.[0];
  if (first === undefined) return ''; // never seen: the sets have a fault
  const parent = parentOf(parseName(first));
  return printName(prependLabel('hostmaster', parent) ?? parent);
}

function shapeLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) throw new Expected(`one of ${LOG_LEVELS.join(', ')}`);
  return level;
}
