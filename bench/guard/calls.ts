// The API calls whose cost the guard compares. They use only fields that every version has.

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the call
  readonly body: any;
}

export type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

export interface MeasuredCall {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** True if a global admin with a session makes the call, instead of one with a key. */
  readonly bySession?: true;
  /** Minimum number of measured repetitions. Default: 20. */
  readonly least?: number;
  /** `i` is different in each repetition. */
  path(i: number): string;
  body?(i: number): unknown;
  /** Creates, not measured, what repetitions `from` to `to - 1` need. */
  prepare?(ask: Ask, from: number, to: number): Promise<void>;
}

/** Numbers of records in the zones of the calls, and of domains in a batch. */
export interface Sizes {
  readonly small: number;
  readonly large: number;
  readonly huge: number;
  readonly batch: number;
}

const SIZES: Sizes = { small: 50, large: 2000, huge: 20_000, batch: 100 };
const SMALL = 'small.example';
const LARGE = 'large.example';
const HUGE = 'huge.example';
const records = `/domains/${SMALL}/records/`;

/** Creates the zones of the calls, and 60 other domains. Returns the calls. */
export async function prepareCalls(ask: Ask, sizes = SIZES): Promise<readonly MeasuredCall[]> {
  const { small, large, huge, batch } = sizes;
  const count = (number: number) => number.toLocaleString('en-US');
  for (const name of [SMALL, LARGE, HUGE, ...Array.from({ length: 60 }, (_, i) => `listed${i}.example`)])
    await expectOk(ask('POST', '/domains/', { name, scan: false }));
  await importRecords(ask, SMALL, small);
  await importRecords(ask, LARGE, large);
  await importRecords(ask, HUGE, huge);
  const { body } = await expectOk(ask('GET', `${records}?limit=1&search=r0`));
  const id = body[0].id as number;
  const { user_id } = (await expectOk(ask('GET', '/whoami'))).body;
  const deleted: number[] = [];
  return [
    { name: 'account', method: 'GET', path: () => '/whoami' },
    { name: 'nameserver sets', method: 'GET', path: () => '/domains/ns-sets' },
    { name: '50 domains', method: 'GET', path: () => '/domains/?limit=50' },
    { name: 'domain', method: 'GET', path: () => `/domains/${SMALL}` },
    {
      name: 'create domain',
      method: 'POST',
      path: () => '/domains/',
      body: (i) => ({ name: `created${i}.example`, scan: false }),
    },
    {
      name: `batch of ${batch} domains`,
      method: 'POST',
      bySession: true,
      least: 2,
      path: () => '/admin/domains/batch',
      body: (i) => ({
        domains: Array.from({ length: batch }, (_, n) => ({ name: `batch${i}-${n}.example`, user_id })),
        scan: false,
      }),
    },
    {
      name: 'delete domain',
      method: 'DELETE',
      path: (i) => `/domains/deleted${i}.example`,
      async prepare(prepareAsk, from, to) {
        for (let i = from; i < to; i++)
          await expectOk(prepareAsk('POST', '/domains/', { name: `deleted${i}.example`, scan: false }));
      },
    },
    { name: `${count(small)} records`, method: 'GET', path: () => records },
    { name: `${count(large)} records`, method: 'GET', path: () => `/domains/${LARGE}/records/` },
    { name: `${count(huge)} records`, method: 'GET', path: () => `/domains/${HUGE}/records/` },
    { name: 'search records', method: 'GET', path: () => `/domains/${LARGE}/records/?search=r17&limit=100` },
    { name: 'record', method: 'GET', path: () => `${records}${id}` },
    { name: 'create record', method: 'POST', path: () => records, body: (i) => record(`created${i}`) },
    {
      name: 'change record',
      method: 'PUT',
      path: () => `${records}${id}`,
      body: (i) => ({ ttl: 300 + (i % 2) }),
    },
    {
      name: 'delete record',
      method: 'DELETE',
      path: (i) => `${records}${deleted[i]}`,
      async prepare(prepareAsk, from, to) {
        for (let i = from; i < to; i++)
          deleted[i] = (await expectOk(prepareAsk('POST', records, record(`deleted${i}`)))).body.id;
      },
    },
    {
      name: 'batch of 10',
      method: 'PUT',
      path: () => `${records}batch`,
      body: (i) => ({ create: Array.from({ length: 10 }, (_, n) => record(`batch${i}-${n}`)) }),
    },
    {
      name: 'import of 100',
      method: 'POST',
      path: () => `${records}import`,
      body: (i) => ({ records: Array.from({ length: 100 }, (_, n) => record(`import${i}-${n}`)) }),
    },
    {
      name: `import of ${count(large)}`,
      method: 'POST',
      path: (i) => `/domains/imported${i}.example/records/import`,
      body: () => ({ records: Array.from({ length: large }, (_, n) => record(`r${n}`)) }),
      async prepare(prepareAsk, from, to) {
        for (let i = from; i < to; i++)
          await expectOk(prepareAsk('POST', '/domains/', { name: `imported${i}.example`, scan: false }));
      },
    },
    {
      name: 'parse zone file',
      method: 'POST',
      path: () => `${records}import/parse`,
      body: () => ({ zone_file: Array.from({ length: 100 }, (_, n) => `p${n} 300 A 192.0.2.1`).join('\n') }),
    },
    { name: 'export zone file', method: 'GET', path: () => `/domains/${LARGE}/records/export` },
    { name: `export of ${count(huge)}`, method: 'GET', path: () => `/domains/${HUGE}/records/export` },
    { name: 'changes', method: 'GET', path: () => `/domains/${SMALL}/changes?limit=20` },
    { name: 'checks', method: 'GET', path: () => `/domains/${SMALL}/checks` },
    { name: 'DNSSEC status', method: 'GET', path: () => `/domains/${SMALL}/dnssec` },
    { name: 'rules', method: 'GET', path: () => `/domains/${SMALL}/rules/waf/` },
  ];
}

function record(name: string): object {
  return { name, type: 'A', destination: '192.0.2.1' };
}

async function importRecords(ask: Ask, domain: string, count: number): Promise<void> {
  const list = Array.from({ length: count }, (_, i) => record(`r${i}`));
  await expectOk(ask('POST', `/domains/${domain}/records/import`, { records: list }));
}

export async function expectOk(reply: Promise<Reply>): Promise<Reply> {
  const { status, body } = await reply;
  if (status >= 400) throw new Error(`${status} ${JSON.stringify(body).slice(0, 300)}`);
  return { status, body };
}
