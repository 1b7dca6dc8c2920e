// Starts a node in a network namespace that answers over XDP at one of its interfaces.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, startProgram, untilReady } from '../processes/program.ts';
import { sumMetric } from '../watching/read-metric.ts';
import { COOKIE_SECRET } from './compared-queries.ts';
import { ADDRESSES, type LinkedHosts, VLAN_NODE_OPTIONS, XDP_INTERFACE } from './linked-hosts.ts';
import type { NetworkNamespace } from './namespace.ts';

export const DNS_PORT = 53;
const METRICS_PORT = 9153;

export interface XdpNode extends Program {
  /** Returns the value of a metric: the sum over the lines that begin with `name`. */
  metric(name: string): Promise<number>;
}

/**
 * Resolves when the node is ready. Its data directory is removed when it stops, unless `env` specifies one.
 *
 * @param within provides the command that starts its process
 */
export async function startXdpNode(
  hosts: LinkedHosts,
  env: Readonly<Record<string, string>>,
  within: Pick<NetworkNamespace, 'command'> = hosts.server,
): Promise<XdpNode> {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-xdp-'));
  const listen = [ADDRESSES.xdp, ADDRESSES.kernel].flatMap(({ ipv4, ipv6 }) => [
    `${ipv4}:${DNS_PORT}`,
    `[${ipv6}]:${DNS_PORT}`,
  ]);
  const program = startProgram(
    '../../../src/nameserver/main.ts',
    {
      NODE_NAME: 'xdp',
      DNS_IO: 'xdp',
      XDP_INTERFACES: XDP_INTERFACE,
      DNS_LISTEN: listen.join(),
      METRICS_LISTEN: `127.0.0.1:${METRICS_PORT}`,
      DATA_DIR: directory,
      DNS_THREADS: '1',
      IMAGE_BYTES: '256M',
      COOKIE_SECRETS: COOKIE_SECRET,
      RRL: 'off',
      RRL_OCTETS: 'off',
      NODE_OPTIONS: VLAN_NODE_OPTIONS,
      ...env,
    },
    { within },
  );
  const metrics = env.METRICS_LISTEN ?? `127.0.0.1:${METRICS_PORT}`;
  const fetch = (path: string) =>
    hosts.server.try('curl', '--silent', '--fail', '--max-time', '5', `http://${metrics}${path}`);
  const stop = async (signal?: NodeJS.Signals) => {
    await program.stop(signal);
    rmSync(directory, { recursive: true, force: true });
  };
  await untilReady({ ...program, stop }, 'the node', async () => (await fetch('/readyz')).code === 0);
  return {
    ...program,
    stop,
    metric: async (name) => sumMetric((await fetch('/metrics')).text, name),
  };
}
