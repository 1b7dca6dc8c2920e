import { expect, it } from 'vitest';
import { ANAME_FINDING_CODES, anameFindings } from '../../../src/checks/aname/aname-findings.ts';
import { parseName } from '../../../src/dns/name.ts';

it('each code has one sentence that names its targets', () => {
  const targets = Array.from({ length: 9 }, (_, i) => parseName(`t${i}.example.`));
  const troubles = ANAME_FINDING_CODES.flatMap((code, i) =>
    targets.slice(0, [1, 2, 9][i]).map((target) => ({ target, code })),
  );
  const found = anameFindings(troubles.reverse());
  expect(found.map(({ code }) => code)).toEqual([...ANAME_FINDING_CODES]);
  const pointing = found.map(
    ({ message }) => /^ANAME records point to (.*?), (?:of )?which /.exec(message)?.[1],
  );
  expect(pointing).toEqual([
    't0.example',
    't1.example or t0.example',
    't8.example, t7.example, t6.example, t5.example, t4.example or 4 more',
  ]);
  expect(anameFindings([])).toEqual([]);
});
