// A machine for the commands of runbooks: the settings files of the packages, `zonefleet`, `systemctl` and `journalctl`. The
// processes are real. The test moves paths, addresses and ports to those of this machine.

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CLI } from '../cli/run-cli.ts';
import { freePort } from '../processes/free-port.ts';
import { type Program, programOf, untilReady } from '../processes/program.ts';
import { ROOT } from '../tests/sources.ts';
import { until } from '../tests/until.ts';
import { RunbookPage } from './page.ts';

const MAINS = {
  nameserver: 'src/nameserver/main.ts',
  api: 'src/api/main.ts',
  workers: 'workers/main.ts',
} as const;
type Unit = keyof typeof MAINS;
const UNITS = Object.keys(MAINS) as readonly Unit[];
/** Ports of /metrics, as the settings files of the packages have them. */
const METRICS_PORTS: Readonly<Record<Unit, number>> = { nameserver: 9153, api: 9154, workers: 9155 };
const TIMEOUT_MS = 300_000;
/** `RestartSec` of the units. */
const RESTART_MS = 1000;
/** Leaves the processor to the processes that the test waits for. */
const POLL_MS = 200;

type Settings = Readonly<Record<string, string>>;

export interface Run {
  readonly code: number;
  /** Everything that the commands printed. */
  readonly text: string;
}

/** A service that is not a process of Zonefleet, such as `postgresql`. */
interface OtherService {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type Machine = Awaited<ReturnType<typeof prepareMachine>>;

/** Prepares a machine on which nothing runs. `replaced` maps texts of the pages to those of the test. */
export async function prepareMachine(replaced: Settings = {}, others: Record<string, OtherService> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'zonefleet-machine-'));
  const at = (...path: string[]) => join(folder, ...path);
  for (const path of ['bin', 'etc', 'var', 'tmp', 'log']) mkdirSync(at(path), { mode: 0o711 });
  const running = new Map<Unit, Program>();
  const restarts = new Map<Unit, NodeJS.Timeout>();
  const ports: Record<Unit | 'dns' | 'http', number> = {
    nameserver: await freePort(),
    api: await freePort(),
    workers: await freePort(),
    dns: await freePort(),
    http: await freePort(),
  };
  const fileOf = (name: string) => at('etc', `${name}.env`);

  async function start(unit: Unit): Promise<void> {
    if (running.has(unit)) return;
    const program = startUnit(MAINS[unit], readSettings(fileOf(unit)));
    running.set(unit, program);
    // As with `Restart=always` of the unit.
    program.child.once('exit', () => {
      if (running.get(unit) !== program) return;
      running.delete(unit);
      restarts.set(
        unit,
        setTimeout(() => start(unit).catch(() => {}), RESTART_MS),
      );
    });
    const url = `http://127.0.0.1:${ports[unit]}/healthz`;
    await untilReady(program, unit, async () => {
      await pause(POLL_MS);
      return (await fetch(url).catch(() => undefined))?.ok;
    });
  }

  async function stop(unit: Unit, signal?: NodeJS.Signals): Promise<void> {
    clearTimeout(restarts.get(unit));
    const program = running.get(unit);
    running.delete(unit);
    await program?.stop(signal);
  }

  async function systemctl(words: readonly string[]): Promise<string> {
    const [verb, ...names] = words.filter((word) => !word.startsWith('-'));
    for (const name of names.map((each) => each.replace(/\.service$/, ''))) {
      const unit = UNITS.find((each) => name === `zonefleet-${each}`);
      const service =
        unit === undefined ? others[name] : { start: () => start(unit), stop: () => stop(unit) };
      if (service === undefined) throw new Error(`no unit ${name}`);
      if (verb === 'stop' || verb === 'restart' || verb === 'disable') await service.stop();
      if (verb === 'start' || verb === 'restart' || verb === 'enable') await service.start();
    }
    return '';
  }

  function journalctl(words: readonly string[]): string {
    const unit = UNITS.find((each) => words.includes(`zonefleet-${each}`));
    return (unit === undefined ? undefined : running.get(unit)?.log()) ?? '';
  }

  const control = createServer((request, response) => {
    let words = '';
    request.on('data', (part) => {
      words += part;
    });
    request.on('end', async () => {
      const given = words.split(' ');
      const done = await (request.url === '/systemctl'
        ? systemctl(given)
        : Promise.resolve(journalctl(given))
      )
        .then((text) => ({ status: 200, text }))
        .catch((error: Error) => ({ status: 500, text: error.message }));
      response.writeHead(done.status).end(done.text);
    });
  });
  await new Promise<void>((listening) => control.listen(0, '127.0.0.1', listening));
  const controlUrl = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
  const script = (name: string, text: string) =>
    writeFileSync(at('bin', name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  // Set variables win, as in the command of the packages.
  script(
    'zonefleet',
    `given=$(export -p); set -a; . ${fileOf('cli')}; set +a; eval "$given"; exec '${process.execPath}' '${CLI}' "$@"`,
  );
  for (const name of ['systemctl', 'journalctl'])
    script(name, `exec curl -sS --fail-with-body --data "$*" ${controlUrl}/${name}`);

  const texts: [string, string][] = [
    ...Object.entries(replaced),
    ['/etc/zonefleet', at('etc')],
    ['/var/lib/zonefleet-nameserver', at('var')],
    ['/var/log/zonefleet', at('log')],
    ['/var/backups', at('tmp')],
    ['@192.0.2.1 ', `@127.0.0.1 -p ${ports.dns} `],
    ['127.0.0.1:8053', `127.0.0.1:${ports.http}`],
    ...UNITS.map((unit): [string, string] => [`:${METRICS_PORTS[unit]}`, `:${ports[unit]}`]),
  ];

  return {
    folder,
    ports,
    /** Adds a program to the PATH of commands. */
    addProgram: script,
    /** Starts units one after another. */
    async start(...units: readonly Unit[]): Promise<void> {
      for (const unit of units) await start(unit);
    },
    stop,
    /** Returns the log of a running process. */
    log: (unit: Unit) => running.get(unit)?.log() ?? '',
    /** Writes the settings of the command line or of a process; the processes get ports of this machine. */
    configure(name: Unit | 'cli', settings: Settings): void {
      const own: Partial<Record<string, Settings>> = {
        nameserver: {
          NODE_NAME: 'ns1',
          DNS_LISTEN: `127.0.0.1:${ports.dns}`,
          DNS_THREADS: '1',
          IMAGE_BYTES: '256M',
          DATA_DIR: at('var'),
        },
        api: { API_LISTEN: `127.0.0.1:${ports.http}`, API_RATE: 'off' },
      };
      const metrics = name === 'cli' ? {} : { METRICS_LISTEN: `127.0.0.1:${ports[name]}` };
      const all = { DATA_DIR: at('tmp'), ...metrics, ...own[name], ...settings };
      const lines = Object.entries(all).map(([key, value]) =>
        /^[\w@:/.,+=~%-]*$/.test(value) ? `${key}=${value}` : `${key}='${value}'`,
      );
      writeFileSync(fileOf(name), `${lines.join('\n')}\n`, { mode: 0o600 });
    },
    /** Returns a setting as a process would read it now. */
    setting: (name: Unit | 'cli', key: string) => readSettings(fileOf(name))[key],
    /** Runs the next commands under a heading. Throws unless they end with this code. */
    async run(page: RunbookPage, heading: string, wanted = 0): Promise<string> {
      const commands = texts.reduce((text, [from, to]) => text.replaceAll(from, to), page.next(heading));
      const { code, text } = await runScript(commands, folder);
      if (code !== wanted) throw new Error(`${heading}: exit code ${code}\n${commands}\n${text}`);
      return text;
    },
    /** Runs commands that are not in a page. Throws unless they succeed. */
    async shell(commands: string): Promise<string> {
      const { code, text } = await runScript(commands, folder);
      if (code !== 0) throw new Error(`exit code ${code}\n${commands}\n${text}`);
      return text;
    },
    async end(): Promise<void> {
      for (const unit of UNITS) await stop(unit, 'SIGKILL');
      control.closeAllConnections();
      await new Promise((closed) => control.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Reads a page whose commands a test runs, in an arrangement with a machine. */
export const runbook = (name: string) => new RunbookPage(name);

/** Returns the address that a node answers for a name, or the rcode. */
export async function answered(port: number, name: string): Promise<string> {
  const { text } = await runScript(`dig @127.0.0.1 -p ${port} +tries=1 +time=2 ${name} A`, tmpdir());
  return /\sIN\sA\s(\S+)/.exec(text)?.[1] ?? /status: (\w+)/.exec(text)?.[1] ?? 'none';
}

export async function untilAnswered(port: number, name: string, address: string): Promise<void> {
  let last = '';
  await until(
    async () => {
      last = await answered(port, name);
      if (last === address) return true;
      await pause(POLL_MS);
      return false;
    },
    () => `${name} has ${address}, not ${last}`,
  );
}

/** Runs a script in a machine's folder, which is also its home, with the programs of the machine. */
function runScript(script: string, folder: string): Promise<Run> {
  const env = {
    PATH: `${folder}/bin:${process.env.PATH}:/usr/sbin:/usr/lib/postgresql/15/bin`,
    HOME: folder,
    LC_ALL: 'C.UTF-8',
  };
  return new Promise((resolve) => {
    const options = { env, cwd: folder, timeout: TIMEOUT_MS, maxBuffer: 1 << 26 };
    execFile(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', `{ ${script}\n} 2>&1`],
      options,
      (error, stdout, stderr) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
          text: stdout + stderr,
        }),
    );
  });
}

/** Starts a process of Zonefleet as its unit does, from the compiled program. */
function startUnit(main: string, settings: Settings): Program {
  return programOf(
    spawn(process.execPath, [join(ROOT, 'src/start/run.mjs'), main], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, RUN_AS: 'off', ...settings }, // root owns the files of tests
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** Parses a file of `NAME=value` lines, as systemd and a shell read it. */
function readSettings(file: string): Record<string, string> {
  const lines = [...readFileSync(file, 'utf8').matchAll(/^(\w+)=('?)(.*)\2$/gm)];
  return Object.fromEntries(lines.map(([, key = '', , value = '']) => [key, value]));
}
