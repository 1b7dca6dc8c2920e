// The benchmark's interface to a server: it starts with a set of zones, answers on a port, and its processes can be
// measured.

import { createSocket } from 'node:dgram';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TransferKey } from '../../test/support/peers/transfer-peers.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import { onEnd } from '../cleanup.ts';
import { type Program, type ProgramOptions, runProgram } from '../program.ts';
import { probesOf, type ZoneSet } from '../zones/zone-set.ts';

export type ServerName = 'zonefleet' | 'nsd' | 'knot' | 'bind' | 'powerdns' | 'echo' | 'dnsdist';

/** PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface EncryptedPorts {
  readonly dot: number;
  readonly doh: number;
}

export interface StartOptions {
  readonly set: ZoneSet;
  /** The core that all its processes are pinned to. */
  readonly cpu: number | undefined;
  readonly address: string;
  /** Counts answers for response-rate limiting, with a limit that the load does not reach. */
  readonly limitsRates: boolean;
  /** Time limit of a start. */
  readonly timeoutMs: number;
  /** Permits transfers to 127.0.0.1, unsigned or signed with this key. Zonefleet reads its peers from Postgres. */
  readonly transferKey?: TransferKey;
  /** Also listens for DNS over TLS and, if the server supports it, over HTTPS. */
  readonly tls?: TlsFiles;
  /** Interface at which a server that supports XDP uses it. Undefined if it must not. */
  readonly xdpInterface?: string;
}

export interface RunningServer {
  readonly name: ServerName;
  readonly address: string;
  readonly port: number;
  /** Undefined without StartOptions.tls. */
  readonly encrypted?: EncryptedPorts;
  readonly program: Program;
  /** By performance.now(). */
  readonly startedMs: number;
  /** From the start of the process until every probed zone was answered. */
  readonly firstAnswerMs: number;
  stop(): Promise<void>;
}

export interface Server {
  readonly name: ServerName;
  readonly title: string;
  /** Undefined if it is not installed. */
  version(): string | undefined;
  /** True if it does not answer queries, so that only its time can be compared. */
  readonly isEcho?: boolean;
  start(options: StartOptions): Promise<RunningServer>;
}

/** Starts the command and waits until it answers for the whole set. */
export async function launch(
  name: ServerName,
  command: readonly string[],
  options: StartOptions & {
    port: number;
    program?: ProgramOptions;
    isEcho?: boolean;
    onStop?: () => Promise<void>;
  },
): Promise<RunningServer> {
  const startedMs = performance.now();
  const program = runProgram(command, { ...options.program, cpu: options.cpu });
  const stop = async () => {
    await program.stop();
    await options.onStop?.();
  };
  let ended: number | string | undefined;
  void program.ended.then((code) => {
    ended = code;
  });
  try {
    await untilAnswered(options, () => {
      if (ended !== undefined) throw new Error(`${name} ended with ${ended}:\n${program.output()}`);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const firstAnswerMs = performance.now() - startedMs;
  return { name, address: options.address, port: options.port, program, startedMs, firstAnswerMs, stop };
}

const POLL_MS = 5;

/** Waits until the SOA of every probed zone is answered with authority. */
async function untilAnswered(
  options: StartOptions & { port: number; isEcho?: boolean },
  check: () => void,
): Promise<void> {
  const waiting = new Set(probesOf(options.set));
  const byId = new Map([...waiting].map((apex, id) => [id, apex]));
  const socket = createSocket('udp4');
  socket.on('error', () => {}); // refused while nothing listens yet
  socket.on('message', (reply) => {
    const isAnswered = options.isEcho || ((reply[3] as number) & 15) === 0;
    if (reply.length >= 12 && isAnswered) waiting.delete(byId.get(reply.readUInt16BE(0)) ?? '');
  });
  const deadline = performance.now() + options.timeoutMs;
  try {
    while (waiting.size > 0) {
      check();
      if (performance.now() > deadline) {
        throw new Error(`${waiting.size} zones are not answered within ${options.timeoutMs / 1000} s`);
      }
      for (const [id, apex] of byId) {
        if (waiting.has(apex)) socket.send(soaQuery(id, apex), options.port, options.address);
      }
      await pause(POLL_MS);
    }
  } finally {
    socket.close();
  }
}

export function soaQuery(id: number, apex: string): Buffer {
  const labels = apex.split('.').filter((label) => label !== '');
  const name = labels.map((label) => String.fromCharCode(label.length) + label).join('');
  const query = Buffer.from(`\0\0\0\0\0\x01\0\0\0\0\0\0${name}\0\0\x06\0\x01`, 'latin1');
  query.writeUInt16BE(id, 0);
  return query;
}

/** Chooses ports for DNS over TLS and HTTPS if the server has a certificate. */
export async function encryptedPorts({ tls }: StartOptions): Promise<EncryptedPorts | undefined> {
  return tls && { dot: await freePort(), doh: await freePort() };
}

/** A separate directory that is removed with the benchmark. */
export function makeDirectory(name: string): { path: string; remove: () => Promise<void> } {
  const path = mkdtempSync(join(tmpdir(), `zonefleet-bench-${name}-`));
  mkdirSync(join(path, 'run'));
  return { path, remove: onEnd(() => rmSync(path, { recursive: true, force: true })) };
}
