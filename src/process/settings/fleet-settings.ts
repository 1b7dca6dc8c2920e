// Settings that concern every process, and the values used in answers.

import { resolve } from 'node:path';
import { addressesOf, hosts, listenAddress, mailbox, nameserverSets } from './address-shapes.ts';
import { keySecrets } from './key-secrets.ts';
import { nameserverAddresses, nameserverPool } from './pool-shapes.ts';
import { NONE, NOTHING_LISTED, PROCESSES, setting } from './setting.ts';
import { matching, oneOf, shape } from './shapes.ts';

const EVERYONE = [...PROCESSES, 'npm start', 'CLI'] as const;
const RUNNING = [...PROCESSES, 'observer', 'npm start'] as const;
const MIGRATING = ['npm start', 'CLI'] as const;
/** Levels of `pino`, which is not imported because commands read settings without a log. */
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Without a host, `?host=` names the directory of a socket. The URL standard does not know this form. */
const databaseUrl = shape(
  'a URL like postgresql://user:password@host:5432/database, with %2F for a slash in the password',
  (text) =>
    /^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text.replace('@/', '@host/')) ? text : undefined,
);

/** A user, or `user:group`. */
const user = shape('a user, user:group, or off', (text) => {
  if (/^(off|root|0)$/i.test(text)) return 'off';
  const name = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}';
  return new RegExp(`^${name}(:${name})?$`).test(text) ? text : undefined;
});

/** Passwords by database role. A password contains only characters without a special meaning in URLs. */
const rolePasswords = shape(
  'node:PASSWORD,api:PASSWORD,worker:PASSWORD, each of 8 or more letters, digits, ._~-',
  (text) => {
    const passwords: Record<string, string> = {};
    for (const item of text.split(',')) {
      const [, role, password] = /^(node|api|worker):([A-Za-z0-9._~-]{8,128})$/.exec(item.trim()) ?? [];
      if (password === undefined || `zonefleet_${role}` in passwords) return undefined;
      passwords[`zonefleet_${role}`] = password;
    }
    return passwords;
  },
);

export const FLEET_SETTINGS = {
  /** Undefined means the embedded server of `npm start`. */
  databaseUrl: setting({
    name: 'DATABASE_URL',
    readers: EVERYONE,
    schema: databaseUrl,
    byDefault: { words: 'embedded', make: () => undefined },
    is: '`postgresql://user:password@host:5432/database`, PostgreSQL 14 or newer',
    isSecret: true,
  }),
  /** Server for feed and zone loads. Undefined means `databaseUrl`. */
  databaseReadUrl: setting({
    name: 'DATABASE_READ_URL',
    readers: ['nameserver'],
    schema: databaseUrl,
    byDefault: { words: 'as `DATABASE_URL`', make: () => undefined },
    is: 'the URL of a streaming standby',
    isSecret: true,
  }),
  /** Database with the list of cached content on edges. Undefined means `databaseUrl`. */
  cacheRegistryUrl: setting({
    name: 'CACHE_REGISTRY_URL',
    readers: ['API', 'workers', 'CLI'],
    schema: databaseUrl,
    byDefault: { words: 'as `DATABASE_URL`', make: () => undefined },
    is: 'the URL of another PostgreSQL server, for the list of content that edges have cached; its role creates the tables there',
    isSecret: true,
  }),
  /** Stores the queue and the workers' shared state. Undefined means Postgres. */
  redisUrl: setting({
    name: 'REDIS_URL',
    readers: ['API', 'workers', 'npm start', 'CLI'],
    schema: matching(/^rediss?:\/\/\S+$/, 'a URL like redis://:password@host:6379/0'),
    byDefault: NONE,
    is: '`redis://:password@host:6379/0`, or `rediss://` for TLS: Redis 7 or Valkey',
    isSecret: true,
  }),
  dataDirectory: setting({
    name: 'DATA_DIR',
    readers: EVERYONE,
    schema: shape('a directory', (text) => resolve(text)),
    byDefault: './data',
    is: 'where this machine keeps its files',
  }),
  metricsListen: setting({
    name: 'METRICS_LISTEN',
    readers: RUNNING,
    schema: listenAddress,
    byDefault: '127.0.0.1:9153',
    is: 'one address with a port',
  }),
  /** Additional host names for METRICS_LISTEN, in lower case. */
  metricsHosts: setting({
    name: 'METRICS_HOSTS',
    readers: [...PROCESSES, 'observer'],
    schema: hosts,
    byDefault: NOTHING_LISTED,
    is: 'comma list of host names that requests to `METRICS_LISTEN` may use',
  }),
  nameserverSets: setting({
    name: 'NAMESERVER_SETS',
    readers: MIGRATING,
    schema: nameserverSets,
    // Demo values, here and below: reserved names (RFC 2606) and documentation addresses (RFC 5737, RFC 3849).
    byDefault: 'ns1.zonefleet.example,ns2.zonefleet.example;ns1.zonefleet.test,ns2.zonefleet.test',
    is: 'names of your nameservers: sets are separated by `;`, names by `,`',
  }),
  /** Patterns in lists. Empty if there is no pool. */
  nameserverPool: setting({
    name: 'NAMESERVER_POOL',
    readers: MIGRATING,
    schema: nameserverPool,
    byDefault: NOTHING_LISTED,
    is: '2 to 4 lists of names of your nameservers, like `ns[01-40].fleet-a.net,ns[01-40].fleet-b.net`',
  }),
  nameserverAddresses: setting({
    name: 'NAMESERVER_ADDRESSES',
    readers: MIGRATING,
    schema: nameserverAddresses,
    byDefault: NOTHING_LISTED,
    is: 'the addresses of each list of `NAMESERVER_POOL`: lists are separated by `;`, addresses by `,`',
  }),
  edgeIpv4: setting({
    name: 'EDGE_IPV4',
    readers: MIGRATING,
    schema: addressesOf('IPv4'),
    byDefault: '192.0.2.80,198.51.100.80',
    is: 'comma list of the IPv4 addresses of your proxies, published for proxied records',
    mayBeEmpty: true,
  }),
  edgeIpv6: setting({
    name: 'EDGE_IPV6',
    readers: MIGRATING,
    schema: addressesOf('IPv6'),
    byDefault: '2001:db8:80::1,2001:db8:80::2',
    is: 'the same for IPv6',
    mayBeEmpty: true,
  }),
  /** If undefined, it is derived from the first nameserver's name. */
  soaRname: setting({
    name: 'SOA_RNAME',
    readers: MIGRATING,
    schema: mailbox,
    byDefault: { words: '`hostmaster.` and the parent of the first nameserver', make: () => undefined },
    is: 'the mailbox in the SOA of customer zones, in the form of a name',
  }),
  /** If undefined, a process started by root chooses its user at the start. If 'off', root stays root. */
  runAs: setting({
    name: 'RUN_AS',
    readers: RUNNING,
    schema: user,
    byDefault: { words: 'the user `zonefleet`, or an id that no other program has', make: () => undefined },
    is: 'the user to which a process started by root changes as soon as its sockets are bound',
  }),
  /** Passwords by database role, set by `migrate`. */
  rolePasswords: setting({
    name: 'ROLE_PASSWORDS',
    readers: MIGRATING,
    schema: rolePasswords,
    byDefault: { words: 'none', make: (): Record<string, string> => ({}) },
    is: '`node:PASSWORD,api:PASSWORD,worker:PASSWORD`, each of 8 or more letters, digits and `._~-`',
    isSecret: true,
  }),
  /** The first key encrypts, and every key can decrypt. If there is none, `npm start` creates one. */
  tsigSecrets: setting({
    name: 'TSIG_SECRETS',
    readers: EVERYONE,
    schema: keySecrets,
    byDefault: NOTHING_LISTED,
    is: 'comma list of `name:base64 of 32 octets`: keys that encrypt the secrets of TSIG keys',
    isSecret: true,
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    readers: RUNNING,
    schema: oneOf(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`),
    byDefault: 'info',
    is: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  }),
};
