import { expect, it } from 'vitest';
import { scramVerifier } from '../../../src/store/roles/roles.ts';

it('a verifier holds the keys of RFC 7677 §3 and not the password, and differs each time', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  const text = scramVerifier('pencil', salt);
  expect(text).toMatch(/^SCRAM-SHA-256\$4096:W22ZaJ0SNY7soEsUEjb6gQ==\$/);
  expect(text).not.toContain('pencil');
  expect(text).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
  expect(scramVerifier('pencil')).not.toBe(scramVerifier('pencil'));
});
