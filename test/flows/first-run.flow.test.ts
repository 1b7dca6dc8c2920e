// The first minutes with a clone: one command, whose only prerequisite is Node.js, as root and as an ordinary user.
// In full (`npm run prove first-run`) the packages are installed too, from an empty npm cache.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/peers/peers.ts';
import { FreshClone, ordinaryUser, type User } from '../support/processes/fresh-clone.ts';
import { curlPrinted, digPrinted, EDGE, metricsUrls } from '../support/processes/printed-lines.ts';

const installed = process.env.ZONEFLEET_PROVE !== '1';
const missing = ['dig', 'curl'].filter((program) => !isInstalled(program));
const skipped = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const users: [string, User | undefined][] = [
  [process.getuid?.() === 0 ? 'root' : 'an ordinary user', {}],
  ...(process.getuid?.() === 0 ? [['an ordinary user', ordinaryUser()] as [string, User | undefined]] : []),
];

describe.skipIf(process.platform !== 'linux' || skipped !== '').each(users)(
  `npm start on a fresh clone as %s${skipped}`,
  (_, user) => {
    let clone: FreshClone;
    beforeAll(async () => {
      clone = await FreshClone.make({ user: user ?? {}, installed });
    });
    afterAll(() => clone?.remove());

    it('prints one key and working dig and curl lines, and ends on SIGTERM', async () => {
      const started = clone.start();
      const line = await started.ready(installed ? undefined : 720_000);
      expect(digPrinted(line).split('\n').sort()).toEqual(EDGE);
      expect(started.output).toContain(
        `${line}\n            (this record is proxied, so the answer has the edge's addresses)\n`,
      );
      expect(digPrinted(line, '+tcp').split('\n').sort()).toEqual(EDGE);
      expect(started.output.match(/svc_\w{40} \(of a global admin; shown only once\)$/gm)).toHaveLength(1);
      expect(curlPrinted(started)).toContainEqual(expect.objectContaining({ name: 'www', proxied: true }));
      expect(started.output).toContain(clone.databaseDirectory);
      const metrics = metricsUrls(started);
      const ready = metrics.map(async (url) => (await fetch(url.replace('/metrics', '/readyz'))).status);
      expect(await Promise.all(ready)).toEqual([200, 200, 200]);
      expect(await (await fetch(metrics[2] as string)).text()).toContain('zonefleet_queue_jobs');
      expect(started.output).toContain('analytics none (npm start -- --analytics');
      expect(started.output).not.toContain('installing the analytics engine');
      await clone.stop(started);
      expect(await started.ended).toBe(0);
    });
  },
);
