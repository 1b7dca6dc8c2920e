import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../console/src/api/api-error.ts';
import {
  delegationLine,
  domainQuery,
  isFiltered,
} from '../../../console/src/screens/domains/domain-query.ts';
import { csvOf, exportText } from '../../../console/src/screens/domains/export-names.ts';
import { nameIn, parsePastedNames } from '../../../console/src/screens/domains/pasted-names.ts';
import { type EachResult, runEach } from '../../../console/src/screens/domains/run-each.ts';

describe('domainQuery', () => {
  it('contains the filters of the URL', () => {
    const same = { status: 'moved', finding: 'STALE_DS', role: 'editor', sort: '-name' };
    expect(domainQuery({ ...same, search: ' shop ', mode: 'external' })).toEqual({
      ...same,
      search: 'shop',
      dns_mode: 'external',
    });
    expect(domainQuery({ status: 'open' }).status).toBe('pending,unverified,moved,disabled');
  });

  it('ignores unknown values', () => {
    const query = { search: ' ', status: 'x', mode: '"', role: '1', sort: 'price', page: '2', other: 'y' };
    expect(domainQuery(query)).toEqual({ sort: 'name' });
  });
});

it('isFiltered depends on filters, not on order and page', () => {
  expect(isFiltered({ sort: 'name', page: '2', cursor: 'x' })).toBe(false);
  expect(isFiltered({ status: 'open' })).toBe(true);
});

describe('delegationLine', () => {
  const row = {
    status: 'pending' as const,
    dns_mode: 'managed' as const,
    svc_ns_sets: [['ns1.ours.example', 'ns2.ours.example']],
  };

  const reason = { code: 'not_delegated' as const, message: 'nobody delegated it' };

  it.each<[Partial<Parameters<typeof delegationLine>[0]>, object]>([
    [{}, { kind: 'unseen' }],
    [{ current_ns: [] }, { kind: 'not-delegated' }],
    [{ current_ns: ['ns1.other.example'] }, { kind: 'elsewhere', servers: ['ns1.other.example'] }],
    [{ current_ns: ['ns1.ours.example'] }, { kind: 'partly' }],
    [{ status: 'active', current_ns: ['ns1.ours.example', 'ns2.ours.example'] }, { kind: 'live' }],
    [{ dns_mode: 'external', status: 'unverified' }, { kind: 'txt' }],
    [{ dns_mode: 'external', status: 'active' }, { kind: 'verified' }],
    [{ status: 'banned' }, { kind: 'banned' }],
    [
      { status: 'disabled', status_reason: reason },
      { kind: 'reason', reason: 'nobody delegated it' },
    ],
  ])('of a domain with %j is %j', (changes, line) => {
    expect(delegationLine({ ...row, ...changes })).toMatchObject(line);
  });
});

describe('csvOf', () => {
  it('quotes commas and quotes, and ends lines in CRLF', () => {
    expect(
      csvOf([
        ['a', 'b,c', 'd "e"'],
        [1, undefined, ''],
      ]),
    ).toBe('a,"b,c","d ""e"""\r\n1,,\r\n');
  });

  it('contains no formula', () => {
    for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)', '|cmd', '%x', ' =1', '\t=1']) {
      const [cell = ''] = csvOf([[formula]]).split('\r\n');
      expect(cell).toMatch(/^"?'/);
    }
    expect(csvOf([['=HYPERLINK("http://evil.example","x")']])).toBe(
      `"'=HYPERLINK(""http://evil.example"",""x"")"\r\n`,
    );
  });

  it('keeps a cell on one line', () => expect(csvOf([['a\nb\r\nc\td']])).toBe('a b c d\r\n'));
});

it('exportText is tab-separated if requested', () => {
  expect(
    exportText('tsv', [
      ['a', 'b,c'],
      ['=x', 2],
    ]),
  ).toBe("a\tb,c\n'=x\t2\n");
});

const names = (text: string) =>
  parsePastedNames(text)
    .filter(({ problem }) => problem === undefined)
    .map(({ name }) => name);
const problems = (text: string) =>
  parsePastedNames(text)
    .filter(({ problem }) => problem !== undefined)
    .map(({ line, problem }) => [line, problem]);

describe('parsePastedNames', () => {
  it('accepts line breaks, commas, tabs and spaces as separators', () => {
    expect(names('a.example\r\nb.example, c.example;d.example\te.example  f.example')).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((label) => `${label}.example`),
    );
    expect(names('"a.example","b.example"\n')).toEqual(['a.example', 'b.example']);
    expect(parsePastedNames(' \n\n # a comment.example\n')).toEqual([]);
  });

  it('reports duplicates', () => {
    expect(names('A.example\na.example.\nhttps://a.example/')).toEqual(['a.example']);
    expect(problems('A.example\na.example.\nhttps://a.example/')).toEqual([
      [2, 'twice'],
      [3, 'twice'],
    ]);
  });

  it('reports invalid names with their lines', () => {
    expect(problems('localhost\nann@shop.example\na..example\nsho!p.example\n""')).toEqual([
      [1, 'single-label'],
      [2, 'email'],
      [3, 'characters'],
      [4, 'characters'],
      [5, 'empty'],
    ]);
    expect(problems(`${'a'.repeat(64)}.example`)).toEqual([[1, 'too-long']]);
    expect(problems(`${'a.'.repeat(130)}example`)).toEqual([[1, 'too-long']]);
    expect(problems('<script>alert(1)</script>.example')).toHaveLength(1);
  });

  it('leaves letters of all scripts to the API', () => {
    expect(names('müller.example пример.example 例え。テスト _dmarc.a.example')).toEqual([
      'müller.example',
      'пример.example',
      '例え.テスト',
      '_dmarc.a.example',
    ]);
  });
});

it('nameIn returns the host of an address', () => {
  expect(nameIn('"https://Shop.Example.:8443/cart?x#y"')).toBe('shop.example');
  expect(nameIn('<http://shop.example>')).toBe('shop.example');
  expect(nameIn('shop.example.')).toBe('shop.example');
});

const items = Array.from({ length: 20 }, (_, i) => i);

async function run(call: (item: number) => Promise<unknown>, isEnded = () => false) {
  const results: EachResult<number>[] = [];
  const pauses: number[] = [];
  await runEach(items, {
    call,
    isEnded,
    onResult: (result) => results.push(result),
    pause: async (ms) => {
      pauses.push(ms);
    },
  });
  return { results, pauses };
}

describe('runEach', () => {
  it('returns a result for each item', async () => {
    const { results } = await run(async (item) => {
      if (item % 5 === 0) throw new ApiError(409, { error: `${item} is taken` });
    });
    expect(results.map(({ item }) => item).sort((a, b) => a - b)).toEqual(items);
    expect(results.filter(({ error }) => error !== undefined).map(({ item }) => item)).toEqual([
      0, 5, 10, 15,
    ]);
  });

  it('waits as requested by the API, and retries the item', async () => {
    const refused = new Set([3, 4]);
    const { results, pauses } = await run(async (item) => {
      if (refused.delete(item)) throw new ApiError(429, {}, { retryAfter: 2 });
    });
    expect(results).toHaveLength(20);
    expect(results.every(({ error }) => error === undefined)).toBe(true);
    expect(pauses.length).toBeGreaterThan(0);
    expect(new Set(pauses)).toEqual(new Set([2000]));
  });

  it('does not retry errors that time cannot fix, and does not retry forever', async () => {
    const limited = await run(async () => {
      throw new ApiError(429, { code: 'ns_check_limited' }, { retryAfter: 1 });
    });
    expect(limited.pauses).toEqual([]);
    const always = await run(async () => {
      throw new ApiError(429, {}, { retryAfter: 1 });
    });
    expect(always.results).toHaveLength(20);
    expect(always.results.every(({ error }) => error?.status === 429)).toBe(true);
  });

  it('starts no further calls after it is stopped', async () => {
    let calls = 0;
    const { results } = await run(
      async () => {
        calls++;
      },
      () => calls >= 5,
    );
    expect(calls).toBe(5);
    expect(results).toHaveLength(5);
  });
});
