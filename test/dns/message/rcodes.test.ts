import { expect, test } from 'vitest';
import { RCODE, rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';

test('rcodes have their mnemonics, others their number', () => {
  for (const [mnemonic, code] of Object.entries(RCODE)) expect(rcodeMnemonic(code)).toBe(mnemonic);
  expect(rcodeMnemonic(11)).toBe('RCODE11');
});
