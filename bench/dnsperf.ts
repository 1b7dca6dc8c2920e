// Runs dnsperf against a server and parses its figures. Its rate is limited by the queries in flight, so it runs without a
// rate limit to find a server's maximum.

import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runToEnd } from './program.ts';
import { percentile } from './statistics.ts';

export type LoadTransport = 'udp' | 'tcp' | 'dot' | 'doh';

export interface Load {
  readonly address: string;
  readonly port: number;
  readonly queries: string;
  readonly seconds: number;
  readonly cpu?: number | undefined;
  readonly transport?: LoadTransport;
  readonly edns?: EdnsChoice;
  /** Source address of the queries. By default the kernel chooses. */
  readonly source?: string;
  /** Queries per second. By default as many as are answered. */
  readonly rate?: number;
  readonly clients?: number;
  readonly outstanding?: number;
  /** True if each query of the file is sent once, for at most `seconds`. */
  readonly once?: boolean;
}

/** `cookie` is a complete COOKIE option in hex: the client's part and, if known, the server's. */
export type EdnsChoice =
  | { kind: 'none' }
  | { kind: 'edns' }
  /** The option CLIENT-SUBNET, as hex. */
  | { kind: 'subnet'; subnet: string }
  /** EDNS with DO (RFC 3225 §3). */
  | { kind: 'dnssec' }
  | { kind: 'cookie'; cookie: string };

export interface Outcome {
  readonly sent: number;
  readonly completed: number;
  readonly lost: number;
  readonly seconds: number;
  readonly queriesPerSecond: number;
  /** Percentage of answers by mnemonic. */
  readonly rcodes: Readonly<Record<string, number>>;
  readonly answerOctets: number;
}

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

const SUBNET_OPTION = 8;
const COOKIE_OPTION = 10;
const GRACE_MS = 15_000;
/** Number of unanswered queries. More would overflow a socket buffer of the default size, 208 KiB. */
const OUTSTANDING = 200;

export async function runDnsperf(load: Load): Promise<Outcome> {
  const output = await runToEnd(commandOf(load), {
    cpu: load.cpu,
    timeoutMs: load.seconds * 1000 + GRACE_MS,
  });
  return readOutcome(output);
}

/**
 * Includes the time of every answer. They are written to a file in `directory`, so that reading them does not slow down the
 * run.
 */
export async function runWithLatency(load: Load, directory: string): Promise<Outcome & { latency: Latency }> {
  const outputFile = join(directory, `dnsperf-${process.pid}.txt`);
  try {
    await runToEnd([...commandOf(load), '-v'], {
      cpu: load.cpu,
      outputFile,
      timeoutMs: load.seconds * 1000 + GRACE_MS,
    });
    return await readVerbose(outputFile);
  } finally {
    await rm(outputFile, { force: true });
  }
}

function commandOf(load: Load): string[] {
  const clients = load.clients ?? 8;
  const words = ['dnsperf', '-s', load.address, '-p', load.port, '-d', load.queries, '-l', load.seconds];
  words.push('-c', clients, '-T', 1, '-q', load.outstanding ?? OUTSTANDING, '-t', 2, '-b', 4096);
  words.push('-m', load.transport ?? 'udp');
  if (load.transport === 'doh') words.push('-O', `doh-uri=https://${load.address}:${load.port}/dns-query`);
  if (load.source !== undefined) words.push('-a', load.source);
  if (load.rate !== undefined) words.push('-Q', Math.round(load.rate));
  if (load.once) words.push('-n', 1);
  const edns = load.edns ?? { kind: 'none' };
  if (edns.kind === 'edns') words.push('-e');
  if (edns.kind === 'subnet') words.push('-E', `${SUBNET_OPTION}:${edns.subnet}`);
  if (edns.kind === 'dnssec') words.push('-D');
  if (edns.kind === 'cookie') words.push('-E', `${COOKIE_OPTION}:${edns.cookie}`);
  return words.map(String);
}

export function readOutcome(output: string): Outcome {
  const figure = (pattern: RegExp): number => {
    const found = pattern.exec(output);
    if (found === null) throw new Error(`dnsperf printed no ${pattern.source}:\n${output.slice(-1500)}`);
    return Number(found[1]);
  };
  const rcodes: Record<string, number> = {};
  const told = /Response codes:\s+(.*)/.exec(output)?.[1] ?? '';
  for (const [, rcode, percent] of told.matchAll(/(\w+) \d+ \(([\d.]+)%\)/g)) {
    rcodes[rcode as string] = Number(percent);
  }
  return {
    sent: figure(/Queries sent:\s+(\d+)/),
    completed: figure(/Queries completed:\s+(\d+)/),
    lost: figure(/Queries lost:\s+(\d+)/),
    seconds: figure(/Run time \(s\):\s+([\d.]+)/),
    queriesPerSecond: figure(/Queries per second:\s+([\d.]+)/),
    rcodes,
    answerOctets: Number(/response (\d+)/.exec(output)?.[1] ?? Number.NaN),
  };
}

/** A line of an answer ends with its time in seconds: `> NOERROR www.example. A 0.000123`. */
async function readVerbose(file: string): Promise<Outcome & { latency: Latency }> {
  let times = new Float64Array(1 << 20);
  let count = 0;
  const rest: string[] = [];
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (!line.startsWith('> ')) {
      rest.push(line);
      continue;
    }
    const seconds = Number(line.slice(line.lastIndexOf(' ') + 1));
    if (Number.isNaN(seconds)) continue; // `> T name type`: timed out, counted as lost
    if (count === times.length) {
      const larger = new Float64Array(count * 2);
      larger.set(times);
      times = larger;
    }
    times[count++] = seconds;
  }
  const sorted = Array.from(times.subarray(0, count));
  const at = (part: number) => percentile(sorted, part) * 1000;
  return { ...readOutcome(rest.join('\n')), latency: { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) } };
}
