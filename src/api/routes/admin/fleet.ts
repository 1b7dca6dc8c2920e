// /admin/nodes, /admin/vantages, /admin/queues and /admin/slow-calls: show the state of the fleet. An operator can
// confirm removals that a node holds back.

import { z } from 'zod';
import { parseBuild } from '../../../process/build.ts';
import { confirmNodes, type ListedNode, listNodes } from '../../../store/feed/nodes.ts';
import { listVantages } from '../../../store/vantage/vantages.ts';
import { notFound, problem } from '../../answers/problem.ts';
import type { QueueState } from '../../calls/call.ts';
import { admin, type Route, route } from '../../calls/route.ts';
import { Node, QueueDepths, SlowCall, Vantage } from '../../schemas/admin/fleet.ts';
import { Message, moments } from '../../schemas/fields.ts';

const tag = 'Fleet';

const getNodes = route(admin, {
  method: 'GET',
  path: '/admin/nodes',
  operationId: 'adminGetNodes',
  tag,
  summary: 'Lists the nameservers with the status that each reports.',
  response: z.array(Node),
  run: async ({ api }) => (await listNodes(api.db)).map(printNode),
});

function printNode({
  position,
  lagSeconds,
  unserved,
  held,
  version,
  traffic,
  image,
  ...node
}: ListedNode): z.input<typeof Node> {
  return {
    name: node.name,
    state: node.state,
    loaded: node.loaded,
    started_at: node.startedAt.toISOString(),
    seen_at: node.seenAt.toISOString(),
    uptime_seconds: Math.max(0, Math.round(node.uptimeSeconds)),
    ...(position !== null && { position }),
    ...(lagSeconds !== null && { lag_seconds: lagSeconds }),
    zones: node.zones,
    records: node.records,
    ...(unserved !== null && { unserved_zones: unserved }),
    ...(held !== null && {
      held: { zones: held.zones, since: held.since.toISOString(), confirmed: held.confirmed },
    }),
    ...(version !== null && parseBuild(version)),
    ...(traffic !== null && traffic),
    ...(image !== null && { image_bytes: image.used, image_capacity_bytes: image.capacity }),
  };
}

const confirmNode = route(admin, {
  method: 'POST',
  path: '/admin/nodes/{name}/confirm',
  operationId: 'adminConfirmNode',
  tag,
  summary: 'Confirms the removals that a node holds back.',
  audit: 'node.confirm',
  params: z.object({ name: z.string().max(255) }),
  response: Message,
  problems: ['wrong_state'],
  async run({ api, params: { name }, audit }) {
    const [confirmed] = await confirmNodes(api.db, [name]);
    if (confirmed === undefined || confirmed.outcome === 'absent') return notFound('node');
    if (confirmed.outcome === 'nothing-held')
      return problem('wrong_state', 'the node holds no removals back');
    const { zones } = confirmed;
    audit({ target: { name }, after: { zones } });
    return { message: `the removals of ${zones} zones were confirmed` };
  },
});

const getVantages = route(admin, {
  method: 'GET',
  path: '/admin/vantages',
  operationId: 'adminGetVantages',
  tag,
  summary: 'Lists the observers.',
  response: z.array(Vantage),
  async run({ api }) {
    const vantages = await listVantages(api.db);
    return vantages.map(({ name, network, address, createdAt, seenAt, answers, dropped }) => ({
      name,
      network,
      ...(address !== null && { address }),
      created_at: createdAt.toISOString(),
      ...moments({ seen_at: seenAt }),
      answers,
      dropped,
    }));
  },
});

const getQueues = route(admin, {
  method: 'GET',
  path: '/admin/queues',
  operationId: 'adminGetQueues',
  tag,
  summary: 'Lists the queues of the workers with their lengths.',
  description: 'A queue that does not answer within seconds is not `reachable`, and has no counts.',
  response: z.array(QueueDepths),
  run: ({ api }) => Promise.all((api.queues ?? []).map(depthOf)),
});

async function depthOf({ name, depth }: QueueState): Promise<z.input<typeof QueueDepths>> {
  try {
    return { name, reachable: true, ...(await depth()) };
  } catch {
    return { name, reachable: false };
  }
}

const getSlowCalls = route(admin, {
  method: 'GET',
  path: '/admin/slow-calls',
  operationId: 'adminGetSlowCalls',
  tag,
  summary: 'Lists the newest calls that took half a second or more.',
  description: 'At most 200 calls of the process that responds, since its start, newest first.',
  response: z.array(SlowCall),
  run: async ({ api }) =>
    (api.slowCalls?.list() ?? []).map(({ at, ms, accountId, method, route, status }) => ({
      at: at.toISOString(),
      method,
      route,
      status,
      milliseconds: ms,
      ...(accountId !== undefined && { user_id: accountId }),
    })),
});

export const FLEET_ROUTES: readonly Route[] = [getNodes, confirmNode, getVantages, getQueues, getSlowCalls];
