// `POST /edge/v1/health`: an edge says that it is there, how busy it is, and which rules it cannot obey. Its addresses are the
// operator's to say.

import { saveEdgeHealth } from '../../../store/edges/edges.ts';
import { edgeRoute } from '../../calls/route.ts';
import { EdgeHealthBody, EdgeSelf } from '../../schemas/edge.ts';

/** Each ten seconds, and whenever there is news. */
const CALLS_A_MINUTE = 60;
const HEALTH_BYTES = 512 * 1024;

export const reportHealth = edgeRoute({
  method: 'POST',
  path: '/edge/v1/health',
  operationId: 'reportHealth',
  audit: { none: 'edges report themselves each ten seconds' },
  tag: 'Edges',
  summary: 'Says that the edge is there, each ten seconds.',
  description: 'An edge that is not heard for a minute is taken out of what proxied names publish.',
  perMinute: CALLS_A_MINUTE,
  bodyBytes: HEALTH_BYTES,
  body: EdgeHealthBody,
  response: EdgeSelf,
  async run({ api: { db }, edge, body: { load, version, cursor, unsupported = [] } }) {
    const address = outsideAddress(edge.address);
    await saveEdgeHealth(db, edge, { load, software: version, cursor, unsupported, address });
    return { name: edge.name, region: edge.region, drained: edge.isDrained };
  },
});

/** Null: it comes over a proxy on this machine, which says nothing of where it is. */
function outsideAddress(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return /^127\.|^::1$/.test(plain) ? null : plain;
}
