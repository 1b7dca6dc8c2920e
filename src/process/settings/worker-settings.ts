// Settings of the workers, and of the resolver that they and the command line use.

import { resolve } from 'node:path';
import { networks, servers } from './address-shapes.ts';
import { NONE, NOTHING_LISTED, setting } from './setting.ts';
import { integer, orOff, type Shape, shape, span, spanFrom } from './shapes.ts';

const WORKERS = ['workers'] as const;
const RESOLVING = ['workers', 'observer', 'CLI'] as const;
/** The API too, for public checks. */
const WALKING = ['API', ...RESOLVING] as const;
const FLEET_AND_CLI = ['workers', 'CLI'] as const;
const MAX_CHECK_CONCURRENCY = 5000;

const countryDb: Shape<'shipped' | { readonly path: string }> = shape('shipped, a file, or off', (text) =>
  text === 'shipped' ? text : { path: resolve(text) },
);

/** A rollover takes some days. */
const LEAST_ZSK_AGE_MS = 14 * 86_400_000;
const ZSK_AGE = 'a time of 14d or more, or off';

export const WORKER_SETTINGS = {
  /** Undefined: the file that is shipped. */
  rootHints: setting({
    name: 'ROOT_HINTS',
    readers: WALKING,
    schema: shape('a file', (text) => resolve(text)),
    byDefault: { words: 'shipped', make: NONE.make },
    is: "a file with the names and addresses of the root servers, in the form of IANA's `named.root`",
  }),
  /** Undefined: those that are shipped, unless ROOT_HINTS names another root. */
  trustAnchors: setting({
    name: 'TRUST_ANCHORS',
    readers: RESOLVING,
    schema: shape('a file, or off', (text) => (text === 'off' ? ('off' as const) : { path: resolve(text) })),
    byDefault: { words: 'shipped; none with `ROOT_HINTS`', make: NONE.make },
    is: 'a zone file with DS or DNSKEY records of the root, with which the walk validates DNSSEC, or `off`',
  }),
  /** The port on which the servers of other zones are asked. */
  dnsPortOut: setting({
    name: 'DNS_PORT_OUT',
    readers: WALKING,
    schema: integer(1, 65535, 'a port from 1 to 65535'),
    byDefault: '53',
    is: 'the destination port of queries to other nameservers',
  }),
  /** Networks in CIDR notation that may be asked although they are private. */
  resolverAllow: setting({
    name: 'RESOLVER_ALLOW',
    readers: WALKING,
    schema: networks,
    byDefault: NOTHING_LISTED,
    is: 'comma list of networks like `10.0.0.0/8,fd00::/8` that the resolver may query although they are not public',
  }),
  /** Public resolvers that are asked besides; none: only authoritative servers are. */
  publicResolvers: setting({
    name: 'PUBLIC_RESOLVERS',
    readers: FLEET_AND_CLI,
    schema: servers,
    byDefault: '8.8.8.8,1.1.1.1,9.9.9.9,208.67.222.222',
    is: 'comma list of public resolvers, `host` or `host:port`',
    mayBeEmpty: true,
  }),
  /** A MaxMind database with the countries of addresses; undefined: countries are not looked up. */
  countryDb: setting({
    name: 'COUNTRY_DB',
    readers: ['nameserver', 'API', 'workers', 'CLI'],
    schema: orOff(countryDb, 'shipped, a file, or off'),
    byDefault: 'shipped',
    is: 'the database from which `dest_country`, and the region of who asks, are determined',
  }),
  /** The file with the autonomous systems of prefixes; undefined: they are not known. */
  asnDb: setting({
    name: 'ASN_DB',
    readers: FLEET_AND_CLI,
    schema: orOff(
      shape('a file, or off', (text) => resolve(text)),
      'a file, or off',
    ),
    byDefault: 'off',
    is: 'a text file with lines `PREFIX ASN`, by which checks tell whether all nameservers of a domain are in one autonomous system',
  }),
  /** Checks that one worker process runs at a time. */
  checkConcurrency: setting({
    name: 'CHECK_CONCURRENCY',
    readers: WORKERS,
    schema: integer(1, MAX_CHECK_CONCURRENCY, `a number of checks from 1 to ${MAX_CHECK_CONCURRENCY}`),
    byDefault: '200',
    is: 'delegation checks that one workers process runs at a time, 1 to 5000',
  }),
  movedAfterMs: setting({
    name: 'MOVED_AFTER',
    readers: WORKERS,
    schema: span,
    byDefault: '24h',
    is: "how long an active domain's parent must show none of our servers, in at least three checks in a row, until the domain is `moved`",
  }),
  movedGraceMs: setting({
    name: 'MOVED_GRACE',
    readers: ['API', 'workers'],
    schema: span,
    byDefault: '14d',
    is: 'how long a moved domain is served until it is `disabled`',
  }),
  pendingMaxMs: setting({
    name: 'PENDING_MAX',
    readers: WORKERS,
    schema: span,
    byDefault: '28d',
    is: 'how long a pending domain waits for its delegation until it is `disabled`',
  }),
  keyBackupAfterMs: setting({
    name: 'KEY_BACKUP_AFTER',
    readers: WORKERS,
    schema: span,
    byDefault: '24h',
    is: 'how old the newest backup of the database is at most: the DS of a younger key is not asked for, since a restore would lose the key',
  }),
  /** Of split zones; undefined: none is replaced unasked. */
  rollZskEveryMs: setting({
    name: 'ROLL_ZSK_EVERY',
    readers: WORKERS,
    schema: orOff(spanFrom(LEAST_ZSK_AGE_MS, ZSK_AGE), ZSK_AGE),
    byDefault: 'off',
    is: 'how old the key for data of a domain with two keys gets, until the workers replace it',
  }),
  unverifiedMaxMs: setting({
    name: 'UNVERIFIED_MAX',
    readers: WORKERS,
    schema: span,
    byDefault: '28d',
    is: 'how long a domain in external mode waits for its TXT record until it is `disabled`',
  }),
};
