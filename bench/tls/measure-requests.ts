// Measures DNS over HTTPS with h2load (nghttp2-client). dnsperf cannot parse the responses of a server that interleaves the
// frames of several streams.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { encodeQuery } from '../../src/resolver/exchange/encode-query.ts';
import type { BenchOptions } from '../part.ts';
import { cpuSeconds } from '../process-tree.ts';
import { runToEnd } from '../program.ts';
import type { Run } from '../rounds.ts';
import type { RunningServer } from '../servers/server.ts';

const GRACE_MS = 15_000;

export interface RequestLoad {
  /** File with URLs. */
  readonly urls: string;
  readonly connections: number;
  /** Concurrent requests of each connection. */
  readonly streams: number;
}

/** Writes the queries, lines of name and type, as URLs for GET (RFC 8484 §4.1). */
export function writeUrls(server: RunningServer, lines: string, directory: string): string {
  const urls = lines
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', type = ''] = line.split(' ');
      const query = encodeQuery(parseName(`${name}.`), TYPE[type as keyof typeof TYPE], true);
      const dns = Buffer.from(query).toString('base64url');
      return `https://${server.address}:${server.port}/dns-query?dns=${dns}\n`;
    });
  const file = join(directory, `urls-${server.name}.txt`);
  writeFileSync(file, urls.join(''));
  return file;
}

/** Throws if a response has another status than 200. */
export async function measureRequests(
  server: RunningServer,
  { urls, connections, streams }: RequestLoad,
  { seconds, loadCpu }: Pick<BenchOptions, 'seconds' | 'loadCpu'>,
): Promise<Run> {
  const command = ['h2load', '-i', urls, '-c', connections, '-m', streams, '-t', 1, '-D', seconds];
  const before = cpuSeconds(server.program.pid);
  const output = await runToEnd(command.map(String), { cpu: loadCpu, timeoutMs: seconds * 1000 + GRACE_MS });
  const used = cpuSeconds(server.program.pid) - before;
  const figure = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? Number.NaN);
  const completed = figure(/status codes: (\d+) 2xx/);
  const sent = figure(/, (\d+) done,/);
  if (!(completed > 0) || completed < sent)
    throw new Error(`${server.name} did not answer all requests:\n${output.slice(-1500)}`);
  return {
    sent,
    completed,
    lost: figure(/(\d+) failed,/),
    seconds,
    queriesPerSecond: completed / seconds,
    rcodes: {},
    answerOctets: Number.NaN,
    cpuMicros: (used * 1e6) / completed,
  };
}
