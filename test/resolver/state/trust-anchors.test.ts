import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DS } from '../../../src/dns/record/types/ds.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { loadTrustAnchors } from '../../../src/resolver/state/trust-anchors.ts';

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

describe('trust anchors', () => {
  it('that are shipped are those of the keys that IANA publishes', async () => {
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

  it('are none when they are off, or with another root and no file', async () => {
    expect(await loadTrustAnchors({ trustAnchors: 'off', rootHints: undefined })).toEqual([]);
    expect(await loadTrustAnchors({ rootHints: '/etc/lab.root' })).toEqual([]);
  });

  it.each([
    ['a record of another zone', '. DS 1 8 2 AA\ncom. DS 1 8 2 AA', /anchors:1: /],
    [
      'another owner',
      `com. DNSKEY 257 3 8 ${KSK_2017}`,
      /anchors:1: a trust anchor is of the root, not of com\./,
    ],
    ['another type', '. A 192.0.2.1', /anchors:1: trust anchors are DS and DNSKEY records, not A/],
    ['nothing', '; nothing', /anchors: there is no DS or DNSKEY record of the root/],
    ['an unknown algorithm', `. DNSKEY 257 3 16 ${KSK_2017}`, /anchors: no algorithm or digest/],
  ])('with %s are refused', async (_, text, message) => {
    await expect(load(text)).rejects.toThrow(message);
  });
});
