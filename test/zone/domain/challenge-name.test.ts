import { expect, it } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { challengeOf } from '../../../src/zone/domain/challenge-name.ts';

it('is a name below the domain’s', () => {
  expect(printName(challengeOf(parseName('xn--bcher-kva.example.')))).toBe(
    '_svc-challenge.xn--bcher-kva.example.',
  );
});
