import { expect, it } from 'vitest';
import { anameFindings } from '../../../src/checks/aname/aname-findings.ts';
import { parseName } from '../../../src/dns/name.ts';

it('each code has one sentence that names its targets', () => {
  const targets = Array.from({ length: 9 }, (_, i) => parseName(`t${i}.example.`));
  const codes = ['ANAME_TARGET_FAILS', 'ANAME_TARGET_EMPTY', 'ANAME_LOOP'] as const;
  const troubles = codes.flatMap((code, i) =>
    targets.slice(0, [1, 2, 9][i]).map((target) => ({ target, code })),
  );
  const found = anameFindings(troubles.reverse());
  expect(found.map(({ code }) => code)).toEqual(codes);
  const pointing = found.map(
    ({ message }) => /^ANAME records point to (.*?), (?:which|whose) /.exec(message)?.[1],
  );
  expect(pointing).toEqual([
    't0.example',
    't1.example or t0.example',
    't8.example, t7.example, t6.example, t5.example, t4.example or 4 more',
  ]);
  expect(anameFindings([])).toEqual([]);
});
