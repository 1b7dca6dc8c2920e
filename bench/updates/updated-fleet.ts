// A fleet for clients that write records: the API, several nameservers, and a TSIG key that may change all records.

import type { TsigKey } from '../../src/dns/message/tsig.ts';
import { parseName } from '../../src/dns/name.ts';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { call } from '../api/api-under-test.ts';
import { runZonefleetApi } from '../api/zonefleet-api.ts';
import type { BenchOptions } from '../part.ts';
import { runOn } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import type { RunningServer } from '../servers/server.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { TSIG_SECRETS } from '../transfers/peers.ts';
import { makeRecipeZones } from '../zones/recipe-zones.ts';

export const ZONES = 100;

export interface UpdatedFleet {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Process id of the API. */
  readonly apiPid: number;
  /** Port of the first node. */
  readonly dnsPort: number;
  /** Key that may change every record of the domains. */
  readonly key: TsigKey;
  readonly zones: readonly string[];
  /** Starts another nameserver. */
  addNode(): Promise<void>;
  stop(): Promise<void>;
}

export async function startUpdatedFleet(options: BenchOptions): Promise<UpdatedFleet> {
  const set = { ...makeRecipeZones(10), name: 'updates' };
  const databaseUrl = await zonefleetDatabase(set);
  await runOn(databaseUrl, 'update plans set max_records = null, max_domains = null');
  const apiKey = generateKey();
  const env = { PDNS_API: 'on', COMPAT_API: 'on', DNS_UPDATE: 'on', UPDATE_RATE: 'off', TSIG_SECRETS };
  const { base, program } = await runZonefleetApi({ databaseUrl, key: apiKey, cpu: options.serverCpu, env });
  const nodes: RunningServer[] = [];
  const addNode = async () => {
    const node = await startZonefleet({
      set,
      databaseUrl,
      cpu: options.serverCpu,
      address: '127.0.0.1',
      limitsRates: false,
      timeoutMs: 60_000,
      environment: { NODE_NAME: `bench${nodes.length}`, DNS_UPDATE: 'on', TSIG_SECRETS },
    });
    nodes.push(node);
  };
  await addNode();
  const headers = { 'x-api-key': apiKey };
  const made = JSON.parse(
    await call(`${base}/tsig-keys/`, { headers, method: 'POST', body: { label: 'bench' } }),
  ) as { id: number; name: string; secret: string };
  const stamp = Date.now().toString(36); // a kept database has the domains of earlier runs
  const zones = Array.from({ length: ZONES }, (_, i) => `${stamp}-${i}.example`);
  const grants = [{ tsig_key: made.id, name: '@', match: 'subtree' }];
  for (const zone of zones) {
    await call(`${base}/domains/`, { headers, method: 'POST', body: { name: zone, scan: false } });
    await call(`${base}/domains/${zone}/update-grants`, { headers, method: 'PUT', body: { grants } });
  }
  return {
    base,
    headers,
    apiPid: program.pid,
    dnsPort: nodes[0]?.port ?? 0,
    key: { name: parseName(made.name), algorithm: 'hmac-sha256', secret: Buffer.from(made.secret, 'base64') },
    zones,
    addNode,
    async stop() {
      for (const node of nodes) await node.stop();
      await program.stop();
    },
  };
}
