// Downtimes of a domain's origins.

import './uptime.css';
import { useEffect } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { Empty } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { exact, now, Time } from '../../parts/time.tsx';
import { traffic } from '../../words/traffic.ts';
import { uptime as uptimeWords } from '../../words/uptime.ts';
import { duration } from '../delegation/words-of.ts';
import { useDomain } from '../domain/domain-here.ts';
import { Periods } from '../traffic/periods.tsx';
import { edgePeriodOf, PERIODS, periodOf } from '../traffic/series.ts';
import { PERIOD_MS, secondsOf, spansOf } from './spans.ts';

const text = uptimeWords;

type Uptime = Schemas['Uptime'];
type Incident = Uptime['incidents'][number];

const ASK_MS = 60_000;
const WIDTH = 1000;

export default function UptimeScreen() {
  const { name } = useDomain();
  const { query } = usePlace();
  const period = edgePeriodOf(periodOf(query.period));
  const loaded = useLoad(`uptime ${name} ${period}`, (signal) =>
    dataOf(
      api.GET('/domains/{domain}/uptime', { params: { path: { domain: name }, query: { period } }, signal }),
    ),
  );
  const { reload } = loaded;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, ASK_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <div class="stack uptime">
      <Periods periods={PERIODS.filter((each) => each !== '1h')} chosen={period} />
      <Loading of={loaded}>
        {(uptime) =>
          uptime.uptime_pct === undefined && uptime.incidents.length === 0 ? (
            <Unwatched name={name} />
          ) : (
            <Judged
              uptime={uptime}
              name={name}
              periodMs={PERIOD_MS[period]}
              label={traffic.periods[period]}
            />
          )
        }
      </Loading>
    </div>
  );
}

function Unwatched({ name }: { readonly name: string }) {
  return (
    <Empty title={text.none}>
      <p>{text.noneText}</p>
      <p>
        <Link to={domainPath(name, 'records')}>{text.toRecords}</Link>
      </p>
    </Empty>
  );
}

interface JudgedProps {
  readonly uptime: Uptime;
  /** Uptime state of the domain. */
  readonly name: string;
  readonly periodMs: number;
  readonly label: string;
}

function Judged({ uptime, name, periodMs, label }: JudgedProps) {
  const { uptime_pct: percent, judged_until: until, incidents } = uptime;
  const isDown = incidents.some(({ ended_at: ended }) => ended === undefined);
  return (
    <>
      {percent === undefined ? (
        <Unwatched name={name} />
      ) : (
        <section class="card">
          <div class="row">
            <h2>{isDown ? text.down : text.up}</h2>
            <Badge tone={isDown ? 'bad' : 'good'}>{isDown ? text.goesOn : text.well}</Badge>
          </div>
          {isDown && <p>{text.downText}</p>}
          <p>
            <strong class="uptime-percent">{text.percent(percent)}</strong> {text.of(label)}
          </p>
          <Strip incidents={incidents} periodMs={periodMs} />
          <p class="quiet">
            {until !== undefined && (
              <>
                {text.judgedUntil} <Time at={until} />.{' '}
              </>
            )}
            {text.how}
          </p>
        </section>
      )}
      <section class="card">
        <h2>{text.incidents}</h2>
        {incidents.length === 0 ? <p>{text.noIncidents}</p> : <Incidents of={incidents} />}
      </section>
    </>
  );
}

function Strip({
  incidents,
  periodMs,
}: {
  readonly incidents: readonly Incident[];
  readonly periodMs: number;
}) {
  const spans = spansOf(incidents, now.value, periodMs);
  const label = text.strip(spans.length);
  return (
    <svg
      class="uptime-strip"
      viewBox={`0 0 ${WIDTH} 24`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <rect class="up" x="0" y="4" width={WIDTH} height="16" />
      {spans.map(({ id, from, length }) => (
        <rect key={id} class="down" x={from * WIDTH} y="0" width={length * WIDTH} height="24" />
      ))}
    </svg>
  );
}

function Incidents({ of: incidents }: { readonly of: readonly Incident[] }) {
  const lasted = (incident: Incident) => duration(secondsOf(incident, now.value));
  const columns: readonly Column<Incident>[] = [
    {
      key: 'from',
      title: text.columns.from,
      cell: ({ started_at: at }) => <Time at={at} />,
      text: ({ started_at: at }) => exact(at),
    },
    {
      key: 'to',
      title: text.columns.to,
      cell: ({ ended_at: at }) =>
        at === undefined ? <Badge tone="bad">{text.goesOn}</Badge> : <Time at={at} />,
      text: ({ ended_at: at }) => (at === undefined ? text.goesOn : exact(at)),
    },
    { key: 'lasted', title: text.columns.lasted, cell: lasted, text: lasted },
    {
      key: 'failed',
      title: text.columns.failed,
      isNumber: true,
      cell: ({ error_pct: part }) => text.percent(part),
      text: ({ error_pct: part }) => part,
    },
  ];
  return <Table caption={text.incidents} columns={columns} rows={incidents} keyOf={({ id }) => id} />;
}
