// Findings stand once, the most urgent first; every code of a check has a weight that somebody chose.

import { describe, expect, it } from 'vitest';
import {
  sortFindings,
  splitFindings,
  weigh,
} from '../../../../console/src/screens/delegation/sort-findings.ts';
import { FINDING_CODES } from '../../../../src/checks/delegation/findings.ts';

const finding = (code: string, message = code) => ({ code, message });

describe('weigh', () => {
  it('takes the severity of a look at the nameservers', () => {
    const severities = ['error', 'warning', 'notice'];
    expect(severities.map((severity) => weigh({ ...finding('TCP_REFUSED'), severity }))).toEqual([
      'act',
      'improve',
      'know',
    ]);
  });

  it('says of findings without anything to change at the registrar that they are to be known', () => {
    const known =
      'TAKEOVER_WAITS CAME_BACK PARENT_UNREACHABLE PARENT_LAME PARENT_BOGUS PARENT_FAILS PARENTS_DISAGREE ' +
      'PARENT_SETS_AA UNCONFIRMED TRY_LATER MOVES_HELD ROOT_FAULT VANTAGES_DISAGREE VANTAGES_AWAY NS_TURN';
    expect(FINDING_CODES.filter((code) => weigh(finding(code)) === 'know').join(' ')).toBe(known);
  });

  it('wants action for a code that it does not know', () => {
    expect(weigh(finding('SOMETHING_NEW'))).toBe('act');
  });
});

describe('sortFindings', () => {
  it('shows what stands in two lists once, with its severity', () => {
    const child = { ...finding('SERVER_SILENT', 'it is silent'), severity: 'error', place: 'registrar' };
    expect(sortFindings([finding('SERVER_SILENT', 'it is silent')], [child])).toEqual([
      { ...child, weight: 'act' },
    ]);
  });

  it('keeps two findings of one code apart, and puts what is to be done first', () => {
    const sorted = sortFindings([
      finding('PARENT_FAILS'),
      finding('PREPARE'),
      finding('NS_MISSING', 'one'),
      finding('NS_MISSING', 'two'),
    ]);
    expect(sorted.map(({ message }) => message)).toEqual(['one', 'two', 'PREPARE', 'PARENT_FAILS']);
  });
});

describe('splitFindings', () => {
  const ofServers = [{ ...finding('SAME_ADDRESS'), severity: 'error', place: 'registrar' }];
  const ofDomain = [finding('NS_FOREIGN'), finding('SAME_ADDRESS')];
  const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);

  it('sets apart what is about nameservers that are to be replaced', () => {
    const { main, present } = splitFindings(ofDomain, ofServers, 'foreign');
    expect([codes(main), codes(present)]).toEqual([['NS_FOREIGN'], ['SAME_ADDRESS']]);
  });

  it('keeps all together where they stay', () => {
    const { main, present } = splitFindings(ofDomain, ofServers, 'match');
    expect([codes(main), codes(present)]).toEqual([['NS_FOREIGN', 'SAME_ADDRESS'], []]);
  });
});
