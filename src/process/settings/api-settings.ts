// Settings of the API.

import { resolve } from 'node:path';
import { listenAddress, networks } from './address-shapes.ts';
import { keySecrets } from './key-secrets.ts';
import { NONE, NOTHING_LISTED, setting } from './setting.ts';
import { integer, list, matching, onOrOff, orOff, rate, shape } from './shapes.ts';

const API = ['API'] as const;
const MIN_CONNECTIONS = 10;
const MAX_CONNECTIONS = 100_000;

const trial = shape('a plan and days like pro:14, or off', (text) => {
  const [, planSlug, digits] = /^([a-z][a-z0-9-]{0,39}):([1-9]\d{0,2})$/.exec(text) ?? [];
  return planSlug === undefined ? undefined : { planSlug, days: Number(digits) };
});

export const API_SETTINGS = {
  apiListen: setting({
    name: 'API_LISTEN',
    readers: API,
    schema: list(listenAddress),
    byDefault: '127.0.0.1:8053',
    is: 'comma list of addresses with ports, for the HTTP API',
  }),
  /** Empty means the addresses of `API_LISTEN`. */
  edgeListen: setting({
    name: 'EDGE_LISTEN',
    readers: API,
    schema: list(listenAddress),
    byDefault: { words: 'those of `API_LISTEN`', make: () => [] },
    is: 'comma list of addresses with ports at which edge nodes call `/edge/v1`, which is then not available elsewhere',
  }),
  console: setting({
    name: 'CONSOLE',
    readers: ['API', 'npm start'],
    schema: onOrOff,
    byDefault: 'on',
    is: '`off`: `/console/` and `/console/queues/` are disabled, and `npm start` does not build the console',
  }),
  /** True if everyone may check a delegation. */
  publicCheck: setting({
    name: 'PUBLIC_CHECK',
    readers: API,
    schema: onOrOff,
    byDefault: 'off',
    is: '`on`: everyone may check the delegation of any name, at `/check/NAME` of the console and with `POST /public/checks`',
  }),
  /** True if the PowerDNS-compatible API is available. */
  pdnsApi: setting({
    name: 'PDNS_API',
    readers: API,
    schema: onOrOff,
    byDefault: 'off',
    is: '`on`: tools for PowerDNS can use `/api/v1`. `npm start` sets `on`',
  }),
  /** True if the surfaces for lego's httpreq, dyndns2 and external-dns are available. */
  compatApi: setting({
    name: 'COMPAT_API',
    readers: API,
    schema: onOrOff,
    byDefault: 'off',
    is: "`on`: lego's `httpreq`, dyndns2 clients and external-dns can use `/httpreq`, `/nic/update` and `/external-dns`. `npm start` sets `on`",
  }),
  /** Undefined means the directory in which the console is built. */
  consoleFiles: setting({
    name: 'CONSOLE_FILES',
    readers: ['API', 'npm start'],
    schema: shape('a folder', (text) => resolve(text)),
    byDefault: {
      words: 'where `npm start` builds it, or `console/dist` of the program',
      make: () => undefined,
    },
    is: 'the folder with the built files of the console',
  }),
  /** Undefined means no TLS. */
  edgeTlsCert: setting({
    name: 'EDGE_TLS_CERT',
    readers: API,
    schema: shape('a file', (text) => resolve(text)),
    byDefault: NONE,
    is: 'a PEM file, the certificate of `EDGE_LISTEN` with its chain: private keys are sent to edges only over TLS or on this machine',
  }),
  edgeTlsKey: setting({
    name: 'EDGE_TLS_KEY',
    readers: API,
    schema: shape('a file', (text) => resolve(text)),
    byDefault: NONE,
    is: 'a PEM file, the private key of `EDGE_TLS_CERT`',
  }),
  apiConnections: setting({
    name: 'API_CONNECTIONS',
    readers: API,
    schema: integer(
      MIN_CONNECTIONS,
      MAX_CONNECTIONS,
      `a number of connections from ${MIN_CONNECTIONS} to ${MAX_CONNECTIONS}`,
    ),
    byDefault: '2000',
    is: 'maximum number of open connections per address of `API_LISTEN`, 10 to 100000',
  }),
  /** Undefined: one caller may use all connections. */
  apiConnectionsPerNetwork: setting({
    name: 'API_CONNECTIONS_PER_ADDRESS',
    readers: API,
    schema: rate('connections'),
    byDefault: '200',
    is: 'maximum number of these connections from one IPv4 address or IPv6 /64',
  }),
  /** Per key. Undefined means no limit. */
  apiRequestsPerMinute: setting({
    name: 'API_RATE',
    readers: API,
    schema: rate('requests per minute'),
    byDefault: '300',
    is: 'requests with one key, and domains of one account in `POST /domains/batch`, in any 60 seconds, counted over all API processes',
  }),
  /** Per key. Undefined means no limit. */
  updatesPerSecond: setting({
    name: 'UPDATE_RATE',
    readers: API,
    schema: rate('updates per second'),
    byDefault: '50',
    is: 'dynamic updates per second with one TSIG key in each API process',
  }),
  /** Becomes a key of the first global admin. */
  bootstrapApiKey: setting({
    name: 'BOOTSTRAP_API_KEY',
    readers: ['API', 'npm start'],
    schema: matching(/^svc_[0-9A-Za-z]{40}$/, 'svc_ and 40 letters and digits'),
    byDefault: NONE,
    is: '`svc_` and 40 letters and digits: when the API starts, it stores exactly this key for the first global admin',
    isSecret: true,
  }),
  /** The first key encrypts, and every key can decrypt. If there is none, `npm start` creates one. */
  keySecrets: setting({
    name: 'KEY_SECRETS',
    readers: ['API', 'workers', 'CLI', 'npm start'],
    schema: keySecrets,
    byDefault: NOTHING_LISTED,
    is: 'comma list of `name:base64 of 32 octets`: keys that encrypt stored secrets',
    isSecret: true,
  }),
  /** Undefined: the limit of the plan applies. */
  claimsPerAccount: setting({
    name: 'CLAIMS_PER_ACCOUNT',
    readers: API,
    schema: integer(0, 1_000_000_000, 'a number of domains'),
    byDefault: NONE,
    is: "maximum number of domains of one account that wait to be proved (`pending` and `unverified`), instead of the plan's limit",
  }),
  /** Plan of the first domain of an account that registered itself. Undefined: the account's plan. */
  trial: setting({
    name: 'TRIAL',
    readers: API,
    schema: orOff(trial, 'a plan and days like pro:14, or off'),
    byDefault: 'off',
    is: 'a trial plan and its number of days, like `pro:14`, for the first domain of an account that registered itself; afterwards the domain has the plan `free`',
  }),
  /** If true, customers may have domains such as `example.com` and `test`. */
  allowReservedNames: setting({
    name: 'ALLOW_RESERVED_NAMES',
    readers: ['API', 'CLI'],
    schema: onOrOff,
    byDefault: 'off',
    is: "`on`: `example.com`, `example.net`, `example.org`, `example.edu`, `example` and `test`, and names below them, are allowed as customers' domains",
  }),
  /** Networks that edges may connect to although they are not public. */
  originAllow: setting({
    name: 'ORIGIN_ALLOW',
    readers: API,
    schema: networks,
    byDefault: NOTHING_LISTED,
    is: 'comma list of networks like `10.0.0.0/8,fd00::/8` that are allowed for origins of proxied records and rules although they are not public',
  }),
  /** Networks that webhooks may use although they are not public. */
  webhookAllow: setting({
    name: 'WEBHOOK_ALLOW',
    readers: ['API', 'workers'],
    schema: networks,
    byDefault: NOTHING_LISTED,
    is: 'comma list of networks like `10.0.0.0/8,fd00::/8` that are allowed for webhooks although they are not public, for labs',
  }),
  /** Default for new domains. Callers can override it. */
  signsNewDomains: setting({
    name: 'DNSSEC_NEW_DOMAINS',
    readers: ['API', 'CLI'],
    schema: onOrOff,
    byDefault: 'off',
    is: '`on`: new domains in managed mode are signed when they are created',
  }),
};
