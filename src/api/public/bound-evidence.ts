// Limits the evidence that is kept in memory, because the owner of a zone decides how much its servers send.

import type { Evidence, ServerEvidence } from '../../checks/delegation/evidence.ts';

const MOST_NAMES = 32;
const MOST_DS = 8;

export function boundEvidence(evidence: Evidence): Evidence {
  return {
    ...evidence,
    walk: evidence.walk.map((at) => ({ ...at, servers: at.servers.slice(0, MOST_NAMES) })),
    servers: evidence.servers.map(boundServer),
  };
}

function boundServer(server: ServerEvidence): ServerEvidence {
  const { ns, ds, glue } = server;
  return {
    ...server,
    ns: ns.slice(0, MOST_NAMES),
    ds: ds.slice(0, MOST_DS).map((rdata) => Uint8Array.from(rdata)), // a copy, so that the whole reply is not kept
    ...(glue !== undefined && { glue: glue.slice(0, MOST_NAMES) }),
  };
}

/** Returns the approximate size in characters. */
export function sizeOf(evidence: Evidence): number {
  const octets = evidence.servers.reduce(
    (sum, { ds }) => sum + ds.reduce((all, rdata) => all + rdata.length, 0),
    0,
  );
  return (
    octets + JSON.stringify(evidence, (_, value) => (value instanceof Uint8Array ? undefined : value)).length
  );
}
