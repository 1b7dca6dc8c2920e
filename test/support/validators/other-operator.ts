// Another operator of a domain below a real parent: NSD at the address of `ns1.other.zz` and `ns2.other.zz`, with a zone
// that dnssec-signzone signs with a separate KSK and ZSK.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PeerAddress, startPeer } from '../peers/peers.ts';
import type { RealParent } from '../peers/real-parent.ts';
import { runIn } from './run-program.ts';

export type OtherOperator = Awaited<ReturnType<typeof startOtherOperator>>;

export async function startOtherOperator(parent: RealParent, apex: string) {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-other-'));
  for (const flag of [['-f', 'KSK'], []])
    await runIn(directory, 'dnssec-keygen', ['-q', '-a', '13', ...flag, apex]);
  const files = (await readdir(directory)).filter((file) => file.endsWith('.key')).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  const keys = texts.map((text) => / DNSKEY (.*)/.exec(text)?.[1]?.trim() as string);
  const entry = files[keys.findIndex((key) => key.startsWith('257 '))] as string;
  const ds = / DS (.*)/.exec(await runIn(directory, 'dnssec-dsfromkey', ['-2', entry]))?.[1] as string;
  let serial = 0;
  const signedWith = async (others: readonly string[]) => {
    const lines = [
      `$ORIGIN ${apex}`,
      `@ 30 SOA ns1.other.zz. hostmaster.zz. ${++serial} 1800 900 604800 30`,
      '@ 30 NS ns1.other.zz.',
      '@ 30 NS ns2.other.zz.',
      'www 30 A 198.51.100.8',
      ...[...keys, ...others].map((key) => `@ 30 DNSKEY ${key}`),
    ];
    await writeFile(join(directory, 'zone'), `${lines.join('\n')}\n`);
    const names = files.map((file) => file.slice(0, -'.key'.length));
    await runIn(directory, 'dnssec-signzone', ['-q', '-P', '-o', apex, '-f', 'signed', 'zone', ...names]);
    return { apex, text: await readFile(join(directory, 'signed'), 'utf8') };
  };
  const address = (parent.ours[0] as PeerAddress).address.replace(/\.\d+$/, '.9');
  const listen = [53, parent.port].map((port) => ({ address, port }));
  const peer = await startPeer('nsd', [await signedWith([])], listen);
  return {
    ds: ds.trim(),
    /** Rdata of its DNSKEY records in zone-file format. */
    keys,
    address,
    /** Publishes these keys of the first operator, rdata of DNSKEY records, next to its own. */
    publish: async (others: readonly string[]) => await peer.rewrite(await signedWith(others)),
    async stop() {
      await peer.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
