// Queries for a domain over time, by type, response code, node and name, and requests that the edges counted.

import './traffic.css';
import { useEffect } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';
import { Empty, Failure, Note } from '../../parts/failure.tsx';
import { Skeleton } from '../../parts/loading.tsx';
import { count } from '../../parts/time.tsx';
import { traffic } from '../../words/traffic.ts';
import { useDomain } from '../domain/domain-here.ts';
import { EdgeTraffic } from './edge-traffic.tsx';
import { OverTime } from './over-time.tsx';
import { Periods } from './periods.tsx';
import { type Bucket, type Counts, curvesOf, PERIODS, periodOf, ranked, shareOf } from './series.ts';
import { Shares } from './shares.tsx';

const text = traffic;

const CURVES = 6;
const REST = 'other';
/** A share of NXDOMAIN responses above this is reported. */
const MANY_NXDOMAIN = 0.3;
/** Counts are two minutes behind, so only minute data is reloaded. */
const ASK_MS = 60_000;

/** Response for one domain. The API description does not define the names of its counts. */
interface Traffic {
  readonly bucket: 'minute' | 'hour' | 'day';
  readonly total: number;
  readonly types: Counts;
  readonly rcodes: Counts;
  readonly nodes: readonly { readonly node: string; readonly count: number }[];
  readonly names: readonly { readonly name: string; readonly count: number }[];
  readonly data: readonly Bucket[];
}

export default function TrafficScreen() {
  const { name } = useDomain();
  const { query } = usePlace();
  const period = periodOf(query.period);
  const loaded = useLoad<Traffic>(`traffic ${name} ${period}`, async (signal) => {
    const answer: unknown = await dataOf(
      api.GET('/analytics/dns', { params: { query: { domain: name, period } }, signal }),
    );
    return answer as Traffic;
  });
  const { reload } = loaded;
  useEffect(() => {
    if (period !== '1h') return;
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, ASK_MS);
    return () => clearInterval(timer);
  }, [period, reload]);

  const { data, error } = loaded;
  return (
    <div class="stack traffic">
      <Periods periods={PERIODS} chosen={period} />
      {error?.code === 'analytics_off' || error?.status === 503 ? (
        <Note>{error.code === 'analytics_off' ? <NoStore /> : <p>{text.away}</p>}</Note>
      ) : (
        <Failure error={error} onRetry={() => void reload()} />
      )}
      {data === undefined && error === undefined && <Skeleton />}
      {data !== undefined && (data.total === 0 ? <Nobody /> : <Answers of={data} />)}
      {error === undefined && <EdgeTraffic period={period} />}
    </div>
  );
}

/** Describes to operators how to set up the store. */
function NoStore() {
  if (!person().admin) return <p>{text.off}</p>;
  return (
    <>
      <p>{text.offForOperator}</p>
      <p>
        {text.enable} <code>npm start -- --analytics</code>
      </p>
      <p class="quiet">{text.enableInFleet}</p>
    </>
  );
}

function Nobody() {
  const { domain } = useDomain();
  return (
    <Empty title={text.nobody}>
      <p>{domain.status === 'active' ? text.nobodyActive : text.nobodyPending}</p>
    </Empty>
  );
}

function Answers({ of: { bucket, total, types, rcodes, nodes, names, data } }: { readonly of: Traffic }) {
  const timestamps = data.map(({ timestamp }) => timestamp);
  const nxdomain = shareOf(rcodes, 'NXDOMAIN');
  const [commonest] = ranked(types);
  const labelOf = (key: string) => (key === REST ? text.other : key);
  const rcodeLabel = (key: string) => {
    const meaning = Object.hasOwn(text.rcodes, key)
      ? text.rcodes[key as keyof typeof text.rcodes]
      : undefined;
    return meaning === undefined ? labelOf(key) : `${key} (${meaning})`;
  };
  return (
    <>
      <dl class="traffic-facts">
        <Fact term={text.total} value={count(total)} />
        <Fact term={text.nxdomain} value={text.percent(nxdomain)} hint={text.nxdomainHint} />
        {commonest !== undefined && (
          <Fact
            term={text.commonest}
            value={labelOf(commonest[0])}
            hint={text.ofAll(commonest[1] / Math.max(1, total))}
          />
        )}
        <Fact term={text.nodesCount} value={count(nodes.length)} />
      </dl>
      {nxdomain > MANY_NXDOMAIN && (
        <Note tone="warn">
          <p>{text.manyNxdomain}</p>
        </Note>
      )}
      <OverTime
        title={text.overTime[bucket]}
        bucket={bucket}
        timestamps={timestamps}
        lines={[{ label: text.count, counts: data.map((each) => each.count) }]}
      >
        <p class="quiet">{text.behind}</p>
      </OverTime>
      <div class="traffic-columns">
        <OverTime
          title={text.byType}
          bucket={bucket}
          timestamps={timestamps}
          lines={curvesOf(data, 'types', CURVES, REST).map(({ key, counts }) => ({
            label: labelOf(key),
            counts,
          }))}
        />
        <OverTime
          title={text.byRcode}
          bucket={bucket}
          timestamps={timestamps}
          lines={curvesOf(data, 'rcodes', CURVES, REST).map(({ key, counts }) => ({
            label: rcodeLabel(key),
            counts,
          }))}
        />
      </div>
      <div class="traffic-columns">
        <Shares
          title={text.names}
          kind={text.name}
          rows={names.map(({ name, count: amount }) => ({ key: name, label: name, count: amount }))}
          total={0}
          isEstimate
          hint={text.namesHint}
          empty={text.noNames}
        />
        <Shares
          title={text.nodes}
          kind={text.node}
          rows={nodes.map(({ node, count: amount }) => ({ key: node, label: node, count: amount }))}
          total={total}
          empty={text.noNames}
        />
      </div>
    </>
  );
}

function Fact({
  term,
  value,
  hint,
}: {
  readonly term: string;
  readonly value: string;
  readonly hint?: string;
}) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{value}</dd>
      {hint !== undefined && <dd class="quiet">{hint}</dd>}
    </div>
  );
}
