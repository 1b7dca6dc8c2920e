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
    say('twenty at once');
    const crowd = await measureCrowd(options);
    return [
      {
        part: 'scan',
        title: 'Scan of a zone',
        blocks: [
          `${count(zones)} made zones with ${count(records)} records, seed ${HELD_OUT_SEED}: small businesses, shops, SaaS, universities, parked ` +
            'domains, wildcards, deep names, the DKIM of ten mail providers, SRV, delegated parts. Their words were written down without ' +
            'looking at the list that the scan takes with it, and half of them appear in no test that it was written with. A record is *learnable* when ' +
            'others lead to its name, *common* when its name is in common use, and *obscure* when nobody else would think of it; learnable and common ' +
            'ones could be known. *False* is what the zone does not have: made by a wildcard, or of a zone below a cut.',
          `Every zone is at its hoster’s two to four addresses, which reply after ${REPLY_DELAY_MS} ms; in one zone of 25 one address is silent, and in ` +
            'another one names that only have names below are said not to exist. One process scans on one core and finds its way from the root. dnsrecon ' +
            'runs `std,brt` with its own list of 1 910 names and 32 threads, one zone after the other, at a resolver that knows all zones; it gives no TTLs, ' +
            'preferences or weights, and is not held to them.',
          ...blocks,
          '### Twenty scans at once\n\nBy one process with the limits as by default: 50 questions a second to an address of a zone’s servers, 20 to a public ' +
            'resolver, 60 s and 4 000 packets to a scan. The questions a second are those to the address that got most, on average and in its busiest second, in which the limit allows a fifth more.',
          crowd,
        ],
        charts: [],
      },
    ];
  },
};
