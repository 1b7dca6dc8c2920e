// What the first minutes with a clone are like: one command, nothing installed but Node, as root and as an ordinary user.
// In full (`npm run prove first-run`) the packages are installed too, from an empty npm cache.

import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/peers/peers.ts';
import { freePort } from '../support/processes/free-port.ts';
import { FreshClone, ordinaryUser, type StartedClone, type User } from '../support/processes/fresh-clone.ts';
import { until } from '../support/tests/until.ts';

const installed = process.env.ZONEFLEET_PROVE !== '1';
/** Until what hangs is ended: a machine that has much else to do is slow, and no test of how fast it is. */
const PATIENCE_MS = 180_000;
const ONE_TRY = ['+tries=1', '+timeout=60'];
const EDGE = ['192.0.2.80', '198.51.100.80'];
const missing = ['dig', 'curl'].filter((program) => !isInstalled(program));
const skipped = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

/** Runs the line as it was printed, over UDP or, with `+tcp`, over TCP. */
function dig(line: string, ...options: string[]): string {
  const [program = '', ...words] = line.split(' ');
  return execFileSync(program, [...words, '+short', ...ONE_TRY, ...options], { encoding: 'utf8' }).trim();
}

/** Runs the line as it was printed; `$NAMES` come from `variables`. */
function curl({ output }: StartedClone, variables: Record<string, string> = {}): unknown {
  const line = /^ +(curl .*)$/m.exec(output)?.[1] ?? 'false';
  const env = { PATH: process.env.PATH ?? '', ...variables };
  return JSON.parse(execFileSync('bash', ['-euc', line], { env, encoding: 'utf8', stdio: 'pipe' }));
}

function status(line: string): string | undefined {
  const [program = '', ...words] = line.split(' ');
  const text = execFileSync(program, [...words, ...ONE_TRY], { encoding: 'utf8' });
  return /status: (\w+)/.exec(text)?.[1];
}

/** Of nameserver, API and workers, as they were printed. */
function metricsUrls({ output }: StartedClone): string[] {
  return /^ +metrics +(http.*) \(/m.exec(output)?.[1]?.split(' ') ?? [];
}

/** Postgres is out of the terminal's reach. */
function isPostgres(pid: number): boolean {
  return commandOf(pid).includes('postgres');
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

function answers(line: string): boolean {
  try {
    return status(line) !== undefined;
  } catch {
    return false; // dig exits with 9 without an answer
  }
}

async function stopBySignal(clone: FreshClone, started: StartedClone, signal: NodeJS.Signals): Promise<void> {
  started.npm.kill(signal);
  await started.ended;
  await until(() => clone.processes().length === 0, 'every process has ended', PATIENCE_MS);
}

function postgresLog(clone: FreshClone): string {
  return readFileSync(join(clone.databaseDirectory, 'postgres.log'), 'utf8');
}

const users: [string, User | undefined][] = [
  [process.getuid?.() === 0 ? 'root' : 'an ordinary user', {}],
  ...(process.getuid?.() === 0 ? [['an ordinary user', ordinaryUser()] as [string, User | undefined]] : []),
];

describe.skipIf(process.platform !== 'linux' || skipped !== '').each(users)(
  `npm start on a fresh clone as %s${skipped}`,
  (_, user) => {
    let clone: FreshClone;
    beforeAll(async () => {
      const ports = [await freePort(), await freePort(), await freePort(2)] as const;
      clone = new FreshClone({ user: user ?? {}, ports, installed });
    });
    afterAll(() => clone?.remove());

    it('prints a key once, dig and curl lines that work, and ends on SIGTERM', async () => {
      const started = clone.start();
      const line = await started.ready(installed ? PATIENCE_MS : 4 * PATIENCE_MS);
      expect(dig(line).split('\n').sort()).toEqual(EDGE);
      expect(started.output).toContain(
        `${line}\n            (this record is proxied: the answer has the edge's addresses)\n`,
      );
      expect(dig(line, '+tcp').split('\n').sort()).toEqual(EDGE);
      expect(started.output.match(/svc_\w{40} \(a global admin's, shown this once\)$/gm)).toHaveLength(1);
      expect(curl(started)).toContainEqual(expect.objectContaining({ name: 'www', proxied: true }));
      expect(started.output).toContain(clone.databaseDirectory);
      const metrics = metricsUrls(started);
      const ready = metrics.map(async (url) => (await fetch(url.replace('/metrics', '/readyz'))).status);
      expect(await Promise.all(ready)).toEqual([200, 200, 200]);
      expect(await (await fetch(metrics[2] as string)).text()).toContain('zonefleet_queue_jobs');
      await stopBySignal(clone, started, 'SIGTERM');
      expect(await started.ended).toBe(0);
    });

    const isOrdinary = user?.uid !== undefined;
    if (isOrdinary && installed) return; // here only start and end differ: the whole proof runs the rest

    it('loses nothing when everything is killed, and starts again as if nothing had been', async () => {
      const first = clone.start();
      const line = await first.ready();
      const file = join(clone.directory, 'own.zone');
      writeFileSync(
        file,
        '$ORIGIN own.example.\n@ 60 SOA ns1 h 1 2 3 4 5\n@ 60 NS ns1\nns1 60 A 192.0.2.77\n',
      );
      const loaded = clone.cli('zone', 'load', file);
      expect(loaded).toMatchObject({ status: 0 });
      const ours = line.replace('www.zonefleet.example', 'ns1.own.example');
      await until(() => dig(ours) === '192.0.2.77', 'the loaded zone is answered', PATIENCE_MS);
      await clone.killAll();
      await first.ended;
      const operatorsKey = { BOOTSTRAP_API_KEY: `svc_${'0123456789'.repeat(4)}` };
      const again = clone.start(operatorsKey);
      await again.ready();
      expect(again.output).not.toContain('svc_');
      expect(curl(again, operatorsKey)).toContainEqual(expect.objectContaining({ name: 'www' }));
      expect(dig(ours)).toBe('192.0.2.77');
      expect(dig(line).split('\n').sort()).toEqual(EDGE);
      await stopBySignal(clone, again, 'SIGINT');
    });

    // The demo's own test also shows that it is loaded only once.
    if (!installed) {
      it('does not bring the demo back once it was deleted', async () => {
        const first = clone.start();
        const line = await first.ready();
        expect(clone.cli('domain', 'delete', 'zonefleet.example')).toMatchObject({ status: 0 });
        await until(() => status(line) === 'REFUSED', 'the demo is gone', PATIENCE_MS);
        await stopBySignal(clone, first, 'SIGTERM');
        const again = clone.start();
        expect(await again.ready()).toContain(' own.example. SOA');
        expect(status(line)).toBe('REFUSED');
        await stopBySignal(clone, again, 'SIGTERM');
      });
    }

    if (isOrdinary) return; // what follows is the same for every user

    it('gives up the rights of root once it listens, and hands each process only its own secrets', async () => {
      const started = clone.start({ COOKIE_SECRETS: '0'.repeat(32) });
      await started.ready();
      const seen = ['src/nameserver', 'src/api', 'workers'].map((folder) => {
        const pid = clone.processes().find((pid) => commandOf(pid).includes(`/${folder}/main.`));
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        const secrets = ['KEY_SECRETS', 'COOKIE_SECRETS'].filter((name) => environment.includes(`${name}=`));
        const role = /DATABASE_URL=postgresql:\/\/(\w+):/.exec(environment)?.[1];
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const isRoot = /^(Uid|Gid|Groups):.*\b0\b/m.test(status);
        return { secrets, role, isRoot };
      });
      expect(seen).toEqual([
        { secrets: ['COOKIE_SECRETS'], role: 'zonefleet_node', isRoot: false },
        { secrets: ['KEY_SECRETS'], role: 'zonefleet_api', isRoot: false },
        { secrets: ['KEY_SECRETS'], role: 'zonefleet_worker', isRoot: false },
      ]);
      await stopBySignal(clone, started, 'SIGTERM');
    });

    it('names the setting when a port is in use, and leaves nothing running', async () => {
      const socket = createSocket('udp4');
      await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
      const { port } = socket.address();
      try {
        const started = clone.start({ DNS_LISTEN: `127.0.0.1:${port}` });
        expect(await started.ended).toBe(1);
        const said = started.output.split('\n').filter((line) => line.startsWith('zonefleet: '));
        expect(said).toHaveLength(1);
        expect(said[0]).toContain(`DNS_LISTEN: 127.0.0.1:${port} is in use`);
        expect(clone.processes()).toEqual([]);
      } finally {
        socket.close();
      }
    });

    it('tells all faults of the settings at once', async () => {
      const started = clone.start({ RRL: 'much', EDGE_IPV4: 'here' });
      expect(await started.ended).toBe(1);
      expect(started.output).toContain('RRL: expected');
      expect(started.output).toContain('EDGE_IPV4: expected');
      expect(clone.processes()).toEqual([]);
    });

    it('is told which process has the database when another npm start runs on it', async () => {
      const first = clone.start();
      await first.ready();
      const second = clone.start({ DNS_LISTEN: `127.0.0.1:${await freePort()}` });
      expect(await second.ended).toBe(1);
      expect(second.output).toMatch(/in use by the process with pid \d+/);
      await stopBySignal(clone, first, 'SIGTERM');
    });

    it('ends cleanly on Ctrl-C, which the terminal sends to everyone and npm once more', async () => {
      const started = clone.start();
      await started.ready();
      for (const pid of clone.processes()) if (!isPostgres(pid)) process.kill(pid, 'SIGINT');
      expect(await started.ended).toBe(0);
      expect(clone.processes()).toEqual([]);
      expect(postgresLog(clone)).toContain('received fast shutdown request');
    });

    it('brings back what crashes, and answers while Postgres is away', async () => {
      const started = clone.start();
      const line = await started.ready();
      const postmaster = Number(
        readFileSync(join(clone.databaseDirectory, 'cluster/postmaster.pid'), 'utf8').split('\n')[0],
      );
      process.kill(postmaster, 'SIGKILL');
      expect(status(line)).toBeDefined();
      await until(
        () => clone.cli('zone', 'export', 'own.example').status === 0,
        'Postgres is back',
        PATIENCE_MS,
      );
      const pidOf = (main: RegExp) => clone.processes().find((pid) => main.test(commandOf(pid)));
      const [nameserver, workers] = [pidOf(/nameserver.main\.m?[jt]s/), pidOf(/workers.main\.m?[jt]s/)];
      for (const pid of [nameserver, workers]) process.kill(pid as number, 'SIGKILL');
      await until(
        () => pidOf(/nameserver.main\.m?[jt]s/) !== nameserver && answers(line),
        'the nameserver is back',
        PATIENCE_MS,
      );
      const readyz = (metricsUrls(started)[2] as string).replace('/metrics', '/readyz');
      const isReady = () =>
        fetch(readyz).then(
          ({ ok }) => ok,
          () => false,
        );
      await until(
        async () => pidOf(/workers.main\.m?[jt]s/) !== workers && (await isReady()),
        'the workers are back',
        PATIENCE_MS,
      );
      await stopBySignal(clone, started, 'SIGTERM');
    });

    it('says which setting is wrong when the database cannot be reached', async () => {
      const url = `postgresql://zonefleet:hunter2@localhost:${await freePort()}/zonefleet`;
      const started = clone.start({ DATABASE_URL: url });
      expect(await started.ended).toBe(1);
      expect(started.output).toMatch(/^zonefleet: DATABASE_URL: .*ECONNREFUSED/m);
      expect(started.output).not.toContain('hunter2');
    });

    it('ends with npm, even if npm is killed and cannot tell it', async () => {
      const started = clone.start();
      await started.ready();
      started.npm.kill('SIGKILL');
      await until(() => clone.processes().length === 0, 'every process has ended', PATIENCE_MS);
    });
  },
);
