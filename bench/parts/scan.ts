// The scan of a zone without transfer: how much it finds and at what cost, compared with dnsrecon on the same zones.

import type { Part } from '../part.ts';
import { count } from '../report/table.ts';
import { say } from '../say.ts';
import { measureCrowd } from '../scan/measure-crowd.ts';
import { HELD_OUT_SEED, measureScans, REPLY_DELAY_MS } from '../scan/measure-scans.ts';

export const scan: Part = {
  names: ['scan'],
  async run(options) {
    say('zone by zone');
    const { zones, records, blocks } = await measureScans(options);
    say('twenty concurrent scans');
    const crowd = await measureCrowd(options);
    return [
      {
        part: 'scan',
        title: 'Scan of a zone',
        blocks: [
          `${count(zones)} generated zones with ${count(records)} records, seed ${HELD_OUT_SEED}: small businesses, shops, SaaS, universities, parked ` +
            'domains, wildcards, deep names, the DKIM of ten mail providers, SRV, delegated parts. Their words were chosen without ' +
            'knowledge of the scan’s own list, and half of them appear in no test of the scan. A record is *learnable* if ' +
            'other records lead to its name, *common* if its name is in common use, and *obscure* otherwise. Learnable and common ' +
            'records can be found. *False* records are not in the zone: they come from a wildcard, or from a zone below a cut.',
          `Every zone is at its hoster’s two to four addresses, which reply after ${REPLY_DELAY_MS} ms; in one zone of 25 one address is silent, and in ` +
            'another one the servers deny empty non-terminals. One process scans on one core, starting at the root. dnsrecon ' +
            'runs `std,brt` with its own list of 1 910 names and 32 threads, one zone after the other, at a resolver that knows all zones. It reports no TTLs, ' +
            'preferences or weights, so these are not compared.',
          ...blocks,
          '### Twenty concurrent scans\n\nOne process with the default limits: 50 queries per second to an address of a zone’s servers, 20 to a public ' +
            'resolver, and 60 s and 4 000 packets per scan. Queries per second are those to the address that received the most, on average and in its busiest second, in which the limit allows a fifth more.',
          crowd,
        ],
        charts: [],
      },
    ];
  },
};
