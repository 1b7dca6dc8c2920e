import { describe, expect, it } from 'vitest';
import {
  firstLedger,
  withPositions,
  withServing,
  withWritten,
} from '../../../src/checks/dnssec/keep-ledger.ts';
import {
  allValidate,
  dsGoneAt,
  type Ledger,
  maySee,
  servedGoneAt,
  type Triple,
  validates,
} from '../../../src/checks/dnssec/ledger.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { madeKey } from '../../support/simulation/dnssec/made-keys.ts';

const HOUR = 3_600_000;
const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);
const E = madeKey('e', 'csk', 15);
const algorithmOf = (id: string) => [A, B, E].find((key) => key.id === id)?.algorithm ?? 0;

const triple = (text: string): Triple => {
  const [ds = '', keys = '', keySigners = '', dataSigners = ''] = text.split('|').map((part) => part.trim());
  return { ds: [...ds], keys: [...keys], keySigners: [...keySigners], dataSigners: [...dataSigners] };
};

describe('a triple (DS | DNSKEY | its signers | signers of data)', () => {
  it.each([
    ['   |    |    |   ', true, 'an unsigned zone without DS'],
    ['   | a  | a  | a ', true, 'a signed zone without DS is insecure'],
    ['   | a  | a  |   ', true, 'without DS, nothing is verified'],
    ['a  | a  | a  | a ', true, 'a chain'],
    ['a  |    |    | a ', false, 'no DNSKEY for the DS'],
    ['a  | b  | b  | b ', false, 'a DS of a key that is gone'],
    ['a  | a  |    | a ', false, 'a DNSKEY set without a signature'],
    ['a  | a  | a  |   ', false, 'unsigned data below a DS'],
    ['a  | ab | ab | a ', true, 'the new key is published'],
    ['a  | ab | b  | a ', false, 'only a key without DS signs the DNSKEY set'],
    ['a  | a  | a  | b ', false, 'data are signed by a key that is not there yet'],
    ['a  | ab | ab | b ', true, 'data are signed by the new key'],
    ['ab | a  | a  | a ', true, 'one DS that leads somewhere is enough, of one algorithm'],
    ['b  | ab | ab | a ', true, 'the DS is of the new key, data are old'],
    ['a  | a  | a  | ae', true, 'signatures of an unknown algorithm are passed over'],
    ['a  | ae | ae | a ', false, 'each algorithm of the DNSKEY set must sign all data'],
    ['a  | ae | a  | ae', false, 'each algorithm of the DNSKEY set must sign it'],
    ['a  | ae | ae | ae', true, 'both algorithms sign everything'],
    ['ae | ae | ae | ae', true, 'both algorithms have a DS'],
    ['ae | a  | a  | a ', false, 'each algorithm of the DS set must sign the DNSKEY set'],
    ['e  | ae | ae | ae', true, 'the DS is of the new algorithm'],
    ['e  | e  | e  | ae', true, 'the old key is withdrawn before its signatures'],
    ['e  | ae | ae | e ', false, 'the old signatures may not go before their key'],
  ])('%s: %s, %s', (text, expected) => {
    expect(validates(triple(text), algorithmOf)).toBe(expected);
  });
});

describe('what a cache may hold', () => {
  const at = 1_000 * HOUR;
  const ended = (lastAt: number, ttl: number) => ({ lastAt, ttl, until: 2, isEnded: true });
  const inForce = { lastAt: at - 900 * HOUR, ttl: 60, until: null, isEnded: false };
  const ledger: Ledger = {
    ds: [
      { ds: ['a'], lastAt: at - 60 * HOUR, ttl: 86_400 },
      { ds: ['b'], lastAt: at - 28 * HOUR, ttl: 86_400 },
    ],
    keySets: [
      { keys: ['a'], signers: ['a'], ...ended(at - 29 * HOUR, 3600) },
      { keys: ['a', 'b'], signers: ['a', 'b'], ...ended(at - 28 * HOUR, 3600) },
      { keys: ['b'], signers: ['b'], ...inForce },
    ],
    data: [
      { signers: ['a'], ...ended(at - 50 * HOUR, 2 * 86_400) },
      { signers: ['b'], ...inForce },
    ],
  };
  const seen = maySee(ledger, [['a']], at, RULES);

  it('is each DS set until its TTL and the lag of the parent are over, and what is shown now', () => {
    expect(seen.ds).toEqual([['b'], ['a']]);
    expect(dsGoneAt({ ds: [], lastAt: 0, ttl: 60 }, RULES)).toBe(60_000 + RULES.parentSlackMs);
  });

  it('is each DNSKEY set and regime in force, and of the others what is in caches or backups', () => {
    expect(seen.keySets.map(({ keys }) => keys.join(''))).toEqual(['ab', 'b']);
    expect(seen.data.map(({ signers }) => signers.join(''))).toEqual(['a', 'b']);
    expect(servedGoneAt(ended(0, 60), RULES)).toBe(RULES.backupAfterMs + RULES.nodeSlackMs);
    expect(servedGoneAt(ended(0, 172_800), RULES)).toBe(172_800_000 + RULES.nodeSlackMs);
    expect(servedGoneAt({ ...ended(0, 60), isEnded: false }, RULES)).toBe(Number.POSITIVE_INFINITY);
  });

  it('validates when every triple of it does', () => {
    expect(allValidate(seen, [A, B])).toBe(false);
    expect(allValidate({ ...seen, ds: [['b']] }, [A, B])).toBe(false);
    expect(allValidate({ ...seen, ds: [['b']], keySets: seen.keySets.slice(0, 1) }, [A, B])).toBe(true);
    expect(allValidate({ ...seen, ds: [[]] }, [A, B])).toBe(true);
  });
});

it('what ends between two looks was served with the TTL that the zone had until then', () => {
  const signed = { keys: ['a'], keySigners: ['a'], dataSigners: ['a'] };
  const begun = withServing(firstLedger(0, 300), signed, HOUR, { keys: 3600, data: 300 });
  const written = withWritten(begun, signed, 1);
  const behind = withPositions(written, () => false, 2 * HOUR, 300);
  const { data, keySets } = withPositions(behind, () => true, 3 * HOUR, 86_400);
  const unsigned = { ttl: 86_400, lastAt: 3 * HOUR, until: 1, isEnded: true };
  expect([data[0], keySets[0]]).toMatchObject([unsigned, unsigned]);
  const later = withPositions({ ds: [], data, keySets }, () => true, 4 * HOUR, 172_800);
  expect(later.data[0]).toEqual(data[0]);
});
