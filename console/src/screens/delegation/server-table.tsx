// All details of each response of the parent zone's servers.

import { type Column, Table } from '../../parts/table.tsx';
import { exact } from '../../parts/time.tsx';
import { delegation } from '../../words/delegation.ts';
import type { Check } from './use-checks.ts';

type Server = NonNullable<Check['evidence']>[number];

const text = delegation;
const title = text.columns;

const yes = (value: boolean | undefined) => (value === undefined ? '' : value ? title.yes : title.no);

const of = (
  key: keyof typeof title,
  value: (server: Server) => string | number | undefined,
  isNumber = false,
): Column<Server> => ({ key, title: title[key], isNumber, cell: (row) => value(row), text: value });

const COLUMNS: readonly Column<Server>[] = [
  of('server', ({ server }) => server),
  of('address', ({ address }) => address),
  of('outcome', ({ outcome }) => text.outcomes[outcome]),
  of('ns', ({ ns }) => ns?.join(' ')),
  of('glue', ({ glue }) => glue?.map(({ name, address }) => `${name} ${address}`).join('; ')),
  of('ttl', ({ ttl }) => ttl, true),
  of('ms', ({ rtt_ms: ms }) => (ms === undefined ? undefined : Math.round(ms * 10) / 10), true),
  of('transport', ({ transport }) => (transport === 'database' ? title.database : transport.toUpperCase())),
  of('rcode', ({ rcode }) => rcode, true),
  of('aa', ({ aa }) => yes(aa)),
  of('ds', ({ ds }) => ds?.join('; ')),
  of('proof', ({ proof }) => (proof === undefined ? undefined : text.picture[proof])),
  of('error', ({ error }) => error),
  of('at', ({ asked_at: at }) => exact(at)),
];

export function ServerTable({ servers }: { readonly servers: readonly Server[] }) {
  return (
    <Table
      caption={text.picture.details}
      columns={COLUMNS}
      rows={servers}
      keyOf={({ server, address = '' }) => `${server} ${address}`}
    />
  );
}
