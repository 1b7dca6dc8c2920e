// Servers stand together by what they answered.

import { describe, expect, it } from 'vitest';
import {
  groupAnswers,
  type ServerAnswer,
  toneOf,
} from '../../../../console/src/screens/delegation/group-answers.ts';

const OURS = ['ns1.fleet.example', 'ns2.fleet.example'];
const server = (name: string, outcome: string, ns?: readonly string[]): ServerAnswer => ({
  server: name,
  outcome,
  ns,
});

describe('groupAnswers', () => {
  it('puts servers with one answer together, the most first, those without one last', () => {
    const groups = groupAnswers(
      [
        server('a', 'timeout'),
        server('b', 'refused'),
        server('c', 'servfail'),
        server('d', 'referral', ['ns1.old.example']),
        server('e', 'referral', OURS),
        server('f', 'referral', [...OURS].reverse()),
      ],
      [OURS],
    );
    expect(groups.map(({ verdict, tone, servers }) => [verdict, tone, servers.map((s) => s.server)])).toEqual(
      [
        ['match', 'good', ['e', 'f']],
        ['foreign', 'bad', ['d']],
        ['silent', 'silent', ['a', 'b', 'c']],
      ],
    );
  });

  it('keeps different wrong answers apart', () => {
    const olds = ['ns1.old.example', 'ns2.old.example'].map((ns) => server(ns, 'referral', [ns]));
    const others = ['nodata', 'nxdomain', 'alias'].map((outcome) => server(outcome, outcome));
    const groups = groupAnswers([...olds, ...others], [OURS]);
    const verdicts = groups.map(({ verdict }) => verdict).join(' ');
    expect(verdicts).toBe('foreign foreign not_delegated unregistered alias');
    expect(new Set(groups.map(({ key }) => key)).size).toBe(5);
  });

  it('takes what it does not know as no answer, and never as a good one', () => {
    expect(groupAnswers([server('a', 'something new', OURS)], [OURS])[0]).toMatchObject({
      verdict: 'silent',
      tone: 'silent',
    });
    expect(groupAnswers([], [OURS])).toEqual([]);
  });
});

describe('toneOf', () => {
  it('is good for exactly one accepted set alone', () => {
    const bad = ['partial', 'extra', 'mixed', 'foreign', 'not_delegated', 'unregistered', 'alias'] as const;
    expect(toneOf('match')).toBe('good');
    expect(bad.map(toneOf)).toEqual(bad.map(() => 'bad'));
  });
});
