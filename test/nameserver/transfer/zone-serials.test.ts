import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { createImage, Image, ReaderSlot } from '../../../src/nameserver/image/image.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import { readZoneSerials } from '../../../src/nameserver/transfer/zone-serials.ts';
import { zoneOf } from '../../support/zone/zone-text.ts';

const soa = (serial: number) => `@ SOA ns.a.test. hostmaster.a.test. ${serial} 3600 600 86400 300`;
const apex = (name: string) => parseName(`${name}.test.`);

const image = new Image(createImage(1 << 20, 5));
const reader = new ReaderSlot(image, 0);
const writer = new ImageWriter(image);
const put = (id: number, name: string, rest: object = {}) =>
  writer.put(
    { ...zoneOf(`${name}.test.`, `${soa(id * 10)}\n@ NS ns.example.`), ...rest },
    { id, version: 1, mark: 0 },
  );
put(1, 'a');
put(2, 'b');
put(3, 'unproven', { marked: new Set([apex('unproven')]) });
put(4, 'expired', { expired: true });
put(5, 'removed');
writer.remove(apex('removed'));

test('lists the serials of zones with peers', () => {
  const serials = readZoneSerials(image, reader, (zoneId) => zoneId !== 1);
  expect(serials.map(({ serial }) => serial).sort()).toEqual([20, 30, 40]);
});
