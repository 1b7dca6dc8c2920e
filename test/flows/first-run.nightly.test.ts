// `npm start` on a fresh clone: restarts after kills, wrong settings, and who may read which secret.

import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/peers/peers.ts';
import { FreshClone } from '../support/processes/fresh-clone.ts';
import { curlPrinted, digPrinted, digStatus, EDGE, metricsUrls } from '../support/processes/printed-lines.ts';
import { until } from '../support/tests/until.ts';

/** Until hanging processes are ended. */
const PATIENCE_MS = 180_000;
const missing = ['dig', 'curl'].filter((program) => !isInstalled(program));
const skipped = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // the process has ended
  }
}

describe.skipIf(process.platform !== 'linux' || skipped !== '')(
  `npm start on a fresh clone${skipped}`,
  () => {
    let clone: FreshClone;
    beforeAll(async () => {
      clone = await FreshClone.make();
    });
    afterAll(() => clone?.remove());

    it('loses nothing if everything is killed, and restarts normally', async () => {
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
      await until(() => digPrinted(ours) === '192.0.2.77', 'the loaded zone is answered', PATIENCE_MS);
      await clone.killAll();
      await first.ended;
      const operatorsKey = { BOOTSTRAP_API_KEY: `svc_${'0123456789'.repeat(4)}` };
      const again = clone.start(operatorsKey);
      await again.ready();
      expect(again.output).not.toContain('svc_');
      expect(curlPrinted(again, operatorsKey)).toContainEqual(expect.objectContaining({ name: 'www' }));
      expect(digPrinted(ours)).toBe('192.0.2.77');
      expect(digPrinted(line).split('\n').sort()).toEqual(EDGE);
      await clone.stop(again, 'SIGINT');
    });

    it('drops root rights once it listens, and passes each process only its own secrets', async () => {
      const file = join(clone.directory, 'cookie-secrets');
      writeFileSync(file, `${'0'.repeat(32)}\n`, { mode: 0o600 });
      const started = clone.start({ COOKIE_SECRETS_FILE: file });
      await started.ready();
      const seen = ['src/nameserver', 'src/api', 'workers'].map((folder) => {
        const pid = clone.processes().find((pid) => commandOf(pid).includes(`/${folder}/main.`));
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        const secrets = ['KEY_SECRETS', 'COOKIE_SECRETS_FILE'].filter((name) =>
          environment.includes(`${name}=`),
        );
        const role = /DATABASE_URL=postgresql:\/\/(\w+):/.exec(environment)?.[1];
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const isRoot = /^(Uid|Gid|Groups):.*\b0\b/m.test(status);
        return { secrets, role, isRoot };
      });
      expect(seen).toEqual([
        { secrets: ['COOKIE_SECRETS_FILE'], role: 'zonefleet_node', isRoot: false },
        { secrets: ['KEY_SECRETS'], role: 'zonefleet_api', isRoot: false },
        { secrets: ['KEY_SECRETS'], role: 'zonefleet_worker', isRoot: false },
      ]);
      await clone.stop(started);
    });

    it('names the setting if a port is in use, and leaves no process running', async () => {
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

    it('ends cleanly on Ctrl-C, which the terminal sends to all processes and npm repeats', async () => {
      const started = clone.start();
      await started.ready();
      for (const pid of clone.processes())
        if (!commandOf(pid).includes('postgres')) process.kill(pid, 'SIGINT');
      expect(await started.ended).toBe(0);
      expect(clone.processes()).toEqual([]);
      const log = readFileSync(join(clone.databaseDirectory, 'postgres.log'), 'utf8');
      expect(log).toContain('received fast shutdown request');
    });

    it('restarts crashed processes, and answers while Postgres is unavailable', async () => {
      const started = clone.start();
      const line = await started.ready();
      const postmaster = Number(
        readFileSync(join(clone.databaseDirectory, 'cluster/postmaster.pid'), 'utf8').split('\n')[0],
      );
      process.kill(postmaster, 'SIGKILL');
      expect(digStatus(line)).toBeDefined();
      await until(
        () => clone.cli('zone', 'export', 'own.example').status === 0,
        'Postgres is back',
        PATIENCE_MS,
      );
      const pidOf = (main: RegExp) => clone.processes().find((pid) => main.test(commandOf(pid)));
      const [nameserver, workers] = [pidOf(/nameserver.main\.m?[jt]s/), pidOf(/workers.main\.m?[jt]s/)];
      for (const pid of [nameserver, workers]) process.kill(pid as number, 'SIGKILL');
      await until(
        () => pidOf(/nameserver.main\.m?[jt]s/) !== nameserver && digStatus(line) !== undefined,
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
      await clone.stop(started);
    });

    it('ends with npm, even if npm is killed and cannot notify it', async () => {
      const started = clone.start();
      await started.ready();
      started.npm.kill('SIGKILL');
      await until(() => clone.processes().length === 0, 'every process has ended', PATIENCE_MS);
    });
  },
);
