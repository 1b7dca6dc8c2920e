// Requests to proxied names, as counted by the edges. Hidden for a domain without any.

import type { ApiError } from '../../api/api-error.ts';
import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { Failure } from '../../parts/failure.tsx';
import { count } from '../../parts/time.tsx';
import { traffic } from '../../words/traffic.ts';
import { useDomain } from '../domain/domain-here.ts';
import { OverTime } from './over-time.tsx';
import { edgePeriodOf, type Period } from './series.ts';
import { Shares } from './shares.tsx';
import { bytes } from './units.ts';

const text = traffic.edge;

export function EdgeTraffic({ period: asked }: { readonly period: Period }) {
  const { name: domain } = useDomain();
  const period = edgePeriodOf(asked);
  const query = { domain, period };
  const summary = useLoad(`edge ${domain} ${period}`, (signal) =>
    dataOf(api.GET('/analytics/summary', { params: { query }, signal })),
  );
  // Without a plan or an analytics store, the part above already shows a message.
  if (summary.error !== undefined && !isQuiet(summary.error))
    return <Failure error={summary.error} onRetry={() => void summary.reload()} />;
  const { data } = summary;
  if (data === undefined || data.total_requests === 0) return null;
  return (
    <section class="stack" aria-labelledby="traffic-edge">
      <div>
        <h2 id="traffic-edge">{text.title}</h2>
        <p class="quiet">
          {text.intro} {period !== asked && text.atLeast}
        </p>
      </div>
      <dl class="traffic-facts">
        <Fact term={text.requests} value={count(data.total_requests)} />
        <Fact term={text.bandwidth} value={bytes(data.total_bandwidth)} />
        <Fact term={text.visitors} value={count(data.unique_visitors)} />
        <Fact term={text.errors} value={traffic.percent(data.error_rate)} />
        <Fact term={text.average} value={text.ms(data.avg_response_time)} />
        <Fact term={text.p95} value={text.ms(data.p95)} />
      </dl>
      <Details domain={domain} period={period} requests={data.total_requests} />
    </section>
  );
}

interface DetailsProps {
  readonly domain: string;
  readonly period: Exclude<Period, '1h'>;
  readonly requests: number;
}

function Details({ domain, period, requests }: DetailsProps) {
  const query = { domain, period };
  const visitors = useLoad(`visitors ${domain} ${period}`, (signal) =>
    dataOf(api.GET('/analytics/visitors', { params: { query }, signal })),
  );
  const uris = useLoad(`uris ${domain} ${period}`, (signal) =>
    dataOf(api.GET('/analytics/top-uris', { params: { query }, signal })),
  );
  const error = visitors.error ?? uris.error;
  if (error !== undefined)
    return isQuiet(error) ? (
      <p class="quiet">{error.message}</p>
    ) : (
      <Failure error={error} onRetry={() => void Promise.all([visitors.reload(), uris.reload()])} />
    );
  return (
    <>
      {visitors.data !== undefined && (
        <OverTime
          title={text.visitors}
          bucket={period === '7d' || period === '30d' ? 'day' : 'hour'}
          timestamps={visitors.data.data.map(({ timestamp }) => timestamp)}
          lines={[{ label: text.visitors, counts: visitors.data.data.map((each) => each.count) }]}
        />
      )}
      {uris.data !== undefined && (
        <Shares
          title={text.uris}
          kind={text.uri}
          rows={uris.data.data.map(({ uri, request_count: amount }) => ({
            key: uri,
            label: uri,
            count: amount,
          }))}
          total={requests}
          hint={text.urisHint}
          empty={text.none}
        />
      )}
    </>
  );
}

/** Missing features of the plan and a missing store are not errors. */
function isQuiet({ status, code }: ApiError): boolean {
  return status === 402 || status === 403 || status === 503 || code === 'analytics_off';
}

function Fact({ term, value }: { readonly term: string; readonly value: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{value}</dd>
    </div>
  );
}
