// The domains of a client with their subscriptions: adding, changing and cancelling them.

import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { domainPath, Link } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { plan } from '../../words/plan.ts';
import { reseller } from '../../words/reseller.ts';
import { words } from '../../words/words.ts';
import { BuyTerm } from './buy-term.tsx';
import { resell } from './reseller-session.ts';

type Service = Schemas['Service'];
const AT_ONCE = 50;
const text = reseller.services;

interface ServiceListProps {
  readonly clientId: number;
  /** Called after a purchase, which changes the balances. */
  readonly onBought: () => void;
}

export function ServiceList({ clientId, onBought }: ServiceListProps) {
  const [bought, setBought] = useState<Service | 'new'>();
  const [cancelled, setCancelled] = useState<Service>();
  const pages = usePages<Service>(`services ${clientId}`, (cursor, signal) =>
    pageOf(
      resell.GET('/reseller/v1/services', {
        params: { query: { client_id: clientId, limit: AT_ONCE, ...(cursor && { cursor }) } },
        signal,
      }),
    ),
  );
  const cancel = useAction(async ({ id, domain }: Service) => {
    await resell.DELETE('/reseller/v1/services/{serviceId}', { params: { path: { serviceId: id } } });
    setCancelled(undefined);
    toast(text.cancelled(domain));
    await pages.loaded.reload();
  });
  return (
    <section class="stack" aria-labelledby="client-services">
      <div class="row spread">
        <h2 id="client-services">{words.frame.domains}</h2>
        <Button kind="main" onClick={() => setBought('new')}>
          {text.add}
        </Button>
      </div>
      <Loading of={pages.loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={text.none}>
              <p>{text.noneText}</p>
            </Empty>
          ) : (
            <ServiceTable rows={items} onChange={setBought} onCancel={setCancelled} />
          )
        }
      </Loading>
      <More of={pages} />
      {bought !== undefined && (
        <BuyTerm
          clientId={clientId}
          service={bought === 'new' ? undefined : bought}
          onClose={() => setBought(undefined)}
          onBought={({ domain }) => {
            setBought(undefined);
            toast(bought === 'new' ? text.added(domain) : text.changed(domain));
            void pages.loaded.reload();
            onBought();
          }}
        />
      )}
      {cancelled !== undefined && (
        <Confirm
          title={text.cancelTitle(cancelled.domain)}
          action={text.cancel}
          isDanger
          typed={cancelled.domain}
          isBusy={cancel.isBusy}
          error={cancel.error}
          onConfirm={() => void cancel.run(cancelled)}
          onClose={() => {
            cancel.clear();
            setCancelled(undefined);
          }}
        >
          <p>{text.cancelText}</p>
        </Confirm>
      )}
    </section>
  );
}

interface ServiceTableProps {
  readonly rows: readonly Service[];
  readonly onChange: (service: Service) => void;
  readonly onCancel: (service: Service) => void;
}

function ServiceTable({ rows, onChange, onCancel }: ServiceTableProps) {
  return (
    <Table<Service>
      caption={words.frame.domains}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'domain',
          title: text.domain,
          cell: ({ domain }) => <Link to={domainPath(domain)}>{domain}</Link>,
          text: ({ domain }) => domain,
        },
        {
          key: 'status',
          title: domains.columns.status,
          cell: ({ domain_status: status, domain_served: served }) => (
            <>
              <StatusBadge status={status} />
              {served !== 'full' && <div class="quiet">{text.served[served]}</div>}
            </>
          ),
          text: ({ domain_status: status }) => status,
        },
        {
          key: 'plan',
          title: text.plan,
          cell: ({ subscription }) => subscription?.plan.name ?? '—',
          text: ({ subscription }) => subscription?.plan.name,
        },
        {
          key: 'until',
          title: plan.until,
          cell: ({ subscription }) => <Until of={subscription} />,
          text: ({ subscription }) => subscription?.expires_at,
        },
        {
          key: 'act',
          title: '',
          cell: (service) => (
            <span class="row">
              <Button aria-label={text.of(text.change, service.domain)} onClick={() => onChange(service)}>
                {text.change}
              </Button>
              {service.subscription?.plan_term_id !== undefined && (
                <Button
                  kind="danger"
                  aria-label={text.of(text.cancel, service.domain)}
                  onClick={() => onCancel(service)}
                >
                  {text.cancel}
                </Button>
              )}
            </span>
          ),
        },
      ]}
    />
  );
}

function Until({ of }: { readonly of: Schemas['Subscription'] | undefined }) {
  if (of === undefined) return <span class="quiet">—</span>;
  const { status, expires_at: end, grace_until: graceUntil, auto_renew: renews } = of;
  return (
    <>
      {end === undefined ? plan.endless : <Time at={end} />}
      <div class="quiet">
        {status === 'grace' ? (
          <>
            {text.unpaid} <Time at={graceUntil} />
          </>
        ) : end !== undefined ? (
          text.renewal[renews ? 'on' : 'off']
        ) : null}
      </div>
    </>
  );
}
