// Another operator of a domain below a real parent: NSD at the address of `ns1.other.zz` and `ns2.other.zz`, with a zone
// that dnssec-signzone signs with a separate KSK and ZSK.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Peer, startPeer } from '../peers/peers.ts';
import type { RealParent } from '../peers/real-parent.ts';
import { runProgram } from './run-program.ts';

const LAST_LABEL = /\.\d+$/;

export class OtherOperator {
  /** Rdata of its DS in zone-file format. */
  readonly ds: string;
  /** Rdata of its DNSKEY records in zone-file format. */
  readonly keys: readonly string[];
  readonly address: string;
  readonly #apex: string;
  readonly #directory: string;
  #peer: Peer | undefined;
  #serial = 1;

  static async start(parent: RealParent, apex: string): Promise<OtherOperator> {
    const directory = await mkdtemp(join(tmpdir(), 'zonefleet-other-'));
    for (const flag of [['-f', 'KSK'], []])
      await run(directory, 'dnssec-keygen', ['-q', '-a', '13', ...flag, apex]);
    const files = (await readdir(directory)).filter((file) => file.endsWith('.key')).sort();
    const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
    const keys = texts.map((text) => / DNSKEY (.*)/.exec(text)?.[1]?.trim() as string);
    const entry = files[keys.findIndex((key) => key.startsWith('257 '))] as string;
    const ds = / DS (.*)/.exec(await run(directory, 'dnssec-dsfromkey', ['-2', entry]))?.[1] as string;
    const [{ address: ours }] = parent.ours as [(typeof parent.ours)[number]];
    const address = ours.replace(LAST_LABEL, '.9');
    const other = new OtherOperator(apex, directory, { ds: ds.trim(), keys, address });
    const listen = [53, parent.port].map((port) => ({ address, port }));
    other.#peer = await startPeer('nsd', [await other.#signed([])], listen);
    return other;
  }

  constructor(
    apex: string,
    directory: string,
    made: { readonly ds: string; readonly keys: readonly string[]; readonly address: string },
  ) {
    this.#apex = apex;
    this.#directory = directory;
    this.ds = made.ds;
    this.keys = made.keys;
    this.address = made.address;
  }

  /** Publishes these keys of the first operator, rdata of DNSKEY records, next to its own. */
  async publish(keys: readonly string[]): Promise<void> {
    this.#serial++;
    await this.#peer?.rewrite(await this.#signed(keys));
  }

  async stop(): Promise<void> {
    await this.#peer?.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #signed(others: readonly string[]): Promise<{ apex: string; text: string }> {
    const lines = [
      `$ORIGIN ${this.#apex}`,
      `@ 30 SOA ns1.other.zz. hostmaster.zz. ${this.#serial} 1800 900 604800 30`,
      '@ 30 NS ns1.other.zz.',
      '@ 30 NS ns2.other.zz.',
      'www 30 A 198.51.100.8',
      ...[...this.keys, ...others].map((key) => `@ 30 DNSKEY ${key}`),
    ];
    await writeFile(join(this.#directory, 'zone'), `${lines.join('\n')}\n`);
    const names = (await readdir(this.#directory)).filter((file) => file.endsWith('.key'));
    const keys = names.map((file) => file.slice(0, -'.key'.length));
    const args = ['-q', '-P', '-o', this.#apex, '-f', 'signed', 'zone', ...keys];
    await run(this.#directory, 'dnssec-signzone', args);
    return { apex: this.#apex, text: await readFile(join(this.#directory, 'signed'), 'utf8') };
  }
}

async function run(directory: string, program: string, args: readonly string[]): Promise<string> {
  const { code, text } = await runProgram(program, args, directory);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${text}`);
  return text;
}
