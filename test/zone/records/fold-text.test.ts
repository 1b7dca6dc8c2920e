import { describe, expect, it } from 'vitest';
import { foldText, foldWithLabels } from '../../../src/zone/records/fold-text.ts';

describe('text that is searched', () => {
  it.each([
    ['MÜLLER', 'müller'],
    ['mu\u0308ller', 'MÜLLER'],
    ['Straße', 'STRAẞE'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'οδος'],
    ['ЗОНА', 'зона'],
    ['\u{10400}', '\u{10428}'],
  ])('%s and %s are the same', (one, other) => expect(foldText(one)).toBe(foldText(other)));

  it.each([
    ['müller', 'muller'],
    ['straße', 'strasse'],
    ['xn--mller-kva', 'müller'],
  ])('%s and %s are not', (one, other) => expect(foldText(one)).not.toBe(foldText(other)));

  it.each([
    ['xn--mller-kva', 'müller'],
    ['*.XN--MLLER-KVA.shop', '*.müller.shop'],
    ['_dmarc.xn--mller-kva', '_dmarc.müller'],
    ['10 mail.xn--mller-kva.xn--p1ai.', '10 mail.müller.рф.'],
    ['axn--mller-kva', 'axn--mller-kva'],
    ['_xn--mller-kva', '_xn--mller-kva'],
    ['xn--', 'xn--'],
    ['xn--a', 'xn--a'],
    ['xn--99999999999', 'xn--99999999999'],
  ])('with labels %s is %s', (text, folded) => expect(foldWithLabels(text)).toBe(folded));
});
