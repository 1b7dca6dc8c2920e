// Settings of the workers, and of the resolver that they and the command line use.

import { resolve } from 'node:path';
import { address, networks, servers } from './address-shapes.ts';
import { NONE, NOTHING_LISTED, setting } from './setting.ts';
import { integer, orOff, type Shape, shape, span, spanFrom } from './shapes.ts';

const WORKERS = ['workers'] as const;
const RESOLVING = ['workers', 'observer', 'CLI'] as const;
/** Includes the API, for public checks. */
const WALKING = ['API', ...RESOLVING] as const;
const FLEET_AND_CLI = ['workers', 'CLI'] as const;
const MAX_CHECK_CONCURRENCY = 5000;
const MAX_SECONDARY_RECORDS = 100_000_000;

const countryDb: Shape<'shipped' | { readonly path: string }> = shape('shipped, a file, or off', (text) =>
  text === 'shipped' ? text : { path: resolve(text) },
);

/** A rollover takes several days. */
const LEAST_ZSK_AGE_MS = 14 * 86_400_000;
const ZSK_AGE = 'a time of 14d or more, or off';

export const WORKER_SETTINGS = {
  /** Undefined means the shipped file. */
  rootHints: setting({
    name: 'ROOT_HINTS',
    readers: WALKING,
    schema: shape('a file', (text) => resolve(text)),
    byDefault: { words: 'shipped', make: NONE.make },
    is: "a file with the names and addresses of the root servers, in the format of IANA's `named.root`",
  }),
  /** Undefined means the shipped anchors, unless ROOT_HINTS is set. */
  trustAnchors: setting({
    name: 'TRUST_ANCHORS',
    readers: RESOLVING,
    schema: shape('a file, or off', (text) => (text === 'off' ? ('off' as const) : { path: resolve(text) })),
    byDefault: { words: 'shipped; none with `ROOT_HINTS`', make: NONE.make },
    is: 'a zone file with DS or DNSKEY records of the root, with which the resolver validates DNSSEC, or `off`',
  }),
  /** Port of queries to other zones' servers. */
  dnsPortOut: setting({
    name: 'DNS_PORT_OUT',
    readers: WALKING,
    schema: integer(1, 65535, 'a port from 1 to 65535'),
    byDefault: '53',
    is: 'the destination port of queries to other nameservers',
  }),
  /** Networks in CIDR notation that may be queried although they are private. */
  resolverAllow: setting({
    name: 'RESOLVER_ALLOW',
    readers: WALKING,
    schema: networks,
    byDefault: NOTHING_LISTED,
    is: 'comma list of networks like `10.0.0.0/8,fd00::/8` that the resolver may query although they are not public',
  }),
  /** Additional public resolvers. Without any, only authoritative servers are queried. */
  publicResolvers: setting({
    name: 'PUBLIC_RESOLVERS',
    readers: FLEET_AND_CLI,
    schema: servers,
    byDefault: '8.8.8.8,1.1.1.1,9.9.9.9,208.67.222.222',
    is: 'comma list of public resolvers, `host` or `host:port`',
    mayBeEmpty: true,
  }),
  /** A MaxMind database with the countries of addresses. Undefined: countries are not looked up. */
  countryDb: setting({
    name: 'COUNTRY_DB',
    readers: ['nameserver', 'API', 'workers', 'CLI'],
    schema: orOff(countryDb, 'shipped, a file, or off'),
    byDefault: 'shipped',
    is: 'the database that determines `dest_country` and the region of clients',
  }),
  /** File with the autonomous systems of prefixes. Undefined if they are not known. */
  asnDb: setting({
    name: 'ASN_DB',
    readers: FLEET_AND_CLI,
    schema: orOff(
      shape('a file, or off', (text) => resolve(text)),
      'a file, or off',
    ),
    byDefault: 'off',
    is: 'a text file with lines `PREFIX ASN`, with which checks detect if all nameservers of a domain are in one autonomous system',
  }),
  /** Number of concurrent checks per worker process. */
  checkConcurrency: setting({
    name: 'CHECK_CONCURRENCY',
    readers: WORKERS,
    schema: integer(1, MAX_CHECK_CONCURRENCY, `a number of checks from 1 to ${MAX_CHECK_CONCURRENCY}`),
    byDefault: '200',
    is: 'number of concurrent delegation checks per worker process, 1 to 5000',
  }),
  movedAfterMs: setting({
    name: 'MOVED_AFTER',
    readers: WORKERS,
    schema: span,
    byDefault: '24h',
    is: "how long an active domain's parent must show none of our servers, in at least three consecutive checks, before the domain is `moved`",
  }),
  movedGraceMs: setting({
    name: 'MOVED_GRACE',
    readers: ['API', 'workers'],
    schema: span,
    byDefault: '14d',
    is: 'how long a moved domain is served before it is `disabled`',
  }),
  pendingMaxMs: setting({
    name: 'PENDING_MAX',
    readers: WORKERS,
    schema: span,
    byDefault: '28d',
    is: 'how long a pending domain waits for its delegation before it is `disabled`',
  }),
  keyBackupAfterMs: setting({
    name: 'KEY_BACKUP_AFTER',
    readers: WORKERS,
    schema: span,
    byDefault: '24h',
    is: 'the maximum age of the newest database backup: the DS of a newer key is not requested, because a restore would lose the key',
  }),
  /** Age limit of split zones' ZSKs. Undefined if they are not replaced automatically. */
  rollZskEveryMs: setting({
    name: 'ROLL_ZSK_EVERY',
    readers: WORKERS,
    schema: orOff(spanFrom(LEAST_ZSK_AGE_MS, ZSK_AGE), ZSK_AGE),
    byDefault: 'off',
    is: 'the age at which the workers replace the zone-signing key of a domain with two keys',
  }),
  unverifiedMaxMs: setting({
    name: 'UNVERIFIED_MAX',
    readers: WORKERS,
    schema: span,
    byDefault: '28d',
    is: 'how long a domain in external mode waits for its TXT record before it is `disabled`',
  }),
  /** Undefined means that the system chooses. */
  transferSource: setting({
    name: 'TRANSFER_SOURCE',
    readers: FLEET_AND_CLI,
    schema: address,
    byDefault: NONE,
    is: 'the source address of zone transfers from primaries',
  }),
  secondaryMaxRecords: setting({
    name: 'SECONDARY_MAX_RECORDS',
    readers: FLEET_AND_CLI,
    schema: integer(1, MAX_SECONDARY_RECORDS, `a number of records from 1 to ${MAX_SECONDARY_RECORDS}`),
    byDefault: '1000000',
    is: 'maximum number of records of a zone that is transferred from its primaries',
  }),
};
