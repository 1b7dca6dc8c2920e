// The DS records in the parent zone: combined, and by server in the newest delegation check.

import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Badge } from '../../parts/status.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { exact, Time } from '../../parts/time.tsx';
import { dnssec as dnssecWords } from '../../words/dnssec.ts';
import { duration } from '../delegation/words-of.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import type { Dnssec } from './steps.ts';

const text = dnssecWords.parent;

type Server = NonNullable<Schemas['Check']['evidence']>[number];

interface ParentProps {
  readonly dnssec: Dnssec;
  readonly onChanged: (dnssec: Dnssec) => void;
}

export function Parent({ dnssec, onChanged }: ParentProps) {
  const { name, domain } = useDomain();
  const { at_parent: seen, keys } = dnssec;
  const look = useAction(async () => {
    onChanged(
      await dataOf(api.POST('/domains/{domain}/dnssec/check', { params: { path: { domain: name } } })),
    );
  });
  return (
    <section class="card dnssec-parent">
      <div class="row spread">
        <h2>{text.title}</h2>
        {keys.length > 0 && mayDo(domain, 'domain.settings') && (
          <Button onClick={() => void look.run()} isBusy={look.isBusy}>
            {text.look}
          </Button>
        )}
      </div>
      <Failure error={look.error} />
      {seen === undefined ? (
        <p>{keys.length > 0 ? text.notYet : text.notSigned}</p>
      ) : (
        <>
          <p>
            {text.summary(seen.agreeing, seen.addresses)} {text.seen} <Time at={seen.checked_at} />.
            {seen.ttl !== undefined && ` ${text.ttl(duration(seen.ttl))}`}
          </p>
          {seen.ds.length === 0 ? (
            <p>{text.noDs}</p>
          ) : (
            <ul class="plain dnssec-shown">
              {seen.ds.map(({ text: record, ours }) => (
                <li key={record}>
                  <Badge tone={ours ? 'good' : 'bad'}>{ours ? text.ours : text.other}</Badge>{' '}
                  <code>{record}</code>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <Servers ours={dnssec.ds.map(({ text: record }) => plain(record))} />
    </section>
  );
}

const plain = (record: string) => record.toLowerCase().replaceAll(/\s+/g, ' ');

function Servers({ ours }: { readonly ours: readonly string[] }) {
  const { name } = useDomain();
  const { data: check } = useLoad(`dnssec servers ${name}`, (signal) => newestCheck(name, signal));
  const servers = check?.evidence ?? [];
  if (check === undefined || servers.length === 0) return null;
  const isOurs = ({ ds }: Server) => ds?.map((record) => ours.includes(plain(record)));
  const columns: readonly Column<Server>[] = [
    { key: 'server', title: text.columns.server, cell: ({ server }) => server, text: ({ server }) => server },
    {
      key: 'address',
      title: text.columns.address,
      cell: ({ address }) => address,
      text: ({ address }) => address,
    },
    {
      key: 'ds',
      title: text.columns.ds,
      cell: (server) =>
        server.ds === undefined || server.ds.length === 0 ? (
          <span class="quiet">{text.none}</span>
        ) : (
          <ul class="plain">
            {server.ds.map((record, i) => (
              <li key={record}>
                <span class="quiet">
                  {isOurs(server)?.[i] === true ? `✓ ${text.ours}` : `≠ ${text.other}`}
                </span>{' '}
                <code>{record}</code>
              </li>
            ))}
          </ul>
        ),
      text: ({ ds }) => ds?.join('; ') ?? '',
    },
    {
      key: 'proof',
      title: text.columns.proof,
      cell: ({ proof }) => (proof === undefined ? '' : text.proofs[proof]),
      text: ({ proof }) => proof,
    },
    {
      key: 'at',
      title: text.columns.at,
      cell: ({ asked_at: at }) => <Time at={at} />,
      text: ({ asked_at: at }) => exact(at),
    },
  ];
  return (
    <details>
      <summary>{text.servers(servers.length)}</summary>
      <Table
        caption={text.serversCaption}
        columns={columns}
        rows={servers}
        keyOf={({ server, address = '' }) => `${server} ${address}`}
      />
    </details>
  );
}

async function newestCheck(domain: string, signal: AbortSignal) {
  const [newest] = await dataOf(
    api.GET('/domains/{domain}/checks', {
      params: { path: { domain }, query: { limit: 1, evidence: true } },
      signal,
    }),
  );
  return newest;
}
