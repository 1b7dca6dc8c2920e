import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { DS } from '../../../src/dns/record/types/dnssec.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { isAskable } from '../../../src/resolver/state/address-rules.ts';
import { loadRootHints, type RootServer } from '../../../src/resolver/state/root-hints.ts';
import { loadTrustAnchors } from '../../../src/resolver/state/trust-anchors.ts';
import { TrustCache } from '../../../src/resolver/state/trust-cache.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { name } from '../../support/world/zone-exchange.ts';

describe('trust anchors', () => {
  // IANA publishes these keys at https://data.iana.org/root-anchors/.
  const KSK_2017 =
    'AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3+/4RgWOq7HrxRixHlFlExOLAJr5emLvN7SWXgnLh4+B5xQlNVz8Og8kvArMtNROxVQuCaSnIDdD5LKyWbRd2n9WGe2R8PzgCmr3EgVLrjyBxWezF0jLHwVN8efS3rCj/EWgvIWgb9tarpVUDK/b58Da+sqqls3eNbuv7pr+eoZG+SrDK6nWeL3c6H5Apxz7LjVc1uTIdsIXxuOLYA4/ilBmSVIzuDWfdRUfhHdY6+cn8HFRm+2hM8AnXGXws9555KrUB5qihylGa8subX2Nn6UwNR1AkUTV74bU=';
  const KSK_2024 =
    'AwEAAa96jeuknZlaeSrvyAJj6ZHv28hhOKkx3rLGXVaC6rXTsDc449/cidltpkyGwCJNnOAlFNKF2jBosZBU5eeHspaQWOmOElZsjICMQMC3aeHbGiShvZsx4wMYSjH8e7Vrhbu6irwCzVBApESjbUdpWWmEnhathWu1jo+siFUiRAAxm9qyJNg/wOZqqzL/dL/q8PkcRU5oUKEpUge71M3ej2/7CPqpdVwuMoTvoB+ZOT4YeGyxMvHmbrxlFzGOHOijtzN+u1TQNatX2XBuzZNQ1K+s2CXkPIZo7s6JgZyvaBevYtxPvYLw4z9mR7K2vaF18UYH9Z9GNUUeayffKC73PYc=';

  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'zonefleet-anchors-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function load(text: string) {
    const path = join(folder, 'anchors');
    await writeFile(path, text);
    return loadTrustAnchors({ trustAnchors: { path }, rootHints: undefined });
  }

  it('that are shipped match the keys that IANA publishes', async () => {
    const shipped = await loadTrustAnchors({ rootHints: undefined });
    const [first, second] = shipped.map((rdata) => DS.decode(new WireReader(rdata)));
    expect([first, second]).toMatchObject([
      { keyTag: 20326, algorithm: 8, digestType: 2 },
      { keyTag: 38696, algorithm: 8, digestType: 2 },
    ]);
    const made = await load(`. DNSKEY 257 3 8 ${KSK_2017}\n. DNSKEY 257 3 8 ${KSK_2024}\n`);
    expect(made.map((rdata) => Buffer.from(rdata).toString('hex'))).toEqual(
      shipped.map((rdata) => Buffer.from(rdata).toString('hex')),
    );
  });

  it('are empty if they are off, or with another root and no file', async () => {
    expect(await loadTrustAnchors({ trustAnchors: 'off', rootHints: undefined })).toEqual([]);
    expect(await loadTrustAnchors({ rootHints: '/etc/lab.root' })).toEqual([]);
  });

  it.each([
    ['a record of another zone', '. DS 1 8 2 AA\ncom. DS 1 8 2 AA', /anchors:1: /],
    [
      'another owner',
      `com. DNSKEY 257 3 8 ${KSK_2017}`,
      /anchors:1: a trust anchor must be for the root, not for com\./,
    ],
    ['another type', '. A 192.0.2.1', /anchors:1: trust anchors must be DS or DNSKEY records, not A/],
    ['nothing', '; nothing', /anchors: there is no DS or DNSKEY record of the root/],
    [
      'an unknown algorithm',
      `. DNSKEY 257 3 16 ${KSK_2017}`,
      /anchors: none of these records has a supported/,
    ],
  ])('with %s are rejected', async (_, text, message) => {
    await expect(load(text)).rejects.toThrow(message);
  });
});

const [ROOT, COM, CO] = [name('.'), name('com'), name('co.com')];
const INSECURE = { kind: 'insecure' } as const;
const failure = { zone: COM, reason: 'bogus', message: 'wrong' } as const;

function made() {
  const clock = { now: 1_000_000 };
  return { clock, cache: new TrustCache(100, () => clock.now) };
}

describe('the cached security of zones', () => {
  it('applies below the parent zone that it was found for', () => {
    const { cache, clock } = made();
    cache.put(CO, COM, INSECURE, clock.now + 1000);
    expect(cache.get(CO, COM)).toBe(INSECURE);
    expect(cache.get(CO, ROOT)).toBeUndefined();
  });

  it('ends at the given time, and after a day at the latest', () => {
    const { cache, clock } = made();
    cache.put(COM, ROOT, INSECURE, clock.now + 1000);
    cache.put(CO, COM, INSECURE, Number.POSITIVE_INFINITY);
    clock.now += 1000;
    expect(cache.get(COM, ROOT)).toBeUndefined();
    clock.now += 86_400_000 - 1001;
    expect(cache.get(CO, COM)).toBe(INSECURE);
    clock.now += 1;
    expect(cache.get(CO, COM)).toBeUndefined();
  });

  it('ends sooner the fewer consecutive failures there were, and for the root after a minute', () => {
    const { cache, clock } = made();
    for (const seconds of [1, 2, 4, 8]) {
      cache.putFailure(COM, ROOT, failure);
      clock.now += seconds * 1000 - 1;
      expect(cache.get(COM, ROOT)?.kind).toBe('failed');
      clock.now += 1;
      expect(cache.get(COM, ROOT)).toBeUndefined();
    }
    cache.putFailure(ROOT, undefined, failure);
    clock.now += 59_999;
    expect(cache.get(ROOT, undefined)?.kind).toBe('failed');
    clock.now += 1;
    expect([cache.get(ROOT, undefined), cache.hasRootFault()]).toEqual([undefined, true]);
    cache.put(ROOT, undefined, { kind: 'secure', keys: [] }, clock.now + 1);
    expect(cache.hasRootFault()).toBe(false);
  });
});

describe('loadRootHints', () => {
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

  it('without a path returns the thirteen servers of the root, each with an IPv4 and an IPv6 address', async () => {
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

  it('reports which file cannot be read', async () => {
    await expect(loadRootHints(join(folder, 'absent'))).rejects.toThrow(/ENOENT.*absent/);
  });

  it('reads names in any case, without TTLs and classes, and relative names as those below the root', async () => {
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
addresses of another name | . NS a. / a. A 10.0.0.1 / c. A 10.0.0.2 | :3 | c. is not a nameserver of the root in this file
NS records of another zone | . NS a. / lab. NS a. / a. A 10.0.0.1 | :2 | the NS record is not the root's but lab.'s
another type | . NS a. / a. A 10.0.0.1 / . TXT "x" | :3 | root hints must be NS, A or AAAA records, not TXT
a text that is not an address | . NS a. / a. AAAA fd00::g | :2 | "fd00::g" is not an IPv6 address
an include | . NS a. / $INCLUDE /etc/passwd | :2 | $INCLUDE is not allowed here
any other text | hello | :1 |`),
  )('rejects %s, and reports where', async (_, lines, place, message) => {
    const loaded = load(itemsOf(lines).join('\n'));
    await expect(loaded).rejects.toThrow(`${join(folder, 'lab.root')}${place}: ${message}`);
  });
});
