// The deliveries of a webhook in the last days, newest first.

import { useEffect, useRef } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { serverNowMs } from '../../api/clock.ts';
import { useLoad } from '../../api/use-load.ts';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { exact, now, relative, Time } from '../../parts/time.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { useDomain } from '../domain/domain-here.ts';
import { type Delivery, isDue, resultOf, TONES } from './delivery-result.ts';

const text = domainSettings.webhooks;
const AGAIN_MS = 2000;

interface DeliveriesProps {
  readonly webhook: number;
  /** Number of the delivery of a test that was just requested. */
  readonly tested: number | undefined;
  /** Called when a delivery has ended, because this may disable or enable the webhook. */
  readonly onEnded: () => void;
}

export function Deliveries({ webhook, tested, onEnded }: DeliveriesProps) {
  const { name } = useDomain();
  const params = { path: { domain: name, id: webhook } };
  const loaded = useLoad(`deliveries ${name} ${webhook} ${tested}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/webhooks/{id}/deliveries', { params, signal })),
  );
  useEffect(() => {
    if (loaded.data?.some((each) => isDue(each, serverNowMs())) !== true) return;
    const timer = setTimeout(() => {
      if (!document.hidden) void loaded.reload();
    }, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [loaded.data]);
  const test = loaded.data?.find(({ id }) => id === tested);
  const told = useRef(onEnded);
  told.current = onEnded;
  useEffect(() => {
    if (test !== undefined && test.state !== 'waiting') told.current();
  }, [test?.state]);
  return (
    <>
      {tested !== undefined && (
        <p role="status">
          {test === undefined || test.state === 'waiting' ? text.test.waiting : text.test[test.state]}
        </p>
      )}
      <Loading of={loaded}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p class="quiet">{text.noDeliveries}</p>
          ) : (
            <DeliveryTable deliveries={deliveries} />
          )
        }
      </Loading>
    </>
  );
}

function DeliveryTable({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <Table<Delivery>
      caption={text.deliveries}
      rows={deliveries}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'event',
          title: text.columns.event,
          cell: ({ id, event, event_id }) => (
            <span title={event_id}>
              {text.events[event]}
              <span class="quiet domain-settings-line">{text.number(id)}</span>
            </span>
          ),
          text: ({ event, event_id }) => `${event} ${event_id}`,
        },
        {
          key: 'result',
          title: text.columns.result,
          cell: (delivery) => <Result of={delivery} />,
          text: (delivery) => `${text.states[delivery.state]}: ${resultOf(delivery)}`,
        },
        {
          key: 'created',
          title: text.columns.created,
          cell: ({ created_at }) => <Moment at={created_at} />,
          text: ({ created_at }) => created_at,
        },
        {
          key: 'tried',
          title: text.columns.tried,
          cell: ({ tried_at }) => <Moment at={tried_at} />,
          text: ({ tried_at }) => tried_at,
        },
      ]}
    />
  );
}

function Result({ of: delivery }: { readonly of: Delivery }) {
  const { state, attempts, next_at: next } = delivery;
  return (
    <div class="domain-settings-result">
      <Badge tone={TONES[state]}>{text.states[state]}</Badge> {resultOf(delivery)}
      {attempts > 0 && (
        <span class="quiet domain-settings-line">
          {text.attempts(attempts)}
          {state === 'waiting' && (
            <>
              {' '}
              {text.next} <Time at={next} />
            </>
          )}
        </span>
      )}
    </div>
  );
}

/** A time relative to now with the exact time below it, which can be found in logs. */
function Moment({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <span class="quiet">—</span>;
  return (
    <time dateTime={at} class="domain-settings-moment">
      {relative(Date.parse(at), now.value)}
      <span class="quiet domain-settings-line ltr">{exact(at)}</span>
    </time>
  );
}
