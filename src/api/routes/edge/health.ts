// `POST /edge/v1/health`: takes an edge's heartbeat, its load, and the rules that it does not support. The operator sets
// the addresses that are published for it.

import { saveEdgeHealth } from '../../../store/edges/edges.ts';
import { edge, route } from '../../calls/route.ts';
import { EdgeHealthBody, EdgeSelf } from '../../schemas/edge.ts';

/** An edge reports every ten seconds, and whenever something changes. */
const CALLS_A_MINUTE = 60;
const HEALTH_BYTES = 512 * 1024;

export const reportHealth = route(edge(CALLS_A_MINUTE), {
  method: 'POST',
  path: '/edge/v1/health',
  operationId: 'reportHealth',
  audit: { none: 'edges report themselves each ten seconds' },
  tag: 'Edges',
  summary: 'Says that the edge is there, each ten seconds.',
  description: 'An edge that is not heard for a minute is taken out of what proxied names publish.',
  bodyBytes: HEALTH_BYTES,
  body: EdgeHealthBody,
  response: EdgeSelf,
  async run({ api: { db }, edge, body: { load, version, cursor, unsupported = [] } }) {
    const address = outsideAddress(edge.address);
    await saveEdgeHealth(db, edge, { load, software: version, cursor, unsupported, address });
    return { name: edge.name, region: edge.region, drained: edge.isDrained };
  },
});

/** Returns null if the edge connects through a proxy on this machine, whose address does not show where the edge is. */
function outsideAddress(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return /^127\.|^::1$/.test(plain) ? null : plain;
}
