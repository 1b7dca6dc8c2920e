// Unbound as a validator on loopback, with a private root: what it makes of our zones.

import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FLAG } from '../../../src/dns/message/message.ts';
import type { Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../answer/queries.ts';
import { name } from '../world/zone-exchange.ts';
import { askMany, freePort } from './peers.ts';

export interface Stub {
  /** Presentation form. */
  readonly zone: string;
  /** Where its servers are, on loopback. */
  readonly port: number;
}

export interface Validator {
  readonly port: number;
  stop(): Promise<void>;
}

const START_TRIES = 600;

/** `anchor`: the root's DS record in presentation form. The limit of NSEC3 iterations is ours, 100. */
export async function startUnbound(stubs: readonly Stub[], anchor: string): Promise<Validator> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-unbound-'));
  await chmod(directory, 0o755);
  const port = await freePort();
  const config = join(directory, 'unbound.conf');
  const lines = [
    'server:',
    `  directory: "${directory}"`,
    '  chroot: ""',
    '  username: ""',
    '  pidfile: ""',
    '  use-syslog: no',
    '  verbosity: 0',
    '  interface: 127.0.0.1',
    `  port: ${port}`,
    '  do-not-query-localhost: no',
    '  outgoing-interface: 127.0.0.1',
    '  do-ip6: no',
    '  qname-minimisation: no',
    '  aggressive-nsec: no',
    '  harden-below-nxdomain: no',
    '  num-threads: 1',
    '  num-queries-per-thread: 4096',
    '  outgoing-range: 1024',
    '  module-config: "validator iterator"',
    '  val-nsec3-keysize-iterations: "1024 100 2048 100 4096 100"',
    `  trust-anchor: "${anchor}"`,
    'remote-control:',
    '  control-enable: no',
    ...stubs.flatMap(({ zone, port: at }) => [
      'stub-zone:',
      `  name: "${zone}"`,
      `  stub-addr: 127.0.0.1@${at}`,
      '  stub-prime: no',
    ]),
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const child = spawn('unbound', ['-d', '-c', config], {
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', (text: Buffer) => (told += text.toString()));
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const stop = async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  const probe = recursive(name('.'), TYPE.SOA);
  for (let tries = START_TRIES; ; tries--) {
    const [reply] = await askMany(port, [probe], { tries: 1, timeoutMs: 200 });
    if (reply !== undefined) return { port, stop };
    if (tries > 0 && child.exitCode === null) continue;
    await stop();
    throw new Error(`unbound does not answer: ${told}`);
  }
}

/** A question to a resolver that shall say with AD whether its answer is secure (RFC 6840 §5.7). */
export function recursive(asked: Name, type: number): Uint8Array {
  const query = queryFor({ name: asked, type, udpPayloadSize: 1232 });
  query[2] = (query[2] as number) | (FLAG.RD >> 8);
  query[3] = (query[3] as number) | FLAG.AD;
  return query;
}
