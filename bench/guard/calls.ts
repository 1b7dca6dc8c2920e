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
  /** `i` is different in each repetition. */
  path(i: number): string;
  body?(i: number): unknown;
  /** Creates, not measured, what repetitions `from` to `to - 1` need. */
  prepare?(ask: Ask, from: number, to: number): Promise<void>;
}

const SMALL = 'small.example';
const LARGE = 'large.example';
const HUGE = 'huge.example';
const records = `/domains/${SMALL}/records/`;

/** Creates the domains that the calls use: those of 50, 2,000 and 20,000 records, and 60 others. Returns the calls. */
export async function prepareCalls(ask: Ask): Promise<readonly MeasuredCall[]> {
  for (const name of [SMALL, LARGE, HUGE, ...Array.from({ length: 60 }, (_, i) => `listed${i}.example`)])
    await expectOk(ask('POST', '/domains/', { name, scan: false }));
  await importRecords(ask, SMALL, 50);
  await importRecords(ask, LARGE, 2000);
  await importRecords(ask, HUGE, 20_000);
  const { body } = await expectOk(ask('GET', `${records}?limit=1&search=r0`));
  const id = body[0].id as number;
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
      name: 'delete domain',
      method: 'DELETE',
      path: (i) => `/domains/deleted${i}.example`,
      async prepare(prepareAsk, from, to) {
        for (let i = from; i < to; i++)
          await expectOk(prepareAsk('POST', '/domains/', { name: `deleted${i}.example`, scan: false }));
      },
    },
    { name: '50 records', method: 'GET', path: () => records },
    { name: '2,000 records', method: 'GET', path: () => `/domains/${LARGE}/records/` },
    { name: '20,000 records', method: 'GET', path: () => `/domains/${HUGE}/records/` },
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
      name: 'import of 2,000',
      method: 'POST',
      path: (i) => `/domains/imported${i}.example/records/import`,
      body: () => ({ records: Array.from({ length: 2000 }, (_, n) => record(`r${n}`)) }),
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
    { name: 'export of 20,000', method: 'GET', path: () => `/domains/${HUGE}/records/export` },
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
