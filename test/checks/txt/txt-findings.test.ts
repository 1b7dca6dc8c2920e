import { expect, it } from 'vitest';
import { FINDING_CODES } from '../../../src/checks/delegation/findings.ts';
import { TXT_FINDINGS } from '../../../src/checks/txt/txt-findings.ts';
import { parseName } from '../../../src/dns/name.ts';

const host = parseName('_svc-challenge.shop.uk.');

it('each has a code of the public list, and says what its reader can do', () => {
  const said = [
    TXT_FINDINGS.NAME_IN_USE(),
    TXT_FINDINGS.RECORD_IN_USE(),
    TXT_FINDINGS.TAKEOVER_WAITS(),
    TXT_FINDINGS.TAKEOVER_SEEN(host, 'svc-verify=x'),
    TXT_FINDINGS.CLAIM_LOST(),
  ];
  expect(said).toHaveLength(Object.keys(TXT_FINDINGS).length);
  for (const { code } of said) expect(FINDING_CODES).toContain(code);
  const doing = [
    'becomes yours when your registrar shows',
    'remove it where you manage the DNS of this domain',
    'There is nothing to change',
    'add your record again: name _svc-challenge.shop.uk, value svc-verify=x',
    'add your record again and enable this domain',
  ];
  for (const [i, { message }] of said.entries()) expect(message).toContain(doing[i]);
});
