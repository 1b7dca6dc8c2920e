// Dynamic update with real clients, configured as docs/tools describes, and with a fleet whose programs are killed.

import { randomUUID, X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signMessage, type TsigKey } from '../../src/dns/message/tsig.ts';
import { parseName } from '../../src/dns/name.ts';
import { connect } from '../../src/store/postgres/connection.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { assemble, summarize } from '../support/answer/packets.ts';
import { type Pebble, startPebble } from '../support/certificates/pebble.ts';
import { enabled, signatureFaults } from '../support/database/signed-zones.ts';
import { startDaemon } from '../support/peers/daemon.ts';
import { DhcpLab } from '../support/peers/dhcp-lab.ts';
import { DNSPYTHON } from '../support/peers/dnspython.ts';
import { nsupdate } from '../support/peers/nsupdate.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { SYNCING_TOOLS, sync } from '../support/peers/syncing-tools.ts';
import { transferred } from '../support/peers/transfer-fleet.ts';
import { UpdateFleet, type UpdateKey } from '../support/peers/update-fleet.ts';
import { freePort } from '../support/processes/free-port.ts';
import { until } from '../support/tests/until.ts';
import { runProgram } from '../support/validators/run-program.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

/** The number of an advisory lock. */
const LOCK = 4711;
const REVERSE = '113.0.203.in-addr.arpa';
let fleet: UpdateFleet;
let domainId: number;

/** Returns a suffix for names of tests that need programs, empty if all are installed. */
function needs(...programs: readonly string[]): string {
  const missing = programs.filter((program) => !isInstalled(program));
  return missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;
}

const needsTools = needs('nsupdate', 'dig');

describe.skipIf(needsTools !== '')(`dynamic update${needsTools}`, () => {
  beforeAll(async () => {
    fleet = await UpdateFleet.start();
    domainId = await fleet.addDomain('shop.example');
    const records = recordsOf(
      '@ 300 SOA ns1.example. host.example. 1 3600 600 86400 60\n@ 300 NS ns1.example.',
      `${REVERSE}.`,
    );
    await saveZones(fleet.db, [{ apex: parseName(`${REVERSE}.`), records }], { source: 'test' });
  });
  afterAll(() => fleet?.stop());

  const changes = async () =>
    Number(
      (
        await sql<{
          n: number;
        }>`select count(*) as n from domain_changes where domain_id = ${domainId}`.execute(fleet.db)
      ).rows[0]?.n,
    );

  describe('nsupdate', () => {
    let key: UpdateKey;
    beforeAll(async () => {
      key = await fleet.createDocumentedKey('nsupdate', REVERSE);
    });

    it('makes a change that the next query sees, and reports a prerequisite that is not met', async () => {
      const keyFile = await fleet.writeExample('nsupdate', 'update.key', key);
      const withPort = (text: string) => text.replace(/^server .*/, `$& ${fleet.port}`);
      const file = await fleet.writeExample('nsupdate', 'nsupdate', key, withPort);
      const run = async () => (await runProgram('nsupdate', ['-k', keyFile, file])).text.trim();
      expect(await run()).toBe('');
      expect(await fleet.dig('new.shop.example', 'A')).toBe('192.0.2.80');
      expect(await run()).toBe('update failed: YXDOMAIN');
    });

    it.each([
      [
        'adds',
        ['update add a.shop.example 60 TXT one', 'update add a.shop.example 60 TXT two'],
        '',
        '"one"\n"two"',
      ],
      ['removes one record', ['update delete a.shop.example TXT one'], '', '"two"'],
      ['changes nothing twice', ['update delete a.shop.example TXT one'], '', '"two"'],
      [
        'needs a set',
        ['prereq nxrrset a.shop.example TXT', 'update delete a.shop.example'],
        'YXRRSET',
        '"two"',
      ],
      [
        'needs the values of a set',
        ['prereq yxrrset a.shop.example TXT one', 'update delete a.shop.example'],
        'NXRRSET',
        '"two"',
      ],
      [
        'is refused as a whole',
        ['update delete a.shop.example', 'update add b.other.example 60 A 192.0.2.1'],
        'NOTZONE',
        '"two"',
      ],
      ['removes a name', ['prereq yxdomain a.shop.example', 'update delete a.shop.example'], '', ''],
    ])('%s', async (_, lines, rcode, content) => {
      for (const options of [[], ['-v']]) {
        const sent = await nsupdate(fleet.port, key.text, ['zone shop.example', ...lines], ...options);
        if (options.length === 0) expect(sent).toBe(rcode === '' ? '' : `update failed: ${rcode}`);
        expect((await fleet.dig('a.shop.example', 'TXT')).split('\n').sort().join('\n')).toBe(content);
      }
    });

    it('is refused without a grant, before prerequisites are read, and in zones that are not served', async () => {
      const other = await fleet.createKey('other', [REVERSE, '--types', 'PTR']);
      const lines = [
        'zone shop.example',
        'prereq nxdomain ns1.shop.example',
        'update add x.shop.example 60 A 192.0.2.1',
      ];
      expect(await nsupdate(fleet.port, other.text, lines)).toBe('update failed: REFUSED');
      expect(await nsupdate(fleet.port, other.text, ['zone absent.example', ...lines.slice(2)])).toMatch(
        /NOTAUTH|NOTZONE/,
      );
      const wrong = `hmac-sha256:${key.name}:${Buffer.alloc(32).toString('base64')}`;
      expect(await nsupdate(fleet.port, wrong, lines)).toMatch(/BADSIG/);
      expect(await fleet.dig('x.shop.example', 'A')).toBe('');
    });

    it('changes an operator zone', async () => {
      const lines = [`zone ${REVERSE}`, `update add 80.${REVERSE} 60 PTR new.shop.example.`];
      expect(await nsupdate(fleet.port, key.text, lines)).toBe('');
      expect(await fleet.dig('-x', '203.0.113.80')).toBe('new.shop.example.');
    });
  });

  const needsPython = needs(DNSPYTHON);

  describe.skipIf(needsPython !== '')(`the messages of other tools${needsPython}`, () => {
    let key: UpdateKey;
    beforeAll(async () => {
      key = await fleet.createDocumentedKey('external-dns-rfc2136');
      const transfer = () => transferred(fleet.port, parseName('shop.example.'), '-y', key.text);
      await until(async () => (await transfer()).length > 0, 'the zone is transferred');
    });

    it.each(Object.entries(SYNCING_TOOLS))('%s finds what it wrote', async (_, tool) => {
      const target = { port: fleet.port, key: key.text };
      for (const state of tool.states) {
        const messages = await sync(tool, state, target);
        expect(messages).not.toEqual([]);
        const count = await changes();
        expect(await sync(tool, state, target)).toEqual([]);
        // A tool that does not compare sends the same records again.
        const added = messages.flat().filter((line) => line.startsWith('update add'));
        if (added.length > 0) expect(await tool.send(target.port, target.key, added)).toBe('');
        expect(await changes()).toBe(count);
      }
    });

    it.each([
      [
        'cert-manager of 2019, which deletes the set first',
        'update delete _acme-challenge.shop.example. TXT',
      ],
      ['cert-manager 1.19', undefined],
    ])('%s presents challenges and cleans them up', async (_, before) => {
      const NAME = '_acme-challenge.shop.example.';
      const { text } = await fleet.createDocumentedKey('cert-manager-rfc2136');
      for (const options of [[], ['-v']]) {
        const send = (...lines: string[]) =>
          nsupdate(fleet.port, text, ['zone shop.example', ...lines], ...options);
        const shown = async () => (await fleet.dig(NAME, 'TXT')).split('\n').sort().join(' ');
        for (const value of ['one', 'two'])
          expect(
            await send(...(before === undefined ? [] : [before]), `update add ${NAME} 60 TXT ${value}`),
          ).toBe('');
        expect(await shown()).toBe(before === undefined ? '"one" "two"' : '"two"');
        expect(await send(`update delete ${NAME} TXT one`)).toBe('');
        expect(await shown()).toBe('"two"');
        expect(await send(`update delete ${NAME} TXT two`)).toBe('');
        expect(await shown()).toBe('');
      }
    });
  });

  const needsDelv = needs('delv');

  describe.skipIf(needsDelv !== '')(`a signed domain${needsDelv}`, () => {
    it.each(['nsec', 'nsec3'] as const)('validates throughout with %s', async (denial) => {
      const zone = `${denial}.example`;
      await enabled(fleet.db, { domainId: await fleet.addDomain(zone) }, { denial });
      const key = await fleet.createKey(denial, [zone, '--match', 'subtree']);
      const ksk = await until(
        async () => /^257 3 13 (.+)$/m.exec(await fleet.dig(zone, 'DNSKEY'))?.[1]?.replaceAll(' ', ''),
        'the node serves the signed zone',
      );
      const anchor = join(fleet.directory, `${zone}.anchor`);
      writeFileSync(anchor, `trust-anchors { "${zone}." static-key 257 3 13 "${ksk}"; };\n`);
      const delv = async (name: string, type: string) => {
        const options = ['@127.0.0.1', '-p', `${fleet.port}`, '-a', anchor, `+root=${zone}`];
        const { text } = await runProgram('delv', [...options, `${name}.${zone}`, type]);
        return text;
      };
      const steps: readonly (readonly [updates: string, answers: Readonly<Record<string, string>>])[] = [
        ['add www 60 A 192.0.2.1; add www 60 TXT one', { 'www A': '192.0.2.1', 'www TXT': '"one"' }],
        ['add www 60 A 192.0.2.2', { 'www A': '192.0.2.1 192.0.2.2' }],
        ['delete www A 192.0.2.1; add www 300 A 192.0.2.3', { 'www A': '192.0.2.2 192.0.2.3' }],
        [
          'add a.b 60 A 192.0.2.4; add *.w 60 A 192.0.2.5',
          { 'a.b A': '192.0.2.4', 'x.w A': '192.0.2.5', 'b A': '' },
        ],
        ['delete www TXT', { 'www TXT': '', 'www A': '192.0.2.2 192.0.2.3' }],
        ['delete a.b A 192.0.2.4; add b 60 A 192.0.2.6', { 'a.b A': '', 'b A': '192.0.2.6' }],
        ['delete www; delete *.w', { 'www A': '', 'x.w A': '', 'b A': '192.0.2.6' }],
      ];
      const update = async () => {
        for (const [updates, answers] of steps) {
          const lines = updates
            .split('; ')
            .map((line) => `update ${line.replace(/^\w+ \S+/, `$&.${zone}.`)}`);
          expect(await nsupdate(fleet.port, key.text, [`zone ${zone}`, ...lines])).toBe('');
          for (const [query, expected] of Object.entries(answers)) {
            const text = await delv(...(query.split(' ') as [string, string]));
            expect(text).toMatch(
              expected === '' ? /^; negative response, fully validated/m : /^; fully validated/m,
            );
            const values = [...text.matchAll(/\sIN\s+(?:A|TXT)\s+(.+)$/gm)].map(([, value]) => value);
            expect(values.sort().join(' ')).toBe(expected);
          }
        }
      };
      let isUpdating = true;
      const watched: string[] = [];
      const watch = async () => {
        while (isUpdating) for (const name of ['www', 'a.b', 'x.w']) watched.push(await delv(name, 'A'));
      };
      await Promise.all([update().finally(() => (isUpdating = false)), watch()]);
      expect(watched.filter((text) => !/^; (negative response, )?fully validated/m.test(text))).toEqual([]);
      expect(await signatureFaults(fleet.db, parseName(`${zone}.`))).toEqual([]);
    });
  });

  const needsAcme = needs('pebble', 'certbot', 'lego');

  describe.skipIf(needsAcme !== '')(`a certificate for two names and a wildcard${needsAcme}`, () => {
    const NAMES = ['shop.example', '*.shop.example', 'www.shop.example'];
    let pebble: Pebble;
    let key: UpdateKey;

    beforeAll(async () => {
      pebble = await startPebble(`127.0.0.1:${fleet.port}`, {
        reusesAuthorizations: false,
        rejectsNonces: false,
      });
      writeFileSync(join(fleet.directory, 'roots.pem'), pebble.roots);
      key = await fleet.createDocumentedKey('certbot', '_acme-challenge.www.shop.example');
    });
    afterAll(() => pebble?.stop());

    /** Runs the client twice: it issues a certificate, and renews it. */
    async function issueAndRenew(
      path: string,
      issue: () => Promise<string>,
      renew: () => Promise<string>,
    ): Promise<void> {
      const serials = new Set<string>();
      for (const run of [issue, renew]) {
        const before = await changes();
        const text = await run();
        expect(existsSync(path), text).toBe(true);
        const certificate = new X509Certificate(readFileSync(path));
        expect(certificate.subjectAltName?.split(', ').sort(), text).toEqual(
          NAMES.map((name) => `DNS:${name}`).sort(),
        );
        serials.add(certificate.serialNumber);
        expect(await changes()).toBeGreaterThan(before + 3);
        for (const name of ['', 'www.'])
          expect(await fleet.dig(`_acme-challenge.${name}shop.example`, 'TXT')).toBe('');
      }
      expect(serials.size).toBe(2);
    }

    it('is issued and renewed by certbot', async () => {
      const credentials = await fleet.writeExample('certbot', 'rfc2136.ini', key);
      const at = (name: string) => join(fleet.directory, 'certbot', name);
      const places = ['--config-dir', at('config'), '--work-dir', at('work'), '--logs-dir', at('logs')];
      const certbot = async (...args: readonly string[]) =>
        (
          await runProgram('env', [
            `REQUESTS_CA_BUNDLE=${fleet.directory}/roots.pem`,
            'certbot',
            ...args,
            ...places,
          ])
        ).text;
      await issueAndRenew(
        at('config/live/shop.example/cert.pem'),
        () =>
          certbot(
            'certonly',
            '-n',
            '--agree-tos',
            '--register-unsafely-without-email',
            '--server',
            pebble.directory,
            '--dns-rfc2136',
            '--dns-rfc2136-credentials',
            credentials,
            '--dns-rfc2136-propagation-seconds',
            '1',
            ...NAMES.flatMap((name) => ['-d', name]),
          ),
        () => certbot('renew', '--force-renewal', '--no-random-sleep-on-renew'),
      );
    });

    it('is issued and renewed by lego', async () => {
      const folder = join(fleet.directory, 'lego');
      const server = `127.0.0.1:${fleet.port}`;
      const settings = Object.entries({
        LEGO_CA_CERTIFICATES: join(fleet.directory, 'roots.pem'),
        RFC2136_NAMESERVER: server,
        RFC2136_TSIG_ALGORITHM: 'hmac-sha256.',
        RFC2136_TSIG_KEY: key.name,
        RFC2136_TSIG_SECRET: key.secret,
        RFC2136_SEQUENCE_INTERVAL: '0',
      }).map(([name, value]) => `${name}=${value}`);
      const lego = async (...args: readonly string[]) => {
        const options = [
          '--server',
          pebble.directory,
          '--path',
          folder,
          '--accept-tos',
          '--email',
          'ann@shop.example',
          '--dns',
          'rfc2136',
          '--dns.disable-cp',
          '--dns.resolvers',
          server,
        ];
        const domains = NAMES.flatMap((name) => ['--domains', name]);
        return (await runProgram('env', [...settings, 'lego', ...options, ...domains, ...args])).text;
      };
      await issueAndRenew(
        join(folder, 'certificates/shop.example.crt'),
        () => lego('run'),
        () => lego('renew', '--days', '9999', '--no-random-sleep'),
      );
    });
  });

  const needsDhcp =
    process.getuid?.() === 0
      ? needs('kea-dhcp-ddns', 'kea-dhcp4', 'dhcpd', 'dhclient', 'ip')
      : ' (skipped: needs root)';

  describe.skipIf(needsDhcp !== '')(`a DHCP server${needsDhcp}`, () => {
    let lab: DhcpLab;
    let key: UpdateKey;
    beforeAll(async () => {
      lab = await DhcpLab.create(fleet.directory);
      key = await fleet.createDocumentedKey('dhcpd');
    });
    afterAll(() => lab?.remove());

    const forward = (name: string) => fleet.dig(`${name}.lan.shop.example`, 'A');
    const marks = async (name: string) =>
      (await Promise.all(['DHCID', 'TXT'].map((type) => fleet.dig(`${name}.lan.shop.example`, type)))).filter(
        (text) => text !== '',
      ).length;
    const reverse = (address: string) => fleet.dig('-x', address);

    /** A client gets a name in both zones, another one does not get the same name, and both are removed. */
    async function leaseAndRelease(name: string): Promise<void> {
      const first = await lab.lease(`${name}-1`, name);
      await until(async () => (await forward(name)) === first, 'the address is published');
      await until(
        async () => (await reverse(first)) === `${name}.lan.shop.example.`,
        'the name is published',
      );
      expect(await marks(name)).toBe(1);
      const second = await lab.lease(`${name}-2`, name);
      const third = await lab.lease(`${name}-3`, `${name}-3`);
      await until(async () => (await forward(`${name}-3`)) === third, 'the third client has its name');
      expect([await forward(name), await reverse(second)]).toEqual([first, '']);
      for (const client of [1, 2, 3]) await lab.release(`${name}-${client}`);
      const left = async () =>
        (await Promise.all([forward(name), reverse(first), forward(`${name}-3`), reverse(third)])).join('');
      await until(async () => (await left()) === '', 'the names are removed');
      expect(await marks(name)).toBe(0);
    }

    it('Kea publishes and removes names', async () => {
      const key = await fleet.createDocumentedKey('kea');
      const [port, env] = [await freePort(), `${fleet.directory}`];
      const ncr = (text: string) => text.replace('53001', `${port}`);
      const ddns = await fleet.writeExample('kea', 'kea-dhcp-ddns.conf', key, ncr);
      const dhcp4 = join(fleet.directory, 'kea-dhcp4.conf');
      writeFileSync(
        dhcp4,
        JSON.stringify({
          Dhcp4: {
            'interfaces-config': { interfaces: [lab.link] },
            'lease-database': { type: 'memfile', persist: false },
            'dhcp-ddns': { 'enable-updates': true, 'server-port': port },
            'ddns-qualifying-suffix': 'lan.shop.example.',
            subnet4: [{ subnet: '203.0.113.0/24', pools: [{ pool: '203.0.113.100 - 203.0.113.120' }] }],
          },
        }),
      );
      const start = (program: string, file: string) =>
        startDaemon({
          program: 'env',
          files: () => ({}),
          args: () => [`KEA_PIDFILE_DIR=${env}`, `KEA_LOCKFILE_DIR=${env}`, program, '-c', file],
          isReady: async () => true,
        });
      const daemons = [await start('kea-dhcp-ddns', ddns), await start('kea-dhcp4', dhcp4)];
      try {
        await leaseAndRelease('kea');
      } finally {
        for (const daemon of daemons) await daemon.stop();
      }
    });

    it.each([
      'standard',
      'interim',
    ])('ISC dhcpd publishes and removes names with the style %s', async (style) => {
      const subnet = 'subnet 203.0.113.0 netmask 255.255.255.0 { range 203.0.113.121 203.0.113.150; }\n';
      const config = await fleet.writeExample(
        'dhcpd',
        'dhcpd.conf',
        key,
        (text) => text.replace('standard', style) + subnet,
      );
      const daemon = await startDaemon({
        program: 'dhcpd',
        files: () => ({ leases: '' }),
        args: (own) => [
          '-f',
          '-d',
          '-4',
          '-cf',
          config,
          '-lf',
          `${own}/leases`,
          '-pf',
          `${own}/pid`,
          lab.link,
        ],
        isReady: async () => true,
      });
      try {
        await leaseAndRelease(style);
      } finally {
        await daemon.stop();
      }
    });
  });

  describe('a program that is killed between commit and answer', () => {
    let key: TsigKey;
    beforeAll(async () => {
      const { name, secret } = await fleet.createKey('killed', ['shop.example', '--match', 'subtree']);
      key = { name: parseName(name), algorithm: 'hmac-sha256', secret: Buffer.from(secret, 'base64') };
      // An answer is written while the test does not hold this lock.
      await sql`create function wait_for_test() returns trigger language plpgsql as $$ begin
          perform pg_advisory_xact_lock_shared(${sql.lit(LOCK)}); return new; end $$`.execute(fleet.db);
      await sql`create trigger wait_for_test before update of answer on dns_updates
        for each row execute function wait_for_test()`.execute(fleet.db);
    });

    it.each([
      [
        'the node',
        async () => {
          await fleet.node.stop('SIGKILL');
          await fleet.startNode();
        },
      ],
      [
        'the API',
        async () => {
          await fleet.api.stop('SIGKILL');
          await fleet.startApi();
        },
      ],
      [
        'Postgres',
        async () => {
          // The server ends all sessions, recovers, and empties unlogged tables if one of its processes is killed.
          const { rows } = await sql<{ pid: number }>`
          select pid from pg_stat_activity where application_name like 'zonefleet api%' limit 1`.execute(
            fleet.db,
          );
          process.kill(rows[0]?.pid as number, 'SIGKILL');
        },
      ],
    ])('is %s: the repeated message gets NOERROR, and there is one change', async (_, kill) => {
      const name = `k${randomUUID().slice(0, 8)}`;
      const message = signMessage(
        assemble(`1234 2800 0001 0001 0001 0000 "shop.example." 0006 0001
          "${name}.shop.example." 00ff 00fe 00000000 0000
          "${name}.shop.example." 0001 0001 0000003c 0004 c0000250`),
        key,
        { nowSeconds: Math.floor(Date.now() / 1000) },
      ).message;
      const before = await changes();
      const holder = await connect(fleet.databaseUrl, { applicationName: 'test' });
      await holder.query(`select pg_advisory_lock(${LOCK})`);
      const lost = ask(message, 3500);
      await until(async () => (await changes()) > before, 'the change is committed');
      await kill();
      await holder.close();
      await lost;
      const reply = await until(async () => {
        const answer = await ask(message, 1000);
        return answer !== undefined && !answer.startsWith('SERVFAIL') && answer;
      }, 'the repeated message is answered');
      expect(reply).toBe('NOERROR - 1/0/0/1');
      expect(await until(async () => await changes().catch(() => false as const))).toBe(before + 1);
      expect(await fleet.dig(`${name}.shop.example`, 'A')).toBe('192.0.2.80');
    });

    /** Sends a message over UDP. Returns the summary of the answer, or undefined if there is none in time. */
    async function ask(message: Uint8Array, timeoutMs: number): Promise<string | undefined> {
      const socket = createSocket('udp4');
      try {
        socket.send(message, fleet.port, '127.0.0.1');
        const signal = AbortSignal.timeout(timeoutMs);
        const [reply] = await once(socket, 'message', { signal });
        return summarize(reply);
      } catch {
        return undefined;
      } finally {
        socket.close();
      }
    }
  });
});
