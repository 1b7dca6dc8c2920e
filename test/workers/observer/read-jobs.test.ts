// What an observer accepts as a job, from an API that it does not trust.

import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { readJobs } from '../../../workers/observer/read-jobs.ts';

const NOW = Date.parse('2026-01-02T03:04:05.000Z');
const job = {
  id: '0b1d5e1a-5d0c-4f5e-9d5c-000000000001',
  name: 'example.org',
  deadline: '2026-01-02T03:04:35.000Z',
  fresh: true,
  thorough: false,
};
const read = (jobs: unknown, max = 16) => readJobs(JSON.stringify({ jobs }), { nowMs: NOW, max });

describe('a job', () => {
  it('has a name, the remaining time, and how to observe', () => {
    expect(read([job])).toEqual({
      jobs: [
        {
          id: job.id,
          text: 'example.org',
          name: parseName('example.org.'),
          leftMs: 30_000,
          fresh: true,
          thorough: false,
        },
      ],
      refused: [],
    });
  });

  it.each([
    'localhost',
    'printer.local',
    'x.onion',
    'x.invalid',
    'router.home.arpa',
    'com',
    'co.uk',
    'intranet',
    '192.0.2.1',
    '.',
    '',
    'a..example',
    'a b.example',
    'x\\.example.org',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(200)}example`,
  ])('is rejected for the name "%s", which no customer can have', (name) => {
    expect(read([{ ...job, name }])).toMatchObject({ jobs: [], refused: [expect.any(String)] });
  });

  it.each([
    { id: '../../etc' },
    { id: 5 },
    { name: 5 },
    { deadline: 'soon' },
    { deadline: '2026-01-02T03:04:05.000Z' },
    { fresh: 'yes' },
    { thorough: undefined },
  ])('is rejected with %o', (wrong) => {
    expect(read([{ ...job, ...wrong }, job])).toMatchObject({
      jobs: [{ id: job.id }],
      refused: [expect.any(String)],
    });
  });

  it('lasts at most a minute, whatever the API sends', () => {
    expect(read([{ ...job, deadline: '2031-01-02T03:04:05.000Z' }])?.jobs[0]?.leftMs).toBe(60_000);
  });
});

describe('a list of jobs', () => {
  it('returns no more jobs than requested', () => {
    expect(read([job, job, job], 2)).toMatchObject({ jobs: [{}, {}], refused: [expect.any(String)] });
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"jobs":{}}',
    '<html>',
    `{"jobs":[${'1,'.repeat(64)}1]}`,
  ])('is not %s', (text) => {
    expect(readJobs(text, { nowMs: NOW, max: 16 })).toBeUndefined();
  });
});
