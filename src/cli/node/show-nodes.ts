// Prints the nodes for `zonefleet node list`, as a table or as JSON.

import { type Build, parseBuild } from '../../process/build.ts';
import type { ListedNode } from '../../store/feed/nodes.ts';
import type { Output } from '../terminal/output.ts';
import { printSpan } from '../terminal/print-span.ts';
import { printTable } from '../terminal/print-table.ts';
import { type RatesByName, ratesOf } from './node-rates.ts';

/** True while an operator must decide about held removals. */
function isHeld(node: ListedNode): boolean {
  return node.held !== null && !node.held.confirmed;
}

/** `before` has earlier reports, to compute rates. Returns the exit code. */
export async function showNodes(
  nodes: readonly ListedNode[],
  before: readonly ListedNode[] | undefined,
  output: Output,
): Promise<number> {
  const rates = before && ratesOf(before, nodes);
  if (output.json) await output.print(JSON.stringify({ nodes: nodes.map((node) => nodeJson(node, rates)) }));
  else
    await output.print(
      printTable(
        headsOf(rates),
        nodes.map((node) => nodeRow(node, rates)),
      ),
    );
  const held = nodes.filter(isHeld).map(({ name }) => name);
  if (held.length === 0) return 0;
  if (!output.json) {
    await output.complain(`removals are held; to allow them: zonefleet node confirm ${held.join(' ')}`);
  }
  return 1;
}

function headsOf(rates: RatesByName | undefined): readonly string[] {
  return [
    ...['NODE', 'STATE', 'VERSION', 'ZONES', 'RECORDS', 'POSITION', 'LAG', 'UPTIME'],
    ...(rates === undefined ? [] : ['ANSWERS/S', 'DROPS/S']),
    ...['IMAGE', 'UNSERVED', 'HELD'],
  ];
}

function nodeRow(node: ListedNode, rates: RatesByName | undefined): (string | number)[] {
  const { name, version, zones, records, position, unserved } = node;
  const state = node.state === 'live' && !node.loaded ? 'loading' : node.state;
  const lag = node.lagSeconds === null ? 'unknown' : printSpan(node.lagSeconds);
  const gone = node.state === 'left';
  const uptime = gone ? '-' : printSpan(node.uptimeSeconds);
  const behind = unserved === 0 || gone ? '-' : (unserved ?? 'over 1000');
  const { answered, dropped } = rates?.get(name) ?? {};
  return [
    ...[name, state, version ?? '-', zones, records, position ?? '-', gone ? '-' : lag, uptime],
    ...(rates === undefined
      ? []
      : [answered, dropped].map((rate) => (rate === undefined ? '-' : Math.round(rate)))),
    ...[gone ? '-' : shareText(node), behind, heldText(node)],
  ];
}

/** Returns the used share of the node's memory for zones. */
function shareText({ image }: ListedNode): string {
  return image === null || image.capacity === 0
    ? '-'
    : `${((100 * image.used) / image.capacity).toFixed(1)} %`;
}

function heldText({ held }: ListedNode): string {
  if (held === null) return '-';
  const since = held.since.toISOString().slice(0, 19);
  return `${held.zones} removals since ${since}Z${held.confirmed ? ', confirmed' : ''}`;
}

function nodeJson(node: ListedNode, rates: RatesByName | undefined): object {
  const { held, traffic, image } = node;
  const rate = rates?.get(node.name);
  const build: Partial<Build> = node.version === null ? {} : parseBuild(node.version);
  return {
    name: node.name,
    state: node.state,
    loaded: node.loaded,
    started_at: node.startedAt.toISOString(),
    seen_at: node.seenAt.toISOString(),
    uptime_seconds: Math.round(node.uptimeSeconds),
    position: node.position,
    lag_seconds: node.lagSeconds,
    zones: node.zones,
    records: node.records,
    unserved_zones: node.unserved,
    held: held && { zones: held.zones, since: held.since.toISOString(), confirmed: held.confirmed },
    version: build.version ?? null,
    commit: build.commit ?? null,
    answered: traffic?.answered ?? null,
    dropped: traffic?.dropped ?? null,
    image_bytes: image?.used ?? null,
    image_capacity_bytes: image?.capacity ?? null,
    ...(rates !== undefined && {
      answered_per_second: rate?.answered ?? null,
      dropped_per_second: rate?.dropped ?? null,
    }),
  };
}
