// Files of root hints, the shipped one and broken ones.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { isAskable } from '../../../src/resolver/state/address-rules.ts';
import { loadRootHints, type RootServer } from '../../../src/resolver/state/root-hints.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'root-hints-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function load(text: string): Promise<RootServer[]> {
  const path = join(folder, 'lab.root');
  await writeFile(path, text);
  return await loadRootHints(path);
}

describe('loadRootHints', () => {
  it('without a path gives the thirteen servers of the root, each with an IPv4 and an IPv6 address', async () => {
    const servers = await loadRootHints();
    expect(servers.map(({ name }) => name)).toEqual(
      [...'abcdefghijklm'].map((letter) => parseName(`${letter}.root-servers.net.`)),
    );
    const addresses = servers.flatMap((server) => server.addresses);
    expect(new Set(addresses).size).toBe(26);
    expect(addresses.filter((address) => !isAskable(address, []))).toEqual([]);
    for (const server of servers)
      expect(server.addresses.map((each) => each.includes(':'))).toEqual([false, true]);
    expect(servers[1]?.addresses).toEqual(['170.247.170.2', '2801:1b8:10::b']); // since November 2023
  });

  it('says which file cannot be read', async () => {
    await expect(loadRootHints(join(folder, 'absent'))).rejects.toThrow(/ENOENT.*absent/);
  });

  it('reads names in any case, without TTLs and classes, relative names as those below the root', async () => {
    const text = `
      . NS NS1.Lab.
      . IN NS ns2
      ns1.LAB. 3600 IN A 10.0.0.1
      NS1.lab. A 10.0.0.2
      ns1.lab. A 10.0.0.1 ; twice
      ns2 AAAA fd00:0::53
    `;
    expect(await load(text.replaceAll(/^ +/gm, ''))).toEqual([
      { name: parseName('ns1.lab.'), addresses: ['10.0.0.1', '10.0.0.2'] },
      { name: parseName('ns2.'), addresses: ['fd00::53'] },
    ]);
  });

  it.each(
    rowsOf(`
an empty file | | | there is no NS record of the root
a server without an address | . NS a. / . NS b. / a. A 10.0.0.1 | :2 | b. has no address
addresses of another name | . NS a. / a. A 10.0.0.1 / c. A 10.0.0.2 | :3 | c. is no nameserver of the root here
NS records of another zone | . NS a. / lab. NS a. / a. A 10.0.0.1 | :2 | the NS record is not the root's but lab.'s
another type | . NS a. / a. A 10.0.0.1 / . TXT "x" | :3 | root hints are NS, A and AAAA records, not TXT
a text that is not an address | . NS a. / a. AAAA fd00::g | :2 | "fd00::g" is not an IPv6 address
an include | . NS a. / $INCLUDE /etc/passwd | :2 | $INCLUDE is not allowed here
any other text | hello | :1 |`),
  )('refuses %s, and says where', async (_, lines, place, message) => {
    const loaded = load(itemsOf(lines).join('\n'));
    await expect(loaded).rejects.toThrow(`${join(folder, 'lab.root')}${place}: ${message}`);
  });
});
