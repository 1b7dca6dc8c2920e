// Measures the processor and elapsed time of starts of `zonefleet` and of an empty Node.js program: until its end, or until
// the first query of `check`.

import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEnd } from '../cleanup.ts';

const TICKS_PER_SECOND = 100;
const ROOT_SERVER = '127.0.0.1';
const ZONE = `$TTL 300
@ SOA ns1.example.net. admin.example.net. 1 3600 900 604800 300
@ NS ns1.example.net.
@ NS ns2.example.net.
@ A 192.0.2.1
`;

export interface StartCost {
  readonly cpuSeconds: number;
  readonly seconds: number;
}

export interface Commands {
  /** Node.js with an empty program. */
  readonly empty: readonly string[];
  /** Arguments of `zonefleet` by name. */
  readonly of: Readonly<Record<string, readonly string[]>>;
  /** Runs the program to its end, so that it is compiled. */
  warmUp(words: readonly string[]): Promise<void>;
  /** Starts the program this many times, one after the other, and returns the cost of one start. */
  measure(words: readonly string[], times: number): Promise<StartCost>;
}

export async function prepareCommands(): Promise<Commands> {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-bench-cli-'));
  onEnd(() => rmSync(directory, { recursive: true, force: true }));
  const [zone, hints] = ['example.org.zone', 'hints'].map((name) => join(directory, name)) as [
    string,
    string,
  ];
  writeFileSync(zone, ZONE);
  writeFileSync(hints, `. 3600 NS a.root.\na.root. 3600 A ${ROOT_SERVER}\n`);
  const server = createSocket('udp4');
  server.bind(0, ROOT_SERVER);
  await once(server, 'listening');
  onEnd(() => {
    server.close();
  });
  server.on('message', (query, { port, address }) => server.send(refusalOf(query), port, address));
  const env = {
    ...process.env,
    ROOT_HINTS: hints,
    DNS_PORT_OUT: String(server.address().port),
    RESOLVER_ALLOW: `${ROOT_SERVER}/32`,
  };
  return {
    empty: ['-e', '0'],
    of: {
      '--help': ['--help'],
      'zone check FILE': ['zone', 'check', '--origin', 'example.org', zone],
      'check NAME': ['check', 'example.org'],
    },
    warmUp: (words) => runToEnd(words, env),
    async measure(words, times) {
      const [cpu, start] = [cpuOfChildren(), performance.now()];
      for (let i = 0; i < times; i++) await runUntilQuery(words, env, server);
      return {
        cpuSeconds: (cpuOfChildren() - cpu) / times,
        seconds: (performance.now() - start) / 1000 / times,
      };
    },
  };
}

/** Kills the process when it sends a query: the rest is not its start. */
async function runUntilQuery(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  server: Socket,
): Promise<void> {
  const child = spawn(process.execPath, words, { env, stdio: 'ignore' });
  const kill = () => child.kill('SIGKILL');
  server.once('message', kill);
  const [code, signal] = await once(child, 'exit');
  server.off('message', kill);
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`${words.join(' ')} ended with code ${code}`);
}

async function runToEnd(words: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  await once(spawn(process.execPath, words, { env, stdio: 'ignore' }), 'exit');
}

/** Returns the same message as a response with RCODE REFUSED. */
function refusalOf(query: Buffer): Buffer {
  const reply = Buffer.from(query);
  reply[2] = 0x80 | ((query[2] ?? 0) & 0x79);
  reply[3] = 5;
  return reply;
}

/** Returns the processor time of all ended children of this process. The kernel rounds only the sum. */
function cpuOfChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
