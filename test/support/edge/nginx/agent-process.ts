// The agent as an operator runs it: a separate process with a settings file, a token, and its nginx.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../../tests/until.ts';
import type { EdgePorts } from '../ask-edge.ts';
import { nginxSettings, stopNginx } from './served-nginx.ts';

const AGENT = fileURLToPath(new URL('../../../../agent/agent.mjs', import.meta.url));

export interface AgentProcess extends EdgePorts {
  readonly state: string;
  log(): string;
  /** Ends the agent. nginx continues. */
  kill(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  restart(): Promise<void>;
  master(): number | undefined;
  stop(): Promise<void>;
}

export async function startAgent(options: {
  readonly api: string;
  readonly token: string;
  readonly allowOrigins: readonly string[];
  readonly countries?: { readonly file: string; readonly field: readonly string[] };
}): Promise<AgentProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'zonefleet-agent-'));
  const state = join(folder, 'state');
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${options.token}\n`, { mode: 0o600 });
  const { api, allowOrigins, countries } = options;
  const settings = { ...(await nginxSettings(state)), api, tokenFile, allowOrigins, countries };
  const settingsFile = join(folder, 'settings.json');
  writeFileSync(settingsFile, JSON.stringify(settings));
  let child: ChildProcess | undefined;
  let log = '';
  const start = async () => {
    const running = spawn(process.execPath, [AGENT, settingsFile], { stdio: ['ignore', 'pipe', 'pipe'] });
    child = running;
    const begin = log.length;
    for (const stream of [running.stdout, running.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
    }
    await until(() => {
      if (running.exitCode !== null) throw new Error(`the agent ended: ${log}`);
      return log.slice(begin).includes('nginx is running');
    }, 'the agent serves');
  };
  const kill = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    state,
    httpPort: settings.statusPort - 2,
    httpsPort: settings.statusPort - 1,
    log: () => `${log}${readFileSync(join(state, 'logs/error.log'), 'utf8')}`,
    kill,
    restart: start,
    master: () => Number(readFileSync(join(state, 'nginx.pid'), 'utf8')) || undefined,
    async stop() {
      await kill('SIGKILL'); // a normal end is not tested here
      await stopNginx(state);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
