// What is put into an image is what is read back, for random zones and for every type of rdata.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseName, ROOT } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { createImage, Image } from '../../../src/zone/image/image.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { RANDOM_RDATA } from '../../support/random/random-rdata.ts';
import { scale } from '../../support/tests/scale.ts';
import { readZone } from '../../support/zone/read-zone.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

const CONTENT = { id: 1, version: 1, mark: 1 };
const SOA = '@ 3600 SOA ns.example. host.example. 7 10000 2400 604800 1800\n@ 3600 NS ns.example.\n';

function throughImage(zone: Zone): Zone | undefined {
  const image = new Image(createImage(4 * 2 ** 20, 12345));
  new ImageWriter(image).put(zone, CONTENT);
  return readZone(image, zone.apex);
}

describe('a zone read from an image', () => {
  // NSEC3 is no set of a name, and the image does not hold it yet.
  const ofNames = [...RANDOM_RDATA].filter(([type]) => type !== TYPE.NSEC3);
  it.each(ofNames)('has every rdata of type %s as it was', (type, rdata) => {
    const apex = parseName('example.');
    fc.assert(
      fc.property(fc.uniqueArray(rdata, { minLength: 1, maxLength: 5, selector: String }), (all) => {
        const owner = parseName('a.b.example.');
        const records: ZoneRecord[] = all.map((one) => ({ owner, type, ttl: 2 ** 31 - 1, rdata: one }));
        const built = buildZone(apex, [...recordsOf(SOA, 'example.'), ...records]);
        if (built.kind === 'built') expect(throughImage(built.zone)).toEqual(built.zone);
      }),
      { numRuns: scale(20, 6) },
    );
  });

  it('has large serials, the root as apex and the case of names in rdata', () => {
    const zone = zoneOf(
      '.',
      '. 60 SOA a. b. 4294967295 2 3 4 4294967295\n. 60 NS a.\n*.b. 60 MX 1 MX.Example.',
    );
    expect(throughImage(zone)).toEqual(zone);
    expect(throughImage(zone)?.apex).toBe(ROOT);
  });

  it('is not there under another apex', () => {
    const image = new Image(createImage(2 ** 20, 1));
    new ImageWriter(image).put(zoneOf('example.', SOA), CONTENT);
    expect(readZone(image, parseName('a.example.'))).toBeUndefined();
    expect(readZone(image, ROOT)).toBeUndefined();
  });
});
