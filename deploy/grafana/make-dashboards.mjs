// Writes the Grafana dashboards into deploy/grafana/dashboards: `node deploy/grafana/make-dashboards.mjs`. A panel is a line
// below: its title, its unit, and its queries by legend.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const COLUMNS = 24;
const PANEL_WIDTH = 8;
const PANEL_HEIGHT = 8;
const STAT_WIDTH = 4;
const STAT_HEIGHT = 4;

/** A panel with a line for each series. */
const graph = (title, unit, queries) => ({ type: 'timeseries', title, unit, queries });
/** A panel with one number, which is red from `red` on. */
const number = (title, unit, expr, red) => ({ type: 'stat', title, unit, queries: { '': expr }, red });
const row = (title) => ({ type: 'row', title });

/** The nodes that the variable `node` selects. */
const NODE = 'instance=~"$node"';
const RATE = '[$__rate_interval]';
const quantile = (fraction, metric, by = '', selector = '') =>
  `histogram_quantile(${fraction}, sum by (le${by}) (rate(${metric}_bucket${selector}${RATE})))`;
const rateBy = (label, metric, selector = '') => `sum by (${label}) (rate(${metric}${selector}${RATE}))`;

const processes = (selector) => [
  row('Processes'),
  graph('Memory', 'bytes', { '{{instance}}': `process_resident_memory_bytes{${selector}}` }),
  graph('Processor', 'percentunit', {
    '{{instance}}': `rate(process_cpu_seconds_total{${selector}}${RATE})`,
  }),
  graph('Open files', 'short', { '{{instance}}': `process_open_fds{${selector}}` }),
];

const DASHBOARDS = {
  fleet: {
    title: 'Zonefleet: fleet',
    panels: [
      number('Nodes ready', 'short', 'sum(zonefleet_ready{job=~".*nameserver.*"})'),
      number('Queries', 'reqps', 'zonefleet:answers:rate5m'),
      number('Queries that fail', 'percentunit', 'zonefleet:answer_errors:ratio_rate5m', 0.001),
      number('Edits over 5 s', 'percentunit', 'zonefleet:slow_edits:ratio_rate5m', 0.01),
      number('Latest check is late by', 's', 'max(zonefleet_checks_overdue_seconds)', 3600),
      number(
        'Alerts',
        'short',
        'count(ALERTS{alertname=~"Zonefleet.*",alertstate="firing"}) or vector(0)',
        1,
      ),
      row('Objectives of 28 days'),
      graph('Queries that fail (objective: 0.01 %)', 'percentunit', {
        '28 days': 'zonefleet:answer_errors:ratio_rate28d',
        '1 hour': 'zonefleet:answer_errors:ratio_rate1h',
      }),
      graph('Edits that take over 5 s (objective: 0.1 %)', 'percentunit', {
        '28 days': 'zonefleet:slow_edits:ratio_rate28d',
        '1 hour': 'zonefleet:slow_edits:ratio_rate1h',
      }),
      graph('Time with a late check (objective: 1 %), nodes not ready', 'percentunit', {
        'late checks': 'zonefleet:checks_late:ratio_28d',
        'nodes not ready': 'zonefleet:nodes_unready:ratio_28d',
      }),
      row('Traffic'),
      graph('Queries by node', 'reqps', { '{{instance}}': rateBy('instance', 'zonefleet_queries_total') }),
      graph('Answers by rcode', 'reqps', { '{{rcode}}': rateBy('rcode', 'zonefleet_queries_total') }),
      graph('Time from edit to answer', 's', {
        median: quantile(0.5, 'zonefleet_publish_seconds'),
        '99 %': quantile(0.99, 'zonefleet_publish_seconds'),
      }),
      row('State'),
      graph('Zones by node', 'short', { '{{instance}}': 'zonefleet_zones' }),
      graph('Delay behind the change feed', 's', { '{{instance}}': 'zonefleet_feed_lag_seconds' }),
      graph('Ready, and warnings of /readyz', 'short', {
        '{{job}} {{instance}} ready': 'zonefleet_ready',
        '{{job}} {{instance}} warnings': 'zonefleet_readiness_warnings',
      }),
      graph('Versions', 'short', {
        '{{process}} {{version}} {{commit}}': 'count by (process, version, commit) (zonefleet_build_info)',
      }),
      graph('Jobs in the queues', 'short', {
        '{{queue}} {{state}}': 'max by (queue, state) (zonefleet_queue_jobs)',
      }),
      graph('Outages of origins', 'short', {
        '{{became}}': 'sum by (became) (increase(zonefleet_outages_total[1h]))',
      }),
    ],
  },
  node: {
    title: 'Zonefleet: node',
    nodes: true,
    panels: [
      number('Zones', 'short', `sum(zonefleet_zones{${NODE}})`),
      number('Records', 'short', `sum(zonefleet_records{${NODE}})`),
      number('Removals held', 'short', `sum(zonefleet_held_zones{${NODE}})`, 1),
      number('Zones refused', 'short', `sum(zonefleet_refused_zones{${NODE}})`, 1),
      number('Zones without room', 'short', `sum(zonefleet_zones_without_room{${NODE}})`, 1),
      number('Certificate expires in', 's', `min(zonefleet_tls_certificate_expiry_seconds{${NODE}})`),
      row('Answers'),
      graph('Queries by transport', 'reqps', {
        '{{transport}}': rateBy('transport', 'zonefleet_queries_total', `{${NODE}}`),
      }),
      graph('Queries by type', 'reqps', {
        '{{type}}': `topk(12, ${rateBy('type', 'zonefleet_queries_total', `{${NODE}}`)})`,
      }),
      graph('Answers by rcode', 'reqps', {
        '{{rcode}}': rateBy('rcode', 'zonefleet_queries_total', `{${NODE}}`),
      }),
      graph('Time to answer', 's', {
        median: quantile(0.5, 'zonefleet_answer_seconds', '', `{${NODE}}`),
        '99 %': quantile(0.99, 'zonefleet_answer_seconds', '', `{${NODE}}`),
      }),
      graph('Size of answers (99 %)', 'bytes', {
        '{{transport}}': quantile(0.99, 'zonefleet_response_octets', ', transport', `{${NODE}}`),
      }),
      graph('Truncated answers', 'reqps', {
        '{{transport}}': rateBy('transport', 'zonefleet_truncated_total', `{${NODE}}`),
      }),
      row('Limits and faults'),
      graph('Limited answers and connections', 'reqps', {
        '{{reason}}': rateBy('reason', 'zonefleet_limited_total', `{${NODE}}`),
      }),
      graph('Unanswered, failed', 'reqps', {
        '{{reason}}': rateBy('reason', 'zonefleet_unanswered_total', `{${NODE}}`),
        failed: `sum(rate(zonefleet_failures_total{${NODE}}${RATE}))`,
      }),
      graph('Dropped before the transfer thread', 'cps', {
        '{{reason}}': rateBy('reason', 'zonefleet_slow_path_dropped_total', `{${NODE}}`),
      }),
      row('Connections'),
      graph('Open connections', 'short', {
        '{{instance}} TCP': `zonefleet_tcp_connections{${NODE}}`,
        '{{instance}} TLS': `zonefleet_tls_connections{${NODE}}`,
      }),
      graph('TLS handshakes', 'cps', {
        '{{outcome}}': rateBy('outcome', 'zonefleet_tls_handshakes_total', `{${NODE}}`),
      }),
      graph('Transfers', 'cps', {
        '{{direction}} {{form}} {{outcome}}': rateBy(
          'direction, form, outcome',
          'zonefleet_transfers_total',
          `{${NODE}}`,
        ),
      }),
      row('Memory and disk'),
      graph('Zone image', 'bytes', {
        '{{instance}} used': `zonefleet_image_bytes{${NODE}}`,
        '{{instance}} capacity': `zonefleet_image_capacity_bytes{${NODE}}`,
      }),
      graph('Disk of the snapshot', 'bytes', {
        '{{instance}} free': `zonefleet_disk_free_bytes{${NODE}}`,
        '{{instance}} size': `zonefleet_disk_bytes{${NODE}}`,
      }),
      graph('Failed writes of the snapshot', 'short', {
        '{{instance}} {{reason}}': `increase(zonefleet_snapshot_write_failures_total{${NODE}}[5m])`,
      }),
      ...processes(`job=~".*nameserver.*",${NODE}`),
    ],
  },
  api: {
    title: 'Zonefleet: API',
    panels: [
      number('Requests', 'reqps', 'sum(rate(zonefleet_api_requests_total[5m]))'),
      number(
        'Requests that fail',
        'percentunit',
        '(sum(rate(zonefleet_api_requests_total{status=~"5.."}[5m])) or vector(0)) / sum(rate(zonefleet_api_requests_total[5m]))',
        0.01,
      ),
      number(
        '99 % of responses within',
        's',
        'histogram_quantile(0.99, sum by (le) (rate(zonefleet_api_request_seconds_bucket[5m])))',
      ),
      row('Requests'),
      graph('Requests by status', 'reqps', {
        '{{status}}': rateBy('status', 'zonefleet_api_requests_total'),
      }),
      graph('Busiest routes', 'reqps', {
        '{{method}} {{route}}': `topk(10, ${rateBy('method, route', 'zonefleet_api_requests_total')})`,
      }),
      graph('Slowest routes (99 %)', 's', {
        '{{method}} {{route}}': `topk(10, ${quantile(0.99, 'zonefleet_api_request_seconds', ', method, route')})`,
      }),
      graph('Failed requests by route', 'reqps', {
        '{{method}} {{route}} {{status}}': rateBy(
          'method, route, status',
          'zonefleet_api_requests_total',
          '{status=~"5.."}',
        ),
      }),
      graph('Requests of other tools', 'reqps', {
        '{{surface}} {{status}}': rateBy('surface, status', 'zonefleet_compat_requests_total'),
      }),
      graph('Dynamic updates', 'reqps', { '{{rcode}}': rateBy('rcode', 'zonefleet_updates_total') }),
      row('Edges'),
      graph('Lines that edges reported', 'cps', {
        '{{outcome}}': rateBy('outcome', 'zonefleet_edge_lines_total'),
      }),
      graph('Spool', 'bytes', { '{{instance}}': 'zonefleet_spool_bytes' }),
      graph('Lines written to the store, and lost', 'cps', {
        written: 'sum(rate(zonefleet_spool_flushed_lines_total[$__rate_interval]))',
        'lost: {{why}}': rateBy('why', 'zonefleet_spool_lost_lines_total'),
      }),
      ...processes('job=~".*api.*"'),
    ],
  },
  checks: {
    title: 'Zonefleet: checks',
    panels: [
      number('Latest check is late by', 's', 'max(zonefleet_checks_overdue_seconds)', 3600),
      number('Breakers that hold', 'short', 'max(zonefleet_breakers_held)', 1),
      number('Observers unavailable', 'short', 'max(zonefleet_vantages_away)', 1),
      number('Root fault', 'short', 'max(zonefleet_root_fault)', 1),
      number('Dead jobs', 'short', 'sum(max by (queue) (zonefleet_queue_jobs{state="dead"}))', 1),
      number('Silent edges held', 'short', 'max(zonefleet_edge_breaker_held)', 1),
      row('Delegation checks'),
      graph('Checks by verdict', 'cps', { '{{verdict}}': rateBy('verdict', 'zonefleet_check_runs_total') }),
      graph('Duration', 's', {
        median: quantile(0.5, 'zonefleet_check_seconds'),
        '99 %': quantile(0.99, 'zonefleet_check_seconds'),
      }),
      graph('Status changes', 'cps', {
        '{{from}} → {{to}}': rateBy('from, to', 'zonefleet_transitions_total'),
      }),
      graph('Running, and slow', 'short', {
        '{{instance}} running': 'zonefleet_checks_running',
        '{{instance}} slow': 'zonefleet_slow_checks',
      }),
      graph('Ended early: no slot for slow checks', 'cps', {
        '{{instance}}': `rate(zonefleet_checks_ended_later_total${RATE})`,
      }),
      graph('Packets of the resolver', 'pps', {
        '{{kind}}': rateBy('kind', 'zonefleet_resolver_packets_total'),
      }),
      row('Other work'),
      graph('Jobs in the queues', 'short', {
        '{{queue}} {{state}}': 'max by (queue, state) (zonefleet_queue_jobs)',
      }),
      graph('Findings about delegated zones', 'cps', {
        '{{code}}': rateBy('code', 'zonefleet_child_findings_total'),
      }),
      graph('Verifications by TXT', 'cps', {
        '{{verdict}}': rateBy('verdict', 'zonefleet_verification_runs_total'),
      }),
      graph('Changes confirmed by observers', 'cps', {
        '{{outcome}}': rateBy('outcome', 'zonefleet_vantage_asks_total'),
      }),
      graph('Mails', 'cps', { '{{outcome}}': rateBy('outcome', 'zonefleet_mails_total') }),
      graph('Zones from primaries', 'short', { '{{state}}': 'max by (state) (zonefleet_secondaries)' }),
      graph('Failed calls to Postgres and the queue', 'cps', {
        '{{of}}': rateBy('of', 'zonefleet_worker_troubles_total'),
      }),
      ...processes('job=~".*workers.*"'),
    ],
  },
  dnssec: {
    title: 'Zonefleet: DNSSEC',
    panels: [
      number('First signature expires in', 's', 'min(zonefleet_signatures_left_seconds{kind="ours"})'),
      number(
        'First loaded signature expires in',
        's',
        'min(zonefleet_signatures_left_seconds{kind="verbatim"})',
      ),
      number('Signing stopped', 'short', 'max(zonefleet_signing_stopped)', 1),
      number('Zones that did not verify', 'short', 'sum(increase(zonefleet_signature_faults_total[1d]))', 1),
      row('Signing'),
      graph('Signed zones by phase', 'short', { '{{phase}}': 'max by (phase) (zonefleet_signed_zones)' }),
      graph('Time until signatures expire', 's', {
        '{{kind}}': 'min by (kind) (zonefleet_signatures_left_seconds)',
      }),
      graph('Signatures made', 'cps', {
        '{{instance}}': rateBy('instance', 'zonefleet_signatures_made_total'),
      }),
      graph('Failures', 'cps', { '{{why}}': rateBy('why', 'zonefleet_signing_failures_total') }),
      graph('Duration for a zone (99 %)', 's', {
        '{{done}}': quantile(0.99, 'zonefleet_signing_seconds', ', done'),
      }),
      graph('Signatures for regions', 'cps', {
        '{{instance}}': rateBy('instance', 'zonefleet_edge_signatures_made_total'),
      }),
      row('Keys'),
      graph('Steps with keys', 'cps', { '{{step}}': rateBy('step', 'zonefleet_key_steps_total') }),
      graph('Domains by status and cause of waiting', 'cps', {
        '{{status}} {{waiting}}': rateBy('status, waiting', 'zonefleet_key_statuses_total'),
      }),
      graph('Own answers validate', 'cps', {
        '{{outcome}}': rateBy('outcome', 'zonefleet_key_preflights_total'),
      }),
      row('Answers'),
      graph('Signed answers', 'reqps', {
        '{{instance}}': rateBy('instance', 'zonefleet_signed_answers_total'),
      }),
      graph('Signed answers with TC', 'reqps', {
        '{{instance}}': rateBy('instance', 'zonefleet_signed_truncated_total'),
      }),
      graph('Proofs of denial', 'reqps', { '{{instance}}': rateBy('instance', 'zonefleet_proofs_total') }),
    ],
  },
};

/** Places panels from left to right, and begins a line when they do not fit. */
function place(panels) {
  let x = 0;
  let y = 0;
  let height = 0;
  return panels.map((panel, index) => {
    const size =
      panel.type === 'row'
        ? { w: COLUMNS, h: 1 }
        : panel.type === 'stat'
          ? { w: STAT_WIDTH, h: STAT_HEIGHT }
          : { w: PANEL_WIDTH, h: PANEL_HEIGHT };
    if (x + size.w > COLUMNS) {
      x = 0;
      y += height;
      height = 0;
    }
    const gridPos = { ...size, x, y };
    x += size.w;
    height = Math.max(height, size.h);
    return { ...panelOf(panel), id: index + 1, gridPos };
  });
}

function panelOf({ type, title, unit, queries, red }) {
  if (type === 'row') return { type, title, collapsed: false, panels: [] };
  const steps = [
    { color: 'green', value: null },
    ...(red === undefined ? [] : [{ color: 'red', value: red }]),
  ];
  return {
    type,
    title,
    datasource: DATASOURCE,
    fieldConfig: {
      // A remaining time is negative when it is over.
      defaults: { unit, ...(unit !== 's' && { min: 0 }), thresholds: { mode: 'absolute', steps } },
      overrides: [],
    },
    options:
      type === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value' }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legendFormat === '' ? '__auto' : legendFormat,
    })),
  };
}

/** Returns the text of each dashboard's file by the file's name. */
export function dashboardTexts() {
  return Object.fromEntries(
    Object.entries(DASHBOARDS).map(([name, { title, nodes = false, panels }]) => {
      const variables = [
        { type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus' },
        ...(nodes
          ? [
              {
                type: 'query',
                name: 'node',
                label: 'Node',
                datasource: DATASOURCE,
                query: { query: 'label_values(zonefleet_zones, instance)', refId: 'node' },
                includeAll: true,
                allValue: '.*',
                multi: true,
                refresh: 2,
              },
            ]
          : []),
      ];
      const dashboard = {
        uid: `zonefleet-${name}`,
        title,
        tags: ['zonefleet'],
        schemaVersion: 39,
        editable: true,
        time: { from: 'now-6h', to: 'now' },
        refresh: '1m',
        links: [
          { type: 'dashboards', title: 'Zonefleet', tags: ['zonefleet'], asDropdown: true, keepTime: true },
        ],
        templating: { list: variables },
        panels: place(panels),
      };
      return [`${name}.json`, `${JSON.stringify(dashboard, undefined, 2)}\n`];
    }),
  );
}

const isMain = process.argv[1] === fileURLToPath(import.meta.url);
if (isMain)
  for (const [name, text] of Object.entries(dashboardTexts()))
    writeFileSync(new URL(`dashboards/${name}`, import.meta.url), text);
