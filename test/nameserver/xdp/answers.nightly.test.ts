// Answers over XDP are those of the kernel's path, octet by octet.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NEEDS_NETWORKS } from '../../support/network/namespace.ts';
import { XdpLab } from '../../support/network/xdp-lab.ts';
import { DNS_PORT } from '../../support/network/xdp-node.ts';
import { scale } from '../../support/tests/scale.ts';

const QUERIES = scale(10_000_000, 200_000);

describe.skipIf(NEEDS_NETWORKS !== '')(`answers over XDP${NEEDS_NETWORKS}`, () => {
  let lab: XdpLab;

  beforeAll(async () => {
    lab = await XdpLab.create();
  });

  afterAll(async () => {
    await lab?.remove();
  });

  it('equal those of the kernel’s path, over IPv4, IPv6 and in a VLAN', async () => {
    const node = await lab.startNode();
    expect(node.log()).toMatch(/"mode":"copy".*answering UDP with XDP at this interface/);
    const macs = await lab.hosts.macs();
    const options = { count: QUERIES, seed: 1, port: DNS_PORT, macs };
    const { examples, wrong, equal } = await lab.client.do('comparePaths', options);
    expect(examples).toEqual([]);
    expect(wrong).toBe(0);
    expect(equal).toBeGreaterThan(QUERIES / 2);
    expect(await node.metric('zonefleet_queries_total')).toBeGreaterThan(QUERIES);
  });
});
