// What is found in an image for who wants signatures: the same proofs as the reference has, in the same order.

import { describe, expect, it } from 'vitest';
import { foldCase, type Name, parseName, printName } from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { findAnswer } from '../../../src/zone/find-answer.ts';
import { ImageFinder } from '../../../src/zone/image/find/find-in-image.ts';
import type { Image } from '../../../src/zone/image/image.ts';
import { ownerOfNode } from '../../../src/zone/image/read-node.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { randomFrom, randomQuestion, randomZone } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { DENIAL_STYLES, signedZone } from '../../support/zone/sign-zone.ts';
import { smallImage } from '../../support/zone/zone-image.ts';
import { zoneOf, zonesOf } from '../../support/zone/zone-text.ts';

const CONTENT = { id: 1, version: 1, mark: 1 };

function imageOf(zone: Zone): Image {
  const image = smallImage();
  new ImageWriter(image).put(zone, CONTENT);
  return image;
}

function find(finder: ImageFinder, name: Name, type: number): void {
  finder.question.octets.set(Buffer.from(name, 'latin1'));
  finder.question.adopt(name.length);
  finder.find(type, true);
}

function provingOwners(image: Image, { proofs, isSigned }: ImageFinder, apex: Name): string[] {
  const nodes = isSigned ? [...proofs.nodes.subarray(0, proofs.count)] : [];
  return nodes.map((node) => printName(ownerOfNode(image, node, apex)));
}

describe('what is found for who wants signatures', () => {
  it.each(DENIAL_STYLES)('has the proofs of the reference in a zone with %j', (denial) => {
    const random = randomFrom(8);
    let proofs = 0;
    for (let round = 0; round < scale(100, 3); round++) {
      const { zone } = randomZone(random, round % 5 === 0 ? '.' : 'zone.example.', 3 + round * 4, []);
      const signed = signedZone(zone, denial);
      const image = imageOf(signed);
      const finder = new ImageFinder(image);
      const names = [...signed.nodes.keys()];
      for (let i = 0; i < 200; i++) {
        const { name, type } = randomQuestion(random, signed, names);
        const answer = findAnswer(zonesOf(signed), foldCase(name), type, { dnssecOk: true });
        const wanted = answer.authority.filter((set) => set.type === TYPE.NSEC || set.type === TYPE.NSEC3);
        find(finder, name, type);
        const owners = wanted.map(({ owner }) => printName(owner));
        const title = `${printName(name)} ${typeMnemonic(type)}`;
        expect([title, ...provingOwners(image, finder, zone.apex)]).toEqual([title, ...owners]);
        proofs += owners.length;
      }
    }
    expect(proofs).toBeGreaterThan(200);
  });

  it('remembers hashes of names, and none after the salt is another', () => {
    const zone = zoneOf('example.', '@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\nwww 60 A 192.0.2.1\n');
    const image = smallImage();
    const writer = new ImageWriter(image);
    const finder = new ImageFinder(image);
    for (const [version, denial] of [...DENIAL_STYLES.slice(1), ...DENIAL_STYLES.slice(1)].entries()) {
      const signed = signedZone(zone, denial);
      writer.put(signed, { ...CONTENT, version });
      for (const text of ['www.example.', 'nx.www.example.', 'nx.www.example.']) {
        const name = parseName(text);
        find(finder, name, TYPE.TXT);
        const { authority } = findAnswer(zonesOf(signed), name, TYPE.TXT, { dnssecOk: true });
        const owners = authority.slice(1).map(({ owner }) => printName(owner));
        expect(provingOwners(image, finder, zone.apex)).toEqual(owners);
      }
    }
  });
});
