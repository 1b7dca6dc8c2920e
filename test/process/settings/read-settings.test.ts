import { availableParallelism, totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../src/process/settings/every-setting.ts';
import { readSettings, type Settings, SettingsError } from '../../../src/process/settings/read-settings.ts';
import type { Setting } from '../../../src/process/settings/setting.ts';

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readSettings(env);
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
  return [];
}

describe('the settings without an environment', () => {
  const settings = readSettings({});

  it('listen on loopback, query public servers only, and use demo names and addresses', () => {
    const dayMs = 86_400_000;
    expect(settings).toMatchObject({
      dnsListen: [
        { address: '127.0.0.1', port: 5300 },
        { address: '::1', port: 5300 },
      ],
      dnsListenIsDefault: true,
      metricsListen: { address: '127.0.0.1', port: 9153 },
      apiListen: [{ address: '127.0.0.1', port: 8053 }],
      dataDirectory: `${process.cwd()}/data`,
      answers: {
        nameserverSets: [
          ['ns1.zonefleet.example.', 'ns2.zonefleet.example.'],
          ['ns1.zonefleet.test.', 'ns2.zonefleet.test.'],
        ],
        soaRname: 'hostmaster.zonefleet.example.',
      },
      warnings: [],
      apiRequestsPerMinute: 300,
      allowReservedNames: false,
      dnsPortOut: 53,
      resolverAllow: [],
      checkConcurrency: 200,
      checkRules: {
        movedAfterMs: dayMs,
        movedGraceMs: 14 * dayMs,
        pendingMaxMs: 28 * dayMs,
        unverifiedMaxMs: 28 * dayMs,
      },
      responsesPerSecond: 400,
      logLevel: 'info',
      dnsThreads: availableParallelism(),
      dnsIo: 'auto',
    });
    const { databaseUrl, bootstrapApiKey, redisUrl, rootHints } = settings;
    expect([databaseUrl, bootstrapApiKey, redisUrl, rootHints]).toEqual(Array(4).fill(undefined));
    for (const address of settings.answers.edgeIpv4) expect(address).toMatch(/^(192\.0\.2|198\.51\.100)\./);
    for (const address of settings.answers.edgeIpv6) expect(address).toMatch(/^2001:db8:/);
    expect(settings.imageBytes).toBeGreaterThanOrEqual(16 * 1024 ** 2);
    expect(settings.imageBytes).toBeLessThanOrEqual(Math.min(4 * 1024 ** 3, totalmem() / 2));
  });

  it('have a different cookie secret at each start', () => {
    expect(settings.cookieSecrets.map(({ length }) => length)).toEqual([16]);
    expect(readSettings({}).cookieSecrets).not.toEqual(settings.cookieSecrets);
  });
});

const API_KEY = `svc_${'aB3'.repeat(13)}x`;

describe('a setting', () => {
  it.each<[Record<string, string>, string, unknown]>([
    [
      { DNS_LISTEN: '0.0.0.0:53, [2001:db8::1]:53' },
      'dnsListen',
      [
        { address: '0.0.0.0', port: 53 },
        { address: '2001:db8::1', port: 53 },
      ],
    ],
    [{ METRICS_LISTEN: '[::]:9999' }, 'metricsListen', { address: '::', port: 9999 }],
    [{ NODE_NAME: 'ams-1.edge' }, 'nodeName', 'ams-1.edge'],
    [{ RRL: 'off' }, 'responsesPerSecond', undefined],
    [{ RRL: '5' }, 'responsesPerSecond', 5],
    [{ RRL_OCTETS: 'off' }, 'amplifiedOctetsPerSecond', undefined],
    [{ RRL_OCTETS: '50000' }, 'amplifiedOctetsPerSecond', 50_000],
    [{}, 'amplifiedOctetsPerSecond', 20_000],
    [{ DNS_THREADS: '3' }, 'dnsThreads', 3],
    [{ DNS_IO: 'dgram' }, 'dnsIo', 'dgram'],
    [{ IMAGE_BYTES: '50000000' }, 'imageBytes', 50_000_000],
    [{ IMAGE_BYTES: '3g' }, 'imageBytes', 3 * 1024 ** 3],
    [{ API_LISTEN: '[::]:80' }, 'apiListen', [{ address: '::', port: 80 }]],
    [{ API_RATE: 'off' }, 'apiRequestsPerMinute', undefined],
    [{ API_RATE: '6000' }, 'apiRequestsPerMinute', 6000],
    [{ BOOTSTRAP_API_KEY: API_KEY }, 'bootstrapApiKey', API_KEY],
    [{ ALLOW_RESERVED_NAMES: 'on' }, 'allowReservedNames', true],
    [{ RUN_AS: 'ann:dns' }, 'runAs', 'ann:dns'],
    [{ RUN_AS: 'root' }, 'runAs', 'off'],
    [
      { ROLE_PASSWORDS: 'node:12345678,api:a.b_c~d-e' },
      'rolePasswords',
      { zonefleet_node: '12345678', zonefleet_api: 'a.b_c~d-e' },
    ],
    [{ PUBLIC_URL: 'https://DNS.example.net/' }, 'publicUrl', 'https://dns.example.net'],
    [{ PUBLIC_URL: 'http://[::1]:80' }, 'publicUrl', 'http://[::1]'],
    [{ API_LISTEN: '0.0.0.0:81,[::1]:82' }, 'publicUrl', 'http://[::1]:82'],
    [{ API_LISTEN: '0.0.0.0:81' }, 'publicUrl', 'http://127.0.0.1:81'],
    [{ TRUSTED_PROXIES: '10.0.0.0/8' }, 'trustedProxies', ['10.0.0.0/8']],
    [{ REGISTRATION: 'on', SMTP_URL: 'smtp://127.0.0.1' }, 'registration', true],
    [{ PUBLIC_URL: 'https://dns.example.net' }, 'mailFrom', 'zonefleet@dns.example.net'],
    [{ EDGE_IPV4: '' }, 'answers.edgeIpv4', []],
    [{ EDGE_IPV6: '2001:db8::7' }, 'answers.edgeIpv6', ['2001:db8::7']],
    [{ LOG_LEVEL: '' }, 'logLevel', 'info'],
    [{ SOA_RNAME: 'dns\\.admin.Example.NET' }, 'answers.soaRname', 'dns\\.admin.example.net.'],
    [{ REDIS_URL: 'rediss://:p@h:6380/1' }, 'redisUrl', 'rediss://:p@h:6380/1'],
    [{ ROOT_HINTS: '/etc/named.root' }, 'rootHints', '/etc/named.root'],
    [{ TRUST_ANCHORS: '/etc/root.key' }, 'trustAnchors', { path: '/etc/root.key' }],
    [{ TRUST_ANCHORS: 'off' }, 'trustAnchors', 'off'],
    [{ DNS_PORT_OUT: '5353' }, 'dnsPortOut', 5353],
    [{ RESOLVER_ALLOW: '10.0.0.0/8, fd00::/8' }, 'resolverAllow', ['10.0.0.0/8', 'fd00::/8']],
    [{ MOVED_AFTER: '90s' }, 'checkRules.movedAfterMs', 90_000],
    [{ MOVED_GRACE: '30m' }, 'checkRules.movedGraceMs', 30 * 60_000],
    [{ PENDING_MAX: '7d' }, 'checkRules.pendingMaxMs', 7 * 86_400_000],
    [{ ROLL_ZSK_EVERY: '90d' }, 'rollZskEveryMs', 90 * 86_400_000],
    [{ ROLL_ZSK_EVERY: 'off' }, 'rollZskEveryMs', undefined],
    [{ DNSSEC_NEW_DOMAINS: 'on' }, 'signsNewDomains', true],
    [{ UNVERIFIED_MAX: '3d' }, 'checkRules.unverifiedMaxMs', 3 * 86_400_000],
    [
      { PUBLIC_RESOLVERS: '192.0.2.1, 192.0.2.2:5353, 2001:db8::1, [2001:db8::2]:5353' },
      'publicResolvers',
      [
        { address: '192.0.2.1', port: 53 },
        { address: '192.0.2.2', port: 5353 },
        { address: '2001:db8::1', port: 53 },
        { address: '2001:db8::2', port: 5353 },
      ],
    ],
    [{ PUBLIC_RESOLVERS: 'off' }, 'publicResolvers', []],
    [{}, 'asnDb', undefined],
    [{ ASN_DB: '/srv/asn.txt' }, 'asnDb', '/srv/asn.txt'],
    [{ COUNTRY_DB: 'off' }, 'countryDb', undefined],
    [{ COUNTRY_DB: '/srv/c.mmdb' }, 'countryDb', { path: '/srv/c.mmdb' }],
    [{ CHECK_CONCURRENCY: '1' }, 'checkConcurrency', 1],
    [{}, 'apiConnections', 2000],
    [{ API_CONNECTIONS: '10' }, 'apiConnections', 10],
    [{}, 'apiConnectionsPerNetwork', 200],
    [{ API_CONNECTIONS_PER_ADDRESS: 'off' }, 'apiConnectionsPerNetwork', undefined],
    [{}, 'metricsHosts', []],
    [{ METRICS_HOSTS: 'A.example, b_1' }, 'metricsHosts', ['a.example', 'b_1']],
    [{ DATABASE_URL: 'postgres://u:p@h/d' }, 'databaseUrl', 'postgres://u:p@h/d'],
    [{ DATABASE_URL: 'postgres://u:p@/d?host=/run' }, 'databaseUrl', 'postgres://u:p@/d?host=/run'],
  ])('%o sets %s', (env, path, value) => {
    const settings: Settings = readSettings(env);
    const read = path.split('.').reduce((found: object, name) => found[name as keyof object], settings);
    expect(read).toEqual(value);
  });

  it('KEY_SECRETS has names and secrets in order', () => {
    const { keySecrets } = readSettings({ KEY_SECRETS: `new:${'A'.repeat(43)}=, old:${'/'.repeat(42)}w=` });
    expect(keySecrets.map(({ name, secret }) => [name, secret[0]])).toEqual([
      ['new', 0],
      ['old', 255],
    ]);
  });

  it('COOKIE_SECRETS keeps its order: the first signs', () => {
    const first = '00112233445566778899aabbccddeeff';
    const { cookieSecrets } = readSettings({ COOKIE_SECRETS: `${first},${'ab'.repeat(16)}` });
    expect(cookieSecrets.map((secret) => Buffer.from(secret).toString('hex'))).toEqual([
      first,
      'ab'.repeat(16),
    ]);
  });

  it('the answers name the settings that are unset, all those of nameservers together', () => {
    const unset = (env: Record<string, string>) => readSettings(env).answers.unset;
    const ofNameservers = ['nameserverSets', 'nameserverPool', 'nameserverAddresses', 'soaRname'];
    expect(unset({})).toEqual([...ofNameservers, 'edgeIpv4', 'edgeIpv6']);
    expect(unset({ EDGE_IPV4: '', EDGE_IPV6: '2001:db8::7' })).toEqual(ofNameservers);
    expect(unset({ SOA_RNAME: 'dns.example.net' })).toEqual(['edgeIpv4', 'edgeIpv6']);
  });

  it('NAMESERVER_SETS with one set causes a warning, since a dangling delegation does not show its owner', () => {
    const settings = readSettings({ NAMESERVER_SETS: 'NS1.example.net,ns2.example.net.' });
    expect(settings.answers.nameserverSets).toEqual([['ns1.example.net.', 'ns2.example.net.']]);
    expect(settings.answers.soaRname).toBe('hostmaster.example.net.');
    expect(settings.warnings).toHaveLength(1);
    expect(settings.warnings[0]).toContain('NAMESERVER_SETS');
  });

  it('NAMESERVER_SETS with more sets and no pool also causes a warning', () => {
    const { warnings } = readSettings({ NAMESERVER_SETS: 'ns1.example.net;ns1.example.org' });
    expect(warnings).toEqual([expect.stringContaining('NAMESERVER_POOL')]);
  });

  it('NAMESERVER_POOL replaces the demo sets, and keeps configured ones', () => {
    const env = {
      NAMESERVER_POOL: 'NS[01-40].fleet-a.example. , a.fleet-b.example + ns[1-9].fleet-b.example',
      NAMESERVER_ADDRESSES: '192.0.2.1, 2001:DB8:1::0001; 198.51.100.1',
    };
    const settings = readSettings(env);
    expect(settings.answers).toMatchObject({
      nameserverSets: [],
      nameserverPool: [['ns[01-40].fleet-a.example.'], ['a.fleet-b.example.', 'ns[1-9].fleet-b.example.']],
      nameserverAddresses: [['192.0.2.1', '2001:db8:1::1'], ['198.51.100.1']],
      soaRname: 'hostmaster.fleet-a.example.',
    });
    expect(settings.nameserverSetsAreDefault).toBe(false);
    expect(settings.warnings).toEqual([]);
    const both = readSettings({ ...env, NAMESERVER_SETS: 'ns1.example.net' });
    expect(both.answers.nameserverSets).toEqual([['ns1.example.net.']]);
    expect(both.warnings).toEqual([]);
  });

  it('NAMESERVER_POOL and related settings must match', () => {
    const pool = { NAMESERVER_POOL: 'a.example.net,b.example.org' };
    const addresses = { NAMESERVER_ADDRESSES: '192.0.2.1;198.51.100.1' };
    expect(faultsOf({ ...pool, ...addresses })).toEqual([]);
    expect(faultsOf(pool)).toEqual([
      'NAMESERVER_ADDRESSES: expected 2 lists, as many as NAMESERVER_POOL has, not 0',
    ]);
    expect(faultsOf(addresses)).toEqual([
      'NAMESERVER_POOL: expected to be set, because NAMESERVER_ADDRESSES is set',
    ]);
    expect(faultsOf({ ...pool, ...addresses, NAMESERVER_SETS: 'ns1.example.net,B.example.org' })).toEqual([
      'NAMESERVER_SETS: expected no name of NAMESERVER_POOL, not "b.example.org."',
    ]);
  });

  it.each([
    ['NAMESERVER_POOL', 'ns[1-9].x.net,ns[9-1].y.net', 'list 2 has "ns[9-1].y.net"'],
    ['NAMESERVER_POOL', 'ns[1-9].x.net,a.y.net+b_c.y.net', 'list 2 has "b_c.y.net"'],
    ['NAMESERVER_POOL', 'ns[1-9].x.net', 'there are 1'],
    ['NAMESERVER_POOL', 'a.x.net,ns[1-600].y.net+a[1-600].y.net', 'list 2 has 1200'],
    ['NAMESERVER_POOL', 'ns[1-9].x.net,NS3.x.net', 'ns3.x.net is in lists 1 and 2'],
    ['NAMESERVER_POOL', 'a.x.net,b.y.net+b.y.net', 'b.y.net is twice in list 2'],
    ['NAMESERVER_ADDRESSES', '192.0.2.1;198.51.100.1,198.51.100', 'list 2 has "198.51.100"'],
    ['NAMESERVER_ADDRESSES', '192.0.2.1;2001:db8::1,2001:DB8::0001', '2001:db8::1 is twice in list 2'],
    ['NAMESERVER_ADDRESSES', '192.0.2.1;192.0.2.9', '192.0.2.0/24 is in lists 1 and 2'],
  ])('%s=%s: the error names the position', (name, text, where) => {
    expect(faultsOf({ [name]: text }).find((fault) => fault.startsWith(name))).toContain(where);
  });

  it.each([
    ['KEY_SECRET', 'KEY_SECRETS'],
    ['RRL_OCTET', 'RRL_OCTETS'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_RUL', 'DATABASE_URL'],
    ['EDGE_IPV8', 'EDGE_IPV4'],
    ['NAMESERVERS_SET', 'NAMESERVER_SETS'],
    ['key_secrets', 'KEY_SECRETS'],
  ])('that is misspelled as %s causes a warning that names %s', (variable, setting) => {
    expect(readSettings({ [variable]: 'x' }).warnings).toEqual([
      `${variable} is not a setting and is ignored; did you mean ${setting}?`,
    ]);
  });

  it('that is misspelled is reported together with other errors', () => {
    expect(faultsOf({ DNS_THREADS: '0', RRL_OCTET: '1' })).toEqual([
      expect.stringMatching(/^DNS_THREADS: /),
      'RRL_OCTET is not a setting and is ignored; did you mean RRL_OCTETS?',
    ]);
  });

  it('causes no warning if other programs use the variable, even if its name is similar', () => {
    const env = Object.fromEntries(
      OF_OTHER_PROGRAMS.trim()
        .split(/\s+/)
        .map((name) => [name, 'x']),
    );
    expect(readSettings(env).warnings).toEqual([]);
  });

  it('that is unknown is ignored', () => {
    expect(faultsOf({ ZONEFLEET_NO_SUCH: 'x', PATH: '/bin' })).toEqual([]);
  });

  /** `NAME | wrong value | wrong value …` */
  const WRONG = `
    DATABASE_URL | mysql://localhost/x
    DATABASE_URL | postgresql://user:pa/ss@host/x
    DNS_LISTEN | 127.0.0.1 | 127.0.0.1:0 | 127.0.0.1:65536 | ::1:5300 | 127.0.0.1:5300, | localhost:5300
    METRICS_LISTEN | 9153
    NODE_NAME | ../other
    COOKIE_SECRETS | secret
    DNS_THREADS | 0 | 101
    DNS_IO | uring
    IMAGE_BYTES | 15M | 17G | 1e9
    API_LISTEN | 8053
    API_RATE | 0
    BOOTSTRAP_API_KEY | svc_short
    ALLOW_RESERVED_NAMES | perhaps
    KEY_SECRETS | k:c2hvcnQ=
    TSIG_SECRETS | k:c2hvcnQ=
    PUBLIC_URL | http://dns.example.net | https://dns.example.net/path | https://user@dns.example.net
    PUBLIC_URL | http://127.0.0.1.example.net | javascript:alert(1)
    TRUSTED_PROXIES | proxy.example.net
    REGISTRATION | maybe | on
    SMTP_URL | http://mail.example.net
    MAIL_FROM | nobody
    RUN_AS | ann dns | a:b:c
    ROLE_PASSWORDS | node:short | api:quote'quote | owner:12345678 | api:12345678,api:87654321
    REDIS_URL | http://localhost:6379
    DNS_PORT_OUT | 0 | 65536
    RESOLVER_ALLOW | 10.0.0.0 | 10.0.0.0/33 | fd00::/129 | localhost/8
    MOVED_AFTER | 24 | 0h
    MOVED_GRACE | 1w
    PENDING_MAX | 1d12h
    ROLL_ZSK_EVERY | 13d
    DNSSEC_NEW_DOMAINS | perhaps
    UNVERIFIED_MAX | 0d
    PUBLIC_RESOLVERS | dns.example
    CHECK_CONCURRENCY | 0 | 5001
    API_CONNECTIONS | 9 | off | 100001
    API_CONNECTIONS_PER_ADDRESS | 0
    METRICS_HOSTS | a.example:9153 | *.example
    RRL | 0 | -5 | 1e3
    RRL_OCTETS | 0 | 20k
    NAMESERVER_SETS | ns1.example.net,,ns2.example.net | ns1.example.net,NS1.example.net
    NAMESERVER_SETS | ns1.example.net;ns1.example.net | ns1 .example.net
    NAMESERVER_POOL | ns[1-9].example.net | a.x.net,b.x.net,c.x.net,d.x.net,e.x.net
    NAMESERVER_POOL | ns[9-1].example.net,ns[1-9].example.org | ns[1-1001].example.net,ns.example.org
    NAMESERVER_POOL | ns[1-600].example.net+a[1-600].example.net,ns.example.org
    NAMESERVER_POOL | ns[1-9].example.net,NS3.example.net | ns[1-9].example.net,,ns.example.org
    NAMESERVER_POOL | ns[1-9] .example.net,ns.example.org
    NAMESERVER_ADDRESSES | 192.0.2.1;192.0.2.9 | 2001:db8:1::1;2001:db8:1:2::1
    NAMESERVER_ADDRESSES | 192.0.2.1,192.0.2.1;198.51.100.1 | 192.0.2.1; | 192.0.2;198.51.100.1
    NAMESERVER_ADDRESSES | fe80::1%eth0;198.51.100.1
    EDGE_IPV4 | 192.0.2.1,2001:db8::1 | 192.0.2.1,192.0.2.1
    EDGE_IPV6 | 192.0.2.1
    SOA_RNAME | hostmaster@example.net
    LOG_LEVEL | loud
    VANTAGE | Paris | paris.example.net
    VANTAGE_API | api.example.net | http://api.example.net | http://localhost.example.net
    VANTAGE_API | http://a.localhost:8053 | http://127.0.0.1.example.net | https://user@api.example.net
    VANTAGE_API | https://api.example.net/?key=1 | ftp://127.0.0.1`;
  const wrong: [string, string][] = [
    ...WRONG.trim()
      .split('\n')
      .map((row) => row.trim().split(' | '))
      .flatMap(([name = '', ...values]) => values.map((value): [string, string] => [name, value])),
    ['NODE_NAME', 'a'.repeat(64)],
    ['KEY_SECRETS', 'A'.repeat(43)],
    ['NAMESERVER_SETS', `${'a'.repeat(64)}.example.net`],
    ['NAMESERVER_POOL', `ns.example.net,${'a'.repeat(63)}[1-2].example.net`],
    ['VANTAGE_KEY', `zfv_${'A'.repeat(42)}`],
    ['VANTAGE_KEY', 'A'.repeat(43)],
  ];
  it.each(wrong)('%s cannot be "%s"', (name, value) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(new RegExp(`^${name}: expected `));
  });
});

describe('the URL of the API of an observer', () => {
  it.each([
    ['https://api.example.net', 'https://api.example.net/'],
    ['https://localhost:8053', 'https://localhost:8053/'],
    ['http://127.0.0.1:8053', 'http://127.0.0.1:8053/'],
    ['http://[::1]:8053', 'http://[::1]:8053/'],
    ['http://localhost:8053/dns', 'http://127.0.0.1:8053/dns'],
    ['http://LOCALHOST', 'http://127.0.0.1/'],
  ])('%s is %s: http is only for loopback addresses, regardless of a resolver', (text, url) => {
    expect(readSettings({ VANTAGE_API: text }).vantageApi?.href).toBe(url);
  });
});

describe('errors', () => {
  it('state the expected and the actual value', () => {
    const faults = faultsOf({
      API_RATE: 'none',
      EDGE_IPV4: '192.0.2.1, ::1',
      NAMESERVER_SETS: 'ns1.example.net, ns1.example.net.',
    });
    expect(faults).toEqual([
      'NAMESERVER_SETS: expected each name once in a set, not "ns1.example.net, ns1.example.net."',
      'EDGE_IPV4: expected IPv4 addresses, not "192.0.2.1, ::1"',
      'API_RATE: expected requests per minute, 1 or more, or off, not "none"',
    ]);
  });

  it('are reported all together', () => {
    const faults = faultsOf({
      DNS_LISTEN: 'x',
      RRL: 'y',
      EDGE_IPV4: 'z',
      NAMESERVER_SETS: ',',
      LOG_LEVEL: '!',
    });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'NAMESERVER_SETS',
      'EDGE_IPV4',
      'LOG_LEVEL',
      'DNS_LISTEN',
      'RRL',
    ]);
  });

  it('never repeat a secret', () => {
    const secrets = Object.values(SETTINGS).filter(({ isSecret }: Setting<unknown>) => isSecret);
    expect(secrets.map(({ name }) => name)).toEqual([
      'DATABASE_URL',
      'DATABASE_READ_URL',
      'CACHE_REGISTRY_URL',
      'REDIS_URL',
      'ROLE_PASSWORDS',
      'TSIG_SECRETS',
      'COOKIE_SECRETS',
      'BOOTSTRAP_API_KEY',
      'KEY_SECRETS',
      'SMTP_URL',
      'OIDC_CLIENT_SECRET',
      'PAYMENT_SECRET',
      'ACME_EAB',
      'ANALYTICS_URL',
      'VANTAGE_KEY',
    ]);
    const faults = faultsOf(Object.fromEntries(secrets.map(({ name }) => [name, 'hunter2'])));
    expect(faults).toHaveLength(secrets.length);
    expect(faults.join()).not.toContain('hunter2');
  });

  it('include settings of an identity provider without its URL, unless they are off', () => {
    expect(faultsOf({ OIDC_NAME: 'Example ID', OIDC_LINK: 'off', OIDC_REQUIRED: 'operators' })).toEqual([
      'OIDC_NAME: expected OIDC_ISSUER to be set too: the identity provider',
      'OIDC_REQUIRED: expected OIDC_ISSUER to be set too: the identity provider',
    ]);
    expect(faultsOf({ OIDC_ISSUER: 'https://id.test', OIDC_NAME: 'Example ID' })).toEqual([]);
  });

  it('include a read URL without its primary', () => {
    expect(faultsOf({ DATABASE_READ_URL: 'postgres://standby/d' })[0]).toContain('DATABASE_URL');
  });
});

/** Of shells, npm, Node, PostgreSQL, systemd, Docker, Kubernetes, CI services and hosting platforms. */
const OF_OTHER_PROGRAMS = `
  PATH HOME USER LOGNAME SHELL PWD OLDPWD TERM LANG LC_ALL TZ TMPDIR EDITOR HOSTNAME SHLVL MAIL _ URL HOST PORT DEBUG CI
  COLORTERM DISPLAY SSH_CLIENT SSH_CONNECTION SSH_TTY SUDO_USER XDG_DATA_DIRS XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS
  NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION NODE_IP NODE_NAMES NODE_DEBUG YARN_VERSION NO_COLOR FORCE_COLOR
  npm_config_cache npm_config_loglevel npm_package_name npm_lifecycle_event npm_execpath INIT_CWD
  PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGDATA POSTGRES_PASSWORD POSTGRES_USER POSTGRES_DB REDIS_PASSWORD REDIS_HOST
  INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET WATCHDOG_USEC LISTEN_PID LISTEN_FDS LISTEN_FDNAMES STATE_DIRECTORY
  RUNTIME_DIRECTORY CONFIGURATION_DIRECTORY LOGS_DIRECTORY CACHE_DIRECTORY CREDENTIALS_DIRECTORY SYSTEMD_EXEC_PID MAINPID
  KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT KUBERNETES_PORT_443_TCP
  KUBERNETES_PORT_443_TCP_ADDR API_SERVICE_HOST API_SERVICE_PORT API_PORT API_PORT_8053_TCP DATABASE_PORT REDIS_PORT
  REDIS_SERVICE_HOST SMTP_PORT DNS_PORT DNS_PORT_53_UDP DNS_PORT_53_UDP_ADDR VANTAGE_PORT VANTAGE_SERVICE_PORT_HTTP
  POD_NAME POD_IP POD_NAMESPACE HOST_IP SERVICE_ACCOUNT GITHUB_TOKEN GITHUB_ACTIONS GITLAB_CI AWS_REGION AWS_PROFILE
  DOCKER_HOST HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF LD_LIBRARY_PATH
  MALLOC_ARENA_MAX UV_THREADPOOL_SIZE JAVA_HOME DATABASE_HOST DATABASE_NAME DATABASE_USER SMTP_HOST SMTP_USER MAIL_HOST
  MAIL_PORT API_KEY API_URL API_TOKEN PUBLIC_IP PUBLIC_HOST LOG_DIR LOG_FILE DATA_HOME
`;
